/*
 * Metrics of a device: sets, symbols, limits, and streams of whichever unit.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/file.h>

#include "plugins/nvidia/activity/activity.h"
#include "plugins/nvidia/compute/compute.h"
#include "plugins/nvidia/gpm/gpm.h"
#include "plugins/nvidia/gpu/nvidia.h"
#include "plugins/nvidia/query/query.h"
#include "plugins/nvidia/sampling/config.h"
#include "plugins/nvidia/sampling/counters.h"
#include "plugins/nvidia/sampling/stream.h"

/* No set file is as large. */
#define MAX_SET_BYTES (4u << 20)

/* ---- sets --------------------------------------------------------------------------------- */

/* Hands a set file out; its text, which the caller frees, or NULL. */
static char *write_file(const struct nvidia *nvidia, const char *name,
                        const struct zeta_plugin_text_sink *sink)
{
    char path[PATH_MAX];
    uint64_t bytes = 0;
    char *text;

    (void)snprintf(path, sizeof(path), "%.3900s/%s", nvidia->host->data_dir, name);
    text = zeta_file_read(path, MAX_SET_BYTES, &bytes);
    if (text)
        sink->write(sink->context, zeta_string(path), (struct zeta_plugin_string){text, bytes});
    else
        zeta_host_log(nvidia->host, ZETA_PLUGIN_LOG_WARN,
                      "the set file %s cannot be read: error %d", path, errno);
    return text;
}

static void write_set(const struct nvidia *nvidia, const char *name,
                      const struct zeta_plugin_text_sink *sink)
{
    free(write_file(nvidia, name, sink));
}

/* CUPTI if it can sample, or NULL with the sentence why not. */
static const struct nvidia_cupti *sampling_cupti(struct nvidia *nvidia, const char **out_problem)
{
    const struct nvidia_cupti *cupti = nvidia_cupti_get(nvidia, out_problem);

    if (!cupti || !nvidia_cupti_lacks_sampling(cupti))
        return cupti;
    *out_problem = "libcupti is too old for PM sampling; install that of CUDA 12.6 or newer.";
    return NULL;
}

/* What every chip counts. */
static const char *const common_names[] = {
    "sm__cycles_elapsed.sum",  "sm__cycles_active.sum", "sm__inst_executed_realtime.sum",
    "lts__t_sectors.sum",      "dram__bytes_read.sum",  "dram__bytes_write.sum",
    "dram__cycles_elapsed.sum"};
enum { NAMES_WITHOUT_DRAM = 4, NAMES_WITH_DRAM = 7 };

/* Whether a chip counts the first of these names in one pass; result of CUPTI. */
static int try_names(const struct nvidia_cupti *cupti, const char *chip, size_t count,
                     bool *out_one_pass)
{
    const char *names[NAMES_WITH_DRAM];
    struct nvidia_config config;
    size_t wrong;
    int result;

    memcpy(names, common_names, sizeof(names));
    result = nvidia_config_make(cupti, NVIDIA_PM_SAMPLING, chip, names, count, &config, &wrong);
    *out_one_pass = result == NVIDIA_CUPTI_SUCCESS && config.passes == 1;
    nvidia_config_finish(&config);
    return result;
}

/* Whether the chip can be sampled at all; else the reason is said. */
static bool can_sample(struct zeta_plugin_device *device, struct nvidia_sentences *out_missing)
{
    struct nvidia *nvidia = device->nvidia;
    const char *problem;
    const struct nvidia_cupti *cupti = sampling_cupti(nvidia, &problem);
    char text[ZETA_HOST_TEXT_BYTES];
    bool has = false;
    int result;

    if (cupti) {
        result = try_names(cupti, nvidia_device_chip(device), NAMES_WITHOUT_DRAM, &has);
        nvidia_cupti_explain(result, nvidia->root, text, sizeof(text));
        problem = text;
    }
    if (has)
        return true;
    if (!nvidia->cupti.lib.handle)
        nvidia_say(out_missing, "%s", problem);
    else
        nvidia_say(out_missing, "CUPTI cannot sample %s (chip %s, by %s of version %u): %s",
                   nvidia_device_label(device).text, device->chip[0] ? device->chip : "unknown",
                   nvidia->cupti.lib.path, nvidia->cupti.version, problem);
    return false;
}

/* GPUs from Hopper on have metrics by NVML. */
static void explain_no_gpm(struct zeta_plugin_device *device, struct nvidia_sentences *out_missing)
{
    const char *problem;

    if (device->cc_major >= 9 && !nvidia_nvml_get(device->nvidia, &problem))
        nvidia_say(out_missing, "%s The metrics of GPM need it.", problem);
}

/* Most links that NVML numbers. */
enum { NVLINKS = 18 };

/*
 * Whether a link of NVLink is active. Where none is, or nobody can tell, its counters must not be
 * asked for: samples that have one never complete.
 */
static bool has_nvlink(struct zeta_plugin_device *device)
{
    const char *problem;
    const struct nvidia_nvml *nvml = nvidia_nvml_get(device->nvidia, &problem);
    void *handle;
    unsigned is_active = 0;

    if (device->is_instance || !nvml || !nvml->nvmlDeviceGetNvLinkState ||
        nvml->nvmlDeviceGetHandleByPciBusId_v2(device->address, &handle) != 0)
        return false;
    for (unsigned link = 0; link < NVLINKS && is_active != 1; link++) {
        if (nvml->nvmlDeviceGetNvLinkState(handle, link, &is_active) != 0)
            is_active = 0;
    }
    return is_active == 1;
}

/* Whether all counters are wanted. */
static bool wants_all(const struct nvidia *nvidia)
{
    char text[64];

    if (!zeta_host_setting(nvidia->host, "sets", text, sizeof(text)) || text[0] == '\0')
        return false;
    if (strcmp(text, "all") == 0)
        return true;
    zeta_host_log(nvidia->host, ZETA_PLUGIN_LOG_WARN,
                  "the setting sets is \"%s\", which nobody knows: set it to \"all\" for all "
                  "counters of the chip",
                  text);
    return false;
}

/* The counters that applications combine: chosen ones, and with a setting all others. */
static void write_counters(struct zeta_plugin_device *device, bool has_curated,
                           const struct zeta_plugin_text_sink *sink)
{
    struct nvidia *nvidia = device->nvidia;
    char *curated = has_curated ? write_file(nvidia, "counters.yaml", sink) : NULL;
    char text[ZETA_HOST_TEXT_BYTES];
    int result;

    if (wants_all(nvidia)) {
        result = nvidia_counters_write(&nvidia->cupti, nvidia_device_chip(device),
                                       has_nvlink(device), curated ? curated : "", sink);
        if (result != NVIDIA_CUPTI_SUCCESS) {
            nvidia_cupti_explain(result, nvidia->root, text, sizeof(text));
            zeta_host_log(nvidia->host, ZETA_PLUGIN_LOG_WARN,
                          "CUPTI does not list all counters of %s (%s): %s",
                          nvidia_device_label(device).text,
                          nvidia_cupti_name(&nvidia->cupti, result), text);
        }
    }
    free(curated);
}

/* Chips with a file of their own; the others share names. */
static uint32_t get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink)
{
    struct nvidia_sentences missing = {""};

    /* A unit that the device lacks has no limits, so its sets are no groups. */
    write_set(self->nvidia, "nvidia.yaml", sink);
    write_set(self->nvidia, "gpm.yaml", sink);
    write_set(self->nvidia, "activity.yaml", sink);
    if (can_sample(device, &missing)) {
        const bool is_gh100 = strcmp(nvidia_device_chip(device), "GH100") == 0;

        write_set(self->nvidia, is_gh100 ? "gh100.yaml" : "portable.yaml", sink);
        write_counters(device, is_gh100, sink);
    }
    explain_no_gpm(device, &missing);
    if (missing.text[0] != '\0')
        (void)zeta_host_fail(self->nvidia->host, ZETA_PLUGIN_SUCCESS, "%s", missing.text);
    return ZETA_PLUGIN_SUCCESS;
}

/* Asks the libraries once; two threads that do so at a time get the same answers. */
static uint32_t get_symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_array *out_symbols)
{
    struct nvidia *nvidia = self->nvidia;
    const char *problem;
    const struct nvidia_cupti *cupti = sampling_cupti(nvidia, &problem);
    bool has_symbols, has_dram = false, has_links = false;

    (void)pthread_mutex_lock(&nvidia->lock);
    has_symbols = device->has_symbols;
    (void)pthread_mutex_unlock(&nvidia->lock);
    /* An instance of MIG shares the memory with others, and its counters are not to be had. */
    if (!has_symbols && cupti && !device->is_instance)
        (void)try_names(cupti, nvidia_device_chip(device), NAMES_WITH_DRAM, &has_dram);
    if (!has_symbols)
        has_links = has_nvlink(device);
    (void)pthread_mutex_lock(&nvidia->lock);
    if (!device->has_symbols) {
        device->symbols[0] = (struct zeta_plugin_symbol){.struct_size = sizeof(device->symbols[0]),
                                                         .name = zeta_string("Dram"),
                                                         .u64 = has_dram};
        device->symbols[1] = (struct zeta_plugin_symbol){.struct_size = sizeof(device->symbols[1]),
                                                         .name = zeta_string("Nvlink"),
                                                         .u64 = has_links};
        device->has_symbols = true;
    }
    (void)pthread_mutex_unlock(&nvidia->lock);
    out_symbols->data = device->symbols;
    out_symbols->count = sizeof(device->symbols) / sizeof(device->symbols[0]);
    out_symbols->stride = sizeof(device->symbols[0]);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- units -------------------------------------------------------------------------------- */

static uint32_t unknown_unit(const struct zeta_plugin *self, struct zeta_plugin_string unit)
{
    return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                          "NVIDIA GPUs have no unit %.*s; they have perfmon, " NVIDIA_GPM_UNIT
                          ", " NVIDIA_ACTIVITY_UNIT " and " NVIDIA_ACTIVITY_STATUS_UNIT,
                          zeta_string_shown(unit), unit.data);
}

static uint32_t get_limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    const uint64_t wanted_ns = out_limits->max_period_ns;
    const struct zeta_plugin_program_use *use =
        ZETA_PLUGIN_HAS(out_limits, use) ? out_limits->use : NULL;
    struct nvidia_program program;
    uint64_t least_ns, most_ns;
    uint32_t result;

    if (zeta_string_is(unit, NVIDIA_GPM_UNIT))
        return nvidia_gpm_limits(device, out_limits);
    if (zeta_string_is(unit, NVIDIA_ACTIVITY_UNIT) ||
        zeta_string_is(unit, NVIDIA_ACTIVITY_STATUS_UNIT))
        return nvidia_activity_limits(device, out_limits);
    if (!zeta_string_is(unit, "perfmon"))
        return unknown_unit(self, unit);
    if (use) {
        result = nvidia_program_read(&self->host, use->set, &use->entries, use->kind, &program);
        if (result != ZETA_PLUGIN_SUCCESS)
            return result;
    }
    nvidia_period_range(self->nvidia, use ? &program : NULL, &least_ns, &most_ns);
    if (wanted_ns != 0 && wanted_ns < least_ns)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "no period of PM sampling is as short as %llu ns",
                              (unsigned long long)wanted_ns);
    if (wanted_ns != 0 && wanted_ns < most_ns)
        most_ns = wanted_ns / NVIDIA_TICK_NS * NVIDIA_TICK_NS;
    out_limits->min_period_ns = least_ns;
    out_limits->max_period_ns = most_ns;
    nvidia_query_limits(device, out_limits);
    return ZETA_PLUGIN_SUCCESS;
}

/* Nobody tells which other process has the counters. */
static uint32_t get_holder(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_string unit, uint32_t *out_pid)
{
    char user[96];
    bool is_ours;

    if (zeta_string_is(unit, "perfmon"))
        is_ours = nvidia_perfmon_user(device, user, sizeof(user));
    else if (zeta_string_is(unit, NVIDIA_GPM_UNIT))
        is_ours = atomic_load(&device->gpm.in_use);
    else if (zeta_string_is(unit, NVIDIA_ACTIVITY_UNIT))
        is_ours = atomic_load(&device->activity.in_use);
    else if (zeta_string_is(unit, NVIDIA_ACTIVITY_STATUS_UNIT))
        is_ours = atomic_load(&device->activity.status_in_use);
    else
        return unknown_unit(self, unit);
    *out_pid = is_ours ? (uint32_t)getpid() : 0;
    return ZETA_PLUGIN_SUCCESS;
}

/* The metrics of a program, and the profiler that counts them. */
static struct nvidia_question question_of(const struct nvidia_program *program, int32_t type)
{
    struct nvidia_question question = {{0}};

    nvidia_hash(question.hash, &type, sizeof(type));
    for (uint32_t i = 0; i < program->count; i++)
        nvidia_hash(question.hash, program->names[i], strlen(program->names[i]) + 1);
    return question;
}

/* The passes of a program that were told before; 0: nobody asked. */
static uint32_t known_passes(struct zeta_plugin_device *device,
                             const struct nvidia_question *question)
{
    const struct nvidia_answers *answers = &device->answers;
    uint32_t passes = 0;

    (void)pthread_mutex_lock(&device->nvidia->lock);
    for (uint32_t i = 0; passes == 0 && i < NVIDIA_ANSWERS; i++) {
        if (memcmp(&answers->questions[i], question, sizeof(*question)) == 0)
            passes = answers->passes[i];
    }
    (void)pthread_mutex_unlock(&device->nvidia->lock);
    return passes;
}

static void keep_passes(struct zeta_plugin_device *device, const struct nvidia_question *question,
                        uint32_t passes)
{
    struct nvidia_answers *answers = &device->answers;

    (void)pthread_mutex_lock(&device->nvidia->lock);
    answers->questions[answers->next % NVIDIA_ANSWERS] = *question;
    answers->passes[answers->next % NVIDIA_ANSWERS] = passes;
    answers->next++;
    (void)pthread_mutex_unlock(&device->nvidia->lock);
}

/*
 * CUPTI takes two milliseconds for a program. Applications ask for the number of groups first and
 * for the groups then, and packing asks the same questions both times: answers are kept.
 */
static uint32_t program_check(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_program_use *use, uint32_t *out_passes,
                              const struct zeta_plugin_text_sink *reason)
{
    const int32_t type =
        use->kind == ZETA_PLUGIN_USE_QUERY ? NVIDIA_RANGE_PROFILER : NVIDIA_PM_SAMPLING;
    const char *problem;
    const struct nvidia_cupti *cupti = sampling_cupti(self->nvidia, &problem);
    struct nvidia_program program;
    struct nvidia_config config;
    size_t wrong = 0;
    char text[400];
    struct nvidia_question question;
    uint32_t result, passes;
    int made = NVIDIA_CUPTI_SUCCESS;

    *out_passes = 1; /* of units other than perfmon always */
    if (!zeta_string_is(use->unit, "perfmon"))
        return ZETA_PLUGIN_SUCCESS;
    if (!cupti)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE, "%s", problem);
    result = nvidia_program_read(&self->host, use->set, &use->entries, use->kind, &program);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    question = question_of(&program, type);
    passes = known_passes(device, &question);
    if (passes == 0) {
        made = nvidia_config_make(cupti, type, nvidia_device_chip(device), program.names,
                                  program.count, &config, &wrong);
        nvidia_config_finish(&config);
        passes = made == NVIDIA_CUPTI_SUCCESS ? (uint32_t)config.passes : 0;
        if (passes > 0)
            keep_passes(device, &question, passes);
    }
    *out_passes = passes;
    if (passes == 1)
        return ZETA_PLUGIN_SUCCESS;
    if (made == NVIDIA_CUPTI_SUCCESS)
        (void)snprintf(text, sizeof(text), "the GPU cannot count its %u metrics at the same time",
                       program.count);
    else if (made == NVIDIA_CUPTI_INVALID_METRIC_NAME)
        (void)snprintf(text, sizeof(text), "the chip has no metric %s for that",
                       program.names[wrong]);
    else
        nvidia_cupti_explain(made, self->nvidia->root, text, sizeof(text));
    reason->write(reason->context, zeta_string(""), zeta_string(text));
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- streams ------------------------------------------------------------------------------ */

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    if (desc->record_bytes != NVIDIA_RECORD_BYTES)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "records of NVIDIA GPUs have %d bytes (layout nv-interval), those of "
                              "%.*s %u",
                              NVIDIA_RECORD_BYTES, zeta_string_shown(desc->set), desc->set.data,
                              desc->record_bytes);
    if (zeta_string_is(desc->unit, "perfmon"))
        return nvidia_sampling_open(device, desc, out_stream);
    if (zeta_string_is(desc->unit, NVIDIA_GPM_UNIT))
        return nvidia_gpm_open(device, desc, out_stream);
    if (zeta_string_is(desc->unit, NVIDIA_ACTIVITY_STATUS_UNIT))
        return nvidia_activity_status_open(device, desc, out_stream);
    return unknown_unit(self, desc->unit);
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    zeta_record_ring_read(stream->ring, buffer, capacity_bytes, out_read);
    /* What came before a failure is read first. */
    return out_read->bytes > 0 ? ZETA_PLUGIN_SUCCESS : stream->status(stream);
}

static uint64_t stream_pending(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_record_ring_pending(stream->ring);
}

static int32_t stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_record_ring_descriptor(stream->ring);
}

static void stream_stop(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    stream->stop(stream);
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    if (stream)
        stream->close(stream);
}

/* ---- queries ------------------------------------------------------------------------------ */

static uint32_t query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool)
{
    if (zeta_string_is(desc->unit, "perfmon"))
        return nvidia_query_pool_create(self, device, desc, out_pool);
    return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                          "the unit %.*s of NVIDIA GPUs has no queries; perfmon has",
                          zeta_string_shown(desc->unit), desc->unit.data);
}

const struct zeta_plugin_metric_ops nvidia_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .get_sets = get_sets,
    .symbols = get_symbols,
    .limits = get_limits,
    .holder = get_holder,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_pending = stream_pending,
    .stream_descriptor = stream_descriptor,
    .stream_stop = stream_stop,
    .stream_close = stream_close,
    .query_pool_create = query_pool_create,
    .query_pool_destroy = nvidia_query_pool_destroy,
    .query_reset = nvidia_query_reset,
    .query_collect = nvidia_query_collect,
    .program_check = program_check,
};
