#include "core/command/use.h"

#include <time.h>

#include "core/util/thread.h"

/* As long as lists and queues give the report of theirs. */
#define STEP_NS 1000000
#define STEPS 500

bool zeta_use_wait(const struct zeta_use *use)
{
    ZETA_NO_CANCEL;
    const struct timespec step = {.tv_nsec = STEP_NS};

    for (int i = 0; i < STEPS && zeta_use_is(use); i++)
        (void)nanosleep(&step, NULL);
    return !zeta_use_is(use);
}
