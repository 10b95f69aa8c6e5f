/*
 * Functions by name, for zeDriverGetExtensionFunctionAddress.
 */
#ifndef ZETA_CORE_API_NAMES_H
#define ZETA_CORE_API_NAMES_H

#include <stddef.h>

#include <level_zero/ze_api.h>

/** Some function; cast to its real type before it is called. */
typedef void (*zeta_function)(void);

/** One line of the table. */
struct zeta_name {
    const char *name;
    zeta_function function;
};

/** All ze and zet functions and those of zeta.h, sorted by name (bytes). */
extern const struct zeta_name zeta_names[];
extern const size_t zeta_names_count;

/**
 * Address of a function of the API: the same code that the dispatch tables hold.
 * An unknown name gives INVALID_ARGUMENT and a null address (programs ask for functions of other
 * vendors and look at the pointer only). Any thread.
 */
ze_result_t zeta_function_address(const char *name, void **out_address);

#endif
