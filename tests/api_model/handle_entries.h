/*
 * Every place where a function of the API reads a handle. The table is generated from the model.
 */
#ifndef ZETA_TESTS_API_MODEL_HANDLE_ENTRIES_H
#define ZETA_TESTS_API_MODEL_HANDLE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include <level_zero/ze_api.h>

#include "core/object/object.h"

/** One handle parameter of one function. */
struct handle_entry {
    const char *function;
    const char *parameter;
    enum zeta_kind kind;
    bool optional; /**< null is accepted */
    bool array;    /**< the value goes to the second place of an array, behind a valid handle */
    /** Calls the function with value there and valid[kind] for the other handles it needs. */
    ze_result_t (*call)(void *value, void *const *valid);
};

extern const struct handle_entry handle_entries[];
extern const size_t handle_entries_count;

/** What pointer parameters point to: zeroed, more than any of the functions touches. */
extern _Alignas(16) char handle_scratch[65536];

#endif
