#include "tests/intel/machine_bed.h"
#include "tests/support/compare.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/zeta.h>

extern char **environ;

static struct kmd_machine *machine;

/* ---- processes ------------------------------------------------------------------------------ */

static int run_here(const struct CMUnitTest *tests, size_t count, const char *name, char *value)
{
    struct CMUnitTest chosen;
    bool found = false;
    int failed;

    for (size_t i = 0; i < count && !found; i++) {
        found = strcmp(tests[i].name, name) == 0;
        chosen = tests[i];
    }
    if (!found) {
        print_error("there is no case %s\n", name);
        return 1;
    }
    chosen.initial_state = value;
    failed = _cmocka_run_group_tests(name, &chosen, 1, NULL, NULL);
    if (machine)
        kmd_stop(machine);
    return failed;
}

static int run_apart(const char *suite, const char *name, const char *value)
{
    char *arguments[] = {strdup("intel"), strdup(suite), strdup(name), value ? strdup(value) : NULL,
                         NULL};
    int status = -1;
    pid_t pid;

    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) == 0)
        (void)waitpid(pid, &status, 0);
    for (size_t i = 0; i < 4; i++)
        free(arguments[i]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    print_error("failed: %s %s %s\n", suite, name, value ? value : "");
    return 1;
}

int bed_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;

    if (argc > 1)
        return run_here(tests, count, argv[1], argc > 2 ? argv[2] : NULL);
    for (size_t i = 0; i < count; i++) {
        const char *const *values = tests[i].initial_state;

        if (!values)
            failed += run_apart(argv[0], tests[i].name, NULL);
        for (; values && *values; values++)
            failed += run_apart(argv[0], tests[i].name, *values);
    }
    return failed;
}

/* ---- machines ------------------------------------------------------------------------------- */

struct kmd_config bed_config(const char *platform, const char *driver)
{
    return (struct kmd_config){
        .device_count = 1,
        .devices = {{.platform = platform, .driver = driver}},
        .is_privileged = true,
        .is_paranoid = true,
        .is_manual = true,
        .first_ticks = 1000000,
    };
}

struct kmd_machine *bed_start_machine(const struct kmd_config *config)
{
    machine = kmd_start(config);
    assert_non_null(machine);
    return machine;
}

struct kmd_machine *bed_start(const struct kmd_config *config)
{
    (void)bed_start_machine(config);
    EXPECT_OK(zeInit(0));
    return machine;
}

struct kmd_machine *bed_machine(void)
{
    return machine;
}

ze_device_handle_t bed_device(void)
{
    ze_device_handle_t device = NULL;

    root_devices(1, &device);
    return device;
}

void bed_sysctl(const char *path, const char *value)
{
    const int fd = open(path, O_WRONLY);

    assert_cmp(fd, >=, 0);
    assert_int_equal(write(fd, value, strlen(value)), (ssize_t)strlen(value));
    (void)close(fd);
}
