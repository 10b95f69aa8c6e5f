/* First queues of several threads at the same time: each finds the device prepared. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host.h"
#include "tests/support/suite.h"

enum { THREADS = 4, ROUNDS = 20 };

/* A thread that makes the queue when all have come. */
struct creator {
    struct host *host;
    pthread_barrier_t *start;
    struct zeta_plugin_queue *queue;
};

static void *create(void *argument)
{
    struct creator *creator = argument;
    const struct zeta_plugin_queue_desc desc = {.struct_size = sizeof(desc)};
    const struct host *host = creator->host;

    pthread_barrier_wait(creator->start);
    (void)host->compute->queue_create(host->self, host->device, &desc, &creator->queue);
    return NULL;
}

static void create_at_once(struct host *host)
{
    struct creator creators[THREADS] = {{0}};
    pthread_t threads[THREADS];
    pthread_barrier_t start;

    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++) {
        creators[i] = (struct creator){.host = host, .start = &start};
        assert_int_equal(pthread_create(&threads[i], NULL, create, &creators[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    for (size_t i = 0; i < THREADS; i++) {
        assert_non_null(creators[i].queue);
        host->compute->queue_destroy(host->self, creators[i].queue);
    }
}

static void queues__first_ones_of_four_threads__all_made(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct host host;

        host_open(&host, NULL);
        create_at_once(&host);
        host_close(&host);
    }
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues__first_ones_of_four_threads__all_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
