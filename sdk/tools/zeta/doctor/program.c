/* How a program is linked, from its file. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sdk/tools/zeta/doctor/doctor.h"

#define LOADER_NAME "libze_loader.so"
#define ZETA_NAME "libzeta.so"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#else
#define MACHINE header.e_machine /* unknown here: any will do */
#endif

/* Bytes of a file; everything that is read is checked against them. */
struct file {
    const unsigned char *bytes;
    size_t size;
};

static bool read_at(const struct file *file, uint64_t offset, void *out, size_t size)
{
    if (offset > file->size || size > file->size - offset)
        return false;
    memcpy(out, file->bytes + offset, size);
    return true;
}

/* Segments that are loaded say where an address of the program is in the file. */
static bool offset_of(const struct file *file, const Elf64_Ehdr *header, uint64_t address,
                      uint64_t *out_offset)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;

        if (!read_at(file, header->e_phoff + i * (uint64_t)sizeof(segment), &segment,
                     sizeof(segment)))
            return false;
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *out_offset = segment.p_offset + (address - segment.p_vaddr);
            return true;
        }
    }
    return false;
}

static bool find_segment(const struct file *file, const Elf64_Ehdr *header, uint32_t type,
                         Elf64_Phdr *out_segment)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (!read_at(file, header->e_phoff + i * (uint64_t)sizeof(*out_segment), out_segment,
                     sizeof(*out_segment)))
            return false;
        if (out_segment->p_type == type)
            return true;
    }
    return false;
}

static bool begins_at(const struct file *file, uint64_t offset, const char *name)
{
    return offset <= file->size && strlen(name) <= file->size - offset &&
           memcmp(file->bytes + offset, name, strlen(name)) == 0;
}

/* The strings that the entries of one kind name, in two passes: the place of the strings is an
 * entry too. */
static enum zeta_doctor_link read_needed(const struct file *file, const Elf64_Ehdr *header,
                                         const Elf64_Phdr *dynamic)
{
    uint64_t address = 0;
    uint64_t strings = 0;
    Elf64_Dyn entry;

    for (uint64_t at = 0; at + sizeof(entry) <= dynamic->p_filesz; at += sizeof(entry)) {
        if (!read_at(file, dynamic->p_offset + at, &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            address = entry.d_un.d_ptr;
    }
    if (!offset_of(file, header, address, &strings))
        return ZETA_DOCTOR_LINK_UNKNOWN;
    for (uint64_t at = 0; at + sizeof(entry) <= dynamic->p_filesz; at += sizeof(entry)) {
        if (!read_at(file, dynamic->p_offset + at, &entry, sizeof(entry)) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > file->size)
            continue;
        /* Which of two comes first is what the program gets. */
        if (begins_at(file, strings + entry.d_un.d_val, LOADER_NAME))
            return ZETA_DOCTOR_LINK_LOADER;
        if (begins_at(file, strings + entry.d_un.d_val, ZETA_NAME))
            return ZETA_DOCTOR_LINK_ZETA;
    }
    return ZETA_DOCTOR_LINK_UNKNOWN;
}

enum zeta_doctor_link zeta_doctor_read_link(const unsigned char *bytes, size_t size)
{
    const struct file file = {bytes, size};
    Elf64_Ehdr header;
    Elf64_Phdr segment;

    if (size >= 2 && memcmp(bytes, "#!", 2) == 0)
        return ZETA_DOCTOR_LINK_SCRIPT;
    if (!read_at(&file, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(segment) ||
        header.e_machine != MACHINE)
        return ZETA_DOCTOR_LINK_FOREIGN;
    if (!find_segment(&file, &header, PT_DYNAMIC, &segment))
        return ZETA_DOCTOR_LINK_STATIC;
    return read_needed(&file, &header, &segment);
}

const char *zeta_doctor_link_name(enum zeta_doctor_link link)
{
    switch (link) {
    case ZETA_DOCTOR_LINK_LOADER:
        return "linked to the loader";
    case ZETA_DOCTOR_LINK_ZETA:
        return "linked to libzeta, needs no loader";
    case ZETA_DOCTOR_LINK_STATIC:
        return "static: it can load no driver, unless it starts other programs";
    case ZETA_DOCTOR_LINK_SCRIPT:
        return "a script: what it starts decides";
    case ZETA_DOCTOR_LINK_FOREIGN:
        return "no 64-bit program of this machine";
    default:
        return "linked to neither loader nor libzeta: a library of it may be, or it opens one";
    }
}

static bool list_contents(struct zeta_doctor_program *program)
{
    const int fd = open(program->path, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        program->link = zeta_doctor_read_link(bytes, (size_t)status.st_size);
        (void)munmap(bytes, (size_t)status.st_size);
    }
    /* Of root, nobody has more rights; file capabilities count for everybody else. */
    program->is_privileged =
        geteuid() != 0 && ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                           getxattr(program->path, "security.capability", NULL, 0) > 0);
    if (fd >= 0)
        (void)close(fd);
    return true;
}

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool zeta_doctor_check_program(struct zeta_doctor_program *program, const char *name)
{
    const char *place = getenv("PATH");

    program->name = name;
    if (strchr(name, '/')) {
        program->path = is_program(name) ? strdup(name) : NULL;
        return program->path ? list_contents(program) : !is_program(name);
    }
    while (place && *place) {
        const size_t length = strcspn(place, ":");
        char *path = NULL;

        if (asprintf(&path, "%.*s/%s", length ? (int)length : 1, length ? place : ".", name) < 0)
            return false;
        if (is_program(path)) {
            program->path = path;
            return list_contents(program);
        }
        free(path);
        place += length + (place[length] == ':');
    }
    return true;
}
