/* Every function of the API tells its listeners, with the addresses of its arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "calls.h"
#include "core/trace/trace.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* What the last call told. */
static struct {
    enum zeta_function function;
    unsigned begins;
    unsigned ends;
    unsigned wrong; /* arguments that are not what was given, or not the call's own */
    bool repair;    /* put handles that are good in the place of those that are given */
    ze_result_t result;
} seen;

static void *valid[ZETA_KIND_COUNT];

static bool wants_all(const struct zeta_trace_listener *listener, enum zeta_function function)
{
    (void)listener;
    (void)function;
    return true;
}

static void note_begin(struct zeta_trace_listener *listener, enum zeta_function function,
                       void *arguments, void **slot)
{
    const struct traced_call *call = &traced_calls[function];
    void **addresses = arguments;

    seen.function = function;
    seen.begins++;
    *slot = listener;
    for (size_t i = 0; i < call->argument_count; i++) {
        const struct traced_argument *argument = &call->arguments[i];

        if (addresses[i] == argument->given ||
            memcmp(addresses[i], argument->given, argument->size_bytes) != 0)
            seen.wrong++;
        if (seen.repair && argument->kind != ZETA_KIND_NONE)
            memcpy(addresses[i], &valid[argument->kind], sizeof(void *));
        if (seen.repair && argument->counts_handles)
            memset(addresses[i], 0, argument->size_bytes);
    }
}

static void note_end(struct zeta_trace_listener *listener, enum zeta_function function,
                     void *arguments, ze_result_t result, void **slot)
{
    (void)arguments;
    if (function != seen.function || *slot != listener)
        seen.wrong++;
    seen.ends++;
    seen.result = result;
}

static struct zeta_trace_listener listener = {
    .wants = wants_all, .begin = note_begin, .end = note_end};

static void call(size_t index, bool repair)
{
    memset(&seen, 0, sizeof(seen));
    seen.function = ZETA_FUNCTION_COUNT;
    seen.repair = repair;
    traced_calls[index].call();
}

static void every_function__tells_its_arguments_and_its_result(void **state)
{
    (void)state;
    assert_int_equal(traced_calls_count, ZETA_FUNCTION_COUNT);
    for (size_t i = 0; i < traced_calls_count; i++) {
        call(i, false);
        if (seen.begins != 1 || seen.ends != 1 || seen.wrong != 0 || seen.function != i ||
            seen.result == ZE_RESULT_SUCCESS)
            fail_msg("%s: %u begins, %u ends, %u wrong arguments, result 0x%x",
                     traced_calls[i].name, seen.begins, seen.ends, seen.wrong,
                     (unsigned)seen.result);
    }
}

static bool reads_a_handle(const struct traced_call *one)
{
    for (size_t i = 0; i < one->argument_count; i++) {
        if (one->arguments[i].kind != ZETA_KIND_NONE)
            return true;
    }
    return false;
}

/* The checks come after the listeners and see what they made of the arguments. Rule 18.7. */
static void every_function__uses_the_arguments_that_a_listener_left(void **state)
{
    unsigned with_handles = 0;

    (void)state;
    for (size_t i = 0; i < traced_calls_count; i++) {
        /* Two functions have no result: one value stands for every failure. */
        if (!reads_a_handle(&traced_calls[i]) || i == ZETA_FUNCTION_zeDriverGetDefaultContext ||
            i == ZETA_FUNCTION_zerTranslateDeviceHandleToIdentifier)
            continue;
        with_handles++;
        call(i, false);
        ze_result_t refused = seen.result;
        call(i, true);
        if (seen.result == refused || seen.result == ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
            fail_msg("%s: result 0x%x with the bad handles, 0x%x with good ones",
                     traced_calls[i].name, (unsigned)refused, (unsigned)seen.result);
    }
    assert_cmp(with_handles, >, 300);
}

static void every_function__without_listeners__tells_nobody(void **state)
{
    (void)state;
    zeta_trace_remove(&listener);
    for (size_t i = 0; i < traced_calls_count; i++) {
        call(i, false);
        assert_int_equal(seen.begins, 0);
        assert_int_equal(seen.ends, 0);
    }
    assert_int_equal(zeta_trace_add(&listener), ZE_RESULT_SUCCESS);
}

static int setup(void **state)
{
    (void)state;
    traced_calls_fill();
    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 1;
    for (int kind = ZETA_KIND_NONE + 1; kind < ZETA_KIND_COUNT; kind++) {
        if (zeta_object_create((enum zeta_kind)kind, sizeof(struct zeta_object), &valid[kind]) !=
            ZE_RESULT_SUCCESS)
            return 1;
    }
    return zeta_trace_add(&listener) == ZE_RESULT_SUCCESS ? 0 : 1;
}

static int teardown(void **state)
{
    (void)state;
    zeta_trace_remove(&listener);
    return 0;
}

SUITE(calls)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function__tells_its_arguments_and_its_result),
        cmocka_unit_test(every_function__uses_the_arguments_that_a_listener_left),
        cmocka_unit_test(every_function__without_listeners__tells_nobody),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
