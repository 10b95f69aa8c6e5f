/*
 * The entry of the plugin: one object per manifest, that is, per generation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/plugin_host.h>

#include "intel.h"

#define PLUGIN_VERSION "0.1.0"

/* Platforms of the generation, in the data directory of the manifest. */
#define PLATFORM_FILE "platforms.yaml"

static uint32_t read_platforms(struct zeta_intel *intel)
{
    char path[4200], problem[600];

    (void)snprintf(path, sizeof(path), "%s/" PLATFORM_FILE, intel->self->data_dir);
    if (zeta_intel_platforms_read(path, &intel->platforms, problem, sizeof(problem)))
        return ZETA_PLUGIN_SUCCESS;
    return zeta_intel_fail(intel, ZETA_PLUGIN_INVALID_ARGUMENT, "%s", problem);
}

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
    if (!intel)
        return;
    close_descriptors(intel);
    for (uint32_t i = 0; i < intel->device_count; i++)
        free(intel->devices[i].symbols);
    free(intel->devices);
    free(intel->gpus);
    zeta_intel_platforms_free(&intel->platforms);
    (void)pthread_mutex_destroy(&intel->lock);
    free(intel);
}

static uint32_t plugin_init(struct zeta_plugin *self)
{
    struct zeta_intel *intel;
    uint32_t result;

    if (self->intel)
        return ZETA_PLUGIN_SUCCESS;
    intel = calloc(1, sizeof(*intel));
    if (!intel)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    intel->self = self;
    (void)pthread_mutex_init(&intel->lock, NULL);
    result = read_platforms(intel);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_discover(intel);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_devices_make(intel);
    if (result != ZETA_PLUGIN_SUCCESS) {
        destroy(intel);
        return result;
    }
    self->intel = intel;
    return ZETA_PLUGIN_SUCCESS;
}

static void plugin_finish(struct zeta_plugin *self)
{
    destroy(self->intel);
    self->intel = NULL;
}

/*
 * Locks and threads of the parent mean nothing here, so its state is left where it is. Only the
 * descriptors are closed: the kernel gives a unit to somebody else when the last copy is.
 */
uint32_t zeta_intel_child_after_fork(struct zeta_plugin *self)
{
    if (!self->intel)
        return ZETA_PLUGIN_SUCCESS;
    close_descriptors(self->intel);
    self->intel = NULL;
    return plugin_init(self);
}

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = plugin_init,
    .finish = plugin_finish,
    .device = &zeta_intel_device_ops,
    .metric = &zeta_intel_metric_ops,
};

static bool copy_text(char *out_text, size_t bytes, struct zeta_plugin_string text)
{
    if (text.size >= bytes)
        return false;
    if (text.size > 0)
        memcpy(out_text, text.data, (size_t)text.size);
    out_text[text.size] = '\0';
    return true;
}

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    struct zeta_plugin *self;

    if (offer->abi_min > ZETA_PLUGIN_ABI || offer->abi_max < ZETA_PLUGIN_ABI)
        return ZETA_PLUGIN_UNSUPPORTED_VERSION;
    self = calloc(1, sizeof(*self));
    if (!self)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    self->ops = offer->ops;
    self->host = offer->host;
    if (!copy_text(self->id, sizeof(self->id), offer->id) ||
        !copy_text(self->data_dir, sizeof(self->data_dir), offer->data_dir)) {
        free(self);
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    }
    out_answer->struct_size = sizeof(*out_answer);
    out_answer->abi = ZETA_PLUGIN_ABI;
    out_answer->self = self;
    out_answer->ops = &plugin_ops;
    out_answer->id = (struct zeta_plugin_string){self->id, strlen(self->id)};
    out_answer->version = (struct zeta_plugin_string){PLUGIN_VERSION, strlen(PLUGIN_VERSION)};
    return ZETA_PLUGIN_SUCCESS;
}
