/*
 * Modules that were built apart and are linked (rules 6.12 to 6.16, 6.19, 28.12). On the fake CUDA
 * a kernel does what its name says, whatever was linked; on a real GPU it does so only if it was
 * linked right: tests/nvidia/kernels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nvidia/bed.h"
#include "tests/nvidia/computing.h"

enum { GROUPS = 5 };

/* The module of a file of the kernels. */
static ze_module_handle_t build(const struct computing *c, const char *name)
{
    ze_module_handle_t module = NULL;
    char path[4096], log[COMPUTING_LOG_BYTES];
    uint8_t *image;
    size_t size;

    (void)snprintf(path, sizeof(path), LINK_KERNELS "/nvidia-%s.spv", name);
    image = computing_read_file(path, &size);
    if (computing_build(c, ZE_MODULE_FORMAT_IL_SPIRV, image, size, &module, log) !=
        ZE_RESULT_SUCCESS)
        fail_msg("%s: %s", name, log);
    free(image);
    return module;
}

/* The module made of the native binary of that one, which is destroyed. */
static ze_module_handle_t build_again(const struct computing *c, ze_module_handle_t module)
{
    char log[COMPUTING_LOG_BYTES];
    size_t size = 0;
    uint8_t *image;

    EXPECT_OK(zeModuleGetNativeBinary(module, &size, NULL));
    image = malloc(size);
    assert_non_null(image);
    EXPECT_OK(zeModuleGetNativeBinary(module, &size, image));
    EXPECT_OK(zeModuleDestroy(module));
    if (computing_build(c, ZE_MODULE_FORMAT_NATIVE, image, size, &module, log) != ZE_RESULT_SUCCESS)
        fail_msg("%s", log);
    free(image);
    return module;
}

static void expect_imports(ze_module_handle_t module, bool wanted)
{
    ze_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};

    EXPECT_OK(zeModuleGetProperties(module, &p));
    assert_int_equal(p.flags, wanted ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0);
}

static void expect_link(ze_module_handle_t first, ze_module_handle_t second)
{
    ze_module_handle_t modules[2] = {first, second};
    char text[COMPUTING_LOG_BYTES];
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result = zeModuleDynamicLink(2, modules, &log);

    computing_log(log, text);
    if (result != ZE_RESULT_SUCCESS)
        fail_msg("%s", text);
    assert_string_equal(text, "");
}

static void expect_failure(uint32_t count, ze_module_handle_t *modules, const char *part)
{
    char text[COMPUTING_LOG_BYTES];
    ze_module_build_log_handle_t log = NULL;

    assert_int_equal(zeModuleDynamicLink(count, modules, &log),
                     ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    computing_log(log, text);
    if (!strstr(text, part))
        fail_msg("the log does not say \"%s\": %s", part, text);
}

static void expect_unlinked(ze_module_handle_t module, const char *kernel)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = kernel};
    ze_kernel_handle_t none = NULL;

    assert_int_equal(zeKernelCreate(module, &desc, &none), ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
    expect_sentence("the module imports");
}

/* Runs kernels of another module than that of the device. */
static struct computing with(const struct computing *c, ze_module_handle_t module)
{
    struct computing other = *c;

    other.module = module;
    return other;
}

static uint64_t step(const struct computing *c, ze_module_handle_t module, uint64_t sum,
                     uint64_t value)
{
    const struct computing there = with(c, module);
    uint64_t *memory = computing_memory(c, ZE_MEMORY_TYPE_SHARED, sizeof(*memory), 0);

    *memory = sum;
    computing_launch(&there, "step", 1, memory, value);
    sum = *memory;
    EXPECT_OK(zeMemFree(c->context, memory));
    return sum;
}

/* What the giver stores is what the taker loads. */
static void expect_shared(const struct computing *c, ze_module_handle_t taker,
                          ze_module_handle_t giver, uint64_t value)
{
    const struct computing to = with(c, giver), from = with(c, taker);
    uint64_t *memory = computing_memory(c, ZE_MEMORY_TYPE_SHARED, GROUPS * sizeof(*memory), 0);

    computing_launch(&to, "store", GROUPS, memory, value);
    assert_int_equal(memory[GROUPS - 1], value);
    assert_int_equal(computing_read(&from, memory), value);
    EXPECT_OK(zeMemFree(c->context, memory));
}

/* The address of a variable of 8 bytes. */
static void *variable(ze_module_handle_t module, const char *name)
{
    void *address = NULL;
    size_t bytes = 0;

    EXPECT_OK(zeModuleGetGlobalPointer(module, name, &bytes, &address));
    assert_int_equal(bytes, sizeof(uint64_t));
    return address;
}

static uint64_t read_number(const struct computing *c, const void *address)
{
    uint64_t value = 0;

    EXPECT_OK(
        zeCommandListAppendMemoryCopy(c->list, &value, address, sizeof(value), NULL, 0, NULL));
    return value;
}

static void check_link(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t giver = build(&c, "giver"), taker = build(&c, "taker");
    const struct computing to = with(&c, giver);
    uint64_t *memory = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, GROUPS * sizeof(*memory), 0);
    struct computing from;
    uint64_t number = 50;
    void *address = NULL, *total;
    size_t bytes = 0;

    expect_imports(giver, false);
    expect_imports(taker, true);
    expect_unlinked(taker, "step");
    assert_int_equal(zeModuleGetGlobalPointer(taker, "own", &bytes, &address),
                     ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    /* What it did before the link counts. */
    total = variable(giver, "total");
    assert_int_equal(read_number(&c, total), 7);
    computing_launch(&to, "store", GROUPS, memory, 41);

    expect_link(taker, giver);
    expect_imports(taker, true);
    assert_ptr_equal(variable(giver, "total"), total);
    assert_int_equal(read_number(&c, variable(taker, "own")), 5);
    assert_int_equal(step(&c, taker, 4, 2), 14);
    from = with(&c, taker);
    assert_int_equal(computing_read(&from, memory), 41);
    if (bed_is_real()) {
        assert_int_equal(read_number(&c, total), 41);
        EXPECT_OK(
            zeCommandListAppendMemoryCopy(c.list, total, &number, sizeof(number), NULL, 0, NULL));
        assert_int_equal(computing_read(&from, memory), 50);
    }
    expect_shared(&c, taker, giver, 43);
    /* A second link changes nothing. */
    expect_link(taker, giver);
    expect_shared(&c, taker, giver, 44);
    EXPECT_OK(zeMemFree(c.context, memory));
    EXPECT_OK(zeModuleDestroy(giver));
    assert_int_equal(step(&c, taker, 5, 1), 16);
    EXPECT_OK(zeModuleDestroy(taker));
    computing_close(&c);
}

static void link__a_module_that_was_used__shares_its_variables(void **state)
{
    (void)state;
    bed_run_anywhere(check_link);
}

static void check_older_link(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t giver = build(&c, "giver"), taker = build(&c, "taker");

    expect_link(taker, giver);
    assert_int_equal(step(&c, taker, 4, 2), 14);
    expect_shared(&c, taker, giver, 43);
    EXPECT_OK(zeModuleDestroy(taker));
    EXPECT_OK(zeModuleDestroy(giver));
    computing_close(&c);
}

static void link__on_an_older_driver__works_too(void **state)
{
    (void)state;
    bed_run("{format: 1, driver: 12020, gpus: [{chip: ad102}]}", check_older_link);
}

static void check_circle(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t a = build(&c, "circle_a"), b = build(&c, "circle_b");
    const struct computing in_a = with(&c, a), in_b = with(&c, b);
    const ze_kernel_desc_t foreign = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                      .pKernelName = "store"};
    uint64_t *memory = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, GROUPS * sizeof(*memory), 0);
    ze_kernel_handle_t kernel = NULL;

    expect_unlinked(a, "add");
    expect_unlinked(b, "store");
    expect_link(a, b);
    memory[0] = 100;
    computing_launch(&in_a, "add", 3, memory, 7);
    assert_int_equal(memory[0], 121);
    computing_launch(&in_b, "store", GROUPS, memory, 9);
    assert_int_equal(memory[GROUPS - 1], 9);
    /* Each has its own kernels. */
    assert_int_equal(zeKernelCreate(a, &foreign, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    EXPECT_OK(zeModuleDestroy(b));
    computing_launch(&in_a, "add", 1, memory, 1);
    assert_int_equal(memory[0], 10);
    EXPECT_OK(zeMemFree(c.context, memory));
    EXPECT_OK(zeModuleDestroy(a));
    computing_close(&c);
}

static void link__modules_that_need_each_other__run(void **state)
{
    (void)state;
    bed_run_anywhere(check_circle);
}

static void check_problems(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t offer = build(&c, "offer"), giver = build(&c, "giver");
    ze_module_handle_t modules[3] = {build(&c, "taker"), offer, giver};
    ze_module_handle_t b = build(&c, "circle_b");

    expect_failure(2, modules, "no module exports: remembered\n");
    expect_failure(2, modules, "no module exports: total\n");
    expect_sentence("no module exports");
    expect_unlinked(modules[0], "step");
    /* Offered by two: which one would it be? */
    expect_failure(3, modules, "several modules export: scaled");
    expect_unlinked(modules[0], "step");
    expect_link(modules[0], giver);
    assert_int_equal(step(&c, modules[0], 4, 2), 14);

    modules[1] = b;
    modules[2] = build(&c, "circle_d");
    expect_failure(2, modules + 1, "both have a kernel store");
    expect_unlinked(b, "store");
    EXPECT_OK(zeModuleDestroy(modules[2]));
    /* What only the compiler sees. */
    modules[2] = build(&c, "circle_c");
    expect_failure(2, modules + 1, "recursion is not supported");
    expect_sentence("recursion");
    expect_unlinked(b, "store");
    EXPECT_OK(zeModuleDestroy(modules[2]));
    modules[2] = build(&c, "circle_a");
    expect_link(b, modules[2]);

    EXPECT_OK(zeModuleDestroy(modules[0]));
    EXPECT_OK(zeModuleDestroy(modules[2]));
    EXPECT_OK(zeModuleDestroy(offer));
    EXPECT_OK(zeModuleDestroy(giver));
    EXPECT_OK(zeModuleDestroy(b));
    computing_close(&c);
}

static void link__something_wrong__is_named_and_changes_nothing(void **state)
{
    (void)state;
    bed_run_anywhere(check_problems);
}

static void check_several(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t first = build(&c, "taker"), giver = build(&c, "giver");
    ze_module_handle_t second = build(&c, "taker"), third = build(&c, "taker");
    ze_module_handle_t all[3] = {third, second, giver};

    expect_link(first, giver);
    EXPECT_OK(zeModuleDynamicLink(3, all, NULL));
    expect_shared(&c, first, giver, 3);
    expect_shared(&c, second, giver, 4);
    expect_shared(&c, third, giver, 5);
    /* Each has variables of its own. */
    assert_ptr_not_equal(variable(first, "own"), variable(second, "own"));
    EXPECT_OK(zeModuleDestroy(giver));
    EXPECT_OK(zeModuleDestroy(first));
    assert_int_equal(step(&c, second, 4, 2), 14);
    EXPECT_OK(zeModuleDestroy(second));
    assert_int_equal(step(&c, third, 1, 2), 5);
    EXPECT_OK(zeModuleDestroy(third));
    computing_close(&c);
}

static void link__one_giver_for_several__outlives_them(void **state)
{
    (void)state;
    bed_run_anywhere(check_several);
}

static void check_native(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t giver = build_again(&c, build(&c, "giver"));
    ze_module_handle_t taker = build_again(&c, build(&c, "taker"));

    expect_imports(taker, true);
    expect_link(taker, giver);
    expect_shared(&c, taker, giver, 8);
    /* It is what it was before the link. */
    taker = build_again(&c, taker);
    expect_unlinked(taker, "step");
    expect_link(taker, giver);
    expect_shared(&c, taker, giver, 9);
    EXPECT_OK(zeModuleDestroy(taker));
    EXPECT_OK(zeModuleDestroy(giver));
    computing_close(&c);
}

static void link__native_binaries__works_too(void **state)
{
    (void)state;
    bed_run_anywhere(check_native);
}

static void check_devices(void)
{
    ze_device_handle_t devices[2];
    struct computing c, other;
    ze_module_handle_t modules[2];

    bed_devices(2, devices);
    c = computing_open_on(devices[0], "api.ptx");
    other = c;
    other.device = devices[1];
    modules[0] = build(&c, "taker");
    modules[1] = build(&other, "giver");
    expect_failure(2, modules, "they are of several devices");
    EXPECT_OK(zeModuleDestroy(modules[0]));
    EXPECT_OK(zeModuleDestroy(modules[1]));
    computing_close(&c);
}

static void link__modules_of_several_devices__is_refused(void **state)
{
    (void)state;
    bed_run("{format: 1, gpus: [{chip: gh100}, {chip: gh100}]}", check_devices);
}

/* What comes back from a damaged binary is a refusal, now or when it is linked. */
static void check_damaged(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_module_handle_t taker = build(&c, "taker"), giver = build(&c, "giver"), module = NULL;
    char log[COMPUTING_LOG_BYTES];
    size_t size = 0;
    uint8_t *image;

    EXPECT_OK(zeModuleGetNativeBinary(taker, &size, NULL));
    image = malloc(size);
    assert_non_null(image);
    EXPECT_OK(zeModuleGetNativeBinary(taker, &size, image));
    /* Without its end it has no source. */
    assert_int_equal(computing_build(&c, ZE_MODULE_FORMAT_NATIVE, image, size - 1, &module, log),
                     ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    /* The source is no SPIR-V. */
    memset(image + size - 200, 0, 100);
    if (computing_build(&c, ZE_MODULE_FORMAT_NATIVE, image, size, &module, log) ==
        ZE_RESULT_SUCCESS) {
        ze_module_handle_t modules[2] = {module, giver};

        assert_int_equal(zeModuleDynamicLink(2, modules, NULL),
                         ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
        EXPECT_OK(zeModuleDestroy(module));
    }
    free(image);
    EXPECT_OK(zeModuleDestroy(taker));
    EXPECT_OK(zeModuleDestroy(giver));
    computing_close(&c);
}

static void link__damaged_binary__is_refused(void **state)
{
    (void)state;
    bed_run_anywhere(check_damaged);
}

SUITE(links)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link__a_module_that_was_used__shares_its_variables),
        cmocka_unit_test(link__on_an_older_driver__works_too),
        cmocka_unit_test(link__modules_that_need_each_other__run),
        cmocka_unit_test(link__something_wrong__is_named_and_changes_nothing),
        cmocka_unit_test(link__one_giver_for_several__outlives_them),
        cmocka_unit_test(link__native_binaries__works_too),
        cmocka_unit_test(link__modules_of_several_devices__is_refused),
        cmocka_unit_test(link__damaged_binary__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
