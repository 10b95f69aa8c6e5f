/*
 * Units: modules that were built apart and are linked. Each may define names that others define as
 * well, and takes its imports from certain others, so the names of a unit get its number before
 * they come to those of others.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Linker.h>

enum { GLOBAL_MEMORY = 1 };

static bool is_exported(LLVMValueRef global)
{
    const LLVMLinkage linkage = LLVMGetLinkage(global);

    return !LLVMIsDeclaration(global) && linkage != LLVMInternalLinkage &&
           linkage != LLVMPrivateLinkage && linkage != LLVMAppendingLinkage;
}

static bool is_writable(LLVMValueRef variable)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) == GLOBAL_MEMORY &&
           !LLVMIsGlobalConstant(variable);
}

static void rename_to(LLVMValueRef global, const char *name, unsigned unit)
{
    struct zeta_cc_buffer own = {0};

    zeta_cc_buffer_print(&own, "%s$%u", name, unit);
    LLVMSetValueName2(global, own.bytes, own.size);
    zeta_cc_buffer_finish(&own);
}

void zeta_cc_program_tell_variable(struct zeta_cc_program *program, LLVMValueRef variable,
                                   unsigned unit, const char *name)
{
    const struct zeta_cc_variable told = {.unit = unit,
                                          .name = strdup(name),
                                          .own = strdup(zeta_cc_value_name(variable)),
                                          .is_writable = is_writable(variable)};

    LLVMSetVisibility(variable, LLVMDefaultVisibility);
    LLVMSetLinkage(variable, LLVMExternalLinkage);
    program->variables = zeta_cc_reallocate(program->variables, program->variable_count + 1,
                                            sizeof(*program->variables));
    program->variables[program->variable_count++] = told;
}

/* The name and the number of NAME=NUMBER. */
static unsigned long long split(const char *text, struct zeta_cc_buffer *out_name)
{
    const char *equals = strrchr(text, '=');

    zeta_cc_buffer_add(out_name, text, (size_t)(equals - text));
    return strtoull(equals + 1, NULL, 0);
}

/* What the unit takes of others. */
static void rename_imports(struct zeta_cc_program *program, const struct zeta_cc_unit *unit)
{
    for (size_t i = 0; i < unit->imports.count; i++) {
        struct zeta_cc_buffer name = {0};
        const unsigned giver = (unsigned)split(unit->imports.list[i], &name);
        LLVMValueRef global = LLVMGetNamedFunction(program->unit, name.bytes);

        if (!global)
            global = LLVMGetNamedGlobal(program->unit, name.bytes);
        if (global && LLVMIsDeclaration(global))
            rename_to(global, name.bytes, giver);
        zeta_cc_buffer_finish(&name);
    }
}

/* Variables that are in memory already are their addresses. */
static bool place_variables(struct zeta_cc_program *program, const struct zeta_cc_unit *unit)
{
    LLVMTypeRef number = LLVMInt64TypeInContext(program->context);

    for (size_t i = 0; i < unit->places.count; i++) {
        struct zeta_cc_buffer name = {0};
        const unsigned long long address = split(unit->places.list[i], &name);
        LLVMValueRef variable = LLVMGetNamedGlobal(program->unit, name.bytes);

        zeta_cc_buffer_finish(&name);
        if (!variable)
            continue;
        LLVMReplaceAllUsesWith(
            variable, LLVMConstIntToPtr(LLVMConstInt(number, address, 0), LLVMTypeOf(variable)));
        LLVMDeleteGlobal(variable);
    }
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->unit); each && unit->is_loaded;
         each = LLVMGetNextGlobal(each)) {
        if (LLVMIsDeclaration(each) || !is_writable(each))
            continue;
        zeta_cc_buffer_line(program->log, "error: the variable %s is loaded, and nobody says where",
                            zeta_cc_value_name(each));
        return false;
    }
    return true;
}

static void rename_functions(struct zeta_cc_program *program, const struct zeta_cc_unit *unit)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(program->unit); each;
         each = LLVMGetNextFunction(each)) {
        const bool is_kernel = LLVMGetFunctionCallConv(each) == ZETA_CC_SPIR_KERNEL;

        if (!is_exported(each) || (is_kernel && !unit->is_loaded))
            continue;
        if (is_kernel)
            LLVMSetFunctionCallConv(each, ZETA_CC_SPIR_FUNCTION);
        rename_to(each, zeta_cc_value_name(each), unit->number);
    }
}

/* Those of other modules, and the host, are asked for by the names of their units. */
static void rename_variables(struct zeta_cc_program *program, const struct zeta_cc_unit *unit)
{
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->unit); each;
         each = LLVMGetNextGlobal(each)) {
        struct zeta_cc_buffer name = {0};

        if (LLVMIsDeclaration(each) || (!is_exported(each) && !is_writable(each)))
            continue;
        zeta_cc_buffer_print(&name, "%s", zeta_cc_value_name(each));
        rename_to(each, name.bytes, unit->number);
        if (!unit->is_loaded)
            zeta_cc_program_tell_variable(program, each, unit->number, name.bytes);
        zeta_cc_buffer_finish(&name);
    }
}

bool zeta_cc_program_end_unit(struct zeta_cc_program *program, const struct zeta_cc_unit *unit)
{
    LLVMModuleRef module = program->unit;

    rename_imports(program, unit);
    if (!place_variables(program, unit))
        return false;
    rename_functions(program, unit);
    rename_variables(program, unit);
    program->unit = NULL;
    return !LLVMLinkModules2(program->module, module) && !program->has_errors;
}
