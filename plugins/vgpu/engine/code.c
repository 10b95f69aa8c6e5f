/*
 * Which code a hart is in. A kernel begins in the image of its launch and may jump into others:
 * functions that were linked to it, or whose address it was given. The space knows where code is;
 * its content holds until the generation of the space changes.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

/* Numbers of instructions in the instruction cache begin with a line of their own. */
static uint32_t whole_lines(uint32_t instructions)
{
    return (instructions + ZETA_VGPU_ICACHE_LINE_INSNS - 1) / ZETA_VGPU_ICACHE_LINE_INSNS *
           ZETA_VGPU_ICACHE_LINE_INSNS;
}

static void use_code(struct subslice *subslice, const struct zeta_rv64_code *code,
                     uint32_t icache_first)
{
    subslice->context.code = code;
    subslice->context.icache_first = icache_first;
}

static bool has_code(void *user, uint64_t target)
{
    const struct subslice *subslice = user;
    struct zeta_vgpu_range range;

    return zeta_vgpu_space_find(subslice->engine->space, target, &range) && range.code &&
           zeta_rv64_code_holds(range.code, target);
}

bool zeta_vgpu_code_begin(struct subslice *subslice)
{
    const struct zeta_rv64_code *code = &subslice->engine->launch->image->code;

    subslice->context.has_code = has_code;
    subslice->context.user = subslice;
    subslice->other_count = 0;
    subslice->icache_used = whole_lines(code->count + 1);
    use_code(subslice, code, 0);
    return zeta_vgpu_icache_reset(&subslice->icache, subslice->icache_used);
}

void zeta_vgpu_code_forget(struct subslice *subslice)
{
    if (subslice->other_count > 0)
        (void)zeta_vgpu_code_begin(subslice);
}

/* Gives code that was not met before in this launch its place in the instruction cache. */
static const struct other_code *add_code(struct subslice *subslice,
                                         const struct zeta_rv64_code *code)
{
    uint32_t count = whole_lines(code->count + 1);
    struct other_code *others;

    if (count > UINT32_MAX / 2 - subslice->icache_used ||
        !zeta_vgpu_icache_grow(&subslice->icache, subslice->icache_used + count))
        return NULL;
    others = realloc(subslice->others, (subslice->other_count + 1) * sizeof(*others));
    if (!others)
        return NULL;
    subslice->others = others;
    others += subslice->other_count++;
    others->code = code;
    others->icache_first = subslice->icache_used;
    subslice->icache_used += count;
    return others;
}

void zeta_vgpu_code_enter(struct subslice *subslice, uint64_t pc)
{
    const struct zeta_rv64_code *own = &subslice->engine->launch->image->code;
    const struct other_code *other = NULL;
    struct zeta_vgpu_range range;

    if (zeta_rv64_code_holds(subslice->context.code, pc))
        return;
    use_code(subslice, own, 0);
    if (zeta_rv64_code_holds(own, pc))
        return;
    for (uint32_t i = 0; i < subslice->other_count && !other; i++) {
        if (zeta_rv64_code_holds(subslice->others[i].code, pc))
            other = &subslice->others[i];
    }
    if (!other && zeta_vgpu_space_find(subslice->engine->space, pc, &range) && range.code)
        other = add_code(subslice, range.code);
    if (other)
        use_code(subslice, other->code, other->icache_first);
}
