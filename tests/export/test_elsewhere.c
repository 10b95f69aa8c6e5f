/*
 * Calculation in another process that has no plugin and no device: the program starts itself with
 * an empty plugin path, and compares what both calculate.
 *
 * Rule 1.22.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SLOTS 50u
/** What the other process writes before the values. */
#define HEAD_BYTES (offsetof(struct outcome, counts) + sizeof(uint32_t) * MAX_TILES)

extern char **environ;

static char folder[] = "/tmp/zeta-elsewhere-XXXXXX";

static void write_file(const char *name, const void *data, size_t size)
{
    char path[96];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t read_file(const char *path, uint8_t *data, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file)
        return 0;
    size = fread(data, 1, capacity, file);
    (void)fclose(file);
    return size;
}

/** The other process: calculates a file into another one. */
static int calculate_elsewhere(const char *from, const char *to)
{
    static uint8_t data[1 << 20];
    const size_t size = read_file(from, data, sizeof(data));
    struct outcome outcome = {.values = malloc(MAX_VALUES * sizeof(zet_typed_value_t))};
    ze_driver_handle_t drivers[4];
    uint32_t count = 4;
    uint32_t devices = 0;
    FILE *file;

    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, drivers) != ZE_RESULT_SUCCESS ||
        count != 1 || zeDeviceGet(drivers[0], &devices, NULL) != ZE_RESULT_SUCCESS)
        return 2;
    if (devices != 0 || size == 0 || !outcome.values)
        return 3;
    calculate_offline(drivers[0], VALUES, data, size, 0, &outcome);
    file = fopen(to, "wb");
    if (!file)
        return 4;
    (void)fwrite(&outcome, HEAD_BYTES, 1, file);
    (void)fwrite(outcome.values, sizeof(zet_typed_value_t), outcome.total, file);
    free(outcome.values);
    return fclose(file) == 0 ? 0 : 5;
}

/** The environment of this process with an empty plugin path. */
static char **bare_environment(void)
{
    static char path[] = "ZETA_PLUGIN_PATH=/nonexistent";
    size_t count = 0;
    char **list;

    while (environ[count])
        count++;
    list = calloc(count + 2, sizeof(char *));
    assert_non_null(list);
    for (size_t i = 0, used = 0; i < count; i++) {
        if (strncmp(environ[i], "ZETA_PLUGIN_PATH=", 17) != 0)
            list[used++] = environ[i];
        list[used] = path;
    }
    return list;
}

static void expect_same_elsewhere(const struct source *source, uint64_t seed)
{
    struct outcome in_place = outcome_make();
    uint8_t *raw = malloc((size_t)SLOTS * source->record_bytes);
    char from[96];
    char to[96];
    char suite[] = "elsewhere", word[] = "calculate";
    char *arguments[] = {word, suite, word, from, to, NULL};
    char **environment = bare_environment();
    static uint8_t found[1 << 20];
    size_t size = 0;
    size_t bytes;
    uint8_t *data;
    int status = 0;
    pid_t child;

    assert_non_null(raw);
    bytes = make_raw(source, seed, SLOTS, raw);
    data = export_raw(source, raw, bytes, &size);
    write_file("data", data, size);
    (void)snprintf(from, sizeof(from), "%s/data", folder);
    (void)snprintf(to, sizeof(to), "%s/values", folder);
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environment), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    calculate_in_place(source, VALUES, raw, bytes, &in_place);
    size = read_file(to, found, sizeof(found));
    assert_int_equal(size, HEAD_BYTES + in_place.total * sizeof(zet_typed_value_t));
    assert_memory_equal(found, &in_place, HEAD_BYTES);
    assert_memory_equal(found + HEAD_BYTES, in_place.values,
                        in_place.total * sizeof(zet_typed_value_t));
    (void)unlink(from);
    (void)unlink(to);
    free(environment);
    free(data);
    free(raw);
    outcome_free(&in_place);
}

/* Rule 16.1. */
static void calculate__in_a_process_without_devices__gives_the_same_bits(void **state)
{
    static struct source sources[MAX_GROUPS];
    uint32_t count;

    (void)state;
    EXPECT_OK(zeInit(0));
    count = find_sources(sources);
    assert_cmp(count, >, 0);
    assert_non_null(mkdtemp(folder));
    for (uint32_t i = 0; i < count; i++)
        expect_same_elsewhere(&sources[i], i + 1);
    assert_int_equal(rmdir(folder), 0);
}

/** The child of a fork: begins anew and calculates what its parent has calculated. */
static int calculate_in_child(const uint8_t *data, size_t size, const struct outcome *expected)
{
    struct outcome got = {.values = malloc(MAX_VALUES * sizeof(zet_typed_value_t))};
    ze_driver_handle_t driver;
    uint32_t count = 1;

    if (!got.values || zeInit(0) != ZE_RESULT_SUCCESS ||
        zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS || count != 1)
        return 2;
    calculate_offline(driver, VALUES, data, size, 0, &got);
    if (got.result != expected->result || got.total != expected->total)
        return 3;
    return same_values(got.values, expected->values, got.total) ? 0 : 4;
}

/* Rule 16.1. */
static void calculate__in_the_child_of_a_fork__gives_the_same_bits(void **state)
{
    static struct source sources[MAX_GROUPS];
    static uint8_t raw[SLOTS * 4096];
    struct outcome outcome = outcome_make();
    size_t size = 0;
    int status = 0;
    uint8_t *data;
    pid_t child;

    (void)state;
    EXPECT_OK(zeInit(0));
    assert_cmp(find_sources(sources), >, 0);
    data = export_raw(&sources[0], raw, make_raw(&sources[0], 4, SLOTS, raw), &size);
    calculate_offline(sources[0].driver, VALUES, data, size, 0, &outcome);
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(calculate_in_child(data, size, &outcome));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free(data);
    outcome_free(&outcome);
}

SUITE_WITH_ARGUMENTS(elsewhere, count, arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculate__in_a_process_without_devices__gives_the_same_bits),
        cmocka_unit_test(calculate__in_the_child_of_a_fork__gives_the_same_bits),
    };

    if (count == 4 && strcmp(arguments[1], "calculate") == 0)
        return calculate_elsewhere(arguments[2], arguments[3]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
