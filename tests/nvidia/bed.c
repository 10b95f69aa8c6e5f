#include "tests/nvidia/bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"

struct cuda_machine *bed_machine;

void bed_set(const char *setting, const char *value)
{
    char name[128] = "ZETA_PLUGIN_NVIDIA_";

    for (size_t i = strlen(name); *setting && i + 1 < sizeof(name); setting++, i++)
        name[i] = (char)(*setting >= 'a' && *setting <= 'z' ? *setting - 'a' + 'A' : *setting);
    assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

void bed_file(const char *name, const char *text)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%.3000s/root/%.200s", cuda_folder(bed_machine), name);
    if (!text) {
        assert_int_equal(remove(path), 0);
        return;
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

bool bed_is_real(void)
{
    const char *wanted = getenv("ZETA_TEST_NVIDIA");

    return wanted && strcmp(wanted, "device") == 0;
}

/* The plugin of this process finds the machine and nothing else. */
static void use_machine(void)
{
    char root[4096];

    (void)snprintf(root, sizeof(root), "%.3000s/root", cuda_folder(bed_machine));
    bed_set("root", root);
    bed_set("libcuda", CUDA_LIBRARIES);
    bed_set("libcupti", CUDA_LIBRARIES);
    bed_set("libnvidia_ml", CUDA_LIBRARIES);
}

static void run_child(void (*body)(void))
{
    const pid_t child = fork_child();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        if (bed_machine)
            use_machine();
        body();
        (void)fflush(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (bed_machine)
        cuda_stop(bed_machine);
    assert_int_equal(status, 0);
}

void bed_run(const char *description, void (*body)(void))
{
    if (bed_is_real())
        skip();
    bed_machine = cuda_start(description);
    assert_non_null(bed_machine);
    run_child(body);
}

void bed_run_anywhere(void (*body)(void))
{
    if (bed_is_real())
        run_child(body);
    else
        bed_run("gh100", body);
}

void bed_devices(uint32_t count, ze_device_handle_t *out_devices)
{
    EXPECT_OK(zeInit(0));
    root_devices(count, out_devices);
}

ze_device_handle_t bed_device(void)
{
    ze_device_handle_t device = NULL;

    bed_devices(1, &device);
    return device;
}

uint32_t bed_plugin(const char **out_reason)
{
    (void)zeInit(0);
    return plugin_state("nvidia", out_reason);
}

void bed_expect_plugin(uint32_t state, const char *const *parts)
{
    const char *reason = "";
    const uint32_t found = bed_plugin(&reason);

    if (found != state)
        fail_msg("the plugin is in state %u, not %u: %s", found, state, reason);
    for (; *parts; parts++) {
        if (!strstr(reason, *parts))
            fail_msg("the plugin does not say \"%s\": %s", *parts, reason);
    }
}
