/*
 * What the API tests of metrics have in common: finding things by name, with failures that end the
 * test.
 */
#ifndef ZETA_TESTS_METRIC_API_HARNESS_H
#define ZETA_TESTS_METRIC_API_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include "tests/harness/mode.h"

#define TIME_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED
#define EVENT_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED

/** Fails the test unless the call gives the result; prints the library's sentence. */
#define EXPECT_RESULT(call, wanted) expect_result((call), (wanted), #call, __FILE__, __LINE__)
#define EXPECT_OK(call) EXPECT_RESULT(call, ZE_RESULT_SUCCESS)

void expect_result(ze_result_t got, ze_result_t wanted, const char *call, const char *file,
                   int line);

/** Fails the test unless the last failure of this thread says this. */
void expect_sentence(const char *part);

/** A root device or tile by name; zeInit was called. */
ze_device_handle_t find_device(const char *name);

/** Like find_device(), but NULL if there is none. */
ze_device_handle_t look_for_device(const char *name);

/** All root devices of all drivers; fails unless there are so many. zeInit() was called. */
void root_devices(uint32_t count, ze_device_handle_t *out_devices);

/** State and reason of a plugin ("nvidia"); the reason is the library's. */
uint32_t plugin_state(const char *id, const char **out_reason);

/** The driver that has the device. */
ze_driver_handle_t driver_of(ze_device_handle_t device);

/** A new context for the driver of a device. */
ze_context_handle_t make_context(ze_device_handle_t device);

/** A module of the native image in a file, of at most 1 MiB. */
ze_module_handle_t make_module(ze_context_handle_t context, ze_device_handle_t device,
                               const char *path);

/** An immediate list. */
ze_command_list_handle_t make_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                        ze_command_queue_mode_t mode);

/** The group of a name and sampling type; its properties to out_properties, which may be NULL. */
zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name,
                                     zet_metric_group_sampling_type_flags_t sampling,
                                     zet_metric_group_properties_t *out_properties);

/** Position of a metric in its group; UINT32_MAX: it has none of that name. */
uint32_t metric_find(zet_metric_group_handle_t group, const char *name);

/** The same; fails without it. */
uint32_t metric_index(zet_metric_group_handle_t group, const char *name);

/** An event with its pool. */
struct test_event {
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
};

struct test_event make_event(ze_context_handle_t context);
void destroy_event(struct test_event *event);

/** Waits up to a second for the event to have this status, looking all the time. */
void expect_event(ze_event_handle_t event, ze_result_t status);

/** Number of threads of this process with that name. */
uint32_t count_threads(const char *name);

/** Sleeps. */
void sleep_ms(unsigned ms);

#endif
