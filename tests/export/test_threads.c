/* Exporting and calculating from several threads, with more descriptions than are kept. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define THREADS 4u
#define ROUNDS 40u
#define SLOTS 30u

static struct source sources[MAX_GROUPS];
static uint32_t source_count;

struct worker {
    pthread_t thread;
    uint32_t number;
    uint32_t wrong;
    struct outcome in_place;
    struct outcome offline;
};

static void *work(void *context)
{
    struct worker *worker = context;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        const struct source *source = &sources[(round + worker->number) % source_count];
        uint8_t *raw = malloc((size_t)SLOTS * source->record_bytes);
        size_t bytes;
        size_t size = 0;
        uint8_t *data = NULL;

        if (!raw)
            break;
        bytes = make_raw(source, round + 1, SLOTS, raw);
        if (zetMetricGroupGetExportDataExp(source->group, raw, bytes, &size, NULL) ==
            ZE_RESULT_SUCCESS)
            data = malloc(size);
        if (data && zetMetricGroupGetExportDataExp(source->group, raw, bytes, &size, data) ==
                        ZE_RESULT_SUCCESS) {
            calculate_in_place(source, MAXIMA, raw, bytes, &worker->in_place);
            calculate_offline(source->driver, MAXIMA, data, size, 0, &worker->offline);
            worker->wrong += worker->in_place.total != worker->offline.total ||
                             !same_values(worker->in_place.values, worker->offline.values,
                                          worker->in_place.total);
        } else {
            worker->wrong++;
        }
        free(data);
        free(raw);
    }
    return NULL;
}

/* Rule 16.11. */
static void calculate__several_threads__each_gets_its_values(void **state)
{
    struct worker workers[THREADS] = {{0}};

    (void)state;
    EXPECT_OK(zeInit(0));
    source_count = find_sources(sources);
    assert_cmp(source_count, >, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].in_place = outcome_make();
        workers[i].offline = outcome_make();
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
        outcome_free(&workers[i].in_place);
        outcome_free(&workers[i].offline);
    }
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculate__several_threads__each_gets_its_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
