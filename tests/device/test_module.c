/* Modules and build logs. */
#include "harness.h"
#include "tests/support/suite.h"

static ze_result_t create(const struct harness *h, ze_module_format_t format, const char *image,
                          size_t bytes, ze_module_handle_t *out_module,
                          ze_module_build_log_handle_t *out_log)
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = format,
                                   .inputSize = bytes,
                                   .pInputModule = (const uint8_t *)image,
                                   .pBuildFlags = ""};

    return zeModuleCreate(h->context, h->device, &desc, out_module, out_log);
}

static void read_log(ze_module_build_log_handle_t log, char *text, size_t room)
{
    size_t size = 0;

    assert_success(zeModuleBuildLogGetString(log, &size, NULL));
    assert_in_range(size, 1, room);
    assert_success(zeModuleBuildLogGetString(log, &size, text));
    assert_int_equal(strlen(text) + 1, size);
    if (size > 1) {
        size_t small = size - 1;

        assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zeModuleBuildLogGetString(log, &small, text));
        assert_int_equal(small, size);
    }
    assert_success(zeModuleBuildLogDestroy(log));
}

static void native__good_image__has_names_image_and_globals(void **state)
{
    const struct harness *h = *state;
    static const char image[] = "FAKE add hold";
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t log = NULL;
    ze_module_properties_t properties = {.flags = 7};
    const char *names[3] = {NULL, NULL, NULL};
    uint8_t copy[64];
    char text[64];
    uint32_t count = 0;
    size_t size = 0;
    void *address = NULL;

    assert_success(create(h, ZE_MODULE_FORMAT_NATIVE, image, sizeof(image) - 1, &module, &log));
    read_log(log, text, sizeof(text));
    assert_string_equal(text, "");
    assert_success(zeModuleGetKernelNames(module, &count, NULL));
    assert_int_equal(count, 2);
    count = 3;
    assert_success(zeModuleGetKernelNames(module, &count, names));
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "add");
    assert_string_equal(names[1], "hold");
    assert_success(zeModuleGetNativeBinary(module, &size, NULL));
    assert_int_equal(size, sizeof(image) - 1);
    size = sizeof(copy);
    assert_success(zeModuleGetNativeBinary(module, &size, copy));
    assert_int_equal(size, sizeof(image) - 1);
    assert_memory_equal(copy, image, size);
    size = 2;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zeModuleGetNativeBinary(module, &size, copy));
    assert_success(zeModuleGetGlobalPointer(module, "image", &size, &address));
    assert_int_equal(size, sizeof(image) - 1);
    assert_memory_equal(address, image, size);
    assert_success(zeModuleGetGlobalPointer(module, "image", NULL, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
                  zeModuleGetGlobalPointer(module, "imag", &size, &address));
    assert_success(zeModuleGetProperties(module, &properties));
    assert_int_equal(properties.flags, 0);
    assert_success(zeModuleDestroy(module));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeModuleDestroy(module));
    assert_int_equal(h->control->live_modules(), 1);
}

static void native__bad_image__fails_with_the_log_of_the_plugin(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t log = NULL;
    char text[64];

    assert_result(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
                  create(h, ZE_MODULE_FORMAT_NATIVE, "LAKE", 4, &module, &log));
    assert_non_null(strstr(harness_sentence(h), "not a FAKE image"));
    assert_null(module);
    read_log(log, text, sizeof(text));
    assert_string_equal(text, "the image does not start with FAKE");
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  create(h, ZE_MODULE_FORMAT_NATIVE, "FAKE", 0, &module, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  create(h, (ze_module_format_t)9, "FAKE", 4, &module, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  create(h, ZE_MODULE_FORMAT_NATIVE, NULL, 4, &module, NULL));
}

static void log__of_a_refused_descriptor__has_the_sentence(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t log = NULL;
    char text[128];

    skip_in(HARNESS_VALIDATION, "the layer refuses it, and has no logs");
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  create(h, ZE_MODULE_FORMAT_NATIVE, "FAKE", 0, &module, &log));
    read_log(log, text, sizeof(text));
    assert_non_null(strstr(text, "0 bytes"));
}

/* Rule 6.4. */
static void spirv__without_a_compiler__says_what_is_missing(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t log = NULL;
    char text[512];

    assert_result(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                  create(h, ZE_MODULE_FORMAT_IL_SPIRV, "\x03\x02\x23\x07", 4, &module, &log));
    assert_non_null(strstr(harness_sentence(h), "SPIR-V"));
    read_log(log, text, sizeof(text));
    assert_non_null(strstr(text, "compiler"));
    assert_non_null(strstr(text, "ZE_MODULE_FORMAT_NATIVE"));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeModuleBuildLogDestroy(log));
}

static void link__of_native_modules__has_nothing_to_do(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t modules[2] = {h->module, h->module};
    ze_module_build_log_handle_t log = NULL;
    char text[16];

    assert_success(zeModuleDynamicLink(2, modules, NULL));
    assert_success(zeModuleDynamicLink(1, modules, &log));
    read_log(log, text, sizeof(text));
    assert_string_equal(text, "");
    modules[1] = (ze_module_handle_t)h->context;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeModuleDynamicLink(2, modules, NULL));
}

static ze_module_handle_t create_from(const struct harness *h, const char *image)
{
    ze_module_handle_t module = NULL;

    assert_success(create(h, ZE_MODULE_FORMAT_NATIVE, image, strlen(image), &module, NULL));
    return module;
}

/* Rule 6.12. */
static void link__missing_name__is_in_the_log_and_kernels_stay_refused(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t modules[2] = {create_from(h, "FAKE add -x -y"), create_from(h, "FAKE +x")};
    const ze_kernel_desc_t desc = {.pKernelName = "add"};
    ze_module_properties_t properties = {0};
    ze_module_build_log_handle_t log = NULL;
    ze_kernel_handle_t kernel = NULL;
    char text[64];

    assert_success(zeModuleGetProperties(modules[0], &properties));
    assert_int_equal(properties.flags, ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    assert_success(zeModuleGetProperties(modules[1], &properties));
    assert_int_equal(properties.flags, 0);
    assert_result(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                  zeKernelCreate(modules[0], &desc, &kernel));
    assert_non_null(strstr(harness_sentence(h), "\"x\""));
    assert_result(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, zeModuleDynamicLink(2, modules, &log));
    read_log(log, text, sizeof(text));
    assert_string_equal(text, "nobody has y");
    assert_result(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                  zeKernelCreate(modules[0], &desc, &kernel));
    assert_success(zeModuleDestroy(modules[0]));
    assert_success(zeModuleDestroy(modules[1]));
    assert_int_equal(h->control->live_modules(), 1);
}

/* Who runs whose code is not known, so what was linked lives as long as any of it. Rule 6.14. */
static void link__destroyed_in_any_order__goes_together(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t taker = create_from(h, "FAKE add -x +y");
    ze_module_handle_t giver = create_from(h, "FAKE +x -y");
    ze_module_handle_t late = create_from(h, "FAKE hold -x");
    ze_module_handle_t alone = create_from(h, "FAKE hold +x");
    ze_module_handle_t pair[2] = {taker, giver};
    const ze_kernel_desc_t desc = {.pKernelName = "add"};
    ze_kernel_handle_t kernel = NULL;

    assert_success(zeModuleDynamicLink(2, pair, NULL));
    assert_success(zeKernelCreate(taker, &desc, &kernel));
    assert_success(zeModuleDestroy(alone));
    assert_int_equal(h->control->live_modules(), 4);
    assert_success(zeModuleDestroy(giver));
    assert_int_equal(h->control->live_modules(), 4);
    /* What the destroyed one exports is out of reach, though it is still there. */
    pair[1] = late;
    assert_result(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, zeModuleDynamicLink(2, pair, NULL));
    assert_success(zeKernelDestroy(kernel));
    giver = create_from(h, "FAKE +x");
    pair[0] = giver;
    assert_success(zeModuleDynamicLink(2, pair, NULL));
    /* A link between members of two groups makes one of them. */
    ze_module_handle_t all[3] = {taker, giver, create_from(h, "FAKE -y -x")};
    assert_success(zeModuleDynamicLink(3, all, NULL));
    assert_int_equal(h->control->live_modules(), 6);
    assert_success(zeModuleDestroy(taker));
    assert_success(zeModuleDestroy(giver));
    assert_success(zeModuleDestroy(late));
    assert_int_equal(h->control->live_modules(), 6);
    assert_success(zeModuleDestroy(all[2]));
    assert_int_equal(h->control->live_modules(), 1);
}

/* Rule 6.15. */
static void link__modules_of_two_contexts__is_invalid(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct harness other = *h;
    ze_module_handle_t modules[2] = {create_from(h, "FAKE -x"), NULL};

    assert_success(zeContextCreate(h->driver, &desc, &other.context));
    modules[1] = create_from(&other, "FAKE +x");
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeModuleDynamicLink(2, modules, NULL));
    assert_success(zeModuleDestroy(modules[0]));
    assert_success(zeModuleDestroy(modules[1]));
    assert_success(zeContextDestroy(other.context));
}

/* Rule 6.16. */
static void inspect__any_flags__lists_what_was_asked_for(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t modules[2] = {create_from(h, "FAKE -x -y +z"), create_from(h, "FAKE +x")};
    ze_linkage_inspection_ext_desc_t desc = {0};
    ze_module_build_log_handle_t log = NULL;
    char text[128];

    assert_success(zeModuleInspectLinkageExt(&desc, 2, modules, &log));
    read_log(log, text, sizeof(text));
    assert_string_equal(text, "imports:\n  x\n  y\nunresolvable imports:\n  y\n"
                              "exports:\n  z\n  x\n");
    desc.flags = ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS;
    assert_success(zeModuleInspectLinkageExt(&desc, 1, modules + 1, &log));
    read_log(log, text, sizeof(text));
    assert_string_equal(text, "exports:\n  x\n");
    assert_success(zeModuleDestroy(modules[0]));
    assert_success(zeModuleDestroy(modules[1]));
}

static void function_pointer__plugin_without_functions__is_unsupported(void **state)
{
    const struct harness *h = *state;
    void *function = NULL;

    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeModuleGetFunctionPointer(h->module, "add", &function));
    assert_null(function);
}

/* Rule 7.2. */
static void destroy__with_kernels__is_refused_until_they_are_gone(void **state)
{
    const struct harness *h = *state;
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "hold"};

    assert_success(create(h, ZE_MODULE_FORMAT_NATIVE, "FAKE hold", 9, &module, NULL));
    assert_success(zeKernelCreate(module, &desc, &kernel));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeModuleDestroy(module));
    desc.pKernelName = "absent";
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, zeKernelCreate(module, &desc, &kernel));
    assert_non_null(strstr(harness_sentence(h), "absent"));
    desc.pKernelName = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeKernelCreate(module, &desc, &kernel));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

SUITE(module)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native__good_image__has_names_image_and_globals),
        cmocka_unit_test(native__bad_image__fails_with_the_log_of_the_plugin),
        cmocka_unit_test(log__of_a_refused_descriptor__has_the_sentence),
        cmocka_unit_test(spirv__without_a_compiler__says_what_is_missing),
        cmocka_unit_test(link__of_native_modules__has_nothing_to_do),
        cmocka_unit_test(link__missing_name__is_in_the_log_and_kernels_stay_refused),
        cmocka_unit_test(link__destroyed_in_any_order__goes_together),
        cmocka_unit_test(link__modules_of_two_contexts__is_invalid),
        cmocka_unit_test(inspect__any_flags__lists_what_was_asked_for),
        cmocka_unit_test(function_pointer__plugin_without_functions__is_unsupported),
        cmocka_unit_test(destroy__with_kernels__is_refused_until_they_are_gone),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
