/*
 * What the tests of calls share: handles, and the check that a call got to a function. Include it
 * after the header of the level.
 */
#ifndef ZETA_TESTS_COMPAT_CALLS_H
#define ZETA_TESTS_COMPAT_CALLS_H

#include "fake.h"

#define GROUP ((zet_metric_group_handle_t)fake_handle(1))
#define EVENT ((ze_event_handle_t)fake_handle(2))
#define LIST ((ze_command_list_handle_t)fake_handle(3))
#define QUERY ((zet_metric_query_handle_t)fake_handle(4))
#define POOL ((ze_event_pool_handle_t)fake_handle(5))
#define KERNEL ((ze_kernel_handle_t)fake_handle(6))
#define METRIC ((zet_metric_handle_t)fake_handle(7))
#define STREAMER ((zet_metric_streamer_handle_t)fake_handle(8))
#define CONTEXT ((ze_context_handle_t)fake_handle(9))
#define TRACER ((zet_tracer_exp_handle_t)fake_handle(10))
#define LOST ZE_RESULT_ERROR_DEVICE_LOST

/* The call reached the function, which gives this result. */
#define expect_call(call, name, result)                                                            \
    do {                                                                                           \
        fake_reset();                                                                              \
        fake_result = (result);                                                                    \
        assert_int_equal((call), (result));                                                        \
        assert_non_null(seen.function);                                                            \
        assert_string_equal(seen.function, (name));                                                \
    } while (0)

/* The call fails without getting to any function. */
#define expect_no_call(call, result)                                                               \
    do {                                                                                           \
        assert_int_equal((call), (result));                                                        \
        assert_null(seen.function);                                                                \
    } while (0)

#endif
