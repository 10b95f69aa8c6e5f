#ifndef ZETA_TESTS_NVIDIA_COMPUTING_H
#define ZETA_TESTS_NVIDIA_COMPUTING_H

/* What programs that compute have, on a device of bed.h. Every failure ends the test. */

#include "tests/nvidia/bed.h"

struct computing {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_command_list_handle_t list; /**< immediate, synchronous */
};

/** Begins on the one device of the machine, with a module of tests/cuda/kernels. */
struct computing computing_open(const char *kernels);
struct computing computing_open_on(ze_device_handle_t device, const char *kernels);
void computing_close(const struct computing *c);

/** The bytes of a file of at most 1 MiB, freed by the caller. */
uint8_t *computing_read_file(const char *path, size_t *out_size);

enum { COMPUTING_LOG_BYTES = 8192 };

/** Creates a module; the log is written there. */
ze_result_t computing_build(const struct computing *c, ze_module_format_t format,
                            const uint8_t *image, size_t size, ze_module_handle_t *out_module,
                            char out_log[COMPUTING_LOG_BYTES]);

/** The text of a log, which is destroyed. */
void computing_log(ze_module_build_log_handle_t log, char out_log[COMPUTING_LOG_BYTES]);

/** An immediate list. */
ze_command_list_handle_t computing_list(const struct computing *c, ze_command_queue_mode_t mode);

/** A kernel of the module, in groups of one thread. */
ze_kernel_handle_t computing_kernel(const struct computing *c, const char *name);

/** Memory of a kind, which goes with the context. */
void *computing_memory(const struct computing *c, ze_memory_type_t type, size_t bytes,
                       size_t align_bytes);

/** Runs a kernel that takes an address and a number. */
void computing_launch(const struct computing *c, const char *kernel, uint32_t groups, void *target,
                      uint64_t value);

/** The number there, read by a kernel. */
uint64_t computing_read(const struct computing *c, const void *source);

#endif
