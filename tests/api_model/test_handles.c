/*
 * Bad handles in every place where the API reads one: an error each time, never a crash.
 *
 * Runs against the real implementations; none of them may be reached. The objects are bare ones,
 * made without the core being initialised.
 */
#include "tests/api_model/handle_entries.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CHURN 3000u

/* Every entry gets so many random values; fewer where each call takes many times as long. */
#define RANDOM_VALUES (HAVE_THREAD_SANITIZER ? 20000u : 100000u)

#define MOST_THREADS 16

_Alignas(16) char handle_scratch[65536];

static void *live[ZETA_KIND_COUNT];

static void *make(enum zeta_kind kind)
{
    void *object = NULL;

    assert_int_equal(zeta_object_create(kind, sizeof(struct zeta_object), &object),
                     ZE_RESULT_SUCCESS);
    return object;
}

static int set_up(void **state)
{
    (void)state;
    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return -1;
    for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++) {
        zeta_object_set_finisher((enum zeta_kind)kind,
                                 NULL); /* bare objects have nothing to free */
        live[kind] = make((enum zeta_kind)kind);
    }
    return 0;
}

static void expect_refused(const struct handle_entry *entry, void *value)
{
    ze_result_t result = entry->call(value, live);

    if (result != ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
        fail_msg("%s, %s = %p: 0x%x", entry->function, entry->parameter, value, (unsigned)result);
}

/* splitmix64: all 64 bits vary, the sequence is the same in every run. */
static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool is_live(uint64_t value)
{
    for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++)
        if ((uint64_t)(uintptr_t)live[kind] == value)
            return true;
    return false;
}

/* Every other value is near a live handle: those look best to a range check. */
static uint64_t next_value(uint64_t *seed)
{
    uint64_t value = next_random(seed);
    uint64_t near = (uint64_t)(uintptr_t)live[1 + value % (ZETA_KIND_COUNT - 1)];

    if (value & 0x100)
        value = near ^ (next_random(seed) & 0xffffffff >> (value >> 32) % 32);
    return is_live(value) ? 1 : value;
}

static void entries__table__covers_the_api(void **state)
{
    bool kinds[ZETA_KIND_COUNT] = {false};

    (void)state;
    assert_cmp(handle_entries_count, >, 400);
    for (size_t i = 0; i < handle_entries_count; i++)
        kinds[handle_entries[i].kind] = true;
    for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++)
        assert_true(kinds[kind]);
}

static void entries__null__is_refused_where_it_is_required(void **state)
{
    (void)state;
    for (size_t i = 0; i < handle_entries_count; i++)
        if (!handle_entries[i].optional)
            expect_refused(&handle_entries[i], NULL);
}

/* Rule 3.1. */
static void entries__handles_of_all_other_kinds__are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < handle_entries_count; i++)
        for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++)
            if (kind != (int)handle_entries[i].kind)
                expect_refused(&handle_entries[i], live[kind]);
}

/* A part of the random test: every threads-th entry, beginning with the first. */
struct part {
    pthread_t thread;
    size_t first;
    size_t threads;
    unsigned values;
    uint64_t wrong_value; /* of the first answer that was not the expected one */
    const struct handle_entry *wrong;
};

static void *run_part(void *argument)
{
    struct part *part = argument;
    uint64_t seed = 20 + part->first;

    for (size_t i = part->first; i < handle_entries_count; i += part->threads) {
        for (unsigned n = 0; n < part->values; n++) {
            uint64_t value = next_value(&seed);

            if (handle_entries[i].call((void *)(uintptr_t)value, live) !=
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE) {
                part->wrong = &handle_entries[i];
                part->wrong_value = value;
                return NULL;
            }
        }
    }
    return NULL;
}

/* Rule 3.1. */
static void entries__random_values__are_refused(void **state)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = processors < 1 ? 1 : (size_t)processors;
    struct part parts[MOST_THREADS] = {{.first = 0}};

    (void)state;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    for (size_t i = 0; i < threads; i++) {
        parts[i].first = i;
        parts[i].threads = threads;
        parts[i].values = RANDOM_VALUES;
        assert_int_equal(pthread_create(&parts[i].thread, NULL, run_part, &parts[i]), 0);
    }
    for (size_t i = 0; i < threads; i++)
        assert_int_equal(pthread_join(parts[i].thread, NULL), 0);
    for (size_t i = 0; i < threads; i++)
        if (parts[i].wrong)
            fail_msg("%s, %s = 0x%llx was accepted", parts[i].wrong->function,
                     parts[i].wrong->parameter, (unsigned long long)parts[i].wrong_value);
}

/* Rule 3.1. */
static void entries__stale_handles_after_churn__are_refused(void **state)
{
    static void *dead[CHURN];

    (void)state;
    for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++) {
        for (unsigned n = 0; n < CHURN; n++) {
            dead[n] = make((enum zeta_kind)kind);
            /* Some live for a while, so that the order of dying is another one. */
            if (n % 3 != 0) {
                assert_true(zeta_object_retire(dead[n]));
                zeta_object_unpin(dead[n]);
            }
        }
        for (unsigned n = 0; n < CHURN; n += 3) {
            assert_true(zeta_object_retire(dead[n]));
            zeta_object_unpin(dead[n]);
        }
        for (size_t i = 0; i < handle_entries_count; i++)
            if ((int)handle_entries[i].kind == kind)
                for (unsigned n = 0; n < CHURN; n++)
                    expect_refused(&handle_entries[i], dead[n]);
    }
}

static void entries__after_close__are_uninitialized(void **state)
{
    (void)state;
    zeta_object_close();
    for (size_t i = 0; i < handle_entries_count; i++)
        assert_int_equal(handle_entries[i].call(live[handle_entries[i].kind], live),
                         ZE_RESULT_ERROR_UNINITIALIZED);
}

SUITE(handles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries__table__covers_the_api),
        cmocka_unit_test(entries__null__is_refused_where_it_is_required),
        cmocka_unit_test(entries__handles_of_all_other_kinds__are_refused),
        cmocka_unit_test(entries__random_values__are_refused),
        cmocka_unit_test(entries__stale_handles_after_churn__are_refused),
        cmocka_unit_test(entries__after_close__are_uninitialized),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
