#include "tests/replay/fuzz_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/replay/recording/buffer.h"
#include "plugins/replay/recording/set_text.h"

static char path[64];

static void remove_path(void)
{
    (void)unlink(path);
}

const char *fuzz_path(void)
{
    if (path[0] == '\0') {
        int fd;

        (void)snprintf(path, sizeof(path), "/tmp/zeta-replay-fuzz-XXXXXX");
        fd = mkstemp(path);
        if (fd < 0)
            abort();
        (void)close(fd);
        (void)atexit(remove_path);
    }
    return path;
}

static void take_text(void *context, struct zeta_plugin_string name, struct zeta_plugin_string text)
{
    (void)context;
    if (name.size == 0 || text.size == 0 || memchr(text.data, 0, (size_t)text.size))
        abort();
}

static void write_sets(const struct zeta_replay_recording *recording)
{
    const struct zeta_plugin_text_sink sink = {NULL, take_text};
    struct zeta_replay_seen seen = {NULL, 0};
    struct zeta_replay_problem problem;

    for (uint32_t i = 0; i < recording->set_count; i++)
        (void)zeta_replay_set_write(&recording->sets[i], &seen, &sink, &problem);
    zeta_replay_seen_finish(&seen);
}

static void play(const struct zeta_replay_recording *recording,
                 const struct zeta_replay_source *source, uint32_t tile)
{
    const struct zeta_replay_set *set = &recording->sets[source->sets[tile]];
    struct zeta_replay_wish wish = {.recording = recording, .set = set, .source_count = 1};
    struct zeta_replay_problem problem;
    struct zeta_replay_feed *feed;
    struct zeta_replay_reel reel = {0};
    struct zeta_plugin_read got = {.struct_size = sizeof(got)};
    unsigned char *buffer = malloc((size_t)3 * set->record_bytes);

    wish.sources[0].number = source->number;
    wish.sources[0].tile = source->tiles > 1 ? tile : UINT32_MAX;
    feed = zeta_replay_feed_open(&wish, &problem);
    if (!buffer || !feed || !zeta_replay_reel_init(&reel, feed, set, 4))
        abort();
    reel.is_paced = true;
    reel.hz = recording->devices[source->device].metric_hz;
    reel.period_ns = source->period_ns;
    zeta_replay_reel_start(&reel);
    reel.is_paced = false;
    do {
        const uint64_t pending = zeta_replay_reel_pending(&reel);

        zeta_replay_reel_read(&reel, buffer, (uint64_t)3 * set->record_bytes, &got);
        if (got.bytes > pending * set->record_bytes || (got.bytes == 0 && pending > 0))
            abort();
    } while (got.bytes > 0);
    if (!zeta_replay_reel_ended(&reel))
        abort();
    zeta_replay_reel_finish(&reel);
    free(buffer);
}

void fuzz_play(void)
{
    struct zeta_replay_problem problem = {""};
    struct zeta_replay_recording *recording =
        zeta_replay_recording_load(fuzz_path(), NULL, &problem);

    if (!recording) {
        if (problem.text[0] == '\0')
            abort();
        return;
    }
    write_sets(recording);
    for (uint32_t i = 0; i < recording->source_count && i < 8; i++) {
        for (uint32_t t = 0; t < recording->sources[i].tiles && t < 4; t++)
            play(recording, &recording->sources[i], t);
    }
    zeta_replay_recording_free(recording);
}
