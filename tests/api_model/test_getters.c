/*
 * DDI getters under every loader version: exactly the members that the version knows are written.
 *
 * The numbers of members are written down here and not taken from the model: {minor version,
 * members from this version on}. Source: the version table of the loader contract.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include "core/api/loader.h"
#include "tests/support/suite.h"

#define CANARY 0xa5
#define MOST_MEMBERS 64

/* clang-format off */
#define TABLES(X) \
    X(ze, RTASBuilder, ze_rtas_builder_dditable_t, {13, 5}) \
    X(ze, RTASBuilderExp, ze_rtas_builder_exp_dditable_t, {7, 4}) \
    X(ze, RTASParallelOperation, ze_rtas_parallel_operation_dditable_t, {13, 4}) \
    X(ze, RTASParallelOperationExp, ze_rtas_parallel_operation_exp_dditable_t, {7, 4}) \
    X(ze, Global, ze_global_dditable_t, {0, 1}, {10, 2}) \
    X(ze, Driver, ze_driver_dditable_t, {0, 5}, {1, 6}, {6, 7}, {13, 8}, {14, 9}) \
    X(ze, DriverExp, ze_driver_exp_dditable_t, {7, 1}) \
    X(ze, Device, ze_device_dditable_t, {0, 14}, {1, 15}, {2, 17}, {3, 18}, {7, 19}, {12, 21}, \
      {13, 22}, {14, 23}, {15, 24}, {16, 27}, {17, 28}) \
    X(ze, DeviceExp, ze_device_exp_dditable_t, {4, 1}) \
    X(ze, Context, ze_context_dditable_t, {0, 8}, {1, 9}) \
    X(ze, CommandQueue, ze_command_queue_dditable_t, {0, 4}, {9, 6}, {17, 9}) \
    X(ze, CommandList, ze_command_list_dditable_t, {0, 26}, {3, 28}, {6, 29}, {9, 34}, \
      {12, 36}, {14, 38}, {16, 41}, {17, 52}) \
    X(ze, CommandListExp, ze_command_list_exp_dditable_t, {9, 6}, {10, 8}, {17, 9}) \
    X(ze, Image, ze_image_dditable_t, {0, 3}, {3, 4}, {5, 5}) \
    X(ze, ImageExp, ze_image_exp_dditable_t, {2, 2}, {9, 3}) \
    X(ze, Mem, ze_mem_dditable_t, {0, 9}, {3, 10}, {6, 11}, {9, 12}, {15, 13}) \
    X(ze, MemExp, ze_mem_exp_dditable_t, {6, 2}, {7, 4}) \
    X(ze, Fence, ze_fence_dditable_t, {0, 5}) \
    X(ze, EventPool, ze_event_pool_dditable_t, {0, 5}, {6, 6}, {9, 8}) \
    X(ze, Event, ze_event_dditable_t, {0, 7}, {6, 8}, {9, 11}, {15, 16}, {17, 17}) \
    X(ze, EventExp, ze_event_exp_dditable_t, {2, 1}) \
    X(ze, Module, ze_module_dditable_t, {0, 8}, {3, 9}) \
    X(ze, ModuleBuildLog, ze_module_build_log_dditable_t, {0, 2}) \
    X(ze, Kernel, ze_kernel_dditable_t, {0, 12}) \
    X(ze, KernelExp, ze_kernel_exp_dditable_t, {1, 1}, {2, 2}, {11, 3}, {14, 4}) \
    X(ze, Sampler, ze_sampler_dditable_t, {0, 2}) \
    X(ze, PhysicalMem, ze_physical_mem_dditable_t, {0, 2}, {15, 3}) \
    X(ze, VirtualMem, ze_virtual_mem_dditable_t, {0, 7}) \
    X(ze, FabricVertexExp, ze_fabric_vertex_exp_dditable_t, {4, 4}) \
    X(ze, FabricEdgeExp, ze_fabric_edge_exp_dditable_t, {4, 3}) \
    X(ze, Graph, ze_graph_dditable_t, {17, 7}) \
    X(ze, ExecutableGraph, ze_executable_graph_dditable_t, {17, 2}) \
    X(zet, MetricProgrammableExp, zet_metric_programmable_exp_dditable_t, {9, 4}) \
    X(zet, MetricTracerExp, zet_metric_tracer_exp_dditable_t, {10, 6}) \
    X(zet, MetricDecoderExp, zet_metric_decoder_exp_dditable_t, {10, 3}) \
    X(zet, Device, zet_device_dditable_t, {0, 1}) \
    X(zet, DeviceExp, zet_device_exp_dditable_t, {10, 2}, {13, 4}) \
    X(zet, Context, zet_context_dditable_t, {0, 1}) \
    X(zet, CommandList, zet_command_list_dditable_t, {0, 4}) \
    X(zet, CommandListExp, zet_command_list_exp_dditable_t, {13, 1}) \
    X(zet, Module, zet_module_dditable_t, {0, 1}) \
    X(zet, Kernel, zet_kernel_dditable_t, {0, 1}) \
    X(zet, Metric, zet_metric_dditable_t, {0, 2}) \
    X(zet, MetricExp, zet_metric_exp_dditable_t, {9, 2}, {11, 3}) \
    X(zet, MetricGroup, zet_metric_group_dditable_t, {0, 3}) \
    X(zet, MetricGroupExp, zet_metric_group_exp_dditable_t, {2, 1}, {5, 2}, {6, 4}, {9, 9}) \
    X(zet, MetricStreamer, zet_metric_streamer_dditable_t, {0, 3}) \
    X(zet, MetricQueryPool, zet_metric_query_pool_dditable_t, {0, 2}) \
    X(zet, MetricQuery, zet_metric_query_dditable_t, {0, 4}) \
    X(zet, TracerExp, zet_tracer_exp_dditable_t, {0, 5}) \
    X(zet, Debug, zet_debug_dditable_t, {0, 11}, {5, 12}) \
    X(zer, Global, zer_global_dditable_t, {14, 4})

/* Their place in the table set of sysman is not known, so the set has none of them. */
#define SYSMAN_TABLES(X) \
    X(zes, Global, zes_global_dditable_t, {5, 1}) \
    X(zes, Driver, zes_driver_dditable_t, {4, 2}, {5, 3}, {8, 5}) \
    X(zes, DriverExp, zes_driver_exp_dditable_t, {9, 1}) \
    X(zes, Device, zes_device_dditable_t, {4, 29}, {5, 30})
/* clang-format on */

struct step {
    unsigned minor;
    size_t members;
};

struct getter {
    const char *name;
    ze_result_t (*fill)(ze_api_version_t version, void *table);
    size_t table_bytes;
    struct step steps[12];
};

#define WRAPPER(ns, table, type, ...)                                                              \
    static ze_result_t fill_##ns##table(ze_api_version_t version, void *memory)                    \
    {                                                                                              \
        return ns##Get##table##ProcAddrTable(version, (type *)memory);                             \
    }
TABLES(WRAPPER)
SYSMAN_TABLES(WRAPPER)

#define ROW(ns, table, type, ...)                                                                  \
    {#ns "Get" #table "ProcAddrTable", fill_##ns##table, sizeof(type), {__VA_ARGS__}},
static const struct getter getters[] = {TABLES(ROW) SYSMAN_TABLES(ROW)};

#define GETTER_COUNT (sizeof(getters) / sizeof(getters[0]))

#define SYSMAN(X)                                                                                  \
    X(Diagnostics)                                                                                 \
    X(Engine)                                                                                      \
    X(FabricPort)                                                                                  \
    X(Fan)                                                                                         \
    X(Firmware)                                                                                    \
    X(Frequency)                                                                                   \
    X(Led)                                                                                         \
    X(Memory)                                                                                      \
    X(PerformanceFactor)                                                                           \
    X(Power)                                                                                       \
    X(Psu)                                                                                         \
    X(Ras)                                                                                         \
    X(Scheduler)                                                                                   \
    X(Standby)                                                                                     \
    X(Temperature)

#define DECLARE(table)                                                                             \
    ze_result_t ZE_APICALL zesGet##table##ProcAddrTable(ze_api_version_t version, void *memory);
SYSMAN(DECLARE)

#define ADDRESS(table) zesGet##table##ProcAddrTable,
static ze_result_t (*const sysman[])(ze_api_version_t version, void *memory) = {SYSMAN(ADDRESS)};

/* The table of a getter in front of memory that belongs to somebody else. */
union memory {
    void *members[MOST_MEMBERS];
    unsigned char bytes[MOST_MEMBERS * sizeof(void *)];
};

static size_t expected_members(const struct getter *getter, unsigned minor)
{
    size_t members = 0;

    for (size_t i = 0; i < sizeof(getter->steps) / sizeof(getter->steps[0]); i++)
        if (getter->steps[i].members != 0 && getter->steps[i].minor <= minor)
            members = getter->steps[i].members;
    return members;
}

static bool is_canary(const void *member)
{
    unsigned char expected[sizeof(member)];

    memset(expected, CANARY, sizeof(expected));
    return memcmp(&member, expected, sizeof(expected)) == 0;
}

/* Rule 4.14. */
static void getters__each_version__write_what_it_knows(void **state)
{
    (void)state;
    for (size_t i = 0; i < GETTER_COUNT; i++) {
        for (unsigned minor = 0; minor <= 18; minor++) {
            ze_api_version_t version = (ze_api_version_t)ZE_MAKE_VERSION(1u, minor);
            size_t expected = expected_members(&getters[i], minor);
            union memory memory;

            memset(&memory, CANARY, sizeof(memory));
            assert_int_equal(getters[i].fill(version, &memory), ZE_RESULT_SUCCESS);
            for (size_t m = 0; m < MOST_MEMBERS; m++) {
                if (is_canary(memory.members[m]) != (m >= expected))
                    fail_msg("%s, version 1.%u, member %zu", getters[i].name, minor, m);
                assert_non_null(memory.members[m]);
            }
        }
    }
}

static void getters__newest_version__fill_the_whole_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < GETTER_COUNT; i++)
        assert_int_equal(expected_members(&getters[i], 17) * sizeof(void *),
                         getters[i].table_bytes);
}

static void getters__null_table__is_null_pointer(void **state)
{
    (void)state;
    for (size_t i = 0; i < GETTER_COUNT; i++)
        assert_int_equal(getters[i].fill(ZE_API_VERSION_CURRENT, NULL),
                         ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (size_t i = 0; i < sizeof(sysman) / sizeof(sysman[0]); i++)
        assert_int_equal(sysman[i](ZE_API_VERSION_CURRENT, NULL),
                         ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void getters__other_major__write_nothing(void **state)
{
    static const uint32_t versions[] = {0, 0x0000ffff, 0x00020000, 0x00020011, 0x7fffffff};

    (void)state;
    for (size_t i = 0; i < GETTER_COUNT; i++) {
        for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
            union memory memory;

            memset(&memory, CANARY, sizeof(memory));
            assert_int_equal(getters[i].fill((ze_api_version_t)versions[v], &memory),
                             ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
            for (size_t m = 0; m < MOST_MEMBERS; m++)
                assert_true(is_canary(memory.members[m]));
        }
    }
}

/* Rule 4.14. */
static void other_sysman_getters__any_version__succeed_and_write_nothing(void **state)
{
    (void)state;
    assert_int_equal(sizeof(sysman) / sizeof(sysman[0]), 15);
    for (size_t i = 0; i < sizeof(sysman) / sizeof(sysman[0]); i++) {
        union memory memory;

        memset(&memory, CANARY, sizeof(memory));
        assert_int_equal(sysman[i](ZE_API_VERSION_1_0, &memory), ZE_RESULT_SUCCESS);
        assert_int_equal(sysman[i](ZE_API_VERSION_CURRENT, &memory), ZE_RESULT_SUCCESS);
        assert_int_equal(sysman[i]((ze_api_version_t)0x20000, &memory),
                         ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
        for (size_t m = 0; m < MOST_MEMBERS; m++)
            assert_true(is_canary(memory.members[m]));
    }
}

/* Runs first: nothing was asked for yet. Refused versions do not count. Rule 1.18. */
static void lowest_version__sequence_of_calls__keeps_the_least(void **state)
{
    union memory memory;

    (void)state;
    assert_int_equal(zeta_api_lowest_version(), ZE_API_VERSION_CURRENT);
    assert_int_equal(fill_zeGlobal((ze_api_version_t)ZE_MAKE_VERSION(1, 30), &memory),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_api_lowest_version(), ZE_API_VERSION_CURRENT);
    assert_int_equal(fill_zetMetric(ZE_API_VERSION_1_10, &memory), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_api_lowest_version(), ZE_API_VERSION_1_10);
    assert_int_equal(fill_zetMetric(ZE_API_VERSION_1_9, &memory), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_api_lowest_version(), ZE_API_VERSION_1_9);
    assert_int_equal(fill_zetMetric((ze_api_version_t)1, &memory),
                     ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    assert_int_equal(fill_zetMetric(ZE_API_VERSION_1_17, &memory), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_api_lowest_version(), ZE_API_VERSION_1_9);
}

/* No null pointer from the flag to the end of a set, none in the tables it points to. Rule 1.19. */
static void dispatch__core_and_tools_sets__have_no_null_member(void **state)
{
    (void)state;
    assert_int_equal(zeta_dispatch_ze.version, ZE_API_VERSION_1_17);
    assert_int_equal(zeta_dispatch_ze.isValidFlag, 1);
    assert_int_equal(zeta_dispatch_zet.version, ZE_API_VERSION_1_17);
    assert_int_equal(zeta_dispatch_zet.isValidFlag, 1);
    assert_int_equal(sizeof(zeta_dispatch_ze), 264);
#define COMPLETE(ns, table, type, ...)                                                             \
    {                                                                                              \
        void *members[sizeof(type) / sizeof(void *)];                                              \
                                                                                                   \
        assert_non_null(zeta_dispatch_##ns.table);                                                 \
        memcpy(members, zeta_dispatch_##ns.table, sizeof(members));                                \
        for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)                          \
            assert_non_null(members[m]);                                                           \
    }
    TABLES(COMPLETE)
}

static void dispatch__tables__hold_what_getters_give(void **state)
{
    union memory memory;

    (void)state;
#define SAME(ns, table, type, ...)                                                                 \
    assert_int_equal(fill_##ns##table(ZE_API_VERSION_CURRENT, &memory), ZE_RESULT_SUCCESS);        \
    assert_memory_equal(&memory, zeta_dispatch_##ns.table, sizeof(type));
    TABLES(SAME)
}

static void dispatch__validity__covers_all_sets(void **state)
{
    const void *header[4];

    (void)state;
    zeta_dispatch_fill(header);
    for (int valid = 0; valid <= 1; valid++) {
        zeta_dispatch_set_valid(valid);
        for (size_t i = 0; i < 4; i++) {
            const struct zeta_dispatch_empty *set = header[i];
            ze_api_version_t version;
            uint8_t flag;

            memcpy(&version, set, sizeof(version));
            memcpy(&flag, (const char *)set + offsetof(struct zeta_dispatch_empty, isValidFlag), 1);
            assert_int_equal(version, ZE_API_VERSION_1_17);
            assert_int_equal(flag, valid);
        }
    }
}

SUITE(getters)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowest_version__sequence_of_calls__keeps_the_least),
        cmocka_unit_test(getters__each_version__write_what_it_knows),
        cmocka_unit_test(getters__newest_version__fill_the_whole_table),
        cmocka_unit_test(getters__null_table__is_null_pointer),
        cmocka_unit_test(getters__other_major__write_nothing),
        cmocka_unit_test(other_sysman_getters__any_version__succeed_and_write_nothing),
        cmocka_unit_test(dispatch__core_and_tools_sets__have_no_null_member),
        cmocka_unit_test(dispatch__tables__hold_what_getters_give),
        cmocka_unit_test(dispatch__validity__covers_all_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
