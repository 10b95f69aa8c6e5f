#include "sdk/tools/zeta-gdbserver/process/process.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#define ANY UINT32_MAX

static const ze_device_thread_t all_threads = {ANY, ANY, ANY, ANY};

ze_device_thread_t zeta_gdb_thread_name(const struct zeta_gdb_process *process, uint32_t thread)
{
    ze_device_thread_t name;

    name.thread = thread % process->threads_per_eu;
    thread /= process->threads_per_eu;
    name.eu = thread % process->eus;
    thread /= process->eus;
    name.subslice = thread % process->subslices;
    name.slice = thread / process->subslices;
    return name;
}

static uint32_t thread_number(const struct zeta_gdb_process *process, ze_device_thread_t name)
{
    return ((name.slice * process->subslices + name.subslice) * process->eus + name.eu) *
               process->threads_per_eu +
           name.thread;
}

/* Attach and detach ---------------------------------------------------------------------------- */

static bool find_sets(struct zeta_gdb_process *process, zet_device_handle_t device)
{
    zet_debug_regset_properties_t sets[sizeof(process->set_types) / sizeof(uint32_t)] = {{0}};
    uint32_t count = sizeof(sets) / sizeof(sets[0]);

    for (uint32_t i = 0; i < count; i++)
        sets[i].stype = ZET_STRUCTURE_TYPE_DEBUG_REGSET_PROPERTIES;
    if (zetDebugGetRegisterSetProperties(device, &count, sets) != ZE_RESULT_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++)
        process->set_types[i] = sets[i].type;
    process->set_count = count;
    return zeta_gdb_has_set(process, ZETA_GDB_SET_CR) &&
           zeta_gdb_has_set(process, ZETA_GDB_SET_X) && zeta_gdb_has_set(process, ZETA_GDB_SET_PC);
}

ze_result_t zeta_gdb_process_attach(struct zeta_gdb_process *process, zet_device_handle_t device,
                                    uint32_t pid)
{
    const zet_debug_config_t config = {.pid = pid};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_result_t result;

    *process = (struct zeta_gdb_process){0};
    result = zeDeviceGetProperties(device, &properties);
    if (result != ZE_RESULT_SUCCESS) {
        process->failure = zetaGetLastError();
        return result;
    }
    if (!find_sets(process, device)) {
        process->failure = "the device does not execute RV64, and GDB has no registers for it";
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    process->slices = properties.numSlices;
    process->subslices = properties.numSubslicesPerSlice;
    process->eus = properties.numEUsPerSubslice;
    process->threads_per_eu = properties.numThreadsPerEU;
    process->thread_count =
        process->slices * process->subslices * process->eus * process->threads_per_eu;
    process->threads = calloc(process->thread_count, sizeof(process->threads[0]));
    if (!process->threads) {
        process->failure = "there is no memory for its threads";
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = zetDebugAttach(device, &config, &process->session);
    if (result == ZE_RESULT_SUCCESS) {
        zeta_gdb_breakpoints_init(process);
        return result;
    }
    free(process->threads);
    *process = (struct zeta_gdb_process){.failure = zetaGetLastError()};
    return result;
}

void zeta_gdb_process_detach(struct zeta_gdb_process *process)
{
    if (!process->session)
        return;
    zeta_gdb_process_stop_all(process);
    zeta_gdb_points_clear(process);
    for (uint32_t i = 0; i < process->thread_count; i++) {
        process->threads[i].action = ZETA_GDB_ACTION_CONTINUE;
        process->threads[i].has_stop = false;
    }
    zeta_gdb_process_resume(process, true);
    (void)zetDebugDetach(process->session);
    zeta_gdb_modules_finish(process);
    free(process->breakpoints);
    free(process->threads);
    *process = (struct zeta_gdb_process){0};
}

/* Events --------------------------------------------------------------------------------------- */

static void take_stop(struct zeta_gdb_process *process, uint32_t number)
{
    struct zeta_gdb_thread *const thread = &process->threads[number];
    const struct zeta_gdb_breakpoint *breakpoint;
    uint32_t cr[4];
    uint64_t pc;

    /* Where it stopped by itself while it was interrupted there are two events: one is enough. */
    if (thread->is_stopped ||
        !zeta_gdb_registers_read(process, number, ZETA_GDB_SET_CR, 0, 1, cr) ||
        !zeta_gdb_registers_read(process, number, ZETA_GDB_SET_PC, 0, 1, &pc))
        return;
    thread->is_there = thread->is_stopped = thread->has_stop = true;
    thread->has_cause = (cr[1] & (uint32_t)ZETA_GDB_CAUSE_BREAK) != 0;
    thread->cause = cr[1];
    thread->address = (uint64_t)cr[3] << 32 | cr[2];
    thread->is_break = thread->is_step = false;
    breakpoint = zeta_gdb_breakpoint_at(process, pc);
    if (cr[1] == ZETA_GDB_CAUSE_BREAKPOINT) {
        thread->address = pc;
        thread->has_stop = thread->is_break =
            breakpoint && zeta_gdb_conditions_hold(process, number, breakpoint->conditions);
        return;
    }
    if ((cr[1] & ~(uint32_t)ZETA_GDB_CAUSE_HALT) != (uint32_t)ZETA_GDB_CAUSE_BREAK)
        return;
    thread->address = pc;
    thread->is_break = breakpoint != NULL;
    thread->is_step = !thread->is_break && thread->action == ZETA_GDB_ACTION_STEP;
    /* Its breakpoint may have been removed before its event came. */
    thread->has_stop = thread->is_break || thread->is_step || zeta_gdb_memory_breaks(process, pc);
}

static void take(struct zeta_gdb_process *process, const zet_debug_event_t *event)
{
    switch (event->type) {
    case ZET_DEBUG_EVENT_TYPE_MODULE_LOAD:
        zeta_gdb_module_loaded(process, event);
        break;
    case ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD:
        zeta_gdb_module_unloaded(process, event);
        break;
    case ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED:
    case ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE:
        if (event->type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED &&
            event->info.thread.thread.slice != ANY &&
            thread_number(process, event->info.thread.thread) < process->thread_count)
            take_stop(process, thread_number(process, event->info.thread.thread));
        break;
    case ZET_DEBUG_EVENT_TYPE_PAGE_FAULT:
        process->has_fault = true;
        process->fault_address = event->info.page_fault.address;
        break;
    case ZET_DEBUG_EVENT_TYPE_DETACHED:
        process->has_ended = true;
        break;
    default:
        break;
    }
}

bool zeta_gdb_process_take_event(struct zeta_gdb_process *process, uint64_t timeout_ms)
{
    zet_debug_event_t event = {0};
    const ze_result_t result = zetDebugReadEvent(process->session, timeout_ms, &event);

    if (result == ZE_RESULT_SUCCESS)
        take(process, &event);
    else if (result != ZE_RESULT_NOT_READY)
        process->has_ended = true;
    return result == ZE_RESULT_SUCCESS;
}

void zeta_gdb_process_take_events(struct zeta_gdb_process *process)
{
    while (!process->has_ended && zeta_gdb_process_take_event(process, 0))
        ;
}

/*
 * Takes all events up to the answer to an interrupt; whether it stopped a thread. The answer comes
 * within the time that the device's plugin gives, or the session ends
 * (semantics 27.6, 27.7, 27.11).
 */
static bool interrupt(struct zeta_gdb_process *process, ze_device_thread_t selector)
{
    const ze_result_t interrupted = zetDebugInterrupt(process->session, selector);
    bool waits = interrupted == ZE_RESULT_SUCCESS || interrupted == ZE_RESULT_NOT_READY;
    bool stopped = false;

    while (!process->has_ended && waits) {
        zet_debug_event_t event = {0};
        const ze_result_t result = zetDebugReadEvent(process->session, UINT64_MAX, &event);

        if (result == ZE_RESULT_SUCCESS) {
            take(process, &event);
            stopped = event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED;
            waits = (!stopped && event.type != ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE) ||
                    memcmp(&event.info.thread.thread, &selector, sizeof(selector)) != 0;
        } else if (result != ZE_RESULT_NOT_READY) {
            process->has_ended = true;
        }
    }
    zeta_gdb_process_take_events(process);
    return stopped;
}

/* What is known of a thread that is not stopped: whether GDB waits for it. */
static void forget(struct zeta_gdb_thread *thread)
{
    *thread = (struct zeta_gdb_thread){.is_gone = thread->is_gone};
}

void zeta_gdb_process_stop_all(struct zeta_gdb_process *process)
{
    const bool some_ran = interrupt(process, all_threads);

    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct zeta_gdb_thread *const thread = &process->threads[i];
        uint64_t pc;

        if (some_ran)
            thread->is_stopped = zeta_gdb_registers_read(process, i, ZETA_GDB_SET_PC, 0, 1, &pc);
        if (process->has_ended || !thread->is_stopped)
            forget(thread);
        thread->is_there = thread->is_stopped;
    }
}

void zeta_gdb_process_stop(struct zeta_gdb_process *process, uint32_t number)
{
    struct zeta_gdb_thread *const thread = &process->threads[number];

    if (!thread->is_stopped)
        (void)interrupt(process, zeta_gdb_thread_name(process, number));
    if (process->has_ended || !thread->is_stopped)
        forget(thread);
}

/* Resume --------------------------------------------------------------------------------------- */

/* Says in CR whether the thread is to step; dword 1 has the last cause until then. */
static void prepare(struct zeta_gdb_process *process, uint32_t number)
{
    struct zeta_gdb_thread *const thread = &process->threads[number];
    const bool steps = thread->action == ZETA_GDB_ACTION_STEP;
    uint32_t cr[4];

    if (steps || thread->has_cause) {
        if (zeta_gdb_registers_read(process, number, ZETA_GDB_SET_CR, 0, 1, cr)) {
            cr[1] = steps ? (uint32_t)ZETA_GDB_CAUSE_BREAK : 0;
            (void)zeta_gdb_registers_write(process, number, ZETA_GDB_SET_CR, 0, 1, cr);
        }
    }
    thread->has_cause = thread->has_stop = thread->is_stopped = thread->has_ids = false;
}

static bool stays(const struct zeta_gdb_thread *thread)
{
    return thread->has_stop || thread->action == ZETA_GDB_ACTION_STAY;
}

void zeta_gdb_process_resume(struct zeta_gdb_process *process, bool release)
{
    bool some = false, any = false;

    for (uint32_t i = 0; i < process->thread_count; i++)
        some |= process->threads[i].is_stopped && stays(&process->threads[i]);
    for (uint32_t i = 0; i < process->thread_count; i++) {
        if (!process->threads[i].is_stopped || stays(&process->threads[i]))
            continue;
        any = true;
        prepare(process, i);
        if (some)
            (void)zetDebugResume(process->session, zeta_gdb_thread_name(process, i));
    }
    if (any && !some)
        (void)zetDebugResume(process->session, all_threads);
    if (release)
        zeta_gdb_modules_release(process);
}
