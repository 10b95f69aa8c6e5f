/*
 * Symbols of modules that may be linked. PTX has nothing of them: modules are linked by compiling
 * them once more, together (program/units.c).
 */
#include "ptx.h"

#include <ctype.h>
#include <string.h>

static bool is_exported(LLVMValueRef global)
{
    return !LLVMIsDeclaration(global) && LLVMGetLinkage(global) == LLVMExternalLinkage;
}

static bool is_variable(LLVMValueRef global)
{
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));

    return !LLVMIsDeclaration(global) &&
           (space == ZETA_CC_PTX_GLOBAL || space == ZETA_CC_SPACE_CONSTANT);
}

/* A line about a name; those that a line cannot hold are refused. */
static bool tell(struct zeta_cc_program *program, const char *what, const char *name)
{
    for (const char *at = name; *at; at++) {
        if (isgraph((unsigned char)*at))
            continue;
        zeta_cc_buffer_line(program->log,
                            "error: \"%s\": modules that are linked cannot have names with blanks",
                            name);
        return false;
    }
    zeta_cc_buffer_print(&program->notes, "//zeta %s %s\n", what, name);
    return true;
}

static bool refuse_imports(const struct zeta_cc_program *program)
{
    for (size_t i = 0; i < program->imports.count; i++) {
        const char *name = program->imports.list[i];
        LLVMValueRef global = LLVMGetNamedFunction(program->module, name);
        LLVMValueRef use =
            zeta_cc_first_use(global ? global : LLVMGetNamedGlobal(program->module, name));

        zeta_cc_buffer_print(program->log,
                             "error: %s is not defined: PTX for %s has nothing that others define, "
                             "so all that belongs together is compiled together",
                             name, zeta_cc_target.device);
        if (use)
            zeta_cc_where(use, program->log);
        zeta_cc_buffer_print(program->log, "\n");
    }
    return program->imports.count == 0;
}

/* Variables that others may come to: a function that they call may use each. */
static void tell_variables(struct zeta_cc_program *program, bool has_exports)
{
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        const bool is_written =
            LLVMGetPointerAddressSpace(LLVMTypeOf(each)) == ZETA_CC_PTX_GLOBAL &&
            !LLVMIsGlobalConstant(each);

        if (is_variable(each) && (is_exported(each) || (has_exports && is_written)))
            zeta_cc_program_tell_variable(program, each, 0, zeta_cc_value_name(each));
    }
}

bool zeta_cc_ptx_tell_symbols(struct zeta_cc_program *program)
{
    bool is_fine = true, has_exports = false;

    if (!program->allows_imports)
        return refuse_imports(program);
    for (size_t i = 0; i < program->imports.count && is_fine; i++)
        is_fine = tell(program, "import", program->imports.list[i]);
    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each && is_fine;
         each = LLVMGetNextFunction(each)) {
        if (!is_exported(each) || LLVMGetFunctionCallConv(each) == ZETA_CC_SPIR_KERNEL)
            continue;
        has_exports = true;
        is_fine = tell(program, "export", zeta_cc_value_name(each));
    }
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each && is_fine;
         each = LLVMGetNextGlobal(each)) {
        if (is_variable(each) && is_exported(each)) {
            has_exports = true;
            is_fine = tell(program, "export", zeta_cc_value_name(each));
        }
    }
    if (is_fine)
        tell_variables(program, has_exports);
    return is_fine;
}

void zeta_cc_ptx_tell_variable(struct zeta_cc_program *program, const char *name, const char *own)
{
    for (size_t i = 0; i < program->variable_count; i++) {
        const struct zeta_cc_variable *variable = &program->variables[i];

        if (strcmp(variable->own, name) == 0)
            zeta_cc_buffer_print(&program->notes, "//zeta variable %u %s %s %s\n", variable->unit,
                                 variable->name, own, variable->is_writable ? "w" : "c");
    }
}
