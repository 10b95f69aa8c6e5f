#include "plugins/replay/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/c_locale.h>
#include <zeta/container.h>

#undef zeta_replay_fail

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

uint64_t zeta_replay_field_read(const struct zeta_replay_field *field, const unsigned char *record)
{
    uint64_t value;

    if (!field->present)
        return 0;
    value = read_bits(record, field->low_bit, field->low_width);
    if (field->high_width > 0)
        value |= read_bits(record, field->high_bit, field->high_width) << field->low_width;
    return value;
}

uint64_t zeta_replay_field_mask(const struct zeta_replay_field *field)
{
    const uint32_t bits = field->low_width + field->high_width;

    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* A new zeroed element of a list that grows by doubling (*list points to it); NULL with the reason.
 */
static void *add(void *list, uint32_t *count, size_t element_bytes, const char *what,
                 struct zeta_replay_problem *problem)
{
    char *elements;

    memcpy(&elements, list, sizeof(elements));
    if (*count >= ZETA_REPLAY_OBJECTS) {
        (void)zeta_replay_fail(problem, "it has more than %u %s", ZETA_REPLAY_OBJECTS, what);
        return NULL;
    }
    if (*count == 0 || (*count >= 4 && (*count & (*count - 1)) == 0))
        elements = realloc(elements, (*count == 0 ? 4u : *count * 2u) * element_bytes);
    if (!elements) {
        (void)zeta_replay_fail(problem, "there is no memory for its %s", what);
        return NULL;
    }
    memcpy(list, &elements, sizeof(elements));
    return memset(elements + (*count)++ * element_bytes, 0, element_bytes);
}

struct zeta_replay_device *zeta_replay_add_device(struct zeta_replay_recording *recording,
                                                  struct zeta_replay_problem *problem)
{
    return add(&recording->devices, &recording->device_count, sizeof(*recording->devices),
               "devices", problem);
}

struct zeta_replay_set *zeta_replay_add_set(struct zeta_replay_recording *recording,
                                            struct zeta_replay_problem *problem)
{
    return add(&recording->sets, &recording->set_count, sizeof(*recording->sets), "metric sets",
               problem);
}

struct zeta_replay_stream *zeta_replay_add_stream(struct zeta_replay_recording *recording,
                                                  struct zeta_replay_problem *problem)
{
    return add(&recording->streams, &recording->stream_count, sizeof(*recording->streams),
               "streams", problem);
}

static bool find_device(const struct zeta_replay_recording *recording, uint32_t number,
                        uint32_t *out_index)
{
    for (uint32_t i = 0; i < recording->device_count; i++) {
        if (recording->devices[i].number == number) {
            *out_index = i;
            return true;
        }
    }
    return false;
}

static bool find_set(const struct zeta_replay_recording *recording, uint32_t number,
                     uint32_t *out_index)
{
    for (uint32_t i = 0; i < recording->set_count; i++) {
        if (recording->sets[i].number == number) {
            *out_index = i;
            return true;
        }
    }
    return false;
}

/* ---- containers: devices, sets and streams from the chunks that describe them --------------- */

/* One walk through the chunks. */
struct walk {
    struct zeta_replay_recording *recording;
    struct zeta_container_reader *reader;
    struct zeta_replay_problem *problem;
};

/* The lines of a chunk. */
struct text {
    const void *data;
    size_t bytes;
};

static bool find_text(const struct text *text, const char *key, char *out_value, size_t bytes)
{
    return zeta_lines_find(text->data, text->bytes, key, 0, out_value, bytes);
}

/* A number of 32 bits; what is larger or no number is 0. */
static uint32_t find_u32(const struct text *text, const char *key)
{
    const uint64_t value = zeta_lines_find_u64(text->data, text->bytes, key, 0);

    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static bool take_device(struct walk *walk, uint32_t number, const struct text *text)
{
    const uint64_t parent = zeta_lines_find_u64(text->data, text->bytes, "parent", UINT64_MAX);
    struct zeta_replay_device *device, *root;
    char digits[40] = "";
    uint32_t known;

    if (find_device(walk->recording, number, &known))
        return true;
    device = zeta_replay_add_device(walk->recording, walk->problem);
    if (!device)
        return false;
    device->number = number;
    (void)snprintf(device->name, sizeof(device->name), "device %" PRIu32, number);
    (void)find_text(text, "name", device->name, sizeof(device->name));
    (void)find_text(text, "id", device->id, sizeof(device->id));
    /* 32 hexadecimal digits; anything else leaves zeros. */
    if (find_text(text, "uuid", digits, sizeof(digits)) && strlen(digits) == 32) {
        for (uint32_t i = 0; i < 16; i++) {
            const char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};

            device->uuid[i] = (uint8_t)strtoul(pair, NULL, 16);
        }
    }
    device->vendor_id = find_u32(text, "vendor");
    device->device_id = find_u32(text, "device");
    device->revision = find_u32(text, "revision");
    device->timer_hz = zeta_lines_find_u64(text->data, text->bytes, "timer-hz", 0);
    if (device->timer_hz == 0)
        return zeta_replay_fail(walk->problem, "device \"%.80s\" has a timer without a frequency",
                                device->id);
    device->metric_hz = zeta_lines_find_u64(text->data, text->bytes, "metric-hz", device->timer_hz);
    device->timestamp_valid_bits = find_u32(text, "timestamp-bits");
    device->kernel_timestamp_valid_bits = find_u32(text, "kernel-timestamp-bits");
    device->core_clock_mhz = find_u32(text, "core-clock-mhz");
    device->slices = find_u32(text, "slices");
    device->subslices_per_slice = find_u32(text, "subslices-per-slice");
    device->eus_per_subslice = find_u32(text, "eus-per-subslice");
    device->threads_per_eu = find_u32(text, "threads-per-eu");
    device->simd_width = find_u32(text, "simd-width");

    device->parent = UINT32_MAX;
    if (parent == UINT64_MAX)
        return true;
    if (parent > UINT32_MAX || !find_device(walk->recording, (uint32_t)parent, &device->parent) ||
        walk->recording->devices[device->parent].parent != UINT32_MAX ||
        &walk->recording->devices[device->parent] == device)
        return zeta_replay_fail(walk->problem, "device %" PRIu32 " is a tile of an unknown device",
                                number);
    root = &walk->recording->devices[device->parent];
    device->tile = find_u32(text, "tile");
    if (device->tile != root->tiles || root->tiles >= ZETA_REPLAY_TILES)
        return zeta_replay_fail(
            walk->problem, "the tiles of device %" PRIu32 " are not in their order", root->number);
    root->tiles++;
    return true;
}

static bool take_set(struct walk *walk, uint32_t number, const struct text *text)
{
    struct zeta_replay_set *set;
    uint32_t known;

    if (find_set(walk->recording, number, &known))
        return true;
    if (text->bytes == 0 || text->bytes > ZETA_REPLAY_SET_BYTES)
        return zeta_replay_fail(walk->problem, "the text of metric set %" PRIu32 " is %s", number,
                                text->bytes == 0 ? "empty" : "too long");
    set = zeta_replay_add_set(walk->recording, walk->problem);
    if (!set)
        return false;
    set->number = number;
    set->text = malloc(text->bytes + 1);
    if (!set->text)
        return zeta_replay_fail(walk->problem, "there is no memory for metric set %" PRIu32,
                                number);
    memcpy(set->text, text->data, text->bytes);
    set->text[text->bytes] = '\0';
    set->text_bytes = text->bytes;
    return zeta_replay_set_read(set, walk->problem);
}

static bool take_stream(struct walk *walk, uint32_t number, const struct text *text)
{
    const struct zeta_replay_recording *recording = walk->recording;
    const uint32_t tiles = find_u32(text, "tiles");
    char sampling[16] = "", digits[24];
    struct zeta_replay_stream *stream;

    (void)find_text(text, "sampling", sampling, sizeof(sampling));
    /* What queries gave is for reports; it cannot be replayed into command lists. */
    if (strcmp(sampling, "time") != 0 && strcmp(sampling, "tracer") != 0)
        return true;
    stream = zeta_replay_add_stream(walk->recording, walk->problem);
    if (!stream)
        return false;
    stream->number = number;
    stream->is_tracer = strcmp(sampling, "tracer") == 0;
    stream->period_ns = zeta_lines_find_u64(text->data, text->bytes, "period-ns", 0);
    if (!find_device(recording, find_u32(text, "device"), &stream->device))
        return zeta_replay_fail(walk->problem, "stream %" PRIu32 " belongs to an unknown device",
                                number);
    if (tiles == 0 || tiles > ZETA_REPLAY_TILES)
        return zeta_replay_fail(walk->problem, "stream %" PRIu32 " has no number of tiles", number);
    /* The set of each tile; all have records of one size. */
    for (uint32_t *sets = stream->sets; stream->tiles < tiles; stream->tiles++) {
        if (!zeta_lines_find(text->data, text->bytes, "set", stream->tiles, digits,
                             sizeof(digits)) ||
            !find_set(recording, (uint32_t)strtoul(digits, NULL, 10), &sets[stream->tiles]))
            return zeta_replay_fail(walk->problem,
                                    "stream %" PRIu32 " lacks the metric set of tile %" PRIu32,
                                    number, stream->tiles);
        if (recording->sets[sets[stream->tiles]].record_bytes !=
            recording->sets[sets[0]].record_bytes)
            return zeta_replay_fail(
                walk->problem, "the tiles of stream %" PRIu32 " have records of two sizes", number);
    }
    return true;
}

/* The device's clock begins at the first pair of clocks. */
static bool take_clock(struct walk *walk, uint32_t number, const struct text *payload)
{
    struct zeta_chunk_clock clock;
    uint32_t index;

    if (find_device(walk->recording, number, &index) &&
        walk->recording->devices[index].first_ticks == 0 &&
        zeta_chunk_clock_read(payload->data, payload->bytes, &clock))
        walk->recording->devices[index].first_ticks = clock.device_ticks;
    return true;
}

static bool take_chunk(struct walk *walk, const struct zeta_container_chunk *chunk)
{
    struct text text = {NULL, (size_t)chunk->payload_bytes};
    bool (*take)(struct walk *, uint32_t, const struct text *) =
        chunk->type == ZETA_CHUNK_DEVICE   ? take_device
        : chunk->type == ZETA_CHUNK_SET    ? take_set
        : chunk->type == ZETA_CHUNK_STREAM ? take_stream
        : chunk->type == ZETA_CHUNK_CLOCK  ? take_clock
                                           : NULL;

    if (!take)
        return true;
    if (zeta_container_payload(walk->reader, &text.data) != ZETA_CONTAINER_OK) {
        /* Without a pair of clocks data are still right; without a description they are not. */
        return chunk->type == ZETA_CHUNK_CLOCK ||
               zeta_replay_fail(walk->problem, "%s", zeta_container_reader_problem(walk->reader));
    }
    return take(walk, chunk->stream, &text);
}

static bool load_container(struct zeta_replay_recording *recording,
                           struct zeta_replay_problem *problem)
{
    struct walk walk = {.recording = recording, .problem = problem};
    struct zeta_container_problem why = {""};
    struct zeta_container_chunk chunk;
    enum zeta_container_result result = ZETA_CONTAINER_AT_END;
    uint32_t data_chunks = 0;
    bool good = true;

    if (zeta_container_open_file(recording->path, &why, &walk.reader) != ZETA_CONTAINER_OK)
        return zeta_replay_fail(problem, "%s", why.text);
    if (zeta_container_reader_kind(walk.reader) != ZETA_CONTAINER_RECORDING)
        good = zeta_replay_fail(problem, "it holds the data of one call and no recording; "
                                         "\"zeta calc\" shows what is in it");
    while (good && (result = zeta_container_next(walk.reader, &chunk)) == ZETA_CONTAINER_OK) {
        data_chunks += chunk.type == ZETA_CHUNK_DATA;
        good = take_chunk(&walk, &chunk);
    }
    if (good)
        (void)snprintf(recording->note, sizeof(recording->note), "%" PRIu32 " pieces of data%s",
                       data_chunks,
                       result == ZETA_CONTAINER_AT_CUT   ? ", cut before its end"
                       : result == ZETA_CONTAINER_AT_END ? ""
                                                         : ", damaged before its end");
    if (good && recording->device_count == 0)
        good = zeta_replay_fail(problem, "it names no device");
    zeta_container_reader_destroy(walk.reader);
    return good;
}

/* ---- loading -------------------------------------------------------------------------------- */

void zeta_replay_recording_free(struct zeta_replay_recording *recording)
{
    if (!recording)
        return;
    for (uint32_t i = 0; i < recording->device_count; i++)
        free(recording->devices[i].symbols);
    for (uint32_t i = 0; i < recording->set_count; i++)
        free(recording->sets[i].text);
    free(recording->devices);
    free(recording->sets);
    free(recording->streams);
    free(recording->path);
    free(recording->share);
    free(recording);
}

static bool load(struct zeta_replay_recording *recording, const char *path,
                 struct zeta_replay_problem *problem)
{
    unsigned char head[8] = {0};
    struct stat info;
    bool is_file;
    ssize_t got;
    int fd = -1;

    recording->path = realpath(path, NULL);
    if (recording->path)
        fd = open(recording->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return zeta_replay_fail(problem, "it cannot be opened: %s", strerror(errno));
    is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    got = pread(fd, head, sizeof(head), 0);
    (void)close(fd);
    if (!is_file)
        return zeta_replay_fail(problem, "it is not a regular file");
    if (got < 0)
        return zeta_replay_fail(problem, "it cannot be read: %s", strerror(errno));
    recording->file_device = info.st_dev;
    recording->file_number = info.st_ino;
    /* Both kinds of files are recognised by their first bytes: the record type 65536 with its
     * size, 16 bytes. */
    recording->format = got == 8 && memcmp(head, "\0\0\1\0\0\0\20\0", 8) == 0
                            ? ZETA_REPLAY_IGT
                            : ZETA_REPLAY_CONTAINER;
    return recording->format == ZETA_REPLAY_IGT ? zeta_replay_load_igt(recording, problem)
                                                : load_container(recording, problem);
}

struct zeta_replay_recording *zeta_replay_recording_load(const char *path, const char *share,
                                                         struct zeta_replay_problem *out_problem)
{
    struct zeta_replay_recording *recording = calloc(1, sizeof(*recording));
    struct zeta_replay_problem problem = {"there is no memory for it"};

    if (recording) {
        recording->share = share ? realpath(share, NULL) : NULL;
        if (load(recording, path, &problem))
            return recording;
    }
    (void)zeta_replay_fail(out_problem, "the recording %.200s cannot be replayed: %.240s", path,
                           problem.text);
    zeta_replay_recording_free(recording);
    return NULL;
}
