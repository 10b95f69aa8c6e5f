#include "sdk/tools/zeta-gdbserver/process/process.h"

#include <string.h>

#define X_REGISTERS 31u
#define F_FIRST 33u
#define F_COUNT 32u

/* A register behind the general ones and the floating-point ones, or a part of one. */
struct more_register {
    const char *name;
    uint32_t set, index;
    uint32_t word; /* of 64 bits, in which it begins */
    uint32_t bytes, shift;
    uint64_t mask;
};

static const struct more_register more_registers[] = {
    {"fflags", ZETA_GDB_SET_FCSR, 0, 0, 4, 0, 0x1f},
    {"frm", ZETA_GDB_SET_FCSR, 0, 0, 4, 5, 0x7},
    {"fcsr", ZETA_GDB_SET_FCSR, 0, 0, 4, 0, 0xff},
    {"execmask", ZETA_GDB_SET_CE, 0, 0, 4, 0, UINT32_MAX},
    {"group_x", ZETA_GDB_SET_ID, 0, 0, 8, 0, UINT64_MAX},
    {"group_y", ZETA_GDB_SET_ID, 1, 0, 8, 0, UINT64_MAX},
    {"group_z", ZETA_GDB_SET_ID, 2, 0, 8, 0, UINT64_MAX},
    {"local_x", ZETA_GDB_SET_ID, 3, 0, 8, 0, UINT64_MAX},
    {"local_y", ZETA_GDB_SET_ID, 4, 0, 8, 0, UINT64_MAX},
    {"local_z", ZETA_GDB_SET_ID, 5, 0, 8, 0, UINT64_MAX},
    {"at_barrier", ZETA_GDB_SET_ID, 8, 0, 8, 0, UINT64_MAX},
    {"launch", ZETA_GDB_SET_ID, 9, 0, 8, 0, UINT64_MAX},
    {"cause", ZETA_GDB_SET_CR, 0, 0, 4, 32, UINT32_MAX},
    {"cause_address", ZETA_GDB_SET_CR, 0, 1, 8, 0, UINT64_MAX},
};
#define MORE_FIRST (F_FIRST + F_COUNT)
#define MORE_COUNT (sizeof(more_registers) / sizeof(more_registers[0]))
#define FLOAT_STATE_COUNT 3u

/* What GDB calls x0..x31, and f0..f31. */
static const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp",
                                      "s1",   "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
                                      "s2",   "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
                                      "s11",  "t3", "t4", "t5", "t6", "pc"};
static const char *const f_names[] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
                                      "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
                                      "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
                                      "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

bool zeta_gdb_has_set(const struct zeta_gdb_process *process, uint32_t set)
{
    for (uint32_t i = 0; i < process->set_count; i++)
        if (process->set_types[i] == set)
            return true;
    return false;
}

bool zeta_gdb_registers_read(struct zeta_gdb_process *process, uint32_t thread, uint32_t set,
                             uint32_t first, uint32_t count, void *out_values)
{
    return thread < process->thread_count &&
           zetDebugReadRegisters(process->session, zeta_gdb_thread_name(process, thread), set,
                                 first, count, out_values) == ZE_RESULT_SUCCESS;
}

bool zeta_gdb_registers_write(struct zeta_gdb_process *process, uint32_t thread, uint32_t set,
                              uint32_t first, uint32_t count, const void *values)
{
    return thread < process->thread_count &&
           zetDebugWriteRegisters(process->session, zeta_gdb_thread_name(process, thread), set,
                                  first, count, (void *)(uintptr_t)values) == ZE_RESULT_SUCCESS;
}

const uint64_t *zeta_gdb_thread_ids(struct zeta_gdb_process *process, uint32_t number)
{
    struct zeta_gdb_thread *const thread = &process->threads[number];

    if (!thread->has_ids)
        thread->has_ids =
            zeta_gdb_registers_read(process, number, ZETA_GDB_SET_ID, 0, 6, thread->ids);
    return thread->has_ids ? thread->ids : NULL;
}

/* Description ---------------------------------------------------------------------------------- */

static void describe(FILE *answer, const char *name, uint32_t bytes, const char *type,
                     const char *group, uint32_t number)
{
    (void)fprintf(answer,
                  "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\" group=\"%s\"/>", name,
                  bytes * 8, type, number, group);
}

static void describe_more(const struct zeta_gdb_process *process, FILE *answer, const char *group,
                          uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (zeta_gdb_has_set(process, more_registers[i].set))
            describe(answer, more_registers[i].name, more_registers[i].bytes, "int", group,
                     MORE_FIRST + i);
}

void zeta_gdb_description_write(const struct zeta_gdb_process *process, FILE *answer)
{
    /* Without an osabi GDB takes the target for Linux, and neither asks for libraries nor steps. */
    (void)fputs("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
                "<architecture>riscv:rv64</architecture><osabi>none</osabi>"
                "<feature name=\"org.gnu.gdb.riscv.cpu\">",
                answer);
    for (uint32_t i = 0; i < ZETA_GDB_GENERAL_REGISTERS; i++) {
        const bool is_data = (i >= 2 && i <= 4) || i == ZETA_GDB_REGISTER_FP;
        const bool is_code = i == 1 || i == ZETA_GDB_REGISTER_PC;

        describe(answer, x_names[i], 8,
                 is_data   ? "data_ptr"
                 : is_code ? "code_ptr"
                           : "int",
                 "general", i);
    }
    (void)fputs("</feature>", answer);
    if (zeta_gdb_has_set(process, ZETA_GDB_SET_F)) {
        (void)fputs("<feature name=\"org.gnu.gdb.riscv.fpu\">", answer);
        for (uint32_t i = 0; i < F_COUNT; i++)
            describe(answer, f_names[i], 8, "ieee_double", "float", F_FIRST + i);
        describe_more(process, answer, "float", 0, FLOAT_STATE_COUNT);
        (void)fputs("</feature>", answer);
    }
    (void)fputs("<feature name=\"org.zeta.vgpu.thread\">", answer);
    describe_more(process, answer, "vgpu", FLOAT_STATE_COUNT, MORE_COUNT);
    (void)fputs("</feature></target>", answer);
}

/* Registers by GDB's number -------------------------------------------------------------------- */

/* Where a register is kept; false when there is none of this number, or it is always 0. */
static bool find(const struct zeta_gdb_process *process, uint32_t number,
                 struct more_register *out_register)
{
    if (number > 0 && number <= X_REGISTERS)
        *out_register =
            (struct more_register){NULL, ZETA_GDB_SET_X, number - 1, 0, 8, 0, UINT64_MAX};
    else if (number == ZETA_GDB_REGISTER_PC)
        *out_register = (struct more_register){NULL, ZETA_GDB_SET_PC, 0, 0, 8, 0, UINT64_MAX};
    else if (number >= F_FIRST && number < MORE_FIRST)
        *out_register =
            (struct more_register){NULL, ZETA_GDB_SET_F, number - F_FIRST, 0, 8, 0, UINT64_MAX};
    else if (number >= MORE_FIRST && number - MORE_FIRST < MORE_COUNT)
        *out_register = more_registers[number - MORE_FIRST];
    else
        return false;
    return zeta_gdb_has_set(process, out_register->set);
}

uint32_t zeta_gdb_register_bytes(const struct zeta_gdb_process *process, uint32_t number)
{
    struct more_register where = {.bytes = 8};

    return number == 0 || find(process, number, &where) ? where.bytes : 0;
}

bool zeta_gdb_register_get(struct zeta_gdb_process *process, uint32_t thread, uint32_t number,
                           uint64_t *out_value)
{
    struct more_register where;
    uint64_t words[2] = {0};

    if (number == 0 || thread == ZETA_GDB_CONTROL_THREAD) {
        *out_value = 0;
        return zeta_gdb_register_bytes(process, number) > 0;
    }
    if (!find(process, number, &where) ||
        !zeta_gdb_registers_read(process, thread, where.set, where.index, 1, words))
        return false;
    *out_value = words[where.word] >> where.shift & where.mask;
    return true;
}

/* A thread that is put elsewhere does not pass the breakpoint register that it stopped at. */
static bool write_pc(struct zeta_gdb_process *process, uint32_t thread, uint64_t value)
{
    uint64_t before;
    uint32_t cr[4];

    if (!zeta_gdb_registers_read(process, thread, ZETA_GDB_SET_PC, 0, 1, &before) ||
        !zeta_gdb_registers_write(process, thread, ZETA_GDB_SET_PC, 0, 1, &value))
        return false;
    if (before == value || !zeta_gdb_registers_read(process, thread, ZETA_GDB_SET_CR, 0, 1, cr) ||
        (cr[0] & ZETA_GDB_CONTROL_SUPPRESS) == 0)
        return true;
    cr[0] &= ~ZETA_GDB_CONTROL_SUPPRESS;
    return zeta_gdb_registers_write(process, thread, ZETA_GDB_SET_CR, 0, 1, cr);
}

bool zeta_gdb_register_set(struct zeta_gdb_process *process, uint32_t thread, uint32_t number,
                           uint64_t value)
{
    struct more_register where;
    uint64_t words[2] = {0};

    if (number == 0)
        return thread < process->thread_count;
    if (number == ZETA_GDB_REGISTER_PC)
        return write_pc(process, thread, value);
    if (!find(process, number, &where) ||
        !zeta_gdb_registers_read(process, thread, where.set, where.index, 1, words))
        return false;
    words[where.word] = (words[where.word] & ~(where.mask << where.shift)) | (value & where.mask)
                                                                                 << where.shift;
    return zeta_gdb_registers_write(process, thread, where.set, where.index, 1, words);
}

bool zeta_gdb_general_get(struct zeta_gdb_process *process, uint32_t thread,
                          uint64_t out_values[ZETA_GDB_GENERAL_REGISTERS])
{
    memset(out_values, 0, ZETA_GDB_GENERAL_REGISTERS * sizeof(out_values[0]));
    return thread == ZETA_GDB_CONTROL_THREAD ||
           (zeta_gdb_registers_read(process, thread, ZETA_GDB_SET_X, 0, X_REGISTERS,
                                    out_values + 1) &&
            zeta_gdb_registers_read(process, thread, ZETA_GDB_SET_PC, 0, 1,
                                    out_values + ZETA_GDB_REGISTER_PC));
}

bool zeta_gdb_general_set(struct zeta_gdb_process *process, uint32_t thread,
                          const uint64_t values[ZETA_GDB_GENERAL_REGISTERS])
{
    return zeta_gdb_registers_write(process, thread, ZETA_GDB_SET_X, 0, X_REGISTERS, values + 1) &&
           write_pc(process, thread, values[ZETA_GDB_REGISTER_PC]);
}
