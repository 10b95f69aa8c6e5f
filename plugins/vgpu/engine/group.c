/*
 * One subslice: groups are dispatched while threads and shared local memory are free, then every
 * ready hart runs for a slice, in slot order, round after round. Nothing here reads another
 * subslice, so what happens depends on the work alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "engine_priv.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum {
    /* Modelled cycles beyond the issue slot; the fixed ones are in rv64_ops.h. */
    LATENCY_BRANCH_TAKEN = 2,
    LATENCY_SLM = 10,
    LATENCY_L1_HIT = 20,
    LATENCY_L3_HIT = 100
};

bool zeta_vgpu_subslice_init(struct subslice *subslice, struct zeta_vgpu_engine *engine,
                             uint32_t index)
{
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    uint32_t count = zeta_vgpu_topology_group_limit(topology);
    uint64_t stride = topology->stack_bytes + ZETA_VGPU_STACK_GUARD_BYTES;

    subslice->engine = engine;
    subslice->index = index;
    subslice->hart_count = count;
    subslice->harts = calloc(count, sizeof(*subslice->harts));
    subslice->cpus = calloc(count, sizeof(*subslice->cpus));
    subslice->groups = calloc(count, sizeof(*subslice->groups));
    subslice->free_slm = calloc(count, sizeof(*subslice->free_slm));
    subslice->eu_counters = calloc(topology->eus_per_subslice, sizeof(*subslice->eu_counters));
    subslice->slm = aligned_alloc(4096, ((size_t)topology->slm_bytes + 4095) / 4096 * 4096);
    if (!zeta_vgpu_l1_init(&subslice->l1, topology->l1_bytes) || !subslice->harts ||
        !subslice->cpus || !subslice->groups || !subslice->free_slm || !subslice->eu_counters ||
        !subslice->slm)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        subslice->harts[i].slot = i;
        subslice->harts[i].cpu = &subslice->cpus[i];
        subslice->harts[i].stack_begin = (uintptr_t)engine->stacks +
                                         ((uint64_t)index * count + i) * stride +
                                         ZETA_VGPU_STACK_GUARD_BYTES;
    }
    subslice->used_slots = count; /* of harts and groups, so that the first launch clears all */
    subslice->used_groups = count;
    subslice->memory.space = engine->space;
    subslice->memory.l1 = &subslice->l1;
    subslice->context.memory = &subslice->memory;
    subslice->context.icache = &subslice->icache;
    return true;
}

void zeta_vgpu_subslice_finish(struct subslice *subslice)
{
    zeta_vgpu_l1_finish(&subslice->l1);
    zeta_vgpu_icache_finish(&subslice->icache);
    free(subslice->sampler.log.entries);
    free(subslice->codes);
    free(subslice->events.items);
    free(subslice->harts);
    free(subslice->cpus);
    free(subslice->groups);
    free(subslice->free_slm);
    free(subslice->eu_counters);
    free(subslice->slm);
}

/*
 * Which code a hart is in. A kernel begins in the image of its launch and may jump into others:
 * functions that were linked to it, or whose address it was given. The space knows where code is;
 * its content holds until the generation of the space changes.
 */

/* Numbers of instructions in the instruction cache begin with a line of their own. */
static uint32_t whole_lines(uint32_t instructions)
{
    return (instructions + ZETA_VGPU_ICACHE_LINE_INSNS - 1) / ZETA_VGPU_ICACHE_LINE_INSNS *
           ZETA_VGPU_ICACHE_LINE_INSNS;
}

/* Gives code that was not met before in this launch its place in the instruction cache. */
static const struct known_code *add_code(struct subslice *subslice,
                                         const struct zeta_rv64_code *code)
{
    uint32_t count = whole_lines(code->count + 1);
    struct known_code *codes;

    if (count > UINT32_MAX / 2 - subslice->icache_used ||
        !zeta_vgpu_icache_grow(&subslice->icache, subslice->icache_used + count))
        return NULL;
    codes = realloc(subslice->codes, (subslice->code_count + 1) * sizeof(*codes));
    if (!codes)
        return NULL;
    subslice->codes = codes;
    codes += subslice->code_count++;
    *codes = (struct known_code){code, subslice->icache_used};
    subslice->icache_used += count;
    return codes;
}

/* Only the code of the launch's image is known. False when memory is short. */
static bool begin_code(struct subslice *subslice)
{
    const struct zeta_rv64_code *own = &subslice->engine->launch->image->code;

    subslice->code_count = 0;
    subslice->icache_used = 0;
    subslice->context.code = own;
    subslice->context.icache_first = 0;
    return add_code(subslice, own) &&
           zeta_vgpu_icache_reset(&subslice->icache, subslice->icache_used);
}

void zeta_vgpu_code_enter(struct subslice *subslice, uint64_t pc)
{
    const struct known_code *known = NULL;
    struct zeta_vgpu_range range;

    if (zeta_rv64_code_holds(subslice->context.code, pc))
        return;
    for (uint32_t i = 0; !known && i < subslice->code_count; i++) {
        if (zeta_rv64_code_holds(subslice->codes[i].code, pc))
            known = &subslice->codes[i];
    }
    if (!known && zeta_vgpu_space_find(subslice->engine->space, pc, &range) && range.code)
        known = add_code(subslice, range.code);
    /* Without code there the launch's own takes it, and finds the fault. */
    subslice->context.code = known ? known->code : &subslice->engine->launch->image->code;
    subslice->context.icache_first = known ? known->icache_first : 0;
}

bool zeta_vgpu_subslice_begin(struct subslice *subslice)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    uint32_t buffers = subslice->hart_count;

    /* All slots, groups and buffers are free again; what the last launch did not use still is. */
    if (engine->group_slm_bytes > 0 &&
        engine->config.topology.slm_bytes / engine->group_slm_bytes < buffers)
        buffers = engine->config.topology.slm_bytes / engine->group_slm_bytes;
    subslice->free_slm_count = 0;
    while (buffers > 0)
        subslice->free_slm[subslice->free_slm_count++] = --buffers;
    for (uint32_t i = 0; i < subslice->used_groups; i++)
        subslice->groups[i].next_free =
            i + 1 < subslice->hart_count ? &subslice->groups[i + 1] : NULL;
    subslice->free_groups = subslice->groups;
    for (uint32_t i = 0; i < subslice->used_slots; i++) {
        subslice->harts[i].state = HART_IDLE;
        subslice->harts[i].group = NULL;
        subslice->harts[i].stopped = false;
        subslice->harts[i].halted = false;
        subslice->harts[i].untold = false;
    }
    subslice->free_harts = subslice->hart_count;
    subslice->used_groups = 0;
    subslice->used_slots = 0;
    subslice->next_slot = 0;
    subslice->next_group = subslice->index;
    subslice->finished = false;
    zeta_vgpu_model_begin_epoch(subslice, 0);
    zeta_rv64_memory_flush(&subslice->memory);
    zeta_vgpu_sampler_update(subslice);
    return begin_code(subslice);
}

/* Puts a work-item into a free hart: its thread block lies above the stack. */
static void start_hart(struct subslice *subslice, struct hart *hart, struct group *group,
                       uint32_t item)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    const struct zeta_vgpu_launch *launch = engine->launch;
    uint64_t block =
        hart->stack_begin + topology->stack_bytes - (sizeof(struct vgpu_thread) + 63) / 64 * 64;
    struct vgpu_thread *thread = (struct vgpu_thread *)(uintptr_t)block;

    memset(hart->cpu, 0, sizeof(*hart->cpu));
    for (uint32_t d = 0; d < 3; d++) {
        thread->global_size[d] = (uint64_t)launch->group_count[d] * launch->group_size[d];
        thread->global_offset[d] = launch->global_offset[d];
        thread->local_size[d] = launch->group_size[d];
        thread->group_count[d] = launch->group_count[d];
        thread->group_id[d] = group->id[d];
        thread->local_id[d] = item % launch->group_size[d];
        item /= launch->group_size[d];
    }
    thread->work_dimensions = engine->work_dimensions;
    thread->hardware_thread =
        hart->slot / topology->eus_per_subslice | hart->slot % topology->eus_per_subslice << 6 |
        subslice->index % topology->subslices_per_slice << 12 |
        subslice->index / topology->subslices_per_slice << 18 | topology->tile << 24;
    thread->local_begin = zeta_vgpu_image_slm(launch->image);
    thread->local_bytes = engine->group_slm_bytes;
    thread->private_begin = hart->stack_begin;
    thread->private_bytes = topology->stack_bytes;
    hart->cpu->pc = launch->kernel->entry;
    hart->cpu->x[1] = ZETA_RV64_RETURN_ADDRESS;
    hart->cpu->x[2] = block;
    hart->cpu->x[4] = block;
    hart->cpu->x[10] = (uintptr_t)engine->arguments;
    hart->state = HART_READY;
    hart->group = group;
    hart->cost = 0;
    hart->steps = false;
    hart->passes = false;
}

/* Starts the next group; harts are taken in slot order, which spreads them over the EUs. */
static void dispatch_group(struct subslice *subslice)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    const uint32_t *counts = engine->launch->group_count;
    const bool counts_eus = zeta_vgpu_counts_eus(engine);
    const uint32_t eus = engine->config.topology.eus_per_subslice;
    struct group *group = subslice->free_groups;
    struct hart **link = &group->harts;
    uint32_t slot = 0;

    subslice->free_groups = group->next_free;
    group->id[0] = (uint32_t)(subslice->next_group % counts[0]);
    group->id[1] = (uint32_t)(subslice->next_group / counts[0] % counts[1]);
    group->id[2] = (uint32_t)(subslice->next_group / counts[0] / counts[1]);
    group->live = engine->group_items;
    group->waiting = 0;
    group->slm_slot = subslice->free_slm[--subslice->free_slm_count];
    for (uint32_t item = 0; item < engine->group_items; item++, slot++) {
        while (subslice->harts[slot].state != HART_IDLE)
            slot++;
        start_hart(subslice, &subslice->harts[slot], group, item);
        if (counts_eus)
            zeta_vgpu_eu_add(subslice, slot % eus, ZETA_VGPU_THREADS_DISPATCHED, 1);
        *link = &subslice->harts[slot];
        link = &subslice->harts[slot].next;
    }
    *link = NULL;
    if (slot > subslice->used_slots)
        subslice->used_slots = slot;
    if (group >= subslice->groups + subslice->used_groups)
        subslice->used_groups = (uint32_t)(group - subslice->groups) + 1;
    memset(subslice->slm + (size_t)group->slm_slot * engine->group_slm_bytes, 0,
           engine->group_slm_bytes);
    subslice->free_harts -= engine->group_items;
    subslice->next_group += engine->subslice_count;
    subslice->counters[ZETA_VGPU_GROUPS_DISPATCHED]++;
    subslice->counters[ZETA_VGPU_THREADS_DISPATCHED] += engine->group_items;
    zeta_vgpu_event_of_group(subslice, ZETA_VGPU_EVENT_GROUP_BEGIN, group, 0);
}

/*
 * All live harts of the group have arrived: each goes on at the time at which the last came, so
 * what it waited becomes part of its own cost.
 */
static void release_barrier(struct subslice *subslice, struct group *group)
{
    const bool counts_eus = zeta_vgpu_counts_eus(subslice->engine);
    const uint32_t eus = subslice->engine->config.topology.eus_per_subslice;
    uint64_t longest = 0;

    for (struct hart *hart = group->harts; hart; hart = hart->next) {
        if (hart->state == HART_BARRIER && hart->cost > longest)
            longest = hart->cost;
    }
    for (struct hart *hart = group->harts; hart; hart = hart->next) {
        if (hart->state != HART_BARRIER)
            continue;
        subslice->counters[ZETA_VGPU_BARRIER_STALL_CYCLES] += longest - hart->cost;
        if (counts_eus)
            zeta_vgpu_eu_add(subslice, hart->slot % eus, ZETA_VGPU_BARRIER_STALL_CYCLES,
                             longest - hart->cost);
        if (subslice->sampler.interval != 0)
            zeta_vgpu_sampler_wait(subslice, hart, longest - hart->cost);
        hart->epoch_cost += longest - hart->cost;
        hart->cost = 0;
        hart->state = hart->stopped ? HART_STOPPED : HART_READY;
        if (hart->steps)
            zeta_vgpu_debug_stop(subslice, hart, ZETA_VGPU_CAUSE_BREAK, 0);
    }
    zeta_vgpu_event_of_group(subslice, ZETA_VGPU_EVENT_BARRIER, group, group->waiting);
    group->waiting = 0;
}

void zeta_vgpu_barrier(struct subslice *subslice, struct hart *hart)
{
    subslice->counters[ZETA_VGPU_BARRIER_MESSAGES]++;
    hart->steps = hart->state == HART_STEP;
    hart->state = HART_BARRIER;
    if (++hart->group->waiting == hart->group->live)
        release_barrier(subslice, hart->group);
}

static void end_hart(struct subslice *subslice, struct hart *hart)
{
    struct group *group = hart->group;

    hart->state = HART_ENDED;
    if (--group->live > 0) {
        if (group->waiting == group->live)
            release_barrier(subslice, group);
        return;
    }
    zeta_vgpu_event_of_group(subslice, ZETA_VGPU_EVENT_GROUP_END, group, 0);
    for (struct hart *member = group->harts; member; member = member->next)
        member->state = HART_IDLE;
    subslice->free_harts += subslice->engine->group_items;
    subslice->free_slm[subslice->free_slm_count++] = group->slm_slot;
    group->next_free = subslice->free_groups;
    subslice->free_groups = group;
}

/* Adds the bytes of one kind of traffic to a counter; returns the number of accesses. */
static uint64_t add_traffic(struct subslice *subslice, enum zeta_rv64_traffic traffic,
                            enum zeta_vgpu_counter counter)
{
    const uint32_t *accesses = subslice->memory.accesses[traffic];

    subslice->counters[counter] += accesses[0] + 2 * (uint64_t)accesses[1] +
                                   4 * (uint64_t)accesses[2] + 8 * (uint64_t)accesses[3];
    return (uint64_t)accesses[0] + accesses[1] + accesses[2] + accesses[3];
}

void zeta_vgpu_account(struct subslice *subslice, struct hart *hart, uint64_t l1_misses,
                       struct costs *out_costs)
{
    const struct zeta_rv64_counts *counts = &subslice->context.counts;
    struct zeta_rv64_memory *memory = &subslice->memory;
    uint64_t misses = subslice->l1.misses - l1_misses;
    uint64_t *counters = subslice->counters;
    uint64_t global, slm, private, cost;

    counters[ZETA_VGPU_INST_RETIRED] += counts->retired;
    counters[ZETA_VGPU_INST_INT] += counts->integer;
    counters[ZETA_VGPU_INST_FP32] += counts->fp32;
    counters[ZETA_VGPU_INST_FP64] += counts->fp64;
    counters[ZETA_VGPU_FP_OPS] += counts->flops;
    counters[ZETA_VGPU_INST_BRANCH] += counts->branches;
    counters[ZETA_VGPU_INST_BRANCH_TAKEN] += counts->taken;
    counters[ZETA_VGPU_INST_CALL] += counts->calls;
    counters[ZETA_VGPU_INST_MEM] += counts->memory;
    counters[ZETA_VGPU_INST_ATOMIC] += counts->atomics;
    counters[ZETA_VGPU_INST_MATH] += counts->math;
    counters[ZETA_VGPU_INST_CACHE_MISSES] += counts->instruction_misses;
    global = add_traffic(subslice, ZETA_RV64_GLOBAL_READ, ZETA_VGPU_GLOBAL_READ_BYTES) +
             add_traffic(subslice, ZETA_RV64_GLOBAL_WRITE, ZETA_VGPU_GLOBAL_WRITE_BYTES) -
             memory->global_atomics;
    private = add_traffic(subslice, ZETA_RV64_PRIVATE, ZETA_VGPU_PRIVATE_BYTES);
    slm = add_traffic(subslice, ZETA_RV64_SLM_READ, ZETA_VGPU_SLM_READ_BYTES) +
          add_traffic(subslice, ZETA_RV64_SLM_WRITE, ZETA_VGPU_SLM_WRITE_BYTES);
    counters[ZETA_VGPU_L1_HITS] += global - misses;
    counters[ZETA_VGPU_L1_MISSES] += misses;
    memset(memory->accesses, 0, sizeof(memory->accesses));
    memory->global_atomics = 0;
    *out_costs = (struct costs){
        .fetch = (uint64_t)LATENCY_L3_HIT * counts->instruction_misses,
        .issue = counts->retired,
        .pipe = counts->latency,
        .memory = LATENCY_SLM * slm + LATENCY_L1_HIT * (private + global - misses) +
                  LATENCY_L3_HIT * misses,
        .control = (uint64_t)LATENCY_BRANCH_TAKEN * counts->taken,
    };
    cost = out_costs->fetch + out_costs->issue + out_costs->pipe + out_costs->memory +
           out_costs->control;
    hart->cost += cost;
    hart->epoch_cost += cost;
    subslice->issue[subslice->l1.eu] += counts->retired;
    subslice->epoch_instructions += counts->retired;
}

static const char *const texts[ZETA_VGPU_FAULT_REASON_COUNT] = {
    [ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION] = "illegal instruction",
    [ZETA_VGPU_FAULT_BREAKPOINT] = "breakpoint without a debugger",
    [ZETA_VGPU_FAULT_READ] = "read of memory that the kernel may not read",
    [ZETA_VGPU_FAULT_WRITE] = "write to memory that the kernel may not write",
    [ZETA_VGPU_FAULT_FETCH] = "jump to an address without code",
    [ZETA_VGPU_FAULT_MISALIGNED_JUMP] = "jump to an address that is not a multiple of 4",
    [ZETA_VGPU_FAULT_MISALIGNED_ATOMIC] = "misaligned atomic access",
    [ZETA_VGPU_FAULT_STACK_OVERFLOW] = "stack overflow",
    [ZETA_VGPU_FAULT_UNKNOWN_CALL] = "unknown device call",
    [ZETA_VGPU_FAULT_ABORT] = "abort by the kernel",
};

/* The sentence about a fault: why, where in the code, and where on the device. */
static void write_message(const struct subslice *subslice, struct zeta_vgpu_fault *fault)
{
    const struct zeta_rv64_code *code = subslice->context.code;
    char details[160] = "", instruction[112] = "", text[80];
    uint32_t word;

    if (fault->reason == ZETA_VGPU_FAULT_ABORT) {
        /* The kernel's own text, when it gave a readable one. */
        for (uint64_t length = 1; fault->address && length <= 128; length++) {
            const char *own = zeta_rv64_memory_peek(&subslice->memory, fault->address, length);

            if (!own)
                break;
            if (own[length - 1] == '\0') {
                (void)snprintf(details, sizeof(details), ": %s", own);
                break;
            }
        }
    } else if (fault->reason != ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION &&
               fault->reason != ZETA_VGPU_FAULT_BREAKPOINT) {
        (void)snprintf(details, sizeof(details), " at %s0x%" PRIx64,
                       fault->reason == ZETA_VGPU_FAULT_UNKNOWN_CALL ? "number " : "address ",
                       fault->address);
    }
    if (zeta_rv64_code_holds(code, fault->pc)) {
        memcpy(&word, (const void *)(uintptr_t)fault->pc, sizeof(word));
        zeta_rv64_disassemble(word, fault->pc, text, sizeof(text));
        (void)snprintf(instruction, sizeof(instruction), " (%08" PRIx32 ": %s)", word, text);
    }
    (void)snprintf(fault->message.text, sizeof(fault->message.text),
                   "kernel %s: %s%s, pc 0x%" PRIx64 "%s, thread %u.%u.%u.%u.%u "
                   "(tile.slice.subslice.eu.thread), group (%u, %u, %u), local id (%u, %u, %u)",
                   subslice->engine->launch->kernel->name, texts[fault->reason], details, fault->pc,
                   instruction, subslice->engine->config.topology.tile, fault->slice,
                   fault->subslice, fault->eu, fault->thread, fault->group_id[0],
                   fault->group_id[1], fault->group_id[2], fault->local_id[0], fault->local_id[1],
                   fault->local_id[2]);
}

void zeta_vgpu_hart_local_id(const struct zeta_vgpu_engine *engine, const struct hart *hart,
                             uint32_t out_id[3])
{
    uint32_t item = 0;

    for (const struct hart *member = hart->group->harts; member != hart; member = member->next)
        item++;
    for (uint32_t d = 0; d < 3; d++) {
        out_id[d] = item % engine->launch->group_size[d];
        item /= engine->launch->group_size[d];
    }
}

void zeta_vgpu_fault_describe(const struct subslice *subslice, const struct hart *hart,
                              enum zeta_vgpu_fault_reason reason, uint64_t pc, uint64_t address,
                              struct zeta_vgpu_fault *out_fault)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_topology *topology = &engine->config.topology;

    out_fault->reason = reason;
    out_fault->pc = pc;
    out_fault->address = address;
    out_fault->slice = subslice->index / topology->subslices_per_slice;
    out_fault->subslice = subslice->index % topology->subslices_per_slice;
    out_fault->eu = hart->slot % topology->eus_per_subslice;
    out_fault->thread = hart->slot / topology->eus_per_subslice;
    zeta_vgpu_hart_local_id(engine, hart, out_fault->local_id);
    memcpy(out_fault->group_id, hart->group->id, sizeof(out_fault->group_id));
    write_message(subslice, out_fault);
}

void zeta_vgpu_fault_raise(struct subslice *subslice, struct hart *hart,
                           enum zeta_vgpu_fault_reason reason, uint64_t pc, uint64_t address)
{
    struct zeta_vgpu_engine *engine = subslice->engine;

    hart->cpu->pc = pc;
    if (engine->control.attached) {
        zeta_vgpu_debug_stop_fault(subslice, hart, reason, address);
        return;
    }
    pthread_mutex_lock(&engine->lock);
    if (engine->fault->reason == ZETA_VGPU_FAULT_NONE) {
        zeta_vgpu_fault_describe(subslice, hart, reason, pc, address, engine->fault);
        atomic_store(&engine->stop, true);
    }
    pthread_mutex_unlock(&engine->lock);
}

enum zeta_rv64_stop zeta_vgpu_step(struct subslice *subslice, struct hart *hart,
                                   struct costs *out_costs, bool *out_block_end)
{
    struct zeta_rv64_context *context = &subslice->context;
    const uint64_t pc = hart->cpu->pc, misses = subslice->l1.misses;
    const struct zeta_rv64_code *code;
    struct zeta_rv64_insn insns[2];
    struct zeta_rv64_code single;
    enum zeta_rv64_stop stop;
    uint32_t first, word;

    zeta_vgpu_code_enter(subslice, pc);
    code = context->code;
    first = context->icache_first;
    *out_block_end = true;
    if (zeta_rv64_code_holds(code, pc)) {
        const uint32_t index = (uint32_t)((pc - code->begin) / 4);

        *out_block_end = zeta_rv64_ends_block(code, index);
        memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
        zeta_rv64_code_single(code, index, hart->passes ? &word : NULL, insns, &single);
        context->code = &single;
        context->icache_first = first + index;
    }
    stop = zeta_rv64_run(hart->cpu, context, 1);
    context->code = code;
    context->icache_first = first;
    /* It has executed the instruction. */
    if (stop < ZETA_RV64_STOP_EBREAK)
        hart->passes = false;
    zeta_vgpu_account(subslice, hart, misses, out_costs);
    return stop;
}

/* A run stopped at an instruction that cannot be executed. */
static void raise_stop(struct subslice *subslice, struct hart *hart, enum zeta_rv64_stop stop)
{
    static const enum zeta_vgpu_fault_reason reasons[] = {
        [ZETA_RV64_STOP_EBREAK] = ZETA_VGPU_FAULT_BREAKPOINT,
        [ZETA_RV64_STOP_ILLEGAL] = ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION,
        [ZETA_RV64_STOP_READ] = ZETA_VGPU_FAULT_READ,
        [ZETA_RV64_STOP_WRITE] = ZETA_VGPU_FAULT_WRITE,
        [ZETA_RV64_STOP_FETCH] = ZETA_VGPU_FAULT_FETCH,
        [ZETA_RV64_STOP_MISALIGNED_JUMP] = ZETA_VGPU_FAULT_MISALIGNED_JUMP,
        [ZETA_RV64_STOP_MISALIGNED_ATOMIC] = ZETA_VGPU_FAULT_MISALIGNED_ATOMIC,
    };
    const struct zeta_vgpu_engine *engine = subslice->engine;
    const uint64_t address = subslice->context.stop_address;
    enum zeta_vgpu_fault_reason reason = reasons[stop];

    /* An access below the hart's stack but inside the memory of all stacks left its own one. */
    if ((stop == ZETA_RV64_STOP_READ || stop == ZETA_RV64_STOP_WRITE) &&
        address - (uintptr_t)engine->stacks < engine->stacks_bytes && address < hart->stack_begin)
        reason = ZETA_VGPU_FAULT_STACK_OVERFLOW;
    zeta_vgpu_fault_raise(subslice, hart, reason, hart->cpu->pc, address);
}

/*
 * An access touched a watch, or a place beside it: the instruction is executed after all, and the
 * hart stops behind it if somebody watches for what it did. True: it may run on.
 */
static bool pass_watch(struct subslice *subslice, struct hart *hart, enum zeta_rv64_stop stop)
{
    enum { OPCODE_MASK = 0x7f, OPCODE_ATOMIC = 0x2f, FUNCTION_SC = 3 };
    struct zeta_rv64_memory *memory = &subslice->memory;
    const uint64_t address = subslice->context.stop_address;
    const bool steps = hart->state == HART_STEP;
    uint32_t word, done, kinds;
    struct costs costs;
    bool block_end;

    memcpy(&word, (const void *)(uintptr_t)hart->cpu->pc, sizeof(word));
    /* A read-modify-write fails as a write. */
    done = stop == ZETA_RV64_STOP_READ ? ZETA_VGPU_WATCHPOINT_READ : ZETA_VGPU_WATCHPOINT_WRITE;
    if ((word & OPCODE_MASK) == OPCODE_ATOMIC && stop == ZETA_RV64_STOP_WRITE &&
        word >> 27 != FUNCTION_SC)
        done |= ZETA_VGPU_WATCHPOINT_READ;
    /* Each load, store and atomic has its size at the same place. */
    kinds = zeta_rv64_watched(memory->watches, address, UINT64_C(1) << (word >> 12 & 3));
    memory->watch_hit = false;
    memory->passes_watches = true;
    stop = zeta_vgpu_step(subslice, hart, &costs, &block_end);
    memory->passes_watches = false;
    if (stop != ZETA_RV64_STOP_SLICE) {
        raise_stop(subslice, hart, stop);
        return false;
    }
    if ((kinds & done) == 0)
        return true;
    zeta_vgpu_debug_stop(subslice, hart,
                         ZETA_VGPU_CAUSE_WATCH | (steps ? ZETA_VGPU_CAUSE_BREAK : 0), address);
    return false;
}

/* What is next for a hart whose run stopped. True: it may run on. */
static bool handle_stop(struct subslice *subslice, struct hart *hart, enum zeta_rv64_stop stop)
{
    switch (stop) {
    case ZETA_RV64_STOP_SLICE:
        return true;
    case ZETA_RV64_STOP_RETURN:
        end_hart(subslice, hart);
        return false;
    case ZETA_RV64_STOP_LEFT:
        zeta_vgpu_code_enter(subslice, hart->cpu->pc);
        return true;
    case ZETA_RV64_STOP_ECALL:
        return zeta_vgpu_call(subslice, hart);
    default:
        if (subslice->memory.watch_hit)
            return pass_watch(subslice, hart, stop);
        raise_stop(subslice, hart, stop);
        return false;
    }
}

/* Points code and memory windows at what belongs to the hart. */
static void enter_hart(struct subslice *subslice, const struct hart *hart, uint64_t generation)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    struct zeta_rv64_memory *memory = &subslice->memory;

    if (generation != subslice->space_generation) {
        zeta_rv64_memory_flush(memory);
        if (subslice->code_count > 1)
            (void)begin_code(subslice);
        memory->watches = engine->control.watch_count > 0 ? engine->control.watches : NULL;
        subslice->space_generation = generation;
    }
    zeta_vgpu_code_enter(subslice, hart->cpu->pc);
    subslice->l1.eu = hart->slot % topology->eus_per_subslice;
    zeta_rv64_window_set(&memory->slm, zeta_vgpu_image_slm(engine->launch->image),
                         engine->group_slm_bytes,
                         subslice->slm + (size_t)hart->group->slm_slot * engine->group_slm_bytes);
    zeta_rv64_window_set(&memory->stack, hart->stack_begin, topology->stack_bytes, NULL);
    if (memory->watches) {
        zeta_rv64_window_watch(&memory->slm, memory->watches);
        zeta_rv64_window_watch(&memory->stack, memory->watches);
    }
}

static bool can_run(const struct hart *hart)
{
    return hart->state == HART_READY || hart->state == HART_STEP;
}

/*
 * A quantum of a hart, at full speed or, for samples, one instruction after another; both end at
 * the same place. For a debugger it has one instruction. What it adds to the counters of the
 * subslice is also its EU's, if that is wanted.
 */
static void run_hart(struct subslice *subslice, struct hart *hart, uint64_t generation)
{
    const bool counts_eus = zeta_vgpu_counts_eus(subslice->engine);
    const uint64_t tlb_misses = subslice->l1.tlb_misses;
    const bool is_single = hart->state == HART_STEP;
    uint64_t before[ZETA_VGPU_COUNTER_COUNT];
    bool stepped, again = true, block_end = true;
    uint32_t used = 0;

    hart->ran = true;
    enter_hart(subslice, hart, generation);
    if (counts_eus)
        memcpy(before, subslice->counters, sizeof(before));
    stepped = subslice->sampler.interval != 0 && zeta_vgpu_sampler_quantum(subslice);
    while (again && (used < subslice->slice || !block_end)) {
        const uint64_t misses = subslice->l1.misses;
        enum zeta_rv64_stop stop;
        struct costs costs;

        if (stepped) {
            stop = zeta_vgpu_sampler_step(subslice, hart, &block_end);
        } else if (is_single || hart->passes) {
            bool ignored;

            stop = zeta_vgpu_step(subslice, hart, &costs, &ignored);
        } else {
            stop = zeta_rv64_run(hart->cpu, &subslice->context, subslice->slice - used);
            zeta_vgpu_account(subslice, hart, misses, &costs);
        }
        used += subslice->context.counts.retired;
        again = handle_stop(subslice, hart, stop) && !is_single;
    }
    if (hart->state == HART_STEP)
        zeta_vgpu_debug_stop(subslice, hart, ZETA_VGPU_CAUSE_BREAK, 0);
    for (uint32_t i = 0; counts_eus && i < ZETA_VGPU_COUNTER_COUNT; i++) {
        /* Harts of other EUs may have waited for this one; release_barrier() knows whose it is. */
        if (i != ZETA_VGPU_BARRIER_STALL_CYCLES && i != ZETA_VGPU_TLB_MISSES &&
            subslice->counters[i] != before[i])
            zeta_vgpu_eu_add(subslice, subslice->l1.eu, i, subslice->counters[i] - before[i]);
    }
    if (counts_eus)
        zeta_vgpu_eu_add(subslice, subslice->l1.eu, ZETA_VGPU_TLB_MISSES,
                         subslice->l1.tlb_misses - tlb_misses);
}

/* Only where each EU has had as many quanta as the others, so that none seems to idle. */
static bool epoch_over(const struct subslice *subslice)
{
    return subslice->epoch_instructions >= subslice->epoch_length &&
           subslice->next_slot % subslice->engine->config.topology.eus_per_subslice == 0;
}

/* True if the next group fits and may begin. */
static bool can_dispatch(const struct subslice *subslice)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;

    return subslice->next_group < engine->group_total &&
           subslice->free_harts >= engine->group_items && subslice->free_slm_count > 0 &&
           engine->control.halted == 0;
}

/* True while nothing can run because a debugger has threads. */
static bool is_held(const struct subslice *subslice)
{
    if (atomic_load_explicit(&subslice->engine->control.stopped, memory_order_relaxed) == 0 ||
        can_dispatch(subslice))
        return false;
    for (uint32_t i = 0; i < subslice->used_slots; i++) {
        if (can_run(&subslice->harts[i]))
            return false;
    }
    return true;
}

bool zeta_vgpu_subslice_round(struct subslice *subslice)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    uint64_t generation;
    bool stopping = false;

    (void)zeta_vgpu_space_enter(engine->space, subslice->reader);
    if (engine->model.held[subslice->index]) {
        stopping = zeta_vgpu_stopping(engine);
        if (!stopping)
            return false;
    }
    while (subslice->next_slot == 0 && can_dispatch(subslice))
        dispatch_group(subslice);
    while (subslice->next_slot < subslice->used_slots && !stopping && !epoch_over(subslice)) {
        struct hart *hart = &subslice->harts[subslice->next_slot++];

        if (!can_run(hart))
            continue;
        generation = zeta_vgpu_space_enter(engine->space, subslice->reader);
        /* A debugger may have taken it on the way. */
        if (!can_run(hart))
            continue;
        run_hart(subslice, hart, generation);
        stopping = zeta_vgpu_stopping(engine);
    }
    if (subslice->next_slot >= subslice->used_slots)
        subslice->next_slot = 0;
    if (stopping || (subslice->free_harts == subslice->hart_count &&
                     subslice->next_group >= engine->group_total)) {
        /* Caches are written back, as the host may read memory now. */
        subslice->finished = true;
        zeta_vgpu_l1_flush(&subslice->l1);
        zeta_vgpu_model_submit(subslice, false);
    } else if (subslice->next_slot == 0 && is_held(subslice)) {
        zeta_vgpu_model_submit(subslice, true);
    } else if (epoch_over(subslice)) {
        zeta_vgpu_model_submit(subslice, false);
    }
    return true;
}
