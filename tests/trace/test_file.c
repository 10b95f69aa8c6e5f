/*
 * The file of a trace as threads write it: whole lines, a limit, and readable at any moment.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "core/trace/file.h"
#include "tests/support/compare.h"

enum { THREADS = 4, LINES = 20000, MEGABYTE = 1 << 20 };

static char path[256];

/* The test is linked so that calls of pwrite() come here: a disk that does not answer. */
ssize_t __real_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);

static atomic_bool hangs; /* the disk, for threads that are not the first */
static atomic_bool is_hanging;

ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    while (atomic_load(&hangs) && getpid() != gettid()) {
        atomic_store(&is_hanging, true);
        (void)nanosleep(&moment, NULL);
    }
    return __real_pwrite(descriptor, bytes, size, offset);
}

static int make_path(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/zeta-test-file-%ld.json", (long)getpid());
    (void)unlink(path);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

/* Counts the elements of the file, a whole document, whose member "n" is there. */
static size_t count_lines(void)
{
    struct json_object *document = json_object_from_file(path);
    size_t count = 0;

    if (!document)
        fail_msg("%s is not JSON: %s", path, json_util_get_last_err());
    for (size_t i = 0; i < json_object_array_length(document); i++)
        count += json_object_object_get_ex(json_object_array_get_idx(document, i), "n", NULL);
    (void)json_object_put(document);
    return count;
}

static bool write_line(uint32_t *hint, const char *line)
{
    struct zeta_trace_slot *slot = zeta_trace_slot_take(hint);

    if (!slot)
        return false;
    zeta_trace_slot_write(slot, line, (uint32_t)strlen(line), true);
    zeta_trace_slot_give(slot);
    return true;
}

/* Rule 19.1. */
static void file__one_line__is_a_document(void **state)
{
    struct zeta_trace_counts counts;
    struct stat status;
    uint32_t hint = 0;

    (void)state;
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    assert_true(write_line(&hint, "{\"n\":1},\n"));
    zeta_trace_file_counts(&counts);
    assert_int_equal(counts.records, 1);
    assert_int_equal(counts.lost, 0);
    zeta_trace_file_close();
    assert_int_equal(count_lines(), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_false(write_line(&hint, "{\"n\":1},\n"));
}

/* Rule 19.1. */
static void file__existing__is_refused(void **state)
{
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_false(zeta_trace_file_is_open());
}

static void file__second_open__is_refused(void **state)
{
    (void)state;
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_trace_file_open("/tmp/other.json", MEGABYTE),
                     ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_string_equal(zeta_trace_file_path(), path);
    zeta_trace_file_close();
}

/* Rule 19.7. */
static void file__limit__loses_and_counts(void **state)
{
    struct zeta_trace_counts counts;
    uint64_t written = 0;
    uint64_t refused = 0;
    uint32_t hint = 0;

    (void)state;
    assert_int_equal(zeta_trace_file_open(path, 3 * ZETA_TRACE_CHUNK_BYTES), ZE_RESULT_SUCCESS);
    for (int i = 0; i < LINES; i++) {
        if (write_line(&hint, "{\"n\":1,\"rest\":\"0123456789\"},\n"))
            written++;
        else
            refused++;
    }
    zeta_trace_file_counts(&counts);
    assert_cmp(written, >, 0);
    assert_cmp(refused, >, 0);
    assert_int_equal(counts.records, written);
    assert_int_equal(counts.lost, refused);
    assert_cmp(counts.bytes, <=, 3 * ZETA_TRACE_CHUNK_BYTES);
    zeta_trace_file_close();
    assert_int_equal(count_lines(), written);
    /* The head and the tail say it too. */
    struct json_object *document = json_object_from_file(path);
    struct json_object *arguments = NULL;
    struct json_object *lost = NULL;
    assert_true(
        json_object_object_get_ex(json_object_array_get_idx(document, 0), "args", &arguments));
    assert_true(json_object_object_get_ex(arguments, "lost", &lost));
    assert_int_equal(json_object_get_uint64(lost), refused);
    (void)json_object_put(document);
}

/* Rule 19.7. */
static void file__limit_of_the_process__is_no_signal(void **state)
{
    struct rlimit before;
    struct rlimit small;
    struct zeta_trace_counts counts;
    uint32_t hint = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    for (int i = 0; i < LINES; i++)
        (void)write_line(&hint, "{\"n\":1,\"rest\":\"0123456789\"},\n");
    zeta_trace_file_counts(&counts);
    assert_cmp(counts.records, >, 0);
    assert_cmp(counts.lost, >, 0);
    zeta_trace_file_close();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(count_lines(), counts.records);
}

static void file__slots_in_use__are_not_given_twice(void **state)
{
    struct zeta_trace_slot *slots[300];
    uint32_t hint = 7;
    size_t count = 0;
    struct zeta_trace_counts counts;

    (void)state;
    assert_int_equal(zeta_trace_file_open(path, 64 * MEGABYTE), ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < 300; i++) {
        slots[count] = zeta_trace_slot_take(&hint);
        for (size_t j = 0; slots[count] && j < count; j++)
            assert_ptr_not_equal(slots[count], slots[j]);
        count += slots[count] != NULL;
    }
    zeta_trace_file_counts(&counts);
    assert_in_range(count, 64, 299);
    assert_int_equal(counts.lost, 300 - count);
    for (size_t i = 0; i < count; i++)
        zeta_trace_slot_give(slots[i]);
    assert_true(write_line(&hint, "{\"n\":1},\n"));
    zeta_trace_file_close();
}

/* Rule 19.6. */
static void file__call_in_flight_at_the_end__stays_visible(void **state)
{
    static const char open_line[] = "{\"n\":1,\"ph\":\"B\"},\n";
    uint32_t hint = 0;
    struct zeta_trace_slot *slot;

    (void)state;
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    slot = zeta_trace_slot_take(&hint);
    zeta_trace_slot_show(slot, open_line, sizeof(open_line) - 1);
    zeta_trace_file_close();
    zeta_trace_slot_write(slot, "{\"n\":2},\n", 9, true);
    zeta_trace_slot_give(slot);
    assert_int_equal(count_lines(), 2);

    /* The slot is usable in the next file, and nothing of the first one is in it. */
    (void)unlink(path);
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    assert_true(write_line(&hint, "{\"n\":3},\n"));
    zeta_trace_file_close();
    assert_int_equal(count_lines(), 1);
}

static void *write_many(void *argument)
{
    uint32_t hint = *(const uint32_t *)argument;

    for (int i = 0; i < LINES; i++) {
        static const char open_line[] = "{\"n\":0,\"ph\":\"B\"},\n";
        struct zeta_trace_slot *slot = zeta_trace_slot_take(&hint);

        if (!slot)
            continue;
        zeta_trace_slot_show(slot, open_line, sizeof(open_line) - 1);
        zeta_trace_slot_write(slot, "{\"n\":1},\n", 9, true);
        zeta_trace_slot_give(slot);
    }
    return NULL;
}

/* All start at the same slot, so that they meet. */
static void file__many_threads__lose_nothing(void **state)
{
    pthread_t threads[THREADS];
    uint32_t hint = 0;
    struct zeta_trace_counts counts;

    (void)state;
    assert_int_equal(zeta_trace_file_open(path, 64 * MEGABYTE), ZE_RESULT_SUCCESS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &hint), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    zeta_trace_file_counts(&counts);
    zeta_trace_file_close();
    assert_int_equal(counts.lost, 0);
    assert_int_equal(counts.records, THREADS * LINES);
    assert_int_equal(count_lines(), THREADS * LINES);
}

/* Files are closed and opened while threads write. */
static void file__closed_under_writers__is_a_document_each_time(void **state)
{
    pthread_t threads[THREADS];
    uint32_t hint = 0;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &hint), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(zeta_trace_file_open(path, 64 * MEGABYTE), ZE_RESULT_SUCCESS);
        (void)usleep(1000); /* any moment will do: writers are at different places */
        zeta_trace_file_close();
        (void)count_lines();
        (void)unlink(path);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(zeta_trace_file_is_open());
}

/* A process that daemonises closes descriptors it does not know, and opens its own. Rule 19.8. */
static void file__descriptor_taken_away__writes_to_nobody(void **state)
{
    uint32_t hint = 0;
    char other[300];
    struct stat status;
    FILE *file;

    (void)state;
    (void)snprintf(other, sizeof(other), "%s.other", path);
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    for (int fd = 3; fd < 64; fd++)
        (void)close(fd);
    file = fopen(other, "w");
    assert_non_null(file);
    for (int fd = fileno(file) + 1; fd < 64; fd++)
        assert_cmp(dup(fileno(file)), >=, 0);
    for (int i = 0; i < LINES; i++)
        (void)write_line(&hint, "{\"n\":1,\"rest\":\"0123456789\"},\n");
    zeta_trace_file_close();
    assert_int_equal(stat(other, &status), 0);
    assert_int_equal(status.st_size, 0);
    (void)unlink(other);
}

/* Rule 19.6. */
static void file__killed_writer__leaves_whole_lines(void **state)
{
    pid_t child = fork();
    size_t lines = 0;
    char line[4096];
    FILE *file;
    int status;

    (void)state;
    if (child == 0) {
        uint32_t hint = 0;

        if (zeta_trace_file_open(path, MEGABYTE) != ZE_RESULT_SUCCESS)
            _exit(1);
        for (int i = 0; i < 100; i++)
            (void)write_line(&hint, "{\"n\":1},\n");
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        lines += strstr(line, "{\"n\":1},") != NULL;
    (void)fclose(file);
    assert_int_equal(lines, 100);
}

/* Rule 19.11. */
static void file__forked_child__has_a_file_of_its_own(void **state)
{
    uint32_t hint = 0;
    struct zeta_trace_slot *slot;
    uint64_t ticket;
    pid_t child;
    int status;

    (void)state;
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    slot = zeta_trace_slot_take(&hint);
    ticket = zeta_trace_slot_ticket(slot);
    assert_ptr_equal(zeta_trace_slot_of(ticket), slot);
    child = fork();
    if (child == 0) {
        char own[300];

        zeta_trace_file_forget();
        (void)snprintf(own, sizeof(own), "%s.child", path);
        if (zeta_trace_slot_of(ticket) || zeta_trace_file_is_open())
            _exit(1);
        if (zeta_trace_file_open(own, MEGABYTE) != ZE_RESULT_SUCCESS)
            _exit(2);
        if (!write_line(&hint, "{\"n\":1},\n"))
            _exit(3);
        zeta_trace_file_close();
        _exit(unlink(own));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    zeta_trace_slot_write(slot, "{\"n\":1},\n", 9, true);
    zeta_trace_slot_give(slot);
    zeta_trace_file_close();
    assert_int_equal(count_lines(), 1);
}

static void *write_slowly(void *argument)
{
    uint32_t hint = 0;

    (void)argument;
    (void)write_line(&hint, "{\"n\":1},\n");
    return NULL;
}

/* A thread that still writes to the file before would write into the next one. */
static void file__opened_while_a_thread_hangs__is_refused_until_it_is_out(void **state)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    uint32_t hint = 0;
    pthread_t thread;

    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    atomic_store(&hangs, true);
    assert_int_equal(pthread_create(&thread, NULL, write_slowly, NULL), 0);
    while (!atomic_load(&is_hanging))
        (void)nanosleep(&moment, NULL);
    zeta_trace_file_close();
    assert_int_equal(remove_path(state), 0);
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_ERROR_NOT_AVAILABLE);
    atomic_store(&hangs, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(zeta_trace_file_open(path, MEGABYTE), ZE_RESULT_SUCCESS);
    assert_true(write_line(&hint, "{\"n\":1},\n"));
    zeta_trace_file_close();
    assert_int_equal(count_lines(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file__one_line__is_a_document, make_path, remove_path),
        cmocka_unit_test_setup_teardown(file__existing__is_refused, make_path, remove_path),
        cmocka_unit_test_setup_teardown(file__second_open__is_refused, make_path, remove_path),
        cmocka_unit_test_setup_teardown(file__limit__loses_and_counts, make_path, remove_path),
        cmocka_unit_test_setup_teardown(file__limit_of_the_process__is_no_signal, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(file__slots_in_use__are_not_given_twice, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(file__call_in_flight_at_the_end__stays_visible, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(file__many_threads__lose_nothing, make_path, remove_path),
        cmocka_unit_test_setup_teardown(file__closed_under_writers__is_a_document_each_time,
                                        make_path, remove_path),
        cmocka_unit_test_setup_teardown(
            file__opened_while_a_thread_hangs__is_refused_until_it_is_out, make_path, remove_path),
        cmocka_unit_test_setup_teardown(file__killed_writer__leaves_whole_lines, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(file__forked_child__has_a_file_of_its_own, make_path,
                                        remove_path),
        cmocka_unit_test_setup_teardown(file__descriptor_taken_away__writes_to_nobody, make_path,
                                        remove_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
