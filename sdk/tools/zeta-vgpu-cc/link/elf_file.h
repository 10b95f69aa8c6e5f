/*
 * Reads what our own linker wrote. Bounds are checked all the same: a file that does not fit has
 * no such part.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_ELF_FILE_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
