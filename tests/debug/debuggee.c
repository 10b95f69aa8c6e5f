#include "debuggee.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/vgpu_debug.h>

#include "tests/forked.h"
#include "tests/support/compare.h"

#define LIMIT 8u

static const char *const kernel_names[] = {"spin", "local", "fault", "meet"};
static const uint32_t kernel_items[] = {1, 16, 1, 16};

/* ---- the child ------------------------------------------------------------------------------ */

struct worker {
    ze_device_handle_t device;
    ze_context_handle_t context;
    uint32_t *flag;
    uint32_t queues, modules;
    ze_device_handle_t queue_device[LIMIT];
    ze_command_queue_handle_t queue[LIMIT];
    ze_command_list_handle_t immediate[LIMIT]; /* in place of a queue */
    ze_module_handle_t module[LIMIT];
};

static ze_driver_handle_t driver;

/* A failure ends the child, and with it the answers. */
static void demand(ze_result_t result)
{
    const char *sentence = "";

    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)zeDriverGetLastErrorDescription(driver, &sentence);
    (void)fprintf(stderr, "debuggee: 0x%08x %s\n", (unsigned)result, sentence);
    _exit(3);
}

static void init(struct worker *worker, bool is_enabled)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    uint32_t count = 1;
    void *memory;

    if (is_enabled)
        (void)setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
    demand(zeInit(0));
    demand(zeDriverGet(&count, &driver));
    count = 1;
    demand(zeDeviceGet(driver, &count, &worker->device));
    demand(zeContextCreate(driver, &context, &worker->context));
    demand(zeMemAllocShared(worker->context, &device, &host, 4096, 64, worker->device, &memory));
    worker->flag = memory;
}

static void make_queue(struct worker *worker, uint64_t tile, bool is_immediate)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_device_handle_t parts[4], device = worker->device;
    const uint32_t at = worker->queues++;
    uint32_t count = 4;

    if (tile > 0) {
        demand(zeDeviceGetSubDevices(device, &count, parts));
        device = parts[tile - 1];
    }
    worker->queue_device[at] = device;
    worker->queue[at] = NULL;
    worker->immediate[at] = NULL;
    if (is_immediate)
        demand(
            zeCommandListCreateImmediate(worker->context, device, &desc, &worker->immediate[at]));
    else
        demand(zeCommandQueueCreate(worker->context, device, &desc, &worker->queue[at]));
}

static void destroy_queue(struct worker *worker)
{
    const uint32_t at = --worker->queues;

    if (worker->immediate[at])
        demand(zeCommandListDestroy(worker->immediate[at]));
    else
        demand(zeCommandQueueDestroy(worker->queue[at]));
}

static void load(struct worker *worker)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE};
    static uint8_t file[1 << 20];
    FILE *stream = fopen(DEBUG_KERNELS, "rb");

    desc.inputSize = stream ? fread(file, 1, sizeof(file), stream) : 0;
    desc.pInputModule = file;
    if (stream)
        (void)fclose(stream);
    demand(zeModuleCreate(worker->context, worker->device, &desc, &worker->module[worker->modules],
                          NULL));
    worker->modules++;
}

/* Kernels, lists and what they use live as long as the child. */
static void launch(struct worker *worker, uint32_t which, uint32_t items)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = kernel_names[which]};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_group_count_t groups = {1, 1, 1};
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;

    demand(zeKernelCreate(worker->module[worker->modules - 1], &desc, &kernel));
    demand(zeKernelSetGroupSize(kernel, items ? items : kernel_items[which], 1, 1));
    demand(zeKernelSetArgumentValue(kernel, 0, sizeof(worker->flag), &worker->flag));
    demand(zeCommandListCreate(worker->context, worker->queue_device[worker->queues - 1],
                               &list_desc, &list));
    demand(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    demand(zeCommandListClose(list));
    demand(zeCommandQueueExecuteCommandLists(worker->queue[worker->queues - 1], 1, &list, NULL));
}

static uint64_t function_address(const struct worker *worker)
{
    void *function;

    demand(zeModuleGetFunctionPointer(worker->module[worker->modules - 1], "touched", &function));
    return (uintptr_t)function;
}

/* Two pages that are mapped one by one; the first can be written. */
static uint64_t map_read_only(const struct worker *worker)
{
    ze_physical_mem_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC};
    ze_physical_mem_handle_t physical;
    void *address;

    demand(zeVirtualMemQueryPageSize(worker->context, worker->device, 4096, &desc.size));
    demand(zeVirtualMemReserve(worker->context, NULL, 2 * desc.size, &address));
    for (uint32_t i = 0; i < 2; i++) {
        demand(zePhysicalMemCreate(worker->context, worker->device, &desc, &physical));
        demand(zeVirtualMemMap(
            worker->context, (char *)address + i * desc.size, desc.size, physical, 0,
            i == 0 ? ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE : ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
    }
    return (uintptr_t)address + desc.size;
}

/* Returns when the child has begun to sleep. */
static uint64_t fork_sleeper(bool is_initialised)
{
    int ready[2];
    char letter;
    pid_t child;

    if (pipe(ready) != 0)
        _exit(3);
    child = fork_runner();
    if (child == 0) {
        uint32_t count = 0;

        /* What a loader passes on in a child: it calls zeInit of the driver once. */
        if (is_initialised)
            demand(zeDriverGet(&count, NULL));
        (void)!write(ready[1], "x", 1);
        (void)pause();
        _exit(0);
    }
    (void)close(ready[1]);
    if (read(ready[0], &letter, 1) != 1)
        _exit(3);
    (void)close(ready[0]);
    return (uint64_t)child;
}

static uint64_t obey(struct worker *worker, enum debuggee_order order, uint64_t argument)
{
    switch (order) {
    case DEBUGGEE_INIT:
        init(worker, argument != 0);
        return 0;
    case DEBUGGEE_QUEUE:
        make_queue(worker, argument, false);
        return 0;
    case DEBUGGEE_QUEUE_DESTROY:
        destroy_queue(worker);
        return 0;
    case DEBUGGEE_IMMEDIATE:
        make_queue(worker, 0, true);
        return 0;
    case DEBUGGEE_MODULE:
        load(worker);
        return 0;
    case DEBUGGEE_MODULE_DESTROY:
        demand(zeModuleDestroy(worker->module[--worker->modules]));
        return 0;
    case DEBUGGEE_FUNCTION:
        return function_address(worker);
    case DEBUGGEE_FLAG:
        return (uintptr_t)worker->flag;
    case DEBUGGEE_READ_FLAG:
        return __atomic_load_n(worker->flag, __ATOMIC_SEQ_CST);
    case DEBUGGEE_CLEAR_FLAG:
        __atomic_store_n(worker->flag, 0, __ATOMIC_SEQ_CST);
        return 0;
    case DEBUGGEE_READ_ONLY:
        return map_read_only(worker);
    case DEBUGGEE_LAUNCH:
        launch(worker, (uint32_t)argument, (uint32_t)(argument >> 32));
        return 0;
    case DEBUGGEE_WAIT:
        return zeCommandQueueSynchronize(worker->queue[worker->queues - 1], UINT64_MAX);
    case DEBUGGEE_WAIT_AND_VANISH:
        (void)zeCommandQueueSynchronize(worker->queue[worker->queues - 1], UINT64_MAX);
        _exit(0);
    case DEBUGGEE_LOAD_AND_VANISH:
        load(worker);
        _exit(0);
    case DEBUGGEE_FORK:
        return fork_sleeper(argument != 0);
    case DEBUGGEE_CALL:
        return ((debuggee_function *)(uintptr_t)argument)(worker->context, worker->device);
    case DEBUGGEE_FINISH:
        break;
    }
    exit(0);
}

struct debuggee debuggee_start_bare(void)
{
    struct debuggee debuggee;
    int sockets[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    debuggee.pid = fork_child();
    assert_cmp(debuggee.pid, >=, 0);
    if (debuggee.pid == 0) {
        static struct worker worker;
        uint64_t order[2];

        (void)close(sockets[0]);
        while (read(sockets[1], order, sizeof(order)) == (ssize_t)sizeof(order)) {
            const uint64_t answer = obey(&worker, (enum debuggee_order)order[0], order[1]);

            if (write(sockets[1], &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
                break;
        }
        _exit(0);
    }
    (void)close(sockets[1]);
    debuggee.socket = sockets[0];
    return debuggee;
}

/* ---- its master ----------------------------------------------------------------------------- */

void debuggee_tell(const struct debuggee *debuggee, enum debuggee_order order, uint64_t argument)
{
    const uint64_t words[2] = {order, argument};

    assert_int_equal(send(debuggee->socket, words, sizeof(words), MSG_NOSIGNAL), sizeof(words));
}

uint64_t debuggee_hear(const struct debuggee *debuggee)
{
    uint64_t answer;

    assert_int_equal(read(debuggee->socket, &answer, sizeof(answer)), sizeof(answer));
    return answer;
}

uint64_t debuggee_do(const struct debuggee *debuggee, enum debuggee_order order, uint64_t argument)
{
    debuggee_tell(debuggee, order, argument);
    return debuggee_hear(debuggee);
}

bool debuggee_answered(const struct debuggee *debuggee)
{
    struct pollfd polled = {.fd = debuggee->socket, .events = POLLIN};

    return poll(&polled, 1, 0) > 0;
}

struct debuggee debuggee_start(void)
{
    const struct debuggee debuggee = debuggee_start_bare();

    (void)debuggee_do(&debuggee, DEBUGGEE_INIT, 1);
    return debuggee;
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return status;
}

void debuggee_kill(struct debuggee *debuggee)
{
    (void)kill(debuggee->pid, SIGKILL);
    (void)wait_for(debuggee->pid);
    (void)close(debuggee->socket);
}

void debuggee_finish(struct debuggee *debuggee)
{
    debuggee_tell(debuggee, DEBUGGEE_FINISH, 0);
    assert_int_equal(wait_for(debuggee->pid), 0);
    (void)close(debuggee->socket);
}

void await_sleep(pid_t pid)
{
    char path[64], text[256] = "";

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    do {
        FILE *file = fopen(path, "re");

        assert_non_null(file);
        assert_non_null(fgets(text, sizeof(text), file));
        (void)fclose(file);
    } while (strncmp(strrchr(text, ')'), ") S", 3) != 0);
}

/* ---- the debugger --------------------------------------------------------------------------- */

ze_device_handle_t debugger_device(void)
{
    ze_device_handle_t device;
    uint32_t count = 1;

    (void)unsetenv("ZET_ENABLE_PROGRAM_DEBUGGING");
    EXPECT_OK(zeInit(0));
    EXPECT_OK(zeDriverGet(&count, &driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(driver, &count, &device));
    return device;
}

ze_result_t debugger_try(pid_t pid, zet_debug_session_handle_t *out_session)
{
    const zet_debug_config_t config = {.pid = (uint32_t)pid};

    return zetDebugAttach(debugger_device(), &config, out_session);
}

zet_debug_session_handle_t debugger_attach(pid_t pid)
{
    zet_debug_session_handle_t session = NULL;

    EXPECT_OK(debugger_try(pid, &session));
    assert_non_null(session);
    return session;
}

zet_debug_event_t debugger_expect(zet_debug_session_handle_t session, zet_debug_event_type_t type)
{
    zet_debug_event_t event;

    EXPECT_OK(zetDebugReadEvent(session, UINT64_MAX, &event));
    assert_int_equal(event.type, type);
    return event;
}

const ze_device_thread_t everything = {ANY, ANY, ANY, ANY};

void debugger_read(zet_debug_session_handle_t session, uint64_t address, size_t size, void *buffer)
{
    const zet_debug_memory_space_desc_t desc = {
        .stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
        .type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT,
        .address = address,
    };

    EXPECT_OK(zetDebugReadMemory(session, everything, &desc, size, buffer));
}

void debugger_write(zet_debug_session_handle_t session, uint64_t address, size_t size,
                    const void *buffer)
{
    const zet_debug_memory_space_desc_t desc = {
        .stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
        .type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT,
        .address = address,
    };

    EXPECT_OK(zetDebugWriteMemory(session, everything, &desc, size, buffer));
}

struct bench bench_start(uint64_t tile)
{
    struct bench bench = {.debuggee = debuggee_start()};

    (void)debuggee_do(&bench.debuggee, DEBUGGEE_QUEUE, tile);
    (void)debuggee_do(&bench.debuggee, DEBUGGEE_MODULE, 0);
    bench.flag = debuggee_do(&bench.debuggee, DEBUGGEE_FLAG, 0);
    bench.function = debuggee_do(&bench.debuggee, DEBUGGEE_FUNCTION, 0);
    bench.session = debugger_attach(bench.debuggee.pid);
    (void)debugger_expect(bench.session, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    (void)debugger_expect(bench.session, ZET_DEBUG_EVENT_TYPE_MODULE_LOAD);
    return bench;
}

void bench_end(struct bench *bench)
{
    EXPECT_OK(zetDebugDetach(bench->session));
    debuggee_finish(&bench->debuggee);
}

void spin(const struct bench *bench)
{
    uint32_t value = 0;

    (void)debuggee_do(&bench->debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_SPIN);
    while (value == 0)
        debugger_read(bench->session, bench->flag, sizeof(value), &value);
}

void end_spin(const struct bench *bench)
{
    const uint32_t zero = 0;

    debugger_write(bench->session, bench->flag, sizeof(zero), &zero);
    assert_int_equal(debuggee_do(&bench->debuggee, DEBUGGEE_WAIT, 0), ZE_RESULT_SUCCESS);
}

ze_device_thread_t find_stopped(const struct bench *bench)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_thread_t t;
    uint64_t pc;

    EXPECT_OK(zeDeviceGetProperties(debugger_device(), &properties));
    for (t.slice = 0; t.slice < properties.numSlices; t.slice++) {
        for (t.subslice = 0; t.subslice < properties.numSubslicesPerSlice; t.subslice++) {
            for (t.eu = 0; t.eu < properties.numEUsPerSubslice; t.eu++) {
                for (t.thread = 0; t.thread < properties.numThreadsPerEU; t.thread++) {
                    if (zetDebugReadRegisters(bench->session, t, ZETA_VGPU_REGISTERS_PC, 0, 1,
                                              &pc) == ZE_RESULT_SUCCESS)
                        return t;
                }
            }
        }
    }
    fail_msg("no thread is stopped");
    return t;
}

void interrupt(const struct bench *bench)
{
    zet_debug_event_t event;

    EXPECT_OK(zetDebugInterrupt(bench->session, everything));
    event = debugger_expect(bench->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
    assert_int_equal(event.info.thread.thread.slice, ANY);
    assert_int_equal(event.info.thread.thread.thread, ANY);
}
