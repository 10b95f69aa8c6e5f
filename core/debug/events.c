/*
 * From facts of the backend to events of the API: the rules of order and of answers to interrupts.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#include "core/debug/session.h"
#include "core/device/device.h"
#include "core/util/error.h"

/* Adds an event to those that wait to be read. NULL without memory, which ends the session. */
static struct zeta_debug_record *add(struct zeta_debug_state *state, zet_debug_event_type_t type)
{
    struct zeta_debug_record *record = calloc(1, sizeof(*record));

    if (!record) {
        state->failure = zeta_error_no_memory("an event of a debug session");
        return NULL;
    }
    record->event.type = type;
    record->thread = ZETA_PLUGIN_DEBUG_NO_THREAD;
    STAILQ_INSERT_TAIL(&state->waiting, record, link);
    zeta_notify_set(&state->notify, 1);
    return record;
}

/* The one answer to an interrupt. A thread of excepted becomes reported by its own event. */
static void answer(struct zeta_debug_state *state, struct zeta_debug_interrupt *interrupt)
{
    zet_debug_event_type_t type = ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE;
    struct zeta_debug_record *record;

    for (uint32_t i = 0; i < state->words; i++) {
        const uint64_t newly = interrupt->selected[i] & state->stopped[i] & ~state->reported[i];

        if (newly != 0)
            type = ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED;
        state->reported[i] |= newly & ~state->excepted[i];
    }
    record = add(state, type);
    if (record)
        record->event.info.thread.thread = interrupt->selector;
    STAILQ_REMOVE(&state->interrupts, interrupt, zeta_debug_interrupt, link);
    free(interrupt);
}

/* Answers interrupts: of halts up to a number, and those whose time is over. */
static void answer_all(struct zeta_debug_state *state, uint64_t halt)
{
    struct zeta_debug_interrupt *interrupt = STAILQ_FIRST(&state->interrupts), *next;
    const uint64_t now_ns = zeta_monotonic_ns();

    for (; interrupt; interrupt = next) {
        next = STAILQ_NEXT(interrupt, link);
        if (interrupt->halt <= halt || interrupt->deadline_ns <= now_ns)
            answer(state, interrupt);
    }
}

/*
 * Threads that stopped although no interrupt waits for them go on as if nothing had been: a device
 * that can only halt all threads stopped them too, or they stopped after the answer.
 */
static void resume_others(struct zeta_debug_state *state)
{
    const struct zeta_debug_interrupt *interrupt;
    bool any = false;

    for (uint32_t i = 0; i < state->words; i++) {
        uint64_t others = state->stopped[i] & ~state->reported[i] & ~state->excepted[i];

        STAILQ_FOREACH(interrupt, &state->interrupts, link)
        others &= ~interrupt->selected[i];
        any |= others != 0;
        state->stopped[i] &= ~others;
        state->selected[i] = others;
    }
    if (any)
        (void)state->backend->debug.resume(state->backend->self, state->session, state->selected);
}

/* Answers to interrupts come before the threads that stopped for a reason of their own. */
static void on_threads(struct zeta_debug_state *state,
                       const struct zeta_plugin_debug_threads *threads)
{
    for (uint32_t i = 0; i < state->words; i++) {
        state->stopped[i] = threads->stopped[i];
        state->selected[i] = threads->excepted[i] & ~state->excepted[i] & ~state->reported[i];
        state->excepted[i] = (state->excepted[i] | state->selected[i]) & state->stopped[i];
        state->reported[i] &= state->stopped[i];
    }
    answer_all(state, threads->halt);
    for (uint32_t i = 0; i < state->words; i++) {
        for (uint64_t left = state->selected[i]; left != 0; left &= left - 1) {
            const uint32_t number = i * 64 + (uint32_t)__builtin_ctzll(left);
            struct zeta_debug_record *record = add(state, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);

            if (!record)
                return;
            record->thread = number;
            record->event.info.thread.thread = zeta_thread_at(&state->shape, number);
        }
    }
    resume_others(state);
}

static void on_module(struct zeta_debug_state *state, zet_debug_event_type_t type,
                      const struct zeta_plugin_debug_module *module)
{
    struct zeta_debug_record *record = add(state, type);

    if (!record)
        return;
    record->event.info.module.format = ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF;
    record->event.info.module.moduleBegin = module->image_begin;
    record->event.info.module.moduleEnd = module->image_end;
    record->event.info.module.load = module->load;
    if (type == ZET_DEBUG_EVENT_TYPE_MODULE_LOAD && module->cookie != 0) {
        record->event.flags = ZET_DEBUG_EVENT_FLAG_NEED_ACK;
        record->cookie = module->cookie;
    }
}

/* Every interrupt has an answer, so those that wait get theirs before the last event. */
static void on_end(struct zeta_debug_state *state)
{
    struct zeta_debug_record *record;

    memset(state->stopped, 0, state->words * sizeof(uint64_t));
    memset(state->excepted, 0, state->words * sizeof(uint64_t));
    memset(state->reported, 0, state->words * sizeof(uint64_t));
    answer_all(state, UINT64_MAX);
    record = add(state, ZET_DEBUG_EVENT_TYPE_DETACHED);
    if (record)
        record->event.info.detached.reason = ZET_DEBUG_DETACH_REASON_HOST_EXIT;
    state->has_ended = true;
}

static void on_event(struct zeta_debug_state *state, const struct zeta_plugin_debug_event *event)
{
    struct zeta_debug_record *record;

    switch (event->kind) {
    case ZETA_PLUGIN_DEBUG_QUEUE_CREATED:
        if (state->queues++ == 0)
            (void)add(state, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
        break;
    case ZETA_PLUGIN_DEBUG_QUEUE_DESTROYED:
        if (state->queues > 0 && --state->queues == 0)
            (void)add(state, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
        break;
    case ZETA_PLUGIN_DEBUG_MODULE_LOADED:
        on_module(state, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD, &event->u.module);
        break;
    case ZETA_PLUGIN_DEBUG_MODULE_UNLOADED:
        on_module(state, ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD, &event->u.module);
        break;
    case ZETA_PLUGIN_DEBUG_THREADS:
        on_threads(state, &event->u.threads);
        break;
    case ZETA_PLUGIN_DEBUG_FAULT:
        record = add(state, ZET_DEBUG_EVENT_TYPE_PAGE_FAULT);
        if (record) {
            record->event.info.page_fault.address = event->u.fault.address;
            record->event.info.page_fault.mask = event->u.fault.mask;
            record->event.info.page_fault.reason =
                (zet_debug_page_fault_reason_t)event->u.fault.reason;
        }
        break;
    case ZETA_PLUGIN_DEBUG_ENDED:
        on_end(state);
        break;
    default: /* of a newer backend */
        break;
    }
}

void zeta_debug_pump(struct zeta_debug_state *state)
{
    while (!state->has_ended && state->failure == ZE_RESULT_SUCCESS) {
        struct zeta_plugin_debug_event event = {.struct_size = sizeof(event)};
        const uint32_t code =
            state->backend->debug.next_event(state->backend->self, state->session, &event);

        if (code == ZETA_PLUGIN_NOT_READY)
            break;
        if (code == ZETA_PLUGIN_SUCCESS)
            on_event(state, &event);
        else if (code == ZETA_PLUGIN_DEVICE_LOST)
            on_end(state);
        else
            state->failure =
                zeta_backend_result(state->backend, code, "taking an event of a debug session");
    }
    answer_all(state, 0);
}

ze_result_t zeta_debug_take(struct zeta_debug_state *state, zet_debug_event_t *out_event)
{
    struct zeta_debug_record *record;

    if (STAILQ_EMPTY(&state->waiting))
        zeta_debug_pump(state);
    record = STAILQ_FIRST(&state->waiting);
    if (!record) {
        memset(out_event, 0, sizeof(*out_event));
        zeta_notify_set(&state->notify, 0);
        if (state->failure != ZE_RESULT_SUCCESS)
            return state->failure;
        return state->has_ended
                   ? zeta_error(ZE_RESULT_ERROR_DEVICE_LOST,
                                "process %u, which was debugged, has ended; detach", state->pid)
                   : ZE_RESULT_NOT_READY;
    }
    *out_event = record->event;
    if (record->thread != ZETA_PLUGIN_DEBUG_NO_THREAD) {
        const uint64_t bit = UINT64_C(1) << record->thread % 64;

        state->reported[record->thread / 64] |= state->excepted[record->thread / 64] & bit;
        state->excepted[record->thread / 64] &= ~bit;
    }
    STAILQ_REMOVE_HEAD(&state->waiting, link);
    if (STAILQ_EMPTY(&state->waiting))
        zeta_notify_set(&state->notify, 0);
    if ((record->event.flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) != 0)
        STAILQ_INSERT_TAIL(&state->unacknowledged, record, link);
    else
        free(record);
    return ZE_RESULT_SUCCESS;
}

void zeta_debug_wait(struct zeta_debug_state *state, uint64_t deadline_ns)
{
    struct pollfd sources[] = {{.fd = state->notify.descriptor, .events = POLLIN},
                               {.fd = -1, .events = POLLIN}};
    const struct zeta_debug_interrupt *interrupt;
    uint64_t now_ns;
    struct timespec left;

    (void)pthread_mutex_lock(&state->lock);
    if (state->session && !state->has_ended)
        sources[1].fd = state->backend->debug.descriptor(state->backend->self, state->session);
    STAILQ_FOREACH(interrupt, &state->interrupts, link)
    {
        if (interrupt->deadline_ns < deadline_ns)
            deadline_ns = interrupt->deadline_ns;
    }
    (void)pthread_mutex_unlock(&state->lock);
    now_ns = zeta_monotonic_ns();
    left = zeta_clock_timespec(deadline_ns > now_ns ? deadline_ns - now_ns : 0);
    (void)ppoll(sources, 2, deadline_ns == UINT64_MAX ? NULL : &left, NULL);
}

ze_result_t zeta_debug_acknowledge(struct zeta_debug_state *state, const zet_debug_event_t *event)
{
    struct zeta_debug_record *record;
    uint32_t code;

    STAILQ_FOREACH(record, &state->unacknowledged, link)
    {
        const zet_debug_event_info_module_t *module = &record->event.info.module;

        if (record->event.type == event->type && module->load == event->info.module.load &&
            module->moduleBegin == event->info.module.moduleBegin &&
            module->moduleEnd == event->info.module.moduleEnd)
            break;
    }
    if (!record)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "no event of type %u of process %u waits for an acknowledgement; give "
                          "an event with ZET_DEBUG_EVENT_FLAG_NEED_ACK as zetDebugReadEvent gave "
                          "it, once",
                          (unsigned)event->type, state->pid);
    code = state->backend->debug.acknowledge(state->backend->self, state->session, record->cookie);
    STAILQ_REMOVE(&state->unacknowledged, record, zeta_debug_record, link);
    free(record);
    return zeta_backend_result(state->backend, code, "acknowledging a debug event");
}

/* Fills state->selected; INVALID_ARGUMENT when the selector selects nothing that exists. */
static ze_result_t select_threads(struct zeta_debug_state *state, ze_device_thread_t selector)
{
    if (zeta_thread_scope_of(&state->shape, selector) == ZETA_THREAD_NONE)
        return zeta_debug_no_thread(state, selector);
    zeta_thread_select(&state->shape, selector, state->selected);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_debug_no_thread(const struct zeta_debug_state *state, ze_device_thread_t thread)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%s has no thread %" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32
                      "; it has %" PRIu32 " slices, %" PRIu32 " subslices in each, %" PRIu32
                      " EUs in each, %" PRIu32 " threads in each",
                      state->device->name, thread.slice, thread.subslice, thread.eu, thread.thread,
                      state->shape.slices, state->shape.subslices, state->shape.eus,
                      state->shape.threads);
}

ze_result_t zeta_debug_interrupt(struct zeta_debug_state *state, ze_device_thread_t selector)
{
    struct zeta_debug_interrupt *interrupt;
    ze_result_t result = select_threads(state, selector);
    bool is_stopped = true;
    uint32_t code;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_debug_pump(state);
    /* Taking events uses the same mask. */
    zeta_thread_select(&state->shape, selector, state->selected);
    for (uint32_t i = 0; i < state->words; i++)
        is_stopped &= (state->selected[i] & ~state->reported[i]) == 0;
    if (is_stopped)
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "all threads that were to be interrupted are stopped already");
    STAILQ_FOREACH(interrupt, &state->interrupts, link)
    {
        if (memcmp(&interrupt->selector, &selector, sizeof(selector)) == 0)
            return ZE_RESULT_NOT_READY;
    }
    interrupt = calloc(1, sizeof(*interrupt) + state->words * sizeof(uint64_t));
    if (!interrupt)
        return zeta_error_no_memory("an interrupt of a debug session");
    memcpy(interrupt->selected, state->selected, state->words * sizeof(uint64_t));
    interrupt->selector = selector;
    code = state->backend->debug.halt(state->backend->self, state->session, interrupt->selected,
                                      &interrupt->halt);
    if (code != ZETA_PLUGIN_SUCCESS) {
        free(interrupt);
        return zeta_backend_result(state->backend, code, "interrupting threads");
    }
    interrupt->deadline_ns = zeta_clock_deadline(state->halt_timeout_ns);
    STAILQ_INSERT_TAIL(&state->interrupts, interrupt, link);
    /* Who waits for events learns of the new deadline. */
    zeta_notify_set(&state->notify, 1);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_debug_resume(struct zeta_debug_state *state, ze_device_thread_t selector)
{
    ze_result_t result = select_threads(state, selector);
    bool is_stopped = false;
    uint32_t code;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < state->words; i++) {
        state->selected[i] &= state->reported[i];
        is_stopped |= state->selected[i] != 0;
    }
    if (!is_stopped)
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "none of the threads that were to be resumed is stopped, as far as "
                          "events that were read say");
    code = state->backend->debug.resume(state->backend->self, state->session, state->selected);
    if (code == ZETA_PLUGIN_SUCCESS) {
        for (uint32_t i = 0; i < state->words; i++) {
            state->stopped[i] &= ~state->selected[i];
            state->reported[i] &= ~state->selected[i];
        }
    }
    return zeta_backend_result(state->backend, code, "resuming threads");
}

void zeta_debug_state_free(struct zeta_debug_state *state)
{
    if (!state)
        return;
    while (!STAILQ_EMPTY(&state->interrupts)) {
        struct zeta_debug_interrupt *interrupt = STAILQ_FIRST(&state->interrupts);

        STAILQ_REMOVE_HEAD(&state->interrupts, link);
        free(interrupt);
    }
    STAILQ_CONCAT(&state->waiting, &state->unacknowledged);
    while (!STAILQ_EMPTY(&state->waiting)) {
        struct zeta_debug_record *record = STAILQ_FIRST(&state->waiting);

        STAILQ_REMOVE_HEAD(&state->waiting, link);
        free(record);
    }
    zeta_notify_finish(&state->notify);
    (void)pthread_mutex_destroy(&state->lock);
    free(state->stopped);
    free(state);
}
