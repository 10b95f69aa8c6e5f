/*
 * Counting units: what there is, their periods, and who of this process has one.
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

const struct zeta_intel_unit *zeta_intel_unit_find(const struct zeta_plugin_device *device,
                                                   struct zeta_plugin_string name)
{
    const struct zeta_intel_gpu *gpu = device->gpu;

    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        if (gpu->units[i].tile == device->tile && zeta_string_is(name, gpu->units[i].name))
            return &gpu->units[i];
    }
    return NULL;
}

/* "oa, oam0": the units of a device's tile. */
static void list_units(const struct zeta_plugin_device *device, char *out_list, size_t bytes)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    size_t used = 0;

    (void)snprintf(out_list, bytes, "none");
    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        int added;

        if (gpu->units[i].tile != device->tile)
            continue;
        added = snprintf(out_list + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                         gpu->units[i].name);
        if (added < 0 || (size_t)added >= bytes - used)
            return;
        used += (size_t)added;
    }
}

uint32_t zeta_intel_unit_get(const struct zeta_plugin_device *device,
                             struct zeta_plugin_string name,
                             const struct zeta_intel_unit **out_unit)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_unit *unit = zeta_intel_unit_find(device, name);
    char list[256];

    if (unit) {
        *out_unit = unit;
        return ZETA_PLUGIN_SUCCESS;
    }
    if (gpu->no_metrics[0] != '\0')
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s (%s) has no metrics: %s",
                              gpu->name, device->id, gpu->no_metrics);
    list_units(device, list, sizeof(list));
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
        if (!gpu->kmd->format(format, &request->format))
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

bool zeta_intel_unit_is_wide(const struct zeta_intel_gpu *gpu, const struct zeta_intel_unit *unit)
{
    return unit->kind < ZETA_INTEL_EU_STALL && gpu->platform->formats[unit->kind].is_wide;
}

/* ---- periods ------------------------------------------------------------------------------ */

uint32_t zeta_intel_period_range(const struct zeta_plugin_device *device,
                                 const struct zeta_intel_unit *unit, uint64_t least_ns,
                                 uint64_t most_ns, uint32_t *out_least, uint32_t *out_most)
{
    uint32_t least = 0;
    uint32_t most = ZETA_INTEL_EXPONENTS - 1;

    while (least < most && zeta_intel_period_ns(unit, least) < least_ns)
        least++;
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

/* ---- periods of stall samples --------------------------------------------------------------- */

enum { RATES = sizeof(((struct zeta_intel_unit *)0)->rates) / sizeof(uint64_t) };

static uint32_t rate_count(const struct zeta_intel_unit *unit)
{
    uint32_t count = 0;

    while (count < RATES && unit->rates[count] != 0)
        count++;
    return count;
}

uint64_t zeta_intel_stall_period(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                 uint32_t index)
{
    const uint64_t hz = max_hz != 0 ? max_hz : ZETA_INTEL_STALL_HZ;
    uint64_t cycles, seconds, rest;

    if (index >= rate_count(unit))
        return 0;
    cycles = unit->rates[index];
    /* In two parts, because the product need not fit; a whole second is absurd, but no overflow. */
    seconds = cycles / hz;
    rest = cycles % hz;
    if (seconds >= UINT32_MAX || hz > UINT64_MAX / 1000000000u)
        return UINT32_MAX;
    return seconds * 1000000000u + (rest * 1000000000u + hz - 1) / hz;
}

uint32_t zeta_intel_stall_nearest(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                  uint64_t period_ns)
{
    const uint32_t count = rate_count(unit);
    uint64_t best_distance = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t period = zeta_intel_stall_period(unit, max_hz, i);
        const uint64_t distance = period > period_ns ? period - period_ns : period_ns - period;

        if (distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return best;
}

void zeta_intel_stall_limits(const struct zeta_intel_unit *unit, uint64_t max_hz,
                             uint64_t *out_min_ns, uint64_t *out_max_ns)
{
    const uint32_t count = rate_count(unit);

    *out_min_ns = zeta_intel_stall_period(unit, max_hz, 0);
    *out_max_ns = count == 0 ? 0 : zeta_intel_stall_period(unit, max_hz, count - 1);
}

/* ---- who has one -------------------------------------------------------------------------- */

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
    const struct zeta_intel_program *program = request->program;
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    if (program)
        result = gpu->kmd->config_get(gpu, program, &request->config);
    return result == ZETA_PLUGIN_SUCCESS ? gpu->kmd->stream_open(gpu, request, out_stream) : result;
}

/* Other processes may remove a configuration after a look at it, as drop_config() does. */
static bool config_is_gone(const struct zeta_intel_gpu *gpu,
                           const struct zeta_intel_stream_request *request)
{
    uint64_t now = 0;

    return request->program &&
           (!zeta_intel_config_find(gpu, request->program->uuid, &now) || now != request->config);
}

/*
 * Configurations of set files stay in the kernel for the next who wants them: there are as many as
 * sets. Of those without a name there is no end, so that nothing is left of one but what its stream
 * holds.
 */
static void drop_config(struct zeta_intel_gpu *gpu, const struct zeta_intel_stream_request *request)
{
    if (request->program && request->program->is_nameless && request->config != 0)
        gpu->kmd->config_remove(gpu, request->config);
}

uint32_t zeta_intel_unit_open(struct zeta_intel_gpu *gpu,
                              const struct zeta_intel_stream_request *request, const char *holder,
                              struct zeta_intel_kernel_stream **out_stream)
{
    struct zeta_intel_stream_request current = *request;
    uint32_t result = take(gpu, request->unit, holder);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    result = open_once(gpu, &current, out_stream);
    if (result == ZETA_PLUGIN_NOT_AVAILABLE && config_is_gone(gpu, &current))
        result = open_once(gpu, &current, out_stream);
    drop_config(gpu, &current);
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
