#include "link.h"

#include <elf.h>
#include <string.h>

static bool in_file(size_t size, uint64_t offset, uint64_t bytes)
{
    return offset <= size && bytes <= size - offset;
}

static bool read_header(const char *bytes, size_t size, Elf64_Ehdr *out_header)
{
    if (size < sizeof(*out_header))
        return false;
    memcpy(out_header, bytes, sizeof(*out_header));
    return out_header->e_shentsize == sizeof(Elf64_Shdr) &&
           out_header->e_shstrndx < out_header->e_shnum &&
           in_file(size, out_header->e_shoff, (uint64_t)out_header->e_shnum * sizeof(Elf64_Shdr));
}

static Elf64_Shdr section_at(const char *bytes, const Elf64_Ehdr *header, unsigned index)
{
    Elf64_Shdr section;

    memcpy(&section, bytes + header->e_shoff + index * sizeof(section), sizeof(section));
    return section;
}

/* A terminated text in a table of names; empty when it is outside. */
static const char *name_at(const char *names, size_t size, uint64_t offset)
{
    if (offset >= size || !memchr(names + offset, '\0', size - (size_t)offset))
        return "";
    return names + offset;
}

bool zeta_cc_elf_section(const char *bytes, size_t size, const char *name,
                         struct zeta_cc_elf_section *out_section)
{
    Elf64_Ehdr header;
    Elf64_Shdr names;

    if (!read_header(bytes, size, &header))
        return false;
    names = section_at(bytes, &header, header.e_shstrndx);
    if (!in_file(size, names.sh_offset, names.sh_size))
        return false;
    for (unsigned i = 1; i < header.e_shnum; i++) {
        Elf64_Shdr section = section_at(bytes, &header, i);

        if (section.sh_type == SHT_NOBITS || !in_file(size, section.sh_offset, section.sh_size) ||
            strcmp(name_at(bytes + names.sh_offset, names.sh_size, section.sh_name), name) != 0)
            continue;
        *out_section =
            (struct zeta_cc_elf_section){section.sh_offset, section.sh_size, section.sh_addr};
        return true;
    }
    return false;
}

bool zeta_cc_elf_symbols(const char *bytes, size_t size, struct zeta_cc_elf_symbols *out_symbols)
{
    Elf64_Ehdr header;

    if (!read_header(bytes, size, &header))
        return false;
    for (unsigned i = 1; i < header.e_shnum; i++) {
        Elf64_Shdr section = section_at(bytes, &header, i);
        Elf64_Shdr names;

        if (section.sh_type != SHT_SYMTAB || section.sh_link >= header.e_shnum)
            continue;
        names = section_at(bytes, &header, section.sh_link);
        if (!in_file(size, section.sh_offset, section.sh_size) ||
            !in_file(size, names.sh_offset, names.sh_size))
            return false;
        *out_symbols = (struct zeta_cc_elf_symbols){bytes + section.sh_offset,
                                                    section.sh_size / sizeof(Elf64_Sym),
                                                    bytes + names.sh_offset, names.sh_size};
        return true;
    }
    return false;
}

struct zeta_cc_elf_symbol zeta_cc_elf_symbol(const struct zeta_cc_elf_symbols *symbols,
                                             size_t index)
{
    Elf64_Sym symbol;

    memcpy(&symbol, symbols->entries + index * sizeof(symbol), sizeof(symbol));
    return (struct zeta_cc_elf_symbol){
        .name = name_at(symbols->names, symbols->names_size, symbol.st_name),
        .address = symbol.st_value,
        .is_defined = symbol.st_shndx != SHN_UNDEF,
        .is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
    };
}
