/*
 * Exported data: what calculation from it costs beside calculation in place, which is the peer, and
 * what the description costs that is new.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#define REPORTS 4096u
#define REPORT_BYTES 256u
#define RUNS 30u
#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "%s: 0x%x\n", what, (unsigned)result);
    exit(1);
}

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

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

    check(zeInit(0), "zeInit");
    check(zeDriverGet(&one, &bench->driver), "zeDriverGet");
    check(zeDeviceGet(bench->driver, &one, &device), "zeDeviceGet");
    check(zetMetricGroupGet(device, &one, &bench->group), "zetMetricGroupGet");
    check(zetMetricGroupGetProperties(bench->group, &properties), "zetMetricGroupGetProperties");
    (void)printf("group %s, %u metrics, %u reports of %u bytes\n", properties.name,
                 properties.metricCount, REPORTS, REPORT_BYTES);
    bench->room = REPORTS * properties.metricCount;
}

static void in_place(struct bench *bench)
{
    uint32_t sets = 1;
    uint32_t total = bench->room;

    check(zetMetricGroupCalculateMultipleMetricValuesExp(bench->group, VALUES,
                                                         REPORTS * REPORT_BYTES, bench->raw, &sets,
                                                         &total, NULL, bench->values),
          "in place");
}

static void offline(struct bench *bench)
{
    zet_metric_calculate_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC};
    uint32_t sets = 1;
    uint32_t total = bench->room;

    check(zetMetricGroupCalculateMetricExportDataExp(bench->driver, VALUES, bench->size,
                                                     bench->data, &desc, &sets, &total, NULL,
                                                     bench->values),
          "offline");
}

static void export_data(struct bench *bench)
{
    check(zetMetricGroupGetExportDataExp(bench->group, bench->raw, REPORTS * REPORT_BYTES,
                                         &bench->size, bench->data),
          "export");
}

static void copy(struct bench *bench)
{
    memcpy(bench->data, bench->raw, REPORTS * REPORT_BYTES);
}

/** The shortest of some runs, in microseconds. */
static double best_of(struct bench *bench, void (*run)(struct bench *), uint32_t runs)
{
    double best = 1e18;

    for (uint32_t i = 0; i < runs; i++) {
        const double begin_us = now_us();
        double taken_us;

        run(bench);
        taken_us = now_us() - begin_us;
        best = taken_us < best ? taken_us : best;
    }
    return best;
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
    double first_us;
    double begin_us;

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
    (void)printf("exported: %zu bytes more than the raw data\n",
                 bench.size - (size_t)REPORTS * REPORT_BYTES);
    begin_us = now_us();
    offline(&bench);
    first_us = now_us() - begin_us;
    (void)printf("calculation offline %10.1f us   in place %10.1f us   first time %10.1f us\n",
                 best_of(&bench, offline, RUNS), best_of(&bench, in_place, RUNS), first_us);
    (void)printf("export              %10.1f us   copy     %10.1f us\n",
                 best_of(&bench, export_data, RUNS), best_of(&bench, copy, RUNS));
    free(bench.raw);
    free(bench.data);
    free(bench.values);
    return 0;
}
