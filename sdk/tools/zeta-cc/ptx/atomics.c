/*
 * Orders and scopes of memory. LLVM 15 knows atomic operations of PTX without an order only, and no
 * fences, so an order becomes fences around the operation: before it what releases, behind it what
 * acquires, and both for those that are sequentially consistent. They are for the whole system, as
 * host memory may be shared.
 *
 * It knows operations for the device only, too. Those for all devices and the host, which LLVM
 * means where no scope is named, become assembly, on processors that have them (sm_60) and where
 * memory is not that of a group.
 *
 * Pointers to atomic types are volatile in OpenCL C. LLVM does not look for the space of a volatile
 * address, and nothing merges operations any more, so those that read and write are not volatile
 * from here on.
 */
#include "ptx.h"

#include <stdlib.h>
#include <string.h>

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

/* The operation of PTX with its type, such as add.u32; null for what PTX has not. */
static const char *name_of(LLVMValueRef operation, bool is_wide)
{
    static const struct {
        LLVMAtomicRMWBinOp operation;
        const char *names[2]; /* 32 and 64 bits */
    } all[] = {
        {LLVMAtomicRMWBinOpXchg, {"exch.b32", "exch.b64"}},
        {LLVMAtomicRMWBinOpAdd, {"add.u32", "add.u64"}},
        {LLVMAtomicRMWBinOpSub, {"add.u32", "add.u64"}}, /* of the negative number */
        {LLVMAtomicRMWBinOpAnd, {"and.b32", "and.b64"}},
        {LLVMAtomicRMWBinOpOr, {"or.b32", "or.b64"}},
        {LLVMAtomicRMWBinOpXor, {"xor.b32", "xor.b64"}},
        {LLVMAtomicRMWBinOpMax, {"max.s32", "max.s64"}},
        {LLVMAtomicRMWBinOpMin, {"min.s32", "min.s64"}},
        {LLVMAtomicRMWBinOpUMax, {"max.u32", "max.u64"}},
        {LLVMAtomicRMWBinOpUMin, {"min.u32", "min.u64"}},
        {LLVMAtomicRMWBinOpFAdd, {"add.f32", "add.f64"}},
        {LLVMAtomicRMWBinOpFSub, {"add.f32", "add.f64"}},
    };

    if (LLVMGetInstructionOpcode(operation) == LLVMAtomicCmpXchg)
        return is_wide ? "cas.b64" : "cas.b32";
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].operation == LLVMGetAtomicRMWBinOp(operation))
            return all[i].names[is_wide];
    }
    return NULL;
}

/* The letter of a register for a type in assembly; 0 for other types. */
static char letter_of(LLVMTypeRef type)
{
    const bool is_integer = LLVMGetTypeKind(type) == LLVMIntegerTypeKind;

    if (LLVMGetTypeKind(type) == LLVMFloatTypeKind)
        return 'f';
    if (LLVMGetTypeKind(type) == LLVMDoubleTypeKind)
        return 'd';
    if (is_integer && LLVMGetIntTypeWidth(type) == 32)
        return 'r';
    return is_integer && LLVMGetIntTypeWidth(type) == 64 ? 'l' : '\0';
}

/* The value of an operation for all devices, in assembly; null for what stays as it is. */
static LLVMValueRef build_for_system(LLVMBuilderRef builder, LLVMValueRef operation)
{
    const bool compares = LLVMGetInstructionOpcode(operation) == LLVMAtomicCmpXchg;
    LLVMValueRef operands[3] = {LLVMGetOperand(operation, 0), LLVMGetOperand(operation, 1),
                                compares ? LLVMGetOperand(operation, 2) : NULL};
    LLVMTypeRef type = LLVMTypeOf(operands[1]), place = LLVMTypeOf(operands[0]);
    LLVMTypeRef types[3] = {place, type, type};
    const unsigned space = LLVMGetPointerAddressSpace(place);
    const char letter = letter_of(type);
    const char *name = name_of(operation, letter == 'l' || letter == 'd');
    struct zeta_cc_buffer text = {0}, constraints = {0};
    LLVMValueRef code, value;

    if (space == ZETA_CC_PTX_SHARED || !letter || !name)
        return NULL;
    if (!compares && LLVMGetAtomicRMWBinOp(operation) == LLVMAtomicRMWBinOpSub)
        operands[1] = LLVMBuildNeg(builder, operands[1], "");
    if (!compares && LLVMGetAtomicRMWBinOp(operation) == LLVMAtomicRMWBinOpFSub)
        operands[1] = LLVMBuildFNeg(builder, operands[1], "");
    zeta_cc_buffer_print(&text, "atom.sys%s.%s $0, [$1], $2%s;",
                         space == ZETA_CC_PTX_GLOBAL ? ".global" : "", name,
                         compares ? ", $3" : "");
    zeta_cc_buffer_print(&constraints, "=%c,l,%c%s,~{memory}", letter, letter,
                         !compares       ? ""
                         : letter == 'l' ? ",l"
                                         : ",r");
    type = LLVMFunctionType(type, types, compares ? 3 : 2, 0);
    code = LLVMGetInlineAsm(type, text.bytes, text.size, constraints.bytes, constraints.size, 1, 0,
                            LLVMInlineAsmDialectATT, 0);
    value = LLVMBuildCall2(builder, type, code, operands, compares ? 3 : 2, "");
    zeta_cc_buffer_finish(&text);
    zeta_cc_buffer_finish(&constraints);
    if (compares) {
        LLVMValueRef is_same = LLVMBuildICmp(builder, LLVMIntEQ, value, operands[1], "");
        LLVMValueRef both = LLVMGetUndef(LLVMTypeOf(operation));

        both = LLVMBuildInsertValue(builder, both, value, 0, "");
        value = LLVMBuildInsertValue(builder, both, is_same, 1, "");
    }
    return value;
}

static bool has_system_scope(const struct zeta_cc_program *program)
{
    char *processor = LLVMGetTargetMachineCPU(program->machine);
    const bool has = strtoul(processor + strlen("sm_"), NULL, 10) >= 60;

    LLVMDisposeMessage(processor);
    return has;
}

static void lower_scope(struct zeta_cc_program *program, LLVMBuilderRef builder,
                        LLVMValueRef operation)
{
    LLVMValueRef value;

    if (!zeta_cc_is_of_system(operation) || !has_system_scope(program))
        return;
    LLVMPositionBuilderBefore(builder, operation);
    value = build_for_system(builder, operation);
    if (!value)
        return;
    LLVMReplaceAllUsesWith(operation, value);
    LLVMInstructionEraseFromParent(operation);
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
        if (LLVMGetInstructionOpcode(instruction) == LLVMAtomicRMW) {
            LLVMSetVolatile(instruction, 0);
            lower_scope(program, builder, instruction);
        }
        break;
    case LLVMAtomicCmpXchg:
        order = LLVMGetCmpXchgSuccessOrdering(instruction);
        lower_order(program, builder, instruction, order);
        LLVMSetCmpXchgSuccessOrdering(instruction, LLVMAtomicOrderingMonotonic);
        LLVMSetCmpXchgFailureOrdering(instruction, LLVMAtomicOrderingMonotonic);
        LLVMSetVolatile(instruction, 0);
        lower_scope(program, builder, instruction);
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
