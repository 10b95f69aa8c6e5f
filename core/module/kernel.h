/*
 * What hangs off a kernel object; only for files that deal with kernels and their launches.
 */
#ifndef ZETA_CORE_MODULE_KERNEL_H
#define ZETA_CORE_MODULE_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/module/module.h"

/** One argument, as the backend described it. */
struct zeta_kernel_argument {
    uint32_t kind; /**< ZETA_PLUGIN_ARG_* */
    uint32_t size_bytes;
    uint32_t offset_bytes;
    bool is_set;
    atomic_bool is_logged; /**< the log has that it was given another size */
};

struct zeta_kernel_state {
    struct zeta_plugin_kernel_properties properties;
    char *name;       /**< terminated */
    char *attributes; /**< terminated, blank separated */
    uint32_t argument_count;
    struct zeta_kernel_argument *arguments;
    unsigned char *block; /**< values of the arguments at their places */
    uint32_t group_size[3];
    uint64_t global_offset[3];
    uint32_t indirect_access; /**< ze_kernel_indirect_access_flags_t */
};

/**
 * Reads properties and arguments from the backend and makes the initial state: nothing set, the
 * group size is the required one or 1.
 * Errors: those of the backend; UNKNOWN for arguments outside the block; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_kernel_state_create(const struct zeta_module *module,
                                     struct zeta_plugin_kernel *kernel,
                                     struct zeta_kernel_state **out_state);

/** Frees a state. NULL is allowed. */
void zeta_kernel_state_destroy(struct zeta_kernel_state *state);

/** INVALID_GROUP_SIZE_DIMENSION unless the kernel and its device can run groups of that size. */
ze_result_t zeta_kernel_check_group_size(const struct zeta_kernel *kernel, const uint32_t size[3]);

/**
 * Writes the value of an argument into a block of arguments of the kernel, as
 * zeKernelSetArgumentValue does into the kernel's own. Errors as there; nothing is written then.
 */
ze_result_t zeta_kernel_write_argument(const struct zeta_kernel *kernel, unsigned char *block,
                                       uint32_t index, size_t size, const void *value);

#endif
