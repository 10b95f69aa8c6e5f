#include "plugins/nvidia/gpm/gpm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "plugins/nvidia/sampling/program.h"

#define PERIOD_MIN_NS UINT64_C(100000000)
#define PERIOD_MAX_NS UINT64_C(60000000000)
#define PERIOD_DEFAULT_NS UINT64_C(1000000000)

/* Records of a ring at most. */
enum { RING_MAX = 65536 };

enum { VERSION = 1, DRAM = 10 };

/*
 * What tells whether there was a tick: activity of the graphics engine and the SMs, and of device
 * memory, always asked for first.
 */
static const uint32_t tell_tale[] = {1, 2, DRAM};
enum { TELL_TALES = sizeof(tell_tale) / sizeof(tell_tale[0]) };

/* NVML has no value for the id: the number of its values is above this. */
enum { IDS = 333 };

struct nvidia_gpm {
    struct zeta_plugin_stream stream; /* first */
    struct zeta_plugin_device *device;
    const struct nvidia_nvml *nvml;
    struct nvidia_program program; /* names are ids */
    struct nvidia_gpm_request request;
    void *before, *after; /* samples; before always holds one */
    uint64_t before_ns, sequence;
    int last_result;               /* that was logged */
    struct zeta_record_pump *pump; /* NULL: stopped */
};

/* ---- the device ----------------------------------------------------------------------------- */

static bool has_functions(const struct nvidia_nvml *nvml)
{
    return nvml->nvmlGpmQueryDeviceSupport && nvml->nvmlGpmSampleAlloc && nvml->nvmlGpmSampleFree &&
           nvml->nvmlGpmSampleGet && nvml->nvmlGpmMetricsGet;
}

/* What could not be found out, and why; gives NULL. */
static void *give_up(struct nvidia_gpm_unit *unit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void *give_up(struct nvidia_gpm_unit *unit, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(unit->problem, sizeof(unit->problem), format, arguments);
    va_end(arguments);
    return NULL;
}

/* The number that NVML has for an instance of MIG, which CUDA knows by its uuid. */
static bool find_instance(const struct nvidia_nvml *nvml, const struct zeta_plugin_device *device,
                          struct nvidia_gpm_unit *unit)
{
    const char *uuid = strstr(device->id, "MIG-");
    void *instance = NULL;
    int result;

    if (!uuid || !nvml->nvmlDeviceGetHandleByUUID || !nvml->nvmlDeviceGetGpuInstanceId ||
        !nvml->nvmlGpmMigSampleGet) {
        (void)give_up(unit, "%.200s cannot sample instances of MIG", nvml->lib.path);
        return false;
    }
    result = nvml->nvmlDeviceGetHandleByUUID(uuid, &instance);
    if (result == 0)
        result = nvml->nvmlDeviceGetGpuInstanceId(instance, &unit->instance);
    if (result != 0)
        (void)give_up(unit, "NVML does not find the instance: %d (%.100s)", result,
                      nvml->nvmlErrorString(result));
    return result == 0;
}

/* The handle of the GPU, NULL with the problem. */
static void *find_handle(const struct nvidia_nvml *nvml, const struct zeta_plugin_device *device,
                         struct nvidia_gpm_unit *unit)
{
    struct nvidia_gpm_support support = {.version = VERSION};
    void *handle = NULL;
    int result;

    if (!has_functions(nvml))
        return give_up(unit, "%.200s has no GPM, which came with driver 520", nvml->lib.path);
    result = nvml->nvmlDeviceGetHandleByPciBusId_v2(device->address, &handle);
    if (result == 0)
        result = nvml->nvmlGpmQueryDeviceSupport(handle, &support);
    if (result != 0)
        return give_up(unit, "NVML refuses it: %d (%.100s)", result, nvml->nvmlErrorString(result));
    if (support.is_supported == 0)
        return give_up(unit, "GPUs have it from the Hopper generation on");
    return !device->is_instance || find_instance(nvml, device, unit) ? handle : NULL;
}

/* NULL with a sentence left where the device has no GPM. */
static const struct nvidia_nvml *get_unit(struct zeta_plugin_device *device)
{
    struct nvidia *nvidia = device->nvidia;
    const char *problem = "";
    const struct nvidia_nvml *nvml = nvidia_nvml_get(nvidia, &problem);
    struct nvidia_gpm_unit *unit = &device->gpm;

    if (nvml) {
        (void)pthread_mutex_lock(&nvidia->lock);
        if (!unit->was_asked)
            unit->handle = find_handle(nvml, device, unit);
        unit->was_asked = true;
        (void)pthread_mutex_unlock(&nvidia->lock);
        problem = unit->problem;
    }
    if (nvml && unit->handle)
        return nvml;
    (void)zeta_host_fail(nvidia->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE, "%s (%s) has no GPM: %s",
                         device->name, device->id, problem);
    return NULL;
}

uint32_t nvidia_gpm_limits(struct zeta_plugin_device *device, struct zeta_plugin_limits *out_limits)
{
    const uint64_t most_ns = out_limits->max_period_ns;

    if (!get_unit(device))
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    if (most_ns != 0 && most_ns < PERIOD_MIN_NS)
        return zeta_host_fail(device->nvidia->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s (%s): GPM has no period below 100 ms", device->name, device->id);
    out_limits->min_period_ns = PERIOD_MIN_NS;
    out_limits->max_period_ns = most_ns == 0 || most_ns > PERIOD_MAX_NS ? PERIOD_MAX_NS : most_ns;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- sampling ------------------------------------------------------------------------------- */

static int take_sample(const struct nvidia_gpm *stream, void *sample)
{
    const struct nvidia_gpm_unit *unit = &stream->device->gpm;

    return unit->instance > 0
               ? stream->nvml->nvmlGpmMigSampleGet(unit->handle, unit->instance, sample)
               : stream->nvml->nvmlGpmSampleGet(unit->handle, sample);
}

/* A value that NVML has, and that is a number. */
static bool is_value(const struct nvidia_gpm_value *value)
{
    return value->result == 0 && value->short_name && isfinite(value->value);
}

/* False if nothing was updated between the two samples. */
static bool has_tick(const struct nvidia_gpm_request *request)
{
    bool is_known = false;

    for (uint32_t i = 0; i < request->count; i++) {
        const struct nvidia_gpm_value *value = &request->values[i];

        if (is_value(value) && value->value != 0)
            return true;
        is_known = is_known || (value->id == DRAM && is_value(value));
    }
    return is_known; /* a tick in which the GPU did nothing */
}

static void write_record(struct nvidia_gpm *stream, uint64_t now_ns)
{
    struct nvidia_interval record = {
        .start_ns = stream->before_ns, .end_ns = now_ns, .sequence = stream->sequence++};

    for (uint32_t i = 0; i < stream->program.count; i++) {
        const struct nvidia_gpm_value *value = &stream->request.values[TELL_TALES + i];
        const uint32_t field = stream->program.fields[i] - NVIDIA_COUNTS;

        if (!is_value(value))
            continue;
        record.values[field] = value->value;
        record.valid |= UINT64_C(1) << field;
    }
    (void)zeta_record_ring_push(stream->stream.ring, &record, 1);
}

/* Tells a failure once; the stream goes on, because what NVML refuses now it may give later. */
static void report(struct nvidia_gpm *stream, const char *function, int result)
{
    if (result != stream->last_result)
        zeta_host_log(stream->device->nvidia->host, ZETA_PLUGIN_LOG_WARN,
                      "%s: a stream of GPM gets no values: %s gives %d (%s)", stream->device->id,
                      function, result, stream->nvml->nvmlErrorString(result));
    stream->last_result = result;
}

static void fetch(void *context)
{
    struct nvidia_gpm *stream = context;
    struct nvidia_gpm_request *request = &stream->request;
    const uint64_t begin_ns = nvidia_clock_ns();
    int result = take_sample(stream, stream->after);
    const uint64_t now_ns = begin_ns + (nvidia_clock_ns() - begin_ns) / 2;
    void *sample;

    if (result != 0) {
        report(stream, "nvmlGpmSampleGet", result);
        return;
    }
    request->before = stream->before;
    request->after = stream->after;
    result = stream->nvml->nvmlGpmMetricsGet(request);
    if (result != 0) {
        report(stream, "nvmlGpmMetricsGet", result);
        return;
    }
    if (!has_tick(request) || now_ns <= stream->before_ns)
        return;
    write_record(stream, now_ns);
    sample = stream->before;
    stream->before = stream->after;
    stream->after = sample;
    stream->before_ns = now_ns;
    stream->last_result = 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Reads the program and makes the request. */
static uint32_t read_program(struct nvidia_gpm *stream, const struct zeta_plugin_stream_desc *desc)
{
    const struct zeta_host *host = stream->device->nvidia->host;
    struct nvidia_gpm_request *request = &stream->request;
    const uint32_t result = nvidia_program_read(host, desc->set, &desc->program,
                                                ZETA_PLUGIN_USE_STREAM, &stream->program);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    request->version = VERSION;
    request->count = TELL_TALES + stream->program.count;
    for (uint32_t i = 0; i < TELL_TALES; i++)
        request->values[i].id = tell_tale[i];
    for (uint32_t i = 0; i < stream->program.count; i++) {
        const char *name = stream->program.names[i];
        char *end = NULL;
        const unsigned long id = strtoul(name, &end, 10);

        if (stream->program.fields[i] < NVIDIA_COUNTS || *end != '\0' || id == 0 || id > IDS)
            return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "the program of %.*s asks GPM for \"%s\": values of GPM are "
                                  "numbers from 1 to %d, for fields of the bank F",
                                  zeta_string_shown(desc->set), desc->set.data, name, IDS);
        request->values[TELL_TALES + i].id = (uint32_t)id;
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Brings the period into the range. */
static uint32_t choose_period(const struct zeta_plugin_device *device,
                              struct zeta_plugin_stream_desc *desc)
{
    const uint64_t most_ns = desc->max_period_ns != 0 && desc->max_period_ns < PERIOD_MAX_NS
                                 ? desc->max_period_ns
                                 : PERIOD_MAX_NS;

    if (most_ns < PERIOD_MIN_NS)
        return zeta_host_fail(device->nvidia->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s (%s): GPM has no period below 100 ms", device->name, device->id);
    if (desc->period_ns == 0)
        desc->period_ns = PERIOD_DEFAULT_NS;
    if (desc->period_ns < PERIOD_MIN_NS)
        desc->period_ns = PERIOD_MIN_NS;
    if (desc->period_ns > most_ns)
        desc->period_ns = most_ns;
    return ZETA_PLUGIN_SUCCESS;
}

static void free_samples(struct nvidia_gpm *stream)
{
    if (stream->before)
        (void)stream->nvml->nvmlGpmSampleFree(stream->before);
    if (stream->after)
        (void)stream->nvml->nvmlGpmSampleFree(stream->after);
}

/* Makes the samples and takes the first one. */
static uint32_t begin_sampling(struct nvidia_gpm *stream)
{
    const char *function = "nvmlGpmSampleAlloc";
    int result = stream->nvml->nvmlGpmSampleAlloc(&stream->before);

    if (result == 0)
        result = stream->nvml->nvmlGpmSampleAlloc(&stream->after);
    if (result == 0) {
        function = "nvmlGpmSampleGet";
        result = take_sample(stream, stream->before);
    }
    stream->before_ns = nvidia_clock_ns();
    return result == 0 ? ZETA_PLUGIN_SUCCESS
                       : zeta_host_fail(stream->device->nvidia->host, ZETA_PLUGIN_NOT_AVAILABLE,
                                        "%s (%s): GPM cannot be sampled: %s gives %d (%s)",
                                        stream->device->name, stream->device->id, function, result,
                                        stream->nvml->nvmlErrorString(result));
}

static uint32_t status(struct zeta_plugin_stream *stream)
{
    (void)stream;
    return ZETA_PLUGIN_SUCCESS;
}

static void stop(struct zeta_plugin_stream *of_plugin)
{
    struct nvidia_gpm *stream = (struct nvidia_gpm *)of_plugin;

    if (!stream->pump)
        return;
    zeta_record_pump_destroy(stream->pump);
    stream->pump = NULL;
    atomic_store(&stream->device->gpm.in_use, false);
}

static void close_stream(struct zeta_plugin_stream *of_plugin)
{
    struct nvidia_gpm *stream = (struct nvidia_gpm *)of_plugin;

    stop(of_plugin);
    free_samples(stream);
    zeta_record_ring_destroy(stream->stream.ring);
    free(stream);
}

uint32_t nvidia_gpm_open(struct zeta_plugin_device *device, struct zeta_plugin_stream_desc *desc,
                         struct zeta_plugin_stream **out_stream)
{
    const struct zeta_host *host = device->nvidia->host;
    const struct nvidia_nvml *nvml = get_unit(device);
    const uint32_t capacity =
        zeta_record_ring_choose(desc->ring_records, desc->notify_records, RING_MAX);
    struct nvidia_gpm *stream;
    uint32_t result;

    if (!nvml)
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    if (desc->record_bytes != NVIDIA_RECORD_BYTES)
        return zeta_host_fail(host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "records of GPM have %d bytes, and the set %.*s says %u",
                              NVIDIA_RECORD_BYTES, zeta_string_shown(desc->set), desc->set.data,
                              desc->record_bytes);
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    stream->stream =
        (struct zeta_plugin_stream){.status = status, .stop = stop, .close = close_stream};
    stream->device = device;
    stream->nvml = nvml;
    result = read_program(stream, desc);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = choose_period(device, desc);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto free_stream;
    if (atomic_exchange(&device->gpm.in_use, true)) {
        result = zeta_host_fail(host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                                "%s (%s): this process has a stream of GPM already; close it first",
                                device->name, device->id);
        goto free_stream;
    }
    result = begin_sampling(stream);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto give_up_unit;
    result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    stream->stream.ring =
        zeta_record_ring_create(capacity, NVIDIA_RECORD_BYTES,
                                desc->notify_records < capacity ? desc->notify_records : capacity);
    if (stream->stream.ring)
        stream->pump = zeta_record_pump_create(desc->period_ns, fetch, stream, "nvidia-gpm");
    if (!stream->pump)
        goto give_up_unit;
    desc->ring_records = capacity;
    *out_stream = &stream->stream;
    return ZETA_PLUGIN_SUCCESS;

give_up_unit:
    zeta_record_ring_destroy(stream->stream.ring);
    free_samples(stream);
    atomic_store(&device->gpm.in_use, false);
free_stream:
    free(stream);
    return result;
}
