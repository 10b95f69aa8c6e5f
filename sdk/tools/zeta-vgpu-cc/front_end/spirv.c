#include "spirv.h"

#include <stdlib.h>

#include "vgpu_spirv.h"

/* Of version 1, what the translator reads. */
enum { NEWEST_MINOR_VERSION = 4 };

static uint32_t opcode_of(uint32_t word)
{
    return word & 0xffff;
}

static uint32_t length_of(uint32_t word)
{
    return word >> 16;
}

static bool check_header(const uint32_t *words, size_t count, struct zeta_cc_buffer *log)
{
    if (count < SPIRV_HEADER_WORDS) {
        zeta_cc_buffer_line(log, "error: %zu bytes are no SPIR-V module, its header has %d",
                            count * 4, SPIRV_HEADER_WORDS * 4);
        return false;
    }
    if (words[0] != SPIRV_MAGIC) {
        zeta_cc_buffer_line(
            log, "error: not a SPIR-V module: it begins with 0x%08x, not with 0x%08x%s", words[0],
            SPIRV_MAGIC,
            words[0] == SPIRV_MAGIC_SWAPPED ? " (the bytes of each word are swapped)" : "");
        return false;
    }
    if (words[1] >> 16 != 1 || (words[1] >> 8 & 0xff) > NEWEST_MINOR_VERSION) {
        zeta_cc_buffer_line(log, "error: SPIR-V version %u.%u, the newest that can be read is 1.%d",
                            words[1] >> 16, words[1] >> 8 & 0xff, NEWEST_MINOR_VERSION);
        return false;
    }
    return true;
}

bool zeta_cc_spirv_check(const uint32_t *words, size_t count, struct zeta_cc_buffer *log)
{
    bool is_shader = false;
    bool is_kernel = false;

    if (!check_header(words, count, log))
        return false;
    for (size_t at = SPIRV_HEADER_WORDS; at < count; at += length_of(words[at])) {
        uint32_t length = length_of(words[at]);

        if (length == 0 || length > count - at) {
            zeta_cc_buffer_line(log,
                                "error: broken SPIR-V: the instruction at byte %zu has %u words, "
                                "%zu are left",
                                at * 4, length, count - at);
            return false;
        }
        if (opcode_of(words[at]) == SPIRV_OP_CAPABILITY && length > 1) {
            is_shader |= words[at + 1] == SPIRV_CAPABILITY_SHADER;
            is_kernel |= words[at + 1] == SPIRV_CAPABILITY_KERNEL;
        }
        if (opcode_of(words[at]) == SPIRV_OP_MEMORY_MODEL && length > 1 && is_kernel &&
            words[at + 1] != SPIRV_ADDRESSING_PHYSICAL64) {
            zeta_cc_buffer_line(log,
                                "error: the SPIR-V module has no 64-bit addresses (addressing "
                                "model %u): compile it for spir64",
                                words[at + 1]);
            return false;
        }
    }
    if (!is_kernel)
        zeta_cc_buffer_line(log, "error: the SPIR-V module %s",
                            is_shader ? "holds shaders: the virtual GPU runs OpenCL kernels only"
                                      : "does not declare the capability Kernel");
    return is_kernel;
}

/* One constant of a module. */
struct place {
    uint32_t spec_id;
    size_t at; /* of its instruction; 0: none */
    uint32_t size_bytes;
    bool is_bool;
};

static size_t collect_ids(const uint32_t *words, size_t count, struct place *places,
                          uint32_t *targets)
{
    size_t found = 0;

    for (size_t at = SPIRV_HEADER_WORDS; at < count; at += length_of(words[at])) {
        if (opcode_of(words[at]) != SPIRV_OP_DECORATE || length_of(words[at]) < 4 ||
            words[at + 2] != SPIRV_DECORATION_SPEC_ID)
            continue;
        if (places) {
            places[found] = (struct place){.spec_id = words[at + 3]};
            targets[found] = words[at + 1];
        }
        found++;
    }
    return found;
}

/* Bytes of a scalar type; 0 when it is none. */
static uint32_t type_bytes(const uint32_t *words, size_t count, uint32_t type)
{
    for (size_t at = SPIRV_HEADER_WORDS; at < count; at += length_of(words[at])) {
        uint32_t opcode = opcode_of(words[at]);

        if ((opcode == SPIRV_OP_TYPE_INT || opcode == SPIRV_OP_TYPE_FLOAT) &&
            length_of(words[at]) >= 3 && words[at + 1] == type)
            return words[at + 2] / 8;
    }
    return 0;
}

static void find_places(const uint32_t *words, size_t count, struct place *places,
                        const uint32_t *targets, size_t found)
{
    for (size_t at = SPIRV_HEADER_WORDS; at < count; at += length_of(words[at])) {
        uint32_t opcode = opcode_of(words[at]);
        uint32_t length = length_of(words[at]);

        if (opcode < SPIRV_OP_SPEC_CONSTANT_TRUE || opcode > SPIRV_OP_SPEC_CONSTANT || length < 3)
            continue;
        for (size_t i = 0; i < found; i++) {
            if (targets[i] != words[at + 2])
                continue;
            places[i].is_bool = opcode != SPIRV_OP_SPEC_CONSTANT;
            places[i].size_bytes = places[i].is_bool ? 1 : type_bytes(words, count, words[at + 1]);
            if (places[i].is_bool || length >= (places[i].size_bytes > 4 ? 5U : 4U))
                places[i].at = at;
        }
    }
}

static void report_known(const struct place *places, size_t found, struct zeta_cc_buffer *log)
{
    if (found == 0)
        zeta_cc_buffer_print(log, "the module has none");
    for (size_t i = 0; i < found && i < 64; i++)
        zeta_cc_buffer_print(log, "%s%u (%s%u byte%s)", i ? ", " : "the module has ",
                             places[i].spec_id, places[i].is_bool ? "bool, " : "",
                             places[i].size_bytes, places[i].size_bytes == 1 ? "" : "s");
    zeta_cc_buffer_print(log, found > 64 ? ", ...\n" : "\n");
}

static bool write_one(uint32_t *words, const struct place *places, size_t found,
                      const struct zeta_cc_constant *constant, struct zeta_cc_buffer *log)
{
    for (size_t i = 0; i < found; i++) {
        uint32_t *instruction = words + places[i].at;

        if (places[i].spec_id != constant->id || places[i].at == 0)
            continue;
        if (places[i].size_bytes != constant->size_bytes) {
            zeta_cc_buffer_print(log, "error: specialization constant %u: the value has %u bytes; ",
                                 constant->id, constant->size_bytes);
            report_known(places, found, log);
            return false;
        }
        if (places[i].is_bool) {
            instruction[0] =
                (instruction[0] & ~(uint32_t)0xffff) |
                (constant->value ? SPIRV_OP_SPEC_CONSTANT_TRUE : SPIRV_OP_SPEC_CONSTANT_FALSE);
            return true;
        }
        instruction[3] = (uint32_t)constant->value;
        if (places[i].size_bytes > 4)
            instruction[4] = (uint32_t)(constant->value >> 32);
        return true;
    }
    zeta_cc_buffer_print(log, "error: there is no specialization constant %u; ", constant->id);
    report_known(places, found, log);
    return false;
}

bool zeta_cc_spirv_specialize(uint32_t *words, size_t count,
                              const struct zeta_cc_constant *constants, size_t constant_count,
                              struct zeta_cc_buffer *log)
{
    size_t found = collect_ids(words, count, NULL, NULL);
    struct place *places = NULL;
    uint32_t *targets = NULL;
    bool is_fine = true;

    if (constant_count == 0)
        return true;
    places = zeta_cc_allocate(found, sizeof(*places));
    targets = zeta_cc_allocate(found, sizeof(*targets));
    (void)collect_ids(words, count, places, targets);
    find_places(words, count, places, targets, found);
    for (size_t i = 0; i < constant_count && is_fine; i++)
        is_fine = write_one(words, places, found, &constants[i], log);
    free(places);
    free(targets);
    return is_fine;
}
