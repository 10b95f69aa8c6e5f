/* Folders of runs: who removes them when, and what is never removed. */
#include "sdk/tools/zeta/program/program.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sdk/tools/zeta/output/message.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char parent[] = "/tmp/zeta-folders-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(parent) ? 0 : -1;
}

/* Fails when a test left something. */
static int tear_down(void **state)
{
    (void)state;
    return rmdir(parent);
}

static bool is_there(const char *path)
{
    struct stat about;

    return lstat(path, &about) == 0;
}

static void add_file(const char *folder)
{
    char path[256];
    int file;

    (void)snprintf(path, sizeof(path), "%s/file", folder);
    file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_cmp(file, >=, 0);
    assert_int_equal(close(file), 0);
}

/* A folder of a process that ended without removing it; its name is copied. */
static void leave_folder(const char *kind, char *out_path, size_t bytes)
{
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        struct zeta_run_folder folder;

        if (zeta_run_folder_make(&folder, parent, kind) != ZETA_EXIT_OK)
            _exit(1);
        add_file(folder.path);
        _exit(write(ends[1], folder.path, strlen(folder.path) + 1) > 0 ? 0 : 1);
    }
    assert_int_equal(close(ends[1]), 0);
    assert_cmp(read(ends[0], out_path, bytes), >, 0);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(is_there(out_path));
}

static void folder__of_an_ended_run__goes_with_the_next_of_its_kind(void **state)
{
    struct zeta_run_folder folder;
    char left[256], other[256];

    (void)state;
    leave_folder("stat", left, sizeof(left));
    leave_folder("trace", other, sizeof(other));
    assert_int_equal(zeta_run_folder_make(&folder, parent, "stat"), ZETA_EXIT_OK);
    assert_false(is_there(left));
    assert_true(is_there(other));
    zeta_run_folder_remove(&folder);
    assert_int_equal(zeta_run_folder_make(&folder, parent, "trace"), ZETA_EXIT_OK);
    assert_false(is_there(other));
    zeta_run_folder_remove(&folder);
}

static void folder__of_a_living_run__stays(void **state)
{
    struct zeta_run_folder first, second;

    (void)state;
    assert_int_equal(zeta_run_folder_make(&first, parent, "stat"), ZETA_EXIT_OK);
    add_file(first.path);
    assert_int_equal(zeta_run_folder_make(&second, parent, "stat"), ZETA_EXIT_OK);
    assert_true(is_there(first.path));
    zeta_run_folder_remove(&second);
    zeta_run_folder_remove(&first);
    assert_null(first.path);
}

static void folder__kept__stays_when_its_run_has_ended(void **state)
{
    struct zeta_run_folder folder, next;
    char kept[256], file[300];

    (void)state;
    assert_int_equal(zeta_run_folder_make(&folder, parent, "trace"), ZETA_EXIT_OK);
    add_file(folder.path);
    zeta_run_folder_keep(&folder);
    (void)snprintf(kept, sizeof(kept), "%s", folder.path);
    zeta_run_folder_finish(&folder);
    assert_int_equal(zeta_run_folder_make(&next, parent, "trace"), ZETA_EXIT_OK);
    zeta_run_folder_remove(&next);
    (void)snprintf(file, sizeof(file), "%s/file", kept);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(kept), 0);
}

/* Names that are alike, and what others can write into. */
static void folder__that_is_none_of_ours__stays(void **state)
{
    static const char *const names[] = {"zeta-stat-short", "zeta-stat-toolong", "zeta-stat-openon"};
    struct zeta_run_folder folder;
    char path[256];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", parent, names[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(zeta_run_folder_make(&folder, parent, "stat"), ZETA_EXIT_OK);
    zeta_run_folder_remove(&folder);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", parent, names[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

SUITE(run_folder)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folder__of_an_ended_run__goes_with_the_next_of_its_kind),
        cmocka_unit_test(folder__of_a_living_run__stays),
        cmocka_unit_test(folder__kept__stays_when_its_run_has_ended),
        cmocka_unit_test(folder__that_is_none_of_ours__stays),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
