/* API tracers on one thread: order, arguments, what is traced, and what is refused. Rule 18.19. */
#include "support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <stdlib.h>

static void reset_order(void)
{
    memset(callback_order, 0, sizeof(callback_order));
}

static void tracer__created__is_disabled(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);

    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 0);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

static void tracer__enabled__brackets_each_call_until_disabled(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    for (uint32_t i = 1; i <= 10; i++) {
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
        assert_int_equal(witness.prologues, i);
        assert_int_equal(witness.epilogues, i);
        assert_int_equal(witness.result, ZE_RESULT_NOT_READY);
    }
    assert_success(zeEventHostSignal(signal.event));
    assert_success(zeEventQueryStatus(signal.event));
    assert_int_equal(witness.result, ZE_RESULT_SUCCESS);
    assert_int_equal(witness.prologues, 11);
    assert_success(zetTracerExpSetEnabled(tracer, 0));
    assert_success(zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 11);
    assert_int_equal(witness.epilogues, 11);
    assert_int_equal(witness.strangers, 0);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* Epilogues too run in the order of enabling; they are not turned round. Rule 18.1. */
static void tracers__several__run_in_the_order_of_enabling(void **state)
{
    const struct harness *h = *state;
    struct witness witnesses[3] = {{.name = 'A'}, {.name = 'B'}, {.name = 'C'}};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracers[3];

    for (size_t i = 0; i < 3; i++)
        tracers[i] = counting_tracer(h, &witnesses[i]);
    assert_success(zetTracerExpSetEnabled(tracers[2], 1));
    assert_success(zetTracerExpSetEnabled(tracers[0], 1));
    assert_success(zetTracerExpSetEnabled(tracers[1], 1));
    reset_order();
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_string_equal(callback_order, "cabCAB");

    /* Enabled again without being disabled, a tracer keeps its place. */
    assert_success(zetTracerExpSetEnabled(tracers[2], 1));
    reset_order();
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_string_equal(callback_order, "cabCAB");

    assert_success(zetTracerExpSetEnabled(tracers[0], 0));
    assert_success(zetTracerExpSetEnabled(tracers[0], 1));
    reset_order();
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_string_equal(callback_order, "cbaCBA");

    assert_success(zetTracerExpDestroy(tracers[1]));
    reset_order();
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_string_equal(callback_order, "caCA");
    assert_int_equal(witnesses[0].strangers + witnesses[1].strangers + witnesses[2].strangers, 0);
    assert_success(zetTracerExpDestroy(tracers[0]));
    assert_success(zetTracerExpDestroy(tracers[2]));
    signal_destroy(&signal);
}

/* More than a call has room for on the stack. Rule 18.10. */
static void tracers__twenty__each_has_instance_data_of_its_own(void **state)
{
    enum { MANY = 20 };
    const struct harness *h = *state;
    struct witness witnesses[MANY] = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracers[MANY];

    for (size_t i = 0; i < MANY; i++) {
        tracers[i] = counting_tracer(h, &witnesses[i]);
        assert_success(zetTracerExpSetEnabled(tracers[i], 1));
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(witnesses[i].prologues, MANY - i);
        assert_int_equal(witnesses[i].epilogues, MANY - i);
        assert_int_equal(witnesses[i].strangers, 0);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_success(zetTracerExpDestroy(tracers[(i * 7) % MANY]));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witnesses[0].prologues, MANY);
    signal_destroy(&signal);
}

/* Rule 18.10. */
static void tracer__one_side_only__gets_that_side(void **state)
{
    const struct harness *h = *state;
    struct witness before = {0};
    struct witness after = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t prologue = make_tracer(h, &before, &counting_prologues, NULL);
    zet_tracer_exp_handle_t epilogue = make_tracer(h, &after, NULL, &counting_epilogues);

    assert_success(zetTracerExpSetEnabled(prologue, 1));
    assert_success(zetTracerExpSetEnabled(epilogue, 1));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(before.prologues, 1);
    assert_int_equal(before.epilogues, 0);
    assert_int_equal(after.prologues, 0);
    assert_int_equal(after.epilogues, 1);
    /* Without a prologue nobody set the instance data, which began as null. */
    assert_int_equal(after.strangers, 1);
    assert_success(zetTracerExpDestroy(prologue));
    assert_success(zetTracerExpDestroy(epilogue));
    signal_destroy(&signal);
}

/* ---- calls inside callbacks ---------------------------------------------------------------- */

struct caller {
    struct witness witness;
    ze_command_list_handle_t list;
    ze_event_handle_t event;
    ze_command_list_handle_t seen;
    uint32_t appended;
};

static void append_again(ze_command_list_append_barrier_params_t *params, ze_result_t result,
                         void *user, void **instance)
{
    struct caller *caller = user;

    (void)result;
    (void)instance;
    caller->witness.prologues++;
    caller->seen = *params->phCommandList;
    if (zeCommandListAppendBarrier(caller->list, NULL, 0, NULL) == ZE_RESULT_SUCCESS &&
        zeEventQueryStatus(caller->event) == ZE_RESULT_NOT_READY)
        caller->appended++;
}

/* Rule 18.6. */
static void callback__calls_the_api_on_the_same_list__is_not_traced_itself(void **state)
{
    const struct harness *h = *state;
    struct witness queries = {0};
    struct signal signal = signal_create(h);
    struct caller caller = {
        .list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS),
        .event = signal.event,
    };
    zet_core_callbacks_t appends = {.CommandList = {.pfnAppendBarrierCb = append_again}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &caller, &appends, &appends);
    zet_tracer_exp_handle_t other = counting_tracer(h, &queries);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_success(zetTracerExpSetEnabled(other, 1));
    assert_success(zeCommandListAppendBarrier(caller.list, NULL, 0, NULL));
    assert_int_equal(caller.witness.prologues, 2); /* the prologue and the epilogue of one call */
    assert_int_equal(caller.appended, 2);
    /* A loader that wraps handles keeps the wrappers to itself. */
    if (!(harness_mode() & HARNESS_WRAPPED))
        assert_ptr_equal(caller.seen, caller.list);
    assert_int_equal(queries.prologues, 0);
    /* Outside of callbacks the same call is traced. */
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(queries.prologues, 1);
    assert_success(zetTracerExpDestroy(other));
    assert_success(zetTracerExpDestroy(tracer));
    assert_success(zeCommandListDestroy(caller.list));
    signal_destroy(&signal);
}

/* ---- arguments ----------------------------------------------------------------------------- */

struct swap {
    ze_event_handle_t event;
    ze_event_pool_desc_t pool;
    uint32_t seen;
    ze_result_t result;
};

static void swap_signal_event(ze_command_list_append_launch_kernel_params_t *params,
                              ze_result_t result, void *user, void **instance)
{
    struct swap *swap = user;

    (void)result;
    (void)instance;
    if (!*params->phSignalEvent && (*params->ppLaunchFuncArgs)->groupCountX == 3)
        swap->seen++;
    *params->phSignalEvent = swap->event;
}

static void expect_signal_event(ze_command_list_append_launch_kernel_params_t *params,
                                ze_result_t result, void *user, void **instance)
{
    struct swap *swap = user;

    (void)instance;
    swap->result = result;
    if (*params->phSignalEvent == swap->event)
        swap->seen++;
}

/* Rule 18.7. */
static void prologue__replaces_the_signal_event_of_a_launch__signals_it(void **state)
{
    const struct harness *h = *state;

    skip_in(HARNESS_WRAPPED, "handles of the program mean nothing to callbacks");

    const ze_group_count_t three = {3, 1, 1};
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    struct signal signal = signal_create(h);
    struct swap swap = {.event = signal.event, .result = ZE_RESULT_ERROR_UNKNOWN};
    zet_core_callbacks_t before = {.CommandList = {.pfnAppendLaunchKernelCb = swap_signal_event}};
    zet_core_callbacks_t after = {.CommandList = {.pfnAppendLaunchKernelCb = expect_signal_event}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &swap, &before, &after);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_success(zeCommandListAppendLaunchKernel(list, kernel, &three, NULL, 0, NULL));
    assert_success(zetTracerExpDestroy(tracer));
    assert_int_equal(swap.seen, 2);
    assert_int_equal(swap.result, ZE_RESULT_SUCCESS);
    assert_int_equal(*sum, 3);
    assert_success(zeEventQueryStatus(signal.event));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    signal_destroy(&signal);
    assert_success(zeMemFree(h->context, sum));
}

/* Callbacks are below such a loader: handles of the program are wrappers that only it knows.
 * Rule 18.19. */
static void prologue__puts_in_a_handle_of_a_wrapping_loader__is_refused(void **state)
{
    const struct harness *h = *state;

    if (!(harness_mode() & HARNESS_WRAPPED))
        skip();
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t kernel = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    struct signal signal = signal_create(h);
    struct swap swap = {.event = signal.event};
    zet_core_callbacks_t before = {.CommandList = {.pfnAppendLaunchKernelCb = swap_signal_event}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &swap, &before, NULL);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(zetTracerExpDestroy(tracer));
    assert_success(harness_launch(list, kernel, signal.event, 0, NULL));
    assert_success(zeEventQueryStatus(signal.event));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    signal_destroy(&signal);
    assert_success(zeMemFree(h->context, sum));
}

static void swap_pool_desc(ze_event_pool_create_params_t *params, ze_result_t result, void *user,
                           void **instance)
{
    struct swap *swap = user;

    (void)result;
    (void)instance;
    swap->pool = **params->pdesc;
    swap->pool.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    *params->pdesc = &swap->pool;
}

static void note_created_pool(ze_event_pool_create_params_t *params, ze_result_t result, void *user,
                              void **instance)
{
    struct swap *swap = user;

    (void)instance;
    swap->result = result;
    if (*params->phContext && **params->pphEventPool)
        swap->seen++;
}

/* Rule 18.7. */
static void prologue__replaces_the_descriptor_of_a_pool__creates_that_one(void **state)
{
    const struct harness *h = *state;
    struct swap swap = {.result = ZE_RESULT_ERROR_UNKNOWN};
    zet_core_callbacks_t before = {.EventPool = {.pfnCreateCb = swap_pool_desc}};
    zet_core_callbacks_t after = {.EventPool = {.pfnCreateCb = note_created_pool}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &swap, &before, &after);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    assert_success(zetTracerExpDestroy(tracer));
    assert_int_equal(swap.seen, 1);
    assert_int_equal(swap.result, ZE_RESULT_SUCCESS);
    /* What the pool was made with shows in what its events can do. */
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_kernel_timestamp_result_t times = {0};
    assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
    assert_success(zeEventQueryKernelTimestamp(event, &times));
    assert_cmp(times.global.kernelEnd, >, times.global.kernelStart);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static void repair_event(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                         void **instance)
{
    struct swap *swap = user;

    (void)result;
    (void)instance;
    swap->seen++;
    if (swap->event)
        *params->phEvent = swap->event;
}

static void note_result(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                        void **instance)
{
    (void)params;
    (void)instance;
    ((struct swap *)user)->result = result;
}

/* Rule 18.8. */
static void tracing__comes_before_validation(void **state)
{
    const struct harness *h = *state;

    skip_in(HARNESS_VALIDATION | HARNESS_READS_HANDLES, "the loader refuses the null handle");

    struct signal signal = signal_create(h);
    struct swap swap = {0};
    zet_core_callbacks_t before = {.Event = {.pfnQueryStatusCb = repair_event}};
    zet_core_callbacks_t after = {.Event = {.pfnQueryStatusCb = note_result}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &swap, &before, &after);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeEventQueryStatus(NULL));
    assert_int_equal(swap.seen, 1);
    assert_int_equal(swap.result, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    swap.event = signal.event;
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(NULL));
    assert_int_equal(swap.seen, 2);
    assert_int_equal(swap.result, ZE_RESULT_NOT_READY);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

static void forge_result(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                         void **instance)
{
    (void)params;
    (void)user;
    (void)instance;
    result = ZE_RESULT_ERROR_DEVICE_LOST;
    (void)result;
}

/* Rule 18.9. */
static void result__is_passed_by_value(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_core_callbacks_t forge = {.Event = {.pfnQueryStatusCb = forge_result}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &witness, &forge, &forge);
    zet_tracer_exp_handle_t later = counting_tracer(h, &witness);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_success(zetTracerExpSetEnabled(later, 1));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.result, ZE_RESULT_NOT_READY);
    assert_success(zetTracerExpDestroy(tracer));
    assert_success(zetTracerExpDestroy(later));
    signal_destroy(&signal);
}

/* ---- which calls --------------------------------------------------------------------------- */

static void count_init(ze_init_params_t *params, ze_result_t result, void *user, void **instance)
{
    (void)result;
    (void)instance;
    if (*params->pflags == ZE_INIT_FLAG_GPU_ONLY)
        ((struct swap *)user)->seen += 1;
}

static void count_driver_get(ze_driver_get_params_t *params, ze_result_t result, void *user,
                             void **instance)
{
    (void)result;
    (void)instance;
    if (**params->ppCount == 1 && *params->pphDrivers)
        ((struct swap *)user)->seen += 10;
}

static void count_device_get(ze_device_get_params_t *params, ze_result_t result, void *user,
                             void **instance)
{
    (void)result;
    (void)instance;
    if (*params->phDriver && **params->ppCount == 1)
        ((struct swap *)user)->seen += 100;
}

/* Rule 18.5. */
static void first_functions__after_enabling__are_traced(void **state)
{
    const struct harness *h = *state;
    struct swap swap = {0};
    zet_core_callbacks_t table = {.Global = {.pfnInitCb = count_init},
                                  .Driver = {.pfnGetCb = count_driver_get},
                                  .Device = {.pfnGetCb = count_device_get}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &swap, &table, &table);
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    uint32_t count = 1;

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_success(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    if (harness_mode() & HARNESS_NEWLOADER) /* a second zeInit ends in the loader */
        assert_int_equal(swap.seen, 0);
    else
        assert_int_equal(swap.seen, 2);
    swap.seen = 0;
    assert_success(zeDriverGet(&count, &driver));
    assert_int_equal(swap.seen, 20);
    assert_success(zeDeviceGet(driver, &count, &device));
    assert_int_equal(swap.seen, 220);
    assert_success(zetTracerExpDestroy(tracer));
}

static void functions__without_a_callback__are_not_told(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_core_callbacks_t waits = {
        .Event = {.pfnHostSynchronizeCb = counting_prologues.Event.pfnHostSynchronizeCb}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &witness, &waits, NULL);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_success(zeEventHostSignal(signal.event));
    assert_int_equal(witness.prologues, 0);
    assert_success(zeEventHostSynchronize(signal.event, 0));
    assert_int_equal(witness.prologues, 1);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* ---- states and refusals ------------------------------------------------------------------- */

/* Rule 18.14. */
static void set_callbacks__while_enabled__is_an_invalid_argument(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_core_callbacks_t nothing = {0};
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetTracerExpSetPrologues(tracer, &nothing));
    expect_sentence(h, "disable it");
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetTracerExpSetEpilogues(tracer, &nothing));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 1);
    assert_int_equal(witness.epilogues, 1);
    assert_success(zetTracerExpSetEnabled(tracer, 0));
    assert_success(zetTracerExpSetPrologues(tracer, &nothing));
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 1);
    assert_int_equal(witness.epilogues, 2);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* Rule 18.14. */
static void set_callbacks__table_changed_afterwards__keeps_its_copy(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_core_callbacks_t table = counting_prologues;
    zet_tracer_exp_handle_t tracer = make_tracer(h, &witness, &table, NULL);

    memset(&table, 0, sizeof(table));
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 1);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* Rule 18.12. */
static void destroy__while_enabled__ends_the_callbacks(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_success(zetTracerExpDestroy(tracer));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 0);
    signal_destroy(&signal);
}

struct destroyer {
    zet_tracer_exp_handle_t own;
    zet_tracer_exp_handle_t other;
    ze_result_t results[2];
    ze_result_t disabled;
};

static void destroy_tracers(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                            void **instance)
{
    struct destroyer *destroyer = user;

    (void)params;
    (void)result;
    (void)instance;
    destroyer->results[0] = zetTracerExpDestroy(destroyer->own);
    destroyer->results[1] = zetTracerExpDestroy(destroyer->other);
    destroyer->disabled = zetTracerExpSetEnabled(destroyer->own, 0);
}

/* Rules 18.11, 18.13. */
static void destroy__inside_a_callback__is_refused(void **state)
{
    const struct harness *h = *state;
    struct destroyer destroyer = {0};
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_core_callbacks_t table = {.Event = {.pfnQueryStatusCb = destroy_tracers}};
    zet_core_callbacks_t *sides[2][2] = {{&table, NULL}, {NULL, &table}};

    destroyer.other = counting_tracer(h, &witness);
    for (size_t i = 0; i < 2; i++) {
        destroyer.own = make_tracer(h, &destroyer, sides[i][0], sides[i][1]);
        assert_success(zetTracerExpSetEnabled(destroyer.own, 1));
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
        assert_int_equal(destroyer.results[0], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        assert_int_equal(destroyer.results[1], ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        assert_int_equal(destroyer.disabled, ZE_RESULT_SUCCESS);
        expect_sentence(h, "outside of callbacks");
        assert_success(zetTracerExpDestroy(destroyer.own));
    }
    assert_success(zetTracerExpDestroy(destroyer.other));
    signal_destroy(&signal);
}

/* Programs leave stype and pNext of the descriptor as they find the stack. Rule 18.15. */
static void create__garbage_in_the_descriptor__is_not_looked_at(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    zet_tracer_exp_desc_t desc;
    zet_tracer_exp_handle_t tracer = NULL;

    memset(&desc, 0xa5, sizeof(desc));
    desc.pUserData = &witness;
    assert_success(zetTracerExpCreate(h->context, &desc, &tracer));
    assert_success(zetTracerExpDestroy(tracer));
}

/* Rule 18.15. */
static void arguments__bad__are_refused(void **state)
{
    const struct harness *h = *state;

    skip_in(HARNESS_READS_HANDLES, "the loader reads the bad handles");

    struct witness witness = {0};
    zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zet_core_callbacks_t table = {0};
    zet_tracer_exp_handle_t tracer = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zetTracerExpCreate(h->context, &desc, &tracer));
    desc.pUserData = &witness;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetTracerExpCreate(NULL, &desc, &tracer));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zetTracerExpCreate(h->context, NULL, &tracer));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zetTracerExpCreate(h->context, &desc, NULL));
    assert_null(tracer);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetTracerExpSetEnabled(NULL, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetTracerExpDestroy(NULL));
    assert_success(zetTracerExpCreate(h->context, &desc, &tracer));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetTracerExpSetPrologues(tracer, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetTracerExpSetEpilogues(tracer, NULL));
    assert_success(zetTracerExpDestroy(tracer));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetTracerExpSetEnabled(tracer, 1));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetTracerExpSetPrologues(tracer, &table));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetTracerExpDestroy(tracer));
}

/* Rule 18.4. */
static void context__destroyed__leaves_its_tracers(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    struct harness other = *h;

    assert_success(zeContextCreate(h->driver, &desc, &other.context));
    zet_tracer_exp_handle_t tracer = counting_tracer(&other, &witness);
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    assert_success(zeContextDestroy(other.context));
    /* The event is of another context: a tracer sees the calls of the whole process. */
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.epilogues, 1);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* Rule 18.16. */
static void variable_of_api_tracing__any_value__changes_nothing(void **state)
{
    static const char *const values[] = {"1", "0", "", "maybe"};
    const struct harness *h = *state;
    struct signal signal = signal_create(h);

    assert_null(getenv("ZET_ENABLE_API_TRACING_EXP"));
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct witness witness = {0};

        assert_int_equal(setenv("ZET_ENABLE_API_TRACING_EXP", values[i], 1), 0);
        assert_success(zeInit(0));
        zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);
        assert_success(zetTracerExpSetEnabled(tracer, 1));
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
        assert_int_equal(witness.epilogues, 1);
        assert_success(zetTracerExpDestroy(tracer));
    }
    assert_int_equal(unsetenv("ZET_ENABLE_API_TRACING_EXP"), 0);
    signal_destroy(&signal);
}

static void extension__is_listed(void **state)
{
    const struct harness *h = *state;
    ze_driver_extension_properties_t list[64];
    uint32_t count = 64;
    bool found = false;

    assert_success(zeDriverGetExtensionProperties(h->driver, &count, list));
    for (uint32_t i = 0; i < count; i++)
        found = found || strcmp(list[i].name, ZET_API_TRACING_EXP_NAME) == 0;
    assert_true(found);
}

SUITE(tracer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracer__created__is_disabled),
        cmocka_unit_test(tracer__enabled__brackets_each_call_until_disabled),
        cmocka_unit_test(tracers__several__run_in_the_order_of_enabling),
        cmocka_unit_test(tracers__twenty__each_has_instance_data_of_its_own),
        cmocka_unit_test(tracer__one_side_only__gets_that_side),
        cmocka_unit_test(callback__calls_the_api_on_the_same_list__is_not_traced_itself),
        cmocka_unit_test(prologue__replaces_the_signal_event_of_a_launch__signals_it),
        cmocka_unit_test(prologue__puts_in_a_handle_of_a_wrapping_loader__is_refused),
        cmocka_unit_test(prologue__replaces_the_descriptor_of_a_pool__creates_that_one),
        cmocka_unit_test(tracing__comes_before_validation),
        cmocka_unit_test(result__is_passed_by_value),
        cmocka_unit_test(first_functions__after_enabling__are_traced),
        cmocka_unit_test(functions__without_a_callback__are_not_told),
        cmocka_unit_test(set_callbacks__while_enabled__is_an_invalid_argument),
        cmocka_unit_test(set_callbacks__table_changed_afterwards__keeps_its_copy),
        cmocka_unit_test(destroy__while_enabled__ends_the_callbacks),
        cmocka_unit_test(destroy__inside_a_callback__is_refused),
        cmocka_unit_test(create__garbage_in_the_descriptor__is_not_looked_at),
        cmocka_unit_test(arguments__bad__are_refused),
        cmocka_unit_test(context__destroyed__leaves_its_tracers),
        cmocka_unit_test(variable_of_api_tracing__any_value__changes_nothing),
        cmocka_unit_test(extension__is_listed),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
