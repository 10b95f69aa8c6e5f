#include "program.h"

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
           !zeta_cc_strings_have(&program->kernels, zeta_cc_value_name(function));
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

/* Profilers know instructions by their address divided by 8, so no two functions may share one. */
enum { FUNCTION_ALIGNMENT = 8 };

static void place(LLVMValueRef function, const char *kernel)
{
    struct zeta_cc_buffer section = {0};

    zeta_cc_buffer_print(&section, ".text.%s", kernel);
    LLVMSetSection(function, section.bytes);
    zeta_cc_buffer_finish(&section);
}

static void place_kernel(struct zeta_cc_program *program, const char *kernel)
{
    struct zeta_cc_buffer stub = {0};

    zeta_cc_buffer_print(&stub, ZETA_CC_ENTRY_PREFIX "%s", kernel);
    place(LLVMGetNamedFunction(program->module, kernel), kernel);
    place(LLVMGetNamedFunction(program->module, stub.bytes), kernel);
    zeta_cc_buffer_finish(&stub);
}

/* The only kernel that calls a function, or null. */
static const char *only_user(const struct zeta_cc_program *program, LLVMValueRef function,
                             bool *used_by)
{
    const char *user = NULL;
    size_t count = 0;

    for (size_t i = 0; i < program->kernels.count; i++)
        used_by[i] = false;
    zeta_cc_mark_users(program, function, used_by);
    for (size_t i = 0; i < program->kernels.count; i++) {
        if (used_by[i])
            user = program->kernels.list[i];
        count += used_by[i];
    }
    return count == 1 ? user : NULL;
}

void zeta_cc_program_place_code(struct zeta_cc_program *program)
{
    bool *used_by = zeta_cc_allocate(program->kernels.count, sizeof(*used_by));

    for (size_t i = 0; i < program->kernels.count; i++)
        place_kernel(program, program->kernels.list[i]);
    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        const char *section = LLVMGetSection(each);
        const char *kernel = NULL;

        if (!zeta_cc_is_defined(each))
            continue;
        LLVMSetAlignment(each, FUNCTION_ALIGNMENT);
        if (!section || section[0] == '\0')
            kernel = only_user(program, each, used_by);
        if (kernel)
            place(each, kernel);
    }
    free(used_by);
}
