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
    static const char *const with_dram[] = {"GA100", "GA102", "GA107", "AD102", "AD107", "GH100"};
    static const char *const without[] = {"TU102", "TU117", "GA10B", "GB202"};

    library = cupti;
    check_file("gh100.yaml", "GH100", 1, 1);
    check_file("gh100.yaml", "GH100", 1, 0);
    check_file("gh100.yaml", "GH100", 0, 0);
    for (size_t i = 0; i < sizeof(with_dram) / sizeof(with_dram[0]); i++)
        check_file("portable.yaml", with_dram[i], 1, 0);
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        check_file("portable.yaml", without[i], 0, 0);
}

/* Each chosen counter is there and one pass alone; how many they are. */
static uint32_t check_curated(const char *text)
{
    static const char begin[] = "{slot}=", end[] = ".{rollup}";
    uint32_t count = 0;

    for (const char *at = strstr(text, begin); at; at = strstr(at, begin), count++) {
        struct nvidia_config config;
        char name[NVIDIA_NAME_BYTES];
        const char *names[] = {name};
        size_t wrong;
        int result;

        at += strlen(begin);
        (void)snprintf(name, sizeof(name), "%.*s.sum", (int)(strstr(at, end) - at), at);
        result =
            nvidia_config_make(library, NVIDIA_PM_SAMPLING, "GH100", names, 1, &config, &wrong);
        if (result != 0 || config.passes != 1)
            fail_msg("%s: CUPTI gives %d, %zu passes", name, result, config.passes);
        nvidia_config_finish(&config);
    }
    return count;
}

/* All counters of a chip beside chosen ones, and how many that are; no name twice, none refused. */
static uint32_t count_all(const char *chip, const char *file, bool has_links)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    uint64_t bytes = 0;
    char *curated = file ? zeta_file_read(file, 4 << 20, &bytes) : NULL, *text;
    uint32_t count;
    int result = 0;

    assert_non_null(catalog);
    text = nvidia_counters_write(library, chip, has_links, curated ? curated : "", &result);
    assert_int_equal(result, 0);
    assert_non_null(text);
    assert_int_equal(zeta_catalog_add_file(catalog, DATA "nvidia.yaml", &sets_findings), 0);
    if (curated) {
        assert_cmp(check_curated(curated), >=, 60);
        assert_int_equal(
            zeta_catalog_add_text(catalog, curated, (size_t)bytes, file, &sets_findings), 0);
    }
    assert_int_equal(zeta_catalog_add_text(catalog, text, strlen(text), "all", &sets_findings), 0);
    assert_int_equal(zeta_catalog_link(catalog, &sets_findings), 0);
    assert_int_equal(zeta_programmables_link(catalog, &sets_findings), 0);
    count = zeta_catalog_programmable_count(catalog);
    if (!has_links && (strstr(text, "nvlrx") || strstr(text, "nvltx")))
        fail_msg("%s: counters of NVLink are there without links", chip);
    zeta_catalog_destroy(catalog);
    free(curated);
    free(text);
    return count;
}

void sets_check_all(const struct nvidia_cupti *cupti, uint32_t least)
{
    static const char *const chips[] = {"TU102", "GA100", "GA102", "AD102", "GB202"};
    uint32_t with_links;
    int result = 0;

    library = cupti;
    assert_cmp(count_all("GH100", DATA "counters.yaml", false), >=, least);
    with_links = count_all("GH100", NULL, true);
    assert_cmp(with_links, >, count_all("GH100", NULL, false));
    assert_cmp(with_links, <, count_all("GH100", DATA "counters.yaml", true));
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        assert_cmp(count_all(chips[i], NULL, false), >, 0);
    assert_null(nvidia_counters_write(library, "GX999", true, "", &result));
    assert_int_equal(result, NVIDIA_CUPTI_INVALID_CHIP_NAME);
}
