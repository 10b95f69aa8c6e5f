#include "tests/nvidia/sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/file.h>

#include "core/formula/compile/compile.h"
#include "core/formula/programmables/recipe_set.h"
#include "core/formula/sets/programmables.h"
#include "core/formula/sets/set.h"
#include "plugins/nvidia/sampling/config.h"
#include "plugins/nvidia/sampling/counters.h"
#include "plugins/nvidia/sampling/program.h"
#include "tests/metric/support.h"
#include "tests/nvidia/parts.h"
#include "tests/support/compare.h"

#define DATA ZETA_SOURCE_DIR "/plugins/nvidia/data/"

static const struct nvidia_cupti *library; /* that programs are tried on */

/* Findings end the test with their text. */
static void stop(void *context, const struct zeta_diagnostic *diagnostic)
{
    char text[ZETA_DIAGNOSTIC_BYTES];

    (void)context;
    zeta_diagnostic_print(diagnostic, text, sizeof(text));
    fail_msg("%s", text);
}

struct zeta_diagnostics sets_findings = {.report = stop};

struct zeta_catalog *sets_load(const char *file)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    char path[1024];

    assert_non_null(catalog);
    (void)snprintf(path, sizeof(path), DATA "%s", file);
    assert_int_equal(zeta_catalog_add_file(catalog, DATA "nvidia.yaml", &sets_findings), 0);
    assert_int_equal(zeta_catalog_add_file(catalog, path, &sets_findings), 0);
    assert_int_equal(zeta_catalog_link(catalog, &sets_findings), 0);
    return catalog;
}

static bool has_field(const struct nvidia_program *program, uint32_t field)
{
    for (uint32_t i = 0; i < program->count; i++) {
        if (program->fields[i] == field)
            return true;
    }
    return false;
}

/* What the expression of a metric reads of both banks is filled. */
struct reading {
    const struct nvidia_program *program;
    const struct zeta_layout *layout;
    const char *set, *metric;
};

static bool check_node(void *context, const struct zeta_expr *node)
{
    const struct reading *reading = context;
    uint32_t first;

    if (node->op != ZETA_EXPR_FIELD)
        return true;
    first = reading->layout->header_count;
    if (node->u.ref.target < first || node->u.ref.target >= first + NVIDIA_FIELDS)
        return true;
    if (!has_field(reading->program, node->u.ref.target - first))
        fail_msg("%s of %s reads a field that the program does not fill", reading->metric,
                 reading->set);
    return true;
}

static void check_program(const struct zeta_compiled *compiled, const char *chip, uint32_t use)
{
    const struct zeta_set *set = zeta_compiled_set(compiled);
    const struct zeta_program_entry *entries;
    const uint32_t count = zeta_compiled_program(compiled, &entries);
    struct zeta_plugin_program_entry list[NVIDIA_FIELDS + 1] = {{0}};
    const struct zeta_plugin_array array = {list, count, sizeof(list[0])};
    struct nvidia_program program;
    struct nvidia_config config;
    struct reading reading = {.program = &program, .set = set->name};
    size_t wrong = 0;
    int result;

    assert_int_equal(zeta_compiled_check(compiled), 0);
    assert_cmp(count, <=, NVIDIA_FIELDS + 1);
    for (uint32_t i = 0; i < count; i++)
        list[i].select = zeta_string(entries[i].select);
    if (nvidia_program_read(&parts_host, zeta_string(set->name), &array, use, &program) !=
        ZETA_PLUGIN_SUCCESS)
        fail_msg("%s", parts_sentence);
    reading.layout = set->query_of ? set->query_of->layout : set->layout;
    for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
        const struct zeta_metric *metric = zeta_compiled_metric(compiled, i);

        reading.metric = metric->name;
        (void)zeta_expr_every(metric->value, check_node, &reading);
    }
    result = nvidia_config_make(library, use == ZETA_PLUGIN_USE_QUERY ? 0 : 1, chip, program.names,
                                program.count, &config, &wrong);
    if (result != 0)
        fail_msg("%s, use %u: CUPTI gives %d, %s", set->name, use, result, program.names[wrong]);
    if (config.passes != 1)
        fail_msg("%s, use %u: %zu passes on %s", set->name, use, config.passes, chip);
    nvidia_config_finish(&config);
}

/* Every set of a file on a chip. */
static void check_file(const char *file, const char *chip, uint64_t dram, uint64_t nvlink)
{
    const struct reference_symbol symbols[] = {{"Dram", {.type = ZETA_EXPR_U64, .u.u64 = dram}},
                                               {"Nvlink", {.type = ZETA_EXPR_U64, .u.u64 = nvlink}},
                                               {NULL, {0}}};
    const struct zeta_symbol_lookup lookup = lookup_of(symbols);
    struct zeta_catalog *catalog = sets_load(file);

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);
        struct zeta_compiled *compiled;

        if ((set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) != 0) {
            assert_int_equal(zeta_set_compile(catalog, set, &lookup, &sets_findings, &compiled), 0);
            assert_int_equal(zeta_compiled_record_bytes(compiled), NVIDIA_RECORD_BYTES);
            check_program(compiled, chip, ZETA_PLUGIN_USE_STREAM);
            zeta_compiled_destroy(compiled);
        }
        if ((set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED) != 0) {
            assert_int_equal(
                zeta_set_compile_query(catalog, set, &lookup, &sets_findings, &compiled), 0);
            check_program(compiled, chip, ZETA_PLUGIN_USE_QUERY);
            zeta_compiled_destroy(compiled);
        }
    }
    zeta_catalog_destroy(catalog);
}

void sets_check(const struct nvidia_cupti *cupti)
{
    static const char *const with_dram[] = {"GA100", "GA102", "GA103", "GA104", "GA106",
                                            "GA107", "AD102", "AD103", "AD104", "AD106",
                                            "AD107", "GH100", "GB100", "GB102", "GB110"};
    static const char *const without[] = {"TU102", "TU104", "TU106", "TU116", "TU117",
                                          "GA10B", "GB10B", "GB202", "GB203", "GB205",
                                          "GB206", "GB207", "GB20B"};

    library = cupti;
    check_file("gh100.yaml", "GH100", 1, 1);
    check_file("gh100.yaml", "GH100", 1, 0);
    check_file("gh100.yaml", "GH100", 0, 0);
    for (size_t i = 0; i < sizeof(with_dram) / sizeof(with_dram[0]); i++)
        check_file("portable.yaml", with_dram[i], 1, 0);
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        check_file("portable.yaml", without[i], 0, 0);
}

/* Whether a counter is one pass alone. */
static void expect_one_pass(int32_t type, const char *name)
{
    const char *names[] = {name};
    struct nvidia_config config;
    size_t wrong;
    const int result = nvidia_config_make(library, type, "GH100", names, 1, &config, &wrong);

    if (result != 0 || config.passes != 1)
        fail_msg("%s, profiler %d: CUPTI gives %d, %zu passes", name, type, result, config.passes);
    nvidia_config_finish(&config);
}

/* Each chosen counter is there and one pass alone, in streams and in queries; how many they are. */
static uint32_t check_curated(const char *text)
{
    static const char begin[] = "{slot}=", end[] = ".{rollup}", streamed[] = "kind: streamed\n";
    uint32_t count = 0;

    for (const char *at = strstr(text, "  - name: "); at; count++) {
        const char *slot = strstr(at, begin), *alone = strstr(at, streamed);
        char name[NVIDIA_NAME_BYTES];

        assert_non_null(slot);
        (void)snprintf(name, sizeof(name), "%.*s.sum",
                       (int)(strstr(slot, end) - slot - (int)strlen(begin)), slot + strlen(begin));
        expect_one_pass(NVIDIA_PM_SAMPLING, name);
        if (!alone || alone > slot)
            expect_one_pass(NVIDIA_RANGE_PROFILER, name);
        at = strstr(slot, "  - name: ");
    }
    return count;
}

/* What gets all counters. */
struct listing {
    struct zeta_catalog *catalog;
    bool has_links; /* a counter of NVLink was among them */
};

static void add_listing(void *context, struct zeta_plugin_string name,
                        struct zeta_plugin_string text)
{
    struct listing *listing = context;

    listing->has_links =
        listing->has_links || strstr(text.data, "nvlrx") || strstr(text.data, "nvltx");
    assert_int_equal(zeta_catalog_add_text(listing->catalog, text.data, (size_t)text.size,
                                           name.data, &sets_findings),
                     0);
}

/* Those of a catalog for that sampling type. */
static uint32_t count_sampled(const struct zeta_catalog *catalog, uint32_t sampling)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < zeta_catalog_programmable_count(catalog); i++)
        count += (zeta_catalog_programmable(catalog, i)->sampling & sampling) != 0;
    return count;
}

/* How many counters a chip has. */
struct counted {
    uint32_t streams, queries;
};

/* All counters of a chip beside chosen ones, and how many that are; no name twice, none refused. */
static struct counted count_all(const char *chip, const char *file, bool has_links)
{
    struct listing listing = {.catalog = zeta_catalog_create()};
    const struct zeta_plugin_text_sink sink = {.context = &listing, .write = add_listing};
    uint64_t bytes = 0;
    char *curated = file ? zeta_file_read(file, 4 << 20, &bytes) : NULL;
    struct counted counted;

    assert_non_null(listing.catalog);
    assert_int_equal(zeta_catalog_add_file(listing.catalog, DATA "nvidia.yaml", &sets_findings), 0);
    if (curated) {
        assert_cmp(check_curated(curated), >=, 60);
        assert_int_equal(
            zeta_catalog_add_text(listing.catalog, curated, (size_t)bytes, file, &sets_findings),
            0);
    }
    assert_int_equal(nvidia_counters_write(library, chip, has_links, curated ? curated : "", &sink),
                     0);
    assert_int_equal(zeta_catalog_link(listing.catalog, &sets_findings), 0);
    assert_int_equal(zeta_programmables_link(listing.catalog, &sets_findings), 0);
    counted.streams =
        count_sampled(listing.catalog, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    counted.queries =
        count_sampled(listing.catalog, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    if (!has_links && listing.has_links)
        fail_msg("%s: counters of NVLink are there without links", chip);
    zeta_catalog_destroy(listing.catalog);
    free(curated);
    return counted;
}

void sets_check_all(const struct nvidia_cupti *cupti, uint32_t least_streams,
                    uint32_t least_queries)
{
    static const char *const chips[] = {"TU102", "GA100", "GA102", "AD102", "GB202"};
    const struct zeta_plugin_text_sink sink = {0};
    struct counted all, with_links;

    library = cupti;
    all = count_all("GH100", DATA "counters.yaml", false);
    assert_cmp(all.streams, >=, least_streams);
    assert_cmp(all.queries, >=, least_queries);
    with_links = count_all("GH100", NULL, true);
    assert_cmp(with_links.streams, >, count_all("GH100", NULL, false).streams);
    assert_cmp(with_links.streams, <, count_all("GH100", DATA "counters.yaml", true).streams);
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        all = count_all(chips[i], NULL, false);
        assert_cmp(all.streams, >, 0);
        assert_cmp(all.queries, >, 0);
    }
    assert_int_equal(nvidia_counters_write(library, "GX999", true, "", &sink),
                     NVIDIA_CUPTI_INVALID_CHIP_NAME);
}

void sets_check_wrong(const struct nvidia_cupti *cupti)
{
    const char *names[] = {"gpu__time_duration.sum", "sm__cycles_elapsed.sum", "nonsense__x.sum",
                           "sm__cycles_active.sum"};
    static const int32_t types[] = {NVIDIA_PM_SAMPLING, NVIDIA_RANGE_PROFILER};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct nvidia_config config;
        size_t wrong = 0;

        assert_int_equal(nvidia_config_make(cupti, types[i], "GH100", names, 4, &config, &wrong),
                         NVIDIA_CUPTI_INVALID_METRIC_NAME);
        assert_int_equal(wrong, 2);
        nvidia_config_finish(&config);
    }
}
