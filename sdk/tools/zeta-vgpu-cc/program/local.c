#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "llvm_more.h"

enum { MAX_VARIABLES = 65536 };

/* A variable and who uses it. */
struct variable {
    LLVMValueRef global;
    uint64_t offset;
    bool *used_by; /* per kernel */
};

static bool is_local(LLVMValueRef global)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == ZETA_CC_SPACE_LOCAL &&
           zeta_cc_is_defined(global);
}

/* Number of variables; 0 when there are none, or some that are placed in another way. */
static size_t count_variables(const struct zeta_cc_program *program)
{
    size_t count = 0;

    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        const char *section = LLVMGetSection(each);

        if (is_local(each))
            count++;
        else if (section && strncmp(section, ".bss.slm", strlen(".bss.slm")) == 0)
            return 0;
    }
    return count <= MAX_VARIABLES ? count : 0;
}

/* Behind all that kernels use that also use this one. Gives the end. */
static uint64_t place(const struct zeta_cc_program *program, struct variable *variable,
                      uint64_t *ends)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(variable->global);
    uint64_t alignment = LLVMGetAlignment(variable->global);
    uint64_t end = 0;

    if (alignment == 0)
        alignment = LLVMPreferredAlignmentOfGlobal(program->layout, variable->global);
    for (size_t i = 0; i < program->kernels.count; i++) {
        if (variable->used_by[i] && ends[i] > end)
            end = ends[i];
    }
    variable->offset = (end + alignment - 1) / alignment * alignment;
    end = variable->offset + LLVMABISizeOfType(program->layout, type);
    for (size_t i = 0; i < program->kernels.count; i++) {
        if (variable->used_by[i])
            ends[i] = end;
    }
    return end;
}

static LLVMValueRef make_room(const struct zeta_cc_program *program, uint64_t bytes,
                              unsigned alignment)
{
    LLVMTypeRef type = LLVMArrayType(LLVMInt8TypeInContext(program->context), (unsigned)bytes);
    LLVMValueRef room =
        LLVMAddGlobalInAddressSpace(program->module, type, ".vgpu.local", ZETA_CC_SPACE_LOCAL);

    LLVMSetInitializer(room, LLVMConstNull(type));
    LLVMSetLinkage(room, LLVMInternalLinkage);
    LLVMSetSection(room, ".bss.slm");
    LLVMSetAlignment(room, alignment);
    return room;
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

static void overlay(struct zeta_cc_program *program, struct variable *variables, size_t count)
{
    uint64_t *ends = zeta_cc_allocate(program->kernels.count, sizeof(*ends));
    unsigned alignment = 1;
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t end;

        zeta_cc_mark_users(program, variables[i].global, variables[i].used_by);
        end = place(program, &variables[i], ends);
        bytes = end > bytes ? end : bytes;
        if (LLVMPreferredAlignmentOfGlobal(program->layout, variables[i].global) > alignment)
            alignment = LLVMPreferredAlignmentOfGlobal(program->layout, variables[i].global);
        if (LLVMGetAlignment(variables[i].global) > alignment)
            alignment = LLVMGetAlignment(variables[i].global);
    }
    if (bytes <= UINT32_MAX) {
        LLVMValueRef room = make_room(program, bytes, alignment);

        for (size_t i = 0; i < count; i++)
            move_variable(program, &variables[i], room);
        program->local_bytes =
            zeta_cc_allocate(program->kernels.count, sizeof(*program->local_bytes));
        for (size_t i = 0; i < program->kernels.count; i++)
            program->local_bytes[i] = (uint32_t)ends[i];
    }
    free(ends);
}

void zeta_cc_program_overlay_locals(struct zeta_cc_program *program)
{
    size_t count = count_variables(program);
    struct variable *variables;
    size_t used = 0;

    if (count == 0)
        return;
    variables = zeta_cc_allocate(count, sizeof(*variables));
    for (LLVMValueRef each = LLVMGetFirstGlobal(program->module); each;
         each = LLVMGetNextGlobal(each)) {
        if (is_local(each)) {
            variables[used].global = each;
            variables[used++].used_by = zeta_cc_allocate(program->kernels.count, sizeof(bool));
        }
    }
    overlay(program, variables, used);
    for (size_t i = 0; i < used; i++)
        free(variables[i].used_by);
    free(variables);
}
