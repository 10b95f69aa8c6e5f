/*
 * Structs as applications really pass them, on their stack and not initialised: type and chain are
 * anything, and so is what the call fills. Every function of metrics does with them what it does
 * with clean ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/metric_api/metric_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define MOST_BYTES 16384u
#define MOST_PARAMS 3u

/** What every struct of the API begins with. */
struct head {
    uint32_t stype;
    const void *next;
};

/* What a call does with its struct, as text ------------------------------------------------------
 */

struct row {
    const char *name; /**< function, and of what */
    size_t struct_bytes;
    uint32_t stype;
    uint32_t count; /**< structs in one array */
    /** Sets what the call reads. NULL: nothing. */
    void (*prepare)(void *structs);
    /** Calls, expects success, writes what came of it. */
    void (*call)(const struct metric_bed *bed, void *structs, char *text, size_t text_bytes);
};

static void prepare_pool(void *structs)
{
    zet_metric_query_pool_desc_t *desc = structs;

    desc->type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE;
    desc->count = 3;
}

static void create_pool(const struct metric_bed *bed, void *structs, char *text, size_t text_bytes)
{
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;

    EXPECT_OK(zetMetricQueryPoolCreate(bed->context, bed->root, bed->queried, structs, &pool));
    EXPECT_OK(zetMetricQueryCreate(pool, 2, &query));
    EXPECT_OK(zetMetricQueryDestroy(query));
    EXPECT_RESULT(zetMetricQueryCreate(pool, 3, &query), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
    (void)snprintf(text, text_bytes, "made");
}

static void prepare_streamer(void *structs)
{
    zet_metric_streamer_desc_t *desc = structs;

    desc->notifyEveryNReports = 100;
    desc->samplingPeriod = 1000000;
}

static void open_streamer(const struct metric_bed *bed, void *structs, char *text,
                          size_t text_bytes)
{
    const zet_metric_streamer_desc_t *desc = structs;
    zet_metric_streamer_handle_t streamer = NULL;

    metric_bed_activate(bed, bed->sampled);
    EXPECT_OK(
        zetMetricStreamerOpen(bed->context, bed->root, bed->sampled, structs, NULL, &streamer));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    metric_bed_activate(bed, NULL);
    (void)snprintf(text, text_bytes, "%u reports of %u ns", desc->notifyEveryNReports,
                   desc->samplingPeriod);
}

static void prepare_tracer(void *structs)
{
    ((zet_metric_tracer_exp_desc_t *)structs)->notifyEveryNBytes = 1024;
}

static void create_tracer(const struct metric_bed *bed, void *structs, char *text,
                          size_t text_bytes)
{
    zet_metric_group_handle_t group = bed->traced;
    zet_metric_tracer_exp_handle_t tracer = NULL;

    metric_bed_activate(bed, bed->traced);
    EXPECT_OK(zetMetricTracerCreateExp(bed->context, bed->root, 1, &group, structs, NULL, &tracer));
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    metric_bed_activate(bed, NULL);
    (void)snprintf(text, text_bytes, "%u bytes",
                   ((zet_metric_tracer_exp_desc_t *)structs)->notifyEveryNBytes);
}

static void prepare_calculation(void *structs)
{
    ((zet_metric_calculate_exp_desc_t *)structs)->rawReportSkipCount = 1;
}

static void calculate_offline(const struct metric_bed *bed, void *structs, char *text,
                              size_t text_bytes)
{
    static zet_typed_value_t values[BED_BYTES];
    uint32_t counts[BED_TILES] = {0};
    uint32_t sets = BED_TILES;
    uint32_t total = BED_BYTES;

    EXPECT_OK(zetMetricGroupCalculateMetricExportDataExp(bed->driver, VALUES, bed->exported_bytes,
                                                         bed->exported, structs, &sets, &total,
                                                         counts, values));
    (void)snprintf(text, text_bytes, "%u values, %u and %u", total, counts[0], counts[1]);
}

static void get_programmable(const struct metric_bed *bed, void *structs, char *text,
                             size_t text_bytes)
{
    const zet_metric_programmable_exp_properties_t *got = structs;

    EXPECT_OK(zetMetricProgrammableGetPropertiesExp(bed->programmable, structs));
    (void)snprintf(text, text_bytes, "%s|%s|%s|%u %u %u %u %u", got->name, got->description,
                   got->component, got->tierNumber, got->domain, got->parameterCount,
                   got->samplingType, got->sourceId);
}

static void get_params(const struct metric_bed *bed, void *structs, char *text, size_t text_bytes)
{
    const zet_metric_programmable_param_info_exp_t *got = structs;
    uint32_t count = MOST_PARAMS;
    size_t used = 0;

    EXPECT_OK(zetMetricProgrammableGetParamInfoExp(bed->programmable, &count, structs));
    assert_int_equal(count, MOST_PARAMS);
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s|%u %u %u|", got[i].name,
                                 got[i].type, got[i].valueInfoType, got[i].valueInfoCount);
}

static void get_param_values(const struct metric_bed *bed, void *structs, char *text,
                             size_t text_bytes)
{
    const zet_metric_programmable_param_value_info_exp_t *got = structs;
    uint32_t count = MOST_PARAMS;
    size_t used = 0;

    EXPECT_OK(zetMetricProgrammableGetParamValueInfoExp(bed->programmable, 0, &count, structs));
    assert_int_equal(count, MOST_PARAMS);
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s|%u|", got[i].description,
                                 got[i].valueInfo.ui32);
}

static void get_metric(zet_metric_handle_t metric, void *structs, char *text, size_t text_bytes)
{
    const zet_metric_properties_t *got = structs;

    EXPECT_OK(zetMetricGetProperties(metric, structs));
    (void)snprintf(text, text_bytes, "%s|%s|%s|%s|%u %u %u", got->name, got->description,
                   got->component, got->resultUnits, got->tierNumber, got->metricType,
                   got->resultType);
}

static void get_made_metric(const struct metric_bed *bed, void *structs, char *text,
                            size_t text_bytes)
{
    get_metric(bed->metrics[5], structs, text, text_bytes);
}

static void get_decodable(const struct metric_bed *bed, void *structs, char *text,
                          size_t text_bytes)
{
    get_metric(bed->decodable[0], structs, text, text_bytes);
}

/** A group of one made metric, and its properties. */
static void get_made_group(const struct metric_bed *bed, void *structs, char *text,
                           size_t text_bytes)
{
    const zet_metric_group_properties_t *got = structs;
    zet_metric_handle_t metric = bed->metrics[5];
    zet_metric_group_handle_t group = NULL;
    uint32_t count = 1;

    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(bed->tile, 1, &metric, "Mine", "of a test",
                                                        &count, &group));
    EXPECT_OK(zetMetricGroupGetProperties(group, structs));
    (void)snprintf(text, text_bytes, "%s|%s|%u %u %u", got->name, got->description,
                   got->samplingType, got->domain, got->metricCount);
    EXPECT_OK(zetMetricGroupDestroyExp(group));
}

static void get_traced_group(const struct metric_bed *bed, void *structs, char *text,
                             size_t text_bytes)
{
    const zet_metric_group_properties_t *got = structs;

    EXPECT_OK(zetMetricGroupGetProperties(bed->traced, structs));
    (void)snprintf(text, text_bytes, "%s|%s|%u %u %u", got->name, got->description,
                   got->samplingType, got->domain, got->metricCount);
}

static const struct row rows[] = {
    {"zetMetricQueryPoolCreate", sizeof(zet_metric_query_pool_desc_t),
     ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, 1, prepare_pool, create_pool},
    {"zetMetricStreamerOpen", sizeof(zet_metric_streamer_desc_t),
     ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, 1, prepare_streamer, open_streamer},
    {"zetMetricTracerCreateExp", sizeof(zet_metric_tracer_exp_desc_t),
     ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC, 1, prepare_tracer, create_tracer},
    {"zetMetricGroupCalculateMetricExportDataExp", sizeof(zet_metric_calculate_exp_desc_t),
     ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC, 1, prepare_calculation, calculate_offline},
    {"zetMetricProgrammableGetPropertiesExp", sizeof(zet_metric_programmable_exp_properties_t),
     ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES, 1, NULL, get_programmable},
    {"zetMetricProgrammableGetParamInfoExp", sizeof(zet_metric_programmable_param_info_exp_t),
     ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_PARAM_INFO_EXP, MOST_PARAMS, NULL, get_params},
    {"zetMetricProgrammableGetParamValueInfoExp",
     sizeof(zet_metric_programmable_param_value_info_exp_t),
     ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_PARAM_VALUE_INFO_EXP, MOST_PARAMS, NULL,
     get_param_values},
    {"zetMetricGetProperties of a made metric", sizeof(zet_metric_properties_t),
     ZET_STRUCTURE_TYPE_METRIC_PROPERTIES, 1, NULL, get_made_metric},
    {"zetMetricGetProperties of a decoder's metric", sizeof(zet_metric_properties_t),
     ZET_STRUCTURE_TYPE_METRIC_PROPERTIES, 1, NULL, get_decodable},
    {"zetMetricGroupGetProperties of a made group", sizeof(zet_metric_group_properties_t),
     ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES, 1, NULL, get_made_group},
    {"zetMetricGroupGetProperties of a traced group", sizeof(zet_metric_group_properties_t),
     ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES, 1, NULL, get_traced_group},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Garbage ----------------------------------------------------------------------------------------
 */

/** A page that can be read, and behind it one that cannot. */
static uint8_t *pages;
static size_t page_bytes;

static int set_up(void **state)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page_bytes, page_bytes, PROT_NONE) != 0)
        return -1;
    return metric_bed_setup(state);
}

static int tear_down(void **state)
{
    (void)munmap(pages, 2 * page_bytes);
    return metric_bed_teardown(state);
}

/** Ends of a chain that lead nowhere: a number for each kind. */
enum { NEXT_KINDS = 8 };

static const void *make_next(uint32_t kind, const void *self)
{
    /* Through numbers: no compiler shall see where these pointers do not point. */
    const uintptr_t nowhere[NEXT_KINDS] = {
        0,
        (uintptr_t)0xababababababababu,    /* not canonical */
        (uintptr_t)self,                   /* a cycle */
        (uintptr_t)self + 1,               /* odd */
        (uintptr_t)pages + page_bytes,     /* cannot be read */
        (uintptr_t)pages + page_bytes - 8, /* its type can be read and its chain cannot */
        16,                                /* near null */
        UINTPTR_MAX - 15,                  /* the end of all addresses */
    };

    return (const void *)nowhere[kind];
}

/** Calls with structs of that content, type and chain; checks that both are as before. */
static void call_with(const struct metric_bed *bed, const struct row *row, uint8_t content,
                      uint32_t stype, uint32_t next_kind, char *text, size_t text_bytes)
{
    uint8_t *structs = malloc(row->struct_bytes * row->count);
    struct head heads[MOST_PARAMS] = {{0}};

    assert_non_null(structs);
    memset(structs, content, row->struct_bytes * row->count);
    for (uint32_t i = 0; i < row->count; i++) {
        heads[i] = (struct head){stype, make_next(next_kind, structs + i * row->struct_bytes)};
        memcpy(structs + i * row->struct_bytes + offsetof(struct head, stype), &heads[i].stype,
               sizeof(heads[i].stype));
        memcpy(structs + i * row->struct_bytes + offsetof(struct head, next), &heads[i].next,
               sizeof(heads[i].next));
    }
    if (row->prepare)
        row->prepare(structs);
    row->call(bed, structs, text, text_bytes);
    for (uint32_t i = 0; i < row->count; i++) {
        struct head after;

        memcpy(&after, structs + i * row->struct_bytes, sizeof(after));
        assert_int_equal(after.stype, heads[i].stype);
        assert_ptr_equal(after.next, heads[i].next);
    }
    free(structs);
}

/* Rule 3.4. */
static void structs__not_initialised__work_as_clean_ones(void **state)
{
    static char clean[MOST_BYTES];
    static char text[MOST_BYTES];

    skip_in(HARNESS_VALIDATION, "the layer wants the right type");
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const uint32_t types[] = {row->stype, 0, 0xabababab, UINT32_MAX,
                                  ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};

        call_with(*state, row, 0, row->stype, 0, clean, sizeof(clean));
        assert_cmp(clean[0], !=, '\0');
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
            for (uint32_t next = 0; next < NEXT_KINDS; next++) {
                call_with(*state, row, 0xab, types[t], next, text, sizeof(text));
                if (strcmp(text, clean) != 0)
                    fail_msg("%s, type 0x%x, chain %u: %s\nand clean: %s", row->name, types[t],
                             next, text, clean);
            }
        }
    }
}

/** Type 0 with a real chain exists, too; garbage behind what is served does not spoil it.
 * Rule 3.6. */
static void chain__of_a_made_group__is_served_before_its_garbage(void **state)
{
    const struct metric_bed *bed = *state;
    zet_metric_handle_t metric = bed->metrics[5];
    zet_metric_group_handle_t group = NULL;
    uint32_t count = 1;

    skip_in(HARNESS_VALIDATION, "the layer wants the right type");
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(bed->tile, 1, &metric, "Mine", "of a test",
                                                        &count, &group));
    for (uint32_t next = 0; next < NEXT_KINDS; next++) {
        zet_metric_source_id_exp_t source = {.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP,
                                             .sourceId = 0xabababab};
        zet_metric_group_type_exp_t type = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP,
                                            .pNext = &source,
                                            .type = 0xabababab};
        zet_metric_group_properties_t properties;

        source.pNext = (void *)make_next(next, &source);
        memset(&properties, 0, sizeof(properties));
        properties.pNext = &type;
        EXPECT_OK(zetMetricGroupGetProperties(group, &properties));
        assert_cmp((type.type & ZET_METRIC_GROUP_TYPE_EXP_FLAG_USER_CREATED), !=, 0);
        assert_int_not_equal(source.sourceId, 0xabababab);
    }
    EXPECT_OK(zetMetricGroupDestroyExp(group));
}

SUITE(garbage)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs__not_initialised__work_as_clean_ones),
        cmocka_unit_test(chain__of_a_made_group__is_served_before_its_garbage),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
