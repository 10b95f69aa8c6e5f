/*
 * From an object file to a kernel file.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_LINK_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/tools/zeta-vgpu-cc/front_end/front_end.h"
#include "sdk/tools/zeta-vgpu-cc/program/program.h"

/**
 * Links the object of a program with the rest of the runtime library, and writes how much private
 * memory its kernels need into their records.
 */
enum vgpu_compile_status zeta_cc_link(const struct zeta_cc_program *program,
                                      const struct zeta_cc_paths *paths,
                                      const struct zeta_cc_buffer *object,
                                      struct zeta_cc_buffer *out_elf);

/*
 * How much memory kernels need: private, which is the frames of the deepest chain of calls, and
 * shared local. Both are known too late to be written by LLVM.
 */

/**
 * Writes the needs into the records of a linked program's kernels. Private memory stays 0, unknown,
 * for a kernel that calls through pointers, into other modules or recursively.
 *
 * Frames come from section .stack_sizes, calls from the program as it was emitted.
 */
void zeta_cc_needs_write(const struct zeta_cc_program *program, struct zeta_cc_buffer *elf);

/*
 * Reads what our own linker wrote. Bounds are checked all the same: a file that does not fit has
 * no such part.
 */

/** A section in a file. */
struct zeta_cc_elf_section {
    size_t offset; /**< in the file */
    size_t size;
    uint64_t address;
};

/** The symbol table of a file. */
struct zeta_cc_elf_symbols {
    const char *entries;
    size_t count;
    const char *names;
    size_t names_size;
};

/** One symbol. */
struct zeta_cc_elf_symbol {
    const char *name; /**< terminated; empty when it has none */
    uint64_t address;
    bool is_defined;
    bool is_function;
};

/** Finds a section by name; false when there is none with bytes in the file. */
bool zeta_cc_elf_section(const char *bytes, size_t size, const char *name,
                         struct zeta_cc_elf_section *out_section);

/** Finds the symbol table; false when there is none. */
bool zeta_cc_elf_symbols(const char *bytes, size_t size, struct zeta_cc_elf_symbols *out_symbols);

/** The symbol at @index, below the count. */
struct zeta_cc_elf_symbol zeta_cc_elf_symbol(const struct zeta_cc_elf_symbols *symbols,
                                             size_t index);

#endif
