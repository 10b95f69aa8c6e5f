#include "core/api/loader.h"

#include <stdatomic.h>

#include "core/util/error.h"

static _Atomic uint32_t lowest_version = (uint32_t)ZE_API_VERSION_CURRENT;

ze_result_t zeta_ddi_begin(const char *getter, ze_api_version_t version, const void *table)
{
    uint32_t seen;

    if (!table)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: pDdiTable is null", getter);
    if (ZE_MAJOR_VERSION((uint32_t)version) != ZE_MAJOR_VERSION((uint32_t)ZE_API_VERSION_CURRENT))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
                          "%s: version %u.%u was asked for; the library has tables of major "
                          "version %u",
                          getter, ZE_MAJOR_VERSION((uint32_t)version),
                          ZE_MINOR_VERSION((uint32_t)version),
                          ZE_MAJOR_VERSION((uint32_t)ZE_API_VERSION_CURRENT));
    seen = atomic_load_explicit(&lowest_version, memory_order_relaxed);
    while ((uint32_t)version < seen &&
           !atomic_compare_exchange_weak_explicit(&lowest_version, &seen, (uint32_t)version,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    return ZE_RESULT_SUCCESS;
}

ze_api_version_t zeta_api_lowest_version(void)
{
    return (ze_api_version_t)atomic_load_explicit(&lowest_version, memory_order_relaxed);
}

struct zeta_dispatch_empty zeta_dispatch_zes = {.version = ZE_API_VERSION_CURRENT,
                                                .isValidFlag = 1};

void zeta_dispatch_fill(const void *dispatch[4])
{
    dispatch[0] = &zeta_dispatch_ze;
    dispatch[1] = &zeta_dispatch_zet;
    dispatch[2] = &zeta_dispatch_zes;
    dispatch[3] = &zeta_dispatch_zer;
}

/* A loader reads the byte before each call, also while the library goes away. */
void zeta_dispatch_set_valid(bool valid)
{
    uint8_t *const flags[] = {&zeta_dispatch_ze.isValidFlag, &zeta_dispatch_zet.isValidFlag,
                              &zeta_dispatch_zes.isValidFlag, &zeta_dispatch_zer.isValidFlag};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        atomic_store_explicit((_Atomic uint8_t *)flags[i], valid, memory_order_release);
}
