/* What goes wrong quietly when it is not minded: each trap has a test here or in the corpus. */
#include "run.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "tests/vgpu/rig.h"

/* Compiles text; gives the exit status and keeps the messages. */
static int compile(struct run_result *result, const char *text, const char *option)
{
    return CC(result, run_file("t.cl", text), option ? option : "-O2", "-o", run_path("t.elf"));
}

static void compile_fine(const char *text, const char *option)
{
    struct run_result result;

    if (compile(&result, text, option) != 0)
        fail_msg("%s", result.messages);
    run_finish(&result);
}

static void assert_refused(const char *text, const char *const *reasons)
{
    struct run_result result;

    assert_int_equal(compile(&result, text, NULL), 1);
    for (; *reasons; reasons++) {
        if (!strstr(result.messages, *reasons))
            fail_msg("\"%s\" is not in: %s", *reasons, result.messages);
    }
    run_finish(&result);
}

#define ASSERT_REFUSED(text, ...) assert_refused(text, (const char *const[]){__VA_ARGS__, NULL})

static struct rig *open_result(void)
{
    struct zeta_vgpu_engine_config config = rig_config(1);
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    rig_open_path(rig, run_path("t.elf"), &config);
    return rig;
}

static void close_result(struct rig *rig)
{
    rig_close(rig);
    free(rig);
}

static const struct zeta_vgpu_kernel *kernel_of(const struct rig *rig, const char *name)
{
    const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_find_kernel(rig->image, name);

    assert_non_null(kernel);
    return kernel;
}

static void file__header__abi_without_compression(void **state)
{
    Elf64_Ehdr header;
    size_t size;
    void *file;

    (void)state;
    compile_fine("kernel void k(global float *a, double b) { a[0] = (float)b; }\n", NULL);
    file = rig_read_file(run_path("t.elf"), &size);
    memcpy(&header, file, sizeof(header));
    assert_int_equal(header.e_machine, EM_RISCV);
    assert_int_equal(header.e_type, ET_DYN);
    assert_int_equal(header.e_flags, 4); /* double-float ABI, no compressed instructions */
    free(file);
}

/* Programs choose by these; one that takes the way with images would not be built. Rule 24.4. */
static void macros__of_the_device__say_what_it_is(void **state)
{
    static const char text[] = "#if __OPENCL_VERSION__ != 200 || defined(__IMAGE_SUPPORT__)\n"
                               "#error another device\n"
                               "#endif\n"
                               "#if !defined(__ENDIAN_LITTLE__) || !defined(cl_khr_fp16) || "
                               "!defined(cl_khr_fp64)\n"
                               "#error something is missing\n"
                               "#endif\n"
                               "kernel void k(global int *a) { a[0] = __OPENCL_C_VERSION__; }\n";

    (void)state;
    compile_fine(text, NULL);
    compile_fine(text, "-cl-std=CL1.2");
    compile_fine(text, "-cl-std=CL3.0");
}

/* A variable in address space 0 would become a register of each item. */
static void local_variable__one_value_stored__stays_in_the_window(void **state)
{
    struct zeta_vgpu_symbol symbol;
    struct rig *rig;

    (void)state;
    compile_fine("kernel void k(global int *a)\n{\n    local int x;\n"
                 "    if (get_local_id(0) == 1)\n        x = 5;\n"
                 "    barrier(CLK_LOCAL_MEM_FENCE);\n    a[get_global_id(0)] = x;\n}\n",
                 "-O3");
    rig = open_result();
    assert_cmp(kernel_of(rig, "k")->slm_bytes, >=, 1);
    if (zeta_vgpu_image_find_symbol(rig->image, "k.x", &symbol))
        assert_cmp(symbol.address % 0x1000, <, kernel_of(rig, "k")->slm_bytes);
    close_result(rig);
}

/* Kernels that never run together need no room together. Rule 23.7. */
static void local_variables__of_several_kernels__share_addresses(void **state)
{
    static const char text[] =
        "#define FILL(array, value) array[get_local_id(0)] = value; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "kernel void first(global int *a) { local int x[10000]; local char odd[3];\n"
        "    FILL(x, (int)get_local_id(0)) odd[get_local_id(0)] = 5; "
        "barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    a[get_global_id(0)] = x[1 - get_local_id(0)] + odd[1]; }\n"
        "kernel void second(global int *a) { local double y[5000]; FILL(y, 3)\n"
        "    a[get_global_id(0)] = (int)y[1 - get_local_id(0)]; }\n"
        "kernel void caller(global int *a) { local int z; z = 100; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    first(a); a[get_global_id(0)] += z; }\n"
        "kernel void without(global int *a, local int *l) { FILL(l, 8)\n"
        "    a[get_global_id(0)] = l[1 - get_local_id(0)]; }\n"
        "kernel void sums(global int *a) { local int v; v = 5; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    a[get_global_id(0)] = work_group_reduce_add((int)get_local_id(0) + 1) + v; }\n";
    static const char *const options[] = {"-O0", "-O2"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const uint32_t local_bytes[2] = {0, 60000};
        struct zeta_vgpu_launch launch = {
            .local_bytes = local_bytes, .group_count = {3, 1, 1}, .group_size = {2, 1, 1}};
        void *arguments[2] = {NULL, NULL};
        struct rig *rig;
        int32_t *data;

        compile_fine(text, options[i]);
        rig = open_result();
        assert_in_range(kernel_of(rig, "first")->slm_bytes, 40003, 40016);
        assert_in_range(kernel_of(rig, "second")->slm_bytes, 40000, 40008);
        assert_in_range(kernel_of(rig, "caller")->slm_bytes, 40003, 40024);
        assert_int_equal(kernel_of(rig, "without")->slm_bytes, 0);
        /* What the library needs counts for kernels that call it. */
        assert_in_range(kernel_of(rig, "sums")->slm_bytes, 4096, 4112);
        data = (int32_t *)rig->memory;
        arguments[0] = data;
        launch.arguments = arguments;
        assert_int_equal(rig_run(rig, "first", arguments, 3, 2), ZETA_VGPU_OK);
        for (int k = 0; k < 6; k++)
            assert_int_equal(data[k], 1 - k % 2 + 5);
        assert_int_equal(rig_run(rig, "second", arguments, 3, 2), ZETA_VGPU_OK);
        assert_int_equal(data[5], 3);
        assert_int_equal(rig_run(rig, "sums", arguments, 3, 2), ZETA_VGPU_OK);
        assert_int_equal(data[5], 3 + 5);
        assert_int_equal(rig_run(rig, "caller", arguments, 3, 2), ZETA_VGPU_OK);
        for (int k = 0; k < 6; k++)
            assert_int_equal(data[k], 1 - k % 2 + 5 + 100);
        assert_int_equal(rig_launch(rig, "without", &launch), ZETA_VGPU_OK);
        assert_int_equal(data[5], 8);
        close_result(rig);
    }
}

/* Rule 23.4. */
static void arguments__too_many__refused(void **state)
{
    char text[8192] = "kernel void k(";

    (void)state;
    for (int i = 0; i < 65; i++) {
        char argument[32];

        (void)snprintf(argument, sizeof(argument), "%sint a%d", i ? ", " : "", i);
        strcat(text, argument);
    }
    strcat(text, ") {}\n");
    ASSERT_REFUSED(text, "kernel k has 65 arguments, at most 64");
    ASSERT_REFUSED("struct s { char c[4090]; };\nkernel void k(struct s s, double d) {}\n",
                   "kernel k, argument 1: 8 bytes at offset 4096", "4096 bytes together");
}

/* Rule 23.5. */
static void images__in_arguments__refused_in_words(void **state)
{
    (void)state;
    ASSERT_REFUSED("kernel void k(read_only image2d_t picture, global float4 *a)\n"
                   "{ a[0] = read_imagef(picture, (int2)(0, 0)); }\n",
                   "kernel k: argument 0 is an image (image2d_t)",
                   "not supported by the virtual GPU");
    ASSERT_REFUSED("kernel void k(global int *a, sampler_t s) {}\n",
                   "kernel k: argument 1 is a sampler");
    ASSERT_REFUSED("kernel void k(read_only pipe int p, global int *a) { read_pipe(p, a); }\n",
                   "kernel k: argument 0 is a pipe");
}

/* Rule 23.5. */
static void builtins__of_images_behind_functions__names_the_kernel(void **state)
{
    (void)state;
    ASSERT_REFUSED("constant sampler_t s = CLK_FILTER_NEAREST;\n"
                   "kernel void sampled(read_only image2d_t p, global float4 *a)\n"
                   "{ a[0] = read_imagef(p, s, (int2)(0, 0)); }\n",
                   "kernel sampled: argument 0 is an image");
    ASSERT_REFUSED(
        "kernel void starts(global int *a)\n{\n"
        "    queue_t q = get_default_queue();\n"
        "    enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ a[0] = 1; });"
        "\n}\n",
        "kernels that start kernels are not supported by the virtual GPU", "in kernel starts");
}

/* Rule 23.5. */
static void builtins__missing__named_with_their_types(void **state)
{
    (void)state;
    ASSERT_REFUSED("float __attribute__((overloadable)) native_wonder(float4 a, local int *b);\n"
                   "float helper(local int *b) { return native_wonder((float4)(1.0f), b); }\n"
                   "kernel void uses(global float *a, local int *b) { a[0] = helper(b); }\n",
                   "has no builtin function native_wonder(float vector[4]", "in kernel uses");
}

/* Rule 23.5. */
static void sub_groups__of_sixteen__refused(void **state)
{
    (void)state;
    ASSERT_REFUSED("__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *a) {}",
                   "kernel k requires sub-groups of 16 items");
}

/* Rule 23.8. */
static void private_memory__chain_of_calls__sum(void **state)
{
    static const char text[] =
        "__attribute__((noinline)) int leaf(int n)\n"
        "{ volatile int a[100]; a[n] = n; return a[n]; }\n"
        "__attribute__((noinline)) int middle(int n)\n"
        "{ volatile int a[50]; a[n] = n; return a[n] + leaf(n); }\n"
        "int again(int n) { volatile int a[10]; a[n % 10] = n; return n ? again(n - 1) + a[n % 10] "
        ": 0; }\n"
        "kernel void none(global int *a) { a[0] = 1; }\n"
        "kernel void one(global int *a) { a[0] = leaf(a[1]); }\n"
        "kernel void two(global int *a) { a[0] = middle(a[1]); }\n"
        "kernel void recursive(global int *a) { a[0] = again(a[1] & 7); }\n";
    struct rig *rig;

    (void)state;
    compile_fine(text, "-O1");
    rig = open_result();
    assert_int_equal(kernel_of(rig, "none")->private_bytes, 0);
    assert_in_range(kernel_of(rig, "one")->private_bytes, 400, 500);
    assert_in_range(kernel_of(rig, "two")->private_bytes, 600, 800);
    close_result(rig);
    compile_fine(text, "-O0");
    rig = open_result();
    assert_int_equal(kernel_of(rig, "recursive")->private_bytes, 0);
    close_result(rig);
}

static void records__attributes__as_in_the_source(void **state)
{
    struct rig *rig;

    (void)state;
    compile_fine("__attribute__((reqd_work_group_size(4, 2, 1), vec_type_hint(float4)))\n"
                 "__attribute__((work_group_size_hint(4, 2, 1))) kernel void k(global int *a) {}\n",
                 NULL);
    rig = open_result();
    assert_int_equal(kernel_of(rig, "k")->required_group_size[0], 4);
    assert_int_equal(kernel_of(rig, "k")->required_group_size[1], 2);
    assert_int_equal(kernel_of(rig, "k")->required_group_size[2], 1);
    assert_non_null(kernel_of(rig, "k")->attributes);
    assert_string_equal(
        kernel_of(rig, "k")->attributes,
        "reqd_work_group_size(4,2,1) work_group_size_hint(4,2,1) vec_type_hint(float4)");
    close_result(rig);
}

/* Code generation calls functions that no source names. */
static void support__calls_of_code_generation__linked(void **state)
{
    struct rig *rig;
    int64_t *data;

    (void)state;
    compile_fine("struct s { long a[64]; };\n"
                 "kernel void k(global struct s *to, global struct s *from, global float *f)\n"
                 "{ to[0] = from[0]; f[0] = fmod(f[1], f[2]); vstore_half(f[1], 20, (global half "
                 "*)f); }\n",
                 "-O0");
    rig = open_result();
    data = (int64_t *)rig->memory;
    for (int i = 0; i < 64; i++)
        data[64 + i] = i * 3;
    {
        float *f = (float *)(rig->memory + 4096);
        struct {
            void *to, *from, *f;
        } arguments = {data, data + 64, f};

        f[1] = 7.5f;
        f[2] = 2;
        assert_int_equal(rig_run(rig, "k", &arguments, 1, 1), ZETA_VGPU_OK);
        assert_memory_equal(data, data + 64, 512);
        assert_cmp(f[0], ==, 1.5f);
        assert_int_equal(((uint16_t *)f)[20], 0x4780);
    }
    close_result(rig);
}

static uint64_t count_fp32(const char *option)
{
    struct rig *rig;
    uint64_t count;
    float *data;

    compile_fine("kernel void k(global float *a) { a[0] = a[1] * a[2] + a[3]; }\n", option);
    rig = open_result();
    data = (float *)rig->memory;
    data[1] = 3;
    data[2] = 5;
    data[3] = 7;
    assert_int_equal(rig_run(rig, "k", &data, 1, 1), ZETA_VGPU_OK);
    assert_cmp(data[0], ==, 22);
    count = rig_counter(rig, ZETA_VGPU_INST_FP32);
    close_result(rig);
    return count;
}

/* Rule 23.2. */
static void contraction__only_when_allowed(void **state)
{
    (void)state;
    assert_int_equal(count_fp32("-O2"), 2);
    assert_int_equal(count_fp32("-O0"), 2);
    assert_int_equal(count_fp32("-cl-mad-enable"), 1);
    assert_int_equal(count_fp32("-cl-fast-relaxed-math"), 1);
}

/* Loops stay what they are, as counters are compared with formulas. Rule 23.3. */
static void loops__fill__stays_a_loop(void **state)
{
    struct rig *rig;
    int32_t *data;

    (void)state;
    compile_fine("kernel void k(global int *a) { for (int i = 0; i < 100; i++) a[i] = 0; }\n",
                 NULL);
    rig = open_result();
    data = (int32_t *)rig->memory;
    assert_int_equal(rig_run(rig, "k", &data, 1, 1), ZETA_VGPU_OK);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_BRANCH), 100);
    assert_int_equal(rig_counter(rig, ZETA_VGPU_GLOBAL_WRITE_BYTES), 400);
    close_result(rig);
}

static void bitcode__broken__a_log_and_no_crash(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("bad.bc", "BC\xc0\xde and then nothing"), "-o", run_path("t.elf"));
    assert_int_equal(run_exit(&result), 1);
    assert_non_null(strstr(result.messages, "error: "));
    run_finish(&result);
    (void)CC(&result, run_file("bad.ll", "define void @f() {\n  ret i32 %x\n}\n"), "-o",
             run_path("t.elf"));
    assert_int_equal(run_exit(&result), 1);
    assert_non_null(strstr(result.messages, "bad.ll:2:"));
    run_finish(&result);
    (void)CC(&result,
             run_file("ctor.ll", "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
                                 "[{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\n"
                                 "define void @f() {\n  ret void\n}\n"),
             "-o", run_path("t.elf"));
    assert_int_equal(run_exit(&result), 1);
    assert_non_null(strstr(result.messages, "functions that run before"));
    run_finish(&result);
}

/* Rule 23.11. */
static void constants__of_spirv__take_the_value(void **state)
{
    static const char module[] =
        "119734787 65536 393230 21 0\n"
        "2 Capability Addresses\n2 Capability Kernel\n2 Capability Int64\n"
        "5 ExtInstImport 1 \"OpenCL.std\"\n3 MemoryModel 2 2\n"
        "4 EntryPoint 6 7 \"k\"\n3 Source 3 102000\n"
        "4 Decorate 8 SpecId 4\n"
        "4 TypeInt 2 32 0\n4 TypeInt 3 64 0\n2 TypeVoid 4\n4 TypePointer 5 5 2\n"
        "4 TypeFunction 6 4 5\n4 SpecConstant 2 8 1000\n"
        "5 Function 4 7 0 6\n3 FunctionParameter 5 9\n2 Label 10\n"
        "5 Store 9 8 2 4\n1 Return\n1 FunctionEnd\n";
    char translator[] = TRANSLATOR, binary[] = "-to-binary", o[] = "-o";
    char *text = strdup(run_file("k.spt", module)), *target = strdup(run_path("k.spv"));
    char *const words[] = {translator, binary, text, o, target, NULL};
    struct run_result result;
    struct rig *rig;
    int32_t *data;

    (void)state;
    if (!HAS_SPIRV)
        skip();
    run_program(&result, words, NULL, 0);
    if (run_exit(&result) != 0)
        fail_msg("%s", result.messages);
    run_finish(&result);
    free(text);
    for (int32_t value = -1; value <= 1000; value += 1001) {
        if (value < 0)
            (void)CC(&result, "--spec-constant", "4:i32:-1", target, "-o", run_path("t.elf"));
        else
            (void)CC(&result, target, "-o", run_path("t.elf"));
        if (run_exit(&result) != 0)
            fail_msg("%s", result.messages);
        run_finish(&result);
        rig = open_result();
        data = (int32_t *)rig->memory;
        assert_int_equal(rig_run(rig, "k", &data, 1, 1), ZETA_VGPU_OK);
        assert_int_equal(data[0], value);
        close_result(rig);
    }
    (void)CC(&result, "--spec-constant=5:i32:1", target, "-o", run_path("t.elf"));
    assert_int_equal(run_exit(&result), 1);
    assert_non_null(strstr(result.messages, "no specialization constant 5; the module has 4"));
    run_finish(&result);
    (void)CC(&result, "--spec-constant=4:i64:1", target, "-o", run_path("t.elf"));
    assert_int_equal(run_exit(&result), 1);
    run_finish(&result);
    free(target);
}

SUITE(traps)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file__header__abi_without_compression),
        cmocka_unit_test(macros__of_the_device__say_what_it_is),
        cmocka_unit_test(local_variable__one_value_stored__stays_in_the_window),
        cmocka_unit_test(local_variables__of_several_kernels__share_addresses),
        cmocka_unit_test(arguments__too_many__refused),
        cmocka_unit_test(images__in_arguments__refused_in_words),
        cmocka_unit_test(builtins__of_images_behind_functions__names_the_kernel),
        cmocka_unit_test(builtins__missing__named_with_their_types),
        cmocka_unit_test(sub_groups__of_sixteen__refused),
        cmocka_unit_test(private_memory__chain_of_calls__sum),
        cmocka_unit_test(records__attributes__as_in_the_source),
        cmocka_unit_test(support__calls_of_code_generation__linked),
        cmocka_unit_test(contraction__only_when_allowed),
        cmocka_unit_test(loops__fill__stays_a_loop),
        cmocka_unit_test(bitcode__broken__a_log_and_no_crash),
        cmocka_unit_test(constants__of_spirv__take_the_value),
    };

    return cmocka_run_group_tests(tests, NULL, run_clean);
}
