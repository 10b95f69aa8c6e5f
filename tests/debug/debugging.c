#include "debugging.h"

#include <string.h>

#include "tests/harness/control.h"
#include "tests/support/compare.h"

const ze_device_thread_t all_threads = {ANY, ANY, ANY, ANY};

const struct debug_control *debugging_control(void)
{
    const struct debug_control *control;

    EXPECT_OK(zeInit(0));
    control = harness_control("debug_control");
    control->reset();
    return control;
}

struct debugging debugging_start(const char *device)
{
    const zet_debug_config_t config = {.pid = DEBUG_PID};
    struct debugging debugging = {.control = debugging_control()};

    debugging.device = find_device(device);
    EXPECT_OK(zetDebugAttach(debugging.device, &config, &debugging.session));
    assert_non_null(debugging.session);
    return debugging;
}

void debugging_end(struct debugging *debugging)
{
    EXPECT_OK(zetDebugDetach(debugging->session));
    assert_int_equal(debugging->control->counts().overlaps, 0);
}

ze_device_thread_t thread_at(uint32_t number)
{
    const uint32_t per_eu = DEBUG_THREADS / 8;

    return (ze_device_thread_t){number / per_eu / 4, number / per_eu / 2 % 2, number / per_eu % 2,
                                number % per_eu};
}

zet_debug_event_t expect_debug_event(const struct debugging *debugging, zet_debug_event_type_t type)
{
    zet_debug_event_t event;

    memset(&event, 0xaa, sizeof(event));
    EXPECT_OK(zetDebugReadEvent(debugging->session, 0, &event));
    assert_int_equal(event.type, type);
    return event;
}

void expect_thread_event(const struct debugging *debugging, zet_debug_event_type_t type,
                         ze_device_thread_t selector)
{
    const zet_debug_event_t event = expect_debug_event(debugging, type);

    assert_int_equal(event.flags, 0);
    assert_int_equal(event.info.thread.thread.slice, selector.slice);
    assert_int_equal(event.info.thread.thread.subslice, selector.subslice);
    assert_int_equal(event.info.thread.thread.eu, selector.eu);
    assert_int_equal(event.info.thread.thread.thread, selector.thread);
}

void expect_no_event(const struct debugging *debugging)
{
    zet_debug_event_t event;

    EXPECT_RESULT(zetDebugReadEvent(debugging->session, 0, &event), ZE_RESULT_NOT_READY);
    assert_int_equal(event.type, ZET_DEBUG_EVENT_TYPE_INVALID);
    assert_int_equal(event.flags, 0);
}

void play(const struct debugging *debugging, uint32_t kind)
{
    const struct zeta_plugin_debug_event event = {.struct_size = sizeof(event), .kind = kind};

    debugging->control->push(&event);
}

void play_module(const struct debugging *debugging, uint32_t kind, uint64_t load, uint64_t cookie)
{
    const struct zeta_plugin_debug_event event = {
        .struct_size = sizeof(event),
        .kind = kind,
        .u.module = {.image_begin = load + 0x1000000,
                     .image_end = load + 0x1000400,
                     .load = load,
                     .cookie = cookie},
    };

    debugging->control->push(&event);
}
