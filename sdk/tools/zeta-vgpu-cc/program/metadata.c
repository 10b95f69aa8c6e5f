#include "metadata.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 4096 };

/* The node of a name at a function as a value, or null. */
static LLVMValueRef find_node(LLVMValueRef function, const char *name)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned wanted = LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
    size_t count = 0;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(function, &count);
    LLVMValueRef found = NULL;

    for (unsigned i = 0; i < count && !found; i++) {
        if (LLVMValueMetadataEntriesGetKind(entries, i) == wanted)
            found = LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));
    }
    LLVMDisposeValueMetadataEntries(entries);
    return found;
}

/* The operand at @index of a node, or null. */
static LLVMValueRef operand(LLVMValueRef node, unsigned index)
{
    unsigned count = node ? (unsigned)LLVMGetMDNodeNumOperands(node) : 0;
    LLVMValueRef *operands = NULL;
    LLVMValueRef found = NULL;

    if (index >= count || count > MAX_OPERANDS)
        return NULL;
    operands = zeta_cc_allocate(count, sizeof(LLVMValueRef));
    LLVMGetMDNodeOperands(node, operands);
    found = operands[index];
    free(operands);
    return found;
}

static uint32_t number_at(LLVMValueRef node, unsigned index)
{
    LLVMValueRef value = operand(node, index);

    return value && LLVMIsAConstantInt(value) ? (uint32_t)LLVMConstIntGetZExtValue(value) : 0;
}

void zeta_cc_metadata_sizes(LLVMValueRef function, const char *name, uint32_t out_sizes[3])
{
    LLVMValueRef node = find_node(function, name);

    for (unsigned i = 0; i < 3; i++)
        out_sizes[i] = number_at(node, i);
}

uint32_t zeta_cc_metadata_number(LLVMValueRef function, const char *name)
{
    return number_at(find_node(function, name), 0);
}

unsigned zeta_cc_metadata_text_count(LLVMValueRef function, const char *name)
{
    LLVMValueRef node = find_node(function, name);

    return node ? (unsigned)LLVMGetMDNodeNumOperands(node) : 0;
}

const char *zeta_cc_metadata_text(LLVMValueRef function, const char *name, unsigned index,
                                  size_t *out_size)
{
    LLVMValueRef text = operand(find_node(function, name), index);
    unsigned length = 0;
    const char *bytes = text ? LLVMGetMDString(text, &length) : NULL;

    *out_size = length;
    return bytes;
}

static void add_sizes(LLVMValueRef function, const char *name, struct zeta_cc_buffer *out_text)
{
    uint32_t sizes[3];

    zeta_cc_metadata_sizes(function, name, sizes);
    if (sizes[0] > 0)
        zeta_cc_buffer_print(out_text, "%s%s(%u,%u,%u)", out_text->size ? " " : "", name, sizes[0],
                             sizes[1], sizes[2]);
}

/* Words of OpenCL for a type of LLVM; false for what vec_type_hint cannot hold. */
static bool add_type(LLVMTypeRef type, bool is_signed, struct zeta_cc_buffer *out_text)
{
    unsigned lanes = 1;

    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        lanes = LLVMGetVectorSize(type);
        type = LLVMGetElementType(type);
    }
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
        zeta_cc_buffer_print(out_text, "half");
        break;
    case LLVMFloatTypeKind:
        zeta_cc_buffer_print(out_text, "float");
        break;
    case LLVMDoubleTypeKind:
        zeta_cc_buffer_print(out_text, "double");
        break;
    case LLVMIntegerTypeKind: {
        unsigned bits = LLVMGetIntTypeWidth(type);

        zeta_cc_buffer_print(out_text, "%s%s", is_signed ? "" : "u",
                             bits == 8    ? "char"
                             : bits == 16 ? "short"
                             : bits == 32 ? "int"
                                          : "long");
        break;
    }
    default:
        return false;
    }
    if (lanes > 1)
        zeta_cc_buffer_print(out_text, "%u", lanes);
    return true;
}

void zeta_cc_metadata_attributes(LLVMValueRef function, struct zeta_cc_buffer *out_text)
{
    LLVMValueRef hint = find_node(function, "vec_type_hint");
    LLVMValueRef example = operand(hint, 0);
    uint32_t sub_group = zeta_cc_metadata_number(function, "intel_reqd_sub_group_size");
    struct zeta_cc_buffer type = {0};

    add_sizes(function, "reqd_work_group_size", out_text);
    add_sizes(function, "work_group_size_hint", out_text);
    if (example && add_type(LLVMTypeOf(example), number_at(hint, 1) != 0, &type))
        zeta_cc_buffer_print(out_text, "%svec_type_hint(%s)", out_text->size ? " " : "",
                             type.bytes);
    zeta_cc_buffer_finish(&type);
    if (sub_group > 0)
        zeta_cc_buffer_print(out_text, "%sintel_reqd_sub_group_size(%u)", out_text->size ? " " : "",
                             sub_group);
}
