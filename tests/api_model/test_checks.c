/*
 * Argument checks of the entries: their order, their results, and what they let through.
 *
 * The implementations behind them only answer UNSUPPORTED_FEATURE here, so this result means that
 * a call got through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <level_zero/zet_api.h>

#include "core/object/object.h"
#include "core/util/error.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define PASSED ZE_RESULT_ERROR_UNSUPPORTED_FEATURE

static void *make(enum zeta_kind kind)
{
    void *object = NULL;

    assert_int_equal(zeta_object_create(kind, sizeof(struct zeta_object), &object),
                     ZE_RESULT_SUCCESS);
    return object;
}

static void destroy(void *object)
{
    assert_true(zeta_object_retire(object));
    zeta_object_unpin(object);
}

/* One live object of each kind. */
static void *live[ZETA_KIND_COUNT];

static int set_up(void **state)
{
    (void)state;
    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return -1;
    for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++)
        live[kind] = make((enum zeta_kind)kind);
    return 0;
}

static void before_init__any_function__is_uninitialized(void **state)
{
    uint32_t count = 0;
    ze_module_build_log_handle_t log = NULL;

    (void)state;
    assert_int_equal(zetMetricGroupGet(NULL, &count, NULL), ZE_RESULT_ERROR_UNINITIALIZED);
    assert_non_null(strstr(zeta_error_describe(), "zetMetricGroupGet"));
    assert_int_equal(zetMetricGroupGet((zet_device_handle_t)(uintptr_t)4096, NULL, NULL),
                     ZE_RESULT_ERROR_UNINITIALIZED);
    assert_int_equal(zeModuleDynamicLink(0, NULL, &log), ZE_RESULT_ERROR_UNINITIALIZED);
}

static void before_init__functions_that_start_everything__get_through(void **state)
{
    ze_init_driver_type_desc_t desc = {.flags = UINT32_MAX};
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zeInit(0), PASSED);
    assert_int_equal(zeDriverGet(&count, NULL), PASSED);
    assert_int_equal(zeInitDrivers(&count, NULL, &desc), PASSED);
}

static void init__flags__are_checked(void **state)
{
    (void)state;
    assert_int_equal(zeInit(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY), PASSED);
    assert_int_equal(zeInit(4), ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

/* Rule 1.2. */
static void init_drivers__flags__only_zero_is_refused(void **state)
{
    static const uint32_t accepted[] = {1, 2, 0x80000000u, 0xfffffff8u, UINT32_MAX};
    ze_init_driver_type_desc_t desc = {.flags = 0};
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zeInitDrivers(&count, NULL, &desc), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        desc.flags = accepted[i];
        assert_int_equal(zeInitDrivers(&count, NULL, &desc), PASSED);
    }
    assert_int_equal(zeInitDrivers(NULL, NULL, &desc), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zeInitDrivers(&count, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void handle__null_foreign_dead_garbage__is_null_handle(void **state)
{
    void *dead = make(ZETA_KIND_DEVICE);
    void *bad[] = {NULL,
                   live[ZETA_KIND_CONTEXT],
                   dead,
                   (char *)live[ZETA_KIND_DEVICE] + 8,
                   (void *)(uintptr_t)0x1234,
                   (void *)UINTPTR_MAX};
    uint32_t count = 0;

    (void)state;
    destroy(dead);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(zetMetricGroupGet(bad[i], &count, NULL),
                         ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        assert_non_null(strstr(zeta_error_describe(), "hDevice"));
    }
    assert_int_equal(zetMetricGroupGet(live[ZETA_KIND_DEVICE], &count, NULL), PASSED);
}

static void default_context__bad_driver__is_null_with_a_sentence(void **state)
{
    (void)state;
    assert_null(zeDriverGetDefaultContext(live[ZETA_KIND_DEVICE]));
    assert_non_null(strstr(zeta_error_describe(), "zeDriverGetDefaultContext"));
    assert_null(zeDriverGetDefaultContext(NULL));
    assert_non_null(strstr(zeta_error_describe(), "hDriver"));
}

static void handle__optional__null_passes_garbage_does_not(void **state)
{
    (void)state;
    assert_int_equal(zeCommandListAppendBarrier(live[ZETA_KIND_COMMAND_LIST], NULL, 0, NULL),
                     PASSED);
    assert_int_equal(
        zeCommandListAppendBarrier(live[ZETA_KIND_COMMAND_LIST], live[ZETA_KIND_FENCE], 0, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

/* Rule 3.3. */
static void order__handle_before_pointer_before_enum__is_kept(void **state)
{
    zet_module_debug_info_format_t bad_format = (zet_module_debug_info_format_t)7;
    size_t size = 0;

    (void)state;
    assert_int_equal(zetModuleGetDebugInfo(NULL, bad_format, NULL, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetModuleGetDebugInfo(live[ZETA_KIND_MODULE], bad_format, NULL, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zetModuleGetDebugInfo(live[ZETA_KIND_MODULE], bad_format, &size, NULL),
                     ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert_non_null(strstr(zeta_error_describe(), "format"));
}

/* Rule 3.1. */
static void array__bad_element__is_null_handle_and_named(void **state)
{
    ze_event_handle_t events[] = {live[ZETA_KIND_EVENT], live[ZETA_KIND_EVENT_POOL]};
    ze_command_list_handle_t list = live[ZETA_KIND_COMMAND_LIST];

    (void)state;
    assert_int_equal(zeCommandListAppendBarrier(list, NULL, 2, events),
                     ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_non_null(strstr(zeta_error_describe(), "phWaitEvents[1]"));
    assert_int_equal(zeCommandListAppendBarrier(list, NULL, 1, events), PASSED);
    assert_int_equal(zeCommandListAppendBarrier(list, NULL, 0, events), PASSED);
    assert_int_equal(zeCommandListAppendBarrier(list, NULL, 1, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
}

static void desc__members__are_checked(void **state)
{
    uint8_t code[4] = {0};
    ze_module_desc_t desc = {
        .format = ZE_MODULE_FORMAT_NATIVE, .inputSize = sizeof(code), .pInputModule = code};
    ze_kernel_desc_t kernel_desc = {0};
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;
    ze_context_handle_t context = live[ZETA_KIND_CONTEXT];
    ze_device_handle_t device = live[ZETA_KIND_DEVICE];

    (void)state;
    assert_int_equal(zeKernelCreate(live[ZETA_KIND_MODULE], &kernel_desc, &kernel),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_non_null(strstr(zeta_error_describe(), "desc->pKernelName"));
    assert_int_equal(zeModuleCreate(context, device, &desc, &module, NULL), PASSED);
    desc.format = (ze_module_format_t)77;
    assert_int_equal(zeModuleCreate(context, device, &desc, &module, NULL),
                     ZE_RESULT_ERROR_INVALID_ENUMERATION);
    /* A program descriptor in the chain may have the images, so that is not a check of the entry.
     */
    desc.format = ZE_MODULE_FORMAT_NATIVE;
    desc.inputSize = 0;
    desc.pInputModule = NULL;
    assert_int_equal(zeModuleCreate(context, device, &desc, &module, NULL), PASSED);
}

/* Rule 3.4. */
static void desc__stype_and_pnext__are_never_looked_at(void **state)
{
    zet_metric_query_pool_desc_t desc = {.count = 1};
    zet_metric_query_pool_handle_t pool = NULL;

    (void)state;
    desc.stype = (zet_structure_type_t)0x12345678;
    desc.pNext = (const void *)(uintptr_t)0xdeadbeefdeadbeefu;
    assert_int_equal(zetMetricQueryPoolCreate(live[ZETA_KIND_CONTEXT], live[ZETA_KIND_DEVICE],
                                              live[ZETA_KIND_METRIC_GROUP], &desc, &pool),
                     PASSED);
    desc.type = (zet_metric_query_pool_type_t)2;
    assert_int_equal(zetMetricQueryPoolCreate(live[ZETA_KIND_CONTEXT], live[ZETA_KIND_DEVICE],
                                              live[ZETA_KIND_METRIC_GROUP], &desc, &pool),
                     ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

static void flags__bits_up_to_the_highest__pass(void **state)
{
    ze_command_list_desc_t desc = {.flags = 0};
    ze_command_list_handle_t list = NULL;
    ze_context_handle_t context = live[ZETA_KIND_CONTEXT];
    ze_device_handle_t device = live[ZETA_KIND_DEVICE];

    (void)state;
    desc.flags = ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING | ZE_COMMAND_LIST_FLAG_IN_ORDER;
    assert_int_equal(zeCommandListCreate(context, device, &desc, &list), PASSED);
    desc.flags = 0x80000000u;
    assert_int_equal(zeCommandListCreate(context, device, &desc, &list),
                     ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

/* Rule 10.8. */
static void activation__count_zero__passes_with_and_without_array(void **state)
{
    zet_metric_group_handle_t groups[] = {NULL};
    ze_context_handle_t context = live[ZETA_KIND_CONTEXT];
    ze_device_handle_t device = live[ZETA_KIND_DEVICE];

    (void)state;
    assert_int_equal(zetContextActivateMetricGroups(context, device, 0, NULL), PASSED);
    assert_int_equal(zetContextActivateMetricGroups(context, device, 0, groups), PASSED);
    assert_int_equal(zetContextActivateMetricGroups(context, device, 1, groups),
                     ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetContextActivateMetricGroups(context, device, 1, NULL),
                     ZE_RESULT_ERROR_INVALID_SIZE);
}

static void calculation__null_with_size_zero__passes(void **state)
{
    zet_metric_group_handle_t group = live[ZETA_KIND_METRIC_GROUP];
    zet_metric_group_calculation_type_t type = ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t sets = 0;
    uint32_t count = 0;

    (void)state;
    assert_int_equal(zetMetricGroupCalculateMetricValues(group, type, 0, NULL, &count, NULL),
                     PASSED);
    assert_int_equal(zetMetricGroupCalculateMetricValues(group, type, 1, NULL, &count, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, 0, NULL, &sets,
                                                                    &count, NULL, NULL),
                     PASSED);
    assert_int_equal(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, 1, NULL, &sets,
                                                                    &count, NULL, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void parameter_values__null_with_count_zero__passes(void **state)
{
    zet_metric_programmable_exp_handle_t source = live[ZETA_KIND_METRIC_PROGRAMMABLE];
    zet_metric_programmable_param_value_exp_t values = {.value = {.ui64 = 0}};
    uint32_t count = 0;

    (void)state;
    assert_int_equal(
        zetMetricCreateFromProgrammableExp2(source, 0, NULL, "name", "text", &count, NULL), PASSED);
    assert_int_equal(
        zetMetricCreateFromProgrammableExp2(source, 1, NULL, "name", "text", &count, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(
        zetMetricCreateFromProgrammableExp(source, NULL, 0, "name", "text", &count, NULL), PASSED);
    assert_int_equal(
        zetMetricCreateFromProgrammableExp(source, &values, 1, "name", "text", &count, NULL),
        PASSED);
}

static void query_end__wait_events__are_accepted_and_checked(void **state)
{
    zet_command_list_handle_t list = live[ZETA_KIND_COMMAND_LIST];
    zet_metric_query_handle_t query = live[ZETA_KIND_METRIC_QUERY];
    ze_event_handle_t events[] = {live[ZETA_KIND_EVENT], live[ZETA_KIND_DEVICE]};

    (void)state;
    assert_int_equal(zetCommandListAppendMetricQueryEnd(list, query, NULL, 0, NULL), PASSED);
    assert_int_equal(zetCommandListAppendMetricQueryEnd(list, query, NULL, 1, events), PASSED);
    assert_int_equal(zetCommandListAppendMetricQueryEnd(list, query, NULL, 2, events),
                     ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetCommandListAppendMetricQueryEnd(list, query, NULL, 1, NULL),
                     ZE_RESULT_ERROR_INVALID_SIZE);
}

static void pointers_missed_by_the_specification__null__is_refused(void **state)
{
    zet_device_handle_t device = live[ZETA_KIND_DEVICE];
    zet_metric_handle_t metric = live[ZETA_KIND_METRIC];
    zet_metric_group_handle_t group = live[ZETA_KIND_METRIC_GROUP];
    uint32_t count = 0;
    const ze_result_t refused = ZE_RESULT_ERROR_INVALID_NULL_POINTER;

    (void)state;
    assert_int_equal(
        zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, NULL, "p", "d", &count, NULL),
        refused);
    assert_int_equal(
        zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, &metric, NULL, "d", &count, NULL),
        refused);
    assert_int_equal(
        zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, &metric, "p", NULL, &count, NULL),
        refused);
    assert_int_equal(
        zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, &metric, "p", "d", NULL, NULL),
        refused);
    assert_int_equal(zetDeviceGetConcurrentMetricGroupsExp(device, 1, NULL, NULL, &count), refused);
    assert_int_equal(zetDeviceGetConcurrentMetricGroupsExp(device, 1, &group, NULL, NULL), refused);
    assert_int_equal(zetDeviceGetConcurrentMetricGroupsExp(device, 1, &group, NULL, &count),
                     PASSED);
}

static void decode__null_counts__pass(void **state)
{
    zet_metric_decoder_exp_handle_t decoder = live[ZETA_KIND_METRIC_DECODER];
    zet_metric_handle_t metric = live[ZETA_KIND_METRIC];
    uint8_t data[16] = {0};
    size_t size = sizeof(data);
    uint32_t sets = 0;
    uint32_t count = 0;

    (void)state;
    assert_int_equal(
        zetMetricTracerDecodeExp(decoder, &size, data, 1, &metric, &sets, NULL, NULL, NULL),
        PASSED);
    assert_int_equal(zetMetricDecoderGetDecodableMetricsExp(decoder, &count, NULL), PASSED);
    assert_int_equal(zetMetricDecoderGetDecodableMetricsExp(decoder, NULL, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void sizes__zero_and_odd__are_refused(void **state)
{
    ze_device_mem_alloc_desc_t desc = {.ordinal = 0};
    uint32_t pattern = 0;
    char memory[8];
    void *address = NULL;

    (void)state;
    assert_int_equal(
        zeMemAllocDevice(live[ZETA_KIND_CONTEXT], &desc, 0, 0, live[ZETA_KIND_DEVICE], &address),
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    assert_int_equal(zeCommandListAppendMemoryFill(live[ZETA_KIND_COMMAND_LIST], memory, &pattern,
                                                   4, 6, NULL, 0, NULL),
                     ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(zeCommandListAppendMemoryFill(live[ZETA_KIND_COMMAND_LIST], memory, &pattern,
                                                   0, 6, NULL, 0, NULL),
                     PASSED);
}

/* Runs in the child: 0 if all is as it has to be, else the number of the step that was not. */
static int look_at_parents_handles(void)
{
    uint32_t count = 0;
    ze_event_handle_t event = live[ZETA_KIND_EVENT];
    void *own = NULL;

    if (zetMetricGroupGet(live[ZETA_KIND_DEVICE], &count, NULL) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 1;
    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 2;
    if (zetMetricGroupGet(live[ZETA_KIND_DEVICE], &count, NULL) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 3;
    if (zeta_object_create(ZETA_KIND_COMMAND_LIST, sizeof(struct zeta_object), &own) !=
        ZE_RESULT_SUCCESS)
        return 4;
    if (zeCommandListAppendBarrier(own, NULL, 0, NULL) != PASSED)
        return 5;
    if (zeCommandListAppendBarrier(own, NULL, 1, &event) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 6;
    return 0;
}

static void fork__handles_of_the_parent__are_uninitialized(void **state)
{
    uint32_t count = 0;
    int status = 0;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(look_at_parents_handles());
    assert_cmp(child, >, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(zetMetricGroupGet(live[ZETA_KIND_DEVICE], &count, NULL), PASSED);
}

SUITE(checks)
{
    const struct CMUnitTest before[] = {
        cmocka_unit_test(before_init__any_function__is_uninitialized),
        cmocka_unit_test(before_init__functions_that_start_everything__get_through),
    };
    const struct CMUnitTest after[] = {
        cmocka_unit_test(init__flags__are_checked),
        cmocka_unit_test(init_drivers__flags__only_zero_is_refused),
        cmocka_unit_test(handle__null_foreign_dead_garbage__is_null_handle),
        cmocka_unit_test(default_context__bad_driver__is_null_with_a_sentence),
        cmocka_unit_test(handle__optional__null_passes_garbage_does_not),
        cmocka_unit_test(order__handle_before_pointer_before_enum__is_kept),
        cmocka_unit_test(array__bad_element__is_null_handle_and_named),
        cmocka_unit_test(desc__members__are_checked),
        cmocka_unit_test(desc__stype_and_pnext__are_never_looked_at),
        cmocka_unit_test(flags__bits_up_to_the_highest__pass),
        cmocka_unit_test(activation__count_zero__passes_with_and_without_array),
        cmocka_unit_test(calculation__null_with_size_zero__passes),
        cmocka_unit_test(parameter_values__null_with_count_zero__passes),
        cmocka_unit_test(query_end__wait_events__are_accepted_and_checked),
        cmocka_unit_test(pointers_missed_by_the_specification__null__is_refused),
        cmocka_unit_test(decode__null_counts__pass),
        cmocka_unit_test(sizes__zero_and_odd__are_refused),
        cmocka_unit_test(fork__handles_of_the_parent__are_uninitialized),
    };
    int failed = cmocka_run_group_tests_name("before", before, NULL, NULL);

    return failed + cmocka_run_group_tests_name("after", after, set_up, NULL);
}
