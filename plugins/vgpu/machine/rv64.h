#ifndef ZETA_PLUGINS_VGPU_MACHINE_RV64_H
#define ZETA_PLUGINS_VGPU_MACHINE_RV64_H

/*
 * RV64IMAFD without compressed instructions: predecoded code, one hart's state, and the
 * interpreter that runs a hart for a slice of instructions.
 *
 * Counting: the decoder stores with every instruction the sums over itself and all that follow
 * up to the end of its basic block. The interpreter adds such a sum once when it enters a block
 * and takes the rest back when a fault leaves it early, so exact counters cost two additions per
 * block and nothing per instruction.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rv64_memory.h"
#include "rv64_ops.h"

/** Most instructions of a block; longer ones are split so that 16 bits suffice. */
#define ZETA_RV64_BLOCK_LIMIT 256u

/** Largest slice, for the same reason: the sums of a run stay below 2^15. */
#define ZETA_RV64_SLICE_LIMIT 1024u

/** Decoded text of an image. */
struct zeta_rv64_code {
    uint64_t begin; /**< address of the first instruction, multiple of 4 */
    uint32_t count;
    struct zeta_rv64_insn *insns; /**< count + 1: the last one is RV64_OP_END */
};

/** Why a run came back. */
enum zeta_rv64_stop {
    ZETA_RV64_STOP_SLICE,  /**< slice used up; pc is the next instruction */
    ZETA_RV64_STOP_ECALL,  /**< pc is behind the ecall */
    ZETA_RV64_STOP_RETURN, /**< jump to the address that ends the hart */
    ZETA_RV64_STOP_LEFT,   /**< jumped to code elsewhere; pc is there */
    ZETA_RV64_STOP_EBREAK, /**< pc is at the instruction, as for all below */
    ZETA_RV64_STOP_ILLEGAL,
    ZETA_RV64_STOP_READ,
    ZETA_RV64_STOP_WRITE,
    ZETA_RV64_STOP_FETCH,
    ZETA_RV64_STOP_MISALIGNED_JUMP,
    ZETA_RV64_STOP_MISALIGNED_ATOMIC
};

/** A jump to this address ends the hart; no image is ever loaded there. */
#define ZETA_RV64_RETURN_ADDRESS 8u

/** Exact counts of a run. Bytes and accesses are in the memory part. */
struct zeta_rv64_counts {
    uint32_t retired, integer, fp32, fp64;
    uint32_t flops, branches, memory, latency;
    uint32_t taken, calls, atomics, math;
    uint32_t instruction_misses;
};

/** What a run works on; the caller fills it once and the memory part per hart. */
struct zeta_rv64_context {
    const struct zeta_rv64_code *code;
    struct zeta_rv64_memory *memory;
    struct zeta_vgpu_icache *icache;
    uint32_t icache_first; /**< number of the code's first instruction there; whole lines */
    struct zeta_rv64_counts counts; /**< of the last run */
    uint64_t stop_address;          /**< of a fault: access or jump target */
};

/** Decodes @count instruction words at address @begin; false when memory is short. */
bool zeta_rv64_code_create(struct zeta_rv64_code *out_code, uint64_t begin, const void *words,
                           uint32_t count);

void zeta_rv64_code_finish(struct zeta_rv64_code *code);

/**
 * Decodes instructions first..first + count - 1 again from @words (of the whole text), but those at
 * the addresses of @breaks as an ebreak, whatever their words are.
 */
void zeta_rv64_code_update(struct zeta_rv64_code *code, const void *words, uint32_t first,
                           uint32_t count, const uint64_t *breaks, uint32_t break_count);

/**
 * Makes code, in @insns, of the one instruction at @index, or of @word in its place. Its run ends
 * behind it when it is given a slice of 1; a jump from it leaves the code.
 * @word  NULL: the instruction as it was decoded
 */
void zeta_rv64_code_single(const struct zeta_rv64_code *code, uint32_t index, const uint32_t *word,
                           struct zeta_rv64_insn insns[2], struct zeta_rv64_code *out_code);

/** True when the instruction at @index is the last of its basic block. */
static inline bool zeta_rv64_ends_block(const struct zeta_rv64_code *code, uint32_t index)
{
    return (uint16_t)code->insns[index].low <= 1;
}

/** True when @address is that of an instruction. */
bool zeta_rv64_code_holds(const struct zeta_rv64_code *code, uint64_t address);

/**
 * The registers that an instruction word names as operands: bit n is xn, bit 32 + n is fn. Bit 0 is
 * set where x0 is named. All bits for a word that is no instruction.
 */
uint64_t zeta_rv64_registers(uint32_t word);

/** Writes the assembler text of an instruction word, such as "addi a0, a0, -1", or "unknown". */
void zeta_rv64_disassemble(uint32_t word, uint64_t address, char *out_text, size_t size);

/**
 * Runs a hart until something ends it, or to the first block boundary after @slice instructions
 * (1..SLICE_LIMIT), so a run may be up to ZETA_RV64_BLOCK_LIMIT instructions longer.
 */
enum zeta_rv64_stop zeta_rv64_run(struct zeta_rv64_hart *hart, struct zeta_rv64_context *context,
                                  uint32_t slice);

#endif
