#include "front_end.h"

#include <stdlib.h>

#include <zeta/compiler/spirv.h>

/* Of version 1, what the translator reads. */
enum { NEWEST_MINOR_VERSION = 4 };

bool zeta_cc_spirv_check(const uint32_t *words, size_t count, struct zeta_cc_buffer *log)
{
    bool is_shader = false;
    bool is_kernel = false;

    if (count < ZETA_SPIRV_HEADER_WORDS) {
        zeta_cc_buffer_line(log, "error: %zu bytes are no SPIR-V module, its header has %d",
                            count * 4, ZETA_SPIRV_HEADER_WORDS * 4);
        return false;
    }
    if (words[0] != ZETA_SPIRV_MAGIC) {
        zeta_cc_buffer_line(
            log, "error: not a SPIR-V module: it begins with 0x%08x, not with 0x%08x%s", words[0],
            ZETA_SPIRV_MAGIC,
            words[0] == ZETA_SPIRV_MAGIC_SWAPPED ? " (the bytes of each word are swapped)" : "");
        return false;
    }
    if (words[1] >> 16 != 1 || (words[1] >> 8 & 0xff) > NEWEST_MINOR_VERSION) {
        zeta_cc_buffer_line(log, "error: SPIR-V version %u.%u, the newest that can be read is 1.%d",
                            words[1] >> 16, words[1] >> 8 & 0xff, NEWEST_MINOR_VERSION);
        return false;
    }
    for (size_t at = ZETA_SPIRV_HEADER_WORDS; at < count; at += words[at] >> 16) {
        uint32_t opcode = words[at] & 0xffff;
        uint32_t length = words[at] >> 16;

        if (length == 0 || length > count - at) {
            zeta_cc_buffer_line(log,
                                "error: broken SPIR-V: the instruction at byte %zu has %u words, "
                                "%zu are left",
                                at * 4, length, count - at);
            return false;
        }
        if (opcode == ZETA_SPIRV_OP_CAPABILITY && length > 1) {
            is_shader |= words[at + 1] == ZETA_SPIRV_CAPABILITY_SHADER;
            is_kernel |= words[at + 1] == ZETA_SPIRV_CAPABILITY_KERNEL;
        }
        if (opcode == ZETA_SPIRV_OP_MEMORY_MODEL && length > 1 && is_kernel &&
            words[at + 1] != ZETA_SPIRV_ADDRESSING_PHYSICAL64) {
            zeta_cc_buffer_line(log,
                                "error: the SPIR-V module has no 64-bit addresses (addressing "
                                "model %u): compile it for spir64",
                                words[at + 1]);
            return false;
        }
    }
    if (!is_kernel)
        zeta_cc_buffer_line(log, "error: the SPIR-V module %s",
                            is_shader ? "holds shaders: only kernels of OpenCL can be compiled"
                                      : "does not declare the capability Kernel");
    return is_kernel;
}

static void report_known(const struct zeta_spirv_constant *known, uint32_t count,
                         struct zeta_cc_buffer *log)
{
    if (count == 0)
        zeta_cc_buffer_print(log, "the module has none");
    for (uint32_t i = 0; i < count && i < 64; i++)
        zeta_cc_buffer_print(log, "%s%u (%s%u byte%s)", i ? ", " : "the module has ", known[i].id,
                             known[i].is_bool ? "bool, " : "", known[i].size_bytes,
                             known[i].size_bytes == 1 ? "" : "s");
    zeta_cc_buffer_print(log, count > 64 ? ", ...\n" : "\n");
}

static bool write_one(uint32_t *words, const struct zeta_spirv_constant *known, uint32_t count,
                      const struct zeta_cc_constant *constant, struct zeta_cc_buffer *log)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *instruction = words + known[i].at;

        if (known[i].id != constant->id)
            continue;
        if (known[i].size_bytes != constant->size_bytes) {
            zeta_cc_buffer_print(log, "error: specialization constant %u: the value has %u bytes; ",
                                 constant->id, constant->size_bytes);
            report_known(known, count, log);
            return false;
        }
        if (known[i].is_bool) {
            instruction[0] = (instruction[0] & ~(uint32_t)0xffff) |
                             (constant->value ? ZETA_SPIRV_OP_SPEC_CONSTANT_TRUE
                                              : ZETA_SPIRV_OP_SPEC_CONSTANT_FALSE);
            return true;
        }
        if (known[i].words < (known[i].size_bytes > 4 ? 5u : 4u))
            continue;
        instruction[3] = (uint32_t)constant->value;
        if (known[i].size_bytes > 4)
            instruction[4] = (uint32_t)(constant->value >> 32);
        return true;
    }
    zeta_cc_buffer_print(log, "error: there is no specialization constant %u; ", constant->id);
    report_known(known, count, log);
    return false;
}

bool zeta_cc_spirv_specialize(uint32_t *words, size_t count,
                              const struct zeta_cc_constant *constants, size_t constant_count,
                              struct zeta_cc_buffer *log)
{
    struct zeta_spirv_constant *known = NULL;
    uint32_t known_count = 0;
    bool is_fine = true;
    char reason[256];

    if (constant_count == 0)
        return true;
    if (!zeta_spirv_constants(words, count * sizeof(*words), &known, &known_count, reason,
                              sizeof(reason))) {
        zeta_cc_buffer_line(log, "error: %s", reason);
        return false;
    }
    for (size_t i = 0; i < constant_count && is_fine; i++)
        is_fine = write_one(words, known, known_count, &constants[i], log);
    free(known);
    return is_fine;
}
