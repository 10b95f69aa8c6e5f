/* Entries of kernels, and what is told about them. */
#include "ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 1024, OFFSETS = 3 };

/* Bytes: local memory begins where any type of OpenCL C may. */
enum { LOCAL_ALIGNMENT = 128 };

/* LLVM's number of the calling convention of entries. */
enum { PTX_KERNEL = 71 };

static bool is_name(const char *name)
{
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '$')
            return false;
    }
    return isalpha((unsigned char)name[0]) || (ispunct((unsigned char)name[0]) && name[1] != '\0');
}

/* All dynamic shared memory of a launch. */
static LLVMValueRef dynamic_memory(struct zeta_cc_program *program)
{
    static const char name[] = "__zeta_dynamic";
    LLVMTypeRef type = LLVMArrayType(LLVMInt8TypeInContext(program->context), 0);
    LLVMValueRef memory = LLVMGetNamedGlobal(program->module, name);

    if (memory)
        return memory;
    memory = LLVMAddGlobalInAddressSpace(program->module, type, name, ZETA_CC_PTX_SHARED);
    LLVMSetLinkage(memory, LLVMExternalLinkage);
    LLVMSetAlignment(memory, LOCAL_ALIGNMENT);
    return memory;
}

static bool is_local(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
           LLVMGetPointerAddressSpace(type) == ZETA_CC_PTX_SHARED;
}

static void annotate(struct zeta_cc_program *program, LLVMValueRef entry, const char *name,
                     uint32_t value)
{
    LLVMMetadataRef parts[3] = {
        LLVMValueAsMetadata(entry), LLVMMDStringInContext2(program->context, name, strlen(name)),
        LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(program->context), value, 0))};

    LLVMAddNamedMetadataOperand(
        program->module, "nvvm.annotations",
        LLVMMetadataAsValue(program->context, LLVMMDNodeInContext2(program->context, parts, 3)));
}

/* Appends the line about a kernel. */
static void tell(struct zeta_cc_program *program, const char *name, LLVMValueRef kernel,
                 const LLVMTypeRef *types, unsigned count, bool has_offset)
{
    const unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5);
    struct zeta_cc_buffer attributes = {0};
    struct zeta_cc_buffer *out = &program->notes;

    zeta_cc_buffer_print(out, "//zeta kernel %s arguments ", name);
    for (unsigned i = 0; i < count; i++) {
        const bool is_pointer = LLVMGetTypeKind(types[i]) == LLVMPointerTypeKind &&
                                !LLVMGetEnumAttributeAtIndex(kernel, i + 1, by_value);

        zeta_cc_buffer_print(out, "%c", is_local(types[i]) ? 'l' : is_pointer ? 'p' : 'v');
    }
    zeta_cc_buffer_print(out, "%s", has_offset ? "ooo" : count == 0 ? "-" : "");
    if (zeta_cc_metadata_number(kernel, "reqd_work_group_size", 0) > 0)
        zeta_cc_buffer_print(out, " group %u,%u,%u",
                             zeta_cc_metadata_number(kernel, "reqd_work_group_size", 0),
                             zeta_cc_metadata_number(kernel, "reqd_work_group_size", 1),
                             zeta_cc_metadata_number(kernel, "reqd_work_group_size", 2));
    zeta_cc_kernel_attributes(kernel, &attributes);
    if (attributes.size > 0)
        zeta_cc_buffer_print(out, " attributes %s", attributes.bytes);
    zeta_cc_buffer_print(out, "\n");
    zeta_cc_buffer_finish(&attributes);
}

static void always_inline(const struct zeta_cc_program *program, LLVMValueRef function)
{
    static const char *const against[] = {"noinline", "optnone"};
    static const char always[] = "alwaysinline";
    const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    for (size_t i = 0; i < 2; i++)
        LLVMRemoveEnumAttributeAtIndex(
            function, whole, LLVMGetEnumAttributeKindForName(against[i], strlen(against[i])));
    LLVMAddAttributeAtIndex(
        function, whole,
        LLVMCreateEnumAttribute(program->context,
                                LLVMGetEnumAttributeKindForName(always, strlen(always)), 0));
}

/* The entry that calls the kernel, which is inlined there; it has the kernel's name. */
static bool add_entry(struct zeta_cc_program *program, LLVMValueRef kernel, bool has_offset)
{
    static const char *const sizes[] = {"reqntidx", "reqntidy", "reqntidz"};
    LLVMContextRef context = program->context;
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel);
    const unsigned count = LLVMCountParamTypes(type);
    LLVMTypeRef parameters[MAX_ARGUMENTS + OFFSETS], own[MAX_ARGUMENTS];
    LLVMValueRef arguments[MAX_ARGUMENTS], entry, call;
    LLVMBuilderRef builder;
    struct zeta_cc_buffer name = {0}, inner = {0};

    zeta_cc_buffer_print(&name, "%s", zeta_cc_value_name(kernel));
    zeta_cc_buffer_print(&inner, "%s_kernel", name.bytes);
    if (count > MAX_ARGUMENTS || !is_name(name.bytes)) {
        zeta_cc_buffer_line(program->log,
                            count > MAX_ARGUMENTS
                                ? "error: kernel %s has more arguments than PTX can have"
                                : "error: kernel %s: names in PTX have letters, digits, _ and $ "
                                  "only, and begin with a letter, or _ or $ and one more",
                            name.bytes);
        zeta_cc_buffer_finish(&name);
        zeta_cc_buffer_finish(&inner);
        return false;
    }
    LLVMGetParamTypes(type, own);
    for (unsigned i = 0; i < count; i++)
        parameters[i] = is_local(own[i]) ? LLVMInt64TypeInContext(context) : own[i];
    for (unsigned i = 0; has_offset && i < OFFSETS; i++)
        parameters[count + i] = LLVMInt32TypeInContext(context);
    LLVMSetValueName2(kernel, inner.bytes, inner.size);
    entry = LLVMAddFunction(program->module, name.bytes,
                            LLVMFunctionType(LLVMVoidTypeInContext(context), parameters,
                                             count + (has_offset ? OFFSETS : 0), 0));
    LLVMSetFunctionCallConv(entry, PTX_KERNEL);
    builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, entry, ""));
    for (unsigned i = 0; i < count; i++) {
        LLVMAttributeRef attributes[64];
        const unsigned known = LLVMGetAttributeCountAtIndex(kernel, i + 1);

        arguments[i] = LLVMGetParam(entry, i);
        if (is_local(own[i])) {
            LLVMTypeRef byte = LLVMInt8TypeInContext(context);

            arguments[i] =
                LLVMBuildGEP2(builder, byte, dynamic_memory(program), &arguments[i], 1, "");
        } else if (known <= sizeof(attributes) / sizeof(attributes[0])) {
            LLVMGetAttributesAtIndex(kernel, i + 1, attributes);
            for (unsigned k = 0; k < known; k++)
                LLVMAddAttributeAtIndex(entry, i + 1, attributes[k]);
        }
    }
    call = LLVMBuildCall2(builder, type, kernel, arguments, count, "");
    for (unsigned i = 0; i < count; i++) {
        const unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5);
        LLVMAttributeRef copied = LLVMGetEnumAttributeAtIndex(kernel, i + 1, by_value);

        if (copied)
            LLVMAddCallSiteAttribute(call, i + 1, copied);
    }
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    always_inline(program, kernel);
    LLVMSetLinkage(kernel, LLVMInternalLinkage);
    annotate(program, entry, "kernel", 1);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t size = zeta_cc_metadata_number(kernel, "reqd_work_group_size", i);

        if (size > 0)
            annotate(program, entry, sizes[i], size);
    }
    tell(program, name.bytes, kernel, own, count, has_offset);
    zeta_cc_buffer_finish(&name);
    zeta_cc_buffer_finish(&inner);
    return true;
}

/* What asks for the offset is inlined into the entries, which alone have it. */
static void inline_askers(const struct zeta_cc_program *program,
                          const struct zeta_cc_ptx_functions *askers)
{
    for (size_t i = 0; i < askers->count; i++) {
        if (!LLVMIsDeclaration(askers->list[i]))
            always_inline(program, askers->list[i]);
    }
}

bool zeta_cc_ptx_add_entries(struct zeta_cc_program *program)
{
    struct zeta_cc_ptx_functions askers = {0};
    bool is_fine = true;

    zeta_cc_ptx_find_askers(program, &askers);
    inline_askers(program, &askers);
    for (size_t i = 0; i < program->kernels.count && is_fine; i++) {
        LLVMValueRef kernel = LLVMGetNamedFunction(program->module, program->kernels.list[i]);

        is_fine = add_entry(program, kernel, zeta_cc_ptx_functions_have(&askers, kernel));
    }
    zeta_cc_ptx_functions_finish(&askers);
    return is_fine;
}

/* The value of one call: the dimension is a number, or not known before the kernel runs. */
static LLVMValueRef offset_of(LLVMBuilderRef builder, LLVMValueRef entry, LLVMValueRef dimension)
{
    const unsigned first = LLVMCountParams(entry) - OFFSETS;
    LLVMTypeRef type = LLVMTypeOf(dimension);
    LLVMValueRef value = LLVMGetParam(entry, first + 2);

    if (LLVMIsAConstantInt(dimension)) {
        const unsigned long long which = LLVMConstIntGetZExtValue(dimension);

        return which < OFFSETS ? LLVMGetParam(entry, first + (unsigned)which)
                               : LLVMConstNull(LLVMTypeOf(value));
    }
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef is_it =
            LLVMBuildICmp(builder, LLVMIntEQ, dimension, LLVMConstInt(type, i, 0), "");

        value = LLVMBuildSelect(builder, is_it, LLVMGetParam(entry, first + i), value, "");
    }
    return value;
}

void zeta_cc_ptx_lower_offsets(struct zeta_cc_program *program)
{
    LLVMValueRef offset = LLVMGetNamedFunction(program->module, ZETA_CC_PTX_OFFSET);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(program->context);
    LLVMUseRef use;

    while (offset && (use = LLVMGetFirstUse(offset)) != NULL) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMValueRef entry = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
        LLVMValueRef value;

        LLVMPositionBuilderBefore(builder, call);
        value = LLVMGetFunctionCallConv(entry) == PTX_KERNEL
                    ? offset_of(builder, entry, LLVMGetOperand(call, 0))
                    : LLVMConstNull(LLVMTypeOf(call)); /* of code that no entry comes to */
        LLVMReplaceAllUsesWith(call, value);
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDisposeBuilder(builder);
}
