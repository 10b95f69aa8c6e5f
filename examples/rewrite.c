#include "rewrite.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "example.h"

enum { MAX_KERNELS = 64 };

/* ---- what the driver knows ---- */

void rewrite_check_device(ze_device_handle_t device)
{
    enum { ZETA = 0x5a455441 };
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    example_check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    if (properties.vendorId != ZETA)
        example_fail("this rewrites kernels of the virtual GPU (RV64 code), which %s does not run: "
                     "set ZETA_PLUGINS_SELECT=vgpu",
                     properties.name);
}

uint8_t *rewrite_native_binary(ze_module_handle_t module, size_t *out_bytes)
{
    uint8_t *file = NULL;

    *out_bytes = 0;
    example_check(zeModuleGetNativeBinary(module, out_bytes, NULL), "zeModuleGetNativeBinary");
    file = malloc(*out_bytes);
    if (!file)
        example_fail("no memory for %zu bytes", *out_bytes);
    example_check(zeModuleGetNativeBinary(module, out_bytes, file), "zeModuleGetNativeBinary");
    return file;
}

/* The names live as long as the module. */
static uint32_t kernel_names(ze_module_handle_t module, const char *names[MAX_KERNELS])
{
    uint32_t count = MAX_KERNELS;

    example_check(zeModuleGetKernelNames(module, &count, names), "zeModuleGetKernelNames");
    return count;
}

/* The integer registers that a kernel leaves free: bit n is xn, which has byte 8 n of the file. */
static uint32_t free_registers(ze_module_handle_t module, const char *name)
{
    const ze_kernel_desc_t description = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = name};
    /* The token and its sequences follow the properties, with the room that is said here. */
    struct {
        zet_profile_properties_t properties;
        zet_profile_free_register_token_t token;
        zet_profile_register_sequence_t sequences[64];
    } profile = {.properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES}};
    struct zeta_profile_room room = {.stype = ZETA_STRUCTURE_TYPE_PROFILE_ROOM,
                                     .size_bytes = sizeof(profile) - sizeof(profile.properties)};
    ze_kernel_handle_t kernel = NULL;
    uint32_t found = 0;

    profile.properties.pNext = &room;
    example_check(zeKernelCreate(module, &description, &kernel), "zeKernelCreate");
    example_check(zetKernelGetProfileInfo(kernel, &profile.properties), "zetKernelGetProfileInfo");
    example_check(zeKernelDestroy(kernel), "zeKernelDestroy");
    if (profile.properties.numTokens == 0)
        example_fail("the driver does not tell which registers kernel %s leaves free", name);
    for (uint32_t i = 0; i < profile.token.count; i++) {
        const zet_profile_register_sequence_t *bytes = &profile.sequences[i];

        for (uint32_t x = 0; x < 32; x++) {
            if (x * 8 >= bytes->start && x * 8 + 8 <= bytes->start + bytes->count)
                found |= UINT32_C(1) << x;
        }
    }
    return found;
}

void rewrite_find_registers(ze_module_handle_t module, uint32_t out_registers[2])
{
    const char *names[MAX_KERNELS];
    const uint32_t count = kernel_names(module, names);
    uint32_t free_in_all = UINT32_MAX;
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++)
        free_in_all &= free_registers(module, names[i]);
    for (uint32_t x = 0; x < 32 && found < 2; x++) {
        if (free_in_all >> x & 1)
            out_registers[found++] = x;
    }
    if (count == 0 || found < 2)
        example_fail("kernels of the module leave %" PRIu32 " registers free, 2 are needed", found);
}

ze_module_handle_t rewrite_load(ze_context_handle_t context, ze_device_handle_t device,
                                const uint8_t *file, size_t bytes, const char *build_flags)
{
    const ze_module_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_NATIVE,
        .inputSize = bytes,
        .pInputModule = file,
        .pBuildFlags = build_flags,
    };
    ze_module_handle_t module = NULL;

    example_check(zeModuleCreate(context, device, &description, &module, NULL), "zeModuleCreate");
    return module;
}

/* ---- the code of a file ---- */

/* The executable segment, by instruction, and what is written behind it. */
struct code {
    uint32_t *words; /* in the file; of the kernels, then of the counters */
    uint32_t count;  /* of the kernels */
    uint32_t used;   /* of all so far */
    uint32_t room;
    uint64_t begin;    /* address of the first one in the file */
    bool *begins;      /* by instruction: it begins a block */
    uint32_t *targets; /* of these, what is still to be followed */
    uint32_t target_count;
};

enum { OPCODE = 0x7f, JAL = 0x6f, JALR = 0x67, BRANCH = 0x63, AUIPC = 0x17, ATOMIC = 0x2f };

/* Bits of the word, and a field of them at another place. */
static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

static int32_t branch_distance(uint32_t word)
{
    const uint32_t field = bits(word, 31, 1) << 12 | bits(word, 7, 1) << 11 |
                           bits(word, 25, 6) << 5 | bits(word, 8, 4) << 1;

    return (int32_t)(field << 19) >> 19;
}

static int32_t jal_distance(uint32_t word)
{
    const uint32_t field = bits(word, 31, 1) << 20 | bits(word, 12, 8) << 12 |
                           bits(word, 20, 1) << 11 | bits(word, 21, 10) << 1;

    return (int32_t)(field << 11) >> 11;
}

static uint32_t jal(uint32_t link, int32_t distance)
{
    const uint32_t d = (uint32_t)distance;

    return bits(d, 20, 1) << 31 | bits(d, 1, 10) << 21 | bits(d, 11, 1) << 20 |
           bits(d, 12, 8) << 12 | link << 7 | JAL;
}

static uint32_t immediate(uint32_t opcode, uint32_t function, uint32_t target, uint32_t source,
                          int32_t value)
{
    return (uint32_t)value << 20 | source << 15 | function << 12 | target << 7 | opcode;
}

/* A place that code goes to begins a block, and is still to be followed. */
static void begin_block(struct code *code, int64_t index)
{
    if (index < 0 || index >= (int64_t)code->count || code->begins[index])
        return;
    code->begins[index] = true;
    code->targets[code->target_count++] = (uint32_t)index;
}

/*
 * Follows the code from a place to where it goes elsewhere. Blocks begin where code jumps to and
 * behind what jumps. Free registers are known, so no jump goes to an address that only its
 * execution tells, but returns.
 */
static void follow(struct code *code, uint32_t index)
{
    for (; index < code->count; index++) {
        const uint32_t word = code->words[index];
        const uint32_t before = index > 0 ? code->words[index - 1] : 0;
        const uint32_t opcode = word & OPCODE;

        if (opcode == BRANCH)
            begin_block(code, (int64_t)index + branch_distance(word) / 4);
        if (opcode == JAL)
            begin_block(code, (int64_t)index + jal_distance(word) / 4);
        /* A far jump: auipc has the upper part of the distance, and jalr the lower one. */
        if (opcode == JALR && (before & OPCODE) == AUIPC && bits(before, 7, 5) == bits(word, 15, 5))
            begin_block(code, (int64_t)index - 1 +
                                  ((int32_t)(before & 0xfffff000u) + ((int32_t)word >> 20)) / 4);
        if (opcode == ATOMIC && bits(word, 28, 4) == 1)
            example_fail("the code has reservations (lr, sc), which counting would break");
        if (opcode == BRANCH || opcode == JAL || opcode == JALR) {
            /* What does not come back ends here. */
            if (opcode == BRANCH || bits(word, 7, 5) != 0)
                begin_block(code, (int64_t)index + 1);
            return;
        }
    }
}

/* A kernel is its function and its entry stub, whose name ends with that of the kernel. */
static bool belongs(const char *symbol, const char *kernel)
{
    const size_t length = strlen(symbol);
    const size_t end = strlen(kernel);

    return length >= end && strcmp(symbol + length - end, kernel) == 0;
}

/* Finds the blocks of the kernels, and of what they call. */
static void find_blocks(struct code *code, const uint8_t *file, const char *const *kernels,
                        uint32_t kernel_count)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + header->e_shoff);

    for (uint32_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(file + sections[i].sh_offset);
        const uint64_t count = sections[i].sh_size / sizeof(*symbols);

        for (uint64_t k = 0; sections[i].sh_type == SHT_SYMTAB && k < count; k++) {
            const char *name =
                (const char *)file + sections[sections[i].sh_link].sh_offset + symbols[k].st_name;

            for (uint32_t n = 0; n < kernel_count; n++) {
                if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && belongs(name, kernels[n]))
                    begin_block(code, (int64_t)(symbols[k].st_value - code->begin) / 4);
            }
        }
    }
    while (code->target_count > 0)
        follow(code, code->targets[--code->target_count]);
}

static void add_word(struct code *code, uint32_t word)
{
    if (code->used == code->room)
        example_fail("the %" PRIu32 " words behind the code are too few for its counters",
                     code->room - code->count);
    code->words[code->used++] = word;
}

static int32_t distance(uint32_t from, uint32_t to)
{
    return ((int32_t)to - (int32_t)from) * 4;
}

/* The instruction at a place, which may depend on it, somewhere else. Then the one behind it. */
static void move_instruction(struct code *code, uint32_t index)
{
    const uint32_t word = code->words[index];
    const uint32_t target = bits(word, 7, 5);
    const uint32_t here = code->used;

    switch (word & OPCODE) {
    case BRANCH: /* over the way on, to a jump */
        add_word(code, (word & ~0xfe000f80u) | 8u << 7);
        add_word(code, jal(0, distance(here + 1, index + 1)));
        add_word(code, jal(0, distance(here + 2, index) + branch_distance(word)));
        return;
    case JAL:
        add_word(code, jal(target, distance(here, index) + jal_distance(word)));
        break;
    case AUIPC: { /* the same address, seen from here */
        const int32_t value = distance(here, index) + (int32_t)(word & 0xfffff000u);
        const int32_t upper = (int32_t)((uint32_t)value + 0x800u) & (int32_t)0xfffff000;

        add_word(code, (uint32_t)upper | target << 7 | AUIPC);
        add_word(code, immediate(0x13, 0, target, target, value - upper)); /* addi */
        break;
    }
    default:
        add_word(code, word);
    }
    add_word(code, jal(0, distance(code->used, index + 1)));
}

static bool jumps(uint32_t word)
{
    const uint32_t opcode = word & OPCODE;

    return opcode == BRANCH || opcode == JAL || opcode == JALR;
}

/* Makes the block at @index go through code that counts it. @literal: where the address lies. */
static void count_block(struct code *code, uint32_t index, uint32_t literal,
                        const uint32_t registers[2])
{
    const uint32_t address = registers[0];
    const uint32_t number = registers[1];
    const uint32_t entry = code->used;
    uint32_t end = index + 1;

    while (end < code->count && !code->begins[end] && !jumps(code->words[end - 1]))
        end++;
    add_word(code, address << 7 | AUIPC);
    add_word(code, immediate(0x03, 3, address, address, distance(entry, literal))); /* ld */
    add_word(code, immediate(0x13, 0, number, 0, (int32_t)(end - index)));          /* li */
    add_word(code, number << 20 | address << 15 | 3u << 12 | ATOMIC);               /* amoadd.d */
    move_instruction(code, index);
    code->words[index] = jal(0, distance(index, entry));
}

/* The executable segment, with the gap behind it, in memory and in the file. */
static struct code find_code(uint8_t *file, size_t bytes, Elf64_Phdr **out_segment)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    Elf64_Phdr *segments = (Elf64_Phdr *)(void *)(file + header->e_phoff);
    uint64_t room = UINT64_MAX;
    Elf64_Phdr *text = NULL;

    if (bytes < sizeof(*header) || header->e_machine != EM_RISCV)
        example_fail("the native binary is no RV64 ELF file: this example is for the virtual GPU");
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
            text = &segments[i];
    }
    if (!text)
        example_fail("the native binary has no code");
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *next = &segments[i];

        if (next->p_type != PT_LOAD || next->p_vaddr <= text->p_vaddr)
            continue;
        if (next->p_vaddr - text->p_vaddr < room)
            room = next->p_vaddr - text->p_vaddr;
        if (next->p_filesz > 0 && next->p_offset - text->p_offset < room)
            room = next->p_offset - text->p_offset;
    }
    if (room > bytes - text->p_offset)
        room = text->p_filesz;
    *out_segment = text;
    return (struct code){.words = (uint32_t *)(void *)(file + text->p_offset),
                         .count = (uint32_t)(text->p_filesz / 4),
                         .used = (uint32_t)(text->p_filesz / 4),
                         .room = (uint32_t)(room / 4),
                         .begin = text->p_vaddr};
}

uint32_t rewrite_count_instructions(ze_module_handle_t module, uint8_t *file, size_t bytes,
                                    const uint32_t registers[2], const uint64_t *counter)
{
    const uint64_t address = (uintptr_t)counter;
    const char *kernels[MAX_KERNELS];
    const uint32_t kernel_count = kernel_names(module, kernels);
    Elf64_Phdr *segment = NULL;
    struct code code = find_code(file, bytes, &segment);
    uint32_t blocks = 0;
    uint32_t literal;

    code.begins = calloc((size_t)code.count + 1, sizeof(*code.begins));
    code.targets = calloc((size_t)code.count + 1, sizeof(*code.targets));
    if (!code.begins || !code.targets)
        example_fail("no memory for %" PRIu32 " instructions", code.count);
    find_blocks(&code, file, kernels, kernel_count);
    code.used += code.used % 2; /* the address of the counter takes whole 8 bytes */
    literal = code.used;
    add_word(&code, (uint32_t)address);
    add_word(&code, (uint32_t)(address >> 32));
    for (uint32_t i = 0; i < code.count; i++) {
        if (!code.begins[i])
            continue;
        count_block(&code, i, literal, registers);
        blocks++;
    }
    segment->p_filesz = segment->p_memsz = (uint64_t)code.used * 4;
    free(code.begins);
    free(code.targets);
    return blocks;
}
