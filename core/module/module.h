/*
 * Modules and kernels: code of a backend under a handle, and the arguments that a launch will take.
 *
 * A kernel pins its module, a recorded launch pins its kernel: destroying the handle of a kernel
 * that a command list still names is allowed and frees it later.
 */
#ifndef ZETA_CORE_MODULE_MODULE_H
#define ZETA_CORE_MODULE_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "core/object/object.h"

struct zeta_context;
struct zeta_device;
struct zeta_kernel_state;
struct zeta_link_group;

/** Code that a backend loaded for a device. */
struct zeta_module {
    struct zeta_object object;
    struct zeta_context *context; /**< pinned */
    struct zeta_device *device;
    struct zeta_backend *backend;
    struct zeta_plugin_module *plugin_module;
    char **kernel_names; /**< terminated, in the order of the module */
    uint32_t kernel_count;
    char **imports; /**< names that the image left open, terminated */
    uint32_t import_count;
    uint32_t profile_flags;        /**< zet_profile_flags_t that it was built with */
    _Atomic uint32_t live_kernels; /**< kernel handles that were not destroyed */
    _Atomic uint32_t is_linked;    /**< 1: the imports have been found */
    bool is_dumped;                /**< its image was written for others; module_dump.c */
    uint64_t dumped_begin;         /**< of its code, as written there */
    struct zeta_link_group *group; /**< modules that use each other; guarded by module_link.c */
};

/** One entry point of a module, with the state that launches capture. */
struct zeta_kernel {
    struct zeta_object object;
    struct zeta_module *module; /**< pinned */
    struct zeta_plugin_kernel *plugin_kernel;
    struct zeta_kernel_state *state;
};

/** What a launch takes from a kernel. */
struct zeta_launch_state {
    const void *block; /**< argument block, valid until the kernel is changed */
    uint32_t block_bytes;
    uint32_t group_size[3];
    uint64_t global_offset[3];
    uint32_t local_bytes; /**< static and dynamic local memory of a group */
};

/**
 * Gives the present launch state.
 * Errors: INVALID_ARGUMENT when an argument was never set, with its index; INVALID_ARGUMENT when a
 * group needs more local memory than there is.
 */
ze_result_t zeta_kernel_launch_state(const struct zeta_kernel *kernel,
                                     struct zeta_launch_state *out_state);

/**
 * Sets all arguments from an array of pointers to values; a local argument's entry points to its
 * size (size_t). Errors as zeKernelSetArgumentValue.
 */
ze_result_t zeta_kernel_set_arguments(struct zeta_kernel *kernel, void **arguments);

/**
 * Groups of the kernel that run at the same time on its device with the present group size; 0 when
 * no queue group of the device is cooperative.
 */
uint32_t zeta_kernel_max_cooperative_groups(const struct zeta_kernel *kernel);

/** The same for any group size and block of arguments. */
uint64_t zeta_kernel_resident_groups(const struct zeta_kernel *kernel, const uint32_t size[3],
                                     const void *block);

/** Name of a kernel, terminated. */
const char *zeta_kernel_name(const struct zeta_kernel *kernel);

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

/** SUCCESS, or INVALID_MODULE_UNLINKED with the name that is missing. Any thread. */
ze_result_t zeta_module_check_linked(const struct zeta_module *module);

/**
 * Releases the plugin's module: destroys it, or leaves it to the last module of its group, since
 * the others may run its code. Called by the finisher of modules.
 */
void zeta_module_release(struct zeta_module *module);

/**
 * Writes the image of a module that was just built to the directory of ZETA_MODULE_DUMP, and a line
 * about it; nothing without the variable. Failures are logged.
 */
void zeta_module_dump(struct zeta_module *module);

/** Writes that the module is gone, if its image was written. */
void zeta_module_dump_end(struct zeta_module *module);

#endif
