#include "plugins/replay/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/c_locale.h>

bool zeta_replay_fail(struct zeta_replay_problem *problem, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return false;
}

/* Up to 32 bits from any place of a record. */
static uint64_t read_bits(const unsigned char *record, uint32_t bit, uint32_t width)
{
    uint64_t value = 0;

    for (uint32_t done = 0; done < width;) {
        const uint32_t offset = (bit + done) % 8;
        const uint32_t step = 8 - offset < width - done ? 8 - offset : width - done;
        const uint64_t part = ((uint64_t)record[(bit + done) / 8] >> offset) & ((1u << step) - 1);

        value |= part << done;
        done += step;
    }
    return value;
}

uint64_t zeta_replay_field_read(const struct zeta_replay_field *clock, const unsigned char *record)
{
    uint64_t value;

    if (!clock->present)
        return 0;
    value = read_bits(record, clock->low_bit, clock->low_width);
    if (clock->high_width > 0)
        value |= read_bits(record, clock->high_bit, clock->high_width) << clock->low_width;
    return value;
}

uint64_t zeta_replay_field_mask(const struct zeta_replay_field *clock)
{
    const uint32_t bits = clock->low_width + clock->high_width;

    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Room for one more element of a list that grows by doubling. */
static void *grow(void *list, uint32_t *count, size_t element_bytes, const char *what,
                  struct zeta_replay_problem *problem)
{
    char *grown = list;

    if (*count >= ZETA_REPLAY_OBJECTS) {
        (void)zeta_replay_fail(problem, "it has more than %u %s", ZETA_REPLAY_OBJECTS, what);
        return NULL;
    }
    if (*count == 0 || (*count >= 4 && (*count & (*count - 1)) == 0))
        grown = realloc(list, (*count == 0 ? 4u : *count * 2u) * element_bytes);
    if (!grown) {
        (void)zeta_replay_fail(problem, "there is no memory for its %s", what);
        return NULL;
    }
    memset(grown + *count * element_bytes, 0, element_bytes);
    (*count)++;
    return grown;
}

struct zeta_replay_device *zeta_replay_add_device(struct zeta_replay_recording *recording,
                                                  struct zeta_replay_problem *problem)
{
    void *list = grow(recording->devices, &recording->device_count, sizeof(*recording->devices),
                      "devices", problem);

    if (!list)
        return NULL;
    recording->devices = list;
    return &recording->devices[recording->device_count - 1];
}

struct zeta_replay_set *zeta_replay_add_set(struct zeta_replay_recording *recording,
                                            struct zeta_replay_problem *problem)
{
    void *list = grow(recording->sets, &recording->set_count, sizeof(*recording->sets),
                      "metric sets", problem);

    if (!list)
        return NULL;
    recording->sets = list;
    return &recording->sets[recording->set_count - 1];
}

struct zeta_replay_stream *zeta_replay_add_stream(struct zeta_replay_recording *recording,
                                                  struct zeta_replay_problem *problem)
{
    void *list = grow(recording->streams, &recording->stream_count, sizeof(*recording->streams),
                      "streams", problem);

    if (!list)
        return NULL;
    recording->streams = list;
    return &recording->streams[recording->stream_count - 1];
}

bool zeta_replay_add_symbol(struct zeta_replay_device *device, const char *name, bool is_float,
                            uint64_t u64, double f64, struct zeta_replay_problem *problem)
{
    struct zeta_plugin_symbol *symbol;
    char *copy;
    void *list;

    for (uint32_t i = 0; i < device->symbol_count; i++) {
        if (strcmp(device->symbols[i].name.data, name) == 0)
            return true;
    }
    copy = strdup(name);
    list = copy ? grow(device->symbols, &device->symbol_count, sizeof(*device->symbols), "symbols",
                       problem)
                : NULL;
    if (!list) {
        free(copy);
        return copy ? false : zeta_replay_fail(problem, "there is no memory for its symbols");
    }
    device->symbols = list;
    symbol = &device->symbols[device->symbol_count - 1];
    *symbol = (struct zeta_plugin_symbol){.struct_size = sizeof(*symbol),
                                          .name = {copy, strlen(copy)},
                                          .is_float = is_float,
                                          .u64 = u64,
                                          .f64 = f64};
    return true;
}

void zeta_replay_recording_free(struct zeta_replay_recording *recording)
{
    if (!recording)
        return;
    for (uint32_t i = 0; i < recording->device_count; i++) {
        struct zeta_replay_device *device = &recording->devices[i];

        for (uint32_t s = 0; s < device->symbol_count; s++)
            free((void *)(uintptr_t)device->symbols[s].name.data);
        free(device->symbols);
    }
    for (uint32_t i = 0; i < recording->set_count; i++)
        free(recording->sets[i].text);
    free(recording->devices);
    free(recording->sets);
    free(recording->streams);
    free(recording->path);
    free(recording->share);
    free(recording);
}

/* Both kinds of files are recognised by their first bytes. */
static bool find_format(struct zeta_replay_recording *recording,
                        struct zeta_replay_problem *problem)
{
    const int fd = open(recording->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    unsigned char head[8] = {0};
    struct stat info;
    ssize_t got;

    if (fd < 0)
        return zeta_replay_fail(problem, "it cannot be opened: %s", strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return zeta_replay_fail(problem, "it is no regular file");
    }
    got = pread(fd, head, sizeof(head), 0);
    (void)close(fd);
    if (got < 0)
        return zeta_replay_fail(problem, "it cannot be read: %s", strerror(errno));
    recording->file_device = info.st_dev;
    recording->file_number = info.st_ino;
    /* The record type 65536 with its size, 16 bytes. */
    recording->format = got == 8 && memcmp(head, "\0\0\1\0\0\0\20\0", 8) == 0
                            ? ZETA_REPLAY_IGT
                            : ZETA_REPLAY_CONTAINER;
    return true;
}

/* Makes what the loaders found consistent: every index inside its list. */
static bool check(const struct zeta_replay_recording *recording,
                  struct zeta_replay_problem *problem)
{
    if (recording->device_count == 0)
        return zeta_replay_fail(problem, "it names no device");
    for (uint32_t i = 0; i < recording->device_count; i++) {
        const struct zeta_replay_device *device = &recording->devices[i];

        if (device->parent != UINT32_MAX && device->parent >= i)
            return zeta_replay_fail(problem, "tile %u of device \"%.80s\" comes before its root",
                                    device->tile, device->id);
        if (device->timer_hz == 0)
            return zeta_replay_fail(problem, "device \"%.80s\" has a timer without a frequency",
                                    device->id);
    }
    return true;
}

struct zeta_replay_recording *zeta_replay_recording_load(const char *path, const char *share,
                                                         struct zeta_replay_problem *out_problem)
{
    struct zeta_replay_recording *recording = calloc(1, sizeof(*recording));
    struct zeta_replay_problem problem = {""};
    bool good = false;

    if (recording) {
        recording->path = realpath(path, NULL);
        recording->share = share ? realpath(share, NULL) : NULL;
        if (!recording->path)
            (void)zeta_replay_fail(&problem, "it cannot be opened: %s", strerror(errno));
        else
            good = find_format(recording, &problem) &&
                   (recording->format == ZETA_REPLAY_IGT
                        ? zeta_replay_load_igt(recording, &problem)
                        : zeta_replay_load_container(recording, &problem)) &&
                   check(recording, &problem);
    } else {
        (void)zeta_replay_fail(&problem, "there is no memory for it");
    }
    if (good)
        return recording;
    (void)zeta_replay_fail(out_problem, "the recording %.200s cannot be replayed: %.240s", path,
                           problem.text);
    zeta_replay_recording_free(recording);
    return NULL;
}

bool zeta_replay_recording_same_file(const struct zeta_replay_recording *recording,
                                     struct zeta_replay_problem *out_problem)
{
    struct stat info;

    if (stat(recording->path, &info) != 0)
        return zeta_replay_fail(out_problem, "the recording %.300s is gone: %s", recording->path,
                                strerror(errno));
    if (info.st_dev != recording->file_device || info.st_ino != recording->file_number)
        return zeta_replay_fail(out_problem,
                                "another file has taken the place of the recording %.300s since it "
                                "was opened; start the program again",
                                recording->path);
    return true;
}
