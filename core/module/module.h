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
#include "core/util/list.h"

struct zeta_context;
struct zeta_device;
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

/** One argument, as the backend described it. */
struct zeta_kernel_argument {
    uint32_t kind; /**< ZETA_PLUGIN_ARG_* */
    uint32_t size_bytes;
    uint32_t offset_bytes;
    bool is_optional; /**< local memory that no array of arguments has */
    bool is_set;
    atomic_bool is_logged; /**< the log has that it was given another size */
};

/** One entry point of a module, with what launches capture. */
struct zeta_kernel {
    struct zeta_object object;
    struct zeta_module *module; /**< pinned */
    struct zeta_plugin_kernel *plugin_kernel;
    struct zeta_plugin_kernel_properties *properties; /**< too large for the slot of an object */
    char *name;                                       /**< terminated */
    char *attributes;                                 /**< terminated, blank separated */
    uint32_t argument_count;
    struct zeta_kernel_argument *arguments;
    unsigned char *block; /**< values of the arguments at their places */
    uint32_t group_size[3];
    uint64_t global_offset[3];
    uint32_t indirect_access; /**< ze_kernel_indirect_access_flags_t */
};

/** What a launch takes from a kernel. */
struct zeta_launch_state {
    const void *block; /**< argument block, valid until the kernel is changed */
    uint32_t block_bytes;
    uint32_t group_size[3];
    uint64_t global_offset[3];
    uint32_t local_bytes; /**< static and dynamic local memory of a group */
};

/** The present launch state. INVALID_ARGUMENT: an argument is not set, or too much local memory. */
ze_result_t zeta_kernel_launch_state(const struct zeta_kernel *kernel,
                                     struct zeta_launch_state *out_state);

/**
 * Sets all arguments from an array of pointers to values; a local argument's entry points to its
 * size (size_t). Errors as zeKernelSetArgumentValue.
 */
ze_result_t zeta_kernel_set_arguments(struct zeta_kernel *kernel, void **arguments);

/**
 * Groups of the kernel that run at the same time on its device; 0 when no queue group of the device
 * is cooperative.
 */
uint64_t zeta_kernel_resident_groups(const struct zeta_kernel *kernel, const uint32_t size[3],
                                     const void *block);

/** INVALID_GROUP_SIZE_DIMENSION unless the kernel and its device can run groups of that size. */
ze_result_t zeta_kernel_check_group_size(const struct zeta_kernel *kernel, const uint32_t size[3]);

/** UNSUPPORTED_FEATURE with a sentence if launches of the kernel cannot have that global offset. */
ze_result_t zeta_kernel_check_offset(const struct zeta_kernel *kernel, const uint64_t offset[3]);

/** Writes an argument into any block of the kernel's arguments; zeKernelSetArgumentValue else. */
ze_result_t zeta_kernel_write_argument(const struct zeta_kernel *kernel, unsigned char *block,
                                       uint32_t index, size_t size, const void *value);

/** A checked module descriptor. Refers to memory of the application. */
struct zeta_module_input {
    struct zeta_plugin_module_desc desc;
    struct zeta_plugin_module_part *parts; /**< of desc; owned */
    uint32_t profile_flags;                /**< asked for with -zet-profile-flags */
};

/**
 * Reads a module descriptor or the program descriptor that is chained to it. Constants of native
 * images are left out. Errors: INVALID_SIZE for an empty image, INVALID_NULL_POINTER for an absent
 * one or absent constants, OUT_OF_HOST_MEMORY. Nothing to finish then.
 */
ze_result_t zeta_module_input_read(const ze_module_desc_t *desc,
                                   struct zeta_module_input *out_input);

/** Frees what reading made; for ZETA_CLEANUP. */
void zeta_module_input_finishp(struct zeta_module_input *input);

/** SUCCESS, or INVALID_MODULE_UNLINKED with the name that is missing. Any thread. */
ze_result_t zeta_module_check_linked(const struct zeta_module *module);

/** Destroys the plugin's module, or leaves it to the last of its group: others may run its code. */
void zeta_module_release(struct zeta_module *module);

/** Writes the image of a new module to ZETA_MODULE_DUMP, if that is set. Failures are logged. */
void zeta_module_dump(struct zeta_module *module);

/** Writes that the module is gone, if its image was written. */
void zeta_module_dump_end(struct zeta_module *module);

/** The write function of a log sink: appends to a struct zeta_text, at most 1 MiB. */
void zeta_module_log_write(void *context, struct zeta_plugin_string piece);

/** Makes a build log of the text, which is empty afterwards. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_module_log_create(struct zeta_text *text, ze_module_build_log_handle_t *out_log);

/**
 * The rule of blobs: no buffer asks for the size, and one that is too small is INVALID_SIZE and
 * gets the size. what: name of the blob for the sentence.
 */
ze_result_t zeta_blob_copy(const char *what, const void *data, size_t bytes, size_t *size,
                           void *buffer);

#endif
