/* What tests of program debug share: a session with the scripted process, and its events. */
#ifndef ZETA_TESTS_DEBUG_DEBUGGING_H
#define ZETA_TESTS_DEBUG_DEBUGGING_H

#include "tests/harness/device/debug_control.h"
#include "tests/metric_api/harness.h"

#define ANY UINT32_MAX

/** A session; its test plays the process with control. */
struct debugging {
    ze_device_handle_t device;
    zet_debug_session_handle_t session;
    const struct debug_control *control;
};

extern const ze_device_thread_t all_threads;

/** Initialises the library and resets the process. */
const struct debug_control *debugging_control(void);

/** Attaches to the process on a device. */
struct debugging debugging_start(const char *device);
/** Detaches; no call overlapped with another. */
void debugging_end(struct debugging *debugging);

/** The thread of a number. */
ze_device_thread_t thread_at(uint32_t number);

/** The next event, which is there already and of this type. */
zet_debug_event_t expect_debug_event(const struct debugging *debugging,
                                     zet_debug_event_type_t type);
/** The same for one about threads: it names this selector. */
void expect_thread_event(const struct debugging *debugging, zet_debug_event_type_t type,
                         ze_device_thread_t selector);
/** No event is there. */
void expect_no_event(const struct debugging *debugging);

/** The process makes or loses a queue, or loads or unloads a module. */
void play(const struct debugging *debugging, uint32_t kind);
void play_module(const struct debugging *debugging, uint32_t kind, uint64_t load, uint64_t cookie);

#endif
