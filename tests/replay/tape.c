#include "tests/replay/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zeta/slot.h"

static void must(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "the recording of the test cannot be made: %s\n", what);
    abort();
}

void tape_make_record(uint32_t n, uint32_t tile, struct tape_record *out_record)
{
    *out_record = (struct tape_record){
        .id = n + 1,
        .ticks = (uint32_t)(TAPE_FIRST_TICKS + (uint64_t)n * TAPE_TICKS),
        .tile = tile,
        .a = {n, (uint64_t)n * n, 1000 * (uint64_t)tile + 3 * (uint64_t)n, (UINT64_C(1) << 63) + n},
        .b = {n * 0x10000001u, n ^ 0x5a5a5a5au, ~n, tile},
    };
}

void tape_make_event(uint32_t type, uint32_t n, struct tape_event *out_event)
{
    *out_event = (struct tape_event){.type = type,
                                     .ticks = TAPE_FIRST_TICKS + (uint64_t)n * TAPE_TICKS,
                                     .value = UINT64_C(0x100000000) * n + 7};
}

void tape_put(struct tape_data *data, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    if (data->capacity - data->size < size) {
        data->capacity = 2 * (data->capacity + size);
        data->bytes = realloc(data->bytes, data->capacity);
        must(data->bytes != NULL, "no memory");
    }
    memcpy(data->bytes + data->size, bytes, size);
    data->size += size;
}

void tape_put_records(struct tape_data *data, uint32_t first, uint32_t last, uint32_t tile)
{
    for (uint32_t n = first; n <= last; n++) {
        struct tape_record record;

        tape_make_record(n, tile, &record);
        tape_put(data, &record, sizeof(record));
    }
}

static void put_control(struct tape_data *data, uint32_t kind, uint32_t value, uint64_t lost)
{
    static const unsigned char magic[16] = {0x9e, 'z',  'e',  't',  'a',  0x13, 0xc7, 0x52,
                                            0x1d, 0xe8, 0x40, 0xb6, 0x75, 0xf3, 0x2a, 0x8d};
    unsigned char slot[TAPE_RECORD_BYTES] = {0};

    memcpy(slot, magic, sizeof(magic));
    memcpy(slot + 16, &kind, sizeof(kind));
    memcpy(slot + 20, &value, sizeof(value));
    memcpy(slot + 24, &lost, sizeof(lost));
    tape_put(data, slot, sizeof(slot));
}

void tape_put_break(struct tape_data *data, uint32_t reason, uint64_t lost)
{
    put_control(data, ZETA_SLOT_BREAK, reason, lost);
}

void tape_put_tile(struct tape_data *data, uint32_t tile)
{
    put_control(data, ZETA_SLOT_TILE, tile, 0);
}

void tape_put_end(struct tape_data *data)
{
    put_control(data, ZETA_SLOT_END, 0, 0);
}

void tape_put_padding(struct tape_data *data)
{
    static const unsigned char zero[TAPE_RECORD_BYTES];

    tape_put(data, zero, sizeof(zero));
}

void tape_data_finish(struct tape_data *data)
{
    free(data->bytes);
    *data = (struct tape_data){0};
}

void tape_begin(struct tape *tape, const char *name)
{
    struct zeta_container_problem problem;
    char folder[200];

    (void)snprintf(folder, sizeof(folder), ZETA_BUILD_DIR "/replay-XXXXXX");
    must(mkdtemp(folder) != NULL, "no folder");
    (void)snprintf(tape->path, sizeof(tape->path), "%s/%s", folder, name);
    must(zeta_container_create_file(tape->path, ZETA_CONTAINER_RECORDING, 0, &problem,
                                    &tape->writer) == ZETA_CONTAINER_OK,
         "no file");
}

static void append(struct tape *tape, enum zeta_chunk_type type, uint32_t number, const void *data,
                   size_t bytes)
{
    const struct zeta_container_part part = {data, bytes};

    must(zeta_container_append(tape->writer, type, number, &part, 1) == ZETA_CONTAINER_OK,
         "no chunk");
}

static void append_lines(struct tape *tape, enum zeta_chunk_type type, uint32_t number,
                         struct zeta_lines *lines)
{
    append(tape, type, number, lines->text, lines->bytes);
    zeta_lines_finish(lines);
}

void tape_device(struct tape *tape, uint32_t number, const char *name, uint32_t parent,
                 uint32_t tile)
{
    struct zeta_lines lines = {0};

    zeta_lines_add(&lines, "name", name);
    zeta_lines_add(&lines, "id", "0000:03:00.0");
    zeta_lines_add(&lines, "uuid", "000102030405060708090a0b0c0d0e0f");
    if (parent != UINT32_MAX) {
        zeta_lines_add_u64(&lines, "parent", parent);
        zeta_lines_add_u64(&lines, "tile", tile);
    }
    zeta_lines_add_u64(&lines, "vendor", 0x8086);
    zeta_lines_add_u64(&lines, "device", 0x1234);
    zeta_lines_add_u64(&lines, "timer-hz", TAPE_HZ);
    zeta_lines_add_u64(&lines, "timestamp-bits", 36);
    zeta_lines_add_u64(&lines, "kernel-timestamp-bits", 32);
    zeta_lines_add_u64(&lines, "core-clock-mhz", 1300);
    zeta_lines_add_u64(&lines, "slices", 2);
    zeta_lines_add_u64(&lines, "subslices-per-slice", 3);
    zeta_lines_add_u64(&lines, "eus-per-subslice", 4);
    zeta_lines_add_u64(&lines, "threads-per-eu", 5);
    zeta_lines_add_u64(&lines, "simd-width", 16);
    append_lines(tape, ZETA_CHUNK_DEVICE, number, &lines);
}

void tape_set(struct tape *tape, uint32_t number, const char *name, const char *unit,
              uint32_t scale)
{
    static const char text[] =
        "format: 1\n"
        "symbols:\n"
        "  Scale: {value: %u, description: \"A number: of the device\"}\n"
        "units:\n"
        "  %s: {description: Counts}\n"
        "layouts:\n"
        "  - name: taped\n"
        "    kind: delta\n"
        "    record: 64\n"
        "    header:\n"
        "      report_id: {at: 0, width: 32}\n"
        "      ticks: {at: 4, width: 32, delta: 32}\n"
        "      tile: {at: 8, width: 32}\n"
        "    counters:\n"
        "      A:\n"
        "        - {n: 4, at: 16, stride: 8, width: 64}\n"
        "      B:\n"
        "        - {n: 4, at: 48, stride: 4, width: 32}\n"
        "    identity: [report_id, ticks]\n"
        "    info:\n"
        "      - {name: Report, description: Number, type: raw, value_type: u64, class: exact,\n"
        "         value: now(report_id)}\n"
        "sets:\n"
        "  - name: %s\n"
        "    description: \"Everything: of a record\"\n"
        "    domain: %u\n"
        "    unit: %s\n"
        "    layout: taped\n"
        "    sampling: [time, event]\n"
        "    metrics:\n"
        "      - {name: Time, description: Ticks, type: duration, value_type: u64, class: exact,\n"
        "         value: ticks}\n"
        "      - {name: Square, description: Of A, type: event, value_type: u64, class: exact,\n"
        "         value: 'A[1] * $Scale'}\n"
        "      - {name: Ratio, description: Of two, type: ratio, value_type: f32, class: exact,\n"
        "         value: 'f64(A[1]) / f64(A[2])'}\n"
        "      - {name: Wrapped, description: Of B, type: event, value_type: u32, class: exact,\n"
        "         value: 'B[0]'}\n";
    char made[4096];
    const int length = snprintf(made, sizeof(made), text, scale, unit, name,
                                strcmp(unit, "first") == 0 ? 0u : 1u, unit);

    must(length > 0 && (size_t)length < sizeof(made), "no set");
    append(tape, ZETA_CHUNK_SET, number, made, (size_t)length);
}

void tape_set_text(struct tape *tape, uint32_t number, const char *text)
{
    append(tape, ZETA_CHUNK_SET, number, text, strlen(text));
}

void tape_event_set(struct tape *tape, uint32_t number, const char *name, const char *unit)
{
    static const char text[] =
        "format: 1\n"
        "units:\n"
        "  %s: {description: Events}\n"
        "layouts:\n"
        "  - name: happened\n"
        "    kind: event\n"
        "    record: 32\n"
        "    header:\n"
        "      type: {at: 0, width: 32}\n"
        "      tile: {at: 4, width: 32}\n"
        "      ticks: {at: 8, width: 64}\n"
        "      value: {at: 16, width: 64}\n"
        "    events: {enabled: 1, disabled: 2, something: 3}\n"
        "sets:\n"
        "  - name: %s\n"
        "    description: What happened\n"
        "    domain: 2\n"
        "    unit: %s\n"
        "    layout: happened\n"
        "    sampling: [tracer]\n"
        "    metrics:\n"
        "      - {name: Something, description: It, type: raw, value_type: u64, class: exact,\n"
        "         events: [something], value: value}\n";
    char made[4096];
    const int length = snprintf(made, sizeof(made), text, unit, name, unit);

    must(length > 0 && (size_t)length < sizeof(made), "no set");
    append(tape, ZETA_CHUNK_SET, number, made, (size_t)length);
}

void tape_stream(struct tape *tape, uint32_t number, uint32_t device, const char *sampling,
                 uint64_t period_ns, uint32_t tiles, uint32_t first_set)
{
    struct zeta_lines lines = {0};

    zeta_lines_add_u64(&lines, "device", device);
    zeta_lines_add(&lines, "sampling", sampling);
    zeta_lines_add_u64(&lines, "period-ns", period_ns);
    zeta_lines_add_u64(&lines, "tiles", tiles);
    for (uint32_t t = 0; t < tiles; t++)
        zeta_lines_add_u64(&lines, "set", first_set + t);
    append_lines(tape, ZETA_CHUNK_STREAM, number, &lines);
}

void tape_write(struct tape *tape, uint32_t stream, struct tape_data *data)
{
    append(tape, ZETA_CHUNK_DATA, stream, data->bytes, data->size);
    tape_data_finish(data);
}

void tape_clock(struct tape *tape, uint32_t device, uint64_t ticks, uint64_t host_ns)
{
    const struct zeta_chunk_clock clock = {ticks, host_ns, 100};
    unsigned char payload[ZETA_CHUNK_NUMBERS_BYTES];

    zeta_chunk_clock_write(&clock, payload);
    append(tape, ZETA_CHUNK_CLOCK, device, payload, sizeof(payload));
}

void tape_name(struct tape *tape, uint32_t stream, uint64_t id, const char *text)
{
    const struct zeta_chunk_name name = {.id = id, .bytes = (uint32_t)strlen(text)};
    unsigned char payload[128];

    zeta_chunk_name_write(&name, payload);
    memcpy(payload + ZETA_CHUNK_NAME_BYTES, text, name.bytes);
    append(tape, ZETA_CHUNK_NAMES, stream, payload, ZETA_CHUNK_NAME_BYTES + name.bytes);
}

void tape_end(struct tape *tape, bool complete)
{
    must((complete ? zeta_container_finish(tape->writer) : zeta_container_flush(tape->writer)) ==
             ZETA_CONTAINER_OK,
         "no end");
    zeta_container_writer_destroy(tape->writer);
    tape->writer = NULL;
}

void tape_remove(struct tape *tape)
{
    char *slash;

    (void)unlink(tape->path);
    slash = strrchr(tape->path, '/');
    *slash = '\0';
    (void)rmdir(tape->path);
}
