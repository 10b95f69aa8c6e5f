#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine_priv.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

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

void zeta_vgpu_fault_raise(struct subslice *subslice, const struct hart *hart,
                           enum zeta_vgpu_fault_reason reason, uint64_t pc, uint64_t address)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    struct zeta_vgpu_fault *fault = engine->fault;
    uint32_t item = 0;

    pthread_mutex_lock(&engine->lock);
    if (fault->reason == ZETA_VGPU_FAULT_NONE) {
        fault->reason = reason;
        fault->pc = pc;
        fault->address = address;
        fault->slice = subslice->index / topology->subslices_per_slice;
        fault->subslice = subslice->index % topology->subslices_per_slice;
        fault->eu = hart->slot % topology->eus_per_subslice;
        fault->thread = hart->slot / topology->eus_per_subslice;
        /* From the engine's own books: the thread's block may have been overwritten. */
        for (const struct hart *member = hart->group->harts; member != hart; member = member->next)
            item++;
        for (uint32_t d = 0; d < 3; d++) {
            fault->local_id[d] = item % engine->launch->group_size[d];
            item /= engine->launch->group_size[d];
            fault->group_id[d] = hart->group->id[d];
        }
        write_message(subslice, fault);
        atomic_store(&engine->stop, true);
    }
    pthread_mutex_unlock(&engine->lock);
}

void zeta_vgpu_fault_stop(struct subslice *subslice, const struct hart *hart,
                          enum zeta_rv64_stop stop)
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
