/*
 * What a module is made from: the descriptor of the application, for the plugin.
 */
#ifndef ZETA_CORE_MODULE_MODULE_INPUT_H
#define ZETA_CORE_MODULE_MODULE_INPUT_H

#include <stdint.h>

#include <level_zero/ze_api.h>
#include <zeta/plugin.h>

/** A checked module descriptor. Refers to memory of the application. */
struct zeta_module_input {
    struct zeta_plugin_module_desc desc;
    struct zeta_plugin_module_part *parts; /**< of desc; owned */
    uint32_t profile_flags;                /**< asked for with -zet-profile-flags */
};

/**
 * Reads a module descriptor with the program descriptor that may be chained to it; then images,
 * flags and constants are those of the program. Constants of native images are left out.
 *
 * Errors: INVALID_SIZE for an empty image, INVALID_NULL_POINTER for an absent one or for absent
 * constants, INVALID_ENUMERATION is checked before, OUT_OF_HOST_MEMORY. Nothing to finish then.
 */
ze_result_t zeta_module_input_read(const ze_module_desc_t *desc,
                                   struct zeta_module_input *out_input);

/** Frees what reading made; for ZETA_CLEANUP. */
void zeta_module_input_finishp(struct zeta_module_input *input);

#endif
