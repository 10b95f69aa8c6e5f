/* Modules of SPIR-V that compilers of kernels are known to get wrong. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "rig.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static void local_scalar__after_barriers__is_shared(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "shared_scalar");
    int *out = rig_memory(rig, 256 * sizeof(int));

    rig_set(kernel, 0, out);
    rig_run(rig, kernel, 4, 64);
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], 77);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

struct mixed {
    float first;
    int middle[7];
    double last;
};

/* Behind this is the layout of the argument block: 0, 40, 48, 56, 64, 80, 96, 104; 112 bytes.
 * Rule 6.22. */
static void arguments__of_all_kinds__arrive(void **state)
{
    const struct rig *rig = *state;
    static const double wanted[20] = {0.5,  1,    -2, 3,  -4,   5,   -6,  7,   1e100, 42,
                                      2.25, -1e9, 1,  20, 0.25, -80, -13, 500, -600,  700};
    const struct mixed s = {0.5f, {1, -2, 3, -4, 5, -6, 7}, 1e100};
    const float v[4] = {1, 20, 0.25f, -80};
    const int16_t h[4] = {500, -600, 700, 9};
    const float f = 2.25f;
    const double d = -1e9;
    const int8_t c = -13;
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "arguments");
    double *out = rig_memory(rig, 20 * sizeof(double));
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    /* Nobody says that sources are aligned. */
    unsigned char odd[sizeof(s) + 1];

    assert_success(zeKernelGetProperties(kernel, &p));
    assert_int_equal(p.numKernelArgs, 8);
    memcpy(odd + 1, &s, sizeof(s));
    assert_int_equal(sizeof(s), 40);
    assert_success(zeKernelSetArgumentValue(kernel, 0, 40, odd + 1));
    rig_set(kernel, 1, out);
    assert_success(zeKernelSetArgumentValue(kernel, 2, 16, NULL));
    rig_set(kernel, 3, f);
    rig_set(kernel, 4, d);
    rig_set(kernel, 5, v);
    rig_set(kernel, 6, c);
    rig_set(kernel, 7, h);
    rig_run(rig, kernel, 1, 1);
    for (int i = 0; i < 20; i++)
        assert_cmp(out[i], ==, wanted[i]);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Rule 6.22. */
static void arguments__wrong_sizes_and_indices__are_refused(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "arguments");
    unsigned char bytes[64] = {0};

    for (size_t size = 0; size <= 48; size++)
        assert_result(size == 8 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                      zeKernelSetArgumentValue(kernel, 1, size, bytes));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(kernel, 2, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(kernel, 2, 1 << 20, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                  zeKernelSetArgumentValue(kernel, 3, 0, bytes));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                  zeKernelSetArgumentValue(kernel, 8, 8, bytes));
    assert_result(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                  zeKernelSetArgumentValue(kernel, UINT32_MAX, 8, bytes));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Sends what is written to standard error to a file; and reads it when it is given back. */
static FILE *catch_messages(int *out_console)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    *out_console = dup(STDERR_FILENO);
    assert_cmp(dup2(fileno(file), STDERR_FILENO), >=, 0);
    return file;
}

static unsigned count_messages(FILE *file, int console, const char *word)
{
    char line[512];
    unsigned count = 0;

    assert_cmp(dup2(console, STDERR_FILENO), >=, 0);
    (void)close(console);
    rewind(file);
    while (fgets(line, sizeof(line), file))
        count += strstr(line, word) != NULL;
    (void)fclose(file);
    return count;
}

/* Rule 6.22. */
static void arguments__plain_values_of_other_sizes__are_used_as_far_as_they_fit(void **state)
{
    const struct rig *rig = *state;
    const struct mixed s = {0.5f, {1, -2, 3, -4, 5, -6, 7}, 1e100};
    const float v[4] = {1, 20, 0.25f, -80};
    const int16_t h[3] = {500, -600, 700};
    const double f = 2.25;
    const uint64_t wide = UINT64_C(0xffffffff000000f3);
    const unsigned char zero[8] = {0};
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    double *out = rig_memory(rig, 20 * sizeof(double));
    int console = -1;
    FILE *messages = catch_messages(&console);

    for (int again = 0; again < 2; again++) {
        ze_kernel_handle_t kernel = rig_kernel(module, "arguments");

        for (int i = 0; i < 20; i++)
            out[i] = 1234;
        rig_set(kernel, 1, out);
        assert_success(zeKernelSetArgumentValue(kernel, 2, 16, NULL));
        /* Shorter ones behind values that were whole: nothing of these is left. */
        assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(s), &s));
        assert_success(zeKernelSetArgumentValue(kernel, 0, 8, &s));
        assert_success(zeKernelSetArgumentValue(kernel, 5, sizeof(v), v));
        assert_success(zeKernelSetArgumentValue(kernel, 5, 12, v));
        assert_success(zeKernelSetArgumentValue(kernel, 7, 6, h));
        /* Longer ones. */
        assert_success(zeKernelSetArgumentValue(kernel, 3, 8, zero));
        assert_success(zeKernelSetArgumentValue(kernel, 4, sizeof(f), &f));
        assert_success(zeKernelSetArgumentValue(kernel, 6, sizeof(wide), &wide));
        rig_run(rig, kernel, 1, 1);
        assert_cmp(out[0], ==, 0.5);
        assert_cmp(out[1], ==, 1);
        assert_cmp(out[2], ==, 0);
        assert_cmp(out[7], ==, 0);
        assert_cmp(out[8], ==, 0);
        assert_cmp(out[10], ==, 0);
        assert_cmp(out[11], ==, 2.25);
        assert_cmp(out[12], ==, 1);
        assert_cmp(out[13], ==, 20);
        assert_cmp(out[14], ==, 0.25);
        assert_cmp(out[15], ==, 0);
        assert_cmp(out[16], ==, -13);
        assert_cmp(out[17], ==, 500);
        assert_cmp(out[18], ==, -600);
        assert_cmp(out[19], ==, 700);
        assert_success(zeKernelDestroy(kernel));
    }
    /* Arguments 0, 3, 5, 6 and 7, each said once. */
    assert_int_equal(count_messages(messages, console, "of kernel \"arguments\" has"), 5);
    assert_success(zeModuleDestroy(module));
}

static void arguments__scalars_of_all_sizes__arrive(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", "");
    ze_kernel_handle_t kernel = rig_kernel(module, "scalars");
    int64_t *out = rig_memory(rig, 9 * sizeof(int64_t));
    const int8_t c = -3;
    const int64_t l = INT64_MIN + 5;
    const int16_t s = -30000;
    const int32_t i = -2000000000;
    const uint8_t u = 250;
    const uint64_t big = UINT64_C(0x8000000000000001);
    const double pair[2] = {-4, 5};
    const int32_t b = 1;

    rig_set(kernel, 0, out);
    rig_set(kernel, 1, c);
    rig_set(kernel, 2, l);
    rig_set(kernel, 3, s);
    rig_set(kernel, 4, i);
    rig_set(kernel, 5, u);
    rig_set(kernel, 6, big);
    rig_set(kernel, 7, pair);
    rig_set(kernel, 8, b);
    rig_run(rig, kernel, 1, 1);
    assert_cmp(out[0], ==, c);
    assert_cmp(out[1], ==, l);
    assert_cmp(out[2], ==, s);
    assert_cmp(out[3], ==, i);
    assert_cmp(out[4], ==, u);
    assert_cmp(out[5], ==, (int64_t)big);
    assert_cmp(out[6], ==, -4);
    assert_cmp(out[7], ==, 5);
    assert_cmp(out[8], ==, 1);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

static void expect_calls(const struct rig *rig, const char *flags)
{
    ze_module_handle_t module = rig_module(rig, "traps", flags);
    ze_kernel_handle_t kernel = rig_kernel(module, "calls");
    double *out = rig_memory(rig, 3 * sizeof(double));
    const float v[4] = {2, 33, 4, 5};

    rig_set(kernel, 0, out);
    rig_set(kernel, 1, v);
    rig_run(rig, kernel, 1, 1);
    assert_cmp(out[0], ==, 1.5 + 10 + 10);
    assert_cmp(out[1], ==, 4);
    assert_cmp(out[2], ==, 2.25 * 4 * 33);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

static void functions__structs_and_vectors__pass_at_all_levels(void **state)
{
    static const char *const flags[] = {
        "",   "-ze-opt-disable", "-ze-opt-level=0", "-ze-opt-level 1", "-ze-opt-level=2",
        "-g", "-cl-opt-disable"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        expect_calls(*state, flags[i]);
}

static void vectors__of_16_and_double__work(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t module = rig_module(rig, "traps", NULL);
    ze_kernel_handle_t kernel = rig_kernel(module, "wide");
    int32_t *in = rig_memory(rig, 32 * sizeof(int32_t));
    int32_t *out = rig_memory(rig, 16 * sizeof(int32_t));
    double *more = rig_memory(rig, 8 * sizeof(double));

    for (int i = 0; i < 32; i++)
        in[i] = i * i;
    rig_set(kernel, 0, in);
    rig_set(kernel, 1, out);
    rig_set(kernel, 2, more);
    rig_run(rig, kernel, 1, 1);
    for (int i = 0; i < 16; i++)
        assert_int_equal(out[i], (15 - i) * (15 - i) + (16 + i) * (16 + i));
    for (int i = 0; i < 8; i++)
        assert_cmp(more[i], ==, i * i * 0.5);
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* Half precision by its bits: what is needed here is exact. */
static uint16_t half_of(int value)
{
    int exponent = 0;

    if (value == 0)
        return 0;
    while (value >> (exponent + 1))
        exponent++;
    return (uint16_t)((exponent + 15) << 10 | ((value << 10 >> exponent) & 0x3ff));
}

static void half__arithmetic_in_vectors__works(void **state)
{
    const struct rig *rig = *state;
    struct rig_file file = rig_spirv("half");
    ze_module_desc_t desc = rig_desc(&file, NULL);
    ze_module_handle_t module = NULL;
    const uint32_t version_1_0 = 0x00010000;
    const uint16_t c = half_of(3);
    char *log = NULL;

    /* Nothing in it is newer than version 1.0, whatever the translator wrote. */
    memcpy(file.bytes + 4, &version_1_0, sizeof(version_1_0));
    if (rig_try(rig, &desc, &module, &log) != ZE_RESULT_SUCCESS)
        fail_msg("%s", log);
    free(log);
    rig_file_free(&file);

    ze_kernel_handle_t kernel = rig_kernel(module, "half_sums");
    uint16_t *a = rig_memory(rig, 16 * sizeof(uint16_t));
    uint16_t *b = rig_memory(rig, 64 * sizeof(uint16_t));
    float *out = rig_memory(rig, 16 * sizeof(float));

    for (int i = 0; i < 16; i++) {
        a[i] = half_of(i);
        for (int k = 0; k < 4; k++)
            b[4 * i + k] = half_of(100 * k + 1);
    }
    rig_set(kernel, 0, a);
    rig_set(kernel, 1, b);
    rig_set(kernel, 2, out);
    rig_set(kernel, 3, c);
    rig_run(rig, kernel, 1, 16);
    for (int i = 0; i < 16; i++) {
        assert_cmp(out[i], ==, (float)(3 * i));
        for (int k = 0; k < 4; k++)
            assert_int_equal(b[4 * i + k], half_of(100 * k + 1 + i));
    }
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeModuleDestroy(module));
}

/* The versions that programs use: 1.0 mostly, some 1.4, which the translator writes here. */
static void version__1_4__is_read(void **state)
{
    struct rig_file file = rig_spirv("traps");
    uint32_t version = 0;

    memcpy(&version, file.bytes + 4, sizeof(version));
    assert_int_equal(version, 0x00010400);
    rig_file_free(&file);
    expect_calls(*state, NULL);
}

static void expect_failure(const struct rig *rig, const char *name, const char *words)
{
    struct rig_file file = rig_spirv(name);
    ze_module_desc_t desc = rig_desc(&file, NULL);
    ze_module_handle_t module = NULL;
    char *log = NULL;

    assert_result(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, rig_try(rig, &desc, &module, &log));
    assert_null(module);
    if (!strstr(log, words))
        fail_msg("no '%s' in: %s", words, log);
    assert_non_null(strstr(rig_sentence(), "SPIR-V"));
    free(log);
    rig_file_free(&file);
}

/* Rule 6.9. */
static void images__in_a_kernel__are_named_in_the_log(void **state)
{
    expect_failure(*state, "image", "image2d_t");
    expect_failure(*state, "image", "blur");
}

/* A length from there on that ends within an instruction. */
static size_t length_of_cut(const struct rig_file *file, size_t from)
{
    const uint32_t *words = (const void *)file->bytes;
    size_t at = 5; /* after the header */

    while (at * sizeof(*words) < from || words[at] >> 16 < 2)
        at += words[at] >> 16;
    return (at + 1) * sizeof(*words);
}

static void module__damaged__has_a_log(void **state)
{
    const struct rig *rig = *state;
    struct rig_file file = rig_spirv("traps");
    ze_module_desc_t desc = rig_desc(&file, NULL);
    ze_module_handle_t module = NULL;
    char *log = NULL;

    /* Cut within an instruction, and with nonsense: whatever the translator does, we go on. */
    desc.inputSize = length_of_cut(&file, 2048);
    assert_result(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, rig_try(rig, &desc, &module, &log));
    assert_int_not_equal(log[0], 0);
    free(log);
    desc.inputSize = file.size;
    memset(file.bytes + 1000, 0x5a, 400);
    assert_result(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, rig_try(rig, &desc, &module, &log));
    assert_int_not_equal(log[0], 0);
    free(log);
    rig_file_free(&file);
}

/* Rule 6.8. */
static void flags__unknown__are_ignored_with_a_warning(void **state)
{
    const struct rig *rig = *state;
    struct rig_file file = rig_spirv("half");
    ze_module_desc_t desc =
        rig_desc(&file, "-ze-opt-large-register-file -vendor-option -ze-opt-level=1");
    ze_module_handle_t module = NULL;
    char *log = NULL;

    assert_success(rig_try(rig, &desc, &module, &log));
    assert_non_null(strstr(log, "-vendor-option"));
    assert_null(strstr(log, "-ze-opt-level"));
    free(log);
    assert_success(zeModuleDestroy(module));
    /* With commas between them they are the same flags. */
    desc.pBuildFlags = "-g,-vendor-option,-ze-opt-level=1";
    assert_success(rig_try(rig, &desc, &module, &log));
    assert_non_null(strstr(log, "-vendor-option"));
    assert_null(strstr(log, "-ze-opt-level"));
    free(log);
    assert_success(zeModuleDestroy(module));
    rig_file_free(&file);
}

SUITE(traps)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_scalar__after_barriers__is_shared),
        cmocka_unit_test(arguments__of_all_kinds__arrive),
        cmocka_unit_test(arguments__wrong_sizes_and_indices__are_refused),
        cmocka_unit_test(arguments__plain_values_of_other_sizes__are_used_as_far_as_they_fit),
        cmocka_unit_test(arguments__scalars_of_all_sizes__arrive),
        cmocka_unit_test(functions__structs_and_vectors__pass_at_all_levels),
        cmocka_unit_test(vectors__of_16_and_double__work),
        cmocka_unit_test(half__arithmetic_in_vectors__works),
        cmocka_unit_test(version__1_4__is_read),
        cmocka_unit_test(images__in_a_kernel__are_named_in_the_log),
        cmocka_unit_test(module__damaged__has_a_log),
        cmocka_unit_test(flags__unknown__are_ignored_with_a_warning),
    };

    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
