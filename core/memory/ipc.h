/*
 * Memory of one process in another: handles, descriptors, and how a handle leads to its memory.
 *
 * A handle holds the process, the number of a descriptor in it, what file that is, the plugin's
 * mark of the file, and which bytes of it are meant. The opening process gets the descriptor
 * through /proc/<pid>/fd, or from his own table when it came over a socket, and everything has to
 * match.
 */
#ifndef ZETA_CORE_MEMORY_IPC_H
#define ZETA_CORE_MEMORY_IPC_H

#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_context;

/** What is in a ze_ipc_mem_handle_t. */
struct zeta_ipc_handle {
    int32_t descriptor; /**< first, because programs replace it by one that they received */
    uint32_t check;     /**< over everything behind it: nothing but the descriptor may be changed */
    int32_t pid;        /**< process whose descriptor it is */
    uint32_t kind;      /**< ZETA_PLUGIN_MEMORY_* */
    uint64_t base;      /**< address or object in that process; 0: made from a descriptor */
    uint64_t device;
    uint64_t inode;
    uint64_t offset_bytes;
    uint64_t size_bytes;
    uint64_t token;
};

/**
 * Copies what is in a handle. INVALID_ARGUMENT for what is none, or is changed behind the
 * descriptor.
 */
ze_result_t zeta_ipc_handle_read(const ze_ipc_mem_handle_t *handle,
                                 struct zeta_ipc_handle *out_handle);

/**
 * Serves ze_external_memory_export_fd_t in the chain of properties: a descriptor that belongs to
 * the application. types: what the memory was allocated for; ptr: start of an allocation or of a
 * mapping, or physical memory.
 * Errors: INVALID_ARGUMENT when the memory was not allocated for that; UNSUPPORTED_ENUMERATION,
 * UNSUPPORTED_FEATURE for what no backend has; those of the backend.
 */
ze_result_t zeta_memory_export_chain(const void *next, ze_external_memory_type_flags_t types,
                                     const void *ptr, struct zeta_context *context);

#endif
