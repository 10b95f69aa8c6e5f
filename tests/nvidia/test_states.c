/*
 * What is wrong with a machine, and what the plugin says of it: each state has its cause, the
 * current value and a command.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/nvidia/bed.h"
#include "tests/support/compare.h"

/* A machine in some state, and what the plugin has to say. */
struct state {
    const char *machine; /* NULL: an H100 */
    const char *fault;
    const char *visible; /* CUDA_VISIBLE_DEVICES */
    const char *gone;    /* a file of the machine that is not there */
    uint32_t plugin;
    const char *parts[6];
};

static const struct state *now;

static void check_state(void)
{
    if (now->fault)
        assert_true(cuda_fault(bed_machine, now->fault));
    if (now->visible)
        (void)setenv("CUDA_VISIBLE_DEVICES", now->visible, 1);
    if (now->gone)
        bed_file(now->gone, NULL);
    bed_expect_plugin(now->plugin, now->parts);
}

static void check_states(const struct state *states, size_t count)
{
    for (now = states; now < states + count; now++)
        bed_run(now->machine ? now->machine : "gh100", check_state);
}

#define CHECK(states) check_states(states, sizeof(states) / sizeof(states[0]))

/* ---- starting CUDA -------------------------------------------------------------------------- */

#define MODULE "580.159.04" /* of the kernel */

/* Rule 28.6. */
static void start__each_result_of_cuda__cause_value_and_command(void **state)
{
    static const struct state states[] = {
        {.fault = "cuInit=100@1+",
         .plugin = ZETA_PLUGIN_STATE_NO_DEVICE,
         .parts = {"CUDA shows no GPU", MODULE, "dmesg"}},
        {.fault = "cuInit=101@1+",
         .plugin = ZETA_PLUGIN_STATE_NO_DEVICE,
         .parts = {"CUDA shows no GPU", MODULE}},
        {.fault = "cuInit=3@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"was forked", "Start a new program"}},
        {.fault = "cuInit=34@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"is the stub", "/libcuda.so.1", "LD_LIBRARY_PATH", MODULE}},
        {.fault = "cuInit=36@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"driver is too old", MODULE, "Install a newer driver"}},
        {.fault = "cuInit=46@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"compute mode", "nvidia-smi -c DEFAULT"}},
        {.fault = "cuInit=802@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"fabric manager", "systemctl status nvidia-fabricmanager", MODULE}},
        {.fault = "cuInit=803@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"version " MODULE, "/libcuda.so.1", "reboot"}},
        {.fault = "cuInit=804@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"newer than the driver", MODULE, "cuda-compat"}},
        {.fault = "cuInit=999@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"cuInit returns 999 CUDA_ERROR_UNKNOWN", MODULE}},
        {.fault = "cu*=999@1+", /* it fell off */
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"cuInit returns 999"}},
        {.fault = "cuInit=12345@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"cuInit returns 12345 (library"}},
        {.fault = "cuDriverGetVersion=999@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"999 CUDA_ERROR_UNKNOWN"}},
        {.fault = "cuDeviceGetCount=999@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"999 CUDA_ERROR_UNKNOWN"}},
        {.fault = "cuInit=803@1+",
         .gone = "proc/driver/nvidia/version",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"version unknown"}},
        {.machine = "{format: 1, driver: 12040, gpus: [{chip: gh100}]}",
         .fault = "cuInit=803@1+",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"version 535.104.05"}},
    };

    (void)state;
    CHECK(states);
}

static void start__node_that_is_missing__is_named(void **state)
{
    static const struct state states[] = {
        {.fault = "cuInit=999@1+",
         .gone = "dev/nvidia-uvm",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {"999", " /dev/nvidia-uvm is not there", "nvidia-modprobe -u"}},
        {.fault = "cuInit=999@1+",
         .gone = "dev/nvidiactl",
         .plugin = ZETA_PLUGIN_STATE_FAILED,
         .parts = {" /dev/nvidiactl is not there"}},
        {.fault = "cuInit=100@1+",
         .gone = "dev/nvidia0",
         .plugin = ZETA_PLUGIN_STATE_NO_DEVICE,
         .parts = {" /dev/nvidia[0-9]* is not there", "--gpus all"}},
    };

    (void)state;
    CHECK(states);
}

/* A user without rights, if this is not one: libraries and files of the machine are open to it. */
static bool become_nobody(void)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%.4000s", cuda_folder(bed_machine));
    assert_int_equal(chmod(path, 0755), 0);
    (void)snprintf(path, sizeof(path), "%.4000s/machine", cuda_folder(bed_machine));
    assert_int_equal(chmod(path, 0666), 0);
    if (geteuid() == 0)
        assert_int_equal(setresuid(65534, 65534, 65534), 0);
    return access(CUDA_LIBRARIES, R_OK | X_OK) == 0;
}

static void check_forbidden(void)
{
    static const char *const parts[] = {" /dev/nvidia0 may not be read and written",
                                        "mode 0000 and group root", "chmod 0666 /dev/nvidia0",
                                        NULL};
    char path[4096];

    (void)snprintf(path, sizeof(path), "%.4000s/root/dev/nvidia0", cuda_folder(bed_machine));
    assert_int_equal(chmod(path, 0), 0);
    assert_true(cuda_fault(bed_machine, "cuInit=999@1+"));
    if (!become_nobody() || getgid() != 0) {
        print_message("not checked: the libraries are not open to others, or this is not root\n");
        return;
    }
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED, parts);
}

static void start__node_that_is_not_permitted__is_named_with_mode_and_group(void **state)
{
    (void)state;
    bed_run("gh100", check_forbidden);
}

/* ---- libraries --------------------------------------------------------------------------------
 */

/* Writes a file beside the machine; its path is valid until the next one. */
static const char *write_beside(const char *name, const void *bytes, size_t count)
{
    static char path[4200];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%.4000s/%s", cuda_folder(bed_machine), name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void check_no_driver(void)
{
    static const char *const parts[] = {"libcuda.so.1 is not installed", "NVIDIA's driver",
                                        "The kernel module has version " MODULE ".", NULL};

    bed_set("libcuda", cuda_folder(bed_machine)); /* a folder without it */
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED, parts);
}

static void check_no_module(void)
{
    static const char *const parts[] = {"libcuda.so.1 is not installed",
                                        "No kernel module of NVIDIA is loaded.", NULL};

    bed_set("libcuda", cuda_folder(bed_machine));
    bed_file("proc/driver/nvidia/version", "nothing that looks like a version: 1, 2\n");
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED, parts);
}

static void check_no_such_file(void)
{
    static const char *const parts[] = {"/nowhere/libcuda.so.1 cannot be loaded", "No such file",
                                        "setting plugins.nvidia.libcuda", NULL};

    bed_set("libcuda", "/nowhere/libcuda.so.1");
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED, parts);
}

static void check_text(void)
{
    static const char text[100] = "this is no library, whatever its name is\n";
    static const char *const parts[] = {"libcuda.so.1 cannot be loaded", "invalid ELF header",
                                        NULL};

    (void)write_beside("libcuda.so.1", text, sizeof(text));
    bed_set("libcuda", cuda_folder(bed_machine));
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED, parts);
}

/* The real one, changed or cut. */
static void check_changed(size_t bytes, size_t at, uint8_t value, const char *why)
{
    static uint8_t content[1 << 20];
    FILE *file = fopen(CUDA_LIBRARIES "/libcuda.so.1", "r");
    size_t count;

    assert_non_null(file);
    count = fread(content, 1, sizeof(content), file);
    assert_int_equal(fclose(file), 0);
    assert_cmp(count, >, bytes);
    if (at > 0)
        content[at] = value;
    bed_set("libcuda", write_beside("libcuda.so.1", content, bytes > 0 ? bytes : count));
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED,
                      (const char *const[]){"cannot be loaded", why, NULL});
}

static void check_truncated(void)
{
    check_changed(40, 0, 0, "file too short");
}

static void check_other_machine(void)
{
    check_changed(0, 18, 8, "/libcuda.so.1"); /* e_machine: MIPS */
}

static void check_other_class(void)
{
    check_changed(0, 4, 1, "wrong ELF class");
}

static void check_without_functions(void)
{
    static const char *const parts[] = {"libnvidia-ml.so.1 has no function cuInit", "CUDA 12.0",
                                        NULL};

    bed_set("libcuda", CUDA_LIBRARIES "/libnvidia-ml.so.1");
    bed_expect_plugin(ZETA_PLUGIN_STATE_FAILED, parts);
}

static void library__driver_that_cannot_be_loaded__is_told(void **state)
{
    static void (*const bodies[])(void) = {
        check_no_driver, check_no_module,     check_no_such_file, check_text,
        check_truncated, check_other_machine, check_other_class,  check_without_functions};

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        bed_run("gh100", bodies[i]);
}

static void check_alone(void)
{
    static const char *const parts[] = {"libcupti is not installed", "Metrics need it",
                                        "cuda-cupti-13-0 or libcupti13", NULL};

    bed_set("libcupti", cuda_folder(bed_machine));
    bed_set("libnvidia_ml", cuda_folder(bed_machine));
    (void)bed_device();
    bed_expect_plugin(ZETA_PLUGIN_STATE_ACTIVE, parts);
}

static void library__driver_alone__is_enough_for_devices(void **state)
{
    (void)state;
    bed_run("gh100", check_alone);
}

/* ---- what users of GPUs that work should know ------------------------------------------------ */

static void note__devices_with_limits__are_told(void **state)
{
    static const struct state states[] = {
        {.plugin = ZETA_PLUGIN_STATE_ACTIVE},
        {.machine = "{format: 1, gpus: [{chip: gh100, compute_mode: 2}]}",
         .plugin = ZETA_PLUGIN_STATE_ACTIVE,
         .parts = {"compute mode of 0000:06:00.0 is prohibited",
                   "nvidia-smi -i 0000:06:00.0 -c DEFAULT"}},
        {.machine = "{format: 1, gpus: [{chip: ga100}, {chip: gh100, compute_mode: 3}]}",
         .plugin = ZETA_PLUGIN_STATE_ACTIVE,
         .parts = {"compute mode of 0000:07:00.0 is exclusive"}},
        {.machine = "{format: 1, gpus: [{chip: ga100}, {chip: gh100}]}",
         .visible = "1",
         .plugin = ZETA_PLUGIN_STATE_ACTIVE,
         .parts = {"CUDA_VISIBLE_DEVICES is \"1\"", "1 of 2 GPUs"}},
        {.visible = "",
         .plugin = ZETA_PLUGIN_STATE_NO_DEVICE,
         .parts = {"CUDA_VISIBLE_DEVICES is \"\"", "none of the 1", "nvidia-smi -L"}},
        {.visible = "GPU-0",
         .plugin = ZETA_PLUGIN_STATE_NO_DEVICE,
         .parts = {"CUDA_VISIBLE_DEVICES is \"GPU-0\""}},
        {.machine = "{format: 1, gpus: [{chip: gh100, instances: 2}, {chip: ga100}]}",
         .plugin = ZETA_PLUGIN_STATE_ACTIVE,
         .parts = {"divided (MIG)", "nvidia-smi -L"}},
    };

    (void)state;
    CHECK(states);
}

/* Whether the plugin says that counters are not permitted. */
static bool has_permission_note(void)
{
    const char *reason = "";

    assert_int_equal(bed_plugin(&reason), ZETA_PLUGIN_STATE_ACTIVE);
    if (!strstr(reason, "Metrics are not available"))
        return false;
    assert_non_null(strstr(reason, "RmProfilingAdminOnly is 1"));
    assert_non_null(strstr(reason, "CapEff 0000000000000000"));
    assert_non_null(strstr(reason, "NVreg_RestrictProfilingToAdminUsers=0"));
    assert_non_null(strstr(reason, "--cap-add=SYS_ADMIN"));
    return true;
}

static void check_user(void)
{
    if (become_nobody())
        assert_true(has_permission_note());
    else
        print_message("not checked: the libraries are not open to others\n");
}

static void check_permitted_user(void)
{
    bed_file("proc/driver/nvidia/params",
             "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n");
    if (become_nobody())
        assert_false(has_permission_note());
}

/* Rule 28.6. */
static void note__counters_for_administrators__user_is_told(void **state)
{
    (void)state;
    bed_run("{format: 1, permits: false, gpus: [{chip: gh100}]}", check_user);
    bed_run("{format: 1, permits: false, gpus: [{chip: gh100}]}", check_permitted_user);
}

static void check_has_hardware(void)
{
    struct zeta_plugin_info plugins[64];
    uint32_t count = 64, found = 0;

    (void)setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    (void)zeInit(0);
    for (uint32_t i = 0; i < count; i++)
        plugins[i].struct_size = sizeof(plugins[i]);
    EXPECT_OK(zetaPluginGet(&count, plugins));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(plugins[i].has_hardware, strcmp(plugins[i].id, "nvidia") == 0);
        found += plugins[i].has_hardware;
    }
    assert_int_equal(found, 1);
}

/* Rules 1.16, 28.2. */
static void note__hardware_without_a_device__is_told_apart(void **state)
{
    (void)state;
    bed_run("gh100", check_has_hardware);
}

SUITE(states)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library__driver_alone__is_enough_for_devices),
        cmocka_unit_test(library__driver_that_cannot_be_loaded__is_told),
        cmocka_unit_test(note__counters_for_administrators__user_is_told),
        cmocka_unit_test(note__devices_with_limits__are_told),
        cmocka_unit_test(note__hardware_without_a_device__is_told_apart),
        cmocka_unit_test(start__each_result_of_cuda__cause_value_and_command),
        cmocka_unit_test(start__node_that_is_missing__is_named),
        cmocka_unit_test(start__node_that_is_not_permitted__is_named_with_mode_and_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
