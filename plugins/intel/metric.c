/*
 * What the host asks about metrics of a device: sets, symbols, limits, holders.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/file.h>
#include <zeta/plugin_host.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/query/query.h"

/* No set file is as large; the host has a limit of its own. */
#define MAX_SET_BYTES (32 << 20)

/* How long an answer about the process that has a unit is used. */
#define SEEN_FOR_NS 100000000u

/* ---- sets --------------------------------------------------------------------------------- */

/* A generation has several platforms, each with files of its own, which the manifest cannot name.
 */
static uint32_t get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink)
{
    const struct zeta_intel_platform *platform = device->gpu->platform;
    char path[PATH_MAX + 160];

    if (device->gpu->no_metrics[0] != '\0')
        return ZETA_PLUGIN_SUCCESS; /* the log says why */
    for (uint32_t i = 0; i < platform->set_count; i++) {
        const char *name = platform->sets[i];
        uint64_t bytes = 0;
        char *text;

        /* intel/NAME: what generations share */
        (void)snprintf(path, sizeof(path), "%s%s/%s", self->host.data_dir,
                       strchr(name, '/') ? "/.." : "", name);
        text = zeta_file_read(path, MAX_SET_BYTES, &bytes);
        if (text)
            sink->write(sink->context, zeta_string(path), (struct zeta_plugin_string){text, bytes});
        else
            zeta_host_log(&self->host, ZETA_PLUGIN_LOG_WARN,
                          "the set file %s of %s cannot be read: %s", path, platform->name,
                          zeta_intel_errno(errno).text);
        free(text);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t get_symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_array *out_symbols)
{
    (void)self;
    out_symbols->data = device->symbols;
    out_symbols->count = device->symbol_count;
    out_symbols->stride = sizeof(struct zeta_plugin_symbol);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- units -------------------------------------------------------------------------------- */

static uint32_t get_limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_string name, struct zeta_plugin_limits *out_limits)
{
    const struct zeta_intel_unit *unit;
    uint32_t result = zeta_intel_unit_get(device, name, &unit);
    uint32_t least, most;

    (void)self;
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    zeta_intel_query_limits(device, unit, out_limits);
    result = zeta_intel_period_range(device, unit, false, out_limits->max_period_ns, &least, &most);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    out_limits->min_period_ns = zeta_intel_period_ns(unit, least);
    out_limits->max_period_ns = zeta_intel_period_ns(unit, most);
    return ZETA_PLUGIN_SUCCESS;
}

/*
 * Reads the descriptors of all processes, which takes milliseconds. A list of groups asks for each
 * of them, so an answer holds for SEEN_FOR_NS.
 */
static uint32_t get_holder(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_string name, uint32_t *out_pid)
{
    struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_unit *unit;
    const uint32_t result = zeta_intel_unit_get(device, name, &unit);
    struct zeta_intel_use *use;
    bool is_known;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    use = &gpu->uses[unit - gpu->units];
    (void)pthread_mutex_lock(&self->intel->lock);
    is_known =
        use->is_taken || (use->seen_ns != 0 && zeta_monotonic_ns() - use->seen_ns < SEEN_FOR_NS);
    *out_pid = use->is_taken ? (uint32_t)getpid() : use->seen_pid;
    (void)pthread_mutex_unlock(&self->intel->lock);
    if (is_known)
        return ZETA_PLUGIN_SUCCESS;
    *out_pid = zeta_intel_holder_find(gpu, unit);
    (void)pthread_mutex_lock(&self->intel->lock);
    use->seen_pid = *out_pid;
    use->seen_ns = zeta_monotonic_ns();
    (void)pthread_mutex_unlock(&self->intel->lock);
    return ZETA_PLUGIN_SUCCESS;
}

const struct zeta_plugin_metric_ops zeta_intel_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .get_sets = get_sets,
    .symbols = get_symbols,
    .limits = get_limits,
    .holder = get_holder,
    .stream_open = zeta_intel_stream_open,
    .stream_read = zeta_intel_stream_read,
    .stream_descriptor = zeta_intel_stream_descriptor,
    .stream_close = zeta_intel_stream_close,
    .query_pool_create = zeta_intel_query_pool_create,
    .query_pool_destroy = zeta_intel_query_pool_destroy,
    .query_reset = zeta_intel_query_reset,
    .query_collect = zeta_intel_query_collect,
};
