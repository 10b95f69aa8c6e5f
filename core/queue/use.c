#include "core/queue/use.h"

#include <time.h>

/* True if nothing is missing but reports. */
static bool is_over(const struct zeta_use *use)
{
    const uint64_t commands = atomic_load(&use->commands);

    return commands / ZETA_USE_OVER == commands % ZETA_USE_OVER;
}

bool zeta_use_wait(const struct zeta_use *use)
{
    const struct timespec step = {.tv_nsec = ZETA_USE_LOOK_NS};
    unsigned looks = 0;

    while (zeta_use_is(use) && (is_over(use) || looks++ < ZETA_USE_LOOKS))
        (void)nanosleep(&step, NULL);
    return !zeta_use_is(use);
}
