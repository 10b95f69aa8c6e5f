/*
 * A call of every ze and zet function with arguments that are all different. The table is made from
 * the model of the API (core/api/generator/trace.py).
 */
#ifndef ZETA_TESTS_TRACE_CALLS_H
#define ZETA_TESTS_TRACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/object/object.h"

struct traced_argument {
    const char *name;
    void *given; /**< the value that the call passes; handles are not valid ones */
    size_t size_bytes;
    enum zeta_kind kind; /**< of a handle, ZETA_KIND_NONE for anything else */
    bool counts_handles; /**< number of handles in an array that the function reads */
};

struct traced_call {
    const char *name;
    void (*call)(void);
    const struct traced_argument *arguments;
    size_t argument_count;
    size_t callback; /**< offset in ze_callbacks_t, or NO_CALLBACK */
};

#define NO_CALLBACK SIZE_MAX

/** In the order of enum zeta_function. */
extern const struct traced_call traced_calls[];
extern const size_t traced_calls_count;

/** Zeroed memory to which pointer arguments point, 64 bytes each. */
extern unsigned char traced_scratch[64 * 32];

/** Gives the structures among the arguments of all calls different contents. */
static inline void traced_calls_fill(void)
{
    for (size_t i = 0; i < traced_calls_count; i++) {
        for (size_t n = 0; n < traced_calls[i].argument_count; n++) {
            const struct traced_argument *argument = &traced_calls[i].arguments[n];

            if (argument->size_bytes <= sizeof(void *))
                continue;
            for (size_t k = 0; k < argument->size_bytes; k++)
                ((unsigned char *)argument->given)[k] = (unsigned char)(17 * n + k + 1);
        }
    }
}

#endif
