#include "plugins/nvidia/sampling/stream.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/record_ring.h>
#include <zeta/thread.h>

#include "plugins/nvidia/sampling/intervals.h"
#include "plugins/nvidia/sampling/session.h"

/*
 * Shortest periods that one core was measured to sustain on an H100, light sets: so many counters
 * at 100 us, more at 200 us.
 */
#define FEW_SHORTEST_NS UINT64_C(100000)
#define MANY_SHORTEST_NS UINT64_C(200000)
enum { FEW_COUNTERS = 13 };

/* CUPTI cuts longer ones to 32 bits. */
#define LONGEST_NS (UINT32_MAX / NVIDIA_TICK_NS * NVIDIA_TICK_NS)

/* Buffers: of the image unless the setting says otherwise, and of the hardware. */
#define IMAGE_MIB 128u
#define BUFFER_BYTES (UINT64_C(64) << 20)

/* Largest ring in records. */
#define RING_RECORDS ((UINT64_C(32) << 20) / NVIDIA_RECORD_BYTES)

struct sampling {
    struct zeta_plugin_stream stream; /* first */
    struct zeta_plugin_device *device;
    const struct nvidia_cupti *cupti;
    char set[128];
    uint32_t number; /* of the program, in its records */
    struct nvidia_program program;
    struct nvidia_config config;
    struct nvidia_session *session;
    struct nvidia_intervals intervals;
    struct zeta_record_pump *pump; /* NULL: stopped */
    bool has_warned;               /* that the session was begun anew; of the pump's thread */
    atomic_int result;             /* of CUPTI, why nothing will come any more */
};

/* ---- periods ------------------------------------------------------------------------------ */

/* Whole ticks, at least two: CUPTI takes no period below 2 ns, and hardware none below a tick. */
static uint64_t round_period(uint64_t ns)
{
    const uint64_t ticks = (ns + NVIDIA_TICK_NS / 2) / NVIDIA_TICK_NS;

    return (ticks > 2 ? ticks : 2) * NVIDIA_TICK_NS;
}

void nvidia_period_range(const struct nvidia *nvidia, const struct nvidia_program *program,
                         uint64_t *out_least_ns, uint64_t *out_most_ns)
{
    uint64_t least_ns = FEW_SHORTEST_NS;

    if (program && program->shortest_ns != 0)
        least_ns = program->shortest_ns;
    else if (program && program->count > FEW_COUNTERS)
        least_ns = MANY_SHORTEST_NS;
    least_ns = nvidia_setting_number(nvidia, "shortest_period_ns", least_ns);
    *out_most_ns = LONGEST_NS;
    *out_least_ns = round_period(least_ns < LONGEST_NS ? least_ns : LONGEST_NS);
}

uint32_t nvidia_period_choose(const struct zeta_plugin_device *device, const char *set,
                              const struct nvidia_program *program, uint64_t wanted_ns,
                              uint64_t most_ns, uint64_t *out_period_ns)
{
    const struct nvidia *nvidia = device->nvidia;
    uint64_t least_ns, longest_ns;

    nvidia_period_range(nvidia, program, &least_ns, &longest_ns);
    if (most_ns != 0 && most_ns < longest_ns)
        longest_ns = most_ns / NVIDIA_TICK_NS * NVIDIA_TICK_NS;
    if (longest_ns < least_ns)
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s: %s has no period below %llu ns, because a processor core cannot "
                              "keep up; the setting plugins.%s.shortest_period_ns allows it",
                              nvidia_device_label(device).text, set, (unsigned long long)least_ns,
                              nvidia->host->id);
    if (wanted_ns > longest_ns)
        wanted_ns = longest_ns;
    wanted_ns = round_period(wanted_ns);
    if (wanted_ns < least_ns)
        wanted_ns = least_ns;
    *out_period_ns = wanted_ns < longest_ns ? wanted_ns : longest_ns;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- samples ------------------------------------------------------------------------------ */

/* A sample becomes a record in the ring, behind what was lost before it. */
static void take(void *context, const struct nvidia_sample *sample)
{
    struct sampling *sampling = context;
    struct nvidia_interval record = {.set = sampling->number};
    struct nvidia_interval_break interruption;

    if (!nvidia_intervals_add(&sampling->intervals, sample, &record, &interruption))
        return;
    if (interruption.is_broken)
        zeta_record_ring_lose(sampling->stream.ring, interruption.reason, interruption.lost);
    (void)zeta_record_ring_push(sampling->stream.ring, &record, 1);
}

/* On the thread of the pump. */
static void fetch(void *context)
{
    struct sampling *sampling = context;
    const struct nvidia_taker taker = {take, sampling};
    int result;

    if (atomic_load(&sampling->result) != NVIDIA_CUPTI_SUCCESS)
        return;
    result = nvidia_session_fetch(sampling->session, &taker);
    if (nvidia_session_counts(sampling->session).begun_anew > 0 && !sampling->has_warned) {
        sampling->has_warned = true;
        zeta_host_log(
            sampling->device->nvidia->host, ZETA_PLUGIN_LOG_WARN,
            "%s: sampling of %s was interrupted, because samples were fetched too late or "
            "CUPTI failed; a longer period, a set with fewer counters or a larger "
            "decode_buffer_mib helps against the former",
            nvidia_device_label(sampling->device).text, sampling->set);
    }
    if (result == NVIDIA_CUPTI_SUCCESS)
        return;
    zeta_host_log(sampling->device->nvidia->host, ZETA_PLUGIN_LOG_WARN,
                  "%s: CUPTI cannot go on with sampling %s (%s, %d)",
                  nvidia_device_label(sampling->device).text, sampling->set,
                  nvidia_cupti_name(sampling->cupti, result), result);
    atomic_store(&sampling->result, result);
}

/* ---- streams ------------------------------------------------------------------------------ */

/* A failure of this stream as a sentence. */
static uint32_t fail(const struct sampling *sampling, int result, const char *what)
{
    const struct nvidia *nvidia = sampling->device->nvidia;
    const struct nvidia_label label = nvidia_device_label(sampling->device);
    const struct nvidia_asked asked = {
        .host = nvidia->host, .cupti = sampling->cupti, .device = label.text, .root = nvidia->root};

    return nvidia_cupti_fail(&asked, result, "%s %s", what, sampling->set);
}

static uint32_t status(struct zeta_plugin_stream *stream)
{
    struct sampling *sampling = (struct sampling *)stream;
    const int result = atomic_load(&sampling->result);

    return result == NVIDIA_CUPTI_SUCCESS ? ZETA_PLUGIN_SUCCESS
                                          : fail(sampling, result, "go on with sampling");
}

static void stop(struct zeta_plugin_stream *stream)
{
    struct sampling *sampling = (struct sampling *)stream;
    const struct nvidia_taker taker = {take, sampling};

    if (!sampling->pump)
        return;
    zeta_record_pump_destroy(sampling->pump);
    sampling->pump = NULL;
    nvidia_session_stop(sampling->session, &taker);
    nvidia_perfmon_give(sampling->device);
}

/* Frees what there is of a stream that is stopped or never began. */
static void destroy(struct sampling *sampling)
{
    nvidia_session_close(sampling->session);
    nvidia_config_finish(&sampling->config);
    zeta_record_ring_destroy(sampling->stream.ring);
    free(sampling);
}

static void close_stream(struct zeta_plugin_stream *stream)
{
    stop(stream);
    destroy((struct sampling *)stream);
}

/* CUPTI and the chip, or why they cannot sample. */
static uint32_t find_cupti(struct sampling *sampling, const char **out_chip)
{
    struct zeta_plugin_device *device = sampling->device;
    struct nvidia *nvidia = device->nvidia;
    const char *problem, *lacking;

    sampling->cupti = nvidia_cupti_get(nvidia, &problem);
    if (!sampling->cupti)
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE, "%s", problem);
    lacking = nvidia_cupti_lacks_sampling(sampling->cupti);
    if (lacking)
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE,
                              "%s has no function %s; install CUPTI of CUDA 12.6 or newer",
                              sampling->cupti->lib.path, lacking);
    *out_chip = nvidia_device_chip(device);
    if ((*out_chip)[0] == '\0')
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s: CUPTI does not know the chip; install a newer one",
                              nvidia_device_label(device).text);
    return ZETA_PLUGIN_SUCCESS;
}

/* What the hardware has to do. */
static uint32_t configure(struct sampling *sampling, const char *chip)
{
    size_t wrong = 0;
    const int result =
        nvidia_config_make(sampling->cupti, NVIDIA_PM_SAMPLING, chip, sampling->program.names,
                           sampling->program.count, &sampling->config, &wrong);

    if (result == NVIDIA_CUPTI_INVALID_METRIC_NAME)
        return zeta_host_fail(sampling->device->nvidia->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: %s cannot be sampled, because the chip %s has no metric %s for "
                              "PM sampling",
                              nvidia_device_label(sampling->device).text, sampling->set, chip,
                              sampling->program.names[wrong]);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return fail(sampling, result, "configure");
    if (sampling->config.passes != 1)
        return zeta_host_fail(sampling->device->nvidia->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s: %s cannot be sampled, because its metrics need %zu passes",
                              nvidia_device_label(sampling->device).text, sampling->set,
                              sampling->config.passes);
    return ZETA_PLUGIN_SUCCESS;
}

/* How long a first interval tells the rate of the system clock, in cycles; and how long that may
 * take. */
#define TRIAL_CYCLES UINT64_C(1000000)
#define TRIAL_NS UINT64_C(2000000000)
#define TRIAL_POLL_NS UINT64_C(1000000)

static void note_length(void *context, const struct nvidia_sample *sample)
{
    *(uint64_t *)context = sample->end_ns - sample->start_ns;
}

/*
 * Chips before GA102 cannot sample by time, but by cycles of the system clock, whose rate nobody
 * tells: a short session shows it.
 */
static int open_by_cycles(struct sampling *sampling, struct nvidia_session_options *options)
{
    const uint64_t until_ns = zeta_monotonic_ns() + TRIAL_NS;
    uint64_t length_ns = 0;
    const struct nvidia_taker taker = {note_length, &length_ns};
    int result;

    options->interval = TRIAL_CYCLES;
    result = nvidia_session_open(options, &sampling->session);
    while (result == NVIDIA_CUPTI_SUCCESS && length_ns == 0 && zeta_monotonic_ns() < until_ns) {
        zeta_sleep_until(zeta_monotonic_ns() + TRIAL_POLL_NS);
        result = nvidia_session_fetch(sampling->session, &taker);
    }
    nvidia_session_close(sampling->session);
    sampling->session = NULL;
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    if (length_ns == 0)
        return NVIDIA_CUPTI_NOT_READY;
    options->interval = (uint64_t)((double)options->period_ns * TRIAL_CYCLES / (double)length_ns);
    if (options->interval > UINT32_MAX)
        options->interval = UINT32_MAX;
    options->period_ns =
        (uint64_t)((double)options->interval * (double)length_ns / TRIAL_CYCLES + 0.5);
    return nvidia_session_open(options, &sampling->session);
}

static uint32_t open_session(struct sampling *sampling, uint64_t *period_ns)
{
    const struct nvidia *nvidia = sampling->device->nvidia;
    struct nvidia_session_options options = {
        .device = (size_t)sampling->device->ordinal,
        .config = &sampling->config,
        .period_ns = *period_ns,
        .image_bytes = nvidia_setting_number(nvidia, "decode_buffer_mib", IMAGE_MIB) << 20,
        .buffer_bytes = BUFFER_BYTES,
        .now_ns = zeta_monotonic_ns,
    };
    int result = nvidia_session_open(&options, &sampling->session);

    if (result == NVIDIA_CUPTI_NOT_SUPPORTED)
        result = open_by_cycles(sampling, &options);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return fail(sampling, result, "sample");
    *period_ns = options.period_ns;
    sampling->intervals =
        (struct nvidia_intervals){.program = &sampling->program, .period_ns = options.period_ns};
    return ZETA_PLUGIN_SUCCESS;
}

/* All but taking the unit and starting the thread. */
static uint32_t prepare(struct sampling *sampling, struct zeta_plugin_stream_desc *desc)
{
    const char *chip = NULL;
    uint32_t result = find_cupti(sampling, &chip);

    if (result == ZETA_PLUGIN_SUCCESS)
        result = nvidia_program_read(sampling->device->nvidia->host, desc->set, &desc->program,
                                     ZETA_PLUGIN_USE_STREAM, &sampling->program);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = nvidia_period_choose(sampling->device, sampling->set, &sampling->program,
                                      desc->period_ns, desc->max_period_ns, &desc->period_ns);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = configure(sampling, chip);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    sampling->stream.ring = zeta_record_ring_create(
        zeta_record_ring_choose(desc->ring_records, desc->notify_records, RING_RECORDS),
        NVIDIA_RECORD_BYTES, desc->notify_records);
    if (!sampling->stream.ring)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    return open_session(sampling, &desc->period_ns);
}

uint32_t nvidia_sampling_open(struct zeta_plugin_device *device,
                              struct zeta_plugin_stream_desc *desc,
                              struct zeta_plugin_stream **out_stream)
{
    struct sampling *sampling = calloc(1, sizeof(*sampling));
    char user[96];
    uint32_t result;

    if (!sampling)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    sampling->stream =
        (struct zeta_plugin_stream){.status = status, .stop = stop, .close = close_stream};
    sampling->device = device;
    sampling->number = nvidia_program_number(desc->digest);
    (void)snprintf(sampling->set, sizeof(sampling->set), "%.*s", zeta_string_shown(desc->set),
                   desc->set.data);
    (void)snprintf(user, sizeof(user), "a stream of %.80s", sampling->set);
    if (!nvidia_perfmon_take(device, user)) {
        (void)nvidia_perfmon_user(device, user, sizeof(user));
        free(sampling);
        return zeta_host_fail(device->nvidia->host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                              "%s: its counters are used by %s of this process; end that first",
                              nvidia_device_label(device).text, user);
    }
    result = prepare(sampling, desc);
    if (result == ZETA_PLUGIN_SUCCESS) {
        sampling->pump = zeta_record_pump_create(
            nvidia_session_fetch_ns(sampling->session, desc->notify_records), fetch, sampling,
            "zeta-nv-sample");
        result = sampling->pump ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    if (result != ZETA_PLUGIN_SUCCESS) {
        destroy(sampling);
        nvidia_perfmon_give(device);
        return result;
    }
    desc->ring_records = zeta_record_ring_capacity(sampling->stream.ring);
    desc->keeps = 0;
    desc->token = 0;
    *out_stream = &sampling->stream;
    return ZETA_PLUGIN_SUCCESS;
}
