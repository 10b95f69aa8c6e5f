/* Who calls whom. */
#include "ptx.h"

#include <stdlib.h>
#include <string.h>

void zeta_cc_ptx_functions_add(struct zeta_cc_ptx_functions *functions, LLVMValueRef function)
{
    functions->list =
        zeta_cc_reallocate(functions->list, functions->count + 1, sizeof(LLVMValueRef));
    functions->list[functions->count++] = function;
}

bool zeta_cc_ptx_functions_have(const struct zeta_cc_ptx_functions *functions,
                                LLVMValueRef function)
{
    for (size_t i = 0; i < functions->count; i++) {
        if (functions->list[i] == function)
            return true;
    }
    return false;
}

void zeta_cc_ptx_functions_finish(struct zeta_cc_ptx_functions *functions)
{
    free(functions->list);
    *functions = (struct zeta_cc_ptx_functions){0};
}

void zeta_cc_ptx_find_askers(const struct zeta_cc_program *program, const char *name,
                             struct zeta_cc_ptx_functions *out_askers)
{
    LLVMValueRef asked = LLVMGetNamedFunction(program->module, name);

    if (asked)
        zeta_cc_ptx_functions_add(out_askers, asked);
    for (size_t i = 0; i < out_askers->count; i++) {
        for (LLVMUseRef use = LLVMGetFirstUse(out_askers->list[i]); use;
             use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use), caller;

            if (!LLVMIsACallInst(user))
                continue;
            caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
            if (!zeta_cc_ptx_functions_have(out_askers, caller))
                zeta_cc_ptx_functions_add(out_askers, caller);
        }
    }
}

/* A walk over calls: functions whose calls were looked at, and those from which it came here. */
struct walk {
    struct zeta_cc_program *program;
    struct zeta_cc_ptx_functions done;
    struct zeta_cc_ptx_functions way;
};

/* Ends the line about a call. */
static bool refuse(const struct walk *walk, LLVMValueRef call)
{
    zeta_cc_where(call, walk->program->log);
    zeta_cc_buffer_print(walk->program->log, "\n");
    return false;
}

/* False, with a line in the log, when a function calls itself by others, or through a pointer. */
static bool follow_calls(struct walk *walk, LLVMValueRef function);

static bool follow_call(struct walk *walk, LLVMValueRef caller, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);

    if (LLVMIsAInlineAsm(callee))
        return true;
    if (!LLVMIsAFunction(callee)) {
        zeta_cc_buffer_print(walk->program->log,
                             "error: %s calls through a pointer, which is not supported by %s",
                             zeta_cc_value_name(caller), zeta_cc_target.device);
        return refuse(walk, call);
    }
    if (zeta_cc_ptx_functions_have(&walk->way, callee)) {
        zeta_cc_buffer_print(walk->program->log,
                             "error: %s calls itself, directly or by others: recursion is not "
                             "supported by %s",
                             zeta_cc_value_name(callee), zeta_cc_target.device);
        return refuse(walk, call);
    }
    return zeta_cc_ptx_functions_have(&walk->done, callee) || follow_calls(walk, callee);
}

static bool follow_calls(struct walk *walk, LLVMValueRef function)
{
    bool is_fine = true;

    zeta_cc_ptx_functions_add(&walk->done, function);
    zeta_cc_ptx_functions_add(&walk->way, function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block && is_fine;
         block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each && is_fine;
             each = LLVMGetNextInstruction(each))
            is_fine = !LLVMIsACallInst(each) || follow_call(walk, function, each);
    }
    walk->way.count--;
    return is_fine;
}

bool zeta_cc_ptx_check_calls(struct zeta_cc_program *program)
{
    struct walk walk = {.program = program};
    bool is_fine = true;

    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each && is_fine;
         each = LLVMGetNextFunction(each))
        is_fine = zeta_cc_ptx_functions_have(&walk.done, each) || follow_calls(&walk, each);
    zeta_cc_ptx_functions_finish(&walk.done);
    zeta_cc_ptx_functions_finish(&walk.way);
    return is_fine;
}
