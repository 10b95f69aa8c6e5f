#include "users.h"

#include <stdlib.h>
#include <string.h>

/* Values that a search has come by. */
struct visited {
    LLVMValueRef *list;
    size_t count;
    size_t room;
};

static bool visit(struct visited *visited, LLVMValueRef value)
{
    for (size_t i = 0; i < visited->count; i++) {
        if (visited->list[i] == value)
            return false;
    }
    if (visited->count == visited->room) {
        size_t room = visited->room ? 2 * visited->room : 64;
        LLVMValueRef *list = zeta_cc_allocate(room, sizeof(LLVMValueRef));

        if (visited->count > 0)
            memcpy(list, visited->list, visited->count * sizeof(LLVMValueRef));
        free(visited->list);
        visited->list = list;
        visited->room = room;
    }
    visited->list[visited->count++] = value;
    return true;
}

/* True for functions that other modules, or nobody knows who, may call. */
static bool is_open(const struct zeta_cc_program *program, LLVMValueRef function)
{
    return LLVMGetLinkage(function) != LLVMInternalLinkage &&
           LLVMGetVisibility(function) == LLVMDefaultVisibility &&
           !zeta_cc_words_have(&program->kernels, zeta_cc_value_name(function));
}

static void mark_function(const struct zeta_cc_program *program, LLVMValueRef function,
                          bool *used_by)
{
    bool open = is_open(program, function);

    for (size_t i = 0; i < program->kernels.count; i++)
        used_by[i] |= open || strcmp(program->kernels.list[i], zeta_cc_value_name(function)) == 0;
}

void zeta_cc_mark_users(const struct zeta_cc_program *program, LLVMValueRef value, bool *used_by)
{
    struct visited visited = {0};

    if (LLVMIsAFunction(value))
        mark_function(program, value, used_by);
    (void)visit(&visited, value);
    for (size_t at = 0; at < visited.count; at++) {
        for (LLVMUseRef use = LLVMGetFirstUse(visited.list[at]); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);

            if (LLVMIsAInstruction(user))
                user = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
            if (visit(&visited, user) && LLVMIsAFunction(user))
                mark_function(program, user, used_by);
        }
    }
    free(visited.list);
}
