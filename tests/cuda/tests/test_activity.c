/* Activity records: what they say, when and in what order they come. */

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/tests/bed.h"

enum { BUFFER_BYTES = 4096, SEEN = 512 };

/* What the callback found; its thread is that of a stream, of a flush, or the test's. */
static struct {
    atomic_uint count, buffers;
    uint32_t kinds[SEEN], streams[SEEN], correlations[SEEN];
    uint64_t begins[SEEN], ends[SEEN];
    char names[SEEN][32];
} seen;
static bool has_no_buffers;

static void request(uint8_t **buffer, size_t *bytes, size_t *max)
{
    *buffer = has_no_buffers ? NULL : aligned_alloc(8, BUFFER_BYTES);
    *bytes = BUFFER_BYTES;
    *max = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    void *record = NULL;

    (void)context;
    (void)stream;
    (void)bytes;
    (void)atomic_fetch_add(&seen.buffers, 1);
    while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == 0) {
        const unsigned i = atomic_load(&seen.count);
        const uint32_t kind = *(const uint32_t *)record;

        if (i == SEEN)
            break;
        seen.kinds[i] = kind;
        if (kind == RECORD_CONCURRENT_KERNEL) {
            const struct kernel_record *kernel = record;

            seen.streams[i] = kernel->stream;
            seen.correlations[i] = kernel->correlation;
            seen.begins[i] = kernel->start;
            seen.ends[i] = kernel->end;
            (void)strncpy(seen.names[i], kernel->name, sizeof(seen.names[i]) - 1);
        } else if (kind == RECORD_MEMCPY) {
            const struct memcpy_record *copy = record;

            seen.streams[i] = copy->copy_kind;
            seen.begins[i] = copy->bytes;
        }
        atomic_store(&seen.count, i + 1);
    }
    free(buffer);
}

static uint64_t raw_clock(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void enable(void)
{
    static const int kinds[] = {RECORD_MEMCPY, RECORD_MEMSET, RECORD_CONCURRENT_KERNEL,
                                RECORD_SYNCHRONIZATION};

    assert_int_equal(cupti.cuptiActivityRegisterTimestampCallback(raw_clock), 0);
    assert_int_equal(cupti.cuptiActivityRegisterCallbacks(request, complete), 0);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        assert_int_equal(cupti.cuptiActivityEnable(kinds[i]), 0);
}

static unsigned count_kind(uint32_t kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < atomic_load(&seen.count); i++)
        count += seen.kinds[i] == kind;
    return count;
}

static void check_records(void)
{
    const uint64_t before = raw_clock();
    uint32_t word = 7;
    uint64_t address;
    void *record = NULL;
    uint8_t none[8] = {0};

    (void)bed_context(0);
    assert_int_equal(cupti.cuptiActivityEnable(77), 21);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 7);
    enable();
    assert_int_equal(cu.cuMemAlloc_v2(&address, 4096), CU_OK);
    assert_int_equal(cu.cuMemcpyHtoD_v2(address, &word, sizeof(word)), CU_OK);
    assert_int_equal(cu.cuMemsetD32Async(address, 1, 100, NULL), CU_OK);
    bed_fma(100);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(count_kind(RECORD_MEMCPY), 1);
    assert_int_equal(count_kind(RECORD_MEMSET), 1);
    assert_int_equal(count_kind(RECORD_CONCURRENT_KERNEL), 1);
    assert_cmp(count_kind(RECORD_SYNCHRONIZATION), >=, 1);
    for (unsigned i = 0; i < atomic_load(&seen.count); i++) {
        if (seen.kinds[i] == RECORD_CONCURRENT_KERNEL) {
            assert_string_equal(seen.names[i], "fma_loop");
            assert_int_equal(seen.correlations[i], 0); /* no kind of API is on */
            assert_cmp(seen.begins[i], >=, before);
            assert_cmp(seen.ends[i], >, seen.begins[i]);
        } else if (seen.kinds[i] == RECORD_MEMCPY) {
            assert_int_equal(seen.streams[i], 1); /* host to device */
            assert_int_equal(seen.begins[i], 4);
        }
    }
    assert_int_equal(cupti.cuptiActivityGetNextRecord(none, 0, &record), 12);
}

static void activity__work__records(void **state)
{
    (void)state;
    bed_run("gh100", check_records);
}

static void check_order(void)
{
    void *streams[2], *function;
    bool is_sorted = true;

    (void)bed_context(0);
    enable();
    assert_int_equal(cupti.cuptiActivityEnable(RECORD_DRIVER), 0);
    function = bed_function("empty");
    for (int i = 0; i < 2; i++)
        assert_int_equal(cu.cuStreamCreateWithPriority(&streams[i], 1, 0), CU_OK);
    for (int i = 0; i < 20; i++) {
        bed_launch(function, 1, 32, streams[i % 2], NULL);
        assert_int_equal(cu.cuStreamSynchronize(streams[i % 2]), CU_OK);
    }
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(count_kind(RECORD_CONCURRENT_KERNEL), 20);
    for (unsigned i = 1, last = 0; i < atomic_load(&seen.count); i++) {
        if (seen.kinds[i] != RECORD_CONCURRENT_KERNEL)
            continue;
        assert_cmp(seen.correlations[i], >, 0);
        is_sorted = is_sorted && seen.begins[i] >= seen.begins[last];
        last = i;
    }
    assert_false(is_sorted);
    assert_cmp(atomic_load(&seen.buffers), >=, 2);
}

static void activity__two_streams__not_in_order_of_time(void **state)
{
    (void)state;
    bed_run("gh100", check_order);
}

static void check_drops(void)
{
    size_t dropped;

    (void)bed_context(0);
    enable();
    has_no_buffers = true;
    bed_fma(1);
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), 0);
    assert_int_equal(dropped, 3); /* and the synchronisation */
    assert_int_equal(cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped), 0);
    assert_int_equal(dropped, 0);
}

static void activity__no_buffer__dropped_and_counted(void **state)
{
    (void)state;
    bed_run("gh100", check_drops);
}

/* The period is for buffers that are full; others come when they are asked for and complete. */
static void check_period(void)
{
    (void)bed_context(0);
    enable();
    assert_int_equal(cupti.cuptiActivityFlushPeriod(1), 0);
    for (int i = 0; i < 10; i++)
        bed_fma(1);
    (void)usleep(20000);
    assert_int_equal(atomic_load(&seen.count), 0);
    while (atomic_load(&seen.count) < 10)
        assert_int_equal(cupti.cuptiActivityFlushAll(0), 0);
    assert_int_equal(cupti.cuptiActivityDisable(RECORD_CONCURRENT_KERNEL), 0);
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(count_kind(RECORD_CONCURRENT_KERNEL), 10);
}

/*
 * What has not ended keeps what is beside it, unless the flush is forced: what is of the same
 * stream, or with buffers for all of them everything.
 */
static void check_incomplete(bool is_shared)
{
    uint8_t per_thread = !is_shared;
    size_t bytes = 1;
    uint64_t address;
    void *stream;

    (void)bed_context(0);
    assert_int_equal(cu.cuMemAlloc_v2(&address, 4096), CU_OK);
    assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), CU_OK);
    assert_int_equal(cupti.cuptiActivitySetAttribute(8, &bytes, &per_thread), 1);
    assert_int_equal(cupti.cuptiActivitySetAttribute(9, &bytes, &per_thread), 0);
    enable();
    assert_int_equal(cupti.cuptiActivitySetAttribute(9, &bytes, &per_thread), 7);
    assert_int_equal(cu.cuMemsetD32Async(address, 1, 100, stream), CU_OK);
    assert_int_equal(cu.cuStreamSynchronize(stream), CU_OK);
    bed_fma(1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(cupti.cuptiActivityFlushAll(0), 0);
    assert_int_equal(atomic_load(&seen.count), is_shared ? 0 : 2); /* and the synchronisation */
    assert_int_equal(count_kind(RECORD_CONCURRENT_KERNEL), 0);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(count_kind(RECORD_MEMSET), 1);
    assert_int_equal(count_kind(RECORD_CONCURRENT_KERNEL), 0);
    cuda_advance(bed_machine, 1000000);
    while (count_kind(RECORD_CONCURRENT_KERNEL) == 0)
        assert_int_equal(cupti.cuptiActivityFlushAll(0), 0);
}

static void check_incomplete_of_stream(void)
{
    check_incomplete(false);
}

static void check_incomplete_of_all(void)
{
    check_incomplete(true);
}

static void activity__incomplete__keeps_what_is_beside(void **state)
{
    static const char manual[] = "{format: 1, time: manual, gpus: [{chip: gh100}]}";

    (void)state;
    bed_run(manual, check_incomplete_of_stream);
    bed_run(manual, check_incomplete_of_all);
}

static void activity__flush_period__full_buffers_alone(void **state)
{
    (void)state;
    bed_run("gh100", check_period);
}

static void check_beside(unsigned expected)
{
    static const char *const name = "gpu__time_duration.sum";
    struct bed_stream stream;

    (void)bed_context(0);
    enable();
    bed_open(&stream, &name, 1, &(struct bed_options){.period_ns = 100000000});
    bed_fma(1);
    assert_int_equal(cu.cuCtxSynchronize(), CU_OK);
    assert_int_equal(cupti.cuptiActivityFlushAll(1), 0);
    assert_int_equal(count_kind(RECORD_CONCURRENT_KERNEL), expected);
    bed_close(&stream);
}

static void check_beside_new(void)
{
    check_beside(1);
}

static void check_beside_old(void)
{
    check_beside(0);
}

static void activity__beside_sampling__depends_on_version(void **state)
{
    (void)state;
    bed_run("gh100", check_beside_new);
    bed_run("{format: 1, cupti: 26, gpus: [{chip: gh100}]}", check_beside_old);
}

SUITE(activity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activity__beside_sampling__depends_on_version),
        cmocka_unit_test(activity__flush_period__full_buffers_alone),
        cmocka_unit_test(activity__incomplete__keeps_what_is_beside),
        cmocka_unit_test(activity__no_buffer__dropped_and_counted),
        cmocka_unit_test(activity__two_streams__not_in_order_of_time),
        cmocka_unit_test(activity__work__records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
