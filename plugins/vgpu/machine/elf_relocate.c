#include "elf.h"

/*
 * Relocations: addresses in the image that depend on where it was loaded, and on where others were.
 */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "message.h"

enum {
    RELOCATION_64 = 2, /* R_RISCV_64 and so on */
    RELOCATION_RELATIVE = 3,
    RELOCATION_JUMP_SLOT = 5
};

/* A table of Elf64_Rela; address as in the file. */
struct table {
    uint64_t address;
    uint64_t bytes;
};

/* Relocations, from the dynamic section. */
struct dynamic {
    struct table tables[2]; /* of data, of calls */
};

/* Offset in the loaded image of [address, address + bytes), which must lie in one segment. */
static const struct zeta_vgpu_segment *segment_of(const struct zeta_vgpu_elf *elf, uint64_t address,
                                                  uint64_t bytes, uint64_t *out_offset)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct zeta_vgpu_segment *segment = &elf->segments[i];

        if (address >= segment->address && address - segment->address <= segment->memory_bytes &&
            bytes <= segment->memory_bytes - (address - segment->address)) {
            *out_offset = address - elf->low;
            return segment;
        }
    }
    return NULL;
}

static bool read_entry(const Elf64_Dyn *entry, struct dynamic *out_dynamic,
                       struct zeta_vgpu_message *message)
{
    switch (entry->d_tag) {
    case DT_NEEDED:
        return zeta_vgpu_reject(message,
                                "the file needs a shared library; link kernels statically");
    case DT_RELA:
        out_dynamic->tables[0].address = entry->d_un.d_ptr;
        return true;
    case DT_RELASZ:
        out_dynamic->tables[0].bytes = entry->d_un.d_val;
        return true;
    case DT_JMPREL:
        out_dynamic->tables[1].address = entry->d_un.d_ptr;
        return true;
    case DT_PLTRELSZ:
        out_dynamic->tables[1].bytes = entry->d_un.d_val;
        return true;
    default:
        return true;
    }
}

static bool read_dynamic(const struct zeta_vgpu_elf *elf, struct dynamic *out_dynamic,
                         struct zeta_vgpu_message *message)
{
    Elf64_Ehdr header;

    memcpy(&header, elf->bytes, sizeof(header));
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr program;

        memcpy(&program, elf->bytes + header.e_phoff + i * sizeof(program), sizeof(program));
        if (program.p_type != PT_DYNAMIC)
            continue;
        if (!zeta_vgpu_elf_in_file(elf, program.p_offset, program.p_filesz))
            return zeta_vgpu_reject(
                message, "the dynamic section at offset 0x%" PRIx64 " reaches beyond the file",
                program.p_offset);
        for (uint64_t at = 0; program.p_filesz - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;

            memcpy(&entry, elf->bytes + program.p_offset + at, sizeof(entry));
            if (entry.d_tag == DT_NULL)
                break;
            if (!read_entry(&entry, out_dynamic, message))
                return false;
        }
    }
    return true;
}

/* The symbol of a relocation. */
static bool read_symbol(const struct zeta_vgpu_elf *elf, uint32_t index,
                        struct zeta_vgpu_elf_symbol *out_symbol, struct zeta_vgpu_message *message)
{
    if (index >= elf->dynamic.count)
        return zeta_vgpu_reject(message,
                                "a relocation names symbol %u, the file has %u dynamic symbols",
                                index, elf->dynamic.count);
    if (!zeta_vgpu_elf_symbol(elf, &elf->dynamic, index, out_symbol))
        return zeta_vgpu_reject(
            message, "a relocation names symbol %u, which has no name or no place", index);
    return true;
}

static bool relocate_one(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t bias,
                         const Elf64_Rela *relocation, struct zeta_vgpu_message *message)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    uint64_t value = bias + (uint64_t)relocation->r_addend;
    const struct zeta_vgpu_segment *segment;
    struct zeta_vgpu_elf_symbol symbol = {0};
    uint64_t offset;

    segment = segment_of(elf, relocation->r_offset, sizeof(value), &offset);
    if (!segment)
        return zeta_vgpu_reject(message, "a relocation at 0x%" PRIx64 " is outside the image",
                                relocation->r_offset);
    if (type == RELOCATION_64 || type == RELOCATION_JUMP_SLOT) {
        if (!read_symbol(elf, (uint32_t)ELF64_R_SYM(relocation->r_info), &symbol, message))
            return false;
        if (!symbol.defined && segment->executable)
            return zeta_vgpu_reject(message,
                                    "code at 0x%" PRIx64
                                    " refers to \"%.200s\" of another file: build it with -fPIC",
                                    relocation->r_offset, symbol.name);
        value = symbol.defined ? value + symbol.address : 0;
    } else if (type != RELOCATION_RELATIVE) {
        return zeta_vgpu_reject(message, "relocation type %u at 0x%" PRIx64 " is not supported",
                                type, relocation->r_offset);
    }
    memcpy(memory + offset, &value, sizeof(value));
    return true;
}

static bool check_table(const struct zeta_vgpu_elf *elf, const struct table *table,
                        uint64_t *out_offset, struct zeta_vgpu_message *message)
{
    uint64_t count = table->bytes / sizeof(Elf64_Rela);

    if (count > ZETA_VGPU_ELF_MAX_RELOCATIONS || table->address >= ZETA_VGPU_ELF_ADDRESS_LIMIT ||
        !segment_of(elf, table->address, table->bytes, out_offset))
        return zeta_vgpu_reject(message,
                                "%" PRIu64 " relocations at 0x%" PRIx64 " are not in the image",
                                count, table->address);
    return true;
}

bool zeta_vgpu_elf_relocate(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                            struct zeta_vgpu_message *message)
{
    struct dynamic dynamic = {0};

    if (!read_dynamic(elf, &dynamic, message))
        return false;
    for (unsigned t = 0; t < 2; t++) {
        const struct table *table = &dynamic.tables[t];
        uint64_t begin = 0;

        if (table->bytes < sizeof(Elf64_Rela))
            continue;
        if (!check_table(elf, table, &begin, message))
            return false;
        for (uint64_t i = 0; i < table->bytes / sizeof(Elf64_Rela); i++) {
            Elf64_Rela relocation;

            memcpy(&relocation, memory + begin + i * sizeof(relocation), sizeof(relocation));
            if (!relocate_one(elf, memory, base - elf->low, &relocation, message))
                return false;
        }
    }
    return true;
}

/* Checked when it was relocated; relocations and symbols are in the file, which nobody changes. */
static void bind_one(const struct zeta_vgpu_elf *elf, unsigned char *memory,
                     const Elf64_Rela *relocation, const uint64_t *addresses)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
    uint64_t offset;
    uint64_t value;

    if ((type != RELOCATION_64 && type != RELOCATION_JUMP_SLOT) || index >= elf->dynamic.count ||
        addresses[index] == 0)
        return;
    value = addresses[index] + (uint64_t)relocation->r_addend;
    if (segment_of(elf, relocation->r_offset, sizeof(value), &offset))
        memcpy(memory + offset, &value, sizeof(value));
}

void zeta_vgpu_elf_bind(const struct zeta_vgpu_elf *elf, unsigned char *memory,
                        const uint64_t *addresses)
{
    struct dynamic dynamic = {0};

    if (!read_dynamic(elf, &dynamic, NULL))
        return;
    for (unsigned t = 0; t < 2; t++) {
        const struct table *table = &dynamic.tables[t];
        uint64_t begin = 0;

        if (table->bytes < sizeof(Elf64_Rela) || !check_table(elf, table, &begin, NULL))
            continue;
        for (uint64_t i = 0; i < table->bytes / sizeof(Elf64_Rela); i++) {
            Elf64_Rela relocation;

            memcpy(&relocation, memory + begin + i * sizeof(relocation), sizeof(relocation));
            bind_one(elf, memory, &relocation, addresses);
        }
    }
}
