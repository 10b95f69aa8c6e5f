/*
 * The table sets that the first four words of every object point to (driver-dispatch handles).
 *
 * A loader that uses them reads version and isValidFlag and then one of the table pointers. All
 * sets are complete and static, version 1.17. The sysman set has no tables: their order is not
 * known, so the pointers there are null, and a loader that dispatches through handles answers
 * UNINITIALIZED for these functions without calling us.
 */
#ifndef ZETA_CORE_API_DISPATCH_H
#define ZETA_CORE_API_DISPATCH_H

#include <stdbool.h>

#include <level_zero/ze_ddi.h>
#include <level_zero/zer_ddi.h>
#include <level_zero/zet_ddi.h>

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

#endif
