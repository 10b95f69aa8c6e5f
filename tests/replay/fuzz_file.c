#include "tests/replay/fuzz_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/replay/recording/buffer.h"

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
    struct zeta_replay_seen seen = {.names = NULL};
    struct zeta_replay_problem problem;

    for (uint32_t i = 0; i < recording->set_count; i++)
        (void)zeta_replay_set_write(&recording->sets[i], &seen, &sink, &problem);
    zeta_replay_seen_finish(&seen);
}

static void play(const struct zeta_replay_recording *recording,
                 const struct zeta_replay_stream *stream, uint32_t tile)
{
    const struct zeta_replay_set *set = &recording->sets[stream->sets[tile]];
    struct zeta_replay_request request = {.recording = recording, .set = set, .stream_count = 1};
    struct zeta_replay_problem problem;
    struct zeta_replay_source *source;
    struct zeta_replay_buffer buffer = {0};
    struct zeta_plugin_read got = {.struct_size = sizeof(got)};
    unsigned char *target = malloc((size_t)3 * set->record_bytes);

    request.streams[0].number = stream->number;
    request.streams[0].tile = stream->tiles > 1 ? tile : UINT32_MAX;
    source = zeta_replay_source_open(&request, &problem);
    if (!target || !source || !zeta_replay_buffer_init(&buffer, source, set, 4))
        abort();
    buffer.is_paced = true;
    buffer.hz = recording->devices[stream->device].metric_hz;
    buffer.period_ns = stream->period_ns;
    zeta_replay_buffer_start(&buffer);
    buffer.is_paced = false;
    do {
        const uint64_t pending = zeta_replay_buffer_pending(&buffer);

        zeta_replay_buffer_read(&buffer, target, (uint64_t)3 * set->record_bytes, &got);
        if (got.bytes > pending * set->record_bytes || (got.bytes == 0 && pending > 0))
            abort();
    } while (got.bytes > 0);
    if (!zeta_replay_buffer_ended(&buffer))
        abort();
    zeta_replay_buffer_finish(&buffer);
    free(target);
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
    for (uint32_t i = 0; i < recording->stream_count && i < 8; i++) {
        for (uint32_t t = 0; t < recording->streams[i].tiles && t < 4; t++)
            play(recording, &recording->streams[i], t);
    }
    zeta_replay_recording_free(recording);
}
