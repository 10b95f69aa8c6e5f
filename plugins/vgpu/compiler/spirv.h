#ifndef ZETA_PLUGINS_VGPU_COMPILER_SPIRV_H
#define ZETA_PLUGINS_VGPU_COMPILER_SPIRV_H

/*
 * As much of SPIR-V as the plugin has to know: the header, and which specialization constants a
 * module has. Nothing in a module is trusted; memory is bounded by the limit of ids (32 MiB) and
 * time by the size of the module.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_vgpu_message;

/** A specialization constant. */
struct zeta_vgpu_spirv_constant {
    uint32_t id;         /**< its SpecId */
    uint32_t size_bytes; /**< of its type: 1, 2, 4 or 8; a boolean has 1 */
};

/** True for bytes that begin like a SPIR-V module, else false with the reason in @out_message. */
bool zeta_vgpu_spirv_check(const void *bytes, size_t size, struct zeta_vgpu_message *out_message);

/**
 * Lists the specialization constants of a module, in its order.
 *
 * @out_constants  to be freed by the caller; an array also when there are none
 * False with the reason for what is no module, or without memory.
 */
bool zeta_vgpu_spirv_constants(const void *bytes, size_t size,
                               struct zeta_vgpu_spirv_constant **out_constants, uint32_t *out_count,
                               struct zeta_vgpu_message *out_message);

#endif
