/*
 * From an object file to a kernel file. The linker knows what LLVM cannot write into the records of
 * kernels: private memory, which is the frames of the deepest chain of calls, and shared local
 * memory.
 */
#include "riscv.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-cc/front_end/front_end.h"
#include "vgpu_abi.h"

/* ---- Our own linker wrote the file. Bounds are checked all the same. ---- */

/* Bytes of a section; null when it has none in the file. */
struct part {
    char *bytes;
    size_t size;
    uint64_t address;
};

/* What is read of a linked file. */
struct linked {
    const Elf64_Sym *symbols;
    size_t symbol_count;
    struct part names; /* of the symbols */
    struct part stack_sizes;
    struct part info; /* the records of kernels */
};

static struct part section(const struct zeta_cc_buffer *elf, const Elf64_Shdr *header)
{
    if (header->sh_type == SHT_NOBITS || header->sh_offset > elf->size ||
        header->sh_size > elf->size - header->sh_offset)
        return (struct part){0};
    return (struct part){elf->bytes + header->sh_offset, header->sh_size, header->sh_addr};
}

/* A terminated text in a table of names; empty when it is outside. */
static const char *name_at(const struct part *names, uint64_t offset)
{
    if (offset >= names->size || !memchr(names->bytes + offset, '\0', names->size - (size_t)offset))
        return "";
    return names->bytes + offset;
}

static struct linked read_linked(const struct zeta_cc_buffer *elf)
{
    const Elf64_Ehdr *file = (const void *)elf->bytes;
    const Elf64_Shdr *headers;
    struct linked linked = {0};
    struct part names;

    if (elf->size < sizeof(*file) || file->e_shentsize != sizeof(*headers) ||
        file->e_shoff > elf->size || file->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        (elf->size - file->e_shoff) / sizeof(*headers) < file->e_shnum ||
        file->e_shstrndx >= file->e_shnum)
        return linked;
    headers = (const void *)(elf->bytes + file->e_shoff);
    names = section(elf, &headers[file->e_shstrndx]);
    for (unsigned i = 1; i < file->e_shnum; i++) {
        const char *name = name_at(&names, headers[i].sh_name);
        const struct part part = section(elf, &headers[i]);

        if (headers[i].sh_type == SHT_SYMTAB && headers[i].sh_link < file->e_shnum &&
            headers[i].sh_offset % _Alignof(Elf64_Sym) == 0) {
            linked.symbols = (const void *)part.bytes;
            linked.symbol_count = part.size / sizeof(*linked.symbols);
            linked.names = section(elf, &headers[headers[i].sh_link]);
        } else if (strcmp(name, ".stack_sizes") == 0) {
            linked.stack_sizes = part;
        } else if (strcmp(name, ".vgpu.info") == 0) {
            linked.info = part;
        }
    }
    return linked;
}

/* ---- Private memory: frames from section .stack_sizes, calls from the program as emitted. ---- */

enum { UNKNOWN = -1, NOT_VISITED = -2 };

/* A function in the file. */
struct frame {
    const char *name;
    uint64_t address;
    int64_t bytes;   /* of its own; UNKNOWN: not listed */
    int64_t deepest; /* with what it calls; UNKNOWN, also while it is being visited */
};

struct frames {
    struct frame *list; /* by name */
    size_t count;
};

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct frame *)left)->name, ((const struct frame *)right)->name);
}

static int compare_addresses(const void *left, const void *right)
{
    uint64_t a = ((const struct frame *)left)->address;
    uint64_t b = ((const struct frame *)right)->address;

    return (a > b) - (a < b);
}

/* All functions that have a symbol; .stack_sizes has an address of 8 bytes and a LEB128 for each.
 */
static struct frames read_frames(const struct linked *linked)
{
    const unsigned char *at = (const unsigned char *)linked->stack_sizes.bytes;
    const unsigned char *end = at + linked->stack_sizes.size;
    struct frames frames = {zeta_cc_allocate(linked->symbol_count, sizeof(*frames.list)), 0};

    for (size_t i = 1; i < linked->symbol_count; i++) {
        const Elf64_Sym *symbol = &linked->symbols[i];

        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            frames.list[frames.count++] = (struct frame){name_at(&linked->names, symbol->st_name),
                                                         symbol->st_value, UNKNOWN, NOT_VISITED};
    }
    qsort(frames.list, frames.count, sizeof(*frames.list), compare_addresses);
    while (end - at > 8) {
        struct frame key = {0};
        struct frame *found;
        uint64_t bytes = 0;
        unsigned char byte = 0x80;

        memcpy(&key.address, at, sizeof(key.address));
        at += 8;
        for (unsigned shift = 0; at < end && (byte & 0x80); shift += 7) {
            byte = *at++;
            bytes |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        }
        found = bsearch(&key, frames.list, frames.count, sizeof(key), compare_addresses);
        if (found)
            found->bytes = (int64_t)bytes;
    }
    qsort(frames.list, frames.count, sizeof(*frames.list), compare_names);
    return frames;
}

/*
 * The need of a function with what it calls; UNKNOWN if it calls through pointers, into other
 * modules or recursively: then it is met again while it is being visited.
 */
static int64_t deepest(const struct frames *frames, LLVMValueRef function)
{
    struct frame key = {.name = zeta_cc_value_name(function)};
    struct frame *frame = bsearch(&key, frames->list, frames->count, sizeof(key), compare_names);
    int64_t most = 0;

    if (!frame || frame->bytes == UNKNOWN || LLVMIsDeclaration(function))
        return UNKNOWN;
    if (frame->deepest != NOT_VISITED)
        return frame->deepest;
    frame->deepest = UNKNOWN;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each;
             each = LLVMGetNextInstruction(each)) {
            LLVMValueRef callee = LLVMIsACallInst(each) ? LLVMGetCalledValue(each) : NULL;
            const bool is_function = callee && LLVMIsAFunction(callee);
            int64_t bytes;

            if (!callee || LLVMIsAInlineAsm(callee) ||
                (is_function && LLVMGetIntrinsicID(callee) != 0))
                continue;
            bytes = is_function ? deepest(frames, callee) : UNKNOWN;
            if (bytes == UNKNOWN)
                return UNKNOWN;
            if (bytes > most)
                most = bytes;
        }
    }
    frame->deepest = frame->bytes + most;
    return frame->deepest;
}

/* The record of a kernel in the file, and the bytes from there on; null without one. */
static char *find_record(const struct linked *linked, const char *kernel, size_t *out_bytes)
{
    const size_t prefix = strlen(ZETA_CC_RECORD_PREFIX);

    for (size_t i = 1; i < linked->symbol_count; i++) {
        const char *name = name_at(&linked->names, linked->symbols[i].st_name);
        uint64_t at = linked->symbols[i].st_value - linked->info.address;

        if (strncmp(name, ZETA_CC_RECORD_PREFIX, prefix) == 0 &&
            strcmp(name + prefix, kernel) == 0 && at <= linked->info.size) {
            *out_bytes = linked->info.size - (size_t)at;
            return linked->info.bytes + at;
        }
    }
    return NULL;
}

/* Writes what kernels need into their records; private memory that is not known stays 0. */
static void write_needs(const struct zeta_cc_program *program, const struct linked *linked)
{
    struct frames frames = read_frames(linked);

    for (size_t i = 0; i < program->kernels.count; i++) {
        size_t room = 0;
        char *record = find_record(linked, program->kernels.list[i], &room);
        LLVMValueRef stub = zeta_cc_entry_stub(program, program->kernels.list[i]);
        int64_t bytes = stub ? deepest(&frames, stub) : UNKNOWN;
        struct vgpu_kernel_info info;
        struct vgpu_kernel_extra extra;
        size_t at;

        if (!record || room < sizeof(info))
            continue;
        memcpy(&info, record, sizeof(info));
        at = sizeof(info) + info.argument_count * sizeof(struct vgpu_argument_info);
        /* A record that the program wrote itself may claim any number of arguments. */
        if (room < sizeof(extra) || at > room - sizeof(extra))
            continue;
        if (bytes > 0 && bytes <= UINT32_MAX)
            info.private_bytes = (uint32_t)bytes;
        memcpy(record, &info, sizeof(info));
        memcpy(&extra, record + at, sizeof(extra));
        if (program->local_bytes) {
            extra.local_known = 1;
            extra.local_bytes = program->local_bytes[i];
        }
        memcpy(record + at, &extra, sizeof(extra));
    }
    free(frames.list);
}

/* ---- The linker ---- */

/* Offers what others may take: functions and variables with external linkage, but no kernels. */
static void add_exports(struct zeta_cc_strings *arguments, const struct zeta_cc_program *program,
                        LLVMValueRef global, LLVMValueRef (*next)(LLVMValueRef))
{
    for (; global; global = next(global)) {
        const char *name = zeta_cc_value_name(global);

        if (!LLVMIsDeclaration(global) && LLVMGetLinkage(global) != LLVMInternalLinkage &&
            LLVMGetLinkage(global) != LLVMPrivateLinkage &&
            LLVMGetVisibility(global) == LLVMDefaultVisibility &&
            !zeta_cc_strings_have(&program->kernels, name))
            zeta_cc_strings_print(arguments, "--export-dynamic-symbol=%s", name);
    }
}

enum zeta_compile_status zeta_cc_link(const struct zeta_cc_program *program,
                                      const struct zeta_cc_paths *paths,
                                      const struct zeta_cc_buffer *object,
                                      struct zeta_cc_buffer *out_elf)
{
    static const struct zeta_cc_tool tool = {"ld.lld", "lld-15"};
    struct zeta_cc_strings arguments = {0};
    enum zeta_compile_status status;
    struct zeta_cc_child child;
    struct linked linked;

    zeta_cc_strings_add(&arguments, paths->linker);
    zeta_cc_strings_print(&arguments, "-T%s/vgpu.ld", paths->data);
    zeta_cc_strings_split(&arguments,
                          "-pie --no-dynamic-linker --no-relax --gc-sections -Bsymbolic "
                          "--threads=1 --build-id=none -z norelro -e 0 -o - /proc/self/fd/0");
    if (program->imports.count > 0)
        zeta_cc_strings_add(&arguments, "--unresolved-symbols=ignore-all");
    add_exports(&arguments, program, LLVMGetFirstFunction(program->module), LLVMGetNextFunction);
    add_exports(&arguments, program, LLVMGetFirstGlobal(program->module), LLVMGetNextGlobal);
    /* The runtime's own information is of no use without the program's. */
    if (LLVMGetNamedMetadataNumOperands(program->module, "llvm.dbg.cu") == 0)
        zeta_cc_strings_add(&arguments, "--strip-debug");
    /* Taken only when code generation called something of it. */
    zeta_cc_strings_print(&arguments, "%s/support.a", paths->data);
    zeta_cc_child_start(&child, &arguments, object->bytes, object->size);
    zeta_cc_strings_finish(&arguments);
    status = zeta_cc_child_finish(&child, &tool, "program", out_elf, program->log);
    if (status != ZETA_COMPILE_OK)
        return status;
    linked = read_linked(out_elf);
    /* A linker lets everything undefined pass when there are imports. */
    for (size_t i = 1; program->imports.count > 0 && i < linked.symbol_count; i++) {
        const char *name = name_at(&linked.names, linked.symbols[i].st_name);

        if (linked.symbols[i].st_shndx != SHN_UNDEF || name[0] == '\0' ||
            zeta_cc_strings_have(&program->imports, name))
            continue;
        zeta_cc_buffer_line(program->log, "error: the runtime library has no %s", name);
        status = ZETA_COMPILE_BUILD_FAILED;
    }
    if (status == ZETA_COMPILE_OK && linked.symbols && linked.stack_sizes.bytes &&
        linked.info.bytes)
        write_needs(program, &linked);
    return status;
}
