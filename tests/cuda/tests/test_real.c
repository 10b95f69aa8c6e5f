/* The names of the fake against the host side of a real libcupti, which needs no GPU. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/cuda/cupti/metrics.h"
#include "tests/cuda/tests/bed.h"
#include "tests/sanitizer.h"

static const char *const folders[] = {"/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
                                      "/usr/local/cuda/targets/x86_64-linux/lib",
                                      "/usr/local/cuda/targets/sbsa-linux/lib",
                                      "/usr/local/cuda/lib"};

/* The real library instead of ours; its companion first, which it opens by its bare name. */
static bool open_real(void)
{
    char path[128];

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        void *library;

        (void)snprintf(path, sizeof(path), "%s/libnvperf_host.so", folders[i]);
        (void)dlopen(path, RTLD_NOW | RTLD_LOCAL);
        (void)snprintf(path, sizeof(path), "%s/libcupti.so.13", folders[i]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
#define FIND(name, type, last) *(void **)&cupti.name = dlsym(library, #name);
        CUPTI_API(FIND)
#undef FIND
        return cupti.cuptiProfilerHostInitialize != NULL;
    }
    return false;
}

/* Checks one metric in one profiler; says what differs. */
static unsigned compare(const struct metric *metric, int type, uint32_t flag, uint32_t passes)
{
    struct bed_stream stream = {0};
    char name[128];
    const char *const names[] = {name};
    size_t found = 0;
    int result;

    (void)snprintf(name, sizeof(name), "%s%s", metric->name,
                   metric->kind == METRIC_RATIO        ? ".ratio"
                   : metric->kind == METRIC_THROUGHPUT ? ".avg.pct_of_peak_sustained_elapsed"
                                                       : ".sum");
    result = bed_configure(&stream, "GH100", type, names, 1, &found);
    free(stream.config);
    if ((result == 0) != ((metric->flags & flag) != 0) ||
        (result == 0 && found != (passes > 0 ? passes : 1))) {
        print_error("%s, profiler %d: result %d, %zu passes\n", name, type, result, found);
        return 1;
    }
    return 0;
}

/* Unit, dimension and kind of one; names of chips that lack it are left out. */
static unsigned compare_properties(const struct metric *metric, void *host)
{
    struct host_properties properties = BED_BLOCK(host_properties, kind);

    properties.host = host;
    properties.name = metric->name;
    if ((metric->flags & IN_PM) == 0)
        return 0;
    assert_int_equal(cupti.cuptiProfilerHostGetMetricProperties(&properties), 0);
    if (strcmp(properties.unit, metric->unit) == 0 &&
        strcmp(properties.dimension, metric->dimension) == 0 &&
        properties.kind == (int)metric->kind)
        return 0;
    print_error("%s: \"%s\" \"%s\" %d\n", metric->name, properties.unit, properties.dimension,
                properties.kind);
    return 1;
}

/* Forms in the same order. */
static void compare_forms(void *host, enum metric_kind kind, const char *name)
{
    struct host_sub_metrics sub = BED_BLOCK(host_sub_metrics, names);
    uint32_t i = 0;

    sub.host = host;
    sub.kind = (int32_t)kind;
    sub.name = name;
    assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&sub), 0);
    for (; i < sub.count; i++)
        assert_string_equal(sub.names[i], metric_form(kind, i));
    assert_null(metric_form(kind, i));
}

static void properties__of_real_library__same(void **state)
{
    struct host_initialize initialize = BED_BLOCK(host_initialize, host);
    struct host_chips chips = BED_BLOCK(host_chips, names);
    unsigned differences = 0;

    (void)state;
    assert_int_equal(cupti.cuptiProfilerHostGetSupportedChips(&chips), 0);
    assert_int_equal(chips.count, 30);
    initialize.type = 1;
    initialize.chip = "GH100";
    assert_int_equal(cupti.cuptiProfilerHostInitialize(&initialize), 0);
    for (uint32_t i = 0; i < metric_count; i++)
        differences += compare_properties(&metric_table[i], initialize.host);
    assert_int_equal(differences, 0);
    compare_forms(initialize.host, METRIC_COUNTER, "gpc__cycles_elapsed");
    compare_forms(initialize.host, METRIC_RATIO,
                  "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime");
    compare_forms(initialize.host, METRIC_THROUGHPUT, "sm__throughput");
}

static void names__of_real_library__same_and_same_passes(void **state)
{
    unsigned differences = 0;

    (void)state;
    for (uint32_t i = 0; i < metric_count; i++) {
        differences += compare(&metric_table[i], 1, IN_PM, metric_table[i].pm_passes);
        differences += compare(&metric_table[i], 0, IN_RANGE, metric_table[i].range_passes);
    }
    assert_int_equal(differences, 0);
}

static void names__refused_by_real_library__same(void **state)
{
    (void)state;
    bed_expect_refusal();
}

SUITE(real)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__refused_by_real_library__same),
        cmocka_unit_test(names__of_real_library__same_and_same_passes),
        cmocka_unit_test(properties__of_real_library__same),
    };

    if (HAVE_THREAD_SANITIZER || HAVE_ADDRESS_SANITIZER) {
        (void)puts(
            "skipped: libcupti opens its companion with RTLD_DEEPBIND, which sanitizers refuse");
        return 77;
    }
    if (!open_real()) {
        (void)puts("skipped: libcupti.so.13 of a CUDA toolkit is not installed");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
