#include "core/command/use.h"

#include <time.h>

#include "core/util/thread.h"

bool zeta_use_wait(const struct zeta_use *use)
{
    ZETA_NO_CANCEL;
    const struct timespec step = {.tv_nsec = ZETA_USE_LOOK_NS};
    unsigned looks = 0;

    while (zeta_use_is(use) &&
           (atomic_load(&use->over) >= atomic_load(&use->in_flight) || looks++ < ZETA_USE_LOOKS))
        (void)nanosleep(&step, NULL);
    return !zeta_use_is(use);
}
