/*
 * Files that are cut or damaged, without the API: every record that is given is one that was
 * recorded, in its order, and where one is missing there is a break or the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugins/replay/recording/source.h"
#include "tests/replay/igt_tape.h"
#include "tests/replay/tape.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define RECORDS 40u

static char scratch[256];

static int scratch_fd = -1;

/** Loads the scratch file as it stands. */
static struct zeta_replay_recording *load_again(struct zeta_replay_problem *problem)
{
    problem->text[0] = '\0';
    return zeta_replay_recording_load(scratch, NULL, problem);
}

/** The bytes of a file become another file, which is loaded. */
static struct zeta_replay_recording *load(const unsigned char *bytes, size_t size,
                                          struct zeta_replay_problem *problem)
{
    assert_int_equal(pwrite(scratch_fd, bytes, size, 0), (ssize_t)size);
    assert_int_equal(ftruncate(scratch_fd, (off_t)size), 0);
    return load_again(problem);
}

/** What a source gave. */
struct given {
    uint32_t records;
    uint32_t breaks;
    uint32_t before_break; /**< records before the last one */
};

/**
 * Reads the first stream. make gives record n; what comes must be records from 0 on, and no one may
 * be missing without a break. checked: the file has checksums, so every byte must be right.
 */
static struct given check_source(const struct zeta_replay_recording *recording,
                                 void (*make)(uint32_t n, unsigned char *record), bool checked)
{
    struct zeta_replay_request request = {.recording = recording, .set = &recording->sets[0]};
    struct zeta_replay_problem problem;
    struct zeta_replay_source *source;
    struct zeta_replay_gap gap;
    const unsigned char *record;
    struct given given = {0};
    unsigned char wanted[256];
    uint32_t n = 0;
    bool broken = false;

    request.streams[0].number = recording->streams[0].number;
    request.streams[0].tile = UINT32_MAX;
    request.stream_count = 1;
    source = zeta_replay_source_open(&request, &problem);
    assert_non_null(source);
    while ((record = zeta_replay_source_next(source, &gap)) != NULL) {
        if (gap.reason != ZETA_PLUGIN_BREAK_NONE) {
            given.breaks++;
            given.before_break = given.records;
            broken = true;
        }
        given.records++;
        if (!checked)
            continue;
        make(n, wanted);
        while (broken && n < RECORDS &&
               memcmp(record, wanted, recording->sets[0].record_bytes) != 0)
            make(++n, wanted);
        assert_memory_equal(record, wanted, recording->sets[0].record_bytes);
        broken = false;
        n++;
    }
    zeta_replay_source_close(source);
    return given;
}

static void make_taped(uint32_t n, unsigned char *record)
{
    struct tape_record made;

    tape_make_record(n, 0, &made);
    memcpy(record, &made, sizeof(made));
}

/** A small recording as bytes. */
static void make_container(struct tape_data *out_bytes)
{
    struct tape_data data = {0};
    struct tape tape;
    unsigned char buffer[4096];
    size_t got;
    FILE *in;

    tape_begin(&tape, "small.zrec");
    tape_device(&tape, 1, "Small", UINT32_MAX, 0);
    tape_clock(&tape, 1, 1000, 2000);
    tape_set(&tape, 1, "Timed", "first", 1);
    tape_stream(&tape, 1, 1, "time", 250000, 1, 1);
    for (uint32_t n = 0; n < RECORDS; n += 10) {
        tape_put_records(&data, n, n + 9, 0);
        tape_write(&tape, 1, &data);
    }
    tape_end(&tape, true);
    in = fopen(tape.path, "r");
    assert_non_null(in);
    while ((got = fread(buffer, 1, sizeof(buffer), in)) > 0)
        tape_put(out_bytes, buffer, got);
    (void)fclose(in);
    tape_remove(&tape);
}

/* Rule 17.11. */
static void container__cut_anywhere__gives_what_came_before(void **state)
{
    struct tape_data file = {0};
    struct zeta_replay_problem problem;
    uint32_t loaded = 0, last = RECORDS;

    (void)state;
    make_container(&file);
    zeta_replay_recording_free(load(file.bytes, file.size, &problem));
    for (size_t size = file.size; size > 0; size--) {
        struct zeta_replay_recording *recording = load_again(&problem);

        assert_int_equal(ftruncate(scratch_fd, (off_t)size - 1), 0);
        if (recording && recording->stream_count > 0) {
            const struct given given = check_source(recording, make_taped, true);

            assert_int_equal(given.breaks, 0);
            assert_int_equal(given.records % 10, 0);
            assert_true(size < file.size || given.records == RECORDS);
            assert_cmp(given.records, <=, last);
            last = given.records;
            loaded++;
        } else if (!recording) {
            assert_cmp(strlen(problem.text), >, 0);
        }
        zeta_replay_recording_free(recording);
    }
    assert_int_equal(last, 0);
    assert_cmp(loaded, >, 4 * 10 * TAPE_RECORD_BYTES);
    tape_data_finish(&file);
}

/* Rule 17.11. */
static void container__any_byte_damaged__gives_no_wrong_record(void **state)
{
    struct tape_data file = {0};
    struct zeta_replay_problem problem;
    uint32_t refused = 0, broken = 0, whole = 0;

    (void)state;
    make_container(&file);
    zeta_replay_recording_free(load(file.bytes, file.size, &problem));
    for (size_t at = 0; at < file.size; at++) {
        const unsigned char damaged = file.bytes[at] ^ (unsigned char)(1u << (at % 8));
        struct zeta_replay_recording *recording;

        assert_int_equal(pwrite(scratch_fd, &damaged, 1, (off_t)at), 1);
        recording = load_again(&problem);
        if (!recording) {
            assert_cmp(strlen(problem.text), >, 0);
            refused++;
        } else if (recording->stream_count > 0) {
            const struct given given = check_source(recording, make_taped, true);

            if (given.breaks > 0)
                broken++;
            if (given.records == RECORDS)
                whole++;
        }
        zeta_replay_recording_free(recording);
        assert_int_equal(pwrite(scratch_fd, &file.bytes[at], 1, (off_t)at), 1);
    }
    /* All three happen: descriptions, data in the middle, and what nothing depends on. */
    assert_cmp(refused, >, 1000);
    assert_cmp(broken, >=, 20 * TAPE_RECORD_BYTES);
    assert_cmp(whole, >, 0);
    tape_data_finish(&file);
}

static void make_igt(uint32_t n, unsigned char *record)
{
    igt_make_report(&igt_kinds[3], n, record);
}

static void make_igt_file(struct tape_data *file)
{
    igt_put_head(file, &igt_kinds[3]);
    for (uint32_t k = 0; k < RECORDS; k++)
        igt_put_report(file, &igt_kinds[3], k);
    igt_put_correlation(file, &igt_kinds[3], RECORDS);
}

/* Rule 17.12. */
static void igt__cut_anywhere__gives_whole_reports(void **state)
{
    struct tape_data file = {0};
    struct zeta_replay_problem problem;
    size_t head;

    (void)state;
    igt_put_version(&file, 1);
    igt_put_device(&file, &igt_kinds[3]);
    igt_put_topology(&file, &igt_kinds[3]);
    head = file.size;
    tape_data_finish(&file);
    make_igt_file(&file);
    for (size_t size = 0; size <= file.size; size += size < head + 600 ? 1 : 37) {
        struct zeta_replay_recording *recording = load(file.bytes, size, &problem);

        if (size < head) {
            assert_null(recording);
            assert_cmp(strlen(problem.text), >, 0);
            continue;
        }
        assert_non_null(recording);
        /* The first record behind the head is a correlation of 24 bytes. */
        assert_int_equal(check_source(recording, make_igt, true).records,
                         size < head + 24         ? 0
                         : size >= file.size - 24 ? RECORDS
                                                  : (size - head - 24) / 264);
        zeta_replay_recording_free(recording);
    }
    tape_data_finish(&file);
}

static void igt__any_byte_damaged__is_survived(void **state)
{
    struct tape_data file = {0};
    struct zeta_replay_problem problem;

    (void)state;
    make_igt_file(&file);
    zeta_replay_recording_free(load(file.bytes, file.size, &problem));
    for (size_t at = 0; at < 800; at++) {
        const unsigned char damaged = at % 2 ? 0xff : (unsigned char)(file.bytes[at] ^ 0x80);
        struct zeta_replay_recording *recording;

        assert_int_equal(pwrite(scratch_fd, &damaged, 1, (off_t)at), 1);
        recording = load_again(&problem);
        if (recording && recording->stream_count > 0)
            (void)check_source(recording, make_igt, false);
        zeta_replay_recording_free(recording);
        assert_int_equal(pwrite(scratch_fd, &file.bytes[at], 1, (off_t)at), 1);
    }
    tape_data_finish(&file);
}

/** Loads a file of one changed kind, which must be refused with these words. */
static void expect_refused(const struct igt_kind *kind, uint32_t version, const char *words)
{
    struct tape_data file = {0};
    struct zeta_replay_problem problem;

    igt_put_version(&file, version);
    igt_put_device(&file, kind);
    igt_put_topology(&file, kind);
    assert_null(load(file.bytes, file.size, &problem));
    if (!strstr(problem.text, words))
        fail_msg("\"%s\" lacks \"%s\"", problem.text, words);
    tape_data_finish(&file);
}

/* Rule 17.12. */
static void igt__what_is_not_known__is_refused_with_the_reason(void **state)
{
    struct igt_kind kind = igt_kinds[3];

    (void)state;
    expect_refused(&kind, 2, "version 2; version 1 can be read");
    kind.format = 9;
    expect_refused(&kind, 1, "format 9, whose layout on Tiger Lake is not known");
    kind.format = 5; /* of Haswell */
    expect_refused(&kind, 1, "format 5");
    kind.format = 10;
    kind.pci_id = 0x1234;
    expect_refused(&kind, 1, "PCI id 0x1234 is of no known platform");
    kind.pci_id = 0x9a49;
    kind.oa_hz = 0;
    expect_refused(&kind, 1, "0 Hz");
}

/* Record 2 stands before the reports that the kernel gave with it: the gap is further on.
 * Rule 17.12. */
static void igt__loss_before_its_gap__breaks_where_reports_are_missing(void **state)
{
    struct zeta_replay_problem problem;

    (void)state;
    /* Reports 25 to 27 are missing, or none at all. */
    for (uint32_t gap = 0; gap < 2; gap++) {
        struct tape_data file = {0};
        struct zeta_replay_recording *recording;
        struct given given;

        igt_put_head(&file, &igt_kinds[3]);
        for (uint32_t k = 0; k < 60; k++) {
            if (k == 20)
                igt_put_loss(&file, 2);
            if (k == 40)
                igt_put_correlation(&file, &igt_kinds[3], k);
            /* A sleep, long after. */
            if ((gap == 0 || k < 25 || k > 27) && k != 50)
                igt_put_report(&file, &igt_kinds[3], k);
        }
        recording = load(file.bytes, file.size, &problem);
        assert_non_null(recording);
        given = check_source(recording, make_igt, false);
        assert_int_equal(given.breaks, 1);
        assert_int_equal(given.before_break, gap == 0 ? 40 : 25);
        zeta_replay_recording_free(recording);
        tape_data_finish(&file);
    }
}

/* Rule 17.12. */
static void igt__time_goes_back__is_a_break(void **state)
{
    struct tape_data file = {0};
    struct zeta_replay_problem problem;
    struct zeta_replay_recording *recording;
    struct given given;

    (void)state;
    igt_put_head(&file, &igt_kinds[3]);
    for (uint32_t k = 20; k < 30; k++)
        igt_put_report(&file, &igt_kinds[3], k);
    for (uint32_t k = 0; k < 10; k++)
        igt_put_report(&file, &igt_kinds[3], k);
    recording = load(file.bytes, file.size, &problem);
    assert_non_null(recording);
    given = check_source(recording, make_igt, false);
    assert_int_equal(given.records, 20);
    assert_int_equal(given.breaks, 1);
    zeta_replay_recording_free(recording);
    tape_data_finish(&file);
}

static void file__that_is_none__is_refused(void **state)
{
    struct zeta_replay_problem problem;

    (void)state;
    assert_null(
        load((const unsigned char *)"hello, this is no recording at all, is it?", 42, &problem));
    assert_non_null(strstr(problem.text, "cannot be replayed"));
    assert_null(zeta_replay_recording_load("/nonexistent/file", NULL, &problem));
    assert_non_null(strstr(problem.text, "No such file"));
    assert_null(zeta_replay_recording_load("/", NULL, &problem));
    assert_non_null(strstr(problem.text, "not a regular file"));
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(scratch, sizeof(scratch), ZETA_BUILD_DIR "/replay-damage-XXXXXX");
    scratch_fd = mkstemp(scratch);
    return scratch_fd >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)close(scratch_fd);
    (void)unlink(scratch);
    return 0;
}

SUITE(damage)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container__cut_anywhere__gives_what_came_before),
        cmocka_unit_test(container__any_byte_damaged__gives_no_wrong_record),
        cmocka_unit_test(igt__cut_anywhere__gives_whole_reports),
        cmocka_unit_test(igt__any_byte_damaged__is_survived),
        cmocka_unit_test(igt__what_is_not_known__is_refused_with_the_reason),
        cmocka_unit_test(igt__loss_before_its_gap__breaks_where_reports_are_missing),
        cmocka_unit_test(igt__time_goes_back__is_a_break),
        cmocka_unit_test(file__that_is_none__is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
