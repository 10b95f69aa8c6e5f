/* Lines of the source from DWARF, with libdw; without it none are found. */
#include "sdk/tools/zeta/profile/profile.h"

#ifdef ZETA_HAS_LIBDW

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

struct zeta_code_lines {
    int file;
    Elf *elf;
    Dwarf *dwarf;      /* null without lines */
    uint64_t bias;     /* address in the process without that in the file */
    Elf_Data *symbols; /* null without a table */
    size_t symbol_count;
    size_t names; /* section of their names */
};

bool zeta_code_lines_work(void)
{
    return true;
}

/* Address of the code in the file; false when it has none. */
static bool find_code(Elf *elf, uint64_t *out_address)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            (header.p_flags & PF_X) != 0) {
            *out_address = header.p_vaddr;
            return true;
        }
    }
    return false;
}

static void find_symbols(struct zeta_code_lines *lines)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(lines->elf, section)) != NULL) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB ||
            header.sh_entsize == 0)
            continue;
        lines->symbols = elf_getdata(section, NULL);
        lines->symbol_count = (size_t)(header.sh_size / header.sh_entsize);
        lines->names = header.sh_link;
    }
}

struct zeta_code_lines *zeta_code_lines_open(const char *path, uint64_t begin)
{
    struct zeta_code_lines *lines = calloc(1, sizeof(*lines));
    uint64_t address = 0;

    if (!lines)
        return NULL;
    (void)elf_version(EV_CURRENT);
    lines->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (lines->file >= 0)
        lines->elf = elf_begin(lines->file, ELF_C_READ_MMAP, NULL);
    if (!lines->elf || !find_code(lines->elf, &address)) {
        zeta_code_lines_close(lines);
        return NULL;
    }
    lines->bias = begin - address;
    lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
    find_symbols(lines);
    return lines;
}

void zeta_code_lines_close(struct zeta_code_lines *lines)
{
    if (!lines)
        return;
    if (lines->dwarf)
        (void)dwarf_end(lines->dwarf);
    if (lines->elf)
        (void)elf_end(lines->elf);
    if (lines->file >= 0)
        (void)close(lines->file);
    free(lines);
}

bool zeta_code_lines_has_lines(const struct zeta_code_lines *lines)
{
    return lines->dwarf != NULL;
}

static const char *find_function(const struct zeta_code_lines *lines, uint64_t address)
{
    for (size_t i = 0; lines->symbols && i < lines->symbol_count; i++) {
        GElf_Sym symbol;

        if (gelf_getsym(lines->symbols, (int)i, &symbol) &&
            GELF_ST_TYPE(symbol.st_info) == STT_FUNC && address >= symbol.st_value &&
            address - symbol.st_value < symbol.st_size)
            return elf_strptr(lines->elf, lines->names, symbol.st_name);
    }
    return NULL;
}

static void find_line(struct zeta_code_lines *lines, uint64_t address,
                      struct zeta_code_place *out_place)
{
    Dwarf_Off offset = 0, next = 0;
    size_t header_bytes = 0;

    while (dwarf_nextcu(lines->dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        Dwarf_Line *line;
        int number = 0;

        if (dwarf_offdie(lines->dwarf, offset + header_bytes, &unit) &&
            dwarf_haspc(&unit, address) == 1) {
            line = dwarf_getsrc_die(&unit, address);
            if (line && dwarf_lineno(line, &number) == 0) {
                out_place->file = dwarf_linesrc(line, NULL, NULL);
                out_place->line = number > 0 ? (uint32_t)number : 0;
            }
            return;
        }
        offset = next;
    }
}

void zeta_code_lines_find(struct zeta_code_lines *lines, uint64_t address,
                          struct zeta_code_place *out_place)
{
    *out_place = (struct zeta_code_place){0};
    address -= lines->bias;
    out_place->function = find_function(lines, address);
    if (lines->dwarf)
        find_line(lines, address, out_place);
}

#else

bool zeta_code_lines_work(void)
{
    return false;
}

struct zeta_code_lines *zeta_code_lines_open(const char *path, uint64_t begin)
{
    (void)path;
    (void)begin;
    return NULL;
}

void zeta_code_lines_close(struct zeta_code_lines *lines)
{
    (void)lines;
}

void zeta_code_lines_find(struct zeta_code_lines *lines, uint64_t address,
                          struct zeta_code_place *out_place)
{
    (void)lines;
    (void)address;
    *out_place = (struct zeta_code_place){0};
}

bool zeta_code_lines_has_lines(const struct zeta_code_lines *lines)
{
    (void)lines;
    return false;
}

#endif
