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
    const struct timespec step = {.tv_nsec = ZETA_USE_POLL_NS};
    unsigned polls = 0;

    while (zeta_use_is(use) && (is_over(use) || polls++ < ZETA_USE_POLLS))
        (void)nanosleep(&step, NULL);
    return !zeta_use_is(use);
}
