/* Which kernels use a function or a variable, and where it therefore is placed. */
#include "riscv.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-cc/program/llvm_more.h"

/* Values that a search has come by. */
struct visited {
    LLVMValueRef *list;
    size_t count;
};

static bool visit(struct visited *visited, LLVMValueRef value)
{
    for (size_t i = 0; i < visited->count; i++) {
        if (visited->list[i] == value)
            return false;
    }
    visited->list = zeta_cc_reallocate(visited->list, visited->count + 1, sizeof(LLVMValueRef));
    visited->list[visited->count++] = value;
    return true;
}

static void mark_function(const struct zeta_cc_program *program, LLVMValueRef function,
                          bool *used_by)
{
    const char *name = zeta_cc_value_name(function);
    /* Other modules may call it. */
    bool open = LLVMGetLinkage(function) != LLVMInternalLinkage &&
                LLVMGetVisibility(function) == LLVMDefaultVisibility &&
                !zeta_cc_strings_have(&program->kernels, name);

    for (size_t i = 0; i < program->kernels.count; i++)
        used_by[i] |= open || strcmp(program->kernels.list[i], name) == 0;
}

/*
 * Marks the kernels that can come by a value: they or what they call use it, its address, or what
 * holds its address. Functions that other modules can call count as called by all kernels.
 */
static void mark_users(const struct zeta_cc_program *program, LLVMValueRef value, bool *used_by)
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

void zeta_cc_program_place_code(struct zeta_cc_program *program)
{
    bool *used_by = zeta_cc_allocate(program->kernels.count, sizeof(*used_by));

    for (size_t i = 0; i < program->kernels.count; i++) {
        const char *kernel = program->kernels.list[i];

        place(LLVMGetNamedFunction(program->module, kernel), kernel);
        place(zeta_cc_entry_stub(program, kernel), kernel);
    }
    for (LLVMValueRef each = LLVMGetFirstFunction(program->module); each;
         each = LLVMGetNextFunction(each)) {
        const char *section = LLVMGetSection(each);
        const char *kernel = NULL;
        size_t users = 0;

        if (LLVMIsDeclaration(each))
            continue;
        LLVMSetAlignment(each, FUNCTION_ALIGNMENT);
        if (section && section[0] != '\0')
            continue;
        memset(used_by, 0, program->kernels.count * sizeof(*used_by));
        mark_users(program, each, used_by);
        for (size_t i = 0; i < program->kernels.count; i++) {
            kernel = used_by[i] ? program->kernels.list[i] : kernel;
            users += used_by[i];
        }
        if (users == 1)
            place(each, kernel);
    }
    free(used_by);
}

enum { MAX_VARIABLES = 65536 };

/* A variable and the kernels that use it. */
struct variable {
    LLVMValueRef global;
    uint64_t offset;
    bool *used_by; /* per kernel */
};

static bool is_local(LLVMValueRef global)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == ZETA_CC_SPACE_LOCAL &&
           !LLVMIsDeclaration(global);
}

static void move_variable(const struct zeta_cc_program *program, const struct variable *variable,
                          LLVMValueRef room)
{
    LLVMContextRef context = program->context;
    LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(context), variable->offset, 0);
    LLVMValueRef address = LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(context), room, &offset, 1);
    struct zeta_cc_buffer name = {0};
    LLVMValueRef alias;

    zeta_cc_buffer_print(&name, "%s", zeta_cc_value_name(variable->global));
    alias = LLVMAddAlias2(program->module, LLVMGlobalGetValueType(variable->global),
                          ZETA_CC_SPACE_LOCAL, address, "");
    LLVMSetLinkage(alias, LLVMInternalLinkage);
    zeta_cc_move_debug(variable->global, room, variable->offset);
    LLVMReplaceAllUsesWith(variable->global, alias);
    LLVMDeleteGlobal(variable->global);
    LLVMSetValueName2(alias, name.bytes ? name.bytes : "", name.size);
    zeta_cc_buffer_finish(&name);
}

void zeta_cc_program_overlay_locals(struct zeta_cc_program *program)
{
    const size_t kernels = program->kernels.count;
    struct variable *variables = NULL;
    uint64_t *ends = NULL;
    unsigned alignment = 1;
    uint64_t bytes = 0;
    size_t count = 0;

    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        const char *section = LLVMGetSection(each);

        if (is_local(each))
            count++;
        else if (section && strncmp(section, ".bss.slm", strlen(".bss.slm")) == 0)
            return; /* placed in another way */
    }
    if (count == 0 || count > MAX_VARIABLES)
        return;
    variables = zeta_cc_allocate(count, sizeof(*variables));
    ends = zeta_cc_allocate(kernels, sizeof(*ends));
    count = 0;
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        struct variable *variable = &variables[count];
        unsigned preferred, own;
        uint64_t end = 0;

        if (!is_local(each))
            continue;
        count++;
        preferred = LLVMPreferredAlignmentOfGlobal(program->layout, each);
        own = LLVMGetAlignment(each);
        alignment = preferred > alignment ? preferred : alignment;
        alignment = own > alignment ? own : alignment;
        own = own ? own : preferred;
        variable->global = each;
        variable->used_by = zeta_cc_allocate(kernels, sizeof(bool));
        mark_users(program, each, variable->used_by);
        /* Behind all that kernels use that also use this one. */
        for (size_t i = 0; i < kernels; i++) {
            if (variable->used_by[i] && ends[i] > end)
                end = ends[i];
        }
        variable->offset = (end + own - 1) / own * own;
        end = variable->offset + LLVMABISizeOfType(program->layout, LLVMGlobalGetValueType(each));
        for (size_t i = 0; i < kernels; i++)
            ends[i] = variable->used_by[i] ? end : ends[i];
        bytes = end > bytes ? end : bytes;
    }
    if (bytes <= UINT32_MAX) {
        LLVMTypeRef type = LLVMArrayType(LLVMInt8TypeInContext(program->context), (unsigned)bytes);
        LLVMValueRef room =
            LLVMAddGlobalInAddressSpace(program->module, type, ".vgpu.local", ZETA_CC_SPACE_LOCAL);

        LLVMSetInitializer(room, LLVMConstNull(type));
        LLVMSetLinkage(room, LLVMInternalLinkage);
        LLVMSetSection(room, ".bss.slm");
        LLVMSetAlignment(room, alignment);
        for (size_t i = 0; i < count; i++)
            move_variable(program, &variables[i], room);
        program->local_bytes = zeta_cc_allocate(kernels, sizeof(*program->local_bytes));
        for (size_t i = 0; i < kernels; i++)
            program->local_bytes[i] = (uint32_t)ends[i];
    }
    for (size_t i = 0; i < count; i++)
        free(variables[i].used_by);
    free(variables);
    free(ends);
}
