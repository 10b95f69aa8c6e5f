/*
 * Program debug on the virtual GPU. Through the API: how long an interrupt of 2048 threads takes,
 * steps, registers of all threads, reading memory, and how fast kernels run while a debugger is
 * attached. Through zeta-gdbserver and GDB, if that is installed: "info threads", and a breakpoint
 * of which the condition is false for 65536 work-items.
 *
 * The program that is debugged is this one: a child of it, and for GDB "bench_debug --run KERNEL".
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <zeta/vgpu_debug.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"

#define ANY UINT32_MAX
#define ROUNDS 9u
#define STEPS 200u
#define MEMORY_BYTES (UINT64_C(16) << 20)
#define GROUP 256u
#define ITEMS 65536u
#define RESIDENT 2048u /* threads of the device */

static const ze_device_thread_t everything = {ANY, ANY, ANY, ANY};

/* ---- the program that is debugged ----------------------------------------------------------- */

struct debuggee {
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_command_list_handle_t list;
    uint32_t *memory;
};

static ze_device_handle_t find_device(ze_driver_handle_t *out_driver)
{
    ze_device_handle_t device = NULL;
    uint32_t count = 1;

    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, out_driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(*out_driver, &count, &device));
    return device;
}

static struct debuggee open_debuggee(void)
{
    static uint8_t image[1u << 20];
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .pInputModule = image};
    FILE *file = fopen(BENCH_KERNELS, "rb");
    struct debuggee debuggee = {0};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device;
    void *bytes = NULL;

    if (!file)
        exit(1);
    module.inputSize = fread(image, 1, sizeof(image), file);
    (void)fclose(file);
    (void)setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
    device = find_device(&driver);
    BENCH_CHECK(zeContextCreate(driver, &context, &debuggee.context));
    BENCH_CHECK(zeModuleCreate(debuggee.context, device, &module, &debuggee.module, NULL));
    BENCH_CHECK(zeCommandListCreateImmediate(debuggee.context, device, &queue, &debuggee.list));
    BENCH_CHECK(zeMemAllocHost(debuggee.context, &memory, MEMORY_BYTES, 4096, &bytes));
    debuggee.memory = bytes;
    memset(bytes, 1, MEMORY_BYTES);
    return debuggee;
}

/* Runs a kernel; gives the seconds that it took. */
static double run(const struct debuggee *debuggee, const char *name, uint32_t items)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    const ze_group_count_t groups = {items / GROUP, 1, 1};
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    ze_kernel_handle_t kernel = NULL;

    debuggee->memory[1] = 0;
    BENCH_CHECK(zeKernelCreate(debuggee->module, &desc, &kernel));
    BENCH_CHECK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    BENCH_CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(debuggee->memory), &debuggee->memory));
    BENCH_CHECK(zeCommandListAppendLaunchKernel(debuggee->list, kernel, &groups, NULL, 0, NULL));
    BENCH_CHECK(zeCommandListHostSynchronize(debuggee->list, UINT64_MAX));
    BENCH_CHECK(zeKernelDestroy(kernel));
    return bench_seconds(CLOCK_MONOTONIC) - begin;
}

/* The child: says where its memory is, then runs what it is told until nobody tells it any more. */
struct order {
    char kernel[8];
    uint32_t items;
};

static void be_debugged(int socket)
{
    const struct debuggee debuggee = open_debuggee();
    const uint64_t address = (uintptr_t)debuggee.memory;
    struct order order;

    (void)!send(socket, &address, sizeof(address), MSG_NOSIGNAL);
    while (recv(socket, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
        const double seconds = run(&debuggee, order.kernel, order.items);

        (void)!send(socket, &seconds, sizeof(seconds), MSG_NOSIGNAL);
    }
    _exit(0);
}

/* ---- through the API ------------------------------------------------------------------------ */

struct bench {
    pid_t child;
    int socket;
    uint64_t memory; /* of the child */
    ze_device_handle_t device;
    zet_debug_session_handle_t session;
};

static void tell(const struct bench *bench, const char *kernel, uint32_t items)
{
    struct order order = {.items = items};

    (void)snprintf(order.kernel, sizeof(order.kernel), "%s", kernel);
    if (send(bench->socket, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order))
        exit(1);
}

static double hear(const struct bench *bench)
{
    double seconds = 0;

    if (recv(bench->socket, &seconds, sizeof(seconds), MSG_WAITALL) != sizeof(seconds))
        exit(1);
    return seconds;
}

/* The next event of a type; others are acknowledged and forgotten. */
static zet_debug_event_t await(const struct bench *bench, zet_debug_event_type_t type)
{
    zet_debug_event_t event = {0};

    do {
        BENCH_CHECK(zetDebugReadEvent(bench->session, UINT64_MAX, &event));
        if ((event.flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) != 0)
            BENCH_CHECK(zetDebugAcknowledgeEvent(bench->session, &event));
    } while (event.type != type);
    return event;
}

/* Reads or writes memory of the child. */
static void move(const struct bench *bench, uint64_t at, size_t size, void *buffer, bool write)
{
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .address = bench->memory + at};

    BENCH_CHECK(write ? zetDebugWriteMemory(bench->session, everything, &desc, size, buffer)
                      : zetDebugReadMemory(bench->session, everything, &desc, size, buffer));
}

static void attach(struct bench *bench)
{
    const zet_debug_config_t config = {.pid = (uint32_t)bench->child};
    ze_result_t result;

    do
        result = zetDebugAttach(bench->device, &config, &bench->session);
    while (result == ZE_RESULT_NOT_READY || result == ZE_RESULT_ERROR_NOT_AVAILABLE);
    bench_check(result, "zetDebugAttach");
}

static void print_time(const char *what, const struct bench_rounds *rounds, double scale,
                       const char *unit)
{
    (void)printf("  %-38s %10.2f %s (%.2f)\n", what, bench_least(rounds) * scale, unit,
                 bench_median(rounds) * scale);
    (void)fflush(stdout);
}

/* Kernels without and with a debugger, in turn. */
static void measure_speed(struct bench *bench)
{
    struct bench_rounds rounds[2] = {0};

    for (unsigned i = 0; i < ROUNDS; i++) {
        tell(bench, "work", RESIDENT);
        bench_add(&rounds[0], hear(bench));
        attach(bench);
        tell(bench, "work", RESIDENT);
        bench_add(&rounds[1], hear(bench));
        BENCH_CHECK(zetDebugDetach(bench->session));
    }
    print_time("a kernel, no debugger attached", &rounds[0], 1e3, "ms");
    print_time("the same, one attached", &rounds[1], 1e3, "ms");
}

/* With all threads of the device in a loop. */
static void measure_interrupt(const struct bench *bench)
{
    struct bench_rounds rounds = {0};

    for (unsigned i = 0; i < ROUNDS; i++) {
        const double begin = bench_seconds(CLOCK_MONOTONIC);

        BENCH_CHECK(zetDebugInterrupt(bench->session, everything));
        (void)await(bench, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        bench_add(&rounds, bench_seconds(CLOCK_MONOTONIC) - begin);
        if (i + 1 < ROUNDS) {
            BENCH_CHECK(zetDebugResume(bench->session, everything));
            (void)usleep(2000);
        }
    }
    print_time("interrupt, until it is answered", &rounds, 1e6, "us");
}

/* What a list of all threads asks of each: program counter, integer registers, ids. */
static ze_device_thread_t measure_registers(const struct bench *bench)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    ze_device_thread_t t, found = everything;
    uint64_t values[32];
    unsigned threads = 0;

    BENCH_CHECK(zeDeviceGetProperties(bench->device, &properties));
    for (t.slice = 0; t.slice < properties.numSlices; t.slice++)
        for (t.subslice = 0; t.subslice < properties.numSubslicesPerSlice; t.subslice++)
            for (t.eu = 0; t.eu < properties.numEUsPerSubslice; t.eu++)
                for (t.thread = 0; t.thread < properties.numThreadsPerEU; t.thread++) {
                    if (zetDebugReadRegisters(bench->session, t, ZETA_VGPU_REGISTERS_PC, 0, 1,
                                              values) != ZE_RESULT_SUCCESS)
                        continue;
                    BENCH_CHECK(zetDebugReadRegisters(bench->session, t, ZETA_VGPU_REGISTERS_X, 0,
                                                      31, values));
                    BENCH_CHECK(zetDebugReadRegisters(bench->session, t, ZETA_VGPU_REGISTERS_ID, 0,
                                                      10, values));
                    found = t;
                    threads++;
                }
    (void)printf("  registers of %4u threads                 %10.2f ms\n", threads,
                 (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e3);
    return found;
}

static void measure_steps(const struct bench *bench, ze_device_thread_t thread)
{
    uint32_t control[4] = {0, ZETA_VGPU_CAUSE_BREAK, 0, 0};
    struct bench_rounds rounds = {0};

    for (unsigned i = 0; i < ROUNDS; i++) {
        const double begin = bench_seconds(CLOCK_MONOTONIC);
        uint64_t pc;

        for (unsigned step = 0; step < STEPS; step++) {
            BENCH_CHECK(zetDebugWriteRegisters(bench->session, thread, ZETA_VGPU_REGISTERS_CR, 0, 1,
                                               control));
            BENCH_CHECK(zetDebugResume(bench->session, thread));
            (void)await(bench, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
            BENCH_CHECK(
                zetDebugReadRegisters(bench->session, thread, ZETA_VGPU_REGISTERS_PC, 0, 1, &pc));
        }
        bench_add(&rounds, (bench_seconds(CLOCK_MONOTONIC) - begin) / STEPS);
    }
    (void)printf("  steps                                  %10.0f /s (%.0f)\n",
                 1 / bench_least(&rounds), 1 / bench_median(&rounds));
    control[1] = 0;
    BENCH_CHECK(
        zetDebugWriteRegisters(bench->session, thread, ZETA_VGPU_REGISTERS_CR, 0, 1, control));
}

static void measure_memory(const struct bench *bench)
{
    struct bench_rounds rounds[2] = {0};
    char *here = malloc(MEMORY_BYTES), *copy = malloc(MEMORY_BYTES);

    if (!here || !copy)
        exit(1);
    memset(copy, 2, MEMORY_BYTES);
    for (unsigned i = 0; i < ROUNDS; i++) {
        double begin = bench_seconds(CLOCK_MONOTONIC);

        move(bench, 0, MEMORY_BYTES, here, false);
        bench_add(&rounds[0], bench_seconds(CLOCK_MONOTONIC) - begin);
        begin = bench_seconds(CLOCK_MONOTONIC);
        memcpy(copy, here, MEMORY_BYTES);
        bench_add(&rounds[1], bench_seconds(CLOCK_MONOTONIC) - begin);
    }
    (void)printf(
        "  reading memory                         %10.0f MiB/s (%.0f); memcpy %.0f (%.0f)\n",
        16 / bench_least(&rounds[0]), 16 / bench_median(&rounds[0]), 16 / bench_least(&rounds[1]),
        16 / bench_median(&rounds[1]));
    free(here);
    free(copy);
}

static void measure_api(struct bench *bench)
{
    uint32_t words[2] = {1, 0}, zero = 0;
    ze_device_thread_t thread;

    measure_speed(bench);
    attach(bench);
    move(bench, 0, sizeof(words), words, true);
    tell(bench, "spin", RESIDENT);
    while (words[1] == 0)
        move(bench, 0, sizeof(words), words, false);
    (void)usleep(50000);
    measure_interrupt(bench);
    thread = measure_registers(bench);
    measure_steps(bench, thread);
    measure_memory(bench);
    move(bench, 0, sizeof(zero), &zero, true);
    BENCH_CHECK(zetDebugDetach(bench->session));
    (void)hear(bench);
}

/* ---- through zeta-gdbserver and GDB --------------------------------------------------------- */

/* Runs GDB on a kernel; the script prints lines with "took SECONDS", of which these are the first.
 */
static unsigned run_gdb(const char *kernel, const char *script, double out_seconds[2])
{
    char command[2048], line[512];
    unsigned count = 0;
    FILE *output;

    (void)snprintf(command, sizeof(command),
                   "gdb-multiarch -nx -batch -ex 'set breakpoint pending on' -ex 'set confirm off' "
                   "-ex 'set print thread-events off' -ex 'target remote | %s - -- %s --run %s' "
                   "-ex 'python import time' %s 2>/dev/null",
                   ZETA_BUILD_DIR "/bin/zeta-gdbserver", ZETA_BUILD_DIR "/bench/bench_debug",
                   kernel, script);
    output = popen(command, "r");
    while (output && fgets(line, sizeof(line), output))
        if (strncmp(line, "took ", 5) == 0 && count < 2)
            out_seconds[count++] = strtod(line + 5, NULL);
    if (output)
        (void)pclose(output);
    return count;
}

static void measure_gdb(void)
{
    double seconds[2];

    if (run_gdb("each",
                "-ex 'break each' -ex continue "
                "-ex 'python t = time.time(); n = gdb.execute(\"info threads\", to_string=True)' "
                "-ex 'python print(\"took\", time.time() - t)' "
                "-ex 'python t = time.time(); n = gdb.execute(\"info threads\", to_string=True)' "
                "-ex 'python print(\"took\", time.time() - t)' -ex kill",
                seconds) == 2)
        (void)printf("  GDB: info threads, %u threads        %10.2f s; again %.2f s\n", RESIDENT,
                     seconds[0], seconds[1]);
    else
        (void)printf("  GDB: info threads                        - (no gdb-multiarch?)\n");
    (void)fflush(stdout);
    if (run_gdb("each",
                "-ex 'tbreak each' -ex continue -ex 'break mark if id == -1' "
                "-ex 'python t = time.time()' -ex continue "
                "-ex 'python print(\"took\", time.time() - t)'",
                seconds) == 1)
        (void)printf("  GDB: condition false %u times       %10.2f s, %.0f /s\n", ITEMS, seconds[0],
                     ITEMS / seconds[0]);
    else
        (void)printf("  GDB: condition                           - (no gdb-multiarch?)\n");
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    ze_driver_handle_t driver;
    int sockets[2];

    if (argc == 3 && strcmp(argv[1], "--run") == 0) {
        const struct debuggee debuggee = open_debuggee();

        (void)run(&debuggee, argv[2], ITEMS);
        return 0;
    }
    bench_use_virtual_gpu();
    bench_begin("bench_debug: program debug on the virtual GPU",
                "a condition that is false for 65536 work-items: 1 s");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    bench.child = fork();
    if (bench.child == 0) {
        (void)close(sockets[1]);
        be_debugged(sockets[0]);
    }
    (void)close(sockets[0]);
    bench.socket = sockets[1];
    bench.device = find_device(&driver);
    if (recv(bench.socket, &bench.memory, sizeof(bench.memory), MSG_WAITALL) !=
        sizeof(bench.memory))
        return 1;
    measure_api(&bench);
    (void)close(bench.socket);
    (void)waitpid(bench.child, NULL, 0);
    measure_gdb();
    return 0;
}
