#include "program.h"

#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

enum { MAX_SLOTS = 1024 };

/* A call and what became of its arguments. */
struct print {
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMValueRef slots[MAX_SLOTS];
    unsigned count;
};

/* The bits of a scalar in 8 bytes; null when it is none. */
static LLVMValueRef scalar_slot(struct print *print, LLVMValueRef value)
{
    LLVMTypeRef slot = LLVMInt64TypeInContext(print->context);
    LLVMTypeRef real = LLVMDoubleTypeInContext(print->context);

    switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
        value = LLVMBuildFPExt(print->builder, value, real, "");
        return LLVMBuildBitCast(print->builder, value, slot, "");
    case LLVMDoubleTypeKind:
        return LLVMBuildBitCast(print->builder, value, slot, "");
    case LLVMIntegerTypeKind:
        return LLVMBuildIntCast2(print->builder, value, slot, 0, "");
    case LLVMPointerTypeKind:
        return LLVMBuildPtrToInt(print->builder, value, slot, "");
    default:
        return NULL;
    }
}

static bool add_slot(struct print *print, LLVMValueRef value)
{
    LLVMValueRef slot = print->count < MAX_SLOTS ? scalar_slot(print, value) : NULL;

    if (!slot)
        return false;
    print->slots[print->count++] = slot;
    return true;
}

static bool add_argument(struct print *print, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return add_slot(print, value);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef index = LLVMConstInt(LLVMInt32TypeInContext(print->context), i, 0);

        if (!add_slot(print, LLVMBuildExtractElement(print->builder, value, index, "")))
            return false;
    }
    return true;
}

/* Room on the stack; in the first block, so that a loop does not take more each time round. */
static LLVMValueRef make_room(struct print *print, LLVMValueRef call)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(print->context);
    LLVMTypeRef type =
        LLVMArrayType(LLVMInt64TypeInContext(print->context), print->count ? print->count : 1);
    LLVMValueRef room;

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    room = LLVMBuildAlloca(builder, type, "");
    LLVMSetAlignment(room, 8);
    LLVMDisposeBuilder(builder);
    return room;
}

static LLVMValueRef runtime_function(struct zeta_cc_program *program, LLVMTypeRef *out_type)
{
    static const char name[] = "__vgpu_printf";
    LLVMTypeRef slot = LLVMInt64TypeInContext(program->context);
    LLVMTypeRef parameters[2] = {slot, slot};
    LLVMValueRef function = LLVMGetNamedFunction(program->module, name);

    *out_type = LLVMFunctionType(LLVMInt32TypeInContext(program->context), parameters, 2, 0);
    return function ? function : LLVMAddFunction(program->module, name, *out_type);
}

static bool lower_call(struct zeta_cc_program *program, LLVMValueRef call)
{
    LLVMTypeRef slot = LLVMInt64TypeInContext(program->context);
    struct print print = {.context = program->context,
                          .builder = LLVMCreateBuilderInContext(program->context)};
    unsigned count = LLVMGetNumArgOperands(call);
    LLVMTypeRef type = NULL;
    LLVMValueRef arguments[2];
    LLVMValueRef result;
    bool is_fine = count > 0;

    LLVMPositionBuilderBefore(print.builder, call);
    for (unsigned i = 1; i < count && is_fine; i++)
        is_fine = add_argument(&print, LLVMGetOperand(call, i));
    if (is_fine) {
        LLVMValueRef room = make_room(&print, call);

        for (unsigned i = 0; i < print.count; i++) {
            LLVMValueRef index = LLVMConstInt(slot, i, 0);

            LLVMBuildStore(print.builder, print.slots[i],
                           LLVMBuildGEP2(print.builder, slot, room, &index, 1, ""));
        }
        arguments[0] = LLVMBuildPtrToInt(print.builder, LLVMGetOperand(call, 0), slot, "");
        arguments[1] = LLVMBuildPtrToInt(print.builder, room, slot, "");
        result = runtime_function(program, &type);
        result = LLVMBuildCall2(print.builder, type, result, arguments, 2, "");
        if (LLVMGetInstructionCallConv(call) == ZETA_CC_SPIR_FUNCTION)
            result = LLVMConstNull(LLVMTypeOf(result));
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

/* A call of the function among its uses, or null. */
static LLVMValueRef find_call(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function)
            return user;
    }
    return NULL;
}

static bool lower_calls(struct zeta_cc_program *program, const char *name)
{
    LLVMValueRef function = LLVMGetNamedFunction(program->module, name);
    LLVMValueRef call;

    if (!function || zeta_cc_is_defined(function))
        return true;
    while ((call = find_call(function)) != NULL) {
        if (!lower_call(program, call))
            return false;
    }
    if (!LLVMGetFirstUse(function))
        LLVMDeleteFunction(function);
    return true;
}

bool zeta_cc_program_lower_print(struct zeta_cc_program *program)
{
    /* The second one is that of vgpu.h. */
    return lower_calls(program, "printf") && lower_calls(program, "vgpu_printf");
}
