/* Modules that use each other: links, their symbols, and calls by address. */
#include <stdio.h>

#include "rig.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* ---------------------------------------------------------------- links */

static void expect_imports(ze_module_handle_t module, bool wanted)
{
    ze_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};

    assert_success(zeModuleGetProperties(module, &p));
    assert_int_equal(p.flags, wanted ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0);
}

static void expect_use(const struct rig *rig, ze_module_handle_t module, int variable)
{
    ze_kernel_handle_t kernel = rig_kernel(module, "use_imports");
    int32_t *out = rig_memory(rig, 64 * sizeof(int32_t));

    rig_set(kernel, 0, out);
    rig_run(rig, kernel, 4, 16);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], (i + 1) * 1000 + 101 * variable);
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 6.12. */
static void link__modules_that_need_each_other__run(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t modules[2] = {rig_module(rig, "imports", NULL),
                                     rig_module(rig, "exports", NULL)};
    const ze_kernel_desc_t desc = {.pKernelName = "use_imports"};
    ze_module_build_log_handle_t log = NULL;
    ze_kernel_handle_t kernel = NULL;
    size_t size = 0;
    void *address = NULL;
    char *text;

    expect_imports(modules[0], true);
    expect_imports(modules[1], true);
    assert_result(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                  zeKernelCreate(modules[0], &desc, &kernel));
    assert_non_null(strstr(rig_sentence(), "imported_"));
    assert_success(zeModuleDynamicLink(2, modules, &log));
    text = rig_log(log);
    assert_string_equal(text, "");
    free(text);
    expect_imports(modules[0], true);
    expect_use(rig, modules[0], 7);
    /* The variable is one for both. */
    assert_success(zeModuleGetGlobalPointer(modules[1], "imported_variable", &size, &address));
    assert_int_equal(size, 4);
    *(int32_t *)address = 11;
    expect_use(rig, modules[0], 11);
    /* A second link changes nothing. */
    assert_success(zeModuleDynamicLink(2, modules, NULL));
    /* In this order the code of the first is still needed by the second, and the reverse. */
    assert_success(zeModuleDestroy(modules[1]));
    expect_use(rig, modules[0], 11);
    assert_success(zeModuleDestroy(modules[0]));
}

/* Rule 6.13. */
static void link__something_missing__is_named_and_changes_nothing(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t modules[3] = {rig_module(rig, "imports", NULL),
                                     rig_module(rig, "exports_too", NULL),
                                     rig_module(rig, "exports", NULL)};
    const ze_kernel_desc_t desc = {.pKernelName = "use_imports"};
    ze_module_build_log_handle_t log = NULL;
    ze_kernel_handle_t kernel = NULL;
    char *text;

    assert_result(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, zeModuleDynamicLink(2, modules, &log));
    text = rig_log(log);
    assert_non_null(strstr(text, "imported_variable"));
    assert_null(strstr(text, "imported_function"));
    free(text);
    assert_non_null(strstr(rig_sentence(), "imported_variable"));
    assert_result(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                  zeKernelCreate(modules[0], &desc, &kernel));
    /* Offered by two: which one would it be? */
    assert_result(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, zeModuleDynamicLink(3, modules, &log));
    text = rig_log(log);
    assert_non_null(strstr(text, "several modules export: imported_function"));
    free(text);
    modules[1] = modules[2];
    assert_success(zeModuleDynamicLink(2, modules, NULL));
    expect_use(rig, modules[0], 7);
    assert_success(zeModuleDestroy(modules[0]));
    assert_success(zeModuleDestroy(modules[2]));
}

/* Rule 6.14. */
static void link__one_giver_for_several__outlives_them(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t first = rig_module(rig, "imports", NULL);
    ze_module_handle_t giver = rig_module(rig, "exports", NULL);
    ze_module_handle_t second = rig_module(rig, "imports", NULL);
    ze_module_handle_t pair[2] = {first, giver};

    assert_success(zeModuleDynamicLink(2, pair, NULL));
    pair[0] = second;
    assert_success(zeModuleDynamicLink(2, pair, NULL));
    assert_success(zeModuleDestroy(giver));
    expect_use(rig, second, 7);
    assert_success(zeModuleDestroy(first));
    expect_use(rig, second, 7);
    assert_success(zeModuleDestroy(second));
}

/* Rule 6.19. */
static void link__native_images_of_compiled_modules__works_too(void **state)
{
    static const char *const names[2] = {"imports", "exports"};
    const struct rig *rig = *state;
    ze_module_handle_t modules[2];

    for (int i = 0; i < 2; i++) {
        ze_module_handle_t built = rig_module(rig, names[i], NULL);
        ze_module_desc_t desc = {.format = ZE_MODULE_FORMAT_NATIVE};
        size_t size = 0;
        uint8_t *image;

        assert_success(zeModuleGetNativeBinary(built, &size, NULL));
        image = malloc(size);
        assert_success(zeModuleGetNativeBinary(built, &size, image));
        assert_success(zeModuleDestroy(built));
        desc.inputSize = size;
        desc.pInputModule = image;
        assert_success(rig_try(rig, &desc, &modules[i], NULL));
        free(image);
        expect_imports(modules[i], true);
    }
    assert_success(zeModuleDynamicLink(2, modules, NULL));
    expect_use(rig, modules[0], 7);
    assert_success(zeModuleDestroy(modules[0]));
    assert_success(zeModuleDestroy(modules[1]));
}

static void inspect__imports_and_exports__are_listed(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t modules[2] = {rig_module(rig, "imports", NULL),
                                     rig_module(rig, "exports_too", NULL)};
    ze_linkage_inspection_ext_desc_t desc = {.stype =
                                                 ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC};
    ze_module_build_log_handle_t log = NULL;
    char *text, *exports;

    assert_success(zeModuleInspectLinkageExt(&desc, 2, modules, &log));
    text = rig_log(log);
    exports = strstr(text, "exports:\n");
    assert_non_null(exports);
    /* Kernels may be among them. */
    assert_non_null(strstr(exports, "  given_back\n"));
    assert_non_null(strstr(exports, "  imported_function\n"));
    *exports = '\0';
    assert_string_equal(text, "imports:\n  imported_function\n  imported_variable\n"
                              "unresolvable imports:\n  imported_variable\n");
    free(text);
    desc.flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS;
    assert_success(zeModuleInspectLinkageExt(&desc, 1, modules, &log));
    text = rig_log(log);
    assert_string_equal(text, "unresolvable imports:\n  imported_function\n  imported_variable\n");
    free(text);
    desc.flags = 8;
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeModuleInspectLinkageExt(&desc, 1, modules, &log));
    assert_success(zeModuleDestroy(modules[0]));
    assert_success(zeModuleDestroy(modules[1]));
}

/* ---------------------------------------------------------------- symbols */

/* Rule 6.18. */
static void globals__of_the_source__are_shared_with_the_host(void **state)
{
    static const int32_t primes[5] = {2, 3, 5, 7, 11};
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "variables");
    float *out = rig_memory(rig, 4 * sizeof(float));
    void *counter = NULL, *table = NULL, *constant = NULL;
    size_t size = 0;

    assert_success(zeModuleGetGlobalPointer(module, "counter", &size, &counter));
    assert_int_equal(size, 4);
    assert_int_equal(*(int32_t *)counter, 5);
    assert_success(zeModuleGetGlobalPointer(module, "table", &size, &table));
    assert_int_equal(size, 16);
    assert_success(zeModuleGetGlobalPointer(module, "primes", &size, &constant));
    assert_int_equal(size, sizeof(primes));
    assert_memory_equal(constant, primes, sizeof(primes));
    ((float *)table)[2] = -30;
    rig_set(kernel, 0, out);
    rig_run(rig, kernel, 1, 1);
    assert_int_equal(*(int32_t *)counter, 7);
    rig_run(rig, kernel, 4, 1);
    assert_cmp(out[0], ==, 1);
    assert_cmp(out[1], ==, 2);
    assert_cmp(out[2], ==, -30);
    assert_cmp(out[3], ==, 4);
    /* Neither functions, nor kernels, nor what the module has of the library. */
    assert_result(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
                  zeModuleGetGlobalPointer(module, "twice", &size, &table));
    assert_result(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
                  zeModuleGetGlobalPointer(module, "", &size, &table));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

static ze_module_handle_t native_module(const struct rig *rig)
{
    ze_module_desc_t desc = {.format = ZE_MODULE_FORMAT_NATIVE};
    FILE *file = fopen(CALLBACK_KERNELS, "rb");
    ze_module_handle_t module = NULL;
    uint8_t *image = malloc(1u << 20);

    assert_non_null(file);
    desc.pInputModule = image;
    desc.inputSize = fread(image, 1, 1u << 20, file);
    fclose(file);
    assert_success(rig_try(rig, &desc, &module, NULL));
    free(image);
    return module;
}

/* Rule 6.17. */
static void functions__by_address__are_called_across_modules(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t spirv = rig_module(rig, "traps", NULL);
    ze_module_handle_t native = native_module(rig);
    ze_kernel_handle_t kernel = rig_kernel(native, "call_it");
    int32_t *out = rig_memory(rig, 512 * sizeof(int32_t));
    void *twice = NULL, *negate = NULL, *none = &twice;

    assert_success(zeModuleGetFunctionPointer(spirv, "twice", &twice));
    assert_success(zeModuleGetFunctionPointer(native, "negate", &negate));
    assert_result(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME,
                  zeModuleGetFunctionPointer(spirv, "thrice", &none));
    assert_result(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME,
                  zeModuleGetFunctionPointer(spirv, "counter", &none));
    assert_ptr_equal(none, &twice);
    rig_set(kernel, 0, out);
    rig_set(kernel, 1, twice);
    rig_run(rig, kernel, 4, 128);
    for (int i = 0; i < 512; i++)
        assert_int_equal(out[i], 2 * i + 2);
    rig_set(kernel, 1, negate);
    rig_run(rig, kernel, 1, 8);
    assert_int_equal(out[7], -7);
    assert_success(zeKernelDestroy(kernel));

    kernel = rig_kernel(native, "call_in_barrier");
    memset(out, 0, 512 * sizeof(int32_t));
    rig_set(kernel, 0, out);
    rig_set(kernel, 1, twice);
    rig_set(kernel, 2, negate);
    rig_run(rig, kernel, 4, 128);
    for (int i = 0; i < 512; i++)
        assert_int_equal(out[i], i % 2 ? 20 * (2 * i + 2) + 2 * 190 : -20 * i - 190);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(native));
    assert_success(zeModuleDestroy(spirv));
}

/* A function of a module that is gone: the device faults, the process does not. Rule 6.17. */
static void functions__of_a_destroyed_module__are_a_fault(void **state)
{
    const struct rig *rig = *state;
    const ze_command_queue_desc_t desc = {.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_group_count_t groups = {1, 1, 1};
    ze_module_handle_t spirv = rig_module(rig, "traps", NULL);
    ze_module_handle_t native = native_module(rig);
    ze_kernel_handle_t kernel = rig_kernel(native, "call_it");
    int32_t *out = rig_memory(rig, sizeof(int32_t));
    ze_command_list_handle_t list = NULL;
    void *twice = NULL;

    assert_success(zeModuleGetFunctionPointer(spirv, "twice", &twice));
    assert_success(zeModuleDestroy(spirv));
    rig_set(kernel, 0, out);
    rig_set(kernel, 1, twice);
    assert_success(zeCommandListCreateImmediate(rig->context, rig->device, &desc, &list));
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_non_null(strstr(rig_sentence(), "jump to an address without code"));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(native));
}

SUITE(links)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link__modules_that_need_each_other__run),
        cmocka_unit_test(link__something_missing__is_named_and_changes_nothing),
        cmocka_unit_test(link__one_giver_for_several__outlives_them),
        cmocka_unit_test(link__native_images_of_compiled_modules__works_too),
        cmocka_unit_test(inspect__imports_and_exports__are_listed),
        cmocka_unit_test(globals__of_the_source__are_shared_with_the_host),
        cmocka_unit_test(functions__by_address__are_called_across_modules),
        cmocka_unit_test(functions__of_a_destroyed_module__are_a_fault),
    };

    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
