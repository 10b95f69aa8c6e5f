#include "plugins/intel/query/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <zeta/descriptor.h>
#include <zeta/intel_gpu.h>
#include <zeta/plugin_host.h>
#include <zeta/thread.h>

/* The kernel looks for reports 200 times a second. Who got none for this long will get none. */
#define SLEEP_NS UINT64_C(50000000)
#define SLEEP_PERIODS 8u

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return (value + by - 1) / by;
}

/* ---- periods ------------------------------------------------------------------------------ */

/*
 * How often reports come unless the setting query_period_ns says otherwise: ends of queries are
 * right to that time. 10 kHz is a tenth of what i915 allows everybody, 2.5 MB/s of reports of 256
 * bytes, less than a hundredth of a core to add them up, and often enough for the counters of all
 * GPUs.
 */
#define PERIOD_NS UINT64_C(100000)

/*
 * Counters that add up all EUs count fastest. Half of the time in which one of 32 bits comes
 * around, so that one late report is no harm.
 */
uint64_t zeta_intel_sampler_longest_ns(const struct zeta_plugin_device *device)
{
    const struct zeta_intel_tile *tile = zeta_intel_device_tile(device);
    const struct zeta_intel_rates rates =
        zeta_intel_rates(&tile->topology, tile->fastest_hz, tile->fastest_media_hz);

    return (uint64_t)(4294967296.0 / (double)rates.eus / 2 * 1e9);
}

/* What the user wants. False for a text that is no period; it is used as if nobody had set it. */
static bool read_setting(const struct zeta_intel *intel, char *out_text, size_t text_bytes,
                         uint64_t *out_period_ns)
{
    char *end = NULL;

    *out_period_ns = PERIOD_NS;
    if (!zeta_host_setting(intel->host, "query_period_ns", out_text, text_bytes))
        return true;
    errno = 0;
    const unsigned long long value = strtoull(out_text, &end, 10);
    if (errno != 0 || end == out_text || *end != '\0' || out_text[0] == '-' || value == 0)
        return false;
    *out_period_ns = value;
    return true;
}

static uint64_t wanted_period_ns(const struct zeta_intel *intel)
{
    char text[32];
    uint64_t period_ns;

    (void)read_setting(intel, text, sizeof(text), &period_ns);
    return period_ns;
}

static void check_setting(const struct zeta_intel *intel)
{
    char text[32];
    uint64_t period_ns;

    if (!read_setting(intel, text, sizeof(text), &period_ns))
        zeta_host_log(intel->host, ZETA_PLUGIN_LOG_WARN,
                      "query_period_ns is \"%s\", which is no number of nanoseconds above 0; "
                      "queries use %llu",
                      text, (unsigned long long)period_ns);
}

/*
 * The largest exponent whose period is neither above the wanted one nor above the longest, but no
 * faster than the kernel lets this process, or everybody, have reports.
 */
static uint32_t choose_exponent(const struct zeta_plugin_device *device,
                                const struct zeta_intel_unit *unit, bool as_everybody)
{
    const struct zeta_intel_kmd *kmd = device->gpu->kmd;
    const uint64_t least_ns = kmd->min_period_ns ? kmd->min_period_ns(unit, as_everybody) : 0;
    const uint64_t longest = zeta_intel_sampler_longest_ns(device);
    uint64_t period_ns = wanted_period_ns(device->gpu->intel);
    uint32_t exponent = 0;

    if (period_ns > longest)
        period_ns = longest;
    while (exponent < ZETA_INTEL_EXPONENTS - 1 && zeta_intel_period_ns(unit, exponent) < least_ns)
        exponent++;
    while (exponent < ZETA_INTEL_EXPONENTS - 1 &&
           zeta_intel_period_ns(unit, exponent + 1) <= period_ns)
        exponent++;
    return exponent;
}

bool zeta_intel_sampler_is_possible(const struct zeta_plugin_device *device,
                                    const struct zeta_intel_unit *unit)
{
    return zeta_intel_period_ns(unit, choose_exponent(device, unit, false)) <=
           zeta_intel_sampler_longest_ns(device);
}

/* ---- making ------------------------------------------------------------------------------- */

/* A stream or other queries of this process have the unit. */
static uint32_t refuse_taken(const struct zeta_intel_sampler *sampler,
                             const struct zeta_plugin_query_desc *desc)
{
    struct zeta_intel_gpu *gpu = sampler->device->gpu;
    struct zeta_intel_use use;

    (void)pthread_mutex_lock(&gpu->intel->lock);
    memcpy(use.holder, gpu->uses[sampler->unit - gpu->units].holder, sizeof(use.holder));
    (void)pthread_mutex_unlock(&gpu->intel->lock);
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: queries of %.*s need the whole unit %s, and %s of this process has "
                          "it; end that first",
                          sampler->device->id, zeta_string_shown(desc->set), desc->set.data,
                          sampler->unit->name, use.holder);
}

/* Once more with what the kernel lets everybody have, if that is enough and was not it. */
static uint32_t open_slower(struct zeta_intel_sampler *sampler,
                            struct zeta_intel_stream_request *request, const char *holder)
{
    const uint32_t exponent = choose_exponent(sampler->device, sampler->unit, true);

    if (exponent <= request->exponent || zeta_intel_period_ns(sampler->unit, exponent) >
                                             zeta_intel_sampler_longest_ns(sampler->device))
        return ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
    request->exponent = exponent;
    return zeta_intel_unit_open(sampler->device->gpu, request, holder, &sampler->stream);
}

static uint32_t open_stream(struct zeta_intel_sampler *sampler,
                            const struct zeta_plugin_query_desc *desc)
{
    struct zeta_intel_gpu *gpu = sampler->device->gpu;
    struct zeta_intel_stream_request request = {
        .unit = sampler->unit, .exponent = choose_exponent(sampler->device, sampler->unit, false)};
    struct zeta_intel_program program = {0};
    char holder[96];
    uint32_t result =
        zeta_intel_unit_reports(sampler->device, desc->set, desc->report_bytes, &request);

    check_setting(gpu->intel);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_program_make(gpu, &desc->program, desc->set, desc->uuid, &program);
    if (result != ZETA_PLUGIN_SUCCESS) {
        zeta_intel_program_finish(&program);
        return result;
    }
    request.program = &program;
    request.notify_records = ZETA_INTEL_SAMPLER_LOOK_MS * UINT64_C(1000000) /
                                 zeta_intel_period_ns(sampler->unit, request.exponent) +
                             1;
    (void)snprintf(holder, sizeof(holder), "query pools of %.*s",
                   desc->set.size > 64 ? 64 : (int)desc->set.size, desc->set.data);
    result = zeta_intel_unit_open(gpu, &request, holder, &sampler->stream);
    if (result == ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS)
        result = open_slower(sampler, &request, holder);
    zeta_intel_program_finish(&program);
    if (result == ZETA_PLUGIN_HANDLE_OBJECT_IN_USE)
        return refuse_taken(sampler, desc);
    uint64_t sleep_ns = SLEEP_PERIODS * zeta_intel_period_ns(sampler->unit, request.exponent);
    if (sleep_ns < SLEEP_NS)
        sleep_ns = SLEEP_NS;
    sampler->sleep_ticks = divide_up(sleep_ns * (sampler->unit->timestamp_hz / 1000), 1000000);
    /* The longest period is half of the time in which one comes around. */
    sampler->totals.gap_ticks = 2 * zeta_intel_sampler_longest_ns(sampler->device) *
                                (sampler->unit->timestamp_hz / 1000) / 1000000;
    return result;
}

static void destroy(struct zeta_intel_sampler *sampler)
{
    if (sampler->stream)
        zeta_intel_unit_close(sampler->stream);
    if (sampler->wake_fd >= 0)
        (void)close(sampler->wake_fd);
    zeta_intel_totals_finish(&sampler->totals);
    (void)pthread_cond_destroy(&sampler->settled);
    (void)pthread_mutex_destroy(&sampler->lock);
    free(sampler->buffer);
    free(sampler);
}

static uint32_t prepare(struct zeta_intel_sampler *sampler,
                        const struct zeta_plugin_query_desc *desc)
{
    const struct zeta_intel_gpu *gpu = sampler->device->gpu;
    uint32_t result =
        zeta_intel_totals_init(&sampler->totals, &desc->fields, desc->report_bytes,
                               gpu->platform->formats[sampler->unit->kind].clock_bits);

    if (result == ZETA_PLUGIN_INVALID_ARGUMENT)
        return zeta_host_fail(gpu->host, result,
                              "%s: the layout of the set %.*s has no running header field ticks, "
                              "or fields outside of the %u bytes of a report",
                              sampler->device->id, zeta_string_shown(desc->set), desc->set.data,
                              desc->report_bytes);
    sampler->buffer = malloc(ZETA_INTEL_SAMPLER_BYTES + ZETA_INTEL_REPORT_SLACK);
    sampler->wake_fd = zeta_descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (result == ZETA_PLUGIN_SUCCESS && (!sampler->buffer || sampler->wake_fd < 0))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    return result;
}

static uint32_t create(struct zeta_plugin_device *device, const struct zeta_intel_unit *unit,
                       const struct zeta_plugin_query_desc *desc,
                       struct zeta_intel_sampler **out_sampler)
{
    struct zeta_intel_sampler *sampler = calloc(1, sizeof(*sampler));
    uint32_t result;

    if (!sampler)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    sampler->device = device;
    sampler->unit = unit;
    sampler->wake_fd = -1;
    (void)snprintf(sampler->digest, sizeof(sampler->digest), "%.*s",
                   desc->digest.size < sizeof(sampler->digest) ? (int)desc->digest.size : 0,
                   desc->digest.data);
    (void)pthread_mutex_init(&sampler->lock, NULL);
    zeta_condition_init(&sampler->settled);
    result = prepare(sampler, desc);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = open_stream(sampler, desc);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_intel_sampler_start(sampler);
    if (result != ZETA_PLUGIN_SUCCESS)
        destroy(sampler);
    else
        *out_sampler = sampler;
    return result;
}

/* Equal programs have equal reports, unless set files describe them in different ways. */
static bool serves(const struct zeta_intel_sampler *sampler,
                   const struct zeta_plugin_device *device, const struct zeta_intel_unit *unit,
                   const struct zeta_plugin_query_desc *desc)
{
    return sampler->device->gpu == device->gpu && sampler->unit == unit &&
           sampler->totals.count == desc->fields.count &&
           sampler->totals.report_bytes == desc->report_bytes &&
           zeta_string_is(desc->digest, sampler->digest);
}

static uint32_t join_locked(struct zeta_intel_sampler *sampler)
{
    (void)pthread_mutex_lock(&sampler->lock);
    const bool has_failed = sampler->has_failed;
    (void)pthread_mutex_unlock(&sampler->lock);
    if (has_failed)
        return zeta_host_fail(sampler->device->gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s: the kernel ended the stream of the unit %s that queries need; "
                              "destroy the pools that used it first",
                              sampler->device->id, sampler->unit->name);
    sampler->users++;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_sampler_get(struct zeta_plugin_device *device,
                                const struct zeta_plugin_query_desc *desc,
                                struct zeta_intel_sampler **out_sampler)
{
    struct zeta_intel *intel = device->gpu->intel;
    const struct zeta_intel_unit *unit = NULL;
    uint32_t result = zeta_intel_unit_get(device, desc->unit, &unit);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&intel->sampler_lock);
    struct zeta_intel_sampler *sampler = intel->samplers;
    while (sampler && !serves(sampler, device, unit, desc))
        sampler = sampler->next;
    if (sampler) {
        result = join_locked(sampler);
    } else {
        result = create(device, unit, desc, &sampler);
        if (result == ZETA_PLUGIN_SUCCESS) {
            sampler->users = 1;
            sampler->next = intel->samplers;
            intel->samplers = sampler;
        }
    }
    (void)pthread_mutex_unlock(&intel->sampler_lock);
    if (result == ZETA_PLUGIN_SUCCESS)
        *out_sampler = sampler;
    return result;
}

void zeta_intel_sampler_put(struct zeta_intel_sampler *sampler)
{
    struct zeta_intel *intel = sampler->device->gpu->intel;
    struct zeta_intel_sampler **link = &intel->samplers;

    (void)pthread_mutex_lock(&intel->sampler_lock);
    if (--sampler->users == 0) {
        while (*link != sampler)
            link = &(*link)->next;
        *link = sampler->next;
        zeta_intel_sampler_stop(sampler);
        destroy(sampler);
    }
    (void)pthread_mutex_unlock(&intel->sampler_lock);
}

void zeta_intel_samplers_end(struct zeta_intel *intel)
{
    while (intel->samplers) {
        intel->samplers->users = 1;
        zeta_intel_sampler_put(intel->samplers);
    }
}

/* The list is whole at any time: one write adds a sampler that is ready, one takes it out. */
void zeta_intel_samplers_forget(struct zeta_intel *intel)
{
    for (struct zeta_intel_sampler *sampler = intel->samplers; sampler; sampler = sampler->next)
        (void)close(sampler->wake_fd);
    intel->samplers = NULL;
}
