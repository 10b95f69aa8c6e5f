#include "llvm_more.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

void zeta_cc_set_local(LLVMValueRef global, bool is_local)
{
    llvm::unwrap<llvm::GlobalValue>(global)->setDSOLocal(is_local);
}

/* The expression without changes of the address space; itself when there are none. */
static llvm::DIExpression *without_spaces(llvm::DIExpression *expression)
{
    llvm::SmallVector<uint64_t, 8> kept;
    llvm::ArrayRef<uint64_t> all = expression->getElements();

    if (!expression->isValid())
        return expression;
    for (size_t i = 0; i < all.size();) {
        size_t words = llvm::DIExpression::ExprOperand(&all[i]).getSize();

        if (all[i] == llvm::dwarf::DW_OP_constu && i + 3 < all.size() &&
            all[i + 2] == llvm::dwarf::DW_OP_swap && all[i + 3] == llvm::dwarf::DW_OP_xderef) {
            i += 4;
            continue;
        }
        kept.append(all.begin() + i, all.begin() + i + words);
        i += words;
    }
    if (kept.size() == all.size())
        return expression;
    return llvm::DIExpression::get(expression->getContext(), kept);
}

static void repair_variable(llvm::GlobalVariable &variable)
{
    llvm::SmallVector<llvm::DIGlobalVariableExpression *, 1> attached;

    variable.getDebugInfo(attached);
    if (attached.empty())
        return;
    variable.eraseMetadata(llvm::LLVMContext::MD_dbg);
    for (llvm::DIGlobalVariableExpression *each : attached) {
        if (each->getVariable()->getName().empty())
            continue;
        variable.addDebugInfo(llvm::DIGlobalVariableExpression::get(
            variable.getContext(), each->getVariable(), without_spaces(each->getExpression())));
    }
}

/* Units list their variables too. */
static void repair_unit(llvm::DICompileUnit &unit)
{
    llvm::SmallVector<llvm::Metadata *, 16> kept;

    for (llvm::DIGlobalVariableExpression *each : unit.getGlobalVariables())
        if (!each->getVariable()->getName().empty())
            kept.push_back(each);
    unit.replaceGlobalVariables(llvm::MDTuple::get(unit.getContext(), kept));
}

void zeta_cc_repair_debug(LLVMModuleRef module)
{
    for (llvm::DICompileUnit *unit : llvm::unwrap(module)->debug_compile_units())
        repair_unit(*unit);
    for (llvm::GlobalVariable &variable : llvm::unwrap(module)->globals())
        repair_variable(variable);
    for (llvm::Function &function : *llvm::unwrap(module))
        for (llvm::Instruction &instruction : llvm::instructions(function))
            if (auto *about = llvm::dyn_cast<llvm::DbgVariableIntrinsic>(&instruction))
                about->setExpression(without_spaces(about->getExpression()));
}

void zeta_cc_move_debug(LLVMValueRef from, LLVMValueRef to, uint64_t offset)
{
    auto *source = llvm::unwrap<llvm::GlobalVariable>(from);
    auto *target = llvm::unwrap<llvm::GlobalVariable>(to);
    llvm::SmallVector<llvm::DIGlobalVariableExpression *, 1> attached;

    source->getDebugInfo(attached);
    source->eraseMetadata(llvm::LLVMContext::MD_dbg);
    for (llvm::DIGlobalVariableExpression *each : attached)
        target->addDebugInfo(llvm::DIGlobalVariableExpression::get(
            target->getContext(), each->getVariable(),
            llvm::DIExpression::prepend(each->getExpression(), llvm::DIExpression::ApplyOffset,
                                        static_cast<int64_t>(offset))));
}

void zeta_cc_machine_options(LLVMTargetMachineRef machine, bool contract, const char *abi)
{
    llvm::TargetOptions &options = reinterpret_cast<llvm::TargetMachine *>(machine)->Options;

    options.AllowFPOpFusion = contract ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
    if (!abi)
        return;
    options.EmitStackSizeSection = true;
    options.MCOptions.ABIName = abi;
    options.MCOptions.DwarfVersion = 4;
}

void zeta_cc_relax(LLVMValueRef atomic_rmw)
{
    llvm::unwrap<llvm::AtomicRMWInst>(atomic_rmw)->setOrdering(llvm::AtomicOrdering::Monotonic);
}

bool zeta_cc_is_of_system(LLVMValueRef atomic)
{
    llvm::Value *value = llvm::unwrap(atomic);

    if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(value))
        return exchange->getSyncScopeID() == llvm::SyncScope::System;
    return llvm::cast<llvm::AtomicRMWInst>(value)->getSyncScopeID() == llvm::SyncScope::System;
}

char *zeta_cc_demangle(const char *name)
{
    /* A name such as f would be the type float. */
    return llvm::StringRef(name).startswith("_Z")
               ? llvm::itaniumDemangle(name, nullptr, nullptr, nullptr)
               : nullptr;
}
