#ifndef ZETA_SPIRV_H
#define ZETA_SPIRV_H

/*
 * As much of SPIR-V as both a plugin and its compiler read of a module: the header, and which
 * specialization constants it has. Nothing in a module is trusted; memory is bounded by the
 * limit of ids (32 MiB) and time by the size of the module. Source: the SPIR-V specification,
 * sections 2.3 (layout) and 3 (binary form).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ZETA_SPIRV_MAGIC = 0x07230203,
    ZETA_SPIRV_MAGIC_SWAPPED = 0x03022307, /* the bytes of each word in the other order */
    ZETA_SPIRV_HEADER_WORDS = 5,

    ZETA_SPIRV_OP_MEMORY_MODEL = 14,
    ZETA_SPIRV_OP_CAPABILITY = 17,
    ZETA_SPIRV_OP_TYPE_BOOL = 20,
    ZETA_SPIRV_OP_TYPE_INT = 21,
    ZETA_SPIRV_OP_TYPE_FLOAT = 22,
    ZETA_SPIRV_OP_SPEC_CONSTANT_TRUE = 48,
    ZETA_SPIRV_OP_SPEC_CONSTANT_FALSE = 49,
    ZETA_SPIRV_OP_SPEC_CONSTANT = 50,
    ZETA_SPIRV_OP_DECORATE = 71,

    ZETA_SPIRV_CAPABILITY_SHADER = 1,
    ZETA_SPIRV_CAPABILITY_KERNEL = 6,
    ZETA_SPIRV_ADDRESSING_PHYSICAL64 = 2,
    ZETA_SPIRV_DECORATION_SPEC_ID = 1
};

/** A specialization constant. */
struct zeta_spirv_constant {
    uint32_t id;         /**< its SpecId */
    uint32_t size_bytes; /**< of its type: 1, 2, 4 or 8; a boolean has 1 */
    bool is_bool;
    size_t at;      /**< word of its instruction in the module */
    uint32_t words; /**< of that instruction */
};

/** True for bytes that begin like a SPIR-V module, else false with the reason. */
bool zeta_spirv_check(const void *bytes, size_t size, char *out_reason, size_t reason_bytes);

/**
 * Lists the specialization constants of a module, in its order.
 *
 * @out_constants  to be freed by the caller; an array also when there are none
 * False with the reason for what is no module, or without memory.
 */
bool zeta_spirv_constants(const void *bytes, size_t size,
                          struct zeta_spirv_constant **out_constants, uint32_t *out_count,
                          char *out_reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif

#endif
