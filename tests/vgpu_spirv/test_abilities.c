/* What the properties of the device say that kernels can do, and kernels that do it. */
#include <stdio.h>
#include <unistd.h>

#include "rig.h"
#include "tests/nvidia/printed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static ze_device_module_properties_t module_properties(const struct rig *rig, void *next)
{
    ze_device_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                                       .pNext = next};

    assert_success(zeDeviceGetModuleProperties(rig->device, &p));
    return p;
}

/* Rule 6.26. */
static void arguments__as_many_bytes_as_reported__arrive(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "abilities", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "large_argument");
    int *out = rig_memory(rig, 4 * sizeof(int));
    int values[1022];

    assert_int_equal(module_properties(rig, NULL).maxArgumentsSize, sizeof(values) + sizeof(out));
    for (int i = 0; i < 1022; i++)
        values[i] = 3 * i;
    rig_set(kernel, 0, values);
    rig_set(kernel, 1, out);
    rig_run(rig, kernel, 1, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 3 * (1021 - i));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Rule 6.26. */
static void halves__reported__are_computed_with(void **state)
{
    /* 1, -0.5, the largest, the smallest */
    static const uint16_t before[4] = {0x3c00, 0xb800, 0x7bff, 0x0001};
    /* 3, 0, infinity, 1 */
    static const uint16_t after[4] = {0x4200, 0x0000, 0x7c00, 0x3c00};
    const struct rig *rig = *state;
    const ze_device_module_properties_t p = module_properties(rig, NULL);
    ze_device_vector_width_properties_ext_t width = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_VECTOR_WIDTH_PROPERTIES_EXT};
    ze_module_handle_t module = rig_module(rig, "abilities", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "halves");
    uint16_t *values = rig_memory(rig, sizeof(before));
    uint32_t one = 1;

    assert_true(p.flags & ZE_DEVICE_MODULE_FLAG_FP16);
    assert_int_equal(p.fp16flags, p.fp32flags | ZE_DEVICE_FP_FLAG_SOFT_FLOAT);
    assert_success(zeDeviceGetVectorWidthPropertiesExt(rig->device, &one, &width));
    assert_int_equal(width.native_vector_width_half, 1);
    memcpy(values, before, sizeof(before));
    rig_set(kernel, 0, values);
    rig_run(rig, kernel, 1, 4);
    assert_memory_equal(values, after, sizeof(after));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Rule 6.26. */
static void atomics__of_floating_point__are_those_reported(void **state)
{
    const ze_device_fp_atomic_ext_flags_t all =
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD |
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX |
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD |
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    static const double wanted[6] = {2016, -5, 68, 2016, 0, 63};
    const struct rig *rig = *state;
    ze_float_atomic_ext_properties_t atomics = {.stype =
                                                    ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES};
    ze_module_handle_t module = rig_module(rig, "abilities", NULL);
    ze_kernel_handle_t floats = rig_kernel(module, "atomics_float");
    ze_kernel_handle_t doubles = rig_kernel(module, "atomics_double");
    float *f = rig_memory(rig, 6 * sizeof(float));
    double *d = rig_memory(rig, 6 * sizeof(double));

    (void)module_properties(rig, &atomics);
    assert_int_equal(atomics.fp32Flags, all);
    assert_int_equal(atomics.fp64Flags, all);
    assert_int_equal(atomics.fp16Flags, 0); /* halves have none */
    rig_set(floats, 0, f);
    rig_set(doubles, 0, d);
    rig_run(rig, floats, 1, 64);
    rig_run(rig, doubles, 1, 64);
    for (int i = 0; i < 6; i++) {
        assert_cmp(f[i], ==, (float)wanted[i]);
        assert_cmp(d[i], ==, wanted[i]);
    }
    assert_success(zeKernelDestroy(floats));
    assert_success(zeKernelDestroy(doubles));
    assert_success(zeModuleDestroy(module));
}

/* The standard output of the process, which is a file for a while. */
static int begin_output(FILE **out_file)
{
    int console;

    *out_file = tmpfile();
    assert_non_null(*out_file);
    (void)fflush(stdout);
    console = dup(STDOUT_FILENO);
    (void)dup2(fileno(*out_file), STDOUT_FILENO);
    return console;
}

static void end_output(int console, FILE *file)
{
    (void)fflush(stdout);
    (void)dup2(console, STDOUT_FILENO);
    (void)close(console);
    rewind(file);
}

/* What is printed goes to the standard output. Rule 6.26. */
static void printf__more_than_the_reported_buffer__is_complete(void **state)
{
    const struct rig *rig = *state;
    const uint32_t buffer = module_properties(rig, NULL).printfBufferSize;
    const char line[] = "the value is 42\n";
    const uint32_t lines = buffer / (sizeof(line) - 1) + 64;
    ze_module_handle_t module = rig_module(rig, "abilities", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "print");
    char text[sizeof(line)];
    uint32_t seen = 0;
    int value = 42, console;
    FILE *file;

    assert_int_equal(buffer, 1 << 20);
    rig_set(kernel, 0, value);
    console = begin_output(&file);
    rig_run(rig, kernel, lines / 64 + 1, 64);
    end_output(console, file);
    for (; fgets(text, sizeof(text), file); seen++)
        assert_string_equal(text, line);
    assert_int_equal(seen, (lines / 64 + 1) * 64);
    (void)fclose(file);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Rule 24.8; api.nvidia.print has the same text. */
static void printf__of_all_kinds__prints_as_on_other_devices(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "kinds", NULL);
    ze_kernel_handle_t kinds = rig_kernel(module, "kinds"), wrong = rig_kernel(module, "wrong");
    char text[8192];
    int zero = 0, console;
    float real = 1.5f;
    size_t size;
    FILE *file;

    rig_set(kinds, 0, zero);
    rig_set(kinds, 1, real);
    rig_set(wrong, 0, zero);
    console = begin_output(&file);
    rig_run(rig, kinds, 1, 1);
    rig_run(rig, wrong, 1, 1);
    end_output(console, file);
    size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    assert_string_equal(text, PRINTED_KINDS PRINTED_WRONG);
    assert_success(zeKernelDestroy(kinds));
    assert_success(zeKernelDestroy(wrong));
    assert_success(zeModuleDestroy(module));
}

SUITE(abilities)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments__as_many_bytes_as_reported__arrive),
        cmocka_unit_test(halves__reported__are_computed_with),
        cmocka_unit_test(atomics__of_floating_point__are_those_reported),
        cmocka_unit_test(printf__more_than_the_reported_buffer__is_complete),
        cmocka_unit_test(printf__of_all_kinds__prints_as_on_other_devices),
    };

    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
