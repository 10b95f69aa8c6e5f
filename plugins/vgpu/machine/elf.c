#include "elf.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "message.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

/* No real image lies beyond; sums of two such numbers never wrap. */
#define ADDRESS_LIMIT (UINT64_C(1) << 47)

enum {
    PAGE_BYTES = 4096,
    LOWEST_FIXED_ADDRESS = 0x10000, /* keeps null pointers, and the address of return, invalid */
    FLAG_COMPRESSED = 1,            /* EF_RISCV_RVC */
    RELOCATION_64 = 2,              /* R_RISCV_64 and so on */
    RELOCATION_RELATIVE = 3,
    RELOCATION_JUMP_SLOT = 5
};

/* True when the file has all of these bytes. */
static bool in_file(const struct zeta_vgpu_elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

static bool read_header(struct zeta_vgpu_elf *elf, Elf64_Ehdr *header,
                        struct zeta_vgpu_message *message)
{
    const unsigned char *ident = elf->bytes;

    if (elf->size < sizeof(Elf64_Ehdr))
        return zeta_vgpu_reject(message,
                                "not an ELF file: %zu bytes are less than an ELF header (%zu)",
                                elf->size, sizeof(Elf64_Ehdr));
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return zeta_vgpu_reject(message, "not an ELF file: it begins with %02x %02x %02x %02x",
                                ident[0], ident[1], ident[2], ident[3]);
    if (ident[EI_CLASS] != ELFCLASS64)
        return zeta_vgpu_reject(message, "ELF class %u at byte 4, only 64-bit files can be loaded",
                                ident[EI_CLASS]);
    if (ident[EI_DATA] != ELFDATA2LSB)
        return zeta_vgpu_reject(message,
                                "ELF byte order %u at byte 5, only little endian can be loaded",
                                ident[EI_DATA]);
    memcpy(header, elf->bytes, sizeof(*header));
    if (header->e_machine != EM_RISCV)
        return zeta_vgpu_reject(message, "ELF machine %u, expected %u (RISC-V)", header->e_machine,
                                EM_RISCV);
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return zeta_vgpu_reject(
            message,
            "ELF type %u, expected an executable (2) or a position-independent one (3): "
            "link the object first",
            header->e_type);
    if (header->e_flags & FLAG_COMPRESSED)
        return zeta_vgpu_reject(message,
                                "the file uses compressed instructions (flags 0x%x): build with "
                                "-march=rv64imafd",
                                header->e_flags);
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0)
        return zeta_vgpu_reject(message,
                                "%u program headers of %u bytes, expected at least one of %zu",
                                header->e_phnum, header->e_phentsize, sizeof(Elf64_Phdr));
    if (!in_file(elf, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return zeta_vgpu_reject(
            message, "%u program headers at offset 0x%" PRIx64 " reach beyond the file (%zu bytes)",
            header->e_phnum, header->e_phoff, elf->size);
    if (header->e_shnum > ZETA_VGPU_ELF_MAX_SECTIONS)
        return zeta_vgpu_reject(message, "%u sections, at most %d are allowed", header->e_shnum,
                                ZETA_VGPU_ELF_MAX_SECTIONS);
    if (header->e_shnum &&
        (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum ||
         !in_file(elf, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr))))
        return zeta_vgpu_reject(message,
                                "%u section headers of %u bytes at offset 0x%" PRIx64
                                " do not fit the file (%zu bytes)",
                                header->e_shnum, header->e_shentsize, header->e_shoff, elf->size);
    elf->movable = header->e_type == ET_DYN;
    return true;
}

static Elf64_Shdr section_header(const struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                                 uint32_t index)
{
    Elf64_Shdr section;

    memcpy(&section, elf->bytes + header->e_shoff + index * sizeof(section), sizeof(section));
    return section;
}

static Elf64_Phdr program_header(const struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                                 uint32_t index)
{
    Elf64_Phdr program;

    memcpy(&program, elf->bytes + header->e_phoff + index * sizeof(program), sizeof(program));
    return program;
}

static bool read_segments(struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                          struct zeta_vgpu_message *message)
{
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr program = program_header(elf, header, i);

        if (program.p_type != PT_LOAD || program.p_memsz == 0)
            continue;
        /* Shared local memory has addresses but no memory of the image. */
        if (elf->slm_bytes > 0 && program.p_filesz == 0 && program.p_vaddr >= elf->slm_begin &&
            program.p_vaddr < elf->slm_begin + elf->slm_bytes &&
            program.p_memsz <= elf->slm_begin + elf->slm_bytes - program.p_vaddr)
            continue;
        if (program.p_filesz > program.p_memsz)
            return zeta_vgpu_reject(message,
                                    "segment %u: %" PRIu64
                                    " bytes in the file are more than %" PRIu64 " in memory",
                                    i, program.p_filesz, program.p_memsz);
        if (!in_file(elf, program.p_offset, program.p_filesz))
            return zeta_vgpu_reject(message,
                                    "segment %u: %" PRIu64 " bytes at offset 0x%" PRIx64
                                    " reach beyond the file (%zu bytes)",
                                    i, program.p_filesz, program.p_offset, elf->size);
        if (program.p_vaddr >= ADDRESS_LIMIT || program.p_memsz >= ADDRESS_LIMIT)
            return zeta_vgpu_reject(message,
                                    "segment %u: address 0x%" PRIx64 " and size 0x%" PRIx64
                                    " are beyond any usable address",
                                    i, program.p_vaddr, program.p_memsz);
        if ((program.p_flags & PF_W) && (program.p_flags & PF_X))
            return zeta_vgpu_reject(
                message, "segment %u is writable and executable; code cannot be written", i);
        if (elf->segment_count == ZETA_VGPU_ELF_MAX_SEGMENTS)
            return zeta_vgpu_reject(message, "more than %d segments to load",
                                    ZETA_VGPU_ELF_MAX_SEGMENTS);
        for (uint32_t k = 0; k < elf->segment_count; k++) {
            const struct zeta_vgpu_elf_segment *other = &elf->segments[k];

            if (program.p_vaddr < other->address + other->memory_bytes &&
                other->address < program.p_vaddr + program.p_memsz)
                return zeta_vgpu_reject(
                    message, "segment %u at 0x%" PRIx64 " overlaps the one at 0x%" PRIx64, i,
                    program.p_vaddr, other->address);
        }
        elf->segments[elf->segment_count++] = (struct zeta_vgpu_elf_segment){
            .address = program.p_vaddr,
            .memory_bytes = program.p_memsz,
            .file_offset = program.p_offset,
            .file_bytes = program.p_filesz,
            .writable = (program.p_flags & PF_W) != 0,
            .executable = (program.p_flags & PF_X) != 0,
        };
    }
    return true;
}

/* Bounds of the image, the one segment with code, the window of local memory, the records. */
static bool check_layout(struct zeta_vgpu_elf *elf, struct zeta_vgpu_message *message)
{
    uint32_t executable = 0;

    if (elf->segment_count == 0)
        return zeta_vgpu_reject(message, "no segment to load");
    elf->low = UINT64_MAX;
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct zeta_vgpu_elf_segment *segment = &elf->segments[i];

        if (segment->address < elf->low)
            elf->low = segment->address;
        if (segment->address + segment->memory_bytes > elf->high)
            elf->high = segment->address + segment->memory_bytes;
        if (segment->executable) {
            executable++;
            elf->text = i;
        }
    }
    elf->low &= ~(uint64_t)(PAGE_BYTES - 1);
    elf->high = (elf->high + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    if (elf->high - elf->low > ZETA_VGPU_ELF_MAX_SPAN_BYTES)
        return zeta_vgpu_reject(
            message, "segments span 0x%" PRIx64 " bytes from 0x%" PRIx64 ", at most 0x%x fit",
            elf->high - elf->low, elf->low, ZETA_VGPU_ELF_MAX_SPAN_BYTES);
    if (!elf->movable && elf->low < LOWEST_FIXED_ADDRESS)
        return zeta_vgpu_reject(
            message,
            "the load address of the file is 0x%" PRIx64
            ", addresses below 0x%x are never used: link it position-independent (-pie)",
            elf->low, LOWEST_FIXED_ADDRESS);
    if (executable != 1)
        return zeta_vgpu_reject(message, "%u executable segments, expected exactly one",
                                executable);
    if (elf->segments[elf->text].address % 4 != 0)
        return zeta_vgpu_reject(message, "code at 0x%" PRIx64 ", which is not a multiple of 4",
                                elf->segments[elf->text].address);
    if (elf->segments[elf->text].memory_bytes > ZETA_VGPU_ELF_MAX_TEXT_BYTES)
        return zeta_vgpu_reject(message, "%" PRIu64 " bytes of code, at most %d can be loaded",
                                elf->segments[elf->text].memory_bytes,
                                ZETA_VGPU_ELF_MAX_TEXT_BYTES);
    /* The window lies behind the image, where vgpu.ld has it. */
    if (elf->slm_bytes == 0)
        elf->slm_begin = elf->low + VGPU_SLM_OFFSET;
    else if (elf->slm_begin < elf->high ||
             elf->slm_begin - elf->low > 2 * (uint64_t)VGPU_SLM_OFFSET || elf->slm_begin % 16 != 0)
        return zeta_vgpu_reject(message,
                                "shared local memory at 0x%" PRIx64 ", expected 0x%" PRIx64
                                " (see vgpu.ld): it must lie behind the image",
                                elf->slm_begin, elf->low + VGPU_SLM_OFFSET);
    if (elf->info_bytes != 0 &&
        (elf->info_begin < elf->low || elf->info_begin > elf->high ||
         elf->info_bytes > elf->high - elf->info_begin || elf->info_begin % 8 != 0))
        return zeta_vgpu_reject(message,
                                "section .vgpu.info: 0x%" PRIx64 " bytes at 0x%" PRIx64
                                " are not part of the image",
                                elf->info_bytes, elf->info_begin);
    return true;
}

static bool has_name(const struct zeta_vgpu_elf *elf, const Elf64_Shdr *names,
                     const Elf64_Shdr *section, const char *name)
{
    size_t length = strlen(name) + 1;

    return names->sh_type == SHT_STRTAB && in_file(elf, names->sh_offset, names->sh_size) &&
           section->sh_name < names->sh_size && length <= names->sh_size - section->sh_name &&
           memcmp(elf->bytes + names->sh_offset + section->sh_name, name, length) == 0;
}

static bool read_symbol_table(struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                              const Elf64_Shdr *section, struct zeta_vgpu_elf_symbols *out_table,
                              struct zeta_vgpu_message *message)
{
    Elf64_Shdr strings;

    if (section->sh_link >= header->e_shnum || section->sh_entsize != sizeof(Elf64_Sym) ||
        !in_file(elf, section->sh_offset, section->sh_size))
        return zeta_vgpu_reject(message,
                                "the symbol table at offset 0x%" PRIx64 " does not fit the file",
                                section->sh_offset);
    strings = section_header(elf, header, section->sh_link);
    if (strings.sh_type != SHT_STRTAB || !in_file(elf, strings.sh_offset, strings.sh_size))
        return zeta_vgpu_reject(message,
                                "the symbol names at offset 0x%" PRIx64 " do not fit the file",
                                strings.sh_offset);
    if (section->sh_size / sizeof(Elf64_Sym) > ZETA_VGPU_ELF_MAX_SYMBOLS)
        return zeta_vgpu_reject(message, "%" PRIu64 " symbols, at most %d are allowed",
                                section->sh_size / sizeof(Elf64_Sym), ZETA_VGPU_ELF_MAX_SYMBOLS);
    *out_table = (struct zeta_vgpu_elf_symbols){
        .offset = section->sh_offset,
        .count = (uint32_t)(section->sh_size / sizeof(Elf64_Sym)),
        .names_offset = strings.sh_offset,
        .names_bytes = strings.sh_size,
    };
    return true;
}

static bool read_sections(struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                          struct zeta_vgpu_message *message)
{
    Elf64_Shdr names;

    if (header->e_shnum == 0)
        return true;
    names = section_header(elf, header, header->e_shstrndx);
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section = section_header(elf, header, i);

        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) {
            if (!read_symbol_table(elf, header, &section,
                                   section.sh_type == SHT_SYMTAB ? &elf->symbols : &elf->dynamic,
                                   message))
                return false;
        } else if (has_name(elf, &names, &section, ".slm") && section.sh_size > 0) {
            if (section.sh_type != SHT_NOBITS)
                return zeta_vgpu_reject(message,
                                        "section .slm has type %u, expected %u: shared local "
                                        "memory cannot be initialised",
                                        section.sh_type, SHT_NOBITS);
            if (section.sh_size > ZETA_VGPU_ELF_MAX_SLM_BYTES || section.sh_addr >= ADDRESS_LIMIT)
                return zeta_vgpu_reject(
                    message, "section .slm: 0x%" PRIx64 " bytes at 0x%" PRIx64 ", at most 0x%x fit",
                    section.sh_size, section.sh_addr, ZETA_VGPU_ELF_MAX_SLM_BYTES);
            elf->slm_begin = section.sh_addr;
            elf->slm_bytes = (uint32_t)section.sh_size;
        }
        if (has_name(elf, &names, &section, ".vgpu.info") && (section.sh_flags & SHF_ALLOC)) {
            elf->info_begin = section.sh_addr;
            elf->info_bytes = section.sh_size;
        }
    }
    return true;
}

bool zeta_vgpu_elf_parse(const void *bytes, size_t size, struct zeta_vgpu_elf *out_elf,
                         struct zeta_vgpu_message *out_message)
{
    struct zeta_vgpu_elf elf = {.bytes = bytes, .size = size};
    Elf64_Ehdr header;

    if (!read_header(&elf, &header, out_message) || !read_sections(&elf, &header, out_message) ||
        !read_segments(&elf, &header, out_message) || !check_layout(&elf, out_message))
        return false;
    *out_elf = elf;
    return true;
}

bool zeta_vgpu_elf_symbol(const struct zeta_vgpu_elf *elf,
                          const struct zeta_vgpu_elf_symbols *table, uint32_t index,
                          struct zeta_vgpu_symbol *out_symbol)
{
    const char *name;
    uint32_t binding;
    Elf64_Sym symbol;

    memcpy(&symbol, elf->bytes + table->offset + (uint64_t)index * sizeof(symbol), sizeof(symbol));
    name = (const char *)elf->bytes + table->names_offset + symbol.st_name;
    if (symbol.st_name >= table->names_bytes ||
        !memchr(name, 0, table->names_bytes - symbol.st_name))
        name = NULL;
    binding = ELF64_ST_BIND(symbol.st_info);
    *out_symbol = (struct zeta_vgpu_symbol){
        .name = name,
        .address = symbol.st_value,
        .size_bytes = symbol.st_size,
        .defined = symbol.st_shndx != SHN_UNDEF,
        .global = binding == STB_GLOBAL || binding == STB_WEAK,
        .weak = binding == STB_WEAK,
        .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
        .object = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT,
    };
    return name && *name && symbol.st_shndx < SHN_LORESERVE;
}

/* The segment that holds all of [address, address + bytes). */
static const struct zeta_vgpu_elf_segment *segment_of(const struct zeta_vgpu_elf *elf,
                                                      uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct zeta_vgpu_elf_segment *segment = &elf->segments[i];

        if (address >= segment->address && address - segment->address <= segment->memory_bytes &&
            bytes <= segment->memory_bytes - (address - segment->address))
            return segment;
    }
    return NULL;
}

/*
 * One relocation of an image that is loaded at @base. With @addresses the image was relocated
 * before, and only symbols of other files are written.
 */
static bool relocate_one(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                         const Elf64_Rela *relocation, const uint64_t *addresses,
                         struct zeta_vgpu_message *message)
{
    const uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const bool is_symbol = type == RELOCATION_64 || type == RELOCATION_JUMP_SLOT;
    uint64_t value = (uint64_t)relocation->r_addend;
    const struct zeta_vgpu_elf_segment *segment =
        segment_of(elf, relocation->r_offset, sizeof(value));
    struct zeta_vgpu_symbol symbol;

    if (!segment)
        return zeta_vgpu_reject(message, "a relocation at 0x%" PRIx64 " is outside the image",
                                relocation->r_offset);
    if (!is_symbol && type != RELOCATION_RELATIVE)
        return zeta_vgpu_reject(message, "relocation type %u at 0x%" PRIx64 " is not supported",
                                type, relocation->r_offset);
    if (is_symbol && index >= elf->dynamic.count)
        return zeta_vgpu_reject(message,
                                "a relocation names symbol %u, the file has %u dynamic symbols",
                                index, elf->dynamic.count);
    if (addresses) {
        if (!is_symbol || addresses[index] == 0)
            return true;
        value += addresses[index];
    } else if (is_symbol) {
        if (!zeta_vgpu_elf_symbol(elf, &elf->dynamic, index, &symbol))
            return zeta_vgpu_reject(
                message, "a relocation names symbol %u, which has no name or no place", index);
        if (!symbol.defined && segment->executable)
            return zeta_vgpu_reject(message,
                                    "code at 0x%" PRIx64
                                    " refers to \"%.200s\" of another file: build it with -fPIC",
                                    relocation->r_offset, symbol.name);
        value = symbol.defined ? value + base - elf->low + symbol.address : 0;
    } else {
        value += base - elf->low;
    }
    memcpy(memory + (relocation->r_offset - elf->low), &value, sizeof(value));
    return true;
}

/* Applies the relocations of data and those of calls, whose tables the dynamic section names. */
static bool relocate(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                     const uint64_t *addresses, struct zeta_vgpu_message *message)
{
    struct {
        uint64_t address, bytes;
    } tables[2] = {0};
    Elf64_Ehdr header;

    memcpy(&header, elf->bytes, sizeof(header));
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        const Elf64_Phdr program = program_header(elf, &header, i);

        if (program.p_type != PT_DYNAMIC)
            continue;
        if (!in_file(elf, program.p_offset, program.p_filesz))
            return zeta_vgpu_reject(
                message, "the dynamic section at offset 0x%" PRIx64 " reaches beyond the file",
                program.p_offset);
        for (uint64_t at = 0; program.p_filesz - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;

            memcpy(&entry, elf->bytes + program.p_offset + at, sizeof(entry));
            if (entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == DT_NEEDED)
                return zeta_vgpu_reject(message,
                                        "the file needs a shared library; link kernels statically");
            if (entry.d_tag == DT_RELA || entry.d_tag == DT_JMPREL)
                tables[entry.d_tag == DT_JMPREL].address = entry.d_un.d_ptr;
            if (entry.d_tag == DT_RELASZ || entry.d_tag == DT_PLTRELSZ)
                tables[entry.d_tag == DT_PLTRELSZ].bytes = entry.d_un.d_val;
        }
    }
    for (unsigned t = 0; t < 2; t++) {
        const uint64_t begin = tables[t].address, count = tables[t].bytes / sizeof(Elf64_Rela);

        if (count > 0 && (count > ZETA_VGPU_ELF_MAX_RELOCATIONS || begin >= ADDRESS_LIMIT ||
                          !segment_of(elf, begin, tables[t].bytes)))
            return zeta_vgpu_reject(message,
                                    "%" PRIu64 " relocations at 0x%" PRIx64 " are not in the image",
                                    count, begin);
        for (uint64_t i = 0; i < count; i++) {
            Elf64_Rela relocation;

            memcpy(&relocation, memory + (begin - elf->low) + i * sizeof(relocation),
                   sizeof(relocation));
            if (!relocate_one(elf, memory, base, &relocation, addresses, message))
                return false;
        }
    }
    return true;
}

bool zeta_vgpu_elf_load(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                        struct zeta_vgpu_message *out_message)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct zeta_vgpu_elf_segment *segment = &elf->segments[i];

        if (segment->file_bytes > 0)
            memcpy(memory + (segment->address - elf->low), elf->bytes + segment->file_offset,
                   segment->file_bytes);
    }
    return relocate(elf, memory, base, NULL, out_message);
}

void zeta_vgpu_elf_bind(const struct zeta_vgpu_elf *elf, unsigned char *memory,
                        const uint64_t *addresses)
{
    (void)relocate(elf, memory, 0, addresses, NULL);
}
