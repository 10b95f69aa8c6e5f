#include <stdlib.h>

#include "sdk/tools/zeta-gdbserver/packet/agent.h"
#include "sdk/tools/zeta-gdbserver/process/process.h"

/* One of the list, behind its X; NULL without memory or when it is none. */
static struct zeta_gdb_condition *take_one(struct zeta_gdb_text *text)
{
    struct zeta_gdb_condition *condition;
    uint64_t size;

    if (!zeta_gdb_take_number(text, &size) || !zeta_gdb_take(text, ",") ||
        size > (uint64_t)(text->end - text->at) / 2)
        return NULL;
    condition = malloc(sizeof(*condition) + (size_t)size);
    if (!condition)
        return NULL;
    *condition = (struct zeta_gdb_condition){.size = (size_t)size};
    if (!zeta_gdb_take_bytes(text, condition->code, (size_t)size)) {
        free(condition);
        return NULL;
    }
    zeta_gdb_agent_mend(condition->code, condition->size);
    return condition;
}

bool zeta_gdb_conditions_take(struct zeta_gdb_text *text, struct zeta_gdb_condition **out_first)
{
    struct zeta_gdb_condition *first = NULL, **link = &first;
    bool good = zeta_gdb_take(text, ";") || text->at == text->end;

    while (good && zeta_gdb_take(text, "X")) {
        *link = take_one(text);
        good = *link != NULL;
        if (good)
            link = &(*link)->next;
    }
    /* Commands are for those who offer to execute them. */
    if (good && (text->at == text->end || zeta_gdb_take(text, ";cmds:") ||
                 (!first && zeta_gdb_take(text, "cmds:")))) {
        *out_first = first;
        return true;
    }
    zeta_gdb_conditions_free(first);
    return false;
}

/* The thread that a condition is about. */
struct viewed {
    struct zeta_gdb_process *process;
    uint32_t thread;
};

static bool read_register(void *user, uint32_t number, uint64_t *out_value)
{
    const struct viewed *const viewed = user;

    return zeta_gdb_register_get(viewed->process, viewed->thread, number, out_value);
}

static bool read_memory(void *user, uint64_t address, size_t size, void *out_bytes)
{
    const struct viewed *const viewed = user;

    return zeta_gdb_memory_read(viewed->process, viewed->thread, address, size, out_bytes);
}

bool zeta_gdb_conditions_hold(struct zeta_gdb_process *process, uint32_t thread,
                              const struct zeta_gdb_condition *first)
{
    struct viewed viewed = {process, thread};
    const struct zeta_gdb_agent_view view = {read_register, read_memory, &viewed};
    uint64_t value;

    for (const struct zeta_gdb_condition *condition = first; condition; condition = condition->next)
        if (!zeta_gdb_agent_evaluate(condition->code, condition->size, &view, &value) || value != 0)
            return true;
    return !first;
}

void zeta_gdb_conditions_free(struct zeta_gdb_condition *first)
{
    while (first) {
        struct zeta_gdb_condition *const next = first->next;

        free(first);
        first = next;
    }
}
