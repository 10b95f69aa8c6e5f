/*
 * Expressions in GDB's bytecode: the conditions of breakpoints, which are evaluated here so that a
 * thread for which they are false goes on at once.
 *
 * An expression works on a stack of 64-bit values. Numbers in it have their high byte first; its
 * jumps go to offsets in it.
 * Source: the GDB manual, "The GDB Agent Expression Mechanism".
 */
#ifndef ZETA_GDBSERVER_PACKET_AGENT_H
#define ZETA_GDBSERVER_PACKET_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an expression asks about its thread. Each gives false where there is no such thing. */
struct zeta_gdb_agent_view {
    bool (*read_register)(void *user, uint32_t number, uint64_t *out_value); /**< GDB's number */
    bool (*read_memory)(void *user, uint64_t address, size_t size, void *out_bytes);
    void *user;
};

/**
 * Mends what GDB (13.1) gets wrong: it finds a variable on the stack by the frame's register, but
 * extends that from the size of the variable, so that nothing is left of the address. Such a
 * register, as the base of a reference, becomes all of itself again.
 */
void zeta_gdb_agent_mend(uint8_t *code, size_t size);

/**
 * Evaluates an expression: the value on top of its stack when it ends. Memory has its low byte
 * first. Tracing, printing, trace variables and floating-point numbers are not offered.
 * False, with *out_value unchanged, when the expression is malformed, divides by zero, uses what is
 * not offered, not there or more than 64 values deep, or does not end within 65536 operations.
 */
bool zeta_gdb_agent_evaluate(const uint8_t *code, size_t size,
                             const struct zeta_gdb_agent_view *view, uint64_t *out_value);

#endif
