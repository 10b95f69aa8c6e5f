#include "link.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-vgpu-cc/program/program.h"
#include "vgpu_abi.h"

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

/* All functions that have a symbol, by address. */
static void list_functions(const struct zeta_cc_elf_symbols *symbols, struct frames *frames)
{
    frames->list = zeta_cc_allocate(symbols->count, sizeof(*frames->list));
    for (size_t i = 1; i < symbols->count; i++) {
        struct zeta_cc_elf_symbol symbol = zeta_cc_elf_symbol(symbols, i);

        if (symbol.is_defined && symbol.is_function)
            frames->list[frames->count++] =
                (struct frame){symbol.name, symbol.address, UNKNOWN, NOT_VISITED};
    }
    qsort(frames->list, frames->count, sizeof(*frames->list), compare_addresses);
}

static uint64_t read_leb(const unsigned char **at, const unsigned char *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *at < end; shift += 7) {
        unsigned char byte = *(*at)++;

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

/* Entries of 8 bytes of address and a size. */
static void read_sizes(const unsigned char *at, size_t size, struct frames *frames)
{
    const unsigned char *end = at + size;

    while (end - at > 8) {
        struct frame key = {0};
        struct frame *found;
        uint64_t bytes;

        memcpy(&key.address, at, sizeof(key.address));
        at += 8;
        bytes = read_leb(&at, end);
        found = bsearch(&key, frames->list, frames->count, sizeof(key), compare_addresses);
        if (found)
            found->bytes = (int64_t)bytes;
    }
}

static int64_t deepest(const struct frames *frames, LLVMValueRef function);

/* The need of what an instruction calls; 0 when it calls nothing. */
static int64_t callee_bytes(const struct frames *frames, LLVMValueRef instruction)
{
    LLVMValueRef callee;

    if (!LLVMIsACallInst(instruction))
        return 0;
    callee = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(callee))
        return 0;
    if (!LLVMIsAFunction(callee))
        return UNKNOWN;
    return LLVMGetIntrinsicID(callee) != 0 ? 0 : deepest(frames, callee);
}

/* The largest need of what a function calls. */
static int64_t deepest_callee(const struct frames *frames, LLVMValueRef function)
{
    int64_t most = 0;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each;
             each = LLVMGetNextInstruction(each)) {
            int64_t bytes = callee_bytes(frames, each);

            if (bytes == UNKNOWN)
                return UNKNOWN;
            if (bytes > most)
                most = bytes;
        }
    }
    return most;
}

/* A function that is met again while it is being visited calls itself: unknown. */
static int64_t deepest(const struct frames *frames, LLVMValueRef function)
{
    struct frame key = {.name = zeta_cc_value_name(function)};
    struct frame *frame = bsearch(&key, frames->list, frames->count, sizeof(key), compare_names);
    int64_t below;

    if (!frame || frame->bytes == UNKNOWN || !zeta_cc_is_defined(function))
        return UNKNOWN;
    if (frame->deepest != NOT_VISITED)
        return frame->deepest;
    frame->deepest = UNKNOWN;
    below = deepest_callee(frames, function);
    if (below != UNKNOWN)
        frame->deepest = frame->bytes + below;
    return frame->deepest;
}

/* A part of a record in the file. */
static void write_word(char *record, size_t offset, uint32_t value)
{
    memcpy(record + offset, &value, sizeof(value));
}

/* The record of a kernel in the file, or null. */
static char *find_record(const struct zeta_cc_elf_section *info,
                         const struct zeta_cc_elf_symbols *symbols, const char *kernel, char *elf)
{
    const size_t smallest = sizeof(struct vgpu_kernel_info) + sizeof(struct vgpu_kernel_extra);
    struct zeta_cc_buffer name = {0};
    char *record = NULL;

    zeta_cc_buffer_print(&name, ZETA_CC_RECORD_PREFIX "%s", kernel);
    for (size_t i = 1; i < symbols->count && !record; i++) {
        struct zeta_cc_elf_symbol symbol = zeta_cc_elf_symbol(symbols, i);
        uint64_t at = symbol.address - info->address;

        if (strcmp(symbol.name, name.bytes) == 0 && at <= info->size && info->size - at >= smallest)
            record = elf + info->offset + at;
    }
    zeta_cc_buffer_finish(&name);
    return record;
}

static void write_private(const struct zeta_cc_program *program, const struct frames *frames,
                          const char *kernel, char *record)
{
    struct zeta_cc_buffer name = {0};
    LLVMValueRef stub;
    int64_t bytes;

    zeta_cc_buffer_print(&name, ZETA_CC_ENTRY_PREFIX "%s", kernel);
    stub = LLVMGetNamedFunction(program->module, name.bytes);
    bytes = stub ? deepest(frames, stub) : UNKNOWN;
    zeta_cc_buffer_finish(&name);
    if (bytes > 0 && bytes <= UINT32_MAX)
        write_word(record, offsetof(struct vgpu_kernel_info, private_bytes), (uint32_t)bytes);
}

static void write_local(uint32_t bytes, char *record)
{
    struct vgpu_kernel_info info;
    size_t extra;

    memcpy(&info, record, sizeof(info));
    extra = sizeof(info) + info.argument_count * sizeof(struct vgpu_argument_info);
    write_word(record, extra + offsetof(struct vgpu_kernel_extra, local_known), 1);
    write_word(record, extra + offsetof(struct vgpu_kernel_extra, local_bytes), bytes);
}

void zeta_cc_needs_write(const struct zeta_cc_program *program, struct zeta_cc_buffer *elf)
{
    struct zeta_cc_elf_symbols symbols;
    struct zeta_cc_elf_section sizes;
    struct zeta_cc_elf_section info;
    struct frames frames = {0};

    if (!zeta_cc_elf_section(elf->bytes, elf->size, ".stack_sizes", &sizes) ||
        !zeta_cc_elf_section(elf->bytes, elf->size, ".vgpu.info", &info) ||
        !zeta_cc_elf_symbols(elf->bytes, elf->size, &symbols))
        return;
    list_functions(&symbols, &frames);
    read_sizes((const unsigned char *)elf->bytes + sizes.offset, sizes.size, &frames);
    qsort(frames.list, frames.count, sizeof(*frames.list), compare_names);
    for (size_t i = 0; i < program->kernels.count; i++) {
        const char *kernel = program->kernels.list[i];
        char *record = find_record(&info, &symbols, kernel, elf->bytes);

        if (!record)
            continue;
        write_private(program, &frames, kernel, record);
        if (program->local_bytes)
            write_local(program->local_bytes[i], record);
    }
    free(frames.list);
}
