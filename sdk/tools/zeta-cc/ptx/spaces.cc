#include "spaces.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace
{

const unsigned GENERIC_OF_SPIR = 4, CONSTANT_OF_SPIR = 2, GENERIC = 0, GLOBAL = 1;

const llvm::RemapFlags flags = llvm::RF_IgnoreMissingLocals | llvm::RF_ReuseAndMutateDistinctMDs;

unsigned map_space(unsigned space)
{
    return space == GENERIC_OF_SPIR ? GENERIC : space == CONSTANT_OF_SPIR ? GLOBAL : space;
}

/* Types, each made once. Pointers have no types of what they point to, so no type contains itself.
 */
class Types : public llvm::ValueMapTypeRemapper
{
    llvm::DenseMap<llvm::Type *, llvm::Type *> made;

    llvm::Type *make(llvm::Type *type)
    {
        if (auto *pointer = llvm::dyn_cast<llvm::PointerType>(type))
            return llvm::PointerType::get(type->getContext(),
                                          map_space(pointer->getAddressSpace()));
        if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
            return llvm::ArrayType::get(remapType(array->getElementType()),
                                        array->getNumElements());
        if (auto *vector = llvm::dyn_cast<llvm::VectorType>(type))
            return llvm::VectorType::get(remapType(vector->getElementType()),
                                         vector->getElementCount());
        if (auto *function = llvm::dyn_cast<llvm::FunctionType>(type)) {
            llvm::SmallVector<llvm::Type *, 16> parameters;

            for (llvm::Type *each : function->params())
                parameters.push_back(remapType(each));
            return llvm::FunctionType::get(remapType(function->getReturnType()), parameters,
                                           function->isVarArg());
        }
        auto *structure = llvm::dyn_cast<llvm::StructType>(type);
        if (!structure || structure->isOpaque())
            return type;
        llvm::SmallVector<llvm::Type *, 16> elements;
        for (llvm::Type *each : structure->elements())
            elements.push_back(remapType(each));
        if (structure->elements() == llvm::makeArrayRef(elements))
            return type;
        if (structure->isLiteral())
            return llvm::StructType::get(type->getContext(), elements, structure->isPacked());
        return llvm::StructType::create(type->getContext(), elements, structure->getName(),
                                        structure->isPacked());
    }

  public:
    llvm::Type *remapType(llvm::Type *type) override
    {
        auto found = made.find(type);
        if (found != made.end())
            return found->second;
        llvm::Type *result = make(type);
        made[type] = result;
        return result;
    }
};

/* A constant cast between two spaces that become one is what it casts. */
class Casts : public llvm::ValueMaterializer
{
    llvm::ValueToValueMapTy &values;
    Types &types;

  public:
    Casts(llvm::ValueToValueMapTy &all, Types &mapped) : values(all), types(mapped)
    {
    }

    llvm::Value *materialize(llvm::Value *value) override
    {
        auto *cast = llvm::dyn_cast<llvm::ConstantExpr>(value);
        if (!cast || cast->getOpcode() != llvm::Instruction::AddrSpaceCast ||
            types.remapType(cast->getType()) != types.remapType(cast->getOperand(0)->getType()))
            return nullptr;
        return llvm::MapValue(cast->getOperand(0), values, flags, &types, this);
    }
};

/* The function with mapped types, into which the body moves; the same one where nothing changes. */
llvm::Function *map_function(llvm::Function &old, llvm::ValueToValueMapTy &values, Types &types)
{
    auto *type = llvm::cast<llvm::FunctionType>(types.remapType(old.getFunctionType()));
    llvm::Function *mapped =
        llvm::Function::Create(type, old.getLinkage(), old.getAddressSpace(), "", old.getParent());

    mapped->copyAttributesFrom(&old);
    mapped->copyMetadata(&old, 0);
    /* By setName(), which knows the names of intrinsic functions. */
    const std::string name = old.getName().str();
    old.setName("");
    mapped->setName(name);
    if (auto renamed = llvm::Intrinsic::remangleIntrinsicFunction(mapped)) {
        mapped->eraseFromParent();
        return *renamed;
    }
    mapped->getBasicBlockList().splice(mapped->begin(), old.getBasicBlockList());
    for (auto from = old.arg_begin(), to = mapped->arg_begin(); from != old.arg_end();
         ++from, ++to) {
        to->takeName(&*from);
        values[&*from] = &*to;
    }
    return mapped;
}

llvm::GlobalVariable *map_variable(llvm::GlobalVariable &old, Types &types)
{
    auto *mapped = new llvm::GlobalVariable(
        *old.getParent(), types.remapType(old.getValueType()), old.isConstant(), old.getLinkage(),
        nullptr, "", nullptr, old.getThreadLocalMode(), map_space(old.getAddressSpace()));

    mapped->copyAttributesFrom(&old);
    mapped->takeName(&old);
    return mapped;
}

} // namespace

void zeta_cc_ptx_map_spaces(LLVMModuleRef module)
{
    llvm::Module &all = *llvm::unwrap(module);
    llvm::SmallVector<llvm::GlobalVariable *, 16> variables;
    llvm::SmallVector<llvm::Function *, 64> functions;
    llvm::ValueToValueMapTy values;
    Types types;
    Casts casts(values, types);

    for (llvm::GlobalVariable &each : all.globals())
        if (types.remapType(each.getType()) != each.getType() ||
            types.remapType(each.getValueType()) != each.getValueType() || each.hasInitializer())
            variables.push_back(&each);
    for (llvm::Function &each : all)
        if (types.remapType(each.getFunctionType()) != each.getFunctionType())
            functions.push_back(&each);
    for (llvm::GlobalVariable *each : variables)
        values[each] = map_variable(*each, types);
    for (llvm::Function *each : functions)
        values[each] = map_function(*each, values, types);
    for (llvm::GlobalVariable *each : variables)
        if (each->hasInitializer())
            llvm::cast<llvm::GlobalVariable>(values[each])
                ->setInitializer(
                    llvm::MapValue(each->getInitializer(), values, flags, &types, &casts));
    for (llvm::Function &each : all) {
        llvm::SmallVector<llvm::Instruction *, 16> needless;

        llvm::RemapFunction(each, values, flags, &types, &casts);
        for (llvm::Instruction &instruction : llvm::instructions(each))
            if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction))
                if (cast->getSrcTy() == cast->getDestTy())
                    needless.push_back(cast);
        for (llvm::Instruction *cast : needless) {
            cast->replaceAllUsesWith(cast->getOperand(0));
            cast->eraseFromParent();
        }
    }
    for (llvm::GlobalVariable *each : variables)
        each->setInitializer(nullptr);
    for (llvm::Function *each : functions) {
        each->removeDeadConstantUsers();
        each->eraseFromParent();
    }
    for (llvm::GlobalVariable *each : variables) {
        each->removeDeadConstantUsers();
        each->eraseFromParent();
    }
}
