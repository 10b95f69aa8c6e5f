/*
 * What front ends write about kernels into metadata.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_METADATA_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "sdk/tools/zeta-vgpu-cc/request/buffer.h"

/** Three sizes of a kernel, such as reqd_work_group_size; zeros when it has none. */
void zeta_cc_metadata_sizes(LLVMValueRef function, const char *name, uint32_t out_sizes[3]);

/** A single number, such as intel_reqd_sub_group_size; 0 when there is none. */
uint32_t zeta_cc_metadata_number(LLVMValueRef function, const char *name);

/** Number of texts of a list such as kernel_arg_base_type. */
unsigned zeta_cc_metadata_text_count(LLVMValueRef function, const char *name);

/** The text at @index of such a list, not terminated; null when there is none. */
const char *zeta_cc_metadata_text(LLVMValueRef function, const char *name, unsigned index,
                                  size_t *out_size);

/** Appends the source attributes of a kernel, with blanks between them. */
void zeta_cc_metadata_attributes(LLVMValueRef function, struct zeta_cc_buffer *out_text);

#endif
