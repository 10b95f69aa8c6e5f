/*
 * Recordings of an H100 (recordings/README.md), replayed where there is neither a GPU nor a library
 * of NVIDIA: what was counted of the FMA loop is what follows from its instructions, and exported
 * data gives the same values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "tests/export/support.h"
#include "tests/forked.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define DEVICE "NVIDIA H100 80GB HBM3 (recording)"

enum { LAUNCHES = 10, TURNS = 20000, GROUPS = 528, WARPS = GROUPS * 8, RAW_BYTES = 1 << 20 };

/* What is known of a recording. */
struct recording {
    const char *set;
    uint32_t rows;
    struct {
        const char *metric;
        uint64_t per_launch;
    } sums[5];
};

/* A warp has 67 instructions in each turn and 31 more; two of them are off by their predicate. */
static const struct recording recordings[] = {
    {"ComputeBasic",
     281,
     {{"Instructions", UINT64_C(5660290944)},
      {"ThreadInstructions", 32 * UINT64_C(5660290944) - 64 * WARPS},
      {"InstUniform", (uint64_t)TURNS *WARPS},
      {"InstXu", 0},
      {"GroupsLaunched", GROUPS}}},
    {"Occupancy",
     332,
     {{"WarpsLaunched", WARPS}, {"GroupsLaunched", GROUPS}, {"ClustersLaunched", 0}}},
    /* Wavefronts of a warp: two of the L1 and one of shared memory. */
    {"MemoryBasic",
     302,
     {{"L1Wavefronts", UINT64_C(2) * WARPS}, {"SharedWavefronts", WARPS}, {"L1FillBytes", 0}}},
    {"L2Cache", 259, {{NULL, 0}}},
    {"Gpm", 4, {{NULL, 0}}},
};

static const struct recording *recording; /* of the process */

/* The file without its compression, below this folder; the process sees it and nothing else. */
static void unpack(const char *folder)
{
    char path[512], command[1600];

    (void)snprintf(path, sizeof(path), "%s/recording", folder);
    (void)snprintf(command, sizeof(command),
                   "gzip -dc '" ZETA_SOURCE_DIR "/tests/nvidia/recordings/%s.zeta.gz' >'%s'",
                   recording->set, path);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("ZETA_REPLAY", path, 1), 0);
}

/* All that the stream gives; it ends by itself. */
static size_t read_all(const struct source *source, uint8_t *raw)
{
    ze_device_handle_t device = find_device(DEVICE);
    ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t group = source->group;
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    zet_metric_streamer_handle_t streamer = NULL;
    size_t used = 0, bytes = 1;

    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer));
    while (bytes > 0 || !info.ended) {
        EXPECT_OK(zetaMetricStreamerGetInfo(streamer, &info));
        bytes = RAW_BYTES - used;
        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw + used));
        used += bytes;
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
    return used;
}

static uint64_t sum_of(const struct source *source, const struct outcome *values,
                       const char *metric)
{
    uint64_t sum = 0;

    for (uint32_t i = metric_index(source->group, metric); i < values->total;
         i += source->properties.metricCount) {
        assert_int_equal(values->values[i].type, ZET_VALUE_TYPE_UINT64);
        sum += values->values[i].value.ui64;
    }
    return sum;
}

/* No percentage leaves its range. */
static void check_percentages(const struct source *source, const struct outcome *values)
{
    zet_metric_handle_t metrics[64];
    uint32_t count = 64, found = 0;

    EXPECT_OK(zetMetricGet(source->group, &count, metrics));
    for (uint32_t m = 0; m < count; m++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[m], &properties));
        if (strcmp(properties.resultUnits, "percent") != 0)
            continue;
        for (uint32_t i = m; i < values->total; i += count) {
            const zet_typed_value_t *value = &values->values[i];
            const double percent = value->type == ZET_VALUE_TYPE_FLOAT32 ? (double)value->value.fp32
                                                                         : value->value.fp64;

            assert_true(value->type == ZET_VALUE_TYPE_FLOAT32 ||
                        value->type == ZET_VALUE_TYPE_FLOAT64);
            if (!(percent >= 0 && percent <= 100))
                fail_msg("%s is %f percent in row %u", properties.name, percent, i / count);
            found += percent > 0;
        }
    }
    assert_cmp(found, >, 0);
}

static void check_recording(void)
{
    struct outcome in_place = outcome_make(), offline = outcome_make();
    uint8_t *raw = malloc(RAW_BYTES);
    struct source source;
    size_t bytes;

    assert_non_null(raw);
    EXPECT_OK(zeInit(0));
    source = find_source(DEVICE, recording->set, TIME_BASED);
    bytes = read_all(&source, raw);
    expect_equal_ways(&source, raw, bytes, &in_place, &offline);
    assert_int_equal(in_place.result, ZE_RESULT_SUCCESS);
    assert_int_equal(in_place.total, recording->rows * source.properties.metricCount);
    for (size_t i = 0; i < sizeof(recording->sums) / sizeof(recording->sums[0]); i++) {
        if (recording->sums[i].metric)
            assert_int_equal(sum_of(&source, &in_place, recording->sums[i].metric),
                             LAUNCHES * recording->sums[i].per_launch);
    }
    check_percentages(&source, &in_place);
    free(raw);
    outcome_free(&in_place);
    outcome_free(&offline);
}

static void recordings__of_an_h100__are_closed_forms(void **state)
{
    char folder[] = "/tmp/zeta-recordings-XXXXXX", command[128];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
        int status = 0;
        pid_t child;

        recording = &recordings[i];
        child = fork_child();
        assert_true(child >= 0);
        if (child == 0) {
            unpack(folder);
            check_recording();
            (void)fflush(NULL);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

SUITE(recordings)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings__of_an_h100__are_closed_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
