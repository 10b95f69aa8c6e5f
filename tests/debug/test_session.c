/* Which devices can be debugged, attaching and detaching, and the end of either side. */
#include <string.h>
#include <unistd.h>

#include "debugging.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 27.1. */
static void properties__attach_flag__only_where_it_works(void **state)
{
    static const char *const names[] = {"debug0", "debug1", "debug2"};

    (void)state;
    (void)debugging_control();
    for (unsigned i = 0; i < 3; i++) {
        zet_device_debug_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES, .flags = 77};

        EXPECT_OK(zetDeviceGetDebugProperties(find_device(names[i]), &properties));
        assert_int_equal(properties.flags, i < 2 ? ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH : 0);
    }
}

static ze_result_t try_attach(const char *device, uint32_t pid)
{
    const zet_debug_config_t config = {.pid = pid};
    zet_debug_session_handle_t session = (zet_debug_session_handle_t)&config;
    const ze_result_t result = zetDebugAttach(find_device(device), &config, &session);

    if (result != ZE_RESULT_SUCCESS)
        assert_null(session);
    else
        EXPECT_OK(zetDebugDetach(session));
    return result;
}

/* Rule 27.2. */
static void attach__what_is_wrong__result_and_sentence(void **state)
{
    const struct debug_control *control = debugging_control();

    (void)state;
    EXPECT_RESULT(try_attach("debug2", DEBUG_PID), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    expect_sentence("debug2 has no threads that stop");
    EXPECT_RESULT(try_attach("debug0", 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(try_attach("debug0", (uint32_t)getpid()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("would stop itself");
    EXPECT_RESULT(try_attach("debug0", 4000000), ZE_RESULT_ERROR_NOT_AVAILABLE);
    control->refuse_attach(ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS, "it is of another user");
    EXPECT_RESULT(try_attach("debug0", DEBUG_PID), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("it is of another user");
    control->refuse_attach(ZETA_PLUGIN_NOT_READY, NULL);
    EXPECT_RESULT(try_attach("debug0", DEBUG_PID), ZE_RESULT_NOT_READY);
    control->refuse_attach(0, NULL);
    assert_int_equal(control->counts().attaches, 0);
    EXPECT_OK(try_attach("debug0", DEBUG_PID));
    assert_int_equal(control->counts().detaches, 1);
}

/* Rule 27.2. */
static void attach__second_debugger__not_available(void **state)
{
    struct debugging d = debugging_start("debug0");

    (void)state;
    EXPECT_RESULT(try_attach("debug0", DEBUG_PID), ZE_RESULT_ERROR_NOT_AVAILABLE);
    debugging_end(&d);
    EXPECT_OK(try_attach("debug0", DEBUG_PID));
}

/* Rule 27.3. */
static void detach__stopped_threads__run_and_the_handle_is_refused(void **state)
{
    struct debugging d = debugging_start("debug0");
    zet_debug_event_t event;

    (void)state;
    d.control->run(0xff, 0);
    d.control->stop(3);
    EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
    play_module(&d, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0x4000, 5);
    debugging_end(&d);
    assert_false(d.control->is_stopped(3));
    assert_int_equal(d.control->counts().detaches, 1);
    EXPECT_RESULT(zetDebugDetach(d.session), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetDebugReadEvent(d.session, 0, &event), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetDebugResume(d.session, all_threads), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void attach_and_detach__a_thousand_times__nothing_left(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct debugging d = debugging_start(i % 2 ? "debug0" : "debug1");

        play(&d, ZETA_PLUGIN_DEBUG_QUEUE_CREATED);
        d.control->run(1, 0);
        EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
        if (i % 3 == 0)
            (void)expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        debugging_end(&d);
        assert_int_equal(d.control->counts().detaches, 1);
    }
}

/* Rule 27.11. */
static void end__of_the_process__last_event_then_device_lost(void **state)
{
    struct debugging d = debugging_start("debug0");
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .address = DEBUG_MEMORY};
    zet_debug_event_t event;
    uint64_t value = 0;

    (void)state;
    d.control->run(1, 0);
    d.control->hold_halts(true);
    EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
    d.control->end();
    /* Every interrupt has its answer. */
    expect_thread_event(&d, ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE, all_threads);
    event = expect_debug_event(&d, ZET_DEBUG_EVENT_TYPE_DETACHED);
    assert_int_equal(event.info.detached.reason, ZET_DEBUG_DETACH_REASON_HOST_EXIT);
    EXPECT_RESULT(zetDebugReadEvent(d.session, UINT64_MAX, &event), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetDebugInterrupt(d.session, all_threads), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetDebugResume(d.session, all_threads), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetDebugReadMemory(d.session, all_threads, &desc, 8, &value),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetDebugReadRegisters(d.session, thread_at(0), 1, 0, 1, &value),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("has ended");
    debugging_end(&d);
}

SUITE(session)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties__attach_flag__only_where_it_works),
        cmocka_unit_test(attach__what_is_wrong__result_and_sentence),
        cmocka_unit_test(attach__second_debugger__not_available),
        cmocka_unit_test(detach__stopped_threads__run_and_the_handle_is_refused),
        cmocka_unit_test(attach_and_detach__a_thousand_times__nothing_left),
        cmocka_unit_test(end__of_the_process__last_event_then_device_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
