/* A backend without hardware whose threads a test runs and stops (debug_control.h). */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/harness/device/debug_control.h"
#include "tests/harness/device/scripted.h"
#include "zeta/notify.h"
#include "zeta/plugin.h"

#define DEVICE_COUNT 4u
#define WORDS 2u
#define EVENTS 512u

struct zeta_plugin_device {
    const char *id;
    bool halts_all; /**< whatever is asked for */
    bool is_debuggable;
    bool executes; /**< with the registers of the virtual GPU */
};

struct zeta_plugin_debug_session {
    struct zeta_plugin_device *device;
};

struct zeta_plugin {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
};

static struct zeta_plugin instance;
static struct zeta_plugin_device devices[DEVICE_COUNT] = {
    {.id = "debug0", .is_debuggable = true},
    {.id = "debug1", .is_debuggable = true, .halts_all = true},
    {.id = "debug2"},
    {.id = "debug3", .is_debuggable = true, .executes = true},
};

/* One process and at most one session, so the state may be global. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zeta_plugin_debug_session session;
static atomic_uint in_call;
static struct {
    bool attached, ended, held, threads_changed;
    uint64_t running[WORDS], stopped[WORDS], excepted[WORDS];
    uint64_t halts, halts_done; /**< numbers */
    uint64_t wanted[WORDS];     /**< by halts that are held */
    struct zeta_plugin_debug_event events[EVENTS];
    uint32_t first, count;
    uint32_t refuse;
    const char *sentence;
    uint64_t registers[DEBUG_THREADS][4];
    uint8_t memory[DEBUG_MEMORY_BYTES], local[DEBUG_LOCAL_BYTES];
    struct executed {
        uint64_t x[31], f[32], pc, id[10];
        uint32_t cr[4], ce, fcsr;
    } executed[DEBUG_THREADS];
    uint8_t code[DEBUG_CODE_BYTES], image[DEBUG_CODE_BYTES];
    uint64_t watchpoints[DEBUG_WATCHPOINTS_BYTES / 8];
    struct debug_counts counts;
} state;
static struct zeta_notify notify = {.descriptor = -1};

static void enter(void)
{
    if (atomic_fetch_add(&in_call, 1) != 0)
        state.counts.overlaps++;
    (void)pthread_mutex_lock(&lock);
}

static void leave(void)
{
    if (notify.descriptor >= 0)
        zeta_notify_set(&notify, state.count > 0 || state.threads_changed || state.ended);
    (void)pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&in_call, 1);
}

static bool in(const uint64_t *mask, uint32_t thread)
{
    return mask[thread / 64] >> thread % 64 & 1;
}

/* Devices -------------------------------------------------------------------------------------- */

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    (void)self;
    for (uint32_t i = 0; i < DEVICE_COUNT && i < capacity; i++)
        out_devices[i] = &devices[i];
    *out_count = DEVICE_COUNT;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out)
{
    const struct scripted_device described = {.id = device->id,
                                              .parent = UINT32_MAX,
                                              .vendor_id = 0x10001,
                                              .timer_hz = 1000000000,
                                              .timestamp_valid_bits = 32};

    (void)self;
    scripted_describe(&described, out);
    out->slices = out->subslices_per_slice = out->eus_per_subslice = 2;
    out->threads_per_eu = DEBUG_THREADS / 8;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)device;
    out_clock->device_ticks = 1000;
    out_clock->host_ns = 1000;
    return ZETA_PLUGIN_SUCCESS;
}

/* Debug ---------------------------------------------------------------------------------------- */

static uint32_t debug_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 struct zeta_plugin_debug_properties *out)
{
    static const struct zeta_plugin_register_set sets[] = {
        {.struct_size = sizeof(sets[0]),
         .type = 1,
         .flags = ZETA_PLUGIN_REGISTER_READ | ZETA_PLUGIN_REGISTER_WRITE,
         .count = 4,
         .bits = 64,
         .bytes = 8},
        {.struct_size = sizeof(sets[0]),
         .type = 2,
         .version = 5,
         .flags = ZETA_PLUGIN_REGISTER_READ,
         .device_flags = 9,
         .count = 1,
         .bits = 32,
         .bytes = 4},
        {.struct_size = sizeof(sets[0]),
         .type = 3,
         .flags = ZETA_PLUGIN_REGISTER_WRITE,
         .count = 1,
         .bits = 32,
         .bytes = 4},
    };

    static const struct zeta_plugin_register_set executed[] = {
        {sizeof(executed[0]), 0x10001, 0, 3, 0, 31, 64, 8},
        {sizeof(executed[0]), 0x10002, 0, 3, 0, 32, 64, 8},
        {sizeof(executed[0]), 0x10003, 0, 3, 0, 1, 64, 8},
        {sizeof(executed[0]), 4, 0, 1, 0, 1, 32, 4},
        {sizeof(executed[0]), 6, 0, 3, 0, 1, 128, 16},
        {sizeof(executed[0]), 0x10004, 0, 1, 0, 10, 64, 8},
        {sizeof(executed[0]), 0x10005, 0, 3, 0, 1, 32, 4},
    };

    if (!device->is_debuggable) {
        self->ops->fail(self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                        scripted_text("debug2 has no threads that stop"));
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    }
    out->halt_timeout_ms = 50;
    out->register_sets = device->executes
                             ? (struct zeta_plugin_array){executed, 7, sizeof(executed[0])}
                             : (struct zeta_plugin_array){sets, 3, sizeof(sets[0])};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t enable(struct zeta_plugin *self)
{
    (void)self;
    state.counts.enables++;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t attach(struct zeta_plugin *self, struct zeta_plugin_device *device, uint32_t pid,
                       struct zeta_plugin_debug_session **out_session)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    enter();
    if (state.refuse != 0)
        result = state.refuse;
    else if (pid != DEBUG_PID || state.attached)
        result = ZETA_PLUGIN_NOT_AVAILABLE;
    if (result == state.refuse && state.sentence)
        self->ops->fail(self->host, result, scripted_text(state.sentence));
    if (result == ZETA_PLUGIN_SUCCESS) {
        state.attached = true;
        state.counts.attaches++;
        session.device = device;
        (void)zeta_notify_init(&notify);
        *out_session = &session;
    }
    leave();
    return result;
}

static void resume_threads(const uint64_t *threads)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        state.running[i] |= state.stopped[i] & threads[i];
        state.stopped[i] &= ~threads[i];
    }
}

/* A thread stops for a reason of its own. */
static void stop_thread(uint32_t thread)
{
    const uint64_t bit = UINT64_C(1) << thread % 64;

    state.running[thread / 64] &= ~bit;
    state.stopped[thread / 64] |= bit;
    state.excepted[thread / 64] |= bit;
    state.threads_changed = true;
}

/* A running thread of debug3 goes on until something stops it. */
static void execute(uint32_t thread)
{
    struct executed *const at = &state.executed[thread];
    const uint64_t bit = UINT64_C(1) << thread % 64;
    const bool steps = at->cr[1] >> 31;
    bool stops = false, ends = false;

    at->cr[1] = 0;
    while (!stops && !ends) {
        uint32_t instruction = 0;

        ends = at->pc < DEBUG_CODE || at->pc > DEBUG_CODE + DEBUG_CODE_BYTES - 4;
        if (!ends)
            memcpy(&instruction, state.code + (at->pc - DEBUG_CODE), 4);
        stops = instruction == 0x00100073 || (instruction & 0xffff) == 0x9002;
        if (instruction == 0x0000006f && !steps)
            return;
        if (!stops && !ends) {
            at->pc += instruction == 0x0000006f ? 0 : (instruction & 3) == 3 ? 4 : 2;
            stops = steps;
        }
    }
    if (!stops) {
        state.running[thread / 64] &= ~bit;
        return;
    }
    at->cr[1] = UINT32_C(1) << 31;
    stop_thread(thread);
}

static void detach(struct zeta_plugin *self, struct zeta_plugin_debug_session *of)
{
    static const uint64_t all[WORDS] = {UINT64_MAX, UINT64_MAX};

    (void)self;
    (void)of;
    enter();
    resume_threads(all);
    state.attached = false;
    state.count = 0;
    state.counts.detaches++;
    zeta_notify_finish(&notify);
    leave();
}

static int32_t descriptor(struct zeta_plugin *self, struct zeta_plugin_debug_session *of)
{
    (void)self;
    (void)of;
    return notify.descriptor;
}

static uint32_t next_event(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                           struct zeta_plugin_debug_event *out)
{
    static uint64_t stopped[WORDS], excepted[WORDS];
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    (void)self;
    (void)of;
    enter();
    if (state.count > 0) {
        *out = state.events[state.first++ % EVENTS];
        state.count--;
    } else if (state.threads_changed) {
        memcpy(stopped, state.stopped, sizeof(stopped));
        memcpy(excepted, state.excepted, sizeof(excepted));
        memset(state.excepted, 0, sizeof(state.excepted));
        state.threads_changed = false;
        out->kind = ZETA_PLUGIN_DEBUG_THREADS;
        out->u.threads = (struct zeta_plugin_debug_threads){
            .stopped = stopped, .excepted = excepted, .halt = state.halts_done};
    } else if (state.ended) {
        out->kind = ZETA_PLUGIN_DEBUG_ENDED;
    } else {
        result = ZETA_PLUGIN_NOT_READY;
    }
    leave();
    return result;
}

static uint32_t acknowledge(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                            uint64_t cookie)
{
    (void)self;
    (void)of;
    enter();
    state.counts.cookies[state.counts.acknowledges++ % 8] = cookie;
    leave();
    return ZETA_PLUGIN_SUCCESS;
}

static void carry_out_halts(void)
{
    for (uint32_t i = 0; i < DEBUG_THREADS; i++)
        if (in(state.running, i) && in(state.wanted, i))
            state.executed[i].cr[1] = UINT32_C(1) << 30;
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint64_t stopping = state.running[i] & state.wanted[i];

        state.running[i] &= ~stopping;
        state.stopped[i] |= stopping;
        state.wanted[i] = 0;
    }
    state.halts_done = state.halts;
    state.threads_changed = true;
}

static uint32_t halt(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                     const uint64_t *threads, uint64_t *out_number)
{
    (void)self;
    enter();
    state.counts.halts++;
    for (uint32_t i = 0; i < WORDS; i++)
        state.wanted[i] |= of->device->halts_all ? UINT64_MAX : threads[i];
    *out_number = ++state.halts;
    if (!state.held)
        carry_out_halts();
    leave();
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t resume(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                       const uint64_t *threads)
{
    (void)self;
    enter();
    state.counts.resumes++;
    for (uint32_t i = 0; i < DEBUG_THREADS; i++) {
        const bool goes_on = in(threads, i) && in(state.stopped, i);
        const uint64_t one[WORDS] = {i < 64 ? UINT64_C(1) << i : 0,
                                     i < 64 ? 0 : UINT64_C(1) << (i - 64)};

        if (goes_on)
            resume_threads(one);
        if (goes_on && of->device->executes)
            execute(i);
    }
    leave();
    return ZETA_PLUGIN_SUCCESS;
}

/* Where the bytes are; NULL when they are not there. */
static uint8_t *find_memory(uint32_t space, uint64_t address, uint64_t size_bytes)
{
    const struct {
        uint32_t space;
        uint64_t begin, bytes;
        uint8_t *memory;
    } places[] = {
        {ZETA_PLUGIN_SPACE_SLM, 0, DEBUG_LOCAL_BYTES, state.local},
        {ZETA_PLUGIN_SPACE_DEFAULT, DEBUG_MEMORY, DEBUG_MEMORY_BYTES, state.memory},
        {ZETA_PLUGIN_SPACE_ELF, DEBUG_MEMORY, DEBUG_MEMORY_BYTES, state.memory},
        {ZETA_PLUGIN_SPACE_DEFAULT, DEBUG_CODE, DEBUG_CODE_BYTES, state.code},
        {ZETA_PLUGIN_SPACE_DEFAULT, DEBUG_WATCHPOINTS, DEBUG_WATCHPOINTS_BYTES,
         (uint8_t *)state.watchpoints},
        {ZETA_PLUGIN_SPACE_DEFAULT, DEBUG_IMAGE, DEBUG_CODE_BYTES, state.image},
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (space == places[i].space && address - places[i].begin <= places[i].bytes &&
            size_bytes <= places[i].bytes - (address - places[i].begin))
            return places[i].memory + (address - places[i].begin);
    return NULL;
}

static uint32_t memory_read(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                            uint32_t space, uint32_t thread, uint64_t address, uint64_t size_bytes,
                            void *buffer)
{
    const uint8_t *bytes;

    (void)self;
    (void)of;
    (void)thread;
    enter();
    bytes = find_memory(space, address, size_bytes);
    if (bytes)
        memcpy(buffer, bytes, size_bytes);
    leave();
    return bytes ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_AVAILABLE;
}

static uint32_t memory_write(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                             uint32_t space, uint32_t thread, uint64_t address, uint64_t size_bytes,
                             const void *buffer)
{
    uint8_t *bytes;

    (void)self;
    (void)of;
    (void)thread;
    enter();
    bytes = find_memory(space, address, size_bytes);
    if (bytes)
        memcpy(bytes, buffer, size_bytes);
    leave();
    return bytes ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_AVAILABLE;
}

/* Registers of a set, as bytes. */
static void *find_registers(const struct zeta_plugin_debug_session *of, uint32_t thread,
                            uint32_t type, uint32_t *out_bytes)
{
    struct executed *const at = &state.executed[thread];
    static uint32_t number;

    *out_bytes = 8;
    if (!of->device->executes) {
        number = thread;
        *out_bytes = type == 1 ? 8 : 4;
        return type == 1 ? (void *)state.registers[thread] : &number;
    }
    switch (type) {
    case 0x10001:
        return at->x;
    case 0x10002:
        return at->f;
    case 0x10003:
        return &at->pc;
    case 0x10004:
        return at->id;
    case 6:
        *out_bytes = 16;
        return at->cr;
    default:
        *out_bytes = 4;
        return type == 4 ? &at->ce : &at->fcsr;
    }
}

static uint32_t registers_read(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                               uint32_t thread, uint32_t type, uint32_t first, uint32_t count,
                               void *buffer)
{
    const uint8_t *values;
    uint32_t bytes;

    (void)self;
    enter();
    state.counts.register_reads++;
    values = find_registers(of, thread, type, &bytes);
    memcpy(buffer, values + (size_t)first * bytes, (size_t)count * bytes);
    leave();
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t registers_write(struct zeta_plugin *self, struct zeta_plugin_debug_session *of,
                                uint32_t thread, uint32_t type, uint32_t first, uint32_t count,
                                const void *buffer)
{
    uint8_t *values;
    uint32_t bytes;

    (void)self;
    enter();
    values = find_registers(of, thread, type, &bytes);
    memcpy(values + (size_t)first * bytes, buffer, (size_t)count * bytes);
    leave();
    return ZETA_PLUGIN_SUCCESS;
}

/* Control -------------------------------------------------------------------------------------- */

static void control_reset(void)
{
    (void)pthread_mutex_lock(&lock);
    memset(&state, 0, sizeof(state));
    (void)pthread_mutex_unlock(&lock);
}

/* What the test does is no call of the library. */
static void play(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void played(void)
{
    if (notify.descriptor >= 0)
        zeta_notify_set(&notify, state.count > 0 || state.threads_changed || state.ended);
    (void)pthread_mutex_unlock(&lock);
}

static void control_run(uint64_t low, uint64_t high)
{
    play();
    state.running[0] |= low;
    state.running[1] |= high;
    played();
}

static void control_stop(uint32_t thread)
{
    play();
    stop_thread(thread);
    played();
}

static void control_meet_watchpoint(uint32_t thread, uint64_t address)
{
    play();
    state.executed[thread].cr[1] = UINT32_C(1) << 24;
    memcpy(&state.executed[thread].cr[2], &address, sizeof(address));
    stop_thread(thread);
    played();
}

static bool control_is_stopped(uint32_t thread)
{
    bool stopped;

    play();
    stopped = in(state.stopped, thread);
    played();
    return stopped;
}

static void control_push(const struct zeta_plugin_debug_event *event)
{
    play();
    state.events[(state.first + state.count++) % EVENTS] = *event;
    played();
}

static void control_end(void)
{
    play();
    state.ended = true;
    played();
}

static void control_hold_halts(bool yes)
{
    play();
    state.held = yes;
    if (!yes && state.halts > state.halts_done)
        carry_out_halts();
    played();
}

static void control_refuse_attach(uint32_t result, const char *sentence)
{
    play();
    state.refuse = result;
    state.sentence = sentence;
    played();
}

static uint8_t *control_memory(void)
{
    return state.memory;
}

static uint8_t *control_code(void)
{
    return state.code;
}

static uint8_t *control_image(void)
{
    return state.image;
}

static uint64_t *control_watchpoints(void)
{
    return state.watchpoints;
}

static void control_launch(uint32_t first, uint32_t count, uint64_t pc)
{
    play();
    for (uint32_t i = first; i < first + count; i++) {
        state.executed[i] =
            (struct executed){.x = {[1] = DEBUG_MEMORY + 64, [7] = DEBUG_MEMORY + 192},
                              .pc = pc,
                              .ce = 1,
                              .id = {i / 8, 0, 0, i, 0, 0, i, 0, i % 4 == 2, 3}};
        state.running[i / 64] |= UINT64_C(1) << i % 64;
        execute(i);
    }
    played();
}

static struct debug_counts control_counts(void)
{
    struct debug_counts counts;

    play();
    counts = state.counts;
    played();
    return counts;
}

const struct debug_control debug_control = {
    .reset = control_reset,
    .run = control_run,
    .stop = control_stop,
    .is_stopped = control_is_stopped,
    .push = control_push,
    .end = control_end,
    .hold_halts = control_hold_halts,
    .refuse_attach = control_refuse_attach,
    .memory = control_memory,
    .code = control_code,
    .image = control_image,
    .watchpoints = control_watchpoints,
    .launch = control_launch,
    .counts = control_counts,
    .meet_watchpoint = control_meet_watchpoint,
};

/* Negotiation ---------------------------------------------------------------------------------- */

static const struct zeta_plugin_device_ops device_ops = {
    .struct_size = sizeof(device_ops),
    .enumerate = enumerate,
    .properties = properties,
    .clock = read_clock,
    .status = scripted_status,
};

static const struct zeta_plugin_debug_ops debug_ops = {
    .struct_size = sizeof(debug_ops),
    .properties = debug_properties,
    .enable = enable,
    .attach = attach,
    .detach = detach,
    .descriptor = descriptor,
    .next_event = next_event,
    .acknowledge = acknowledge,
    .halt = halt,
    .resume = resume,
    .memory_read = memory_read,
    .memory_write = memory_write,
    .registers_read = registers_read,
    .registers_write = registers_write,
};

static const struct zeta_plugin_ops ops = {.struct_size = sizeof(ops),
                                           .finish = scripted_finish,
                                           .device = &device_ops,
                                           .debug = &debug_ops};

void scripted_debug(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer)
{
    instance.ops = offer->ops;
    instance.host = offer->host;
    out_answer->self = &instance;
    out_answer->ops = &ops;
}
