/* What front ends write about kernels into metadata. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 4096 };

LLVMValueRef zeta_cc_metadata_operand(LLVMValueRef function, const char *name, unsigned index)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned wanted = LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
    size_t entry_count = 0;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(function, &entry_count);
    LLVMValueRef *operands = NULL;
    LLVMValueRef node = NULL;
    LLVMValueRef found = NULL;
    unsigned count;

    for (unsigned i = 0; i < entry_count && !node; i++) {
        if (LLVMValueMetadataEntriesGetKind(entries, i) == wanted)
            node = LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));
    }
    LLVMDisposeValueMetadataEntries(entries);
    count = node ? (unsigned)LLVMGetMDNodeNumOperands(node) : 0;
    if (index >= count || count > MAX_OPERANDS)
        return NULL;
    operands = zeta_cc_allocate(count, sizeof(LLVMValueRef));
    LLVMGetMDNodeOperands(node, operands);
    found = operands[index];
    free(operands);
    return found;
}

uint32_t zeta_cc_metadata_number(LLVMValueRef function, const char *name, unsigned index)
{
    LLVMValueRef value = zeta_cc_metadata_operand(function, name, index);

    return value && LLVMIsAConstantInt(value) ? (uint32_t)LLVMConstIntGetZExtValue(value) : 0;
}

static const char *blank_behind(const struct zeta_cc_buffer *text)
{
    return text->size > 0 ? " " : "";
}

/* Words of OpenCL for a type of LLVM; false for what vec_type_hint cannot hold. */
static bool add_type(LLVMTypeRef type, bool is_signed, struct zeta_cc_buffer *out_text)
{
    unsigned lanes = 1;
    LLVMTypeKind kind;

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        lanes = LLVMGetVectorSize(type);
        type = LLVMGetElementType(type);
    }
    kind = LLVMGetTypeKind(type);
    if (kind == LLVMIntegerTypeKind) {
        const unsigned bits = LLVMGetIntTypeWidth(type);

        zeta_cc_buffer_print(out_text, "%s%s", is_signed ? "" : "u",
                             bits == 8    ? "char"
                             : bits == 16 ? "short"
                             : bits == 32 ? "int"
                                          : "long");
    } else if (kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind ||
               kind == LLVMDoubleTypeKind) {
        zeta_cc_buffer_print(out_text, "%s",
                             kind == LLVMHalfTypeKind    ? "half"
                             : kind == LLVMFloatTypeKind ? "float"
                                                         : "double");
    } else {
        return false;
    }
    if (lanes > 1)
        zeta_cc_buffer_print(out_text, "%u", lanes);
    return true;
}

void zeta_cc_kernel_attributes(LLVMValueRef function, struct zeta_cc_buffer *out_text)
{
    static const char *const sizes[] = {"reqd_work_group_size", "work_group_size_hint"};
    LLVMValueRef example = zeta_cc_metadata_operand(function, "vec_type_hint", 0);
    bool is_signed = zeta_cc_metadata_number(function, "vec_type_hint", 1) != 0;
    uint32_t sub_group = zeta_cc_metadata_number(function, "intel_reqd_sub_group_size", 0);
    struct zeta_cc_buffer type = {0};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (zeta_cc_metadata_number(function, sizes[i], 0) > 0)
            zeta_cc_buffer_print(out_text, "%s%s(%u,%u,%u)", blank_behind(out_text), sizes[i],
                                 zeta_cc_metadata_number(function, sizes[i], 0),
                                 zeta_cc_metadata_number(function, sizes[i], 1),
                                 zeta_cc_metadata_number(function, sizes[i], 2));
    }
    if (example && add_type(LLVMTypeOf(example), is_signed, &type))
        zeta_cc_buffer_print(out_text, "%svec_type_hint(%s)", blank_behind(out_text), type.bytes);
    if (sub_group > 0)
        zeta_cc_buffer_print(out_text, "%sintel_reqd_sub_group_size(%u)", blank_behind(out_text),
                             sub_group);
    zeta_cc_buffer_finish(&type);
}
