/* Files that plugins read as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/file.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char folder[] = "/tmp/zeta-file-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *text, size_t bytes)
{
    const char *path = path_of("file");
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_cmp(file, >=, 0);
    assert_int_equal(write(file, text, bytes), (ssize_t)bytes);
    assert_int_equal(close(file), 0);
    return path;
}

static void read__file_in_the_limit__gives_all_of_it(void **state)
{
    uint64_t bytes = 77;
    char *text = zeta_file_read(write_file("one\0two", 7), 7, &bytes);

    (void)state;
    assert_non_null(text);
    assert_int_equal(bytes, 7);
    assert_memory_equal(text, "one\0two", 8); /* and a terminator */
    free(text);
    text = zeta_file_read(write_file("", 0), 0, &bytes);
    assert_non_null(text);
    assert_int_equal(bytes, 0);
    assert_string_equal(text, "");
    free(text);
}

static void read__large_file__gives_all_of_it(void **state)
{
    const size_t size = 3000000;
    char *written = malloc(size);
    uint64_t bytes = 0;
    char *text;

    (void)state;
    assert_non_null(written);
    for (size_t i = 0; i < size; i++)
        written[i] = (char)(i * 31 + i / 4096);
    text = zeta_file_read(write_file(written, size), UINT64_MAX, &bytes);
    assert_non_null(text);
    assert_int_equal(bytes, size);
    assert_memory_equal(text, written, size);
    free(text);
    free(written);
}

static void expect_error(const char *path, uint64_t most_bytes, int error)
{
    uint64_t bytes = 77;

    errno = 0;
    assert_null(zeta_file_read(path, most_bytes, &bytes));
    assert_int_equal(errno, error);
    assert_int_equal(bytes, 77);
}

static void read__what_is_no_such_file__says_why(void **state)
{
    (void)state;
    expect_error(write_file("four", 4), 3, EFBIG);
    expect_error(path_of("none"), 3, ENOENT);
    expect_error(folder, 3, EINVAL);
    /* Nobody writes into it, and nobody waits for that. */
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    expect_error(path_of("pipe"), 3, EINVAL);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path_of("file"));
    (void)unlink(path_of("pipe"));
    return rmdir(folder);
}

SUITE(file)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__file_in_the_limit__gives_all_of_it),
        cmocka_unit_test(read__large_file__gives_all_of_it),
        cmocka_unit_test(read__what_is_no_such_file__says_why),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
