/*
 * From an object file to a kernel file.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_LINK_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_LINK_H

#include "sdk/tools/zeta-vgpu-cc/front_end/front_end.h"
#include "sdk/tools/zeta-vgpu-cc/program/program.h"

/**
 * Links the object of a program with the rest of the runtime library, and writes how much private
 * memory its kernels need into their records.
 */
enum vgpu_compile_status zeta_cc_link(const struct zeta_cc_program *program,
                                      const struct zeta_cc_paths *paths,
                                      const struct zeta_cc_buffer *object,
                                      struct zeta_cc_buffer *out_elf);

#endif
