/*
 * Counting units: what there is, their periods, and their use by this process.
 */
#include <stdio.h>
#include <string.h>

#include <zeta/plugin_host.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"

static uint32_t unit_index(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit)
{
    return (uint32_t)(unit - gpu->units);
}

uint32_t zeta_intel_unit_get(const struct zeta_plugin_device *device,
                             struct zeta_plugin_string name,
                             const struct zeta_intel_unit **out_unit)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    char list[256] = "none";
    size_t used = 0;

    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        const struct zeta_intel_unit *unit = &gpu->units[i];

        if (unit->tile != device->tile)
            continue;
        if (zeta_string_is(name, unit->name)) {
            *out_unit = unit;
            return ZETA_PLUGIN_SUCCESS;
        }
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
                                     unit->name);
    }
    if (gpu->no_metrics[0] != '\0')
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s (%s) has no metrics: %s",
                              gpu->name, device->id, gpu->no_metrics);
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                          "%s (%s) has no counting unit %.*s with this kernel; it has: %s",
                          gpu->name, device->id, zeta_string_shown(name), name.data, list);
}

uint32_t zeta_intel_unit_reports(const struct zeta_plugin_device *device,
                                 struct zeta_plugin_string set, uint32_t record_bytes,
                                 struct zeta_intel_stream_request *request)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_unit *unit = request->unit;

    request->format = 0;
    request->record_bytes = unit->record_bytes;
    if (unit->kind != ZETA_INTEL_EU_STALL) {
        const struct zeta_intel_format *format = &gpu->platform->formats[unit->kind];

        request->record_bytes = format->record_bytes;
        request->format = gpu->kmd->is_xe ? format->xe : format->i915;
        if (gpu->kmd->is_xe ? !format->has_xe : format->i915 == 0)
            return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "%s (%s): the platform file of %s names no report format of the "
                                  "kernel driver %s for the unit %s",
                                  gpu->name, device->id, gpu->platform->name, gpu->kmd->driver,
                                  unit->name);
    }
    if (request->record_bytes == record_bytes)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "%s (%s): the layout of the set %.*s has records of %u bytes, and the "
                          "unit %s gives reports of %u",
                          gpu->name, device->id, zeta_string_shown(set), set.data, record_bytes,
                          unit->name, request->record_bytes);
}

/* ---- periods ------------------------------------------------------------------------------ */

uint32_t zeta_intel_period_least(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_intel_unit *unit, bool for_everybody)
{
    const uint64_t least_ns =
        gpu->kmd->min_period_ns ? gpu->kmd->min_period_ns(unit, for_everybody) : 0;
    uint32_t least = 0;

    while (least < zeta_intel_period_last(unit) && zeta_intel_period_ns(unit, least) < least_ns)
        least++;
    return least;
}

uint32_t zeta_intel_period_range(const struct zeta_plugin_device *device,
                                 const struct zeta_intel_unit *unit, bool for_everybody,
                                 uint64_t most_ns, uint32_t *out_least, uint32_t *out_most)
{
    const uint32_t least = zeta_intel_period_least(device->gpu, unit, for_everybody);
    uint32_t most = zeta_intel_period_last(unit);

    while (most_ns != 0 && most > least && zeta_intel_period_ns(unit, most) > most_ns)
        most--;
    *out_least = least;
    *out_most = most;
    if (most_ns == 0 || zeta_intel_period_ns(unit, least) <= most_ns)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(device->gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: counters of the unit %s could wrap unnoticed: they can within "
                          "%llu us, and the kernel lets reports come every %llu us at most often; "
                          "raise dev.i915.oa_max_sample_rate",
                          device->id, unit->name, (unsigned long long)(most_ns / 1000),
                          (unsigned long long)(zeta_intel_period_ns(unit, least) / 1000));
}

uint32_t zeta_intel_period_exponent(const struct zeta_intel_unit *unit, uint64_t period_ns,
                                    uint32_t least, uint32_t most)
{
    uint64_t best_distance = UINT64_MAX;
    uint32_t best = least;

    for (uint32_t e = least; e <= most; e++) {
        const uint64_t period = zeta_intel_period_ns(unit, e);
        const uint64_t distance = period > period_ns ? period - period_ns : period_ns - period;

        if (distance < best_distance) {
            best_distance = distance;
            best = e;
        }
    }
    return best;
}

/* ---- use ---------------------------------------------------------------------------------- */

static uint32_t take(struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit,
                     const char *holder)
{
    struct zeta_intel_use *use = &gpu->uses[unit_index(gpu, unit)];
    char other[sizeof(use->holder)];
    bool was_taken;

    (void)pthread_mutex_lock(&gpu->intel->lock);
    was_taken = use->is_taken;
    memcpy(other, use->holder, sizeof(other));
    if (!was_taken) {
        use->is_taken = true;
        (void)snprintf(use->holder, sizeof(use->holder), "%s", holder);
    }
    (void)pthread_mutex_unlock(&gpu->intel->lock);
    if (!was_taken)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                          "%s: the unit %s, of which there is one for all processes, is in use by "
                          "%s of this process; end that first",
                          gpu->id, unit->name, other);
}

static void release(struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit)
{
    (void)pthread_mutex_lock(&gpu->intel->lock);
    gpu->uses[unit_index(gpu, unit)].is_taken = false;
    (void)pthread_mutex_unlock(&gpu->intel->lock);
}

/* One try, with the configuration as the kernel has it now. */
static uint32_t open_once(struct zeta_intel_gpu *gpu, struct zeta_intel_stream_request *request,
                          struct zeta_intel_kernel_stream **out_stream)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    if (request->program)
        result = zeta_intel_config_get(gpu, request->program, &request->config);
    return result == ZETA_PLUGIN_SUCCESS ? gpu->kmd->stream_open(gpu, request, out_stream) : result;
}

uint32_t zeta_intel_unit_open(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, const char *holder,
                              struct zeta_intel_kernel_stream **out_stream)
{
    const struct zeta_intel_program *program = request->program;
    struct zeta_intel_stream_request current = *request;
    uint32_t result = take(gpu, request->unit, holder);
    uint64_t now = 0;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    result = open_once(gpu, &current, out_stream);
    /* Other processes may remove a configuration after it was looked up. */
    if (result == ZETA_PLUGIN_NOT_AVAILABLE && program &&
        (!zeta_intel_config_find(gpu, program->uuid, &now) || now != current.config))
        result = open_once(gpu, &current, out_stream);
    /*
     * Configurations of set files stay in the kernel for the next user: there are as many as sets.
     * Those without a name would pile up, so nothing stays of one but what its stream keeps.
     */
    if (program && program->is_nameless && current.config != 0)
        gpu->kmd->config_remove(gpu, current.config);
    if (result != ZETA_PLUGIN_SUCCESS) {
        release(gpu, request->unit);
        return result;
    }
    (*out_stream)->unit = request->unit;
    atomic_store(&gpu->uses[unit_index(gpu, request->unit)].fd, (*out_stream)->fd);
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_intel_unit_close(struct zeta_intel_kernel_stream *stream)
{
    struct zeta_intel_gpu *gpu = stream->gpu;
    const struct zeta_intel_unit *unit = stream->unit;

    atomic_store(&gpu->uses[unit_index(gpu, unit)].fd, -1);
    gpu->kmd->stream_close(stream);
    release(gpu, unit);
}
