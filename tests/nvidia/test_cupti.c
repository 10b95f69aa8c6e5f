/* Functions of libcupti, and what its results mean to users. */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/cuda/tests/bed.h"
#include "tests/nvidia/parts.h"

static void open_both(void)
{
    const struct nvidia_cupti *now = parts_cupti();
    struct nvidia_cupti old;

    assert_null(nvidia_cupti_lacks_sampling(now));
    assert_null(nvidia_cupti_lacks_ranges(now));
    assert_int_equal(now->version, 130001);
    /* Of CUDA 12.4, before both. */
    parts_set("libcupti", CUDA_LIBRARIES "/libcupti.so.12");
    assert_true(nvidia_cupti_open(&old, &parts_host, ""));
    assert_non_null(nvidia_cupti_lacks_sampling(&old));
    assert_non_null(nvidia_cupti_lacks_ranges(&old));
    struct nvidia_pm_enable enable = {0};
    assert_int_equal(nvidia_cupti_pm_enable(&old, &enable), NVIDIA_CUPTI_NOT_SUPPORTED);
}

static void open__both_generations__says_what_is_missing(void **state)
{
    (void)state;
    bed_run("gh100", open_both);
}

/* Blocks that are larger than those of 13.0 are still called with the size of 13.0. */
static void enable_once(void)
{
    const struct nvidia_cupti *library = parts_cupti();
    struct nvidia_plain initialize = {0};
    struct nvidia_pm_enable enable = {0};
    struct nvidia_object object = {0};

    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(nvidia_cupti_initialize(library, &initialize), 0);
    assert_int_equal(nvidia_cupti_pm_enable(library, &enable), 0);
    object.object = enable.object;
    assert_int_equal(nvidia_cupti_pm_disable(library, &object), 0);
}

static void call__of_a_future_version__sends_the_size_that_it_knows(void **state)
{
    (void)state;
    bed_run("{format: 1, growth: 8, gpus: [{chip: gh100}]}", enable_once);
}

static void explain_results(void)
{
    const struct nvidia_asked asked = {
        .host = &parts_host, .cupti = parts_cupti(), .device = "GPU 0", .root = ""};
    static const struct {
        int result;
        uint32_t code;
        const char *part;
    } results[] = {
        {26, ZETA_PLUGIN_NOT_AVAILABLE, "dcgmi"},
        {7, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE, "this process"},
        {27, ZETA_PLUGIN_UNSUPPORTED_FEATURE, "does not have it"},
        {43, ZETA_PLUGIN_NOT_AVAILABLE, "MIG"},
        {41, ZETA_PLUGIN_NOT_AVAILABLE, "confidential"},
        {40, ZETA_PLUGIN_NOT_AVAILABLE, "vGPU"},
        {33, ZETA_PLUGIN_NOT_AVAILABLE, "vGPU"},
        {42, ZETA_PLUGIN_NOT_AVAILABLE, "CMP"},
        {44, ZETA_PLUGIN_NOT_AVAILABLE, "SLI"},
        {45, ZETA_PLUGIN_NOT_AVAILABLE, "WSL"},
        {28, ZETA_PLUGIN_NOT_AVAILABLE, "MPS"},
        {39, ZETA_PLUGIN_NOT_AVAILABLE, "compute-sanitizer"},
        {8, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "decode_buffer_mib"},
        {15, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE, "libnvperf_host.so"},
        {46, ZETA_PLUGIN_UNSUPPORTED_FEATURE, "newer"},
        {35, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS, "NVreg_RestrictProfilingToAdminUsers=0"},
        {999, ZETA_PLUGIN_UNKNOWN, "dmesg"},
        {12345, ZETA_PLUGIN_UNKNOWN, "12345"},
        {-1, ZETA_PLUGIN_UNKNOWN, "-1"},
    };

    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        assert_int_equal(nvidia_cupti_fail(&asked, results[i].result, "sample %s", "ComputeBasic"),
                         results[i].code);
        assert_int_equal(parts_result, results[i].code);
        parts_expect_sentence("GPU 0: CUPTI cannot sample ComputeBasic (");
        parts_expect_sentence(results[i].part);
    }
    assert_int_equal(nvidia_cupti_result(0), ZETA_PLUGIN_SUCCESS);
    assert_string_equal(nvidia_cupti_name(asked.cupti, 26), "CUPTI_ERROR_HARDWARE_BUSY");
}

static void results__each_of_them__says_cause_and_remedy(void **state)
{
    (void)state;
    bed_run("gh100", explain_results);
}

static void explain_permission(void)
{
    char root[2048], text[ZETA_HOST_TEXT_BYTES];

    (void)snprintf(root, sizeof(root), "%.1500s/root", cuda_folder(bed_machine));
    nvidia_explain_permission(root, text, sizeof(text));
    assert_non_null(strstr(text, "RmProfilingAdminOnly is 1"));
    assert_non_null(strstr(text, "CapEff 0"));
    nvidia_explain_permission("/nowhere", text, sizeof(text));
    assert_non_null(strstr(text, "RmProfilingAdminOnly is not in"));
    nvidia_explain_permission("/nowhere", text, 10);
    assert_int_equal(strlen(text), 9);
}

static void permission__denied__says_what_is_set(void **state)
{
    (void)state;
    bed_run("{format: 1, permits: false, gpus: [{chip: gh100}]}", explain_permission);
}

/* A process as /proc shows it; without a name, if that is empty. */
static void make_process(const char *root, int pid, const char *name, const char *mapped)
{
    char path[2048];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/proc/%d", root, pid);
    assert_int_equal(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/proc/%d/maps", root, pid);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "7f00-7f01 r-xp 00000000 00:1b 1 /lib/libc.so.6\n7f02-7f03 r-xp %s\n",
                  mapped);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(path, sizeof(path), "%s/proc/%d/comm", root, pid);
    file = name[0] != '\0' ? fopen(path, "w") : NULL;
    if (file) {
        (void)fprintf(file, "%s\n", name);
        assert_int_equal(fclose(file), 0);
    }
}

static void explain_busy(void)
{
    enum { FIRST_OF_MANY = 100000, MANY = 60 };
    char root[1536], text[ZETA_HOST_TEXT_BYTES];

    (void)snprintf(root, sizeof(root), "%.1500s/root", cuda_folder(bed_machine));
    nvidia_explain_busy(root, text, sizeof(text));
    assert_non_null(strstr(text, "no process that this one may look at"));
    make_process(root, 4711, "bash", "/lib/libcuda.so.1");
    nvidia_explain_busy(root, text, sizeof(text));
    assert_non_null(strstr(text, "no process that this one may look at"));
    make_process(root, 4712, "zeta", "/opt/cuda/lib64/libcupti.so.13.0");
    nvidia_explain_busy(root, text, sizeof(text));
    assert_non_null(strstr(text, "open in zeta (4712). End that"));
    make_process(root, 4713, "", "/opt/nsight/libnvperf_target.so");
    make_process(root, (int)getpid(), "this", "/opt/nsight/libnvperf_target.so");
    nvidia_explain_busy(root, text, sizeof(text));
    assert_non_null(strstr(text, "zeta (4712)"));
    assert_non_null(strstr(text, "a process (4713)"));
    assert_null(strstr(text, "this ("));
    for (int i = 0; i < MANY; i++)
        make_process(root, FIRST_OF_MANY + i, "python3", "/opt/nsight/libnvperf_target.so");
    nvidia_explain_busy(root, text, sizeof(text));
    assert_non_null(strstr(text, " more. End that or wait for it"));
    nvidia_explain_busy("/nowhere", text, 10);
    assert_int_equal(strlen(text), 9);
}

static void busy__processes_with_libraries_of_profilers__are_named(void **state)
{
    (void)state;
    bed_run("gh100", explain_busy);
}

static void parse__files_of_the_kernel__numbers_or_unknown(void **state)
{
    uint64_t effective = 5;

    (void)state;
    assert_int_equal(nvidia_parse_admin_only("A: 1\nRmProfilingAdminOnly: 1\n"), NVIDIA_ADMIN_ONLY);
    assert_int_equal(nvidia_parse_admin_only("RmProfilingAdminOnly: 0"), NVIDIA_ADMIN_ALL);
    assert_int_equal(nvidia_parse_admin_only("RmProfilingAdminOnly:"), NVIDIA_ADMIN_UNKNOWN);
    assert_int_equal(nvidia_parse_admin_only("X RmProfilingAdminOnly: 1"), NVIDIA_ADMIN_UNKNOWN);
    assert_int_equal(nvidia_parse_admin_only(""), NVIDIA_ADMIN_UNKNOWN);
    assert_true(
        nvidia_parse_capabilities("Name:\tx\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n", &effective));
    assert_true(effective == 0x1ffffffffffull);
    assert_false(nvidia_parse_capabilities("CapEff:\n", &effective));
    assert_false(nvidia_parse_capabilities("CapEff:\t-1\n", &effective));
    assert_false(nvidia_parse_capabilities("Name: CapEff: 1", &effective));
    assert_true(effective == 0x1ffffffffffull);
}

SUITE(cupti)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__both_generations__says_what_is_missing),
        cmocka_unit_test(call__of_a_future_version__sends_the_size_that_it_knows),
        cmocka_unit_test(results__each_of_them__says_cause_and_remedy),
        cmocka_unit_test(permission__denied__says_what_is_set),
        cmocka_unit_test(busy__processes_with_libraries_of_profilers__are_named),
        cmocka_unit_test(parse__files_of_the_kernel__numbers_or_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
