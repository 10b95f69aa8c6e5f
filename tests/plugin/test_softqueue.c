/* How a queue of the SDK waits for events that change without anybody telling it, and what it hands
 * to its backend. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <zeta/softqueue.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct zeta_plugin_event {
    atomic_bool on;
    atomic_uint looks;
};

static atomic_bool is_done;
static uint32_t last_result;
static char told[8]; /* what the queue said, in order: s(ignalled), o(ver), d(one) */

static void note(char what)
{
    const size_t length = strlen(told);

    assert_cmp(length + 1, <, sizeof(told));
    told[length] = what;
}

static uint32_t query(struct zeta_plugin_host *host, struct zeta_plugin_event *event)
{
    (void)host;
    atomic_fetch_add(&event->looks, 1);
    return atomic_load(&event->on) ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_READY;
}

static uint64_t look_often(struct zeta_plugin_host *host, struct zeta_plugin_event *event)
{
    (void)host;
    (void)event;
    return 200000;
}

static void on_done(struct zeta_plugin_host *host, void *cookie, uint32_t result)
{
    (void)host;
    (void)cookie;
    last_result = result;
    note('d');
    atomic_store(&is_done, true);
}

static void on_over(struct zeta_plugin_host *host, void *cookie)
{
    (void)host;
    assert_ptr_equal(cookie, told);
    note('o');
}

static void on_signal(struct zeta_plugin_host *host, struct zeta_plugin_event *event,
                      const struct zeta_plugin_times *times)
{
    (void)host;
    (void)event;
    (void)times;
    note('s');
}

static uint64_t ticks(void *context)
{
    (void)context;
    return 1;
}

static uint32_t executed[8], executed_count;

static uint32_t execute(void *context, const struct zeta_plugin_command *command)
{
    (void)context;
    executed[executed_count++ % 8] = command->type;
    return command->type == ZETA_PLUGIN_COMMAND_MARKER ? ZETA_PLUGIN_UNSUPPORTED_FEATURE
                                                       : ZETA_PLUGIN_SUCCESS;
}

static void interrupt(void *context)
{
    (void)context;
}

static const struct zeta_plugin_host_ops host_ops = {.struct_size = sizeof(host_ops),
                                                     .event_query = query,
                                                     .event_look_ns = look_often,
                                                     .submission_done = on_done};
static const struct zeta_plugin_host_ops telling_ops = {.struct_size = sizeof(telling_ops),
                                                        .event_query = query,
                                                        .event_signal = on_signal,
                                                        .submission_done = on_done,
                                                        .submission_over = on_over};
static const struct zeta_softqueue_backend backend = {
    .ticks = ticks, .execute = execute, .interrupt = interrupt};

static void wait_ms(long ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* A busy machine makes looks rarer, so only too many are wrong. Rule 8.8. */
static void wait__for_long__looks_more_rarely_and_still_sees_the_change(void **state)
{
    struct zeta_plugin_event event = {0};
    struct zeta_plugin_event *waits[] = {&event};
    const struct zeta_plugin_command command = {.struct_size = sizeof(command),
                                                .type = ZETA_PLUGIN_COMMAND_BARRIER,
                                                .wait_events = waits,
                                                .wait_count = 1};
    const struct zeta_plugin_array commands = {
        .data = &command, .count = 1, .stride = sizeof(command)};
    struct zeta_softqueue_pool *pool = NULL;
    struct zeta_softqueue *queue = NULL;

    (void)state;
    atomic_store(&is_done, false);
    memset(told, 0, sizeof(told));
    assert_int_equal(zeta_softqueue_pool_create(&host_ops, NULL, &pool), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_softqueue_create(pool, &backend, "waits", &queue), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_softqueue_submit(queue, &commands, NULL), ZETA_PLUGIN_SUCCESS);
    wait_ms(500);
    assert_false(atomic_load(&is_done));
    /* 2500 looks if all sleeps were as long as the first one. */
    assert_in_range(atomic_load(&event.looks), 3, 400);
    atomic_store(&event.on, true);
    while (!atomic_load(&is_done))
        wait_ms(1);
    assert_int_equal(last_result, ZETA_PLUGIN_SUCCESS);
    zeta_softqueue_destroy(queue);
    zeta_softqueue_pool_destroy(pool);
}

static void queries__submitted_in_both_ways__reach_the_backend_in_order(void **state)
{
    const struct zeta_plugin_command commands[] = {
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_QUERY_BEGIN},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_BARRIER},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_FILL},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_QUERY_END},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_MARKER},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_FILL}};
    const struct zeta_plugin_array array = {commands, 6, sizeof(commands[0])};
    struct zeta_softqueue_pool *pool = NULL;
    struct zeta_softqueue *queue = NULL;

    (void)state;
    assert_int_equal(zeta_softqueue_pool_create(&host_ops, NULL, &pool), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_softqueue_create(pool, &backend, "ask", &queue), ZETA_PLUGIN_SUCCESS);
    for (uint32_t way = 0; way < 2; way++) {
        atomic_store(&is_done, false);
        executed_count = 0;
        memset(told, 0, sizeof(told));
        assert_int_equal(way == 0 ? zeta_softqueue_submit_here(queue, &array, NULL)
                                  : zeta_softqueue_submit(queue, &array, NULL),
                         ZETA_PLUGIN_SUCCESS);
        while (!atomic_load(&is_done))
            wait_ms(1);
        /* The backend refused the marker: what follows it does not run. */
        assert_int_equal(last_result, ZETA_PLUGIN_UNSUPPORTED_FEATURE);
        assert_int_equal(executed_count, 4);
        assert_int_equal(executed[0], ZETA_PLUGIN_COMMAND_QUERY_BEGIN);
        assert_int_equal(executed[1], ZETA_PLUGIN_COMMAND_FILL);
        assert_int_equal(executed[2], ZETA_PLUGIN_COMMAND_QUERY_END);
        assert_int_equal(executed[3], ZETA_PLUGIN_COMMAND_MARKER);
    }
    zeta_softqueue_destroy(queue);
    zeta_softqueue_pool_destroy(pool);
}

/* Who sees the last event knows that only the report is missing. Rule 7.12. */
static void end__of_a_submission__is_told_before_its_last_event(void **state)
{
    static const char *const expected[] = {"sosd", "sd", "od"};
    struct zeta_plugin_event event = {0};
    const struct zeta_plugin_command commands[] = {
        {.struct_size = sizeof(commands[0]),
         .type = ZETA_PLUGIN_COMMAND_BARRIER,
         .signal_event = &event},
        {.struct_size = sizeof(commands[0]),
         .type = ZETA_PLUGIN_COMMAND_BARRIER,
         .signal_event = &event},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_MARKER},
        {.struct_size = sizeof(commands[0]), .type = ZETA_PLUGIN_COMMAND_FILL}};
    const struct zeta_plugin_array arrays[] = {{&commands[0], 2, sizeof(commands[0])},
                                               {&commands[1], 2, sizeof(commands[0])},
                                               {&commands[3], 1, sizeof(commands[0])}};
    struct zeta_softqueue_pool *pool = NULL;
    struct zeta_softqueue *queue = NULL;

    (void)state;
    assert_int_equal(zeta_softqueue_pool_create(&telling_ops, NULL, &pool), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(zeta_softqueue_create(pool, &backend, "tell", &queue), ZETA_PLUGIN_SUCCESS);
    for (uint32_t i = 0; i < 6; i++) {
        atomic_store(&is_done, false);
        memset(told, 0, sizeof(told));
        assert_int_equal(i < 3 ? zeta_softqueue_submit_here(queue, &arrays[i % 3], told)
                               : zeta_softqueue_submit(queue, &arrays[i % 3], told),
                         ZETA_PLUGIN_SUCCESS);
        while (!atomic_load(&is_done))
            wait_ms(1);
        assert_string_equal(told, expected[i % 3]);
    }
    zeta_softqueue_destroy(queue);
    zeta_softqueue_pool_destroy(pool);
}

SUITE(softqueue)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end__of_a_submission__is_told_before_its_last_event),
        cmocka_unit_test(queries__submitted_in_both_ways__reach_the_backend_in_order),
        cmocka_unit_test(wait__for_long__looks_more_rarely_and_still_sees_the_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
