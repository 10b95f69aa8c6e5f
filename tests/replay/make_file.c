/*
 * make_file recording|igt|cache FILE: a file with 2001 or 401 reports, for the tests of the zeta
 * command.
 */
#include <stdio.h>
#include <string.h>

#include "tests/replay/igt_tape.h"

#define REPORTS 2001u

static int make_recording(const char *path)
{
    struct tape_data data = {0};
    struct tape tape;
    int result;

    tape_begin(&tape, "made.zrec");
    tape_device(&tape, 1, "Taped GPU", UINT32_MAX, 0);
    tape_clock(&tape, 1, TAPE_FIRST_TICKS, 1);
    tape_set(&tape, 1, "Taped", "first", 1);
    tape_stream(&tape, 1, 1, "time", 250000, 1, 1);
    tape_put_records(&data, 0, REPORTS - 1, 0);
    tape_write(&tape, 1, &data);
    tape_end(&tape, true);
    result = rename(tape.path, path) == 0 ? 0 : 1;
    tape_remove(&tape);
    return result;
}

/* Of four rows one has 970 hits and 30 misses, one has one miss, and two have nothing. */
static int make_cache(const char *path)
{
    static const char text[] =
        "format: 1\n"
        "units: {first: {description: Counts}}\n"
        "layouts:\n"
        "  - name: cache\n"
        "    kind: delta\n"
        "    record: 64\n"
        "    header:\n"
        "      report_id: {at: 0, width: 32}\n"
        "      ticks: {at: 4, width: 32, delta: 32}\n"
        "    counters:\n"
        "      B: [{n: 2, at: 8, stride: 4, width: 32}]\n"
        "    identity: [report_id, ticks]\n"
        "    info:\n"
        "      - {name: QueryBeginTime, description: End, type: timestamp, value_type: u64,\n"
        "         class: exact, unit: ns, value: 'now(ticks) * 1000'}\n"
        "sets:\n"
        "  - name: Cache\n"
        "    description: What a cache did\n"
        "    domain: 0\n"
        "    unit: first\n"
        "    layout: cache\n"
        "    sampling: [time]\n"
        "    metrics:\n"
        "      - {name: GpuTime, description: Time, type: duration, value_type: u64,\n"
        "         class: exact, unit: ns, value: 'ticks * 1000'}\n"
        "      - {name: Hits, description: Hits, type: event, value_type: u64, class: exact,\n"
        "         value: 'B[0]'}\n"
        "      - {name: Misses, description: Misses, type: event, value_type: u64, class: exact,\n"
        "         value: 'B[1]'}\n"
        "      - {name: HitRate, description: Share of hits, type: ratio, value_type: f32,\n"
        "         class: exact, unit: percent, value: 'f64(100 * Hits) / f64(Hits + Misses)'}\n"
        "      - {name: HitsPerMs, description: Hits, type: throughput, value_type: u64,\n"
        "         class: exact, unit: 1/ms, value: 'Hits * 1000000 / GpuTime'}\n";
    uint32_t report[16] = {0, 1000};
    struct tape_data data = {0};
    struct tape tape;
    int result;

    tape_begin(&tape, "made.zrec");
    tape_device(&tape, 1, "Taped GPU", UINT32_MAX, 0);
    tape_clock(&tape, 1, report[1], 1);
    tape_set_text(&tape, 1, text);
    tape_stream(&tape, 1, 1, "time", 40000, 1, 1);
    for (uint32_t i = 0; i <= 400; i++) {
        report[0] = i;
        tape_put(&data, report, sizeof(report));
        report[1] += 40;
        report[2] += i % 4 == 0 ? 970 : 0;
        report[3] += i % 4 == 0 ? 30 : i % 4 == 2;
    }
    tape_write(&tape, 1, &data);
    tape_end(&tape, true);
    result = rename(tape.path, path) == 0 ? 0 : 1;
    tape_remove(&tape);
    return result;
}

static int make_igt(const char *path)
{
    const struct igt_kind *kind = &igt_kinds[3];
    struct tape_data data = {0};
    FILE *file = fopen(path, "w");
    int result;

    igt_put_head(&data, kind);
    for (uint32_t k = 0; k < REPORTS; k++)
        igt_put_report(&data, kind, k);
    igt_put_correlation(&data, kind, REPORTS);
    result = file && fwrite(data.bytes, 1, data.size, file) == data.size ? 0 : 1;
    if (file && fclose(file) != 0)
        result = 1;
    tape_data_finish(&data);
    return result;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "recording") == 0)
        return make_recording(argv[2]);
    if (argc == 3 && strcmp(argv[1], "igt") == 0)
        return make_igt(argv[2]);
    if (argc == 3 && strcmp(argv[1], "cache") == 0)
        return make_cache(argv[2]);
    (void)fprintf(stderr, "usage: make_file recording|igt|cache FILE\n");
    return 2;
}
