#include "program.h"

#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

enum { MAX_SLOTS = 1024, SIGN_BIT = 31 };

/* A call and what became of its arguments. */
struct print {
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMValueRef slots[MAX_SLOTS];
    unsigned count;
};

/* The address, which is one for the whole device. */
static LLVMValueRef address_of(const struct print *print, LLVMValueRef pointer)
{
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));

    if (space != ZETA_CC_SPACE_PRIVATE && space != ZETA_CC_SPACE_GENERIC)
        pointer = LLVMBuildAddrSpaceCast(
            print->builder, pointer,
            LLVMPointerTypeInContext(print->context, ZETA_CC_SPACE_GENERIC), "");
    return LLVMBuildPtrToInt(print->builder, pointer, LLVMInt64TypeInContext(print->context), "");
}

/* Adds the bits of a scalar, in 8 bytes, or those of the components of a vector; false for what is
 * neither. */
static bool add_slots(struct print *print, LLVMValueRef value)
{
    LLVMTypeRef slot = LLVMInt64TypeInContext(print->context);
    LLVMTypeRef real = LLVMDoubleTypeInContext(print->context);

    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind) {
        for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(value)); i++) {
            LLVMValueRef index = LLVMConstInt(LLVMInt32TypeInContext(print->context), i, 0);

            if (!add_slots(print, LLVMBuildExtractElement(print->builder, value, index, "")))
                return false;
        }
        return true;
    }
    if (print->count == MAX_SLOTS)
        return false;
    switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
        value = LLVMBuildFPExt(print->builder, value, real, "");
        value = LLVMBuildBitCast(print->builder, value, slot, "");
        break;
    case LLVMDoubleTypeKind:
        value = LLVMBuildBitCast(print->builder, value, slot, "");
        break;
    case LLVMIntegerTypeKind:
        value = LLVMBuildIntCast2(print->builder, value, slot, 0, "");
        break;
    case LLVMPointerTypeKind:
        value = address_of(print, value);
        break;
    default:
        return false;
    }
    print->slots[print->count++] = value;
    return true;
}

static bool lower_call(struct zeta_cc_program *program, LLVMValueRef call)
{
    LLVMTypeRef slot = LLVMInt64TypeInContext(program->context);
    struct print print = {.context = program->context,
                          .builder = LLVMCreateBuilderInContext(program->context)};
    unsigned count = LLVMGetNumArgOperands(call);
    LLVMValueRef arguments[3];
    LLVMValueRef result;
    bool is_fine = count > 0;

    LLVMPositionBuilderBefore(print.builder, call);
    for (unsigned i = 1; i < count && is_fine; i++)
        is_fine = add_slots(&print, LLVMGetOperand(call, i));
    if (is_fine) {
        static const char name[] = "__zeta_printf";
        LLVMTypeRef parameters[3] = {slot, slot, slot};
        LLVMTypeRef type =
            LLVMFunctionType(LLVMInt32TypeInContext(program->context), parameters, 3, 0);
        LLVMValueRef function = LLVMGetNamedFunction(program->module, name);
        LLVMValueRef body = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(program->context);
        LLVMValueRef room;

        /* On the stack; in the first block, so that a loop does not take more each time round. */
        LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(body)));
        room = LLVMBuildAlloca(builder, LLVMArrayType(slot, print.count ? print.count : 1), "");
        LLVMSetAlignment(room, 8);
        LLVMDisposeBuilder(builder);
        if (!function)
            function = LLVMAddFunction(program->module, name, type);
        for (unsigned i = 0; i < print.count; i++) {
            LLVMValueRef index = LLVMConstInt(slot, i, 0);

            LLVMBuildStore(print.builder, print.slots[i],
                           LLVMBuildGEP2(print.builder, slot, room, &index, 1, ""));
        }
        arguments[0] = address_of(&print, LLVMGetOperand(call, 0));
        arguments[1] = address_of(&print, room);
        arguments[2] = LLVMConstInt(slot, print.count, 0);
        result = LLVMBuildCall2(print.builder, type, function, arguments, 3, "");
        if (LLVMGetInstructionCallConv(call) == ZETA_CC_SPIR_FUNCTION) /* not the length */
            result = LLVMBuildAShr(print.builder, result,
                                   LLVMConstInt(LLVMTypeOf(result), SIGN_BIT, 0), "");
        if (LLVMTypeOf(call) == LLVMTypeOf(result))
            LLVMReplaceAllUsesWith(call, result);
        LLVMInstructionEraseFromParent(call);
    } else {
        zeta_cc_buffer_line(program->log,
                            "error: printf takes numbers, vectors of them, pointers and strings, "
                            "at most %d values",
                            MAX_SLOTS);
    }
    LLVMDisposeBuilder(print.builder);
    return is_fine;
}

bool zeta_cc_program_lower_print(struct zeta_cc_program *program)
{
    /* The second one is that of vgpu.h. */
    static const char *const names[] = {"printf", "vgpu_printf"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(program->module, names[i]);
        LLVMUseRef use;

        if (!function || !LLVMIsDeclaration(function))
            continue;
        use = LLVMGetFirstUse(function);
        while (use) {
            LLVMValueRef user = LLVMGetUser(use);

            if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function) {
                use = LLVMGetNextUse(use);
                continue;
            }
            if (!lower_call(program, user))
                return false;
            /* A call may use it as an argument too. */
            use = LLVMGetFirstUse(function);
        }
        if (!LLVMGetFirstUse(function))
            LLVMDeleteFunction(function);
    }
    return true;
}
