/*
 * The state of a plugin object: made by init(), ended by finish(), made anew in a child of fork().
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <zeta/softqueue.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/query/sampler.h"

static void close_descriptors(struct zeta_intel *intel)
{
    for (uint32_t i = 0; i < intel->gpu_count; i++) {
        struct zeta_intel_gpu *gpu = &intel->gpus[i];

        for (uint32_t u = 0; u < gpu->unit_count; u++) {
            const int fd = atomic_exchange(&gpu->uses[u].fd, -1);

            if (fd >= 0)
                (void)close(fd);
        }
        if (gpu->fd >= 0)
            (void)close(gpu->fd);
    }
}

static void destroy(struct zeta_intel *intel)
{
    close_descriptors(intel);
    for (uint32_t i = 0; i < intel->device_count; i++)
        free(intel->devices[i].symbols);
    free(intel->devices);
    free(intel->gpus);
    zeta_softqueue_pool_destroy(intel->queues);
    zeta_intel_platforms_free(&intel->platforms);
    (void)pthread_mutex_destroy(&intel->sampler_lock);
    (void)pthread_mutex_destroy(&intel->lock);
    free(intel);
}

uint32_t zeta_intel_init(struct zeta_plugin *self)
{
    char path[4200], problem[600];
    struct zeta_intel *intel;
    uint32_t result;

    if (self->intel)
        return ZETA_PLUGIN_SUCCESS;
    intel = calloc(1, sizeof(*intel));
    if (!intel)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    intel->self = self;
    intel->host = &self->host;
    (void)pthread_mutex_init(&intel->lock, NULL);
    (void)pthread_mutex_init(&intel->sampler_lock, NULL);
    (void)snprintf(path, sizeof(path), "%s/platforms.yaml", self->host.data_dir);
    result = zeta_softqueue_pool_create(self->host.ops, self->host.handle, &intel->queues);
    if (result == ZETA_PLUGIN_SUCCESS &&
        !zeta_intel_platforms_read(path, &intel->platforms, problem, sizeof(problem)))
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s", problem);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_discover(intel);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_devices_make(intel);
    if (result == ZETA_PLUGIN_SUCCESS)
        self->intel = intel;
    else
        destroy(intel);
    return result;
}

void zeta_intel_finish(struct zeta_plugin *self)
{
    if (!self->intel)
        return;
    zeta_intel_samplers_end(self->intel);
    destroy(self->intel);
    self->intel = NULL;
}

/*
 * Locks and threads of the parent mean nothing here, so its state is left where it is. Only the
 * descriptors are closed: the kernel frees a unit when the last copy is.
 */
uint32_t zeta_intel_child_after_fork(struct zeta_plugin *self)
{
    if (!self->intel)
        return ZETA_PLUGIN_SUCCESS;
    close_descriptors(self->intel);
    zeta_intel_samplers_forget(self->intel);
    self->intel = NULL;
    return zeta_intel_init(self);
}
