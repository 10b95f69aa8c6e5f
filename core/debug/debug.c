/*
 * The functions of the API for program debug: what may be called when, and sessions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/api/check.h"
#include "core/debug/session.h"
#include "core/device/device.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta_impl.h"

/* Devices -------------------------------------------------------------------------------------- */

/* What the backend says of a device; UNSUPPORTED_FEATURE, with a sentence, without one. */
static ze_result_t describe(const struct zeta_device *device,
                            struct zeta_plugin_debug_properties *out_properties)
{
    const struct zeta_provider *provider = &device->backend->providers[ZETA_GROUP_DEBUG];

    *out_properties = (struct zeta_plugin_debug_properties){.struct_size = sizeof(*out_properties)};
    if (!provider->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "%s cannot be debugged: no plugin provides \"debug\" for it",
                          device->name);
    if (device->is_part)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "%s cannot be debugged while ZE_AFFINITY_MASK shows only some of its "
                          "tiles; unset it in the debugger",
                          device->name);
    return zeta_backend_result(provider->backend,
                               provider->backend->debug.properties(
                                   provider->backend->self, provider->device, out_properties),
                               "asking how a device can be debugged");
}

ze_result_t ZE_APICALL impl_zetDeviceGetDebugProperties(
    zet_device_handle_t hDevice, zet_device_debug_properties_t *pDebugProperties)
{
    struct zeta_plugin_debug_properties properties;
    const ze_result_t result = describe((const struct zeta_device *)hDevice, &properties);

    pDebugProperties->flags =
        result == ZE_RESULT_SUCCESS ? ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH : 0;
    return ZE_RESULT_SUCCESS;
}

/* Fills the caller's array; *pCount stays when fewer are asked for than there are. */
static ze_result_t list_sets(const struct zeta_plugin_array *sets, uint32_t *pCount,
                             zet_debug_regset_properties_t *out)
{
    const uint32_t count = zeta_count_clip(pCount, (uint32_t)sets->count, out);

    for (uint32_t i = 0; i < count; i++) {
        struct zeta_plugin_register_set set;

        zeta_array_read(sets, i, &set, sizeof(set));
        out[i].type = set.type;
        out[i].version = set.version;
        out[i].generalFlags = set.flags;
        out[i].deviceFlags = set.device_flags;
        out[i].count = set.count;
        out[i].bitSize = set.bits;
        out[i].byteSize = set.bytes;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetDebugGetRegisterSetProperties(zet_device_handle_t hDevice, uint32_t *pCount,
                                      zet_debug_regset_properties_t *pRegisterSetProperties)
{
    struct zeta_plugin_debug_properties properties;

    /* A device that cannot be debugged has no sets. */
    if (describe((const struct zeta_device *)hDevice, &properties) != ZE_RESULT_SUCCESS)
        properties.register_sets.count = 0;
    return list_sets(&properties.register_sets, pCount, pRegisterSetProperties);
}

/* Sessions ------------------------------------------------------------------------------------- */

static void finish_session(void *object)
{
    zeta_debug_state_free(((struct zeta_debug_session *)object)->state);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_DEBUG_SESSION, finish_session)

static ze_result_t make_state(struct zeta_device *device,
                              const struct zeta_plugin_debug_properties *properties, uint32_t pid,
                              struct zeta_debug_state **out_state)
{
    const struct zeta_plugin_device_properties *p = &device->backend->properties;
    const struct zeta_thread_shape shape = {.slices = p->slices,
                                            .subslices = p->subslices_per_slice,
                                            .eus = p->eus_per_subslice,
                                            .threads = p->threads_per_eu};
    const uint32_t words = zeta_thread_words(zeta_thread_count(&shape));
    struct zeta_debug_state *state;
    int error;

    if (words == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "%s cannot be debugged: its properties do not say how many threads it "
                          "has",
                          device->name);
    state = calloc(1, sizeof(*state));
    if (!state)
        return zeta_error_no_memory("a debug session");
    state->notify.descriptor = -1;
    (void)pthread_mutex_init(&state->lock, NULL);
    STAILQ_INIT(&state->waiting);
    STAILQ_INIT(&state->unacknowledged);
    STAILQ_INIT(&state->interrupts);
    state->stopped = calloc((size_t)words * 4, sizeof(uint64_t));
    error = state->stopped ? zeta_notify_init(&state->notify) : 0;
    if (!state->stopped || error != 0) {
        zeta_debug_state_free(state);
        return error == 0 ? zeta_error_no_memory("a debug session")
                          : zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                                       "a debug session needs a descriptor: %s; raise the limit "
                                       "of open files (ulimit -n)",
                                       strerror(error));
    }
    state->excepted = state->stopped + words;
    state->reported = state->excepted + words;
    state->selected = state->reported + words;
    state->words = words;
    state->shape = shape;
    state->backend = device->backend->providers[ZETA_GROUP_DEBUG].backend;
    state->device = device;
    state->pid = pid;
    state->halt_timeout_ns = (uint64_t)properties->halt_timeout_ms * 1000000;
    *out_state = state;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetDebugAttach(zet_device_handle_t hDevice,
                                           const zet_debug_config_t *config,
                                           zet_debug_session_handle_t *phDebug)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_plugin_debug_properties properties;
    struct zeta_debug_state *state = NULL;
    void *object = NULL;
    ze_result_t result;
    uint32_t code;

    *phDebug = NULL;
    result = describe(device, &properties);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (config->pid == 0 || config->pid == (uint32_t)getpid())
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "pid %" PRIu32 " cannot be debugged from here; give the id of another "
                          "process, since a process that debugs itself would stop itself",
                          config->pid);
    result = make_state(device, &properties, config->pid, &state);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    code = state->backend->debug.attach(state->backend->self,
                                        device->backend->providers[ZETA_GROUP_DEBUG].device,
                                        config->pid, &state->session);
    result = zeta_backend_result(state->backend, code, "attaching to a process");
    if (result != ZE_RESULT_SUCCESS) {
        zeta_debug_state_free(state);
        return result;
    }
    result =
        zeta_object_create(ZETA_KIND_DEBUG_SESSION, sizeof(struct zeta_debug_session), &object);
    if (result != ZE_RESULT_SUCCESS) {
        state->backend->debug.detach(state->backend->self, state->session);
        zeta_debug_state_free(state);
        return result;
    }
    ((struct zeta_debug_session *)object)->state = state;
    *phDebug = object;
    return ZE_RESULT_SUCCESS;
}

/* Calls of other threads end before, and find the session detached afterwards. */
ze_result_t ZE_APICALL impl_zetDebugDetach(zet_debug_session_handle_t hDebug)
{
    struct zeta_debug_session *session = (struct zeta_debug_session *)hDebug;
    struct zeta_debug_state *state = session->state;

    if (!zeta_object_retire(session))
        return zeta_object_explain(session, ZETA_KIND_DEBUG_SESSION, "zetDebugDetach", "hDebug");
    (void)pthread_mutex_lock(&state->lock);
    state->backend->debug.detach(state->backend->self, state->session);
    state->session = NULL;
    zeta_notify_set(&state->notify, 1);
    (void)pthread_mutex_unlock(&state->lock);
    zeta_object_unpin(session);
    return ZE_RESULT_SUCCESS;
}

/* The state of a session, locked; NULL, with the result in *out, when a detach came in between. */
static struct zeta_debug_state *enter(zet_debug_session_handle_t hDebug, ze_result_t *out)
{
    struct zeta_debug_state *state = ((struct zeta_debug_session *)hDebug)->state;

    (void)pthread_mutex_lock(&state->lock);
    if (state->session && !state->has_ended)
        return state;
    *out = state->session
               ? zeta_error(ZE_RESULT_ERROR_DEVICE_LOST,
                            "process %" PRIu32 ", which was debugged, has ended; read its last "
                            "events and detach",
                            state->pid)
               : zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                            "the debug session was detached by another thread");
    (void)pthread_mutex_unlock(&state->lock);
    return NULL;
}

static ze_result_t leave(struct zeta_debug_state *state, ze_result_t result)
{
    (void)pthread_mutex_unlock(&state->lock);
    return result;
}

/* Events --------------------------------------------------------------------------------------- */

ze_result_t ZE_APICALL impl_zetDebugReadEvent(zet_debug_session_handle_t hDebug, uint64_t timeout,
                                              zet_debug_event_t *event)
{
    struct zeta_debug_state *state = ((struct zeta_debug_session *)hDebug)->state;
    const uint64_t deadline_ns =
        zeta_clock_deadline(timeout > UINT64_MAX / 1000000 ? UINT64_MAX : timeout * 1000000);

    for (;;) {
        ze_result_t result;

        (void)pthread_mutex_lock(&state->lock);
        result = state->session
                     ? zeta_debug_take(state, event)
                     : zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                                  "the debug session was detached while its events were awaited");
        (void)pthread_mutex_unlock(&state->lock);
        if (result != ZE_RESULT_NOT_READY || zeta_monotonic_ns() >= deadline_ns)
            return result;
        zeta_debug_wait(state, deadline_ns);
    }
}

ze_result_t ZE_APICALL impl_zetDebugAcknowledgeEvent(zet_debug_session_handle_t hDebug,
                                                     const zet_debug_event_t *event)
{
    ze_result_t result;
    struct zeta_debug_state *state = enter(hDebug, &result);

    return state ? leave(state, zeta_debug_acknowledge(state, event)) : result;
}

ze_result_t ZE_APICALL impl_zetDebugInterrupt(zet_debug_session_handle_t hDebug,
                                              ze_device_thread_t thread)
{
    ze_result_t result;
    struct zeta_debug_state *state = enter(hDebug, &result);

    return state ? leave(state, zeta_debug_interrupt(state, thread)) : result;
}

ze_result_t ZE_APICALL impl_zetDebugResume(zet_debug_session_handle_t hDebug,
                                           ze_device_thread_t thread)
{
    ze_result_t result;
    struct zeta_debug_state *state = enter(hDebug, &result);

    return state ? leave(state, zeta_debug_resume(state, thread)) : result;
}

/* Memory and registers ------------------------------------------------------------------------- */

/* The number of the one thread that is meant, which is stopped and reported. */
static ze_result_t one_thread(const struct zeta_debug_state *state, ze_device_thread_t thread,
                              uint32_t *out_number)
{
    const enum zeta_thread_scope scope = zeta_thread_scope_of(&state->shape, thread);

    if (scope == ZETA_THREAD_NONE)
        return zeta_debug_no_thread(state, thread);
    if (scope != ZETA_THREAD_ONE)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "one thread has to be named; UINT32_MAX in a field stands for many");
    *out_number = zeta_thread_number(&state->shape, thread);
    if (!zeta_thread_in(state->reported, *out_number))
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "thread %" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32
                          " is not stopped, as far as events that were read say",
                          thread.slice, thread.subslice, thread.eu, thread.thread);
    return ZE_RESULT_SUCCESS;
}

/* Whose view of memory is meant, and whether the bytes can be there at all. */
static ze_result_t check_access(const struct zeta_debug_state *state, ze_device_thread_t thread,
                                const zet_debug_memory_space_desc_t *desc, size_t size,
                                uint32_t *out_thread)
{
    *out_thread = ZETA_PLUGIN_DEBUG_NO_THREAD;
    if (size > UINT64_MAX - desc->address)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%zu bytes at 0x%" PRIx64 " reach beyond the end of memory", size,
                          desc->address);
    if (zeta_thread_scope_of(&state->shape, thread) != ZETA_THREAD_ALL)
        return one_thread(state, thread, out_thread);
    if (desc->type != ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT &&
        desc->type != ZET_DEBUG_MEMORY_SPACE_TYPE_ELF)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "memory of this space belongs to a work-group; name one stopped thread "
                          "of it");
    return ZE_RESULT_SUCCESS;
}

/* Reads into the buffer, or writes from it, which it leaves as it is then. */
static ze_result_t use_memory(zet_debug_session_handle_t hDebug, ze_device_thread_t thread,
                              const zet_debug_memory_space_desc_t *desc, size_t size, void *buffer,
                              bool write)
{
    ze_result_t result;
    struct zeta_debug_state *state = enter(hDebug, &result);
    uint32_t number = 0, code;

    if (!state)
        return result;
    result = check_access(state, thread, desc, size, &number);
    if (result != ZE_RESULT_SUCCESS || size == 0)
        return leave(state, result);
    code = write
               ? state->backend->debug.memory_write(state->backend->self, state->session,
                                                    desc->type, number, desc->address, size, buffer)
               : state->backend->debug.memory_read(state->backend->self, state->session, desc->type,
                                                   number, desc->address, size, buffer);
    return leave(state, zeta_backend_result(state->backend, code,
                                            write ? "writing memory" : "reading memory"));
}

ze_result_t ZE_APICALL impl_zetDebugReadMemory(zet_debug_session_handle_t hDebug,
                                               ze_device_thread_t thread,
                                               const zet_debug_memory_space_desc_t *desc,
                                               size_t size, void *buffer)
{
    return use_memory(hDebug, thread, desc, size, buffer, false);
}

ze_result_t ZE_APICALL impl_zetDebugWriteMemory(zet_debug_session_handle_t hDebug,
                                                ze_device_thread_t thread,
                                                const zet_debug_memory_space_desc_t *desc,
                                                size_t size, const void *buffer)
{
    return use_memory(hDebug, thread, desc, size, (void *)(uintptr_t)buffer, true);
}

/* Register sets of a stopped thread, else of the device. */
static ze_result_t sets_of(struct zeta_debug_state *state, uint32_t thread,
                           struct zeta_plugin_array *out_sets)
{
    const struct zeta_backend *backend = state->backend;
    struct zeta_plugin_debug_properties properties;
    const uint32_t code =
        backend->debug.register_sets(backend->self, state->session, thread, out_sets);

    if (code != ZETA_PLUGIN_UNSUPPORTED_FEATURE)
        return zeta_backend_result(backend, code, "listing the registers of a thread");
    const ze_result_t result = describe(state->device, &properties);
    *out_sets = properties.register_sets;
    return result;
}

ze_result_t ZE_APICALL impl_zetDebugGetThreadRegisterSetProperties(
    zet_debug_session_handle_t hDebug, ze_device_thread_t thread, uint32_t *pCount,
    zet_debug_regset_properties_t *pRegisterSetProperties)
{
    ze_result_t result;
    struct zeta_debug_state *state = enter(hDebug, &result);
    struct zeta_plugin_array sets;
    uint32_t number = 0;

    if (!state)
        return result;
    result = one_thread(state, thread, &number);
    if (result == ZE_RESULT_SUCCESS)
        result = sets_of(state, number, &sets);
    if (result == ZE_RESULT_SUCCESS)
        result = list_sets(&sets, pCount, pRegisterSetProperties);
    return leave(state, result);
}

/* Whether registers of a set exist and may be used so (ZETA_PLUGIN_REGISTER_*). */
static ze_result_t check_registers(struct zeta_debug_state *state, uint32_t thread, uint32_t type,
                                   uint32_t start, uint32_t count, uint32_t use)
{
    struct zeta_plugin_array sets;
    const ze_result_t result = sets_of(state, thread, &sets);

    for (uint64_t i = 0; result == ZE_RESULT_SUCCESS && i < sets.count; i++) {
        struct zeta_plugin_register_set set;

        zeta_array_read(&sets, i, &set, sizeof(set));
        if (set.type != type)
            continue;
        if (start >= set.count || count > set.count - start)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "register set %" PRIu32 " has %" PRIu32 " registers; %" PRIu32
                              " from %" PRIu32 " on were asked for",
                              type, set.count, count, start);
        if ((set.flags & use) == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "registers of set %" PRIu32 " cannot be %s", type,
                              use == ZETA_PLUGIN_REGISTER_READ ? "read" : "written");
        return ZE_RESULT_SUCCESS;
    }
    return result != ZE_RESULT_SUCCESS
               ? result
               : zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "the thread has no register set of type %" PRIu32
                            "; zetDebugGetThreadRegisterSetProperties lists those that it has",
                            type);
}

static ze_result_t use_registers(zet_debug_session_handle_t hDebug, ze_device_thread_t thread,
                                 uint32_t type, uint32_t start, uint32_t count, void *values,
                                 bool write)
{
    ze_result_t result;
    struct zeta_debug_state *state = enter(hDebug, &result);
    uint32_t number = 0, code;

    if (!state)
        return result;
    result = one_thread(state, thread, &number);
    if (result == ZE_RESULT_SUCCESS)
        result = check_registers(state, number, type, start, count,
                                 write ? ZETA_PLUGIN_REGISTER_WRITE : ZETA_PLUGIN_REGISTER_READ);
    if (result == ZE_RESULT_SUCCESS && count > 0 && !values)
        result = zeta_check_null(write ? "zetDebugWriteRegisters" : "zetDebugReadRegisters",
                                 "pRegisterValues");
    if (result != ZE_RESULT_SUCCESS || count == 0)
        return leave(state, result);
    code = write ? state->backend->debug.registers_write(state->backend->self, state->session,
                                                         number, type, start, count, values)
                 : state->backend->debug.registers_read(state->backend->self, state->session,
                                                        number, type, start, count, values);
    return leave(state, zeta_backend_result(state->backend, code,
                                            write ? "writing registers" : "reading registers"));
}

ze_result_t ZE_APICALL impl_zetDebugReadRegisters(zet_debug_session_handle_t hDebug,
                                                  ze_device_thread_t thread, uint32_t type,
                                                  uint32_t start, uint32_t count,
                                                  void *pRegisterValues)
{
    return use_registers(hDebug, thread, type, start, count, pRegisterValues, false);
}

ze_result_t ZE_APICALL impl_zetDebugWriteRegisters(zet_debug_session_handle_t hDebug,
                                                   ze_device_thread_t thread, uint32_t type,
                                                   uint32_t start, uint32_t count,
                                                   void *pRegisterValues)
{
    return use_registers(hDebug, thread, type, start, count, pRegisterValues, true);
}
