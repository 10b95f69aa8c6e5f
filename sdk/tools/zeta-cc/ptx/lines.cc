#include "lines.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

/* A unit of which only directives are emitted. */
static llvm::DICompileUnit *directives_of(llvm::DICompileUnit *unit)
{
    return llvm::DICompileUnit::getDistinct(
        unit->getContext(), unit->getSourceLanguage(), unit->getFile(), unit->getProducer(),
        unit->isOptimized(), unit->getFlags(), unit->getRuntimeVersion(), llvm::StringRef(),
        llvm::DICompileUnit::DebugDirectivesOnly, nullptr, nullptr, nullptr, nullptr, nullptr, 0,
        false, false, llvm::DICompileUnit::DebugNameTableKind::None, false, llvm::StringRef(),
        llvm::StringRef());
}

void zeta_cc_ptx_keep_lines(LLVMModuleRef wrapped)
{
    llvm::Module &module = *llvm::unwrap(wrapped);
    llvm::NamedMDNode *units = module.getNamedMetadata("llvm.dbg.cu");
    llvm::DebugInfoFinder finder;

    if (!units || units->getNumOperands() == 0) {
        llvm::StripDebugInfo(module);
        return;
    }
    llvm::stripNonLineTableDebugInfo(module);
    units = module.getOrInsertNamedMetadata("llvm.dbg.cu");
    finder.processModule(module);
    for (llvm::DICompileUnit *unit : finder.compile_units()) {
        llvm::DICompileUnit *directives = directives_of(unit);

        for (llvm::DISubprogram *function : finder.subprograms()) {
            if (function->getUnit() == unit)
                function->replaceUnit(directives);
        }
        for (unsigned i = 0; i < units->getNumOperands(); i++) {
            if (units->getOperand(i) == unit)
                units->setOperand(i, directives);
        }
    }
}

void zeta_cc_ptx_move_lines(LLVMValueRef from, LLVMValueRef to)
{
    auto *kernel = llvm::unwrap<llvm::Function>(from);

    llvm::unwrap<llvm::Function>(to)->setSubprogram(kernel->getSubprogram());
    kernel->setSubprogram(nullptr);
}
