/* Threads that read, switch, deactivate, decode and destroy at once. For the thread sanitizer. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** What the threads of a test share. No assertions inside threads: they only note. */
struct shared {
    struct trace_bed bed;
    struct trace_decoder decoder;
    ze_event_handle_t event;
    _Atomic bool stop;
    _Atomic uint32_t wrong; /**< results that may not be */
    _Atomic uint64_t records;
};

static void note(struct shared *shared, ze_result_t result, const ze_result_t *allowed)
{
    for (; *allowed != ZE_RESULT_FORCE_UINT32; allowed++) {
        if (result == *allowed)
            return;
    }
    atomic_fetch_add(&shared->wrong, 1);
}

static void *produce(void *context)
{
    struct shared *shared = context;

    for (int i = 0; i < 300; i++) {
        shared->bed.control->push("trace0", "kernels", i % 2 ? TRACE_BEGIN : TRACE_END, 4);
        if (i % 20 == 0)
            sleep_ms(1);
    }
    return NULL;
}

static void *read_and_decode(void *context)
{
    static const ze_result_t allowed[] = {ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY,
                                          ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                                          ZE_RESULT_FORCE_UINT32};
    struct shared *shared = context;

    while (!atomic_load(&shared->stop)) {
        uint8_t raw[64 * TRACE_RECORD_BYTES];
        zet_metric_entry_exp_t entries[256];
        uint32_t sets = 1;
        uint32_t count = 256;
        size_t size = sizeof(raw);
        ze_result_t result = zetMetricTracerReadDataExp(shared->bed.tracer, &size, raw);

        note(shared, result, allowed);
        if (result != ZE_RESULT_SUCCESS)
            continue;
        atomic_fetch_add(&shared->records, size / TRACE_RECORD_BYTES);
        note(shared,
             zetMetricTracerDecodeExp(shared->decoder.handle, &size, raw, shared->decoder.count,
                                      shared->decoder.metrics, &sets, NULL, &count, entries),
             allowed);
    }
    return NULL;
}

static void *switch_often(void *context)
{
    static const ze_result_t allowed[] = {ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY,
                                          ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                                          ZE_RESULT_FORCE_UINT32};
    struct shared *shared = context;

    for (uint32_t i = 0; !atomic_load(&shared->stop); i++) {
        note(shared, zetMetricTracerEnableExp(shared->bed.tracer, i % 2), allowed);
        note(shared, zetMetricTracerDisableExp(shared->bed.tracer, i % 3 == 0), allowed);
    }
    return NULL;
}

static void *ask_event(void *context)
{
    static const ze_result_t allowed[] = {ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY,
                                          ZE_RESULT_FORCE_UINT32};
    struct shared *shared = context;

    while (!atomic_load(&shared->stop))
        note(shared, zeEventHostSynchronize(shared->event, 100000), allowed);
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), struct shared *shared)
{
    assert_int_equal(pthread_create(thread, NULL, run, shared), 0);
}

static void race__producer_reader_and_switcher__every_record_comes_once(void **state)
{
    static struct shared shared;
    struct test_event event;
    pthread_t threads[5];

    (void)state;
    shared.bed = bed_make("trace0");
    event = make_event(shared.bed.context);
    shared.event = event.event;
    bed_activate(&shared.bed, "KernelEvents", NULL);
    (void)bed_create(&shared.bed, 64, event.event);
    shared.decoder = bed_decoder(&shared.bed);
    start(&threads[0], produce, &shared);
    start(&threads[1], read_and_decode, &shared);
    start(&threads[2], read_and_decode, &shared);
    start(&threads[3], switch_often, &shared);
    start(&threads[4], ask_event, &shared);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    atomic_store(&shared.stop, true);
    for (int i = 1; i < 5; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    EXPECT_OK(zetMetricTracerDisableExp(shared.bed.tracer, 1));
    while (zetMetricTracerReadDataExp(shared.bed.tracer, &(size_t){BED_MAX_BYTES},
                                      shared.bed.raw) == ZE_RESULT_SUCCESS)
        ;
    EXPECT_OK(zetMetricDecoderDestroyExp(shared.decoder.handle));
    EXPECT_OK(zetMetricTracerDestroyExp(shared.bed.tracer));
    shared.bed.tracer = NULL;
    destroy_event(&event);
    bed_free(&shared.bed);
}

static void *deactivate(void *context)
{
    static const ze_result_t allowed[] = {ZE_RESULT_SUCCESS, ZE_RESULT_FORCE_UINT32};
    struct shared *shared = context;

    sleep_ms(2);
    note(shared, zetContextActivateMetricGroups(shared->bed.context, shared->bed.device, 0, NULL),
         allowed);
    return NULL;
}

static void *destroy(void *context)
{
    static const ze_result_t allowed[] = {ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                                          ZE_RESULT_FORCE_UINT32};
    struct shared *shared = context;
    ze_result_t result;

    sleep_ms(1);
    do {
        result = zetMetricTracerDestroyExp(shared->bed.tracer);
    } while (result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    note(shared, result, allowed);
    return NULL;
}

/** Two destroy, one deactivates, others use it: it is gone once, and nothing is used after. */
static void race__destroyed_while_used__everybody_gets_an_answer(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        static struct shared shared;
        struct test_event event;
        pthread_t threads[6];

        memset(&shared, 0, sizeof(shared));
        shared.bed = bed_make(round % 2 ? "trace0" : "trace1");
        event = make_event(shared.bed.context);
        shared.event = event.event;
        bed_activate(&shared.bed, "KernelEvents", NULL);
        (void)bed_create(&shared.bed, 64, event.event);
        shared.decoder = bed_decoder(&shared.bed);
        start(&threads[0], destroy, &shared);
        start(&threads[1], destroy, &shared);
        start(&threads[2], read_and_decode, &shared);
        start(&threads[3], switch_often, &shared);
        start(&threads[4], ask_event, &shared);
        start(&threads[5], deactivate, &shared);
        assert_int_equal(pthread_join(threads[0], NULL), 0);
        assert_int_equal(pthread_join(threads[1], NULL), 0);
        atomic_store(&shared.stop, true);
        for (int i = 2; i < 6; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        shared.bed.tracer = NULL;
        EXPECT_OK(zetMetricDecoderDestroyExp(shared.decoder.handle));
        destroy_event(&event);
        bed_free(&shared.bed);
    }
}

/** Looks at what the decoder gave, alive or not; a decode that fails names a metric. */
static void *look_at_metrics(void *context)
{
    static const ze_result_t allowed[] = {ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                                          ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_FORCE_UINT32};
    struct shared *shared = context;

    while (!atomic_load(&shared->stop)) {
        const struct trace_decoder decoder = shared->decoder;
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        zet_metric_handle_t twice[2] = {decoder.metrics[0], decoder.metrics[0]};
        zet_metric_handle_t metrics[16];
        uint8_t raw[TRACE_RECORD_BYTES] = {0};
        uint32_t sets = 0;
        uint32_t count = 16;
        size_t size = sizeof(raw);

        for (uint32_t i = 0; i < decoder.count; i++)
            note(shared, zetMetricGetProperties(decoder.metrics[i], &properties), allowed);
        note(shared, zetMetricDecoderGetDecodableMetricsExp(decoder.handle, &count, metrics),
             allowed);
        note(shared,
             zetMetricTracerDecodeExp(decoder.handle, &size, raw, 2, twice, &sets, NULL, &count,
                                      NULL),
             allowed);
    }
    return NULL;
}

/** The handles are those of the first decoder, which ends while two threads look. */
static void race__decoder_destroyed_while_its_metrics_are_looked_at__ends_cleanly(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        static struct shared shared;
        pthread_t threads[2];

        memset(&shared, 0, sizeof(shared));
        shared.bed = bed_make("trace0");
        bed_activate(&shared.bed, "KernelEvents", NULL);
        (void)bed_create(&shared.bed, 64, NULL);
        shared.decoder = bed_decoder(&shared.bed);
        for (int i = 0; i < 2; i++)
            start(&threads[i], look_at_metrics, &shared);
        if (round % 2)
            sleep_ms(1);
        EXPECT_OK(zetMetricDecoderDestroyExp(shared.decoder.handle));
        atomic_store(&shared.stop, true);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        EXPECT_OK(zetMetricTracerDestroyExp(shared.bed.tracer));
        shared.bed.tracer = NULL;
        bed_free(&shared.bed);
    }
}

SUITE(race)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(race__producer_reader_and_switcher__every_record_comes_once),
        cmocka_unit_test(race__destroyed_while_used__everybody_gets_an_answer),
        cmocka_unit_test(race__decoder_destroyed_while_its_metrics_are_looked_at__ends_cleanly),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
