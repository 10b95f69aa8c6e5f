/* Memory, copies and fills, and the order of commands in queues. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "host.h"
#include "plugins/vgpu/device/describe.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static int setup(void **state)
{
    struct host *host = calloc(1, sizeof(*host));

    host_open(host, NULL);
    *state = host;
    return 0;
}

static int teardown(void **state)
{
    struct host *host = *state;

    host_close(host);
    free(host);
    return 0;
}

static void memory__three_kinds__usable_and_aligned(void **state)
{
    struct host *host = *state;

    for (uint32_t kind = ZETA_PLUGIN_MEMORY_HOST; kind <= ZETA_PLUGIN_MEMORY_SHARED; kind++) {
        for (uint64_t align = 0; align <= 1u << 21; align = align ? align * 32 : 64) {
            const struct zeta_plugin_memory_desc desc = {.struct_size = sizeof(desc),
                                                         .kind = kind,
                                                         .size_bytes = 5000,
                                                         .align_bytes = align};
            char *address = NULL;

            assert_int_equal(
                host->compute->memory_allocate(host->self, host->device, &desc, (void **)&address),
                ZETA_PLUGIN_SUCCESS);
            assert_int_equal((uintptr_t)address % (align ? align : 4096), 0);
            memset(address, 1, 5000);
            assert_int_equal(host->compute->memory_free(host->self, address), ZETA_PLUGIN_SUCCESS);
        }
    }
}

static void memory__not_allocated__free_refused(void **state)
{
    struct host *host = *state;
    char *address = host_allocate(host, 100);

    assert_int_equal(host->compute->memory_free(host->self, address + 8),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(host->compute->memory_free(host->self, address), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host->compute->memory_free(host->self, address), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(host), "no allocation"));
}

static void memory__more_than_there_is__out_of_device_memory(void **state)
{
    static const struct host_setting settings[] = {{"memory_mib", "16"}, {NULL, NULL}};
    struct zeta_plugin_memory_desc desc = {
        .struct_size = sizeof(desc), .kind = ZETA_PLUGIN_MEMORY_DEVICE, .size_bytes = 10u << 20};
    struct host host;
    void *first, *second;

    (void)state;
    host_open(&host, settings);
    assert_int_equal(host.compute->memory_allocate(host.self, host.device, &desc, &first),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host.compute->memory_allocate(host.self, host.device, &desc, &second),
                     ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(host.compute->memory_free(host.self, first), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host.compute->memory_allocate(host.self, host.device, &desc, &second),
                     ZETA_PLUGIN_SUCCESS);
    desc.size_bytes = 17u << 20;
    assert_int_equal(host.compute->memory_allocate(host.self, host.device, &desc, &first),
                     ZETA_PLUGIN_UNSUPPORTED_SIZE);
    host_close(&host); /* frees what is left: the leak checker sees if not */
}

static void copy__between_device_heap_and_stack__bytes_arrive(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 1);
    char *device = host_allocate(host, 1u << 20);
    char *heap = malloc(1u << 20);
    char stack[4096];
    struct zeta_plugin_command commands[3];

    for (unsigned i = 0; i < 1u << 20; i++)
        heap[i] = (char)(i * 7 + i / 255);
    memset(stack, 0, sizeof(stack));
    commands[0] = host_copy(device, heap, 1u << 20);
    commands[1] = host_copy(stack, device + 5000, sizeof(stack));
    commands[2] = host_copy(heap, stack, sizeof(stack));
    assert_int_equal(host_run(host, queue, commands, 3), ZETA_PLUGIN_SUCCESS);
    assert_memory_equal(device + sizeof(stack), heap + sizeof(stack), (1u << 20) - sizeof(stack));
    assert_memory_equal(stack, device + 5000, sizeof(stack));
    assert_memory_equal(heap, stack, sizeof(stack));
    host->compute->queue_destroy(host->self, queue);
    free(heap);
}

static void fill__every_pattern_length__repeats(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    uint8_t *device = host_allocate(host, 200000);
    uint8_t *heap = malloc(200000);
    static const uint64_t lengths[] = {1, 3, 4, 16, 127, 70000};
    uint8_t *pattern = malloc(70000);

    for (unsigned i = 0; i < 70000; i++)
        pattern[i] = (uint8_t)(i * 13 + i / 256);
    for (unsigned l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
        struct zeta_plugin_command commands[2];

        for (unsigned i = 0; i < 2; i++) {
            commands[i] = host_command(ZETA_PLUGIN_COMMAND_FILL);
            commands[i].u.fill =
                (struct zeta_plugin_fill){i ? heap : device, pattern, lengths[l], 199999};
        }
        device[199999] = heap[199999] = 0xee;
        assert_int_equal(host_run(host, queue, commands, 2), ZETA_PLUGIN_SUCCESS);
        for (unsigned i = 0; i < 199999; i++)
            assert_int_equal(device[i], pattern[i % lengths[l]]);
        assert_memory_equal(device, heap, 200000);
    }
    host->compute->queue_destroy(host->self, queue);
    free(pattern);
    free(heap);
}

static void copy_region__box__only_the_box_changes(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 1);
    uint8_t *source = host_allocate(host, 16 * 16 * 16);
    uint8_t target[8 * 8 * 8];
    struct zeta_plugin_command command = host_command(ZETA_PLUGIN_COMMAND_COPY_REGION);

    for (unsigned i = 0; i < 16 * 16 * 16; i++)
        source[i] = (uint8_t)(i % 251);
    memset(target, 255, sizeof(target));
    command.u.region = (struct zeta_plugin_copy_region){
        .target = target,
        .source = source,
        .target_origin = {1, 2, 3},
        .source_origin = {4, 5, 6},
        .size = {5, 4, 3},
        .target_pitch_bytes = 8,
        .target_slice_bytes = 64,
        .source_pitch_bytes = 16,
        .source_slice_bytes = 256,
    };
    assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    for (unsigned z = 0; z < 8; z++) {
        for (unsigned y = 0; y < 8; y++) {
            for (unsigned x = 0; x < 8; x++) {
                const bool inside = x >= 1 && x < 6 && y >= 2 && y < 6 && z >= 3 && z < 6;
                const unsigned from = (z + 3) * 256 + (y + 3) * 16 + x + 3;

                assert_int_equal(target[z * 64 + y * 8 + x], inside ? source[from] : 255);
            }
        }
    }
    host->compute->queue_destroy(host->self, queue);
}

/* Each wild address loses the queue with a sentence, and a new queue works. */
static void copy__wild_address__fault_and_recovery(void **state)
{
    struct host *host = *state;
    char *device = host_allocate(host, 4096);
    char *closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct {
        void *target;
        const void *source;
        uint64_t bytes;
        const char *word;
    } wild[] = {
        {(void *)16, device, 8, "writes"},
        {device, (const void *)16, 8, "reads"},
        {device, closed, 8, "reads"},
        {closed, device, 8, "writes"},
        {device + 4000, device, 97, "writes"},
        {device, device + 4095, 2, "reads"},
        {(void *)UINTPTR_MAX, device, 16, "writes"},
    };

    for (unsigned i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        struct zeta_plugin_queue *queue = host_queue(host, 1);
        struct zeta_plugin_command command =
            host_copy(wild[i].target, wild[i].source, wild[i].bytes);

        assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_DEVICE_LOST);
        assert_int_equal(host->compute->queue_status(host->self, queue), ZETA_PLUGIN_DEVICE_LOST);
        assert_non_null(strstr(host_error(host), wild[i].word));
        assert_non_null(strstr(host_error(host), "destroy the queue"));
        assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_DEVICE_LOST);
        assert_int_equal(host->device_ops->status(host->self, host->device),
                         ZETA_PLUGIN_DEVICE_LOST);
        host->compute->queue_destroy(host->self, queue);
        assert_int_equal(host->device_ops->status(host->self, host->device), ZETA_PLUGIN_SUCCESS);
    }
    munmap(closed, 4096);
}

/* Two queues that wait for each other's events, handed over in the wrong and in the right order.
 * Rule 7.11. */
static void queues__wait_for_each_other__any_order_of_submission(void **state)
{
    struct host *host = *state;

    for (unsigned order = 0; order < 2; order++) {
        struct zeta_plugin_queue *queues[2] = {host_queue(host, 0), host_queue(host, 1)};
        struct zeta_plugin_event events[3] = {0};
        struct zeta_plugin_event *waits[3] = {&events[0], &events[1], &events[2]};
        uint32_t *cells = host_allocate(host, 64);
        const uint32_t numbers[2] = {11, 22};
        struct zeta_plugin_command first[2], second[2];
        struct host_work work[2];

        /* Queue 0: waits for 0, signals 1, then waits for 2. Queue 1: waits for 1, signals 2. */
        first[0] = host_copy(&cells[0], &numbers[0], 4);
        first[0].wait_events = &waits[0];
        first[0].wait_count = 1;
        first[0].signal_event = &events[1];
        first[1] = host_copy(&cells[2], &cells[1], 4);
        first[1].wait_events = &waits[2];
        first[1].wait_count = 1;
        second[0] = host_copy(&cells[1], &numbers[1], 4);
        second[0].wait_events = &waits[1];
        second[0].wait_count = 1;
        second[1] = host_command(ZETA_PLUGIN_COMMAND_BARRIER);
        second[1].signal_event = &events[2];

        assert_int_equal(host_submit(host, queues[order], order ? second : first, 2, &work[order]),
                         ZETA_PLUGIN_SUCCESS);
        host_sleep_ms(5);
        assert_int_equal(
            host_submit(host, queues[!order], order ? first : second, 2, &work[!order]),
            ZETA_PLUGIN_SUCCESS);
        host_sleep_ms(5);
        assert_int_equal(cells[0], 0);
        host_signal(host, &events[0]);
        assert_int_equal(host_wait(&work[0]), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(host_wait(&work[1]), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(cells[0], 11);
        assert_int_equal(cells[1], 22);
        assert_int_equal(cells[2], 22);
        for (unsigned i = 0; i < 2; i++)
            host->compute->queue_destroy(host->self, queues[i]);
    }
}

static void queue__destroyed_while_waiting__abandons_all(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    struct zeta_plugin_event never = {0};
    struct zeta_plugin_event *waits[1] = {&never};
    struct zeta_plugin_command command = host_command(ZETA_PLUGIN_COMMAND_BARRIER);
    struct host_work work[3];

    command.wait_events = waits;
    command.wait_count = 1;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(host_submit(host, queue, &command, 1, &work[i]), ZETA_PLUGIN_SUCCESS);
    host_sleep_ms(5);
    host->compute->queue_destroy(host->self, queue);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(work[i].done, 1);
        assert_int_equal(work[i].result, ZETA_PLUGIN_DEVICE_LOST);
    }
    assert_int_equal(host->device_ops->status(host->self, host->device), ZETA_PLUGIN_SUCCESS);
}

static void count_call(void *context)
{
    ++*(unsigned *)context;
}

/* Rule 7.4. */
static void commands__empty_ones__have_a_length_and_an_order(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    struct zeta_plugin_event events[4] = {0};
    struct zeta_plugin_event reset = {.signalled = 1};
    struct zeta_plugin_command commands[5];
    const uint64_t valid = (UINT64_C(1) << ZETA_VGPU_TIMESTAMP_BITS) - 1;
    uint64_t timestamp = 0;
    unsigned calls = 0;

    commands[0] = host_command(ZETA_PLUGIN_COMMAND_BARRIER);
    commands[1] = host_copy(&calls, &calls, 0);
    commands[2] = host_command(ZETA_PLUGIN_COMMAND_CALL);
    commands[2].u.call = (struct zeta_plugin_call){count_call, &calls};
    commands[3] = host_command(ZETA_PLUGIN_COMMAND_TIMESTAMP);
    commands[3].u.timestamp = &timestamp;
    commands[4] = host_command(ZETA_PLUGIN_COMMAND_EVENT_RESET);
    commands[4].signal_event = &reset;
    for (unsigned i = 0; i < 4; i++)
        commands[i].signal_event = &events[i];
    assert_int_equal(host_run(host, queue, commands, 5), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(calls, 1);
    assert_int_equal(reset.signalled, 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(events[i].signalled, 1);
        assert_cmp(events[i].times.end_ticks, >, events[i].times.begin_ticks);
        if (i > 0)
            assert_cmp(events[i].times.begin_ticks, >=, events[i - 1].times.end_ticks);
    }
    /*
     * One clock, whose valid bits are written: the value lies where the command ran, up to the
     * ticks that empty ones got.
     */
    assert_int_equal(timestamp & ~valid, 0);
    assert_in_range((timestamp + 4 - events[3].times.begin_ticks) & valid, 0,
                    events[3].times.end_ticks - events[3].times.begin_ticks + 4);
    host->compute->queue_destroy(host->self, queue);
}

static void decide(void *context)
{
    static const char source[] = "decided";
    struct zeta_plugin_copy *copy = context;

    copy->source = source;
    copy->size_bytes = sizeof(source);
}

static void copy__indirect__does_what_is_decided_last(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    char *target = host_allocate(host, 64);
    struct zeta_plugin_copy copy = {.target = target};
    struct zeta_plugin_command commands[2] = {host_command(ZETA_PLUGIN_COMMAND_CALL),
                                              host_command(ZETA_PLUGIN_COMMAND_COPY)};

    commands[0].u.call = (struct zeta_plugin_call){decide, &copy};
    commands[1].flags = ZETA_PLUGIN_COMMAND_INDIRECT;
    commands[1].u.copy.indirect = &copy;
    assert_int_equal(host_run(host, queue, commands, 2), ZETA_PLUGIN_SUCCESS);
    assert_string_equal(target, "decided");
    host->compute->queue_destroy(host->self, queue);
    assert_int_equal(host->compute->memory_free(host->self, target), ZETA_PLUGIN_SUCCESS);
}

static void queue__no_such_group_or_index__refused(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue_desc desc = {.struct_size = sizeof(desc), .ordinal = 2};
    struct zeta_plugin_queue *queue;

    assert_int_equal(host->compute->queue_create(host->self, host->device, &desc, &queue),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    desc = (struct zeta_plugin_queue_desc){.struct_size = sizeof(desc), .index = 1000};
    assert_int_equal(host->compute->queue_create(host->self, host->device, &desc, &queue),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(host), "no index 1000"));
}

static void queue__no_thread_to_be_had__says_why(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_queue *queue = host_queue(host, 1);
    char source[16] = "0123456789abcde", target[16] = "";
    const struct zeta_plugin_command command = host_copy(target, source, sizeof(source));
    pthread_attr_t before, huge;

    /* Stacks that no address space has room for. */
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_getattr_default_np(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 60), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_OUT_OF_HOST_MEMORY);
    assert_non_null(strstr(host_error(host), "thread"));
    assert_non_null(strstr(host_error(host), "ulimit"));
    assert_int_equal(pthread_setattr_default_np(&before), 0);

    assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    assert_memory_equal(target, source, sizeof(source));
    host->compute->queue_destroy(host->self, queue);
    (void)pthread_attr_destroy(&before);
    (void)pthread_attr_destroy(&huge);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

SUITE(copy)
{
    const struct CMUnitTest tests[] = {
        WITH(memory__three_kinds__usable_and_aligned),
        WITH(memory__not_allocated__free_refused),
        cmocka_unit_test(memory__more_than_there_is__out_of_device_memory),
        WITH(copy__between_device_heap_and_stack__bytes_arrive),
        WITH(fill__every_pattern_length__repeats),
        WITH(copy_region__box__only_the_box_changes),
        WITH(copy__wild_address__fault_and_recovery),
        WITH(queues__wait_for_each_other__any_order_of_submission),
        WITH(queue__destroyed_while_waiting__abandons_all),
        WITH(commands__empty_ones__have_a_length_and_an_order),
        WITH(copy__indirect__does_what_is_decided_last),
        WITH(queue__no_such_group_or_index__refused),
        WITH(queue__no_thread_to_be_had__says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
