/*
 * What loaders get: DDI tables, the table sets of driver-dispatch handles, addresses of functions.
 */
#ifndef ZETA_CORE_API_LOADER_H
#define ZETA_CORE_API_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_ddi.h>
#include <level_zero/zer_ddi.h>
#include <level_zero/zet_ddi.h>

/*
 * Getters. A loader passes its own version and a table of the size that this version gives the
 * table. So a member that is younger than the version is never written: an older loader has
 * something else at that place.
 */

/**
 * Start of every getter: INVALID_NULL_POINTER without a table, UNSUPPORTED_VERSION for another
 * major version, else SUCCESS, and the version is remembered. Any thread.
 */
ze_result_t zeta_ddi_begin(const char *getter, ze_api_version_t version, const void *table);

/** True if a loader of this version knows members that came with major.minor. */
static inline bool zeta_ddi_has(ze_api_version_t version, uint32_t major, uint32_t minor)
{
    return (uint32_t)version >= (major << 16 | minor);
}

/**
 * The lowest version that a getter was asked for in this process, ZE_API_VERSION_CURRENT if none
 * was asked (a program that is linked to the library directly). Driver-dispatch handles are not
 * offered when it is below 1.13: the layout of the table sets changed before.
 */
ze_api_version_t zeta_api_lowest_version(void);

/*
 * The table sets that the first four words of every object point to (driver-dispatch handles). A
 * loader that uses them reads version and isValidFlag and then one of the table pointers. All sets
 * are complete and static, version 1.17. The sysman set has no tables: their order is not known, so
 * the pointers there are null, and a loader that dispatches through handles answers UNINITIALIZED
 * for these functions without calling us.
 */

/** A table set whose tables are not described: more null pointers than any version has tables. */
struct zeta_dispatch_empty {
    ze_api_version_t version;
    uint8_t isValidFlag;
    const void *tables[64];
};

extern ze_dditable_driver_t zeta_dispatch_ze;
extern zet_dditable_driver_t zeta_dispatch_zet;
extern struct zeta_dispatch_empty zeta_dispatch_zes;
extern zer_dditable_driver_t zeta_dispatch_zer;

/** Writes the four words of an object header: core, tools, sysman, runtime. */
void zeta_dispatch_fill(const void *dispatch[4]);

/**
 * Clears or sets the validity of all four sets. Cleared when the library is unloaded: a loader then
 * refuses calls with handles that are left over.
 */
void zeta_dispatch_set_valid(bool valid);

/* Functions by name, for zeDriverGetExtensionFunctionAddress. */

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
