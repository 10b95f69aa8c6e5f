#include "elf.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "message.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

enum {
    PAGE_BYTES = 4096,
    LOWEST_FIXED_ADDRESS = 0x10000, /* keeps null pointers, and the address of return, invalid */
    FLAG_COMPRESSED = 1             /* EF_RISCV_RVC */
};

bool zeta_vgpu_elf_in_file(const struct zeta_vgpu_elf *elf, uint64_t offset, uint64_t bytes)
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
    if (!zeta_vgpu_elf_in_file(elf, header->e_phoff,
                               (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return zeta_vgpu_reject(
            message, "%u program headers at offset 0x%" PRIx64 " reach beyond the file (%zu bytes)",
            header->e_phnum, header->e_phoff, elf->size);
    if (header->e_shnum > ZETA_VGPU_ELF_MAX_SECTIONS)
        return zeta_vgpu_reject(message, "%u sections, at most %d are allowed", header->e_shnum,
                                ZETA_VGPU_ELF_MAX_SECTIONS);
    if (header->e_shnum &&
        (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum ||
         !zeta_vgpu_elf_in_file(elf, header->e_shoff,
                                (uint64_t)header->e_shnum * sizeof(Elf64_Shdr))))
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

static bool check_segment(const struct zeta_vgpu_elf *elf, const Elf64_Phdr *program,
                          uint32_t index, struct zeta_vgpu_message *message)
{
    if (program->p_filesz > program->p_memsz)
        return zeta_vgpu_reject(message,
                                "segment %u: %" PRIu64 " bytes in the file are more than %" PRIu64
                                " in memory",
                                index, program->p_filesz, program->p_memsz);
    if (!zeta_vgpu_elf_in_file(elf, program->p_offset, program->p_filesz))
        return zeta_vgpu_reject(message,
                                "segment %u: %" PRIu64 " bytes at offset 0x%" PRIx64
                                " reach beyond the file (%zu bytes)",
                                index, program->p_filesz, program->p_offset, elf->size);
    if (program->p_vaddr >= ZETA_VGPU_ELF_ADDRESS_LIMIT ||
        program->p_memsz >= ZETA_VGPU_ELF_ADDRESS_LIMIT)
        return zeta_vgpu_reject(message,
                                "segment %u: address 0x%" PRIx64 " and size 0x%" PRIx64
                                " are beyond any usable address",
                                index, program->p_vaddr, program->p_memsz);
    if ((program->p_flags & PF_W) && (program->p_flags & PF_X))
        return zeta_vgpu_reject(
            message, "segment %u is writable and executable; code cannot be written", index);
    if (elf->segment_count == ZETA_VGPU_ELF_MAX_SEGMENTS)
        return zeta_vgpu_reject(message, "more than %d segments to load",
                                ZETA_VGPU_ELF_MAX_SEGMENTS);
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct zeta_vgpu_segment *other = &elf->segments[i];

        if (program->p_vaddr < other->address + other->memory_bytes &&
            other->address < program->p_vaddr + program->p_memsz)
            return zeta_vgpu_reject(message,
                                    "segment %u at 0x%" PRIx64 " overlaps the one at 0x%" PRIx64,
                                    index, program->p_vaddr, other->address);
    }
    return true;
}

/* Shared local memory has addresses but no memory of the image. */
static bool is_slm(const struct zeta_vgpu_elf *elf, const Elf64_Phdr *program)
{
    return elf->slm_bytes > 0 && program->p_filesz == 0 && program->p_vaddr >= elf->slm_begin &&
           program->p_vaddr < elf->slm_begin + elf->slm_bytes &&
           program->p_memsz <= elf->slm_begin + elf->slm_bytes - program->p_vaddr;
}

static bool read_segments(struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                          struct zeta_vgpu_message *message)
{
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr program;

        memcpy(&program, elf->bytes + header->e_phoff + i * sizeof(program), sizeof(program));
        if (program.p_type != PT_LOAD || program.p_memsz == 0 || is_slm(elf, &program))
            continue;
        if (!check_segment(elf, &program, i, message))
            return false;
        elf->segments[elf->segment_count++] = (struct zeta_vgpu_segment){
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
        const struct zeta_vgpu_segment *segment = &elf->segments[i];

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
            "the file wants to be loaded at 0x%" PRIx64
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

    return names->sh_type == SHT_STRTAB &&
           zeta_vgpu_elf_in_file(elf, names->sh_offset, names->sh_size) &&
           section->sh_name < names->sh_size && length <= names->sh_size - section->sh_name &&
           memcmp(elf->bytes + names->sh_offset + section->sh_name, name, length) == 0;
}

static bool read_slm(struct zeta_vgpu_elf *elf, const Elf64_Shdr *section,
                     struct zeta_vgpu_message *message)
{
    if (section->sh_type != SHT_NOBITS)
        return zeta_vgpu_reject(message,
                                "section .slm has type %u, expected %u: shared local memory cannot "
                                "be initialised",
                                section->sh_type, SHT_NOBITS);
    if (section->sh_size > ZETA_VGPU_ELF_MAX_SLM_BYTES ||
        section->sh_addr >= ZETA_VGPU_ELF_ADDRESS_LIMIT)
        return zeta_vgpu_reject(
            message, "section .slm: 0x%" PRIx64 " bytes at 0x%" PRIx64 ", at most 0x%x fit",
            section->sh_size, section->sh_addr, ZETA_VGPU_ELF_MAX_SLM_BYTES);
    elf->slm_begin = section->sh_addr;
    elf->slm_bytes = (uint32_t)section->sh_size;
    return true;
}

static bool read_symbol_table(struct zeta_vgpu_elf *elf, const Elf64_Ehdr *header,
                              const Elf64_Shdr *section, struct zeta_vgpu_elf_symbols *out_table,
                              struct zeta_vgpu_message *message)
{
    Elf64_Shdr strings;

    if (section->sh_link >= header->e_shnum || section->sh_entsize != sizeof(Elf64_Sym) ||
        !zeta_vgpu_elf_in_file(elf, section->sh_offset, section->sh_size))
        return zeta_vgpu_reject(message,
                                "the symbol table at offset 0x%" PRIx64 " does not fit the file",
                                section->sh_offset);
    strings = section_header(elf, header, section->sh_link);
    if (strings.sh_type != SHT_STRTAB ||
        !zeta_vgpu_elf_in_file(elf, strings.sh_offset, strings.sh_size))
        return zeta_vgpu_reject(message,
                                "the symbol names at offset 0x%" PRIx64 " do not fit the file",
                                strings.sh_offset);
    if (section->sh_size / sizeof(Elf64_Sym) > ZETA_VGPU_ELF_MAX_SYMBOLS)
        return zeta_vgpu_reject(message, "%" PRIu64 " symbols, at most %d are allowed",
                                section->sh_size / sizeof(Elf64_Sym), ZETA_VGPU_ELF_MAX_SYMBOLS);
    out_table->entries.offset = section->sh_offset;
    out_table->count = (uint32_t)(section->sh_size / sizeof(Elf64_Sym));
    out_table->names.offset = strings.sh_offset;
    out_table->names.bytes = strings.sh_size;
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
        bool fine = true;

        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
            fine = read_symbol_table(elf, header, &section,
                                     section.sh_type == SHT_SYMTAB ? &elf->symbols : &elf->dynamic,
                                     message);
        else if (has_name(elf, &names, &section, ".slm") && section.sh_size > 0)
            fine = read_slm(elf, &section, message);
        if (!fine)
            return false;
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

bool zeta_vgpu_elf_load(const struct zeta_vgpu_elf *elf, unsigned char *memory, uint64_t base,
                        struct zeta_vgpu_message *out_message)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct zeta_vgpu_segment *segment = &elf->segments[i];

        if (segment->file_bytes > 0)
            memcpy(memory + (segment->address - elf->low), elf->bytes + segment->file_offset,
                   segment->file_bytes);
    }
    return zeta_vgpu_elf_relocate(elf, memory, base, out_message);
}

/* A terminated name of a string table, or NULL. */
static const char *name_at(const struct zeta_vgpu_elf *elf, const struct zeta_vgpu_elf_table *names,
                           uint32_t offset)
{
    const char *name = (const char *)elf->bytes + names->offset + offset;

    if (offset >= names->bytes || !memchr(name, 0, names->bytes - offset))
        return NULL;
    return name;
}

bool zeta_vgpu_elf_symbol(const struct zeta_vgpu_elf *elf,
                          const struct zeta_vgpu_elf_symbols *table, uint32_t index,
                          struct zeta_vgpu_elf_symbol *out_symbol)
{
    uint32_t binding;
    Elf64_Sym symbol;

    memcpy(&symbol, elf->bytes + table->entries.offset + (uint64_t)index * sizeof(symbol),
           sizeof(symbol));
    binding = ELF64_ST_BIND(symbol.st_info);
    *out_symbol = (struct zeta_vgpu_elf_symbol){
        .name = name_at(elf, &table->names, symbol.st_name),
        .address = symbol.st_value,
        .size_bytes = symbol.st_size,
        .defined = symbol.st_shndx != SHN_UNDEF,
        .global = binding == STB_GLOBAL || binding == STB_WEAK,
        .weak = binding == STB_WEAK,
        .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
        .object = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT,
    };
    return out_symbol->name && *out_symbol->name && symbol.st_shndx < SHN_LORESERVE;
}
