/*
 * Arguments as a trace shows them: right values for typical calls, and no crash for any garbage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>
#include <level_zero/zet_api.h>

#include "core/trace/describe.h"
#include "core/trace/text.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { ARGUMENT_BYTES = 256, PARAMETERS_MAX = 24 };

/* What was rendered, as a document. */
struct shown {
    char buffer[8192];
    struct zeta_trace_text text;
    struct json_object *object;
};

static void show_before(struct shown *shown, enum zeta_function function, const void *arguments)
{
    shown->text = (struct zeta_trace_text){shown->buffer, sizeof(shown->buffer) - 2, 0, false};
    zeta_trace_text_put(&shown->text, "{");
    zeta_trace_render(&shown->text, function, arguments, false);
}

/* Parses what is there. */
static struct json_object *parse(struct shown *shown)
{
    shown->buffer[shown->text.used_bytes] = '}';
    shown->buffer[shown->text.used_bytes + 1] = '\0';
    shown->object = json_tokener_parse(shown->buffer);
    if (!shown->object)
        fail_msg("not JSON: %s", shown->buffer);
    return shown->object;
}

static void forget(struct shown *shown)
{
    (void)json_object_put(shown->object);
}

static const char *member(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;

    if (!json_object_object_get_ex(object, name, &value))
        fail_msg("no member %s in %s", name, json_object_to_json_string(object));
    return value ? json_object_get_string(value) : "null";
}

static void render__counted_handles__are_a_list(void **state)
{
    uint32_t count = 2;
    uint32_t *p_count = &count;
    ze_device_handle_t devices[2] = {(void *)0x1000, (void *)0x2000};
    ze_device_handle_t *p_devices = devices;
    ze_driver_handle_t driver = (void *)0xabc;
    const void *arguments[] = {&driver, &p_count, &p_devices};
    struct shown shown;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeDeviceGet, arguments);
    zeta_trace_render(&shown.text, ZETA_FUNCTION_zeDeviceGet, arguments, true);
    parse(&shown);
    assert_string_equal(member(shown.object, "hDriver"), "0xabc");
    assert_string_equal(member(shown.object, "pCount"), "2");
    assert_string_equal(member(shown.object, "pCount after"), "2");
    assert_string_equal(member(shown.object, "phDevices"), "[ \"0x1000\", \"0x2000\" ]");
    forget(&shown);
}

/* Rule 19.4. */
static void render__output__waits_for_the_end(void **state)
{
    ze_event_handle_t event = (void *)0x77;
    ze_event_handle_t *p_event = &event;
    ze_event_pool_handle_t pool = (void *)0x66;
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                            .index = 3,
                            .signal = ZE_EVENT_SCOPE_FLAG_HOST | ZE_EVENT_SCOPE_FLAG_DEVICE};
    const ze_event_desc_t *p_desc = &desc;
    const void *arguments[] = {&pool, &p_desc, &p_event};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeEventCreate, arguments);
    parse(&shown);
    assert_false(json_object_object_get_ex(shown.object, "phEvent", &inner));
    assert_true(json_object_object_get_ex(shown.object, "desc", &inner));
    assert_string_equal(member(inner, "index"), "3");
    assert_string_equal(member(inner, "signal"),
                        "ZE_EVENT_SCOPE_FLAG_DEVICE|ZE_EVENT_SCOPE_FLAG_HOST");
    assert_string_equal(member(inner, "wait"), "0");
    assert_false(json_object_object_get_ex(inner, "stype", NULL));
    assert_false(json_object_object_get_ex(inner, "pNext", NULL));
    forget(&shown);
    zeta_trace_render(&shown.text, ZETA_FUNCTION_zeEventCreate, arguments, true);
    parse(&shown);
    assert_string_equal(member(shown.object, "phEvent"), "0x77");
    forget(&shown);
}

static void render__launch__shows_counts_and_events(void **state)
{
    ze_command_list_handle_t list = (void *)0x11;
    ze_kernel_handle_t kernel = (void *)0x22;
    ze_group_count_t counts = {4, 5, 6};
    const ze_group_count_t *p_counts = &counts;
    ze_event_handle_t signal = NULL;
    ze_event_handle_t waits[10] = {(void *)0x31};
    ze_event_handle_t *p_waits = waits;
    uint32_t wait_count = 10;
    const void *arguments[] = {&list, &kernel, &p_counts, &signal, &wait_count, &p_waits};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeCommandListAppendLaunchKernel, arguments);
    parse(&shown);
    assert_true(json_object_object_get_ex(shown.object, "pLaunchFuncArgs", &inner));
    assert_string_equal(member(inner, "groupCountY"), "5");
    assert_string_equal(member(shown.object, "hSignalEvent"), "null");
    assert_true(json_object_object_get_ex(shown.object, "phWaitEvents", &inner));
    assert_int_equal(json_object_array_length(inner), 9);
    assert_string_equal(json_object_get_string(json_object_array_get_idx(inner, 0)), "0x31");
    assert_string_equal(json_object_get_string(json_object_array_get_idx(inner, 8)), "...");
    forget(&shown);
}

static void render__kernel_argument__is_its_value(void **state)
{
    ze_kernel_handle_t kernel = (void *)0x11;
    uint32_t index = 1;
    size_t size = sizeof(uint32_t);
    uint32_t value = 0xabcd;
    uint8_t bytes[5] = {1, 2, 3, 4, 0xff};
    const void *p_value = &value;
    const void *arguments[] = {&kernel, &index, &size, &p_value};
    struct shown shown;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeKernelSetArgumentValue, arguments);
    parse(&shown);
    assert_string_equal(member(shown.object, "pArgValue"), "0xabcd");
    forget(&shown);
    p_value = bytes;
    size = sizeof(bytes);
    show_before(&shown, ZETA_FUNCTION_zeKernelSetArgumentValue, arguments);
    parse(&shown);
    assert_string_equal(member(shown.object, "pArgValue"), "01020304ff");
    forget(&shown);
    p_value = NULL;
    show_before(&shown, ZETA_FUNCTION_zeKernelSetArgumentValue, arguments);
    parse(&shown);
    assert_string_equal(member(shown.object, "pArgValue"), "null");
    forget(&shown);
}

static void render__text__is_shown_and_escaped(void **state)
{
    ze_module_handle_t module = (void *)0x11;
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                             .pKernelName = "a\"b\\c\n\xff\xc3\xa4"};
    const ze_kernel_desc_t *p_desc = &desc;
    ze_kernel_handle_t *p_kernel = NULL;
    const void *arguments[] = {&module, &p_desc, &p_kernel};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeKernelCreate, arguments);
    parse(&shown);
    assert_true(json_object_object_get_ex(shown.object, "desc", &inner));
    /* A byte that is no UTF-8 is the character of that number. */
    assert_string_equal(member(inner, "pKernelName"), "a\"b\\c\n\xc3\xbf\xc3\xa4");
    assert_string_equal(member(shown.object, "phKernel"), "null");
    forget(&shown);
}

static void render__numbers__keep_their_size_and_sign(void **state)
{
    ze_event_handle_t event = (void *)0x1;
    uint64_t timeout = UINT64_MAX;
    const void *arguments[] = {&event, &timeout};
    struct shown shown;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeEventHostSynchronize, arguments);
    parse(&shown);
    assert_string_equal(member(shown.object, "timeout"), "UINT64_MAX");
    forget(&shown);
    timeout = UINT64_MAX - 1;
    show_before(&shown, ZETA_FUNCTION_zeEventHostSynchronize, arguments);
    assert_non_null(strstr(shown.buffer, "\"18446744073709551614\""));
    timeout = UINT64_C(1) << 53;
    show_before(&shown, ZETA_FUNCTION_zeEventHostSynchronize, arguments);
    parse(&shown);
    assert_string_equal(member(shown.object, "timeout"), "9007199254740992");
    forget(&shown);
}

static void render__enumerators__have_their_names(void **state)
{
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = NULL;
    ze_command_queue_desc_t desc = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                    .priority = (ze_command_queue_priority_t)99,
                                    .flags = 1u << 20};
    const ze_command_queue_desc_t *p_desc = &desc;
    ze_command_queue_handle_t *p_queue = NULL;
    const void *arguments[] = {&context, &device, &p_desc, &p_queue};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeCommandQueueCreate, arguments);
    parse(&shown);
    assert_true(json_object_object_get_ex(shown.object, "desc", &inner));
    assert_string_equal(member(inner, "mode"), "ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS");
    assert_string_equal(member(inner, "priority"), "99");
    assert_string_equal(member(inner, "flags"), "0x100000");
    forget(&shown);
}

/* Rule 19.4. */
static void render__in_and_out_desc__is_shown_twice(void **state)
{
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 7, .samplingPeriod = 1000};
    zet_metric_streamer_desc_t *p_desc = &desc;
    void *none = NULL;
    const void *arguments[] = {&none, &none, &none, &p_desc, &none, &none};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zetMetricStreamerOpen, arguments);
    desc.samplingPeriod = 1280;
    zeta_trace_render(&shown.text, ZETA_FUNCTION_zetMetricStreamerOpen, arguments, true);
    parse(&shown);
    assert_true(json_object_object_get_ex(shown.object, "desc", &inner));
    assert_string_equal(member(inner, "samplingPeriod"), "1000");
    assert_true(json_object_object_get_ex(shown.object, "desc after", &inner));
    assert_string_equal(member(inner, "samplingPeriod"), "1280");
    forget(&shown);
}

static void render__struct_by_value__is_shown(void **state)
{
    zet_debug_session_handle_t session = (void *)0x5;
    ze_device_thread_t thread = {1, 2, UINT32_MAX, 4};
    const void *arguments[] = {&session, &thread};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zetDebugInterrupt, arguments);
    parse(&shown);
    assert_true(json_object_object_get_ex(shown.object, "thread", &inner));
    assert_string_equal(member(inner, "subslice"), "2");
    assert_string_equal(member(inner, "eu"), "4294967295");
    forget(&shown);
}

static void render__properties__come_after(void **state)
{
    ze_device_handle_t device = (void *)0x5;
    ze_device_properties_t properties = {.type = ZE_DEVICE_TYPE_GPU, .name = "A device"};
    ze_device_properties_t *p_properties = &properties;
    const void *arguments[] = {&device, &p_properties};
    struct shown shown;
    struct json_object *inner = NULL;

    (void)state;
    properties.uuid.id[0] = 0xab;
    show_before(&shown, ZETA_FUNCTION_zeDeviceGetProperties, arguments);
    assert_null(strstr(shown.buffer, "A device"));
    zeta_trace_render(&shown.text, ZETA_FUNCTION_zeDeviceGetProperties, arguments, true);
    parse(&shown);
    assert_true(json_object_object_get_ex(shown.object, "pDeviceProperties", &inner));
    assert_string_equal(member(inner, "name"), "A device");
    assert_string_equal(member(inner, "type"), "ZE_DEVICE_TYPE_GPU");
    assert_string_equal(member(inner, "uuid"), "ab000000000000000000000000000000");
    forget(&shown);
}

/* Rule 19.4. */
static void render__memory_of_the_device__is_an_address(void **state)
{
    uint64_t *target = (uint64_t *)(uintptr_t)0x40;
    uint32_t wait_count = 0;
    void *none = NULL;
    const void *arguments[] = {&none, &target, &none, &wait_count, &none};
    struct shown shown;

    (void)state;
    show_before(&shown, ZETA_FUNCTION_zeCommandListAppendWriteGlobalTimestamp, arguments);
    zeta_trace_render(&shown.text, ZETA_FUNCTION_zeCommandListAppendWriteGlobalTimestamp, arguments,
                      true);
    parse(&shown);
    assert_string_equal(member(shown.object, "dstptr"), "0x40");
    forget(&shown);
}

static void render__small_buffer__leaves_whole_members(void **state)
{
    uint64_t timeout = 12345;
    ze_event_handle_t event = (void *)0x1234;
    const void *arguments[] = {&event, &timeout};

    (void)state;
    for (uint32_t size = 1; size < 60; size++) {
        struct shown shown;

        shown.text = (struct zeta_trace_text){shown.buffer, size, 0, false};
        zeta_trace_text_put(&shown.text, "{");
        zeta_trace_render(&shown.text, ZETA_FUNCTION_zeEventHostSynchronize, arguments, false);
        shown.text.size_bytes = sizeof(shown.buffer);
        zeta_trace_text_end_cut(&shown.text);
        assert_cmp(shown.text.used_bytes, >, 0);
        parse(&shown);
        forget(&shown);
    }
}

/* ---- garbage ------------------------------------------------------------------------------- */

struct garbage {
    unsigned char *arguments; /* PARAMETERS_MAX times ARGUMENT_BYTES */
    const void *addresses[PARAMETERS_MAX];
    char *edge; /* the last readable bytes before memory that is not there */
};

static int make_garbage(void **state)
{
    static struct garbage garbage;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
        return -1;
    memset(pages, 'x', page);
    garbage.edge = pages + page;
    garbage.arguments = calloc(PARAMETERS_MAX, ARGUMENT_BYTES);
    for (size_t i = 0; i < PARAMETERS_MAX; i++)
        garbage.addresses[i] = garbage.arguments + i * ARGUMENT_BYTES;
    *state = &garbage;
    return garbage.arguments ? 0 : -1;
}

static int free_garbage(void **state)
{
    struct garbage *garbage = *state;

    free(garbage->arguments);
    return 0;
}

static void render_all(const struct garbage *garbage)
{
    for (int i = 0; i < ZETA_FUNCTION_COUNT; i++) {
        const enum zeta_function function = (enum zeta_function)i;
        struct shown shown;

        assert_cmp(zeta_function_descriptions[i].parameter_count, <=, PARAMETERS_MAX);
        show_before(&shown, function, garbage->addresses);
        zeta_trace_render(&shown.text, function, garbage->addresses, true);
        zeta_trace_text_end_cut(&shown.text);
        parse(&shown);
        forget(&shown);
    }
}

static void fill(struct garbage *garbage, uint64_t value)
{
    for (size_t i = 0; i < PARAMETERS_MAX * ARGUMENT_BYTES / sizeof(value); i++)
        memcpy(garbage->arguments + i * sizeof(value), &value, sizeof(value));
}

/* Rule 19.5. */
static void render__same_garbage_everywhere__never_crashes(void **state)
{
    struct garbage *garbage = *state;
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      8,
                                      0xfff,
                                      0x1001,
                                      UINT32_MAX,
                                      UINT64_C(0x7fffffffffff),
                                      UINT64_C(0x8000000000000000),
                                      UINT64_C(0xffff800000000000),
                                      UINT64_MAX - 7,
                                      UINT64_MAX};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        fill(garbage, values[i]);
        render_all(garbage);
    }
}

/* Rule 19.5. */
static void render__end_of_memory__never_crashes(void **state)
{
    struct garbage *garbage = *state;

    for (uintptr_t before = 0; before < 40; before++) {
        fill(garbage, (uintptr_t)garbage->edge - before);
        render_all(garbage);
    }
}

/* Rule 19.5. */
static void render__random_arguments__never_crash(void **state)
{
    struct garbage *garbage = *state;
    uint64_t random = 88172645463325252u;

    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < PARAMETERS_MAX * ARGUMENT_BYTES / sizeof(random); i++) {
            uint64_t value;

            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            /* Counts are small and pointers are good now and then. */
            value = random % 4 == 0 ? random >> 60 : random;
            value = random % 4 == 1 ? (uintptr_t)garbage->edge - (random >> 56) : value;
            memcpy(garbage->arguments + i * sizeof(value), &value, sizeof(value));
        }
        render_all(garbage);
    }
}

/* Rule 19.2. */
static void describe__every_function__has_a_name_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < ZETA_FUNCTION_COUNT; i++) {
        assert_non_null(zeta_function_descriptions[i].name);
        if (i > 0)
            assert_cmp(
                strcmp(zeta_function_descriptions[i - 1].name, zeta_function_descriptions[i].name),
                <, 0);
    }
}

SUITE(render)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describe__every_function__has_a_name_in_order),
        cmocka_unit_test(render__counted_handles__are_a_list),
        cmocka_unit_test(render__output__waits_for_the_end),
        cmocka_unit_test(render__launch__shows_counts_and_events),
        cmocka_unit_test(render__kernel_argument__is_its_value),
        cmocka_unit_test(render__text__is_shown_and_escaped),
        cmocka_unit_test(render__numbers__keep_their_size_and_sign),
        cmocka_unit_test(render__enumerators__have_their_names),
        cmocka_unit_test(render__in_and_out_desc__is_shown_twice),
        cmocka_unit_test(render__struct_by_value__is_shown),
        cmocka_unit_test(render__properties__come_after),
        cmocka_unit_test(render__memory_of_the_device__is_an_address),
        cmocka_unit_test(render__small_buffer__leaves_whole_members),
        cmocka_unit_test(render__same_garbage_everywhere__never_crashes),
        cmocka_unit_test(render__end_of_memory__never_crashes),
        cmocka_unit_test(render__random_arguments__never_crash),
    };

    return cmocka_run_group_tests(tests, make_garbage, free_garbage);
}
