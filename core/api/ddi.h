/*
 * What the DDI getters have in common.
 *
 * A loader passes its own version and a table of the size that this version gives the table. So a
 * member that is younger than the version is never written: an older loader has something else at
 * that place.
 */
#ifndef ZETA_CORE_API_DDI_H
#define ZETA_CORE_API_DDI_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

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

#endif
