/* Who watches the work of this process. */

#include <stdatomic.h>

#include "tests/cuda/driver/driver.h"

static _Atomic(const struct cuda_observer *) current;

__attribute__((visibility("default"))) void cuda_observe(const struct cuda_observer *observer)
{
    atomic_store(&current, observer);
}

uint64_t observer_mark(void *context, bool is_launch)
{
    const struct cuda_observer *observer = atomic_load(&current);

    return observer ? observer->mark(context, is_launch) : 0;
}

void observer_enqueued(uint32_t stream)
{
    const struct cuda_observer *observer = atomic_load(&current);

    if (observer)
        observer->enqueued(stream);
}

void observer_seen(const struct cuda_seen *seen)
{
    const struct cuda_observer *observer = atomic_load(&current);

    if (observer)
        observer->seen(seen);
}
