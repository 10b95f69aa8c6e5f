/* All callbacks of zet_core_callbacks_t: each for its own function, with its arguments. */
#include "support.h"

#include "calls.h"
#include "tests/support/suite.h"

typedef void (*any_callback)(void *params, ze_result_t result, void *user, void **instance);

/* User data of the tracer: the function whose callback is set, and what came. */
struct record {
    const struct traced_call *expected;
    unsigned prologues;
    unsigned epilogues;
    unsigned wrong;
};

static void check_arguments(struct record *record, void *params)
{
    const struct traced_call *call = record->expected;
    void **addresses = params;

    for (size_t i = 0; i < call->argument_count; i++) {
        if (memcmp(addresses[i], call->arguments[i].given, call->arguments[i].size_bytes) != 0)
            record->wrong++;
    }
}

static void on_prologue(void *params, ze_result_t result, void *user, void **instance)
{
    struct record *record = user;

    record->prologues++;
    if (result != ZE_RESULT_SUCCESS || *instance)
        record->wrong++;
    *instance = record;
    check_arguments(record, params);
}

static void on_epilogue(void *params, ze_result_t result, void *user, void **instance)
{
    struct record *record = user;

    (void)result;
    record->epilogues++;
    if (*instance != record)
        record->wrong++;
    check_arguments(record, params);
}

static void set(zet_core_callbacks_t *table, size_t offset, any_callback callback)
{
    memset(table, 0, sizeof(*table));
    memcpy((char *)table + offset, &callback, sizeof(callback));
}

/* Rule 18.5. */
static void callbacks__each_set_alone__hears_of_its_function_only(void **state)
{
    const struct harness *h = *state;
    unsigned callbacks = 0;

    skip_in(HARNESS_READS_HANDLES | HARNESS_VALIDATION, "handles of the calls are not valid ones");
    for (size_t i = 0; i < traced_calls_count; i++) {
        struct record record = {.expected = &traced_calls[i]};
        zet_core_callbacks_t before, after;

        if (traced_calls[i].callback == NO_CALLBACK)
            continue;
        callbacks++;
        set(&before, traced_calls[i].callback, on_prologue);
        set(&after, traced_calls[i].callback, on_epilogue);
        zet_tracer_exp_handle_t tracer = make_tracer(h, &record, &before, &after);
        assert_success(zetTracerExpSetEnabled(tracer, 1));
        for (size_t n = 0; n < traced_calls_count; n++) {
            bool own = n == i;
            unsigned prologues = record.prologues;

            /* Nothing else of the core API tells the tracer; a loader may answer zeInit itself. */
            if (traced_calls[n].callback == NO_CALLBACK)
                continue;
            traced_calls[n].call();
            if (own && strcmp(traced_calls[n].name, "zeInit") == 0 &&
                (harness_mode() & HARNESS_NEWLOADER))
                own = false;
            if (record.prologues != prologues + own || record.epilogues != record.prologues ||
                record.wrong != 0)
                fail_msg("callback of %s, call of %s: %u prologues, %u epilogues, %u wrong",
                         traced_calls[i].name, traced_calls[n].name, record.prologues - prologues,
                         record.epilogues, record.wrong);
        }
        assert_success(zetTracerExpDestroy(tracer));
    }
    assert_int_equal(callbacks, 120);
    assert_int_equal(callbacks * sizeof(any_callback), sizeof(zet_core_callbacks_t));
}

/* Later functions and the Tools API have no place in the table, and work as ever. Rule 18.5. */
static void functions__without_a_place__are_not_traced(void **state)
{
    const struct harness *h = *state;
    struct record record = {0};
    any_callback all[sizeof(zet_core_callbacks_t) / sizeof(any_callback)];
    zet_core_callbacks_t table;

    skip_in(HARNESS_READS_HANDLES | HARNESS_VALIDATION, "handles of the calls are not valid ones");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        all[i] = on_epilogue;
    memcpy(&table, all, sizeof(table));
    zet_tracer_exp_handle_t tracer = make_tracer(h, &record, &table, &table);
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    for (size_t i = 0; i < traced_calls_count; i++) {
        if (traced_calls[i].callback == NO_CALLBACK)
            traced_calls[i].call();
    }
    assert_int_equal(record.epilogues, 0);
    assert_success(zetTracerExpDestroy(tracer));
}

SUITE(callbacks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks__each_set_alone__hears_of_its_function_only),
        cmocka_unit_test(functions__without_a_place__are_not_traced),
    };

    traced_calls_fill();
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
