/*
 * Times of commands. CUDA tells the time between two events as a float of milliseconds, which loses
 * its nanoseconds as it grows. So events are told relative to one that is at most a second old when
 * the command is given to a stream, and whose place on the clock of the host is known.
 */
#include <stdlib.h>

#include <zeta/clock.h>

#include "compute.h"

/* Age at which a base is replaced. */
#define BASE_NS ZETA_NS_PER_S

static void destroy(struct zeta_plugin *self, struct nvidia_base *base)
{
    if (base->event)
        (void)self->nvidia->driver.cuEventDestroy_v2(base->event);
    free(base);
}

static struct nvidia_base *create(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    struct nvidia_base *base = calloc(1, sizeof(*base));
    uint64_t before_ns, after_ns;

    if (!base || driver->cuEventCreate(&base->event, 0) != NVIDIA_CUDA_SUCCESS)
        goto fail;
    before_ns = nvidia_clock_ns();
    if (driver->cuEventRecord(base->event, device->context->clock) != NVIDIA_CUDA_SUCCESS ||
        driver->cuEventSynchronize(base->event) != NVIDIA_CUDA_SUCCESS)
        goto fail;
    after_ns = nvidia_clock_ns();
    base->host_ns = before_ns + (after_ns - before_ns) / 2;
    base->users = 1;
    return base;

fail:
    if (base)
        destroy(self, base);
    return NULL;
}

struct nvidia_base *nvidia_base_acquire(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    struct nvidia_context *context = device->context;
    struct nvidia_base *base, *old = NULL;

    (void)pthread_mutex_lock(&context->lock);
    if (!context->base || nvidia_clock_ns() - context->base->host_ns > BASE_NS) {
        base = create(self, device);
        if (base) {
            old = context->base;
            context->base = base;
        }
    }
    base = context->base;
    if (base)
        base->users++;
    (void)pthread_mutex_unlock(&context->lock);
    nvidia_base_release(self, device, old);
    return base;
}

void nvidia_base_release(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         struct nvidia_base *base)
{
    bool is_last;

    if (!base)
        return;
    (void)pthread_mutex_lock(&device->context->lock);
    is_last = --base->users == 0;
    (void)pthread_mutex_unlock(&device->context->lock);
    if (is_last)
        destroy(self, base);
}

uint64_t nvidia_base_time(struct zeta_plugin *self, const struct nvidia_base *base, void *event)
{
    float ms = 0;

    if (self->nvidia->driver.cuEventElapsedTime(&ms, base->event, event) != NVIDIA_CUDA_SUCCESS)
        return 0;
    return base->host_ns + (uint64_t)(int64_t)((double)ms * 1e6);
}
