/* Entries of kernels, and what is told about them. */
#include "ptx.h"

#include "lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 1024, OFFSETS = 3, MOST_HIDDEN = OFFSETS + 1 };

/* Parameters of an entry that its kernel has not. */
struct hidden {
    bool has_offset;
    bool has_print;
};

/* Attributes by which they are found: the first of the offset, and the buffer of printf. */
static const char is_offset[] = "zeta-offset", is_print[] = "zeta-print";

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
                 const LLVMTypeRef *types, unsigned count, struct hidden hidden)
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
    zeta_cc_buffer_print(out, "%s%s", hidden.has_offset ? "ooo" : "", hidden.has_print ? "b" : "");
    if (count == 0 && !hidden.has_offset && !hidden.has_print)
        zeta_cc_buffer_print(out, "-");
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

static void mark(const struct zeta_cc_program *program, LLVMValueRef entry, unsigned parameter,
                 const char *what)
{
    LLVMAddAttributeAtIndex(
        entry, parameter + 1,
        LLVMCreateStringAttribute(program->context, what, (unsigned)strlen(what), "", 0));
}

/* Adds the types of hidden parameters behind others; how many there are then. */
static unsigned add_hidden(const struct zeta_cc_program *program, struct hidden hidden,
                           LLVMTypeRef *types, unsigned count)
{
    for (unsigned i = 0; hidden.has_offset && i < OFFSETS; i++)
        types[count++] = LLVMInt32TypeInContext(program->context);
    if (hidden.has_print)
        types[count++] = LLVMInt64TypeInContext(program->context);
    return count;
}

/* The entry that calls the kernel, which is inlined there; it has the kernel's name. */
static bool add_entry(struct zeta_cc_program *program, LLVMValueRef kernel, struct hidden hidden)
{
    static const char *const sizes[] = {"reqntidx", "reqntidy", "reqntidz"};
    LLVMContextRef context = program->context;
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel);
    const unsigned count = LLVMCountParamTypes(type);
    LLVMTypeRef parameters[MAX_ARGUMENTS + MOST_HIDDEN], own[MAX_ARGUMENTS];
    LLVMValueRef arguments[MAX_ARGUMENTS], entry, call;
    LLVMBuilderRef builder;
    struct zeta_cc_buffer name = {0}, inner = {0};
    unsigned all;

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
    all = add_hidden(program, hidden, parameters, count);
    LLVMSetValueName2(kernel, inner.bytes, inner.size);
    entry = LLVMAddFunction(program->module, name.bytes,
                            LLVMFunctionType(LLVMVoidTypeInContext(context), parameters, all, 0));
    LLVMSetFunctionCallConv(entry, PTX_KERNEL);
    if (hidden.has_offset)
        mark(program, entry, count, is_offset);
    if (hidden.has_print)
        mark(program, entry, all - 1, is_print);
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
    zeta_cc_ptx_move_lines(kernel, entry);
    always_inline(program, kernel);
    LLVMSetLinkage(kernel, LLVMInternalLinkage);
    annotate(program, entry, "kernel", 1);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t size = zeta_cc_metadata_number(kernel, "reqd_work_group_size", i);

        if (size > 0)
            annotate(program, entry, sizes[i], size);
    }
    tell(program, name.bytes, kernel, own, count, hidden);
    zeta_cc_buffer_finish(&name);
    zeta_cc_buffer_finish(&inner);
    return true;
}

/* What asks is inlined into the entries, which alone have the parameters. */
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
    struct zeta_cc_ptx_functions offset = {0}, print = {0};
    bool is_fine = true;

    zeta_cc_ptx_find_askers(program, ZETA_CC_PTX_OFFSET, &offset);
    zeta_cc_ptx_find_askers(program, ZETA_CC_PTX_PRINT, &print);
    inline_askers(program, &offset);
    inline_askers(program, &print);
    for (size_t i = 0; i < program->kernels.count && is_fine; i++) {
        LLVMValueRef kernel = LLVMGetNamedFunction(program->module, program->kernels.list[i]);
        const struct hidden hidden = {zeta_cc_ptx_functions_have(&offset, kernel),
                                      zeta_cc_ptx_functions_have(&print, kernel)};

        is_fine = add_entry(program, kernel, hidden);
    }
    zeta_cc_ptx_functions_finish(&offset);
    zeta_cc_ptx_functions_finish(&print);
    return is_fine;
}

/* The parameter of a function that has the mark; null: none has. */
static LLVMValueRef marked(LLVMValueRef function, const char *what)
{
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        if (LLVMGetStringAttributeAtIndex(function, i + 1, what, (unsigned)strlen(what)))
            return LLVMGetParam(function, i);
    }
    return NULL;
}

/* The value of one call: the dimension is a number, or not known before the kernel runs. */
static LLVMValueRef offset_of(LLVMBuilderRef builder, LLVMValueRef first, LLVMValueRef dimension)
{
    LLVMValueRef parts[OFFSETS] = {first, LLVMGetNextParam(first),
                                   LLVMGetNextParam(LLVMGetNextParam(first))};
    LLVMTypeRef type = LLVMTypeOf(dimension);
    LLVMValueRef value = parts[2];

    if (LLVMIsAConstantInt(dimension)) {
        const unsigned long long which = LLVMConstIntGetZExtValue(dimension);

        return which < OFFSETS ? parts[which] : LLVMConstNull(LLVMTypeOf(value));
    }
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef is_it =
            LLVMBuildICmp(builder, LLVMIntEQ, dimension, LLVMConstInt(type, i, 0), "");

        value = LLVMBuildSelect(builder, is_it, parts[i], value, "");
    }
    return value;
}

/* Replaces the calls of what the library asks. Code that no entry comes to gets 0. */
static void lower(const struct zeta_cc_program *program, LLVMBuilderRef builder, const char *asked,
                  const char *mark_of_it)
{
    LLVMValueRef function = LLVMGetNamedFunction(program->module, asked);
    LLVMUseRef use;

    while (function && (use = LLVMGetFirstUse(function)) != NULL) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMValueRef value =
            marked(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)), mark_of_it);

        LLVMPositionBuilderBefore(builder, call);
        if (!value)
            value = LLVMConstNull(LLVMTypeOf(call));
        else if (mark_of_it == is_offset)
            value = offset_of(builder, value, LLVMGetOperand(call, 0));
        LLVMReplaceAllUsesWith(call, value);
        LLVMInstructionEraseFromParent(call);
    }
}

void zeta_cc_ptx_lower_hidden(struct zeta_cc_program *program)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(program->context);

    lower(program, builder, ZETA_CC_PTX_OFFSET, is_offset);
    lower(program, builder, ZETA_CC_PTX_PRINT, is_print);
    LLVMDisposeBuilder(builder);
}
