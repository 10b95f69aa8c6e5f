/*
 * Rotations of 64 bits. LLVM 15 makes shifts of them, and forgets that they count modulo 64, which
 * shifts of PTX do not. It also sees rotations in shifts and drops what it takes for needless
 * there, so the bits of the count that matter are taken by an instruction that it does not look
 * into.
 */
#include "ptx.h"

#include <string.h>

/* The lower six bits of a number of 64. */
static LLVMValueRef six_bits(struct zeta_cc_program *program, LLVMBuilderRef builder,
                             LLVMValueRef number)
{
    static char code[] = "and.b32 $0, $1, 63;", constraints[] = "=r,r";
    LLVMTypeRef word = LLVMInt32TypeInContext(program->context);
    LLVMTypeRef type = LLVMFunctionType(word, &word, 1, 0);
    LLVMValueRef take = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                         0, 0, LLVMInlineAsmDialectATT, 0);

    number = LLVMBuildTrunc(builder, number, word, "");
    number = LLVMBuildCall2(builder, type, take, &number, 1, "");
    return LLVMBuildZExt(builder, number, LLVMInt64TypeInContext(program->context), "");
}

/* x << (n & 63) | x >> (-n & 63), or the other way round. */
static LLVMValueRef rotate(struct zeta_cc_program *program, LLVMBuilderRef builder, LLVMValueRef x,
                           LLVMValueRef count, bool is_left)
{
    LLVMValueRef near = six_bits(program, builder, count);
    LLVMValueRef far = six_bits(program, builder, LLVMBuildNeg(builder, count, ""));

    return LLVMBuildOr(builder, LLVMBuildShl(builder, x, is_left ? near : far, ""),
                       LLVMBuildLShr(builder, x, is_left ? far : near, ""), "");
}

/* The value of a call, lane by lane. */
static LLVMValueRef rotate_all(struct zeta_cc_program *program, LLVMBuilderRef builder,
                               LLVMValueRef call, bool is_left)
{
    LLVMValueRef x = LLVMGetOperand(call, 0), count = LLVMGetOperand(call, 2);
    LLVMValueRef result = LLVMGetUndef(LLVMTypeOf(x));

    if (LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMVectorTypeKind)
        return rotate(program, builder, x, count, is_left);
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(x)); i++) {
        LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(program->context), i, 0);
        LLVMValueRef lane = rotate(program, builder, LLVMBuildExtractElement(builder, x, at, ""),
                                   LLVMBuildExtractElement(builder, count, at, ""), is_left);

        result = LLVMBuildInsertElement(builder, result, lane, at, "");
    }
    return result;
}

void zeta_cc_ptx_lower_rotations(struct zeta_cc_program *program)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(program->context);

    for (LLVMValueRef function = LLVMGetFirstFunction(program->module); function;
         function = LLVMGetNextFunction(function)) {
        const char *name = zeta_cc_value_name(function);
        const bool is_left = strncmp(name, "llvm.fshl.", strlen("llvm.fshl.")) == 0;
        LLVMUseRef use, next;

        if ((!is_left && strncmp(name, "llvm.fshr.", strlen("llvm.fshr.")) != 0) ||
            strcmp(name + strlen(name) - strlen("i64"), "i64") != 0)
            continue;
        for (use = LLVMGetFirstUse(function); use; use = next) {
            LLVMValueRef call = LLVMGetUser(use);

            next = LLVMGetNextUse(use);
            if (LLVMGetOperand(call, 0) != LLVMGetOperand(call, 1) ||
                LLVMIsAConstant(LLVMGetOperand(call, 2)))
                continue;
            LLVMPositionBuilderBefore(builder, call);
            LLVMReplaceAllUsesWith(call, rotate_all(program, builder, call, is_left));
            LLVMInstructionEraseFromParent(call);
        }
    }
    LLVMDisposeBuilder(builder);
}
