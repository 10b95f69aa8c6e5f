/*
 * Queries while others work: two more queues of the process, copies, and another process, which is
 * this program with the argument "noise".
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bed.h"
#include "tests/sanitizer.h"
#include "tests/support/suite.h"

extern char **environ;

#define THREADS 3u

struct noise {
    const struct bed *bed;
    uint32_t number;
    atomic_bool stop;
    atomic_uint rounds;
    pthread_t thread;
};

/* Launches and copies of all sizes, until told to stop. */
static void *make_noise(void *argument)
{
    struct noise *noise = argument;
    const struct bed *bed = noise->bed;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint8_t *memory = bed_memory(bed, 1u << 20);
    ze_kernel_handle_t count = bed_count(bed, (uint32_t *)(void *)memory);

    for (uint32_t i = 0; !atomic_load(&noise->stop); i++) {
        if (noise->number % 2 == 0)
            bed_count_append(list, count, i % 100);
        else
            EXPECT_OK(zeCommandListAppendMemoryCopy(list, memory + 4096, memory + (512u << 10),
                                                    i % 10000, NULL, 0, NULL));
        atomic_fetch_add(&noise->rounds, 1);
    }
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, memory));
    EXPECT_OK(zeCommandListDestroy(list));
    return NULL;
}

/* Another process: says when it works, and ends when its input does. */
static int noise_main(void)
{
    struct noise noise = {.number = 0};
    void *state = NULL;
    char letter = 'x';

    if (bed_setup(&state) != 0)
        return 1;
    noise.bed = state;
    (void)pthread_create(&noise.thread, NULL, make_noise, &noise);
    while (atomic_load(&noise.rounds) < 3)
        sleep_ms(1);
    if (write(STDOUT_FILENO, &letter, 1) != 1)
        return 2;
    while (read(STDIN_FILENO, &letter, 1) > 0)
        ;
    atomic_store(&noise.stop, true);
    (void)pthread_join(noise.thread, NULL);
    return bed_teardown(&state);
}

struct process {
    pid_t pid;
    int input, output;
};

static struct process start_process(void)
{
    char suite[] = "beside", word[] = "noise";
    char *arguments[] = {word, suite, word, NULL};
    struct process process;
    posix_spawn_file_actions_t actions;
    int in[2], out[2];
    char letter = 0;

    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    (void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, in[1]);
    (void)posix_spawn_file_actions_addclose(&actions, out[0]);
    assert_int_equal(
        posix_spawn(&process.pid, "/proc/self/exe", &actions, NULL, arguments, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(in[0]);
    (void)close(out[1]);
    process.input = in[1];
    process.output = out[0];
    assert_int_equal(read(process.output, &letter, 1), 1);
    assert_int_equal(letter, 'x');
    return process;
}

static void end_process(const struct process *process)
{
    int status = -1;

    (void)close(process->input);
    (void)close(process->output);
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    assert_int_equal(status, 0);
}

static void start_threads(const struct bed *bed, struct noise noise[THREADS])
{
    for (uint32_t i = 0; i < THREADS; i++) {
        noise[i].bed = bed;
        noise[i].number = i;
        atomic_store(&noise[i].stop, false);
        atomic_store(&noise[i].rounds, 0);
        assert_int_equal(pthread_create(&noise[i].thread, NULL, make_noise, &noise[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        while (atomic_load(&noise[i].rounds) < 3)
            sleep_ms(1);
    }
}

static void end_threads(struct noise noise[THREADS])
{
    for (uint32_t i = 0; i < THREADS; i++)
        atomic_store(&noise[i].stop, true);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(noise[i].thread, NULL), 0);
}

/* Rows of the product alone and beside others have the same exact counts. Rule 12.19. */
static void product__beside_others__its_own_counts_only(void **state)
{
    const struct bed *bed = *state;
    /* Sanitizers are slow, and what the GPU computes is the same through every loader. */
    const bool is_short = NO_MEMORY_FIGURES || harness_mode() != HARNESS_DIRECT;
    const uint32_t largest = is_short ? 64 : 256;
    ze_command_queue_handle_t queue = bed_queue(bed);
    struct noise noise[THREADS];
    struct process process;

    for (uint32_t n = 64; n <= largest; n *= 4) {
        struct bed_matmul matmul = bed_matmul_make(bed, n);
        zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 1);
        zet_metric_query_handle_t query = bed_query(pool, 0);
        ze_command_list_handle_t list = bed_list(bed);
        uint64_t alone[BED_EXACT], beside[BED_EXACT];
        struct bed_row row;

        bed_begin(list, query);
        bed_matmul_append(list, &matmul);
        bed_end(list, query, NULL);
        EXPECT_OK(zeCommandListClose(list));
        bed_run(queue, list);
        row = bed_result(bed->compute, query);
        bed_expect_matmul(&row, n);
        bed_exact(&row, alone);

        process = start_process();
        start_threads(bed, noise);
        for (int run = 0; run < 3; run++) {
            bed_run(queue, list);
            row = bed_result(bed->compute, query);
            bed_expect_matmul(&row, n);
            bed_exact(&row, beside);
            assert_memory_equal(alone, beside, sizeof(alone));
        }
        end_threads(noise);
        end_process(&process);
        EXPECT_OK(zeCommandListDestroy(list));
        bed_pool_drop(pool, &query, 1);
        bed_matmul_drop(bed, &matmul);
    }
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

/* Each thread has a queue and a pool of its own, and all of them work at once. */
struct asker {
    const struct bed *bed;
    uint32_t number;
    uint32_t wrong;
    pthread_t thread;
};

static void *ask(void *argument)
{
    enum { PLACES = 40 };
    struct asker *asker = argument;
    const struct bed *bed = asker->bed;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, PLACES);
    zet_metric_query_handle_t queries[PLACES];

    for (uint32_t i = 0; i < PLACES; i++)
        queries[i] = bed_query(pool, i);
    for (int round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < PLACES; i++) {
            bed_begin(list, queries[i]);
            bed_count_append(list, count, i + asker->number);
            bed_end(list, queries[i], NULL);
        }
        EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
        for (uint32_t i = 0; i < PLACES; i++) {
            struct bed_row row = bed_result(bed->compute, queries[i]);

            asker->wrong += bed_u64(&row, "GroupsDispatched") != i + asker->number;
            asker->wrong += bed_u64(&row, "KernelsLaunched") != 1;
            EXPECT_OK(zetMetricQueryReset(queries[i]));
        }
    }
    bed_pool_drop(pool, queries, PLACES);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    return NULL;
}

/* Rule 12.19. */
static void threads__with_queues_of_their_own__do_not_meet(void **state)
{
    struct asker askers[4] = {{0}};

    for (uint32_t i = 0; i < 4; i++) {
        askers[i].bed = *state;
        askers[i].number = 10 * i;
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        assert_int_equal(askers[i].wrong, 0);
    }
}

SUITE_WITH_ARGUMENTS(beside, count, arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product__beside_others__its_own_counts_only),
        cmocka_unit_test(threads__with_queues_of_their_own__do_not_meet),
    };

    if (count > 1 && strcmp(arguments[1], "noise") == 0)
        return noise_main();
    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
