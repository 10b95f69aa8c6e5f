/*
 * The entry of the plugin: one object per manifest, that is, per generation.
 */
#include <stdlib.h>
#include <string.h>

#include "intel.h"

#define PLUGIN_VERSION "0.1.0"

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = zeta_intel_init,
    .finish = zeta_intel_finish,
    .device = &zeta_intel_device_ops,
    .compute = &zeta_intel_queue_ops,
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
