/*
 * debug_attach: a debugger, from the first call to the last.
 *
 * It starts a second process, which runs a kernel that never ends by itself, attaches to it, reads
 * the events, lets the module be loaded, interrupts the kernel, looks at the registers of a thread
 * that is stopped, writes the word that ends the kernel, lets it go on, and detaches.
 *
 *     debugger                                   program (debug_attach --program)
 *     start it with the variable that allows it
 *                                   <- address   initialise, allocate
 *     attach                        go ->
 *     PROCESS_ENTRY                              make a queue
 *     MODULE_LOAD, acknowledge                   make a module: waits for that
 *     interrupt, THREAD_STOPPED                  run the kernel, wait for its end
 *     registers, memory, resume
 *     detach                        go ->        check what the kernel counted
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <level_zero/zet_api.h>

#include "example.h"

enum { ITEMS = 64, GROUP = 16 };

static const ze_device_thread_t all_threads = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

/* ---- the program that is debugged ------------------------------------------------------------ */

static void *allocate(ze_context_handle_t context, ze_device_handle_t device, size_t bytes)
{
    const ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    example_check(
        zeMemAllocShared(context, &on_device, &on_host, bytes, sizeof(uint64_t), device, &memory),
        "zeMemAllocShared");
    memset(memory, 0, bytes);
    return memory;
}

/* An ordinary program, but that it says where the word is, and waits twice for the debugger. */
static int run_program(void)
{
    const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_kernel_desc_t kernel_description = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                                 .pKernelName = "count"};
    ze_command_queue_desc_t queue_description = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                                 .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_group_count_t groups = {ITEMS / GROUP, 1, 1};
    char *path = example_data_path("kernels/count.elf");
    ze_command_list_handle_t list = NULL;
    ze_context_handle_t context = NULL;
    ze_kernel_handle_t kernel = NULL;
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_module_handle_t module = NULL;
    char go = 0;

    example_find_computing_device(&driver, &device);
    example_check(zeContextCreate(driver, &context_description, &context), "zeContextCreate");
    uint32_t *enough = allocate(context, device, sizeof(*enough));
    uint64_t *counts = allocate(context, device, ITEMS * sizeof(*counts));
    const uint64_t address = (uint64_t)(uintptr_t)enough;
    if (write(STDOUT_FILENO, &address, sizeof(address)) != (ssize_t)sizeof(address) ||
        read(STDIN_FILENO, &go, 1) != 1)
        return 1; /* the debugger has ended, and said why */

    queue_description.ordinal = example_find_compute_ordinal(device);
    example_check(zeCommandListCreateImmediate(context, device, &queue_description, &list),
                  "zeCommandListCreateImmediate");
    module = example_load_module(context, device, path);
    example_check(zeKernelCreate(module, &kernel_description, &kernel), "zeKernelCreate");
    example_check(zeKernelSetGroupSize(kernel, GROUP, 1, 1), "zeKernelSetGroupSize");
    example_check(zeKernelSetArgumentValue(kernel, 0, sizeof(enough), &enough),
                  "zeKernelSetArgumentValue");
    example_check(zeKernelSetArgumentValue(kernel, 1, sizeof(counts), &counts),
                  "zeKernelSetArgumentValue");
    example_check(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
                  "zeCommandListAppendLaunchKernel");

    /* A program may end while it is debugged; this one lets the debugger detach first. */
    if (read(STDIN_FILENO, &go, 1) != 1)
        return 1;
    int wrong = *enough != 1;
    for (uint32_t i = 0; i < ITEMS; i++)
        wrong += counts[i] == 0;
    example_check(zeKernelDestroy(kernel), "zeKernelDestroy");
    example_check(zeModuleDestroy(module), "zeModuleDestroy");
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
    example_check(zeMemFree(context, counts), "zeMemFree");
    example_check(zeMemFree(context, enough), "zeMemFree");
    example_check(zeContextDestroy(context), "zeContextDestroy");
    free(path);
    return wrong ? 1 : 0;
}

/* ---- the debugger ---------------------------------------------------------------------------- */

/* A started program, and the ends of the pipes that it writes and reads. */
struct program {
    pid_t pid;
    int from, to;
};

/* Before Level Zero is initialised, which may start threads. */
static struct program start_program(void)
{
    int from[2], to[2];
    struct program program;

    if (pipe(from) != 0 || pipe(to) != 0)
        example_fail("cannot make a pipe: %s", strerror(errno));
    program = (struct program){.pid = fork(), .from = from[0], .to = to[1]};
    if (program.pid < 0)
        example_fail("cannot start a process: %s", strerror(errno));
    if (program.pid == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        (void)close(from[0]);
        (void)close(to[1]);
        /* Nobody else ends the kernel. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* Only the program needs it, and before it initialises Level Zero. */
        (void)setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
        (void)execl("/proc/self/exe", "debug_attach", "--program", (char *)NULL);
        _exit(127);
    }
    (void)close(from[1]);
    (void)close(to[0]);
    return program;
}

static void let_go(const struct program *program)
{
    if (write(program->to, "", 1) != 1)
        example_fail("the program has ended");
}

static void pause_shortly(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* NOT_READY means that the process has not come so far, so it is worth trying again. */
static zet_debug_session_handle_t attach(ze_device_handle_t device, pid_t pid)
{
    const zet_debug_config_t config = {.pid = (uint32_t)pid};
    zet_debug_session_handle_t session = NULL;
    ze_result_t result;

    while ((result = zetDebugAttach(device, &config, &session)) == ZE_RESULT_NOT_READY)
        pause_shortly();
    example_check(result, "zetDebugAttach");
    return session;
}

/* A module is an ELF file that the debugger can read; code is at the address of load. */
static void show_module(zet_debug_session_handle_t session,
                        const zet_debug_event_info_module_t *module)
{
    const zet_debug_memory_space_desc_t place = {
        .stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
        .type = ZET_DEBUG_MEMORY_SPACE_TYPE_ELF,
        .address = module->moduleBegin,
    };
    char magic[4] = "";

    example_check(zetDebugReadMemory(session, all_threads, &place, sizeof(magic), magic),
                  "zetDebugReadMemory");
    (void)printf("MODULE_LOAD: %" PRIu64 " bytes of %.3s\n",
                 module->moduleEnd - module->moduleBegin, magic + 1);
}

/*
 * Takes the next event, and acknowledges what has to be: until then the program waits in
 * zeModuleCreate, so that breakpoints can be set before the first instruction runs.
 */
static zet_debug_event_type_t next_event(zet_debug_session_handle_t session)
{
    zet_debug_event_t event;

    example_check(zetDebugReadEvent(session, UINT64_MAX, &event), "zetDebugReadEvent");
    switch (event.type) {
    case ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY:
        (void)puts("PROCESS_ENTRY: the program has a queue");
        break;
    case ZET_DEBUG_EVENT_TYPE_MODULE_LOAD:
        show_module(session, &event.info.module);
        break;
    case ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED:
        (void)puts("THREAD_STOPPED: threads that ran are stopped");
        break;
    case ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE:
        break; /* the kernel does not run yet */
    case ZET_DEBUG_EVENT_TYPE_DETACHED:
        example_fail("the program has ended");
    default:
        (void)printf("event of type %u\n", (unsigned)event.type);
        break;
    }
    if (event.flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK)
        example_check(zetDebugAcknowledgeEvent(session, &event), "zetDebugAcknowledgeEvent");
    return event.type;
}

/* Each interrupt has one answer. It finds no thread while the kernel has not begun. */
static void stop_threads(zet_debug_session_handle_t session)
{
    zet_debug_event_type_t type;

    for (;;) {
        example_check(zetDebugInterrupt(session, all_threads), "zetDebugInterrupt");
        do {
            type = next_event(session);
        } while (type != ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED &&
                 type != ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE);
        if (type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED)
            return;
        pause_shortly();
    }
}

/* Shows the first register of each set of a thread. */
static void show_registers(zet_debug_session_handle_t session, ze_device_handle_t device,
                           ze_device_thread_t thread)
{
    zet_debug_regset_properties_t sets[32] = {0};
    uint32_t count = sizeof(sets) / sizeof(sets[0]);

    for (uint32_t i = 0; i < count; i++)
        sets[i].stype = ZET_STRUCTURE_TYPE_DEBUG_REGSET_PROPERTIES;
    example_check(zetDebugGetRegisterSetProperties(device, &count, sets),
                  "zetDebugGetRegisterSetProperties");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first[16] = {0}; /* the widest registers that there are have 1024 bits */

        if (sets[i].byteSize > sizeof(first))
            continue;
        example_check(zetDebugReadRegisters(session, thread, sets[i].type, 0, 1, first),
                      "zetDebugReadRegisters");
        (void)printf("  set 0x%05x: %2u x %3u bits, the first is 0x%" PRIx64 "\n", sets[i].type,
                     sets[i].count, sets[i].bitSize, first[0]);
    }
}

/*
 * The answer to an interrupt does not say which threads it stopped: those have registers. Shows
 * them of the first one, and gives how many there are.
 */
static uint32_t find_stopped(zet_debug_session_handle_t session, ze_device_handle_t device)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    zet_debug_regset_properties_t set = {.stype = ZET_STRUCTURE_TYPE_DEBUG_REGSET_PROPERTIES};
    uint32_t one = 1, found = 0;
    ze_device_thread_t t;

    example_check(zeDeviceGetProperties(device, &p), "zeDeviceGetProperties");
    example_check(zetDebugGetRegisterSetProperties(device, &one, &set),
                  "zetDebugGetRegisterSetProperties");
    for (t.slice = 0; t.slice < p.numSlices; t.slice++)
        for (t.subslice = 0; t.subslice < p.numSubslicesPerSlice; t.subslice++)
            for (t.eu = 0; t.eu < p.numEUsPerSubslice; t.eu++)
                for (t.thread = 0; t.thread < p.numThreadsPerEU; t.thread++) {
                    uint64_t first[16];
                    const ze_result_t result =
                        zetDebugReadRegisters(session, t, set.type, 0, 1, first);

                    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE)
                        continue;
                    example_check(result, "zetDebugReadRegisters");
                    if (found++ > 0)
                        continue;
                    (void)printf("thread %u.%u.%u.%u:\n", t.slice, t.subslice, t.eu, t.thread);
                    show_registers(session, device, t);
                }
    return found;
}

static int run_debugger(void)
{
    zet_device_debug_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};
    zet_debug_memory_space_desc_t place = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                           .type = ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT};
    const struct program program = start_program();
    const uint32_t yes = 1;
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    int status = 0;

    (void)signal(SIGPIPE, SIG_IGN); /* a program that has ended is an error of write() */
    example_find_computing_device(&driver, &device);
    example_check(zetDeviceGetDebugProperties(device, &properties), "zetDeviceGetDebugProperties");
    if ((properties.flags & ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH) == 0)
        example_fail("no debugger can attach to this device; 'zeta doctor' shows why");
    if (read(program.from, &place.address, sizeof(place.address)) != (ssize_t)sizeof(place.address))
        example_fail("the program did not start");
    zet_debug_session_handle_t session = attach(device, program.pid);
    let_go(&program);

    while (next_event(session) != ZET_DEBUG_EVENT_TYPE_MODULE_LOAD)
        ;
    stop_threads(session);
    (void)printf("%u threads are stopped\n", find_stopped(session, device));
    /* Memory is that of the process: no thread needs to be named. */
    example_check(zetDebugWriteMemory(session, all_threads, &place, sizeof(yes), &yes),
                  "zetDebugWriteMemory");
    example_check(zetDebugResume(session, all_threads), "zetDebugResume");
    example_check(zetDebugDetach(session), "zetDebugDetach");
    let_go(&program);
    if (waitpid(program.pid, &status, 0) != program.pid || !WIFEXITED(status))
        example_fail("the program did not end by itself");
    (void)printf("detached; the program ended with status %d\n", WEXITSTATUS(status));
    return WEXITSTATUS(status);
}

int main(int count, char **words)
{
    return count > 1 && strcmp(words[1], "--program") == 0 ? run_program() : run_debugger();
}
