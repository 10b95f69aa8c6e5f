/*
 * Which registers a kernel may use: all that the instructions name which can be reached from its
 * entry. What cannot be followed is taken for using all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

enum { REGISTER_ZERO = 0, REGISTER_RA = 1 };

#define X(n) (UINT64_C(1) << (n))
#define F(n) (UINT64_C(1) << (32 + (n)))

/* x0 is no place for a value, and a hart has its stack and its block from begin to end. */
#define ALWAYS_USED (X(REGISTER_ZERO) | X(2) | X(4))

/* An ecall takes a0, a1, a7, fa0 and fa1, and gives a0 or fa0. One takes a2, which the code before
 * it names. */
#define CALL_USES (X(10) | X(11) | X(17) | F(10) | F(11))

/* A walk through the code, from branch to branch. */
struct walk {
    const struct zeta_rv64_code *code;
    uint64_t used;
    bool *seen;        /* by instruction */
    uint32_t *targets; /* seen as such, and still to be followed; each instruction comes once */
    uint32_t target_count;
    bool *is_target;
};

static uint32_t word_at(const struct zeta_rv64_code *code, uint32_t index)
{
    uint32_t word;

    memcpy(&word, (const char *)(uintptr_t)code->begin + (size_t)index * 4, sizeof(word));
    return word;
}

/* An address that some instruction goes to. */
static void add_target(struct walk *walk, uint64_t address)
{
    const uint64_t index = (address - walk->code->begin) / 4;

    if (!zeta_rv64_code_holds(walk->code, address)) {
        walk->used = UINT64_MAX;
    } else if (!walk->is_target[index]) {
        walk->is_target[index] = true;
        walk->targets[walk->target_count++] = (uint32_t)index;
    }
}

/* Where a jalr goes, if the auipc right before it says so; compilers write far calls like that. */
static bool far_target(const struct walk *walk, uint32_t index, uint64_t *out_target)
{
    const struct zeta_rv64_insn *insn = &walk->code->insns[index];
    const struct zeta_rv64_insn *before = insn - 1;

    if (index == 0 || !walk->seen[index - 1] || before->original != RV64_OP_AUIPC ||
        before->rd != insn->rs1)
        return false;
    *out_target = walk->code->begin + (uint64_t)(index - 1) * 4 + (uint64_t)(int64_t)before->imm +
                  (uint64_t)(int64_t)insn->imm;
    return true;
}

/* Follows the code from an instruction on to where it goes elsewhere. */
static void follow(struct walk *walk, uint32_t index)
{
    for (; index < walk->code->count && !walk->seen[index]; index++) {
        const struct zeta_rv64_insn *insn = &walk->code->insns[index];
        const uint64_t address = walk->code->begin + (uint64_t)index * 4;
        const bool is_branch = insn->original >= RV64_OP_BEQ && insn->original <= RV64_OP_BGEU;
        const bool links = insn->rd < 32; /* x0 is decoded as another */
        uint64_t target;

        walk->seen[index] = true;
        walk->used |= zeta_rv64_registers(word_at(walk->code, index));
        if (is_branch || insn->original == RV64_OP_JAL) {
            const bool is_out =
                insn->unsplit == RV64_OP_BRANCH_OUT || insn->unsplit == RV64_OP_JAL_OUT;

            add_target(walk, is_out ? 0 : address + (uint64_t)((int64_t)insn->imm * 4));
            if (!is_branch && !links)
                return;
        } else if (insn->original == RV64_OP_JALR) {
            if (far_target(walk, index, &target))
                add_target(walk, target);
            else if (links || insn->rs1 != REGISTER_RA || insn->imm != 0)
                walk->used = UINT64_MAX; /* else it returns to where it was called */
            if (!links)
                return;
        } else if (insn->original == RV64_OP_ECALL) {
            walk->used |= CALL_USES;
        } else if (insn->original == RV64_OP_EBREAK) {
            return;
        }
    }
}

bool zeta_vgpu_image_used_registers(const struct zeta_vgpu_image *image,
                                    const struct zeta_vgpu_kernel *kernel, uint64_t *out_used)
{
    const size_t room = (size_t)image->code.count + 1;
    struct walk walk = {.code = &image->code, .used = ALWAYS_USED};
    bool is_done = false;

    walk.seen = calloc(room, sizeof(*walk.seen));
    walk.is_target = calloc(room, sizeof(*walk.is_target));
    walk.targets = calloc(room, sizeof(*walk.targets));
    if (walk.seen && walk.is_target && walk.targets) {
        add_target(&walk, kernel->entry);
        while (walk.target_count > 0 && walk.used != UINT64_MAX)
            follow(&walk, walk.targets[--walk.target_count]);
        *out_used = walk.used;
        is_done = true;
    }
    free(walk.seen);
    free(walk.is_target);
    free(walk.targets);
    return is_done;
}
