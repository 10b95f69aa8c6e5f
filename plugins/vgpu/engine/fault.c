#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine_priv.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

const char *zeta_vgpu_fault_reason_text(enum zeta_vgpu_fault_reason reason)
{
    static const char *const texts[ZETA_VGPU_FAULT_REASON_COUNT] = {
        [ZETA_VGPU_FAULT_NONE] = "no fault",
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

    return (unsigned)reason < ZETA_VGPU_FAULT_REASON_COUNT ? texts[reason] : "unknown fault";
}

/* An access outside the hart's stack but inside the memory of all stacks left its own one. */
static bool is_stack_overflow(const struct subslice *subslice, const struct hart *hart,
                              uint64_t address)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;
    uint64_t own = address - hart->stack_begin;

    return address - (uintptr_t)engine->stacks < engine->stacks_bytes &&
           own >= engine->config.topology.stack_bytes && address < hart->stack_begin;
}

enum zeta_vgpu_fault_reason zeta_vgpu_fault_reason_of(const struct subslice *subslice,
                                                      const struct hart *hart,
                                                      enum zeta_rv64_stop stop, uint64_t address)
{
    switch (stop) {
    case ZETA_RV64_STOP_EBREAK:
        return ZETA_VGPU_FAULT_BREAKPOINT;
    case ZETA_RV64_STOP_READ:
        return is_stack_overflow(subslice, hart, address) ? ZETA_VGPU_FAULT_STACK_OVERFLOW
                                                          : ZETA_VGPU_FAULT_READ;
    case ZETA_RV64_STOP_WRITE:
        return is_stack_overflow(subslice, hart, address) ? ZETA_VGPU_FAULT_STACK_OVERFLOW
                                                          : ZETA_VGPU_FAULT_WRITE;
    case ZETA_RV64_STOP_FETCH:
        return ZETA_VGPU_FAULT_FETCH;
    case ZETA_RV64_STOP_MISALIGNED_JUMP:
        return ZETA_VGPU_FAULT_MISALIGNED_JUMP;
    case ZETA_RV64_STOP_MISALIGNED_ATOMIC:
        return ZETA_VGPU_FAULT_MISALIGNED_ATOMIC;
    default:
        return ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION;
    }
}

/* The instruction at the fault, as a word and in words. */
static void describe_instruction(const struct zeta_rv64_code *code, uint64_t pc, char *out,
                                 size_t size)
{
    uint32_t word;
    char text[80];

    out[0] = '\0';
    if (!zeta_rv64_code_holds(code, pc))
        return;
    memcpy(&word, (const void *)(uintptr_t)pc, sizeof(word));
    zeta_rv64_disassemble(word, pc, text, sizeof(text));
    (void)snprintf(out, size, " (%08" PRIx32 ": %s)", word, text);
}

/* Text of the kernel's own for an abort, when it gave a readable one. */
static const char *abort_text(const struct subslice *subslice, uint64_t address)
{
    for (uint64_t length = 1; address && length <= 128; length++) {
        const char *text = zeta_rv64_memory_peek(&subslice->memory, address, length);

        if (!text)
            return NULL;
        if (text[length - 1] == '\0')
            return text;
    }
    return NULL;
}

static void write_message(const struct subslice *subslice, struct zeta_vgpu_fault *fault)
{
    const struct zeta_vgpu_launch *launch = subslice->engine->launch;
    const char *text =
        fault->reason == ZETA_VGPU_FAULT_ABORT ? abort_text(subslice, fault->address) : NULL;
    char instruction[112];
    char address[48] = "";

    describe_instruction(subslice->context.code, fault->pc, instruction, sizeof(instruction));
    if (fault->reason != ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION &&
        fault->reason != ZETA_VGPU_FAULT_BREAKPOINT && fault->reason != ZETA_VGPU_FAULT_ABORT)
        (void)snprintf(address, sizeof(address), " at %s0x%" PRIx64,
                       fault->reason == ZETA_VGPU_FAULT_UNKNOWN_CALL ? "number " : "address ",
                       fault->address);
    (void)snprintf(fault->message.text, sizeof(fault->message.text),
                   "kernel %s: %s%s%s%s, pc 0x%" PRIx64 "%s, thread %u.%u.%u.%u.%u "
                   "(tile.slice.subslice.eu.thread), group (%u, %u, %u), local id (%u, %u, %u)",
                   launch->kernel->name, zeta_vgpu_fault_reason_text(fault->reason),
                   text ? ": " : "", text ? text : "", address, fault->pc, instruction,
                   subslice->engine->config.topology.tile, fault->slice, fault->subslice, fault->eu,
                   fault->thread, fault->group_id[0], fault->group_id[1], fault->group_id[2],
                   fault->local_id[0], fault->local_id[1], fault->local_id[2]);
}

static void locate(const struct subslice *subslice, const struct hart *hart,
                   struct zeta_vgpu_fault *fault)
{
    const struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_topology *topology = &engine->config.topology;
    const struct hart *member = hart->group->harts;
    uint32_t item = 0;

    fault->slice = subslice->index / topology->subslices_per_slice;
    fault->subslice = subslice->index % topology->subslices_per_slice;
    fault->eu = hart->slot % topology->eus_per_subslice;
    fault->thread = hart->slot / topology->eus_per_subslice;
    /* From the engine's own books: the thread's block may have been overwritten. */
    while (member != hart) {
        member = member->next;
        item++;
    }
    for (uint32_t d = 0; d < 3; d++) {
        fault->local_id[d] = item % engine->launch->group_size[d];
        item /= engine->launch->group_size[d];
        fault->group_id[d] = hart->group->id[d];
    }
}

void zeta_vgpu_fault_raise(struct subslice *subslice, const struct hart *hart,
                           enum zeta_vgpu_fault_reason reason, uint64_t pc, uint64_t address)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    struct zeta_vgpu_fault *fault = engine->fault;

    pthread_mutex_lock(&engine->lock);
    if (fault->reason == ZETA_VGPU_FAULT_NONE) {
        fault->reason = reason;
        fault->pc = pc;
        fault->address = address;
        locate(subslice, hart, fault);
        write_message(subslice, fault);
        atomic_store(&engine->stop, true);
    }
    pthread_mutex_unlock(&engine->lock);
}
