/* zeta-vgpu-cc as a command: every kind of input, options, results and messages. */
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "tests/vgpu/rig.h"

static const char scale_cl[] = "#ifndef FACTOR\n"
                               "#define FACTOR 3\n"
                               "#endif\n"
                               "kernel void scale(global int *data)\n"
                               "{\n"
                               "    data[get_global_id(0)] *= FACTOR;\n"
                               "}\n";

static const char scale_c[] = "#include <vgpu.h>\n"
                              "static void twice(int *value) { *value *= 2; }\n"
                              "static void thrice(int *value) { *value *= 3; }\n"
                              "void (*const changes[])(int *value) = {twice, thrice};\n"
                              "void scale(int *data)\n"
                              "{\n"
                              "    changes[1](&data[vgpu_global_id(0)]);\n"
                              "    if (vgpu_global_id(0) == 0)\n"
                              "        vgpu_printf(\"%s %d\\n\", \"scaled\", data[0]);\n"
                              "}\n"
                              "VGPU_KERNEL(scale, ARG_GLOBAL);\n";

static void assert_fine(struct run_result *result)
{
    if (run_exit(result) != 0)
        fail_msg("exit status %d: %s", run_exit(result), result->messages);
    assert_string_equal(result->messages, "");
    run_finish(result);
}

static void assert_says(struct run_result *result, int status, const char *text)
{
    assert_int_equal(run_exit(result), status);
    if (!strstr(result->messages, text))
        fail_msg("\"%s\" is not in: %s", text, result->messages);
    run_finish(result);
}

/* Runs kernel scale of a file in our folder on 8 numbers. */
static void assert_scales(const char *name, int factor)
{
    struct zeta_vgpu_engine_config config = rig_config(1);
    struct rig *rig = calloc(1, sizeof(*rig));
    int32_t *data;

    assert_non_null(rig);
    rig_open_path(rig, run_path(name), &config);
    data = (int32_t *)rig->memory;
    for (int i = 0; i < 8; i++)
        data[i] = i + 1;
    assert_int_equal(rig_run(rig, "scale", &data, 2, 4), ZETA_VGPU_OK);
    for (int i = 0; i < 8; i++)
        assert_int_equal(data[i], (i + 1) * factor);
    rig_close(rig);
    free(rig);
}

static void input__opencl_c__runs(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("k.cl", scale_cl), "-o", run_path("k.elf"));
    assert_fine(&result);
    assert_scales("k.elf", 3);
    (void)CC(&result, "-DFACTOR=7", run_path("k.cl"), "-O0", "-g", "-o", run_path("k.elf"));
    assert_fine(&result);
    assert_scales("k.elf", 7);
}

static void input__c__runs(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("k.c", scale_c), "-o", run_path("kc.elf"));
    assert_fine(&result);
    assert_scales("kc.elf", 3);
}

static void input__bitcode_and_assembly__run(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("k.cl", scale_cl), "-emit-llvm", "-o", run_path("k.bc"));
    assert_fine(&result);
    (void)CC(&result, run_path("k.cl"), "-S", "-o", run_path("k.ll"));
    assert_fine(&result);
    {
        char clang[] = CLANG, target[] = "--target=spir64", x[] = "-x", cl[] = "cl",
             header[] = "-Xclang", finclude[] = "-finclude-default-header", c[] = "-c",
             emit[] = "-emit-llvm", o[] = "-o";
        char *in = strdup(run_path("k.cl")), *out = strdup(run_path("spir.bc"));
        char *const words[] = {clang, target, x, cl, header, finclude, c, emit, in, o, out, NULL};

        run_program(&result, words, NULL, 0);
        assert_int_equal(run_exit(&result), 0);
        run_finish(&result);
        free(in);
        free(out);
    }
    (void)CC(&result, run_path("spir.bc"), "-o", run_path("bc.elf"));
    assert_fine(&result);
    assert_scales("bc.elf", 3);
}

static void inputs__two_files__one_program(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result,
             run_file("main.cl", "int times(int value);\n"
                                 "kernel void scale(global int *data)\n"
                                 "{ data[get_global_id(0)] = times(data[get_global_id(0)]); }\n"),
             run_file("part.cl", "int times(int value) { return value * 11; }\n"), "-o",
             run_path("two.elf"));
    assert_fine(&result);
    assert_scales("two.elf", 11);
}

static void inputs__two_definitions__names_the_symbol(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("one.cl", "int f(int a) { return a; }\n"),
             run_file("other.cl", "int f(int a) { return a + 1; }\n"), "-o", run_path("bad.elf"));
    assert_says(&result, 1, "'f': symbol multiply defined");
    assert_int_equal(access(run_path("bad.elf"), F_OK), -1);
}

static void input__include__found_beside_the_file(void **state)
{
    struct run_result result;

    (void)state;
    (void)run_file("factor.h", "#define FACTOR 5\n");
    (void)CC(&result,
             run_file("with.cl", "#include \"factor.h\"\nkernel void scale(global int *data)\n"
                                 "{ data[get_global_id(0)] *= FACTOR; }\n"),
             "-o", run_path("with.elf"));
    assert_fine(&result);
    assert_scales("with.elf", 5);
}

static void error__in_source__has_file_and_line(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result,
             run_file("wrong.cl", "kernel void k(global int *a)\n{\n    a[0] = undeclared;\n}\n"),
             "-o", run_path("wrong.elf"));
    assert_says(&result, 1, "wrong.cl:3:12: error: use of undeclared identifier 'undeclared'");
    assert_int_equal(access(run_path("wrong.elf"), F_OK), -1);
}

/* As a parent that does not care about its children starts programs. */
static void error__children_are_ignored__is_the_same(void **state)
{
    struct run_result result;
    char env[] = "/usr/bin/env", ignore[] = "--ignore-signal=CHLD", compiler[] = COMPILER;
    char *source = strdup(run_file("wrong.cl", "kernel void k(void) { undeclared = 1; }\n"));
    char *const words[] = {env, ignore, compiler, source, NULL};

    (void)state;
    run_program(&result, words, NULL, 0);
    if (strstr(result.messages, "nothing came out"))
        fail_msg("the failure is not known: %s", result.messages);
    assert_says(&result, 1, "error: use of undeclared identifier 'undeclared'");
    free(source);
}

static void warning__in_source__shown_and_compiled(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("warn.cl", "#warning look here\nkernel void k(void) {}\n"), "-o",
             run_path("warn.elf"));
    assert_says(&result, 0, "warn.cl:1:2: warning: look here");
    (void)CC(&result, run_path("warn.cl"), "-w", "-o", run_path("warn.elf"));
    assert_fine(&result);
    (void)CC(&result, run_path("warn.cl"), "-Werror", "-o", run_path("warn.elf"));
    assert_says(&result, 1, "error");
}

/* Rule 23.13. */
static void result__failure__leaves_the_old_file(void **state)
{
    struct run_result result;
    struct stat before, after;

    (void)state;
    (void)CC(&result, run_file("keep.cl", scale_cl), "-o", run_path("keep.elf"));
    assert_fine(&result);
    assert_int_equal(stat(run_path("keep.elf"), &before), 0);
    (void)run_file("keep.cl", "kernel void k( {}\n");
    (void)CC(&result, run_path("keep.cl"), "-o", run_path("keep.elf"));
    assert_says(&result, 1, "error");
    assert_int_equal(stat(run_path("keep.elf"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
}

static void result__name_of_an_input__is_refused(void **state)
{
    struct run_result result;
    struct stat before, after;

    (void)state;
    assert_int_equal(stat(run_file("own.cl", scale_cl), &before), 0);
    (void)unlink(run_path("link.cl"));
    assert_int_equal(symlink("own.cl", run_path("link.cl")), 0);
    (void)CC(&result, run_path("own.cl"), "-o", run_path("own.cl"));
    assert_says(&result, 1, "own.cl is an input");
    (void)CC(&result, run_path("own.cl"), "-o", run_path("link.cl"));
    assert_says(&result, 1, "link.cl is an input");
    assert_int_equal(stat(run_path("own.cl"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
}

static void result__standard_output__is_the_file(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, run_file("k.cl", scale_cl), "-o", "-");
    assert_int_equal(run_exit(&result), 0);
    assert_cmp(result.output_size, >, 1000);
    assert_memory_equal(result.output, "\177ELF", 4);
    run_finish(&result);
    (void)CC(&result, run_path("k.cl"), "-o", "/dev/null");
    assert_fine(&result);
    (void)CC(&result, run_path("k.cl"), "-o", "/nowhere/k.elf");
    assert_says(&result, 1, "/nowhere/k.elf cannot be written: No such file");
}

/* A program may write such records itself, and into them what it likes. */
static void record__of_the_program__claims_many_arguments__is_left_alone(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result,
             run_file("k.ll", "@__vgpu_info.k = global <{ [8 x i32], [4 x i32], [64 x i32] }> <{ "
                              "[8 x i32] zeroinitializer, "
                              "[4 x i32] [i32 -1, i32 -1, i32 -1, i32 -1], "
                              "[64 x i32] zeroinitializer }>, "
                              "section \".vgpu.info\", align 8\n"
                              "@shared = internal addrspace(3) global i32 undef\n"
                              "define spir_kernel void @k() {\n"
                              "  store volatile i32 1, ptr addrspace(3) @shared\n"
                              "  ret void\n"
                              "}\n"),
             "-o", run_path("k.elf"));
    assert_fine(&result);
}

/* Of several files it has to be clear which is meant. */
static void spirv__not_a_module__names_the_file(void **state)
{
    struct run_result result;

    (void)state;
    (void)run_file("k.cl", scale_cl);
    (void)run_file("bad.spv", "no module, but whole words..");
    (void)CC(&result, run_path("k.cl"), run_path("bad.spv"));
    assert_says(&result, 1, "bad.spv");
}

static void usage__wrong_words__status_2(void **state)
{
    struct run_result result;

    (void)state;
    (void)run_file("k.cl", scale_cl);
    (void)CC(&result, "--no-such-option", run_path("k.cl"));
    assert_says(&result, 2, "unknown option --no-such-option");
    (void)run_compiler(&result, NULL);
    assert_says(&result, 2, "no input file");
    (void)CC(&result, run_path("k.cl"), "-o");
    assert_says(&result, 2, "-o needs");
    (void)CC(&result, run_path("k.what"));
    assert_says(&result, 2, "unknown language");
    (void)CC(&result, "-x", "fortran", run_path("k.cl"));
    assert_says(&result, 2, "-x fortran");
    (void)CC(&result, "--spec-constant", "1:i32:many", run_path("k.cl"));
    assert_says(&result, 2, "1:i32:many");
    (void)CC(&result, "-Os", run_path("k.cl"));
    assert_says(&result, 2, "option -Os has a value that it cannot have");
    (void)CC(&result, run_path("missing.cl"));
    assert_says(&result, 1, "missing.cl: No such file");
}

static void usage__help_and_version__on_standard_output(void **state)
{
    struct run_result result;

    (void)state;
    assert_int_equal(CC(&result, "--help"), 0);
    assert_non_null(strstr(result.output, "usage: zeta-vgpu-cc"));
    assert_string_equal(result.messages, "");
    run_finish(&result);
    assert_int_equal(CC(&result, "--version"), 0);
    assert_memory_equal(result.output, "zeta-vgpu-cc ", 13);
    run_finish(&result);
}

static void option__x__says_the_language(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, "-x", "cl", run_file("kernel.txt", scale_cl), "-o", run_path("x.elf"));
    assert_fine(&result);
    assert_scales("x.elf", 3);
}

static void option__data__missing_library_is_named(void **state)
{
    struct run_result result;

    (void)state;
    (void)CC(&result, "--data", "/nowhere", run_file("k.cl", scale_cl), "-o", run_path("d.elf"));
    assert_says(&result, 1, "the runtime library /nowhere/runtime.bc");
}

static void standards__each__compile(void **state)
{
    static const char *const standards[] = {"-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL2.0",
                                            "-cl-std=CL3.0"};

    (void)state;
    for (size_t i = 0; i < sizeof(standards) / sizeof(standards[0]); i++) {
        struct run_result result;

        (void)CC(&result, standards[i], run_file("k.cl", scale_cl), "-o", run_path("std.elf"));
        assert_fine(&result);
        assert_scales("std.elf", 3);
    }
}

SUITE(command)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input__opencl_c__runs),
        cmocka_unit_test(input__c__runs),
        cmocka_unit_test(input__bitcode_and_assembly__run),
        cmocka_unit_test(inputs__two_files__one_program),
        cmocka_unit_test(inputs__two_definitions__names_the_symbol),
        cmocka_unit_test(input__include__found_beside_the_file),
        cmocka_unit_test(error__in_source__has_file_and_line),
        cmocka_unit_test(error__children_are_ignored__is_the_same),
        cmocka_unit_test(warning__in_source__shown_and_compiled),
        cmocka_unit_test(result__failure__leaves_the_old_file),
        cmocka_unit_test(result__name_of_an_input__is_refused),
        cmocka_unit_test(result__standard_output__is_the_file),
        cmocka_unit_test(record__of_the_program__claims_many_arguments__is_left_alone),
        cmocka_unit_test(spirv__not_a_module__names_the_file),
        cmocka_unit_test(usage__wrong_words__status_2),
        cmocka_unit_test(usage__help_and_version__on_standard_output),
        cmocka_unit_test(option__x__says_the_language),
        cmocka_unit_test(option__data__missing_library_is_named),
        cmocka_unit_test(standards__each__compile),
    };

    return cmocka_run_group_tests(tests, NULL, run_clean);
}
