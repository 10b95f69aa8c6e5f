/*
 * Modules in SPIR-V: zeta-nv-cc makes PTX of them, which the fake CUDA executes where it knows the
 * kernels. What is shared with the virtual GPU (requests, the process, the cache) is tested there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/nvidia/bed.h"
#include "tests/nvidia/computing.h"

enum { GROUPS = 5, ITEMS = 4 };

/* A device with a module of the kernels, in SPIR-V. */
static struct computing open_spirv(void)
{
    struct computing c = computing_open("api.ptx");
    char log[COMPUTING_LOG_BYTES];
    size_t size;
    uint8_t *image = computing_read_file(SPIRV_KERNELS, &size);

    EXPECT_OK(zeModuleDestroy(c.module));
    if (computing_build(&c, ZE_MODULE_FORMAT_IL_SPIRV, image, size, &c.module, log) !=
        ZE_RESULT_SUCCESS)
        fail_msg("%s", log);
    free(image);
    return c;
}

static void check_properties(const struct computing *c)
{
    ze_kernel_properties_t store = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES}, parts = store;
    ze_kernel_handle_t kernel = computing_kernel(c, "store");
    char attributes[128] = "", *text = attributes;
    uint32_t size = sizeof(attributes);

    EXPECT_OK(zeKernelGetProperties(kernel, &store));
    assert_int_equal(store.numKernelArgs, 2);
    assert_int_equal(store.requiredGroupSizeX, 0);
    assert_int_equal(store.maxSubgroupSize, 32);
    EXPECT_OK(zeKernelDestroy(kernel));

    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "parts"};
    EXPECT_OK(zeKernelCreate(c->module, &desc, &kernel));
    EXPECT_OK(zeKernelGetProperties(kernel, &parts));
    assert_int_equal(parts.numKernelArgs, 3);
    assert_int_equal(parts.requiredGroupSizeX, ITEMS);
    assert_int_equal(parts.requiredGroupSizeY, 1);
    assert_int_equal(parts.requiredGroupSizeZ, 1);
    EXPECT_OK(zeKernelGetSourceAttributes(kernel, &size, &text));
    assert_string_equal(attributes, "reqd_work_group_size(4,1,1)");
    EXPECT_OK(zeKernelDestroy(kernel));
}

/* Runs both kernels. */
static void check_results(const struct computing *c)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "parts"};
    const ze_group_count_t count = {GROUPS, 1, 1};
    uint64_t *memory = computing_memory(c, ZE_MEMORY_TYPE_SHARED, 4096, 0);
    ze_kernel_handle_t kernel = NULL;

    computing_launch(c, "store", GROUPS, memory, 77);
    for (int i = 0; i < GROUPS; i++)
        assert_int_equal(memory[i], 77);
    EXPECT_OK(zeKernelCreate(c->module, &desc, &kernel));
    EXPECT_OK(zeKernelSetGroupSize(kernel, ITEMS, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, 40 * sizeof(uint64_t), NULL));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 2, ITEMS * sizeof(uint64_t), NULL));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c->list, kernel, &count, NULL, 0, NULL));
    /* 320 bytes, up to the next place where any type may begin. */
    for (int i = 0; i < GROUPS; i++)
        assert_int_equal(memory[i], 384);
    EXPECT_OK(zeKernelDestroy(kernel));
    EXPECT_OK(zeMemFree(c->context, memory));
}

static void check_module(void)
{
    const struct computing c = open_spirv();
    ze_device_module_properties_t properties = {.stype =
                                                    ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};

    EXPECT_OK(zeDeviceGetModuleProperties(c.device, &properties));
    assert_int_equal(properties.spirvVersionSupported, ZE_MAKE_VERSION(1, 4));
    check_properties(&c);
    check_results(&c);
    computing_close(&c);
}

/* Rules 6.1, 28.12. */
static void module__in_spirv__computes_and_is_described(void **state)
{
    (void)state;
    bed_run_anywhere(check_module);
}

/* Drivers before CUDA 12.4 do not tell the parameters. */
static void module__on_an_older_driver__computes_and_is_described(void **state)
{
    (void)state;
    bed_run("{format: 1, driver: 12020, gpus: [{chip: ad102}]}", check_module);
}

/* Appends a launch of a kernel with one argument. */
static void launch_at(const struct computing *c, const char *name, const uint32_t offset[3],
                      uint32_t groups, void *memory)
{
    ze_kernel_handle_t kernel = computing_kernel(c, name);
    const ze_group_count_t count = {groups, 1, 1};

    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory));
    EXPECT_OK(zeKernelSetGlobalOffsetExp(kernel, offset[0], offset[1], offset[2]));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c->list, kernel, &count, NULL, 0, NULL));
    EXPECT_OK(zeKernelDestroy(kernel));
}

static void check_offsets(void)
{
    static const uint32_t none[3] = {0}, some[3] = {3, 0, 0}, all[3] = {7, UINT32_MAX, 9};
    const struct computing c = open_spirv();
    uint32_t *ids = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 4096, 0);
    uint64_t *origin = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 4096, 0);

    memset(ids, 0, 4096);
    launch_at(&c, "ids", some, GROUPS, ids);
    for (uint32_t i = 0; i < 2 * GROUPS; i++)
        assert_int_equal(ids[i], i >= 3 && i < 3 + GROUPS ? i : 0);
    launch_at(&c, "origin", all, 1, origin);
    for (int i = 0; i < 3; i++)
        assert_int_equal(origin[i], all[i]);
    launch_at(&c, "origin", none, 1, origin);
    for (int i = 0; i < 3; i++)
        assert_int_equal(origin[i], 0);
    EXPECT_OK(zeMemFree(c.context, ids));
    EXPECT_OK(zeMemFree(c.context, origin));
    computing_close(&c);
}

static void offset__of_a_launch__moves_the_ids(void **state)
{
    (void)state;
    bed_run_anywhere(check_offsets);
}

/* Modules that zeta-nv-cc did not make have no place for it. */
static void check_native_offset(void)
{
    const struct computing c = computing_open("api.ptx");
    ze_kernel_handle_t kernel = computing_kernel(&c, "ids");

    EXPECT_OK(zeKernelSetGlobalOffsetExp(kernel, 0, 0, 0));
    assert_int_equal(zeKernelSetGlobalOffsetExp(kernel, 0, 1, 0),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    expect_sentence("launches of kernel ids on device");
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

/* Rule 6.32. */
static void offset__of_a_native_kernel__unsupported(void **state)
{
    (void)state;
    bed_run_anywhere(check_native_offset);
}

static void check_native(void)
{
    struct computing c = open_spirv();
    char log[COMPUTING_LOG_BYTES];
    size_t size = 0;
    uint8_t *image;

    EXPECT_OK(zeModuleGetNativeBinary(c.module, &size, NULL));
    image = malloc(size);
    assert_non_null(image);
    EXPECT_OK(zeModuleGetNativeBinary(c.module, &size, image));
    EXPECT_OK(zeModuleDestroy(c.module));
    assert_int_equal(computing_build(&c, ZE_MODULE_FORMAT_NATIVE, image, size, &c.module, log),
                     ZE_RESULT_SUCCESS);
    check_properties(&c);
    check_results(&c);
    free(image);
    computing_close(&c);
}

/* Rules 6.19, 28.12. */
static void native_binary__of_spirv__is_the_same_module(void **state)
{
    (void)state;
    bed_run_anywhere(check_native);
}

static void expect_failure(const struct computing *c, const uint8_t *image, size_t size,
                           const char *part)
{
    ze_module_handle_t module = NULL;
    char log[COMPUTING_LOG_BYTES];

    assert_int_equal(computing_build(c, ZE_MODULE_FORMAT_IL_SPIRV, image, size, &module, log),
                     ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    if (!strstr(log, part))
        fail_msg("the log does not say \"%s\": %s", part, log);
}

static void check_broken(void)
{
    static const uint8_t text[] = "no module at all, but some text";
    const struct computing c = computing_open("api.ptx");
    size_t size;
    uint8_t *image = computing_read_file(SPIRV_KERNELS, &size);

    expect_failure(&c, text, sizeof(text), "SPIR-V");
    expect_failure(&c, image, 4, "SPIR-V");
    expect_failure(&c, image, size - 6, "SPIR-V");
    image[22] = image[23] = 0xff; /* words of the first instruction: more than there are */
    expect_failure(&c, image, size, "broken SPIR-V");
    free(image);
    computing_close(&c);
}

static void module__that_is_broken__is_refused_with_a_reason(void **state)
{
    (void)state;
    bed_run_anywhere(check_broken);
}

/* A program in place of the compiler. */
static void set_compiler(const char *script)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/compiler", cuda_folder(bed_machine));
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(script, file);
    (void)fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    bed_set("compiler", path);
}

static void check_results_of_native(const struct computing *c)
{
    void *memory = computing_memory(c, ZE_MEMORY_TYPE_DEVICE, 8, 8);

    computing_launch(c, "store", 1, memory, 12345);
    assert_int_equal(computing_read(c, memory), 12345);
}

static void expect_no_build(const char *part)
{
    struct computing c;
    size_t size;
    uint8_t *image = computing_read_file(SPIRV_KERNELS, &size);

    bed_set("cache_dir", "off");
    bed_set("compiler_timeout_s", "1");
    c = computing_open("api.ptx");
    expect_failure(&c, image, size, part);
    /* Native modules do not need it. */
    check_results_of_native(&c);
    free(image);
    computing_close(&c);
}

static void check_missing(void)
{
    bed_set("compiler", "/nowhere/zeta-nv-cc");
    expect_no_build("Install the package zeta-nv-cc");
}

static void check_killed(void)
{
    set_compiler("#!/bin/sh\nkill -9 $$\n");
    expect_no_build("ended by signal 9");
}

static void check_hanging(void)
{
    set_compiler("#!/bin/sh\nexec sleep 1000\n");
    expect_no_build("it took too long and was killed");
}

/* Nothing of the application, which has the driver open, shows in the process. */
static void check_surroundings(void)
{
    /* The shell has its script open, and reads a pipe. */
    set_compiler(
        "#!/bin/sh\n"
        "names=$(env | cut -d= -f1 | grep -vE '^(PWD|OLDPWD|SHLVL|_)$' | sort | tr '\\n' ' ')\n"
        "files=$(readlink /proc/$$/fd/* | grep -vE '^(pipe|socket):|/compiler$|^/proc/')\n"
        "echo \"[$names] [$files] [$PWD]\" >&2\n"
        "exit 1\n");
    assert_int_equal(setenv("ZETA_TEST_SECRET", "1", 1), 0);
    expect_no_build("[LC_ALL PATH TMPDIR ] [] [/]");
}

static void check_cache(void)
{
    char path[4096], command[8192], text[256];
    struct computing c;
    ze_module_handle_t module = NULL;
    char log[COMPUTING_LOG_BYTES];
    size_t size;
    uint8_t *image = computing_read_file(SPIRV_KERNELS, &size);

    (void)snprintf(path, sizeof(path), "%s/cache", cuda_folder(bed_machine));
    bed_set("cache_dir", path);
    c = computing_open("api.ptx");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(computing_build(&c, ZE_MODULE_FORMAT_IL_SPIRV, image, size, &module, log),
                         ZE_RESULT_SUCCESS);
        EXPECT_OK(zeModuleDestroy(module));
        /* One file, whole again after each damage. */
        (void)snprintf(command, sizeof(command),
                       "cd '%s' && [ $(ls -A | wc -l) = 1 ] && f=$(ls) && sha256sum <$f >>../sums "
                       "&& [ $(sort -u ../sums | wc -l) = 1 ] && %s",
                       path,
                       i == 0   ? "truncate -s 100 $f"
                       : i == 1 ? "printf X | dd of=$f bs=1 seek=2000 conv=notrunc 2>/dev/null"
                       : i == 2 ? ": >$f"
                                : "true");
        (void)snprintf(text, sizeof(text), "round %d", i);
        if (system(command) != 0)
            fail_msg("%s: the cache is not what it was", text);
    }
    free(image);
    computing_close(&c);
}

static void compiler__its_surroundings__are_small(void **state)
{
    (void)state;
    bed_run("gh100", check_surroundings);
}

static void cache__damaged__is_made_again(void **state)
{
    (void)state;
    bed_run("gh100", check_cache);
}

static void compiler__missing__is_told_with_its_package(void **state)
{
    (void)state;
    bed_run("gh100", check_missing);
}

static void compiler__killed__is_told(void **state)
{
    (void)state;
    bed_run("gh100", check_killed);
}

static void compiler__hanging__is_killed(void **state)
{
    (void)state;
    bed_run("gh100", check_hanging);
}

SUITE(spirv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module__in_spirv__computes_and_is_described),
        cmocka_unit_test(module__on_an_older_driver__computes_and_is_described),
        cmocka_unit_test(offset__of_a_launch__moves_the_ids),
        cmocka_unit_test(offset__of_a_native_kernel__unsupported),
        cmocka_unit_test(native_binary__of_spirv__is_the_same_module),
        cmocka_unit_test(module__that_is_broken__is_refused_with_a_reason),
        cmocka_unit_test(compiler__missing__is_told_with_its_package),
        cmocka_unit_test(compiler__killed__is_told),
        cmocka_unit_test(compiler__hanging__is_killed),
        cmocka_unit_test(compiler__its_surroundings__are_small),
        cmocka_unit_test(cache__damaged__is_made_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
