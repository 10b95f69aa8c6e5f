/* Files: what survives a kill, what a bound does, what is said when there is no room. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/container.h"

#define KIB 1024u

struct bed {
    char folder[64];
    char path[96];
};

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    if (!bed)
        return -1;
    (void)snprintf(bed->folder, sizeof(bed->folder), "/tmp/zeta-bounded-XXXXXX");
    if (!mkdtemp(bed->folder))
        return -1;
    (void)snprintf(bed->path, sizeof(bed->path), "%s/file", bed->folder);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    int result;

    (void)unlink(bed->path);
    /* Fails if something was left beside the file. */
    result = rmdir(bed->folder);
    free(bed);
    return result;
}

static struct zeta_container_writer *create(const struct bed *bed, uint64_t limit)
{
    struct zeta_container_problem problem = {""};
    struct zeta_container_writer *writer = NULL;

    if (zeta_container_create_file(bed->path, ZETA_CONTAINER_RECORDING, limit, &problem, &writer) !=
        ZETA_CONTAINER_OK)
        fail_msg("%s", problem.text);
    return writer;
}

static struct zeta_container_reader *open_reader(const struct bed *bed)
{
    struct zeta_container_problem problem = {""};
    struct zeta_container_reader *reader = NULL;

    if (zeta_container_open_file(bed->path, &problem, &reader) != ZETA_CONTAINER_OK)
        fail_msg("%s", problem.text);
    return reader;
}

/** Appends a chunk of that many bytes that begins with a number. */
static enum zeta_container_result append(struct zeta_container_writer *writer,
                                         enum zeta_chunk_type type, uint32_t number, size_t bytes)
{
    unsigned char *payload = calloc(1, bytes + sizeof(number));
    const struct zeta_container_part part = {payload, bytes};
    enum zeta_container_result result;

    assert_non_null(payload);
    memcpy(payload, &number, sizeof(number));
    result = zeta_container_append(writer, type, 1, &part, 1);
    free(payload);
    return result;
}

static uint64_t file_size(const struct bed *bed)
{
    struct stat status;

    assert_int_equal(stat(bed->path, &status), 0);
    return (uint64_t)status.st_size;
}

/* Rule 16.12. */
static void create__file__is_of_its_owner_and_new(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_writer *writer = create(bed, 0);
    struct zeta_container_writer *second = NULL;
    struct zeta_container_problem problem = {""};
    struct stat status;

    assert_int_equal(stat(bed->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(
        zeta_container_create_file(bed->path, ZETA_CONTAINER_RECORDING, 0, &problem, &second),
        ZETA_CONTAINER_IO);
    assert_non_null(strstr(problem.text, bed->path));
    assert_non_null(strstr(problem.text, "exists"));
    assert_int_equal(
        zeta_container_create_file(bed->path, ZETA_CONTAINER_RECORDING, 10, &problem, &second),
        ZETA_CONTAINER_FULL);
    zeta_container_writer_destroy(writer);
}

/** What mktemp gives, once; a link is none, wherever it leads. Rule 16.12. */
static void create__empty_file__is_taken_by_one(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_problem problem = {""};
    struct zeta_container_writer *second = NULL;
    char linked[sizeof(bed->path) + 8];
    int descriptor = open(bed->path, O_CREAT | O_EXCL | O_WRONLY, 0600);

    assert_cmp(descriptor, >=, 0);
    assert_int_equal(close(descriptor), 0);
    (void)snprintf(linked, sizeof(linked), "%s.link", bed->path);
    assert_int_equal(symlink(bed->path, linked), 0);
    assert_int_equal(
        zeta_container_create_file(linked, ZETA_CONTAINER_RECORDING, 0, &problem, &second),
        ZETA_CONTAINER_IO);
    assert_int_equal(unlink(linked), 0);
    zeta_container_writer_destroy(create(bed, 0));
    assert_int_equal(file_size(bed), ZETA_CONTAINER_HEADER_BYTES);
    assert_int_equal(
        zeta_container_create_file(bed->path, ZETA_CONTAINER_RECORDING, 0, &problem, &second),
        ZETA_CONTAINER_IO);
    assert_non_null(strstr(problem.text, "exists"));
}

static void open__what_is_no_file__says_why(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_reader *reader = NULL;
    struct zeta_container_problem problem = {""};

    assert_int_equal(zeta_container_open_file(bed->path, &problem, &reader), ZETA_CONTAINER_IO);
    assert_non_null(strstr(problem.text, "No such file"));
    assert_int_equal(zeta_container_open_file(bed->folder, &problem, &reader), ZETA_CONTAINER_IO);
    assert_non_null(strstr(problem.text, "not a regular file"));
}

/* Rule 16.13. */
static void kill__after_a_flush__loses_only_what_came_later(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_reader *reader;
    struct zeta_container_chunk chunk;
    uint32_t seen = 0;
    int status = 0;
    pid_t child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0) {
        struct zeta_container_problem problem;
        struct zeta_container_writer *writer = NULL;

        if (zeta_container_create_file(bed->path, ZETA_CONTAINER_RECORDING, 0, &problem, &writer))
            _exit(1);
        for (uint32_t i = 0; i < 10; i++) {
            (void)append(writer, ZETA_CHUNK_DATA, i, 100);
            if (i == 6 && zeta_container_flush(writer))
                _exit(1);
        }
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    reader = open_reader(bed);
    while (zeta_container_next(reader, &chunk) == ZETA_CONTAINER_OK) {
        const void *payload = NULL;
        uint32_t number;

        assert_int_equal(zeta_container_payload(reader, &payload), ZETA_CONTAINER_OK);
        memcpy(&number, payload, sizeof(number));
        assert_int_equal(number, seen++);
    }
    assert_int_equal(seen, 7);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_CUT);
    assert_non_null(strstr(zeta_container_reader_problem(reader), "cut at byte"));
    zeta_container_reader_destroy(reader);
}

/* Rule 16.13. */
static void read__growing_file__goes_on_where_it_was(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_writer *writer = create(bed, 0);
    struct zeta_container_reader *reader;
    struct zeta_container_chunk chunk;

    assert_int_equal(zeta_container_flush(writer), ZETA_CONTAINER_OK);
    reader = open_reader(bed);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_CUT);
        assert_int_equal(append(writer, ZETA_CHUNK_DATA, i, 3 + i), ZETA_CONTAINER_OK);
        assert_int_equal(zeta_container_flush(writer), ZETA_CONTAINER_OK);
        assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_OK);
        assert_int_equal(chunk.payload_bytes, 3 + i);
    }
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_END);
    zeta_container_reader_destroy(reader);
    zeta_container_writer_destroy(writer);
}

/* Rule 16.14. */
static void bound__many_chunks__keeps_the_newest_and_all_that_stays(void **state)
{
    const struct bed *bed = *state;
    const uint64_t limit = 64 * KIB;
    struct zeta_container_writer *writer = create(bed, limit);
    struct zeta_container_reader *reader;
    struct zeta_container_chunk chunk;
    struct zeta_chunk_cut cut = {0};
    uint32_t next = UINT32_MAX;
    uint32_t sets = 0;
    uint32_t data = 0;
    const void *payload = NULL;

    assert_int_equal(append(writer, ZETA_CHUNK_SET, 77, 1000), ZETA_CONTAINER_OK);
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal(append(writer, ZETA_CHUNK_DATA, i, 500 + i % 700), ZETA_CONTAINER_OK);
        if (i == 1000)
            assert_int_equal(append(writer, ZETA_CHUNK_SET, 78, 1000), ZETA_CONTAINER_OK);
        assert_int_equal(zeta_container_flush(writer), ZETA_CONTAINER_OK);
        assert_cmp(file_size(bed), <=, limit);
    }
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    assert_cmp(file_size(bed), <=, limit);
    reader = open_reader(bed);
    while (zeta_container_next(reader, &chunk) == ZETA_CONTAINER_OK) {
        uint32_t number;

        assert_int_equal(zeta_container_payload(reader, &payload), ZETA_CONTAINER_OK);
        memcpy(&number, payload, sizeof(number));
        if (chunk.type == ZETA_CHUNK_SET) {
            assert_int_equal(number, 77 + sets++);
        } else if (chunk.type == ZETA_CHUNK_CUT) {
            assert_true(zeta_chunk_cut_read(payload, (size_t)chunk.payload_bytes, &cut));
        } else {
            /* Without a gap, up to the last one. */
            assert_true(next == UINT32_MAX || number == next);
            next = number + 1;
            data++;
        }
    }
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_END);
    assert_int_equal(sets, 2);
    assert_int_equal(next, 2000);
    assert_int_equal(cut.chunks + data, 2000);
    assert_cmp(cut.times, >, 10);
    assert_int_equal(zeta_container_lost(writer).chunks, cut.chunks);
    /* At least half of the room that data can have was kept. */
    assert_cmp(data * UINT64_C(1200), >, (limit - 4 * KIB) / 2 - 1200);
    zeta_container_reader_destroy(reader);
    zeta_container_writer_destroy(writer);
}

/* Rules 16.14, 16.15. */
static void bound__chunk_that_never_fits__is_refused_and_the_file_is_in_order(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_writer *writer = create(bed, 64 * KIB);
    struct zeta_container_reader *reader;
    struct zeta_container_chunk chunk;

    assert_int_equal(append(writer, ZETA_CHUNK_DATA, 1, 1000), ZETA_CONTAINER_OK);
    assert_int_equal(append(writer, ZETA_CHUNK_SET, 2, 80 * KIB), ZETA_CONTAINER_FULL);
    assert_non_null(strstr(zeta_container_writer_problem(writer), "allow a larger file"));
    /* What is there was not given up for it. */
    assert_int_equal(zeta_container_lost(writer).chunks, 0);
    assert_int_equal(append(writer, ZETA_CHUNK_DATA, 3, 1000), ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_OK);
    zeta_container_writer_destroy(writer);
    reader = open_reader(bed);
    while (zeta_container_next(reader, &chunk) == ZETA_CONTAINER_OK)
        ;
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_END);
    zeta_container_reader_destroy(reader);
}

static void write__no_more_room__fails_with_the_reason_from_then_on(void **state)
{
    const struct bed *bed = *state;
    struct zeta_container_writer *writer = create(bed, 0);
    struct zeta_container_reader *reader;
    struct zeta_container_chunk chunk;
    struct rlimit before;
    struct rlimit limit;

    /* The limit of the process stands for a full disk; its signal is ignored. */
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    assert_int_equal(append(writer, ZETA_CHUNK_DATA, 1, 1000), ZETA_CONTAINER_OK);
    assert_int_equal(append(writer, ZETA_CHUNK_DATA, 2, 8000), ZETA_CONTAINER_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(zeta_container_flush(writer), ZETA_CONTAINER_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(zeta_container_writer_problem(writer), "File too large"));
    assert_int_equal(append(writer, ZETA_CHUNK_DATA, 3, 10), ZETA_CONTAINER_IO);
    assert_int_equal(zeta_container_finish(writer), ZETA_CONTAINER_IO);
    zeta_container_writer_destroy(writer);
    reader = open_reader(bed);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_OK);
    assert_int_equal(zeta_container_next(reader, &chunk), ZETA_CONTAINER_AT_CUT);
    zeta_container_reader_destroy(reader);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUITE(bounded)
{
    const struct CMUnitTest tests[] = {
        CASE(create__file__is_of_its_owner_and_new),
        CASE(create__empty_file__is_taken_by_one),
        CASE(open__what_is_no_file__says_why),
        CASE(kill__after_a_flush__loses_only_what_came_later),
        CASE(read__growing_file__goes_on_where_it_was),
        CASE(bound__many_chunks__keeps_the_newest_and_all_that_stays),
        CASE(bound__chunk_that_never_fits__is_refused_and_the_file_is_in_order),
        CASE(write__no_more_room__fails_with_the_reason_from_then_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
