#include "core/api/dispatch.h"

struct zeta_dispatch_empty zeta_dispatch_zes = {.version = ZE_API_VERSION_CURRENT,
                                                .isValidFlag = 1};
struct zeta_dispatch_empty zeta_dispatch_zer = {.version = ZE_API_VERSION_CURRENT,
                                                .isValidFlag = 1};

void zeta_dispatch_fill(const void *dispatch[4])
{
    dispatch[0] = &zeta_dispatch_ze;
    dispatch[1] = &zeta_dispatch_zet;
    dispatch[2] = &zeta_dispatch_zes;
    dispatch[3] = &zeta_dispatch_zer;
}

void zeta_dispatch_set_valid(bool valid)
{
    zeta_dispatch_ze.isValidFlag = valid;
    zeta_dispatch_zet.isValidFlag = valid;
    zeta_dispatch_zes.isValidFlag = valid;
    zeta_dispatch_zer.isValidFlag = valid;
}
