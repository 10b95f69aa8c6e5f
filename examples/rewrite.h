/*
 * Instrumentation of native binaries of the virtual GPU, which are RV64 ELF files: a copy of the
 * file counts the instructions that it executes.
 */
#ifndef ZETA_EXAMPLES_REWRITE_H
#define ZETA_EXAMPLES_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

/** The flags with which a module is built that will be rewritten. */
#define REWRITE_BUILD_FLAGS "-zet-profile-flags 2"

/** Ends the program, with how to choose the virtual GPU, if the device takes other binaries. */
void rewrite_check_device(ze_device_handle_t device);

/** The native binary of a module. The caller frees it. */
uint8_t *rewrite_native_binary(ze_module_handle_t module, size_t *out_bytes);

/**
 * Finds two integer registers that no kernel of the module uses: zetKernelGetProfileInfo has them.
 * Ends the program when there are not that many, or when the driver does not tell.
 */
void rewrite_find_registers(ze_module_handle_t module, uint32_t out_registers[2]);

/**
 * Inserts code at the begin of every basic block of the module's kernels, and of what they call,
 * into a copy of the module's native binary. The code adds the instructions of the block to
 * *counter, which is memory of the device. Gives the number of blocks.
 *
 * The code lies behind the kernels', in the gap before the next segment: addresses stay as they
 * are, and the debug information stays true. Ends the program when it has no room there, and for
 * code with reservations (lr, sc), which do not survive another access between them.
 */
uint32_t rewrite_count_instructions(ze_module_handle_t module, uint8_t *file, size_t bytes,
                                    const uint32_t registers[2], const uint64_t *counter);

/** Makes a module of a native binary. */
ze_module_handle_t rewrite_load(ze_context_handle_t context, ze_device_handle_t device,
                                const uint8_t *file, size_t bytes, const char *build_flags);

#endif
