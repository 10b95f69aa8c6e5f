/*
 * What a program asks of an allocation beyond its size, in the descriptors and their chains.
 */
#ifndef ZETA_CORE_MEMORY_MEMORY_REQUEST_H
#define ZETA_CORE_MEMORY_MEMORY_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

/** Kinds of descriptors by which memory can go out and come in. */
#define ZETA_EXTERNAL_MEMORY_TYPES ((uint32_t)ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD)

struct zeta_memory_request {
    bool read_only;        /**< kernels only read it */
    bool relaxed;          /**< may be larger than the device's maxMemAllocSize */
    bool has_import;       /**< import_fd is memory to use in place of new */
    int import_fd;         /**< the application's */
    uint32_t export_types; /**< ze_external_memory_type_flags_t */
    void *system_memory;   /**< memory of the application to use, or NULL */
    uint64_t system_size_bytes;
};

/**
 * Reads the chain of a descriptor into a request, which the caller has zeroed.
 * Errors, with sentences: INVALID_ENUMERATION for undefined flags; UNSUPPORTED_ENUMERATION for
 * kinds of external memory that no backend has; UNSUPPORTED_FEATURE for ray tracing, fabrics and
 * Windows; INVALID_NULL_POINTER for system memory that is null.
 */
ze_result_t zeta_memory_request_read(const void *next, struct zeta_memory_request *request);

/** UNSUPPORTED_ENUMERATION, with a sentence, for external memory that no backend has. */
ze_result_t zeta_memory_check_external(const char *what, uint32_t types);

#endif
