#include "plugins/nvidia/sampling/config.h"

#include <stdlib.h>

/* Whether a chip has a metric. An object that refused a name takes no other one, so it gets its
 * own. */
static bool has_name(const struct nvidia_cupti *cupti, struct nvidia_host_initialize host,
                     const char **name)
{
    struct nvidia_host_names add = {.names = name, .count = 1};
    struct nvidia_host_object object;
    int result = nvidia_cupti_host_initialize(cupti, &host);

    if (result != NVIDIA_CUPTI_SUCCESS)
        return false;
    add.host = object.host = host.host;
    result = nvidia_cupti_host_add_metrics(cupti, &add);
    (void)nvidia_cupti_host_deinitialize(cupti, &object);
    return result == NVIDIA_CUPTI_SUCCESS;
}

/*
 * Adds all names in one call. Where that is refused, the first name that is refused alone is the
 * wrong one; if each is taken alone, the result stands as it is.
 */
static int add_names(const struct nvidia_config *config, const struct nvidia_host_initialize *host,
                     size_t *out_wrong)
{
    struct nvidia_host_names add = {
        .host = config->host, .names = config->names, .count = config->count};
    const int all = nvidia_cupti_host_add_metrics(config->cupti, &add);

    *out_wrong = 0;
    for (size_t i = 0; all != NVIDIA_CUPTI_SUCCESS && i < config->count; i++) {
        if (!has_name(config->cupti, *host, config->names + i)) {
            *out_wrong = i;
            return NVIDIA_CUPTI_INVALID_METRIC_NAME;
        }
    }
    return all;
}

int nvidia_config_make(const struct nvidia_cupti *cupti, int32_t type, const char *chip,
                       const char **names, size_t count, struct nvidia_config *out_config,
                       size_t *out_wrong)
{
    struct nvidia_host_initialize host = {.type = type, .chip = chip};
    struct nvidia_host_image_size size = {0};
    struct nvidia_host_image image = {0};
    struct nvidia_host_passes passes = {0};
    sigset_t before;
    int result;

    *out_config = (struct nvidia_config){.cupti = cupti, .names = names, .count = count};
    nvidia_signals_block(&before);
    result = nvidia_cupti_host_initialize(cupti, &host);
    nvidia_signals_restore(&before);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    out_config->host = host.host;
    result = add_names(out_config, &host, out_wrong);
    size.host = host.host;
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_host_config_size(cupti, &size);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    out_config->image = malloc(size.bytes);
    if (!out_config->image)
        return NVIDIA_CUPTI_OUT_OF_MEMORY;
    out_config->image_bytes = size.bytes;
    image = (struct nvidia_host_image){
        .host = host.host, .bytes = size.bytes, .image = out_config->image};
    result = nvidia_cupti_host_config(cupti, &image);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    passes.bytes = size.bytes;
    passes.image = out_config->image;
    result = nvidia_cupti_host_passes(cupti, &passes);
    out_config->passes = passes.passes;
    return result;
}

void nvidia_config_finish(struct nvidia_config *config)
{
    struct nvidia_host_object host = {.host = config->host};

    if (config->host)
        (void)nvidia_cupti_host_deinitialize(config->cupti, &host);
    free(config->image);
    config->host = NULL;
    config->image = NULL;
}

int nvidia_config_evaluate(const struct nvidia_config *config, const uint8_t *image,
                           size_t image_bytes, size_t index, double *out_values)
{
    struct nvidia_host_evaluate evaluate = {.host = config->host,
                                            .image = image,
                                            .bytes = image_bytes,
                                            .index = index,
                                            .names = config->names,
                                            .count = config->count,
                                            .values = out_values};

    return nvidia_cupti_host_evaluate(config->cupti, &evaluate);
}
