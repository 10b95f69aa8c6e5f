/*
 * printf of kernels, on the fake GPU, which fills the buffer by the device's own code compiled for
 * the host, or with ZETA_TEST_NVIDIA=device on the one that is there. What the compiler makes of
 * all conversions is seen there only, beside the virtual GPU, which prints the same (printed.h).
 * Rules 24.8, 28.14.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/kernel_print.h>

#include "tests/nvidia/computing.h"
#include "tests/nvidia/printed.h"

enum { MOST_TEXT = 8 << 20, SLOTS = 8 };

/* ---- what is written ----------------------------------------------------------------------- */

/* A standard stream that is a file for a while. */
struct capture {
    FILE *stream, *file;
    int before;
};

static struct capture capture_begin(FILE *stream)
{
    struct capture c = {.stream = stream, .file = tmpfile(), .before = dup(fileno(stream))};

    assert_non_null(c.file);
    assert_true(c.before >= 0);
    (void)fflush(stream);
    assert_true(dup2(fileno(c.file), fileno(stream)) >= 0);
    return c;
}

/* What was written; to be freed. */
static char *capture_end(struct capture *c)
{
    char *text = malloc(MOST_TEXT);
    size_t size;

    assert_non_null(text);
    (void)fflush(c->stream);
    (void)dup2(c->before, fileno(c->stream));
    (void)close(c->before);
    rewind(c->file);
    size = fread(text, 1, MOST_TEXT - 1, c->file);
    text[size] = '\0';
    (void)fclose(c->file);
    return text;
}

static void expect_text(struct capture *c, const char *wanted)
{
    char *text = capture_end(c);

    assert_string_equal(text, wanted);
    free(text);
}

/* ---- launches ------------------------------------------------------------------------------ */

static void read_module(struct computing *c, const char *path)
{
    char *bytes = malloc(MOST_TEXT);
    FILE *file = fopen(path, "rb");
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .pInputModule = (const uint8_t *)bytes};

    assert_non_null(bytes);
    if (!file)
        fail_msg("%s cannot be read", path);
    desc.inputSize = fread(bytes, 1, MOST_TEXT, file);
    (void)fclose(file);
    EXPECT_OK(zeModuleDestroy(c->module));
    EXPECT_OK(zeModuleCreate(c->context, c->device, &desc, &c->module, NULL));
    free(bytes);
}

static struct computing open_print(void)
{
    struct computing c = computing_open("api.ptx");

    read_module(&c, PRINT_KERNELS);
    return c;
}

/* Memory of calls of printf, which a kernel reads. */
struct call {
    char *format;
    uint64_t *slots;
    int32_t *results;
};

static struct call make_call(const struct computing *c, const char *format, uint32_t items)
{
    struct call call = {
        .format = computing_memory(c, ZE_MEMORY_TYPE_HOST, strlen(format) + 1, 0),
        .slots = computing_memory(c, ZE_MEMORY_TYPE_HOST, SLOTS * sizeof(uint64_t), 0),
        .results = computing_memory(c, ZE_MEMORY_TYPE_HOST, items * sizeof(int32_t), 0)};

    memcpy(call.format, format, strlen(format) + 1);
    memset(call.slots, 0, SLOTS * sizeof(uint64_t));
    memset(call.results, 0x55, items * sizeof(int32_t));
    return call;
}

static void free_call(const struct computing *c, const struct call *call)
{
    EXPECT_OK(zeMemFree(c->context, call->format));
    EXPECT_OK(zeMemFree(c->context, call->slots));
    EXPECT_OK(zeMemFree(c->context, call->results));
}

/* Groups of one item that print. */
static void append_print(const struct computing *c, ze_command_list_handle_t list,
                         const struct call *call, uint32_t count, uint32_t items,
                         ze_event_handle_t event)
{
    const ze_group_count_t groups = {items, 1, 1};
    ze_kernel_handle_t kernel = computing_kernel(c, "print");

    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &call->format));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &call->slots));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 2, sizeof(count), &count));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 3, sizeof(void *), &call->results));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    EXPECT_OK(zeKernelDestroy(kernel));
}

/* ---- cases --------------------------------------------------------------------------------- */

static void check_text(void)
{
    const struct computing c = open_print();
    const struct call call = make_call(&c, "%d %s %v2lf %s|%d\n", 2);
    const double reals[] = {1.5, -2};
    char *string = computing_memory(&c, ZE_MEMORY_TYPE_HOST, 16, 0);
    struct capture out;

    memcpy(string, "string", 7);
    call.slots[0] = 42;
    call.slots[1] = (uintptr_t)string;
    memcpy(&call.slots[2], reals, sizeof(reals));
    call.slots[4] = (uintptr_t)(string + 3);
    out = capture_begin(stdout);
    append_print(&c, c.list, &call, 5, 1, NULL);
    /* What it printed was written when the call returned. Two items, then one without values. */
    expect_text(&out, "42 string 1.500000,-2.000000 ing|%?\n");
    assert_int_equal(call.results[0], 0);
    out = capture_begin(stdout);
    append_print(&c, c.list, &call, 6, 2, NULL);
    append_print(&c, c.list, &call, 0, 1, NULL);
    expect_text(&out, "42 string 1.500000,-2.000000 ing|0\n42 string 1.500000,-2.000000 ing|0\n"
                      "%? %? %?,%? %?|%?\n");
    EXPECT_OK(zeMemFree(c.context, string));
    free_call(&c, &call);
    computing_close(&c);
}

static void text__of_a_launch__is_written_when_it_ended(void **state)
{
    (void)state;
    bed_run_anywhere(check_text);
}

/* Lines with that text and another number behind it each, of the queue whose number they have. */
static void check_queues(void)
{
    enum { QUEUES = 3, LAUNCHES = 40, ITEMS = 8 };
    const struct computing c = open_print();
    ze_command_list_handle_t lists[QUEUES];
    struct call calls[QUEUES][LAUNCHES];
    uint64_t seen[QUEUES] = {0};
    unsigned queue, launch;
    struct capture out;
    char *text, *line, *rest = NULL;

    for (int i = 0; i < QUEUES; i++) {
        lists[i] = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        for (int k = 0; k < LAUNCHES; k++) {
            calls[i][k] = make_call(&c, "%u: %u\n", ITEMS);
            calls[i][k].slots[0] = (unsigned)i;
            calls[i][k].slots[1] = (unsigned)k;
        }
    }
    out = capture_begin(stdout);
    for (int k = 0; k < LAUNCHES; k++) {
        for (int i = 0; i < QUEUES; i++)
            append_print(&c, lists[i], &calls[i][k], 2, ITEMS, NULL);
    }
    for (int i = 0; i < QUEUES; i++)
        EXPECT_OK(zeCommandListHostSynchronize(lists[i], UINT64_MAX));
    text = capture_end(&out);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "%u: %u", &queue, &launch) != 2 || queue >= QUEUES)
            fail_msg("\"%s\" is no line", line);
        assert_int_equal(launch, seen[queue] / ITEMS); /* in the order of the queue */
        seen[queue]++;
    }
    free(text);
    for (int i = 0; i < QUEUES; i++) {
        assert_int_equal(seen[i], LAUNCHES * ITEMS);
        for (int k = 0; k < LAUNCHES; k++)
            free_call(&c, &calls[i][k]);
        EXPECT_OK(zeCommandListDestroy(lists[i]));
    }
    computing_close(&c);
}

static void queues__at_the_same_time__keep_their_order(void **state)
{
    (void)state;
    bed_run_anywhere(check_queues);
}

static void check_event(void)
{
    const struct computing c = open_print();
    const struct call call = make_call(&c, "event\n", 1);
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;
    struct capture out;

    EXPECT_OK(zeEventPoolCreate(c.context, &pool_desc, 0, NULL, &pool));
    EXPECT_OK(zeEventCreate(pool, &desc, &event));
    out = capture_begin(stdout);
    append_print(&c, list, &call, 0, 1, event);
    EXPECT_OK(zeEventHostSynchronize(event, UINT64_MAX));
    expect_text(&out, "event\n");
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    EXPECT_OK(zeEventDestroy(event));
    EXPECT_OK(zeEventPoolDestroy(pool));
    EXPECT_OK(zeCommandListDestroy(list));
    free_call(&c, &call);
    computing_close(&c);
}

static void text__before_an_event__is_written_when_it_is_signalled(void **state)
{
    (void)state;
    bed_run_anywhere(check_event);
}

static void check_cooperative(void)
{
    const struct computing c = open_print();
    const struct call call = make_call(&c, "together\n", 3);
    const ze_group_count_t groups = {3, 1, 1};
    const uint32_t count = 0;
    ze_kernel_handle_t kernel = computing_kernel(&c, "print");
    struct capture out = capture_begin(stdout);

    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &call.format));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &call.slots));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 2, sizeof(count), &count));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 3, sizeof(void *), &call.results));
    EXPECT_OK(zeCommandListAppendLaunchCooperativeKernel(c.list, kernel, &groups, NULL, 0, NULL));
    expect_text(&out, "together\ntogether\ntogether\n");
    EXPECT_OK(zeKernelDestroy(kernel));
    free_call(&c, &call);
    computing_close(&c);
}

static void text__of_a_cooperative_launch__is_written(void **state)
{
    (void)state;
    bed_run_anywhere(check_cooperative);
}

static void check_native(void)
{
    struct computing c = open_print();
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE};
    struct capture out;
    struct call call;
    uint8_t *image;

    EXPECT_OK(zeModuleGetNativeBinary(c.module, &desc.inputSize, NULL));
    image = malloc(desc.inputSize);
    assert_non_null(image);
    EXPECT_OK(zeModuleGetNativeBinary(c.module, &desc.inputSize, image));
    EXPECT_OK(zeModuleDestroy(c.module));
    desc.pInputModule = image;
    EXPECT_OK(zeModuleCreate(c.context, c.device, &desc, &c.module, NULL));
    free(image);
    call = make_call(&c, "native\n", 1);
    out = capture_begin(stdout);
    append_print(&c, c.list, &call, 0, 1, NULL);
    expect_text(&out, "native\n");
    free_call(&c, &call);
    computing_close(&c);
}

static void text__of_a_native_binary__is_written(void **state)
{
    (void)state;
    bed_run_anywhere(check_native);
}

/* A list that is executed twice. */
static void check_list(void)
{
    const struct computing c = open_print();
    const struct call first = make_call(&c, "first\n", 1), second = make_call(&c, "second\n", 2);
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_queue_handle_t queue = NULL;
    ze_command_list_handle_t list = NULL;
    ze_fence_handle_t fence = NULL;
    struct capture out;

    EXPECT_OK(zeCommandQueueCreate(c.context, c.device, &queue_desc, &queue));
    EXPECT_OK(zeCommandListCreate(c.context, c.device, &desc, &list));
    EXPECT_OK(zeFenceCreate(queue, &fence_desc, &fence));
    append_print(&c, list, &first, 0, 1, NULL);
    EXPECT_OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    append_print(&c, list, &second, 0, 2, NULL);
    EXPECT_OK(zeCommandListClose(list));
    out = capture_begin(stdout);
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    EXPECT_OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    expect_text(&out, "first\nsecond\nsecond\nfirst\nsecond\nsecond\n");
    EXPECT_OK(zeFenceDestroy(fence));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    free_call(&c, &first);
    free_call(&c, &second);
    computing_close(&c);
}

static void text__of_a_list__is_written_before_its_fence(void **state)
{
    (void)state;
    bed_run_anywhere(check_list);
}

/* 1 MiB for records of 32 bytes. */
static void check_overflow(void)
{
    enum { FIT = (1 << 20) / 32, LOST = 1000, ITEMS = FIT + LOST };
    ze_device_module_properties_t properties = {.stype =
                                                    ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    uint32_t lines = 0, failed = 0;
    struct capture out, messages;
    struct computing c;
    struct call call;
    char *text, *log;

    bed_set("printf_buffer_mib", "1");
    c = open_print();
    EXPECT_OK(zeDeviceGetModuleProperties(c.device, &properties));
    assert_int_equal(properties.printfBufferSize, 1 << 20);
    call = make_call(&c, "a line of text\n", ITEMS);
    call.slots[0] = 1;
    out = capture_begin(stdout);
    messages = capture_begin(stderr);
    append_print(&c, c.list, &call, 1, ITEMS, NULL);
    log = capture_end(&messages);
    text = capture_end(&out);
    for (const char *at = text; *at != '\0'; at += strlen("a line of text\n"), lines++)
        assert_memory_equal(at, "a line of text\n", strlen("a line of text\n"));
    for (int i = 0; i < ITEMS; i++)
        failed += call.results[i] == -1;
    assert_int_equal(lines, FIT);
    assert_int_equal(failed, LOST);
    if (!strstr(log, "1000 calls of printf in kernel print are lost") ||
        !strstr(log, "plugins.nvidia.printf_buffer_mib"))
        fail_msg("the log says: %s", log);
    free(log);
    free(text);
    /* The next launch has an empty buffer. */
    out = capture_begin(stdout);
    append_print(&c, c.list, &call, 0, 1, NULL);
    expect_text(&out, "a line of text\n");
    free_call(&c, &call);
    computing_close(&c);
}

static void text__that_does_not_fit__is_lost_and_told(void **state)
{
    (void)state;
    bed_run_anywhere(check_overflow);
}

/* Overwrites the begin of the buffer; what is written then, and whether the log tells of damage. */
static void check_words(const struct computing *c, const uint64_t *words, uint32_t count,
                        const char *wanted, bool is_told)
{
    const ze_group_count_t one = {1, 1, 1};
    uint64_t *memory = computing_memory(c, ZE_MEMORY_TYPE_HOST, count * sizeof(*words), 0);
    ze_kernel_handle_t kernel = computing_kernel(c, "damage");
    struct capture out = capture_begin(stdout), messages = capture_begin(stderr);
    char *log;

    memcpy(memory, words, count * sizeof(*words));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &memory));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(count), &count));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c->list, kernel, &one, NULL, 0, NULL));
    log = capture_end(&messages);
    expect_text(&out, wanted);
    if (is_told != (strstr(log, "what kernel damage printed is damaged from byte ") != NULL))
        fail_msg("the log says: %s", log);
    free(log);
    EXPECT_OK(zeKernelDestroy(kernel));
    EXPECT_OK(zeMemFree(c->context, memory));
}

static uint64_t record_head(uint32_t size, uint32_t slot_count)
{
    return (uint64_t)slot_count << 32 | size;
}

static uint64_t letters(const char text[8])
{
    uint64_t word;

    memcpy(&word, text, sizeof(word));
    return word;
}

static void check_damage(void)
{
    const struct computing c = open_print();
    const uint64_t good[] = {1 << 20, 16, 0, record_head(16, 0), letters("whole\n\0")};
    const uint64_t whole_then_none[] = {1 << 20, 64, 0, record_head(16, 0), letters("whole\n\0"),
                                        0};
    const uint64_t second_is_long[] = {
        1 << 20, 40, 0, record_head(16, 0), letters("whole\n\0"), record_head(32, 0)};
    const uint64_t odd[] = {1 << 20, 24, 0, record_head(13, 0), letters("%d\n\0\0\0\0")};
    const uint64_t unended[] = {1 << 20, 16, 0, record_head(16, 0), letters("no end..")};
    const uint64_t many_slots[] = {1 << 20, 16, 0, record_head(16, UINT32_MAX),
                                   letters("%d\n\0\0\0\0")};
    const uint64_t wild_string[] = {
        1 << 20, 24, 0, record_head(24, 1), UINT64_MAX - 5, letters("%s\n\0\0\0\0")};
    const uint64_t endless[] = {
        0, UINT64_MAX, 0, record_head(16, 0), letters("whole\n\0"), record_head(UINT32_MAX - 7, 0)};

    check_words(&c, good, 5, "whole\n", false);
    check_words(&c, whole_then_none, 6, "whole\n", false);
    check_words(&c, second_is_long, 6, "whole\n", true);
    check_words(&c, odd, 5, "", true);
    check_words(&c, unended, 5, "", true);
    check_words(&c, many_slots, 5, "", true);
    check_words(&c, wild_string, 6, "", true);
    check_words(&c, endless, 6, "whole\n", true);
    check_words(&c, good, 5, "whole\n", false);
    computing_close(&c);
}

static void buffer__that_a_kernel_damaged__is_told(void **state)
{
    (void)state;
    bed_run_anywhere(check_damage);
}

static void check_kinds(void)
{
    struct computing c = computing_open("api.ptx");
    const ze_group_count_t one = {1, 1, 1};
    const int32_t zero = 0;
    const float real = 1.5f;
    ze_kernel_handle_t kernel;
    struct capture out;

    read_module(&c, KINDS_KERNELS);
    kernel = computing_kernel(&c, "kinds");
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(zero), &zero));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(real), &real));
    out = capture_begin(stdout);
    EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &one, NULL, 0, NULL));
    expect_text(&out, PRINTED_KINDS);
    EXPECT_OK(zeKernelDestroy(kernel));
    kernel = computing_kernel(&c, "wrong");
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(zero), &zero));
    out = capture_begin(stdout);
    EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &one, NULL, 0, NULL));
    expect_text(&out, PRINTED_WRONG);
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

/* The fake GPU executes no PTX. */
static void conversions__of_all_kinds__print_as_on_the_virtual_gpu(void **state)
{
    (void)state;
    if (!bed_is_real())
        skip();
    bed_run_anywhere(check_kinds);
}

SUITE(print)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__of_a_launch__is_written_when_it_ended),
        cmocka_unit_test(text__before_an_event__is_written_when_it_is_signalled),
        cmocka_unit_test(text__of_a_cooperative_launch__is_written),
        cmocka_unit_test(text__of_a_native_binary__is_written),
        cmocka_unit_test(text__of_a_list__is_written_before_its_fence),
        cmocka_unit_test(queues__at_the_same_time__keep_their_order),
        cmocka_unit_test(text__that_does_not_fit__is_lost_and_told),
        cmocka_unit_test(buffer__that_a_kernel_damaged__is_told),
        cmocka_unit_test(conversions__of_all_kinds__print_as_on_the_virtual_gpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
