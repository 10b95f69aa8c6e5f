/*
 * Runs instruction vectors on whatever executes this program: reads struct vector from standard
 * input, executes each instruction with the given registers, writes the registers afterwards.
 *
 * The code page is made here: it loads all registers from the vector in x31, executes the
 * instruction at VECTOR_PC, and stores them again.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "vector.h"

enum {
    REGISTER_SP = 2,
    REGISTER_RA = 1,
    REGISTER_T0 = 5,
    REGISTER_BASE = 31,
    OPCODE_LOAD = 0x03,
    OPCODE_LOAD_FP = 0x07,
    OPCODE_STORE = 0x23,
    OPCODE_STORE_FP = 0x27
};

/* Saves what a function must keep, and jumps to the code page; vector_leave comes back. */
void vector_enter(struct vector *vector, uint64_t code);
void vector_leave(void);

__asm__(".text\n"
        ".globl vector_enter\n"
        "vector_enter:\n"
        "  addi sp, sp, -256\n"
        "  sd ra, 0(sp)\n  sd gp, 8(sp)\n  sd tp, 16(sp)\n"
        "  sd s0, 24(sp)\n  sd s1, 32(sp)\n  sd s2, 40(sp)\n  sd s3, 48(sp)\n"
        "  sd s4, 56(sp)\n  sd s5, 64(sp)\n  sd s6, 72(sp)\n  sd s7, 80(sp)\n"
        "  sd s8, 88(sp)\n  sd s9, 96(sp)\n  sd s10, 104(sp)\n  sd s11, 112(sp)\n"
        "  fsd fs0, 120(sp)\n  fsd fs1, 128(sp)\n  fsd fs2, 136(sp)\n  fsd fs3, 144(sp)\n"
        "  fsd fs4, 152(sp)\n  fsd fs5, 160(sp)\n  fsd fs6, 168(sp)\n  fsd fs7, 176(sp)\n"
        "  fsd fs8, 184(sp)\n  fsd fs9, 192(sp)\n  fsd fs10, 200(sp)\n  fsd fs11, 208(sp)\n"
        "  la t0, vector_leave\n  sd t0, 216(sp)\n"
        "  sd sp, 520(a0)\n"
        "  mv t6, a0\n"
        "  jr a1\n"
        ".globl vector_leave\n"
        "vector_leave:\n"
        "  ld ra, 0(sp)\n  ld gp, 8(sp)\n  ld tp, 16(sp)\n"
        "  ld s0, 24(sp)\n  ld s1, 32(sp)\n  ld s2, 40(sp)\n  ld s3, 48(sp)\n"
        "  ld s4, 56(sp)\n  ld s5, 64(sp)\n  ld s6, 72(sp)\n  ld s7, 80(sp)\n"
        "  ld s8, 88(sp)\n  ld s9, 96(sp)\n  ld s10, 104(sp)\n  ld s11, 112(sp)\n"
        "  fld fs0, 120(sp)\n  fld fs1, 128(sp)\n  fld fs2, 136(sp)\n  fld fs3, 144(sp)\n"
        "  fld fs4, 152(sp)\n  fld fs5, 160(sp)\n  fld fs6, 168(sp)\n  fld fs7, 176(sp)\n"
        "  fld fs8, 184(sp)\n  fld fs9, 192(sp)\n  fld fs10, 200(sp)\n  fld fs11, 208(sp)\n"
        "  addi sp, sp, 256\n"
        "  fscsr x0\n"
        "  ret\n");

_Static_assert(offsetof(struct vector, saved_sp) == 520, "known to vector_enter");

static uint32_t load(uint32_t opcode, uint32_t rd, uint32_t base, uint32_t offset)
{
    return offset << 20 | base << 15 | 3u << 12 | rd << 7 | opcode;
}

static uint32_t store(uint32_t opcode, uint32_t rs, uint32_t base, uint32_t offset)
{
    return offset >> 5 << 25 | rs << 20 | base << 15 | 3u << 12 | (offset & 31) << 7 | opcode;
}

/* Everything of the page but the instruction itself. */
static void make_page(uint32_t *code)
{
    const uint32_t fcsr = offsetof(struct vector, fcsr);
    const uint32_t middle = (VECTOR_PC - VECTOR_CODE) / 4;
    uint32_t at = 0;

    code[at++] = load(OPCODE_LOAD, REGISTER_T0, REGISTER_BASE, fcsr);
    code[at++] = 0x00329073; /* csrw fcsr, t0 */
    for (uint32_t i = 0; i < 32; i++)
        code[at++] = load(OPCODE_LOAD_FP, i, REGISTER_BASE, offsetof(struct vector, f) + i * 8);
    for (uint32_t i = 1; i < VECTOR_REGISTERS; i++)
        code[at++] = load(OPCODE_LOAD, i, REGISTER_BASE, i * 8);
    while (at < middle)
        code[at++] = 0x00000013; /* nop */
    at++;
    code[at++] = 0x001f0f13; /* addi x30, x30, 1 */
    for (uint32_t i = 1; i < VECTOR_REGISTERS; i++)
        code[at++] = store(OPCODE_STORE, i, REGISTER_BASE, i * 8);
    for (uint32_t i = 0; i < 32; i++)
        code[at++] = store(OPCODE_STORE_FP, i, REGISTER_BASE, offsetof(struct vector, f) + i * 8);
    code[at++] = 0x003022f3; /* csrr t0, fcsr */
    code[at++] = store(OPCODE_STORE, REGISTER_T0, REGISTER_BASE, fcsr);
    code[at++] = load(OPCODE_LOAD, REGISTER_SP, REGISTER_BASE, offsetof(struct vector, saved_sp));
    code[at++] = load(OPCODE_LOAD, REGISTER_RA, REGISTER_SP, 216);
    code[at++] = 0x00008067; /* ret */
}

static void *map_at(uint64_t address, int protection)
{
    void *memory = mmap((void *)address, VECTOR_PAGE_BYTES, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

int main(void)
{
    uint32_t *code = map_at(VECTOR_CODE, PROT_READ | PROT_WRITE | PROT_EXEC);
    uint8_t *scratch = map_at(VECTOR_SCRATCH, PROT_READ | PROT_WRITE);
    struct vector vector;

    if (!code || !scratch)
        return 1;
    make_page(code);
    while (fread(&vector, sizeof(vector), 1, stdin) == 1) {
        uint8_t *memory = scratch + 2048 - VECTOR_MEMORY_BYTES / 2;

        code[(VECTOR_PC - VECTOR_CODE) / 4] = vector.word;
        __asm__ volatile("fence.i" : : : "memory");
        memcpy(memory, vector.memory, sizeof(vector.memory));
        vector_enter(&vector, VECTOR_CODE);
        memcpy(vector.memory, memory, sizeof(vector.memory));
        if (fwrite(&vector, sizeof(vector), 1, stdout) != 1)
            return 1;
    }
    return 0;
}
