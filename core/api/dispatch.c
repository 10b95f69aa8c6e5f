#include "core/api/dispatch.h"

#include <stdatomic.h>

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
static void set_flag(uint8_t *flag, bool valid)
{
    atomic_store_explicit((_Atomic uint8_t *)flag, valid, memory_order_release);
}

void zeta_dispatch_set_valid(bool valid)
{
    set_flag(&zeta_dispatch_ze.isValidFlag, valid);
    set_flag(&zeta_dispatch_zet.isValidFlag, valid);
    set_flag(&zeta_dispatch_zes.isValidFlag, valid);
    set_flag(&zeta_dispatch_zer.isValidFlag, valid);
}
