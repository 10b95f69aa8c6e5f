/*
 * Orders of memory. LLVM 15 knows atomic operations of PTX without an order only, and no fences, so
 * an order becomes fences around the operation: before it what releases, behind it what acquires,
 * and both for those that are sequentially consistent. They are for the whole system, as host
 * memory may be shared.
 *
 * Pointers to atomic types are volatile in OpenCL C. LLVM does not look for the space of a volatile
 * address, and nothing merges operations any more, so those that read and write are not volatile
 * from here on.
 */
#include "ptx.h"

#include "sdk/tools/zeta-cc/program/llvm_more.h"

static void add_fence(struct zeta_cc_program *program, LLVMBuilderRef builder)
{
    static const char name[] = "llvm.nvvm.membar.sys";
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(program->context), NULL, 0, 0);
    LLVMValueRef fence = LLVMGetNamedFunction(program->module, name);

    if (!fence)
        fence = LLVMAddFunction(program->module, name, type);
    (void)LLVMBuildCall2(builder, type, fence, NULL, 0, "");
}

static void lower_order(struct zeta_cc_program *program, LLVMBuilderRef builder,
                        LLVMValueRef operation, LLVMAtomicOrdering order)
{
    LLVMValueRef next = LLVMGetNextInstruction(operation);

    if (order == LLVMAtomicOrderingRelease || order == LLVMAtomicOrderingAcquireRelease ||
        order == LLVMAtomicOrderingSequentiallyConsistent) {
        LLVMPositionBuilderBefore(builder, operation);
        add_fence(program, builder);
    }
    if (order == LLVMAtomicOrderingAcquire || order == LLVMAtomicOrderingAcquireRelease ||
        order == LLVMAtomicOrderingSequentiallyConsistent) {
        LLVMPositionBuilderBefore(builder, next);
        add_fence(program, builder);
    }
}

/* Gives the instruction behind. */
static LLVMValueRef lower(struct zeta_cc_program *program, LLVMBuilderRef builder,
                          LLVMValueRef instruction)
{
    LLVMValueRef next = LLVMGetNextInstruction(instruction);
    LLVMAtomicOrdering order;

    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMFence:
        LLVMPositionBuilderBefore(builder, instruction);
        add_fence(program, builder);
        LLVMInstructionEraseFromParent(instruction);
        break;
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicRMW:
        order = LLVMGetOrdering(instruction);
        if (order > LLVMAtomicOrderingMonotonic) {
            lower_order(program, builder, instruction, order);
            if (LLVMGetInstructionOpcode(instruction) == LLVMAtomicRMW)
                zeta_cc_relax(instruction);
            else
                LLVMSetOrdering(instruction, LLVMAtomicOrderingMonotonic);
        }
        if (LLVMGetInstructionOpcode(instruction) == LLVMAtomicRMW)
            LLVMSetVolatile(instruction, 0);
        break;
    case LLVMAtomicCmpXchg:
        order = LLVMGetCmpXchgSuccessOrdering(instruction);
        lower_order(program, builder, instruction, order);
        LLVMSetCmpXchgSuccessOrdering(instruction, LLVMAtomicOrderingMonotonic);
        LLVMSetCmpXchgFailureOrdering(instruction, LLVMAtomicOrderingMonotonic);
        LLVMSetVolatile(instruction, 0);
        break;
    default:
        break;
    }
    return next;
}

void zeta_cc_ptx_lower_orders(struct zeta_cc_program *program)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(program->context);

    for (LLVMValueRef function = LLVMGetFirstFunction(program->module); function;
         function = LLVMGetNextFunction(function)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
             block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef each = LLVMGetFirstInstruction(block);

            while (each)
                each = lower(program, builder, each);
        }
    }
    LLVMDisposeBuilder(builder);
}
