/*
 * Exported data: what calculation from it costs beside calculation in place, which is the peer, and
 * what the description costs that is new.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"

#define REPORTS 4096u
#define REPORT_BYTES 256u
#define ROUNDS 31u
#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

/** What is measured. */
struct bench {
    ze_driver_handle_t driver;
    zet_metric_group_handle_t group;
    uint8_t *raw;
    uint8_t *data;
    size_t size;
    zet_typed_value_t *values;
    uint32_t room;
};

static void find_group(struct bench *bench)
{
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    ze_device_handle_t device;
    uint32_t one = 1;

    bench_check(zeInit(0), "zeInit");
    bench_check(zeDriverGet(&one, &bench->driver), "zeDriverGet");
    bench_check(zeDeviceGet(bench->driver, &one, &device), "zeDeviceGet");
    bench_check(zetMetricGroupGet(device, &one, &bench->group), "zetMetricGroupGet");
    bench_check(zetMetricGroupGetProperties(bench->group, &properties),
                "zetMetricGroupGetProperties");
    (void)printf("  group %s, %u metrics, %u reports of %u bytes\n", properties.name,
                 properties.metricCount, REPORTS, REPORT_BYTES);
    bench->room = REPORTS * properties.metricCount;
}

static void in_place(struct bench *bench)
{
    uint32_t sets = 1;
    uint32_t total = bench->room;

    bench_check(zetMetricGroupCalculateMultipleMetricValuesExp(bench->group, VALUES,
                                                               REPORTS * REPORT_BYTES, bench->raw,
                                                               &sets, &total, NULL, bench->values),
                "in place");
}

static void offline(struct bench *bench)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint32_t sets = 1;
    uint32_t total = bench->room;

    bench_check(zetMetricGroupCalculateMetricExportDataExp(bench->driver, VALUES, bench->size,
                                                           bench->data, &desc, &sets, &total, NULL,
                                                           bench->values),
                "offline");
}

static void export_data(struct bench *bench)
{
    bench_check(zetMetricGroupGetExportDataExp(bench->group, bench->raw, REPORTS * REPORT_BYTES,
                                               &bench->size, bench->data),
                "export");
}

static void copy(struct bench *bench)
{
    memcpy(bench->data, bench->raw, REPORTS * REPORT_BYTES);
}

/** What one run takes, in microseconds. */
static double time_us(struct bench *bench, void (*run)(struct bench *))
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    run(bench);
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6;
}

/** Two ways in turn. */
static void compare(struct bench *bench, const char *names[2],
                    void (*const runs[2])(struct bench *))
{
    struct bench_rounds rounds[2] = {0};

    for (unsigned i = 0; i < 2 * ROUNDS; i++)
        bench_add(&rounds[i % 2], time_us(bench, runs[i % 2]));
    (void)printf("  %-20s %8.1f us (%8.1f)   %-10s %8.1f us (%8.1f)\n", names[0],
                 bench_least(&rounds[0]), bench_median(&rounds[0]), names[1],
                 bench_least(&rounds[1]), bench_median(&rounds[1]));
}

static void fill(struct bench *bench)
{
    uint32_t seed = 1;

    for (size_t i = 0; i < REPORTS * REPORT_BYTES / 4; i++) {
        seed = seed * 1664525 + 1013904223;
        memcpy(bench->raw + i * 4, &seed, 4);
    }
}

int main(void)
{
    struct bench bench = {0};

    bench_use_virtual_gpu();
    bench_begin("exported data: best of 31 rounds (median), beside calculation in place", NULL);
    find_group(&bench);
    bench.raw = malloc((size_t)REPORTS * REPORT_BYTES);
    bench.values = malloc(bench.room * sizeof(*bench.values));
    if (!bench.raw || !bench.values)
        return 1;
    fill(&bench);
    export_data(&bench);
    bench.data = malloc(bench.size);
    if (!bench.data)
        return 1;
    export_data(&bench);
    (void)printf("  %zu bytes more than the raw data; the first calculation, which reads the "
                 "description, %.1f us\n",
                 bench.size - (size_t)REPORTS * REPORT_BYTES, time_us(&bench, offline));
    compare(&bench, (const char *[]){"calculation offline", "in place"},
            (void (*const[])(struct bench *)){offline, in_place});
    compare(&bench, (const char *[]){"export", "memcpy"},
            (void (*const[])(struct bench *)){export_data, copy});
    free(bench.raw);
    free(bench.data);
    free(bench.values);
    return 0;
}
