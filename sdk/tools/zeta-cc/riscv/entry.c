/* Entry stubs and records of kernels. */
#include "riscv.h"

#include <stdlib.h>
#include <string.h>

#include "vgpu_abi.h"

enum { INFO_MEMBERS = 9, EXTRA_MEMBERS = 5, BLOCK_ALIGNMENT = 8 };

/* A parameter of a kernel and its place in the block. */
struct parameter {
    LLVMTypeRef type; /* in the block */
    bool is_by_value; /* the kernel takes the address of a copy */
    struct vgpu_argument_info info;
};

/* A kernel and its arguments. */
struct kernel {
    LLVMValueRef function;
    LLVMTypeRef type;
    const char *name;
    unsigned count;
    struct parameter parameters[VGPU_MAX_ARGUMENTS];
    uint32_t block_bytes;
};

/* Natural alignment, in order: the layout of a C struct with these members. */
static bool describe_kernel(struct zeta_cc_program *program, const char *name,
                            struct kernel *kernel)
{
    const unsigned by_value = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
    LLVMTypeRef types[VGPU_MAX_ARGUMENTS];
    uint64_t end = 0;

    *kernel =
        (struct kernel){.function = LLVMGetNamedFunction(program->module, name), .name = name};
    kernel->type = LLVMGlobalGetValueType(kernel->function);
    kernel->count = LLVMCountParamTypes(kernel->type);
    if (kernel->count > VGPU_MAX_ARGUMENTS) {
        zeta_cc_buffer_line(program->log,
                            "error: kernel %s has %u arguments, at most %u can be set", name,
                            kernel->count, VGPU_MAX_ARGUMENTS);
        return false;
    }
    LLVMGetParamTypes(kernel->type, types);
    for (unsigned i = 0; i < kernel->count; i++) {
        struct parameter *parameter = &kernel->parameters[i];
        LLVMAttributeRef copied = LLVMGetEnumAttributeAtIndex(kernel->function, i + 1, by_value);
        uint64_t alignment, size, begin;

        parameter->is_by_value = copied != NULL;
        parameter->type = copied ? LLVMGetTypeAttributeValue(copied) : types[i];
        parameter->info.kind = VGPU_ARGUMENT_VALUE;
        if (!copied && LLVMGetTypeKind(types[i]) == LLVMPointerTypeKind)
            parameter->info.kind = LLVMGetPointerAddressSpace(types[i]) == ZETA_CC_SPACE_LOCAL
                                       ? VGPU_ARGUMENT_LOCAL
                                       : VGPU_ARGUMENT_GLOBAL;
        alignment = LLVMABIAlignmentOfType(program->layout, parameter->type);
        size = LLVMABISizeOfType(program->layout, parameter->type);
        begin = (end + alignment - 1) / alignment * alignment;
        if (size == 0 || size > VGPU_MAX_ARGUMENT_BYTES || begin > VGPU_MAX_ARGUMENT_BYTES - size) {
            zeta_cc_buffer_line(program->log,
                                "error: kernel %s, argument %u: %llu bytes at offset %llu, "
                                "arguments have 1 to %u bytes together",
                                name, i, (unsigned long long)size, (unsigned long long)begin,
                                VGPU_MAX_ARGUMENT_BYTES);
            return false;
        }
        parameter->info.size_bytes = (uint32_t)size;
        parameter->info.offset_bytes = (uint32_t)begin;
        end = begin + size;
    }
    kernel->block_bytes =
        (uint32_t)((end + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT);
    return true;
}

/* Says, where there is debug information, that nothing called the stub: backtraces end there. */
static void end_backtraces(LLVMBuilderRef builder, LLVMContextRef context)
{
    static const char directive[] = ".cfi_undefined ra";
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0);
    LLVMValueRef code = LLVMGetInlineAsm(type, (char *)directive, strlen(directive), (char *)"", 0,
                                         1, 0, LLVMInlineAsmDialectATT, 0);

    LLVMBuildCall2(builder, type, code, NULL, 0, "");
}

static LLVMValueRef add_stub(struct zeta_cc_program *program, const struct kernel *kernel)
{
    LLVMContextRef context = program->context;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, ZETA_CC_SPACE_PRIVATE);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, 0);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    const unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
    const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind"));
    LLVMValueRef arguments[VGPU_MAX_ARGUMENTS];
    LLVMAttributeRef attributes[64];
    struct zeta_cc_buffer name = {0};
    LLVMValueRef stub;
    LLVMValueRef call;

    zeta_cc_buffer_print(&name, ZETA_CC_ENTRY_PREFIX "%s", kernel->name);
    stub = LLVMAddFunction(program->module, name.bytes, type);
    zeta_cc_buffer_finish(&name);
    LLVMSetVisibility(stub, LLVMHiddenVisibility);
    LLVMAddAttributeAtIndex(stub, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, nounwind, 0));
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, stub, ""));
    if (LLVMGetNamedMetadataNumOperands(program->module, "llvm.dbg.cu") > 0)
        end_backtraces(builder, context);
    for (unsigned i = 0; i < kernel->count; i++) {
        const struct parameter *parameter = &kernel->parameters[i];
        LLVMValueRef offset =
            LLVMConstInt(LLVMInt64TypeInContext(context), parameter->info.offset_bytes, 0);
        LLVMValueRef address = LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context),
                                             LLVMGetParam(stub, 0), &offset, 1, "");

        arguments[i] = parameter->is_by_value
                           ? address
                           : LLVMBuildLoad2(builder, parameter->type, address, "");
    }
    call = LLVMBuildCall2(builder, kernel->type, kernel->function, arguments, kernel->count, "");
    /* Sign extension, by-value copies and the like must be the same on both sides of a call. */
    for (unsigned i = 1; i <= kernel->count; i++) {
        unsigned count = LLVMGetAttributeCountAtIndex(kernel->function, i);

        if (count > sizeof(attributes) / sizeof(attributes[0]))
            continue;
        LLVMGetAttributesAtIndex(kernel->function, i, attributes);
        for (unsigned k = 0; k < count; k++)
            LLVMAddCallSiteAttribute(call, i, attributes[k]);
    }
    /* The kernel stays a function of its name, which debuggers and profilers look for. */
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, noinline, 0));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return stub;
}

static LLVMValueRef add_text(struct zeta_cc_program *program, const char *text)
{
    LLVMValueRef value =
        LLVMConstStringInContext(program->context, text, (unsigned)strlen(text), 0);
    LLVMValueRef global = LLVMAddGlobal(program->module, LLVMTypeOf(value), ".vgpu.text");

    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static LLVMValueRef word(LLVMContextRef context, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(context), value, 0);
}

static void add_record(struct zeta_cc_program *program, const struct kernel *kernel,
                       LLVMValueRef stub)
{
    LLVMContextRef context = program->context;
    uint32_t bytes = (uint32_t)(sizeof(struct vgpu_kernel_info) + sizeof(struct vgpu_kernel_extra) +
                                kernel->count * sizeof(struct vgpu_argument_info));
    LLVMValueRef sizes[3];
    LLVMValueRef members[INFO_MEMBERS + 1];
    LLVMValueRef extra[EXTRA_MEMBERS];
    LLVMValueRef list[VGPU_MAX_ARGUMENTS];
    struct zeta_cc_buffer text = {0};
    struct zeta_cc_buffer name = {0};
    LLVMValueRef record;
    LLVMValueRef value;

    for (unsigned i = 0; i < 3; i++)
        sizes[i] =
            word(context, zeta_cc_metadata_number(kernel->function, "reqd_work_group_size", i));
    /* Four words each: the same bytes as struct vgpu_argument_info. */
    for (unsigned i = 0; i < kernel->count; i++) {
        const struct vgpu_argument_info *info = &kernel->parameters[i].info;
        LLVMValueRef words[4] = {word(context, info->kind), word(context, info->size_bytes),
                                 word(context, info->offset_bytes), word(context, 0)};

        list[i] = LLVMConstArray(LLVMInt32TypeInContext(context), words, 4);
    }
    members[0] = word(context, VGPU_INFO_MAGIC);
    members[1] = word(context, bytes);
    members[2] = add_text(program, kernel->name);
    members[3] = stub;
    members[4] = LLVMConstArray(LLVMInt32TypeInContext(context), sizes, 3);
    members[5] = word(context, 0); /* private_bytes: known behind the linker */
    members[6] = word(context, kernel->count);
    members[7] = word(context, kernel->block_bytes);
    members[8] =
        LLVMConstArray(LLVMArrayType(LLVMInt32TypeInContext(context), 4), list, kernel->count);
    /* Of the extra members only the attributes are known before the program is linked. */
    for (unsigned i = 1; i < EXTRA_MEMBERS; i++)
        extra[i] = word(context, 0);
    zeta_cc_kernel_attributes(kernel->function, &text);
    extra[0] = text.size > 0
                   ? add_text(program, text.bytes)
                   : LLVMConstNull(LLVMPointerTypeInContext(context, ZETA_CC_SPACE_PRIVATE));
    zeta_cc_buffer_finish(&text);
    members[9] = LLVMConstStructInContext(context, extra, EXTRA_MEMBERS, 0);
    value = LLVMConstStructInContext(context, members, INFO_MEMBERS + 1, 0);
    zeta_cc_buffer_print(&name, ZETA_CC_RECORD_PREFIX "%s", kernel->name);
    record = LLVMAddGlobal(program->module, LLVMTypeOf(value), name.bytes);
    zeta_cc_buffer_finish(&name);
    LLVMSetInitializer(record, value);
    LLVMSetSection(record, ".vgpu.info");
    LLVMSetAlignment(record, 8);
    LLVMSetVisibility(record, LLVMHiddenVisibility);
}

bool zeta_cc_program_add_entries(struct zeta_cc_program *program)
{
    for (size_t i = 0; i < program->kernels.count; i++) {
        struct kernel kernel;

        if (!describe_kernel(program, program->kernels.list[i], &kernel))
            return false;
        add_record(program, &kernel, add_stub(program, &kernel));
    }
    return true;
}

LLVMValueRef zeta_cc_entry_stub(const struct zeta_cc_program *program, const char *kernel)
{
    struct zeta_cc_buffer name = {0};
    LLVMValueRef stub;

    zeta_cc_buffer_print(&name, ZETA_CC_ENTRY_PREFIX "%s", kernel);
    stub = LLVMGetNamedFunction(program->module, name.bytes);
    zeta_cc_buffer_finish(&name);
    return stub;
}
