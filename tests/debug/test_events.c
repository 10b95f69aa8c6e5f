/* The order of events through a life, acknowledgements, and the answers to interrupts. */
#include <string.h>

#include "debugging.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define STOPPED ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED
#define UNAVAILABLE ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE

/* Rule 27.4. */
static void life__queues_and_modules__events_in_order(void **state)
{
    struct debugging d = debugging_start("debug0");

    (void)state;
    expect_no_event(&d);
    for (unsigned life = 0; life < 3; life++) {
        zet_debug_event_t event;

        play(&d, ZETA_PLUGIN_DEBUG_QUEUE_CREATED);
        play(&d, ZETA_PLUGIN_DEBUG_QUEUE_CREATED);
        play_module(&d, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0x4000, 0);
        play(&d, ZETA_PLUGIN_DEBUG_QUEUE_DESTROYED);
        play_module(&d, ZETA_PLUGIN_DEBUG_MODULE_UNLOADED, 0x4000, 0);
        play(&d, ZETA_PLUGIN_DEBUG_QUEUE_DESTROYED);
        event = expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        assert_int_equal(event.flags, 0);
        event = expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        assert_int_equal(event.flags, 0); /* it was there before, or nobody waits */
        assert_int_equal(event.info.module.format, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF);
        assert_int_equal(event.info.module.load, 0x4000);
        assert_int_equal(event.info.module.moduleBegin, 0x1004000);
        assert_int_equal(event.info.module.moduleEnd, 0x1004400);
        event = expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD);
        assert_int_equal(event.info.module.load, 0x4000);
        assert_int_equal(event.info.module.moduleBegin, 0x1004000);
        (void)expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
        expect_no_event(&d);
    }
    debugging_end(&d);
}

/* Rule 27.5. */
static void acknowledge__several_modules__in_any_order_and_once(void **state)
{
    struct debugging d = debugging_start("debug0");
    zet_debug_event_t events[3], changed;
    struct debug_counts counts;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        play_module(&d, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0x4000 + 0x1000 * i, 11 + i);
    for (unsigned i = 0; i < 3; i++) {
        events[i] = expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
        assert_int_equal(events[i].flags, ZET_DEBUG_EVENT_FLAG_NEED_ACK);
    }
    EXPECT_OK(zetDebugAcknowledgeEvent(d.session, &events[2]));
    EXPECT_OK(zetDebugAcknowledgeEvent(d.session, &events[0]));
    EXPECT_RESULT(zetDebugAcknowledgeEvent(d.session, &events[0]),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("waits for an acknowledgement");
    changed = events[1];
    changed.info.module.load++;
    EXPECT_RESULT(zetDebugAcknowledgeEvent(d.session, &changed), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    /* The padding of the struct is nobody's. */
    memset((char *)&events[1].info.module.format + sizeof(uint32_t), 0x5a, sizeof(uint32_t));
    EXPECT_OK(zetDebugAcknowledgeEvent(d.session, &events[1]));
    counts = d.control->counts();
    assert_int_equal(counts.acknowledges, 3);
    assert_int_equal(counts.cookies[0], 13);
    assert_int_equal(counts.cookies[1], 11);
    assert_int_equal(counts.cookies[2], 12);
    debugging_end(&d);
}

static void acknowledge__event_that_was_not_read__refused(void **state)
{
    struct debugging d = debugging_start("debug0");
    const zet_debug_event_t event = {
        .type = ZET_DEBUG_EVENT_TYPE_MODULE_LOAD,
        .flags = ZET_DEBUG_EVENT_FLAG_NEED_ACK,
        .info.module = {.moduleBegin = 0x1004000, .moduleEnd = 0x1004400, .load = 0x4000}};

    (void)state;
    play_module(&d, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0x4000, 1);
    EXPECT_RESULT(zetDebugAcknowledgeEvent(d.session, &event), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(d.control->counts().acknowledges, 0);
    debugging_end(&d);
}

/* Rule 27.6. */
static void interrupt__some_run__stopped_with_the_selector_as_given(void **state)
{
    static const ze_device_thread_t selectors[] = {{ANY, ANY, ANY, ANY},
                                                   {0, ANY, ANY, ANY},
                                                   {ANY, 0, ANY, ANY},
                                                   {ANY, ANY, 0, 0},
                                                   {0, 0, 0, 0}};
    struct debugging d = debugging_start("debug0");

    (void)state;
    for (unsigned i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
        d.control->run(UINT64_MAX, 0xff);
        EXPECT_OK(zetDebugInterrupt(d.session, selectors[i]));
        expect_thread_event(&d, STOPPED, selectors[i]);
        expect_no_event(&d);
        assert_true(d.control->is_stopped(0));
        assert_int_equal(d.control->is_stopped(71), i == 0);
        EXPECT_RESULT(zetDebugInterrupt(d.session, selectors[i]), ZE_RESULT_ERROR_NOT_AVAILABLE);
        EXPECT_OK(zetDebugResume(d.session, selectors[i]));
        assert_false(d.control->is_stopped(0));
        EXPECT_RESULT(zetDebugResume(d.session, selectors[i]), ZE_RESULT_ERROR_NOT_AVAILABLE);
    }
    debugging_end(&d);
}

/* Rule 27.6. */
static void interrupt__nothing_runs__unavailable(void **state)
{
    struct debugging d = debugging_start("debug0");

    (void)state;
    EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
    expect_thread_event(&d, UNAVAILABLE, all_threads);
    d.control->run(1, 0);
    EXPECT_OK(zetDebugInterrupt(d.session, thread_at(1)));
    expect_thread_event(&d, UNAVAILABLE, thread_at(1));
    assert_false(d.control->is_stopped(0));
    debugging_end(&d);
}

/* Rule 27.6. */
static void interrupt__while_one_is_pending__each_selector_once(void **state)
{
    struct debugging d = debugging_start("debug0");
    const ze_device_thread_t slice = {1, ANY, ANY, ANY};

    (void)state;
    d.control->run(UINT64_MAX, 0xff);
    d.control->hold_halts(true);
    EXPECT_OK(zetDebugInterrupt(d.session, thread_at(5)));
    EXPECT_RESULT(zetDebugInterrupt(d.session, thread_at(5)), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetDebugInterrupt(d.session, slice));
    expect_no_event(&d);
    d.control->hold_halts(false);
    expect_thread_event(&d, STOPPED, thread_at(5));
    expect_thread_event(&d, STOPPED, slice);
    expect_no_event(&d);
    debugging_end(&d);
}

/* Rule 27.7. */
static void interrupt__no_thread_stops_in_time__unavailable(void **state)
{
    struct debugging d = debugging_start("debug0");
    zet_debug_event_t event;

    (void)state;
    d.control->run(1, 0);
    d.control->hold_halts(true);
    EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
    /* The reader sleeps until the time of the interrupt is over, not for ever. */
    EXPECT_OK(zetDebugReadEvent(d.session, UINT64_MAX, &event));
    assert_int_equal(event.type, UNAVAILABLE);
    /* What stops afterwards goes on, since nothing says that it stopped. */
    d.control->hold_halts(false);
    expect_no_event(&d);
    assert_false(d.control->is_stopped(0));
    EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
    expect_thread_event(&d, STOPPED, all_threads);
    debugging_end(&d);
}

/* Rule 27.8. */
static void stop__of_its_own__event_of_that_thread_and_reported_when_read(void **state)
{
    struct debugging d = debugging_start("debug0");

    (void)state;
    d.control->run(UINT64_MAX, 0xff);
    d.control->stop(70);
    d.control->stop(2);
    EXPECT_RESULT(zetDebugResume(d.session, all_threads), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_thread_event(&d, STOPPED, thread_at(2));
    EXPECT_RESULT(zetDebugResume(d.session, thread_at(70)), ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_OK(zetDebugResume(d.session, all_threads));
    assert_true(d.control->is_stopped(70)); /* its event is not read */
    expect_thread_event(&d, STOPPED, thread_at(70));
    EXPECT_OK(zetDebugResume(d.session, thread_at(70)));
    /* A new stop is a new event. */
    d.control->stop(70);
    expect_thread_event(&d, STOPPED, thread_at(70));
    expect_no_event(&d);
    debugging_end(&d);
}

/* Rule 27.8. */
static void stop__beside_an_interrupt__answer_first(void **state)
{
    struct debugging d = debugging_start("debug0");

    (void)state;
    d.control->run(0xf, 0);
    d.control->hold_halts(true);
    EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
    d.control->stop(1);
    d.control->hold_halts(false);
    expect_thread_event(&d, STOPPED, all_threads);
    expect_thread_event(&d, STOPPED, thread_at(1));
    expect_no_event(&d);
    EXPECT_OK(zetDebugResume(d.session, all_threads));
    for (uint32_t i = 0; i < 4; i++)
        assert_false(d.control->is_stopped(i));
    debugging_end(&d);
}

/* Rule 27.9. */
static void halt_of_all__selector_of_one__others_run_on(void **state)
{
    struct debugging d = debugging_start("debug1");

    (void)state;
    d.control->run(UINT64_MAX, 0xff);
    EXPECT_OK(zetDebugInterrupt(d.session, thread_at(7)));
    expect_thread_event(&d, STOPPED, thread_at(7));
    assert_true(d.control->is_stopped(7));
    for (uint32_t i = 0; i < DEBUG_THREADS; i++)
        assert_int_equal(d.control->is_stopped(i), i == 7);
    assert_int_equal(d.control->counts().resumes, 1);
    /* A thread with an unread event of its own is not resumed. */
    d.control->stop(9);
    EXPECT_OK(zetDebugInterrupt(d.session, thread_at(8)));
    expect_thread_event(&d, STOPPED, thread_at(9));
    expect_thread_event(&d, STOPPED, thread_at(8));
    assert_true(d.control->is_stopped(9));
    assert_false(d.control->is_stopped(10));
    debugging_end(&d);
}

/* Rule 27.10. */
static void fault__of_a_thread__page_fault_then_its_stop(void **state)
{
    struct debugging d = debugging_start("debug0");
    const struct zeta_plugin_debug_event fault = {
        .struct_size = sizeof(fault),
        .kind = ZETA_PLUGIN_DEBUG_FAULT,
        .u.fault = {.address = 0x7000,
                    .mask = ~UINT64_C(0xfff),
                    .reason = ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR,
                    .thread = 4}};
    zet_debug_event_t event;

    (void)state;
    d.control->run(0xff, 0);
    d.control->push(&fault);
    d.control->stop(4);
    event = expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
    assert_int_equal(event.flags, 0);
    assert_int_equal(event.info.page_fault.address, 0x7000);
    assert_int_equal(event.info.page_fault.mask, ~UINT64_C(0xfff));
    assert_int_equal(event.info.page_fault.reason, ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR);
    expect_thread_event(&d, STOPPED, thread_at(4));
    debugging_end(&d);
}

static void selectors__beyond_the_device__invalid_argument(void **state)
{
    static const ze_device_thread_t beyond[] = {
        {2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 9}, {2, ANY, ANY, ANY}};
    struct debugging d = debugging_start("debug0");

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        EXPECT_RESULT(zetDebugInterrupt(d.session, beyond[i]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        expect_sentence("debug0 has no thread");
        EXPECT_RESULT(zetDebugResume(d.session, beyond[i]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(d.control->counts().halts, 0);
    debugging_end(&d);
}

SUITE(events)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life__queues_and_modules__events_in_order),
        cmocka_unit_test(acknowledge__several_modules__in_any_order_and_once),
        cmocka_unit_test(acknowledge__event_that_was_not_read__refused),
        cmocka_unit_test(interrupt__some_run__stopped_with_the_selector_as_given),
        cmocka_unit_test(interrupt__nothing_runs__unavailable),
        cmocka_unit_test(interrupt__while_one_is_pending__each_selector_once),
        cmocka_unit_test(interrupt__no_thread_stops_in_time__unavailable),
        cmocka_unit_test(stop__of_its_own__event_of_that_thread_and_reported_when_read),
        cmocka_unit_test(stop__beside_an_interrupt__answer_first),
        cmocka_unit_test(halt_of_all__selector_of_one__others_run_on),
        cmocka_unit_test(fault__of_a_thread__page_fault_then_its_stop),
        cmocka_unit_test(selectors__beyond_the_device__invalid_argument),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
