#ifndef ZETA_PLUGINS_VGPU_MACHINE_ELF_H
#define ZETA_PLUGINS_VGPU_MACHINE_ELF_H

/*
 * Reads RV64 ELF files. Nothing in a file is trusted: every offset, size, count and address is
 * checked against the file and the limits below before it is used, and all failures come with a
 * sentence: what is wrong, and where.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_vgpu_message;

enum {
    ZETA_VGPU_ELF_MAX_SEGMENTS = 16,
    ZETA_VGPU_ELF_MAX_SECTIONS = 4096,
    ZETA_VGPU_ELF_MAX_RELOCATIONS = 1 << 20,
    ZETA_VGPU_ELF_MAX_SYMBOLS = 1 << 20,
    ZETA_VGPU_ELF_MAX_TEXT_BYTES = 4 << 20,
    ZETA_VGPU_ELF_MAX_SLM_BYTES = 16 << 20,
    /** Most memory between the lowest and the highest loaded byte. */
    ZETA_VGPU_ELF_MAX_SPAN_BYTES = 256 << 20
};

/** A part of the image. Addresses are as in the file. */
struct zeta_vgpu_elf_segment {
    uint64_t address;
    uint64_t memory_bytes;
    uint64_t file_offset;
    uint64_t file_bytes;
    bool writable;
    bool executable;
};

/** A symbol table with its names; offsets are in the file. */
struct zeta_vgpu_elf_symbols {
    uint64_t offset;
    uint32_t count; /**< of entries; the first one is none */
    uint64_t names_offset, names_bytes;
};

/** One symbol: of a file, or of a loaded image with its address there. */
struct zeta_vgpu_symbol {
    const char *name; /**< terminated, in the file */
    uint64_t address;
    uint64_t size_bytes;
    bool defined;  /**< false: it is taken from another file */
    bool global;   /**< seen from other files, or wanted from them */
    bool weak;     /**< global, but gives way to one that is not weak, and may be missing */
    bool function; /**< code */
    bool object;   /**< data */
};

/** The content of a file, checked. */
struct zeta_vgpu_elf {
    const unsigned char *bytes; /**< the file; not owned */
    size_t size;
    bool movable; /**< ET_DYN: may be loaded at any page */
    struct zeta_vgpu_elf_segment segments[ZETA_VGPU_ELF_MAX_SEGMENTS];
    uint32_t segment_count;
    uint32_t text;                        /**< index of the executable segment */
    uint64_t low;                         /**< lowest loaded address, rounded down to a page */
    uint64_t high;                        /**< one past the highest, rounded up */
    uint64_t slm_begin;                   /**< window of shared local memory */
    uint32_t slm_bytes;                   /**< its static part */
    uint64_t info_begin;                  /**< address of the kernel table */
    uint64_t info_bytes;                  /**< 0: no kernels */
    struct zeta_vgpu_elf_symbols symbols; /**< all of them, for people and debuggers */
    struct zeta_vgpu_elf_symbols dynamic; /**< what is offered to other files and wanted of them */
};

/** Checks a file and describes what is in it; false with the reason in @out_message. */
bool zeta_vgpu_elf_parse(const void *bytes, size_t size, struct zeta_vgpu_elf *out_elf,
                         struct zeta_vgpu_message *out_message);

/**
 * Copies all segments to @memory, which holds zeroes and represents addresses low..high, and
 * relocates them to run at @base instead of low.
 */
bool zeta_vgpu_elf_load(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                        struct zeta_vgpu_message *out_message);

/** Writes addresses of symbols of other files: one per dynamic symbol; 0 leaves what is there. */
void zeta_vgpu_elf_bind(const struct zeta_vgpu_elf *elf, unsigned char *memory,
                        const uint64_t *addresses);

/** Reads a symbol below the table's count; false when it has no name or no place. */
bool zeta_vgpu_elf_symbol(const struct zeta_vgpu_elf *elf,
                          const struct zeta_vgpu_elf_symbols *table, uint32_t index,
                          struct zeta_vgpu_symbol *out_symbol);

#endif
