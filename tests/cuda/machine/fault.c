/* Functions of the libraries that misbehave, and how often each was called. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/machine/machine.h"

enum { RETURN, CRASH, HANG, DELAY, SPOIL };

/* What the call of this thread gives for each of its values. */
static _Thread_local bool is_spoiled;
static _Thread_local double spoiled;

static bool fits(const char *pattern, const char *function)
{
    const size_t length = strlen(pattern);

    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, function, length - 1) == 0;
    return strcmp(pattern, function) == 0;
}

/* Slots are written once, before the count that shows them. */
static struct cuda_called *find_called(struct cuda_shared *shared, const char *function)
{
    const unsigned count = atomic_load_explicit(&shared->function_count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++) {
        if (strcmp(shared->functions[i].function, function) == 0)
            return &shared->functions[i];
    }
    return NULL;
}

static struct cuda_called *add_called(struct cuda_shared *shared, const char *function)
{
    struct cuda_called *called;
    unsigned count;

    cuda_lock(&shared->lock);
    called = find_called(shared, function);
    count = atomic_load(&shared->function_count);
    if (!called && count < CUDA_FUNCTIONS) {
        called = &shared->functions[count];
        (void)snprintf(called->function, sizeof(called->function), "%s", function);
        atomic_store_explicit(&shared->function_count, count + 1, memory_order_release);
    }
    cuda_unlock(&shared->lock);
    return called;
}

static bool act(const struct cuda_forced *fault, int *out_result)
{
    switch (fault->action) {
    case CRASH:
        abort();
    case HANG:
        for (;;)
            (void)pause();
    case DELAY:
        (void)usleep((useconds_t)fault->value);
        return false;
    case SPOIL:
        is_spoiled = true;
        spoiled = fault->spoiled;
        return false;
    default:
        *out_result = fault->result;
        return true;
    }
}

bool cuda_enter(const char *function, int *out_result)
{
    struct cuda_shared *shared = cuda_shared();
    struct cuda_called *called = shared ? find_called(shared, function) : NULL;
    unsigned count;

    is_spoiled = false;
    if (!shared)
        return false;
    if (!called)
        called = add_called(shared, function);
    if (called)
        (void)atomic_fetch_add(&called->calls, 1);
    count = atomic_load_explicit(&shared->fault_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++) {
        struct cuda_forced *fault = &shared->faults[i];
        uint64_t number;

        if (!fits(fault->function, function))
            continue;
        number = atomic_fetch_add(&fault->calls, 1) + 1;
        if ((number == fault->first || (fault->for_ever && number > fault->first)) &&
            act(fault, out_result))
            return true;
    }
    return false;
}

double cuda_value(double value)
{
    return is_spoiled ? spoiled : value;
}

static bool read_what(struct cuda_forced *fault, const char *text, char **out_end)
{
    static const struct {
        const char *word;
        uint32_t action;
    } words[] = {{"crash", CRASH}, {"hang", HANG}, {"delay:", DELAY}, {"value:", SPOIL}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i].word);

        if (strncmp(text, words[i].word, length) != 0)
            continue;
        fault->action = words[i].action;
        *out_end = (char *)text + length;
        if (fault->action == DELAY)
            fault->value = strtoull(text + length, out_end, 10);
        if (fault->action == SPOIL)
            fault->spoiled = strtod(text + length, out_end);
        return true;
    }
    fault->action = RETURN;
    fault->result = (int32_t)strtol(text, out_end, 10);
    return *out_end != text;
}

bool cuda_fault(struct cuda_machine *machine, const char *text)
{
    struct cuda_shared *shared = machine->shared;
    const size_t length = strcspn(text, "=");
    const unsigned count = atomic_load(&shared->fault_count);
    struct cuda_forced fault = {.first = 1};
    char *end = NULL;

    if (text[length] != '=' || length == 0 || length >= CUDA_TEXT || count == CUDA_FAULTS)
        return false;
    (void)memcpy(fault.function, text, length);
    if (!read_what(&fault, text + length + 1, &end))
        return false;
    if (*end == '@')
        fault.first = strtoull(end + 1, &end, 10);
    if (*end == '+') {
        fault.for_ever = true;
        end++;
    }
    if (*end != '\0' || fault.first == 0)
        return false;
    shared->faults[count] = fault;
    atomic_store_explicit(&shared->fault_count, count + 1, memory_order_release);
    return true;
}

void cuda_no_faults(struct cuda_machine *machine)
{
    atomic_store(&machine->shared->fault_count, 0);
}

uint64_t cuda_calls(const struct cuda_machine *machine, const char *function)
{
    const struct cuda_called *called = find_called(machine->shared, function);

    return called ? atomic_load(&called->calls) : 0;
}
