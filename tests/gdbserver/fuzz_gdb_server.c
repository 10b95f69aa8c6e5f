/*
 * Any client of the server: each line is the payload of a packet, "!" interrupts. The process is a
 * model of 4 threads and 4 KiB of memory, which fills every buffer that it is given: a sanitizer
 * finds what is too small. The server has to end when its client does.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <level_zero/zet_api.h>

#include "sdk/tools/zeta-gdbserver/server/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS = 4, MEMORY = 0x10000, MEMORY_BYTES = 4096, MOST_EVENTS = 64 };

static struct {
    uint8_t memory[MEMORY_BYTES];
    bool is_stopped[THREADS];
    bool is_interrupted; /* and the answer was not read */
    ze_device_thread_t interrupted;
    bool has_module, is_held;
    uint32_t events;
} model;

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* The functions of the API that the server calls; those of the library are not used. --------- */

static uint32_t number_of(ze_device_thread_t thread)
{
    require(thread.slice == 0 && thread.subslice == 0 && thread.eu == 0 && thread.thread < THREADS);
    return thread.thread;
}

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t device,
                                             ze_device_properties_t *properties)
{
    (void)device;
    properties->numSlices = properties->numSubslicesPerSlice = properties->numEUsPerSubslice = 1;
    properties->numThreadsPerEU = THREADS;
    return ZE_RESULT_SUCCESS;
}

static const struct {
    uint32_t type, count, bytes;
} sets[] = {{ZETA_GDB_SET_CE, 1, 4},  {ZETA_GDB_SET_CR, 1, 16}, {ZETA_GDB_SET_X, 31, 8},
            {ZETA_GDB_SET_F, 32, 8},  {ZETA_GDB_SET_PC, 1, 8},  {ZETA_GDB_SET_ID, 10, 8},
            {ZETA_GDB_SET_FCSR, 1, 4}};
#define SETS (sizeof(sets) / sizeof(sets[0]))

ze_result_t ZE_APICALL zetDebugGetRegisterSetProperties(zet_device_handle_t device, uint32_t *count,
                                                        zet_debug_regset_properties_t *properties)
{
    (void)device;
    require(*count >= SETS);
    *count = SETS;
    for (uint32_t i = 0; i < SETS; i++) {
        properties[i].type = sets[i].type;
        properties[i].count = sets[i].count;
        properties[i].byteSize = sets[i].bytes;
        properties[i].bitSize = 8 * sets[i].bytes;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugAttach(zet_device_handle_t device, const zet_debug_config_t *config,
                                      zet_debug_session_handle_t *session)
{
    (void)device;
    (void)config;
    *session = (zet_debug_session_handle_t)&model;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugDetach(zet_debug_session_handle_t session)
{
    require(session == (zet_debug_session_handle_t)&model);
    return ZE_RESULT_SUCCESS;
}

/* The answer to an interrupt, a module, stops of threads in turn, and in the end the end. */
ze_result_t ZE_APICALL zetDebugReadEvent(zet_debug_session_handle_t session, uint64_t timeout,
                                         zet_debug_event_t *event)
{
    (void)session;
    (void)timeout;
    memset(event, 0, sizeof(*event));
    if (model.is_interrupted) {
        model.is_interrupted = false;
        event->type = ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED;
        event->info.thread.thread = model.interrupted;
        return ZE_RESULT_SUCCESS;
    }
    if (model.events++ >= MOST_EVENTS) {
        event->type = ZET_DEBUG_EVENT_TYPE_DETACHED;
        return ZE_RESULT_SUCCESS;
    }
    /* The process waits in a load until it is acknowledged. */
    if (model.events % 8 == 1 && !model.is_held) {
        event->type = model.has_module ? ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD
                                       : ZET_DEBUG_EVENT_TYPE_MODULE_LOAD;
        event->flags = model.has_module ? 0 : ZET_DEBUG_EVENT_FLAG_NEED_ACK;
        event->info.module.moduleBegin = MEMORY;
        event->info.module.moduleEnd = MEMORY + 64;
        event->info.module.load = MEMORY + 1024;
        model.is_held = !model.has_module;
        model.has_module = !model.has_module;
        return ZE_RESULT_SUCCESS;
    }
    if (model.events % 2 == 0 && !model.is_stopped[model.events / 2 % THREADS]) {
        model.is_stopped[model.events / 2 % THREADS] = true;
        event->type = ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED;
        event->info.thread.thread.thread = model.events / 2 % THREADS;
        return ZE_RESULT_SUCCESS;
    }
    return ZE_RESULT_NOT_READY;
}

ze_result_t ZE_APICALL zetDebugAcknowledgeEvent(zet_debug_session_handle_t session,
                                                const zet_debug_event_t *event)
{
    (void)session;
    require(model.is_held && event->type == ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    model.is_held = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugInterrupt(zet_debug_session_handle_t session,
                                         ze_device_thread_t thread)
{
    (void)session;
    for (uint32_t i = 0; i < THREADS; i++)
        model.is_stopped[i] |= thread.thread == UINT32_MAX || number_of(thread) == i;
    model.is_interrupted = true;
    model.interrupted = thread;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugResume(zet_debug_session_handle_t session, ze_device_thread_t thread)
{
    (void)session;
    if (thread.thread == UINT32_MAX)
        memset(model.is_stopped, 0, sizeof(model.is_stopped));
    else
        model.is_stopped[number_of(thread)] = false;
    return ZE_RESULT_SUCCESS;
}

/* Where bytes are; null where there are none. */
static uint8_t *find_memory(uint64_t address, size_t size)
{
    return address >= MEMORY && address - MEMORY <= MEMORY_BYTES &&
                   size <= MEMORY_BYTES - (address - MEMORY)
               ? model.memory + (address - MEMORY)
               : NULL;
}

ze_result_t ZE_APICALL zetDebugReadMemory(zet_debug_session_handle_t session,
                                          ze_device_thread_t thread,
                                          const zet_debug_memory_space_desc_t *space, size_t size,
                                          void *buffer)
{
    const uint8_t *const bytes = find_memory(space->address, size);

    (void)session;
    (void)thread;
    if (!bytes)
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    memcpy(buffer, bytes, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugWriteMemory(zet_debug_session_handle_t session,
                                           ze_device_thread_t thread,
                                           const zet_debug_memory_space_desc_t *space, size_t size,
                                           const void *buffer)
{
    uint8_t *const bytes = find_memory(space->address, size);

    (void)session;
    (void)thread;
    if (!bytes)
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    memcpy(bytes, buffer, size);
    return ZE_RESULT_SUCCESS;
}

/* Bytes of registers of a stopped thread that are there; 0: there are none. */
static size_t count_bytes(ze_device_thread_t thread, uint32_t type, uint32_t first, uint32_t count)
{
    size_t i = 0;

    while (i < SETS && sets[i].type != type)
        i++;
    require(i < SETS && first < sets[i].count && count <= sets[i].count - first);
    return model.is_stopped[number_of(thread)] ? (size_t)count * sets[i].bytes : 0;
}

ze_result_t ZE_APICALL zetDebugReadRegisters(zet_debug_session_handle_t session,
                                             ze_device_thread_t thread, uint32_t type,
                                             uint32_t first, uint32_t count, void *values)
{
    const size_t bytes = count_bytes(thread, type, first, count);

    (void)session;
    memset(values, 0x5a, bytes);
    return bytes > 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE;
}

ze_result_t ZE_APICALL zetDebugWriteRegisters(zet_debug_session_handle_t session,
                                              ze_device_thread_t thread, uint32_t type,
                                              uint32_t first, uint32_t count, void *values)
{
    const size_t bytes = count_bytes(thread, type, first, count);
    volatile uint8_t sum = 0;

    (void)session;
    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)values)[i]);
    return bytes > 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_NOT_AVAILABLE;
}

/* The client ---------------------------------------------------------------------------------- */

/* Writes what a client sends; a pipe holds so much. */
static void write_client(int out, const uint8_t *data, size_t size)
{
    static char bytes[60000];
    size_t used = 0;

    for (size_t at = 0; at < size;) {
        const uint8_t *const end = memchr(data + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - data) - at : size - at;
        uint8_t sum = 0;

        if (used + length + 8 > sizeof(bytes))
            break;
        if (length == 1 && data[at] == '!') {
            bytes[used++] = 0x03;
        } else {
            for (size_t i = 0; i < length; i++)
                sum = (uint8_t)(sum + data[at + i]);
            bytes[used++] = '$';
            memcpy(bytes + used, data + at, length);
            used += length;
            used += (size_t)snprintf(bytes + used, 4, "#%02x", sum);
        }
        at += length + 1;
    }
    require(write(out, bytes, used) == (ssize_t)used);
    (void)close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_gdb_process process;
    struct zeta_gdb_server server = {.process = &process, .stop = -1};
    int client[2];

    memset(&model, 0, sizeof(model));
    require(pipe2(client, O_CLOEXEC) == 0);
    server.in = client[0];
    server.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    write_client(client[1], data, size);
    require(zeta_gdb_process_attach(&process, NULL, 1) == ZE_RESULT_SUCCESS);
    require(zeta_gdb_server_run(&server) != ZETA_GDB_END_NONE);
    zeta_gdb_process_detach(&process);
    require(!model.is_held || model.events > MOST_EVENTS);
    (void)close(client[0]);
    (void)close(server.out);
    return 0;
}
