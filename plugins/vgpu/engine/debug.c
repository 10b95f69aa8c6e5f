/*
 * Run control. Each call of a debugger holds the space: no worker executes then, so threads, code
 * and memory are looked at and changed without another lock. A halt marks threads and is done; a
 * worker that finds nothing to run waits like one that is ahead of the others (model.c) until
 * threads are given back.
 */
#include "debug.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine_priv.h"

_Static_assert(ZETA_VGPU_WATCHPOINTS == ZETA_RV64_WATCHES, "one watch for each watchpoint");

enum { CONTROL_FLAGS, CONTROL_CAUSES, CONTROL_ADDRESS };

#define EBREAK UINT32_C(0x00100073)

static uint32_t thread_count(const struct zeta_vgpu_engine *engine)
{
    return engine->subslice_count * zeta_vgpu_topology_group_limit(&engine->config.topology);
}

static uint32_t thread_number(const struct subslice *subslice, const struct hart *hart)
{
    const struct zeta_vgpu_topology *topology = &subslice->engine->config.topology;
    const uint32_t eus = topology->eus_per_subslice;

    return (subslice->index * eus + hart->slot % eus) * topology->threads_per_eu + hart->slot / eus;
}

/* The place of a thread, which may have none. */
static struct hart *place_of(struct zeta_vgpu_engine *engine, uint32_t thread,
                             struct subslice **out_subslice)
{
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    const uint32_t eu = thread / topology->threads_per_eu;

    *out_subslice = &engine->subslices[eu / topology->eus_per_subslice];
    return &(*out_subslice)
                ->harts[thread % topology->threads_per_eu * topology->eus_per_subslice +
                        eu % topology->eus_per_subslice];
}

static bool is_resident(const struct hart *hart)
{
    return hart->state != HART_IDLE && hart->state != HART_ENDED;
}

/* A thread of the running launch; NULL when none is there. The space is held. */
static struct hart *find_thread(struct zeta_vgpu_engine *engine, uint32_t thread,
                                struct subslice **out_subslice)
{
    struct hart *hart;

    if (!engine->launch || thread >= thread_count(engine))
        return NULL;
    hart = place_of(engine, thread, out_subslice);
    return !(*out_subslice)->finished && is_resident(hart) ? hart : NULL;
}

static struct hart *find_stopped(struct zeta_vgpu_engine *engine, uint32_t thread,
                                 struct subslice **out_subslice)
{
    struct hart *hart = find_thread(engine, thread, out_subslice);

    return hart && hart->stopped ? hart : NULL;
}

static bool is_in(const uint64_t *threads, uint32_t thread)
{
    return (threads[thread / 64] >> thread % 64 & 1) != 0;
}

static void stop_hart(struct subslice *subslice, struct hart *hart, uint32_t causes,
                      uint64_t address)
{
    struct run_control *control = &subslice->engine->control;
    struct stop *stop = &control->stops[thread_number(subslice, hart)];

    if (hart->state != HART_BARRIER)
        hart->state = HART_STOPPED;
    hart->stopped = true;
    hart->steps = false;
    /* Who was about to pass a breakpoint register does so when it goes on. */
    if (causes == ZETA_VGPU_CAUSE_BREAKPOINT || hart->passes)
        stop->control[CONTROL_FLAGS] |= ZETA_VGPU_CONTROL_SUPPRESS;
    else
        stop->control[CONTROL_FLAGS] &= ~ZETA_VGPU_CONTROL_SUPPRESS;
    stop->control[CONTROL_CAUSES] = causes;
    memcpy(&stop->control[CONTROL_ADDRESS], &address, sizeof(address));
    stop->fcsr = (uint32_t)hart->cpu->frm << 5 | hart->cpu->fflags;
    stop->fault.reason = ZETA_VGPU_FAULT_NONE;
    atomic_fetch_add_explicit(&control->stopped, 1, memory_order_relaxed);
}

static void resume_hart(struct subslice *subslice, struct hart *hart, bool single)
{
    struct run_control *control = &subslice->engine->control;
    const struct stop *stop = &control->stops[thread_number(subslice, hart)];

    control->halted -= hart->halted;
    hart->stopped = false;
    hart->halted = false;
    hart->untold = false;
    hart->passes = (stop->control[CONTROL_FLAGS] & ZETA_VGPU_CONTROL_SUPPRESS) != 0;
    if (hart->state == HART_BARRIER)
        hart->steps = single;
    else
        hart->state = single ? HART_STEP : HART_READY;
    hart->cpu->fflags = stop->fcsr & 31;
    hart->cpu->frm = stop->fcsr >> 5 & 7;
    atomic_fetch_sub_explicit(&control->stopped, 1, memory_order_relaxed);
}

void zeta_vgpu_debug_stop(struct subslice *subslice, struct hart *hart, uint32_t causes,
                          uint64_t address)
{
    const struct run_control *control = &subslice->engine->control;

    stop_hart(subslice, hart, causes, address);
    hart->untold = true;
    control->changed(control->user);
}

/* An ebreak that is not in memory is there for a breakpoint register. */
static uint32_t cause_of_ebreak(uint64_t pc)
{
    uint32_t word;

    memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
    return word == EBREAK ? ZETA_VGPU_CAUSE_BREAK : ZETA_VGPU_CAUSE_BREAKPOINT;
}

void zeta_vgpu_debug_stop_fault(struct subslice *subslice, struct hart *hart,
                                enum zeta_vgpu_fault_reason reason, uint64_t address)
{
    const uint32_t cause =
        reason == ZETA_VGPU_FAULT_BREAKPOINT ? cause_of_ebreak(hart->cpu->pc)
        : reason == ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION || reason == ZETA_VGPU_FAULT_UNKNOWN_CALL
            ? ZETA_VGPU_CAUSE_ILLEGAL
            : ZETA_VGPU_CAUSE_FAULT;
    const struct run_control *control = &subslice->engine->control;
    struct stop *stop = &control->stops[thread_number(subslice, hart)];

    stop_hart(subslice, hart, cause, address);
    if (reason != ZETA_VGPU_FAULT_BREAKPOINT)
        zeta_vgpu_fault_describe(subslice, hart, reason, hart->cpu->pc, address, &stop->fault);
    hart->untold = true;
    control->changed(control->user);
}

/* Decodes what was written if it is code; all of it can be found in the space, or none. */
static void decode_again(struct zeta_vgpu_engine *engine, uint64_t address, uint64_t size_bytes)
{
    const uint64_t end = address + size_bytes;
    struct zeta_vgpu_range range;

    for (; address < end && zeta_vgpu_space_find(engine->space, address, &range);
         address = range.end) {
        const uint64_t last = (end < range.end ? end : range.end) - 1;
        struct zeta_rv64_code *code = range.code;

        if (code)
            zeta_rv64_code_update(
                code, (const void *)(uintptr_t)code->begin, (uint32_t)((address - code->begin) / 4),
                (uint32_t)((last - code->begin) / 4 - (address - code->begin) / 4 + 1),
                engine->control.breakpoints, ZETA_VGPU_BREAKPOINTS);
    }
}

/* Sets a breakpoint register. The space is held. */
static void set_breakpoint(struct zeta_vgpu_engine *engine, uint32_t index, uint64_t address)
{
    const uint64_t before = engine->control.breakpoints[index];

    engine->control.breakpoints[index] = address;
    decode_again(engine, before, 1);
    decode_again(engine, address, 1);
}

bool zeta_vgpu_debug_begin(struct zeta_vgpu_engine *engine, void (*changed)(void *user), void *user)
{
    struct run_control *control = &engine->control;

    /* Kept for the next debugger. */
    if (!control->stops)
        control->stops = calloc(thread_count(engine), sizeof(*control->stops));
    if (!control->stops)
        return false;
    (void)zeta_vgpu_space_hold(engine->space);
    control->changed = changed;
    control->user = user;
    control->attached = true;
    zeta_vgpu_space_release(engine->space);
    return true;
}

void zeta_vgpu_debug_end(struct zeta_vgpu_engine *engine)
{
    struct run_control *control = &engine->control;
    struct subslice *subslice;

    (void)zeta_vgpu_space_hold(engine->space);
    control->attached = false;
    control->watch_count = 0;
    memset(control->watches, 0, sizeof(control->watches));
    for (uint32_t i = 0; i < ZETA_VGPU_BREAKPOINTS; i++) {
        if (control->breakpoints[i] != 0)
            set_breakpoint(engine, i, 0);
    }
    for (uint32_t i = 0; i < thread_count(engine); i++) {
        struct hart *hart = find_thread(engine, i, &subslice);

        if (hart && hart->stopped)
            resume_hart(subslice, hart, false);
        else if (hart && hart->state == HART_STEP)
            hart->state = HART_READY;
        if (hart)
            hart->steps = false;
    }
    zeta_vgpu_model_rejoin(engine);
    zeta_vgpu_space_release(engine->space);
}

void zeta_vgpu_debug_halt(struct zeta_vgpu_engine *engine, const uint64_t *threads)
{
    struct run_control *control = &engine->control;
    struct subslice *subslice;

    (void)zeta_vgpu_space_hold(engine->space);
    for (uint32_t i = 0; i < thread_count(engine); i++) {
        struct hart *hart = is_in(threads, i) ? find_thread(engine, i, &subslice) : NULL;

        if (hart && !hart->stopped)
            stop_hart(subslice, hart, ZETA_VGPU_CAUSE_HALT, 0);
        if (hart && !hart->halted)
            control->halted++;
        if (hart)
            hart->halted = true;
    }
    zeta_vgpu_space_release(engine->space);
}

void zeta_vgpu_debug_threads(struct zeta_vgpu_engine *engine, uint64_t *out_stopped,
                             uint64_t *out_excepted)
{
    const size_t bytes = ((size_t)thread_count(engine) + 63) / 64 * sizeof(uint64_t);
    struct subslice *subslice;

    memset(out_stopped, 0, bytes);
    memset(out_excepted, 0, bytes);
    (void)zeta_vgpu_space_hold(engine->space);
    for (uint32_t i = 0; i < thread_count(engine); i++) {
        struct hart *hart = find_stopped(engine, i, &subslice);

        if (!hart)
            continue;
        out_stopped[i / 64] |= UINT64_C(1) << i % 64;
        if (hart->untold)
            out_excepted[i / 64] |= UINT64_C(1) << i % 64;
        hart->untold = false;
    }
    zeta_vgpu_space_release(engine->space);
}

void zeta_vgpu_debug_resume(struct zeta_vgpu_engine *engine, const uint64_t *threads)
{
    const struct stop *stops = engine->control.stops;
    struct subslice *subslice;

    (void)zeta_vgpu_space_hold(engine->space);
    for (uint32_t i = 0; i < thread_count(engine); i++) {
        struct hart *hart = is_in(threads, i) ? find_stopped(engine, i, &subslice) : NULL;

        if (hart)
            resume_hart(subslice, hart,
                        (stops[i].control[CONTROL_CAUSES] & ZETA_VGPU_CAUSE_BREAK) != 0);
    }
    zeta_vgpu_model_rejoin(engine);
    zeta_vgpu_space_release(engine->space);
}

static void read_ids(const struct subslice *subslice, const struct hart *hart, uint64_t out_ids[10])
{
    uint32_t local_id[3];

    zeta_vgpu_hart_local_id(subslice->engine, hart, local_id);
    for (uint32_t d = 0; d < 3; d++) {
        out_ids[d] = hart->group->id[d];
        out_ids[3 + d] = local_id[d];
    }
    out_ids[6] = thread_number(subslice, hart);
    out_ids[7] = subslice->index;
    out_ids[8] = hart->state == HART_BARRIER;
    out_ids[9] = subslice->engine->serving + 1;
}

/* A register set of a stopped thread. */
struct view {
    uint32_t set, count, bytes; /* of a register */
    void *values;
    bool writable;
};

enum { SETS = 7 };

/* The sets of a thread, in the order of snapshots; @ids is room for some of them. */
static void view_registers(struct zeta_vgpu_engine *engine, const struct subslice *subslice,
                           struct hart *hart, uint64_t ids[10], struct view out_sets[SETS])
{
    static const uint32_t mask = 1;
    struct stop *stop = &engine->control.stops[thread_number(subslice, hart)];
    const struct view sets[SETS] = {
        {ZETA_VGPU_REGISTERS_X, 31, 8, &hart->cpu->x[1], true},
        {ZETA_VGPU_REGISTERS_F, 32, 8, hart->cpu->f, true},
        {ZETA_VGPU_REGISTERS_PC, 1, 8, &hart->cpu->pc, true},
        {ZETA_VGPU_REGISTERS_CE, 1, 4, (void *)(uintptr_t)&mask, false},
        {ZETA_VGPU_REGISTERS_CR, 1, 16, stop->control, true},
        {ZETA_VGPU_REGISTERS_ID, 10, 8, ids, false},
        {ZETA_VGPU_REGISTERS_FCSR, 1, 4, &stop->fcsr, true},
    };

    read_ids(subslice, hart, ids);
    memcpy(out_sets, sets, sizeof(sets));
}

bool zeta_vgpu_debug_registers(struct zeta_vgpu_engine *engine, uint32_t thread, uint32_t set,
                               uint32_t first, uint32_t count, void *buffer, bool write)
{
    struct view sets[SETS];
    uint64_t ids[10];
    struct subslice *subslice;
    struct hart *hart;
    bool good = false;

    (void)zeta_vgpu_space_hold(engine->space);
    hart = find_stopped(engine, thread, &subslice);
    if (hart)
        view_registers(engine, subslice, hart, ids, sets);
    for (size_t i = 0; hart && i < SETS; i++) {
        unsigned char *values = sets[i].values;
        const size_t bytes = (size_t)count * sets[i].bytes;

        if (sets[i].set != set || first > sets[i].count || count > sets[i].count - first ||
            (write && !sets[i].writable))
            continue;
        values += (size_t)first * sets[i].bytes;
        if (write)
            memcpy(values, buffer, bytes);
        else
            memcpy(buffer, values, bytes);
        good = true;
    }
    zeta_vgpu_space_release(engine->space);
    return good;
}

static void take_snapshot(struct zeta_vgpu_engine *engine, const struct subslice *subslice,
                          struct hart *hart, struct zeta_vgpu_debug_snapshot *snapshot)
{
    const uint64_t sp = hart->cpu->x[2], in_stack = sp - hart->stack_begin;
    const uint64_t stack_bytes = engine->config.topology.stack_bytes;
    unsigned char *registers = snapshot->registers;
    struct view sets[SETS];
    uint64_t ids[10];

    view_registers(engine, subslice, hart, ids, sets);
    for (size_t i = 0; i < SETS; i++) {
        const size_t bytes = (size_t)sets[i].count * sets[i].bytes;

        memcpy(registers, sets[i].values, bytes);
        registers += bytes;
    }
    snapshot->thread = thread_number(subslice, hart);
    snapshot->stack_begin = sp;
    snapshot->stack_bytes = 0;
    if (in_stack < stack_bytes)
        snapshot->stack_bytes = stack_bytes - in_stack < ZETA_VGPU_SNAPSHOT_STACK_BYTES
                                    ? (uint32_t)(stack_bytes - in_stack)
                                    : ZETA_VGPU_SNAPSHOT_STACK_BYTES;
    memset(snapshot->stack, 0, sizeof(snapshot->stack));
    memcpy(snapshot->stack, (const void *)(uintptr_t)sp, snapshot->stack_bytes);
}

uint32_t zeta_vgpu_debug_snapshots(struct zeta_vgpu_engine *engine, const uint64_t *threads,
                                   struct zeta_vgpu_debug_snapshot *out_snapshots, bool *out_still)
{
    struct subslice *subslice;
    uint32_t count = 0;
    bool still;

    (void)zeta_vgpu_space_hold(engine->space);
    /* Groups may begin while none is halted. */
    still = !engine->launch || engine->control.halted > 0;
    for (uint32_t i = 0; i < thread_count(engine); i++) {
        struct hart *hart = find_thread(engine, i, &subslice);

        if (hart && hart->stopped && is_in(threads, i))
            take_snapshot(engine, subslice, hart, &out_snapshots[count++]);
        still &= !hart || hart->stopped || hart->state == HART_BARRIER;
    }
    zeta_vgpu_space_release(engine->space);
    *out_still = still;
    return count;
}

/* Offset in a region of so many bytes, if all of an access is in it. */
static bool is_inside(uint64_t offset, uint64_t size_bytes, uint64_t region_bytes)
{
    return offset <= region_bytes && size_bytes <= region_bytes - offset;
}

/* Where bytes are that a hart (or, without one, the process) has at an address; NULL: nowhere. */
static void *find_memory(struct zeta_vgpu_engine *engine, const struct subslice *subslice,
                         const struct hart *hart, bool is_local, uint64_t address,
                         uint64_t size_bytes)
{
    const uint64_t in_stacks = address - (uintptr_t)engine->stacks;

    if (hart) {
        const uint64_t offset =
            is_local ? address : address - zeta_vgpu_image_slm(engine->launch->image);
        unsigned char *local =
            subslice->slm + (size_t)hart->group->slm_slot * engine->group_slm_bytes;

        if (is_inside(offset, size_bytes, engine->group_slm_bytes))
            return local + offset;
    }
    if (is_local)
        return NULL;
    return is_inside(in_stacks, size_bytes, engine->stacks_bytes) ||
                   zeta_vgpu_space_covers(engine->space, address, size_bytes, ZETA_VGPU_ACCESS_READ)
               ? (void *)(uintptr_t)address
               : NULL;
}

/* Writes what kernels may only read. The program may have mapped it so for itself, too. */
static bool overwrite(uint64_t address, const void *bytes, size_t size_bytes)
{
    const struct iovec from = {(void *)(uintptr_t)bytes, size_bytes};
    const struct iovec to = {(void *)(uintptr_t)address, size_bytes};
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = address / page * page;
    const size_t whole = (address + size_bytes - begin + page - 1) / page * page;

    if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) == (ssize_t)size_bytes)
        return true;
    if (mprotect((void *)(uintptr_t)begin, whole, PROT_READ | PROT_WRITE) != 0)
        return false;
    memcpy((void *)(uintptr_t)address, bytes, size_bytes);
    (void)mprotect((void *)(uintptr_t)begin, whole, PROT_READ);
    return true;
}

/* Writes to what find_memory() found; false when the system refuses. */
static bool write_memory(struct zeta_vgpu_space *space, void *memory, const void *bytes,
                         size_t size_bytes)
{
    struct zeta_vgpu_range range;
    bool good = true;

    for (size_t done = 0, part; good && done < size_bytes; done += part) {
        char *at = (char *)memory + done;
        const bool found = zeta_vgpu_space_find(space, (uintptr_t)at, &range);

        part = size_bytes - done;
        if (found && range.end - (uintptr_t)at < part)
            part = range.end - (uintptr_t)at;
        if (found && !range.writable && !range.code)
            good = overwrite((uintptr_t)at, (const char *)bytes + done, part);
        else
            memcpy(at, (const char *)bytes + done, part);
    }
    return good;
}

bool zeta_vgpu_debug_memory(struct zeta_vgpu_engine *engine, uint32_t thread, bool is_local,
                            uint64_t address, uint64_t size_bytes, void *buffer, bool write)
{
    struct subslice *subslice = NULL;
    struct hart *hart;
    void *memory = NULL;

    (void)zeta_vgpu_space_hold(engine->space);
    hart = find_stopped(engine, thread, &subslice);
    if (hart || thread == UINT32_MAX)
        memory = find_memory(engine, subslice, hart, is_local, address, size_bytes);
    if (memory && write) {
        if (!write_memory(engine->space, memory, buffer, size_bytes))
            memory = NULL;
        else if (memory == (void *)(uintptr_t)address)
            decode_again(engine, address, size_bytes);
    } else if (memory && buffer) {
        memcpy(buffer, memory, size_bytes);
    }
    zeta_vgpu_space_release(engine->space);
    return memory != NULL;
}

void zeta_vgpu_debug_watch(struct zeta_vgpu_engine *engine, uint32_t index, uint64_t address,
                           uint64_t size_bytes, uint32_t kinds)
{
    struct run_control *control = &engine->control;
    struct zeta_rv64_watch *watch = &control->watches[index];
    const uint64_t most = UINT64_MAX - address;

    (void)zeta_vgpu_space_hold(engine->space);
    control->watch_count -= watch->kinds != 0;
    *watch =
        kinds != 0
            ? (struct zeta_rv64_watch){address, address + (size_bytes < most ? size_bytes : most),
                                       kinds}
            : (struct zeta_rv64_watch){0};
    control->watch_count += watch->kinds != 0;
    zeta_vgpu_space_release(engine->space);
}

void zeta_vgpu_debug_break(struct zeta_vgpu_engine *engine, uint32_t index, uint64_t address)
{
    (void)zeta_vgpu_space_hold(engine->space);
    set_breakpoint(engine, index, address);
    zeta_vgpu_space_release(engine->space);
}

bool zeta_vgpu_debug_fault(struct zeta_vgpu_engine *engine, uint32_t thread,
                           struct zeta_vgpu_fault *out_fault)
{
    struct subslice *subslice;
    bool is_fault;

    (void)zeta_vgpu_space_hold(engine->space);
    is_fault = find_stopped(engine, thread, &subslice) &&
               engine->control.stops[thread].fault.reason != ZETA_VGPU_FAULT_NONE;
    if (is_fault)
        *out_fault = engine->control.stops[thread].fault;
    zeta_vgpu_space_release(engine->space);
    return is_fault;
}

bool zeta_vgpu_debug_remains(struct zeta_vgpu_engine *engine, uint32_t thread,
                             struct zeta_vgpu_debug_remains *out_remains)
{
    struct subslice *subslice;
    const struct hart *hart;

    if (thread >= thread_count(engine))
        return false;
    hart = place_of(engine, thread, &subslice);
    /* Subslices beyond these still have what launches before left in them. */
    if (subslice->index >= engine->active_subslices || !is_resident(hart))
        return false;
    *out_remains = (struct zeta_vgpu_debug_remains){
        .pc = hart->cpu->pc,
        .x = hart->cpu->x,
        .f = hart->cpu->f,
        .fcsr = (uint32_t)hart->cpu->frm << 5 | hart->cpu->fflags,
        .private_begin = hart->stack_begin,
        .private_end = hart->stack_begin + engine->config.topology.stack_bytes,
        .local_begin = zeta_vgpu_image_slm(engine->launch->image),
        .local_bytes = engine->group_slm_bytes,
        .local = subslice->slm + (size_t)hart->group->slm_slot * engine->group_slm_bytes,
    };
    read_ids(subslice, hart, out_remains->ids);
    return true;
}
