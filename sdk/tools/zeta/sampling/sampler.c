#include "sdk/tools/zeta/sampling/sampler.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"

/* Reports per read: large enough to be cheap, small enough to stay in the cache. */
enum { READ_RECORDS = 512, READ_RECORDS_LEAST = 8 };

/* Reports before signals are polled again, when they come faster than they are added up. */
enum { MAX_RECORDS = 64 * READ_RECORDS };

static int open_stream(struct zeta_sampler *sampler, struct zeta_sampler_stream *stream,
                       const struct zeta_group_entry *entry, uint64_t period_ns, size_t read_bytes)
{
    const char *name = entry->properties.name;
    const uint32_t tiles = sampler->device->tile_count ? sampler->device->tile_count : 1;
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    /* No notification: this thread reads often enough anyway. */
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .samplingPeriod = period_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)period_ns,
    };
    const struct zeta_metric_sum_desc rows = {.struct_size = sizeof(rows), .group = entry->group};
    ze_result_t result = ZE_RESULT_SUCCESS;

    zeta_sampled_group_init(&stream->group, entry, tiles);
    result = zetaMetricSumCreate(&rows, &stream->group.sum);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot calculate %s", name);
    result = zetMetricStreamerOpen(sampler->context, sampler->device->device, entry->group,
                                   &description, NULL, &stream->streamer);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot sample %s on %s", name,
                                  sampler->device->properties.name);
    stream->group.period_ns = description.samplingPeriod;
    result = zetaMetricStreamerGetInfo(stream->streamer, &info);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the state of the stream of %s", name);
    stream->ring_records = info.ring_records;
    stream->read_records = 2 * READ_RECORDS;
    do {
        stream->read_records /= 2;
        result = zetMetricStreamerReadData(stream->streamer, stream->read_records,
                                           &stream->raw_bytes, NULL);
    } while (result == ZE_RESULT_SUCCESS && read_bytes > 0 && stream->raw_bytes > read_bytes &&
             stream->read_records > READ_RECORDS_LEAST);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot size the buffer of %s", name);
    stream->raw = zeta_allocate(stream->raw_bytes, 1);
    return ZETA_EXIT_OK;
}

static int activate(struct zeta_sampler *sampler, const struct zeta_sampler_desc *desc)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const uint32_t count = desc->group_count + desc->more_count;
    zet_metric_group_handle_t *handles = zeta_allocate(count, sizeof(zet_metric_group_handle_t));
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint32_t i = 0; i < count; i++)
        handles[i] = i < desc->group_count ? desc->groups[i]->group
                                           : desc->more_groups[i - desc->group_count];
    result = zeContextCreate(sampler->device->driver, &description, &sampler->context);
    if (result == ZE_RESULT_SUCCESS)
        result = zetContextActivateMetricGroups(sampler->context, sampler->device->device, count,
                                                handles);
    free(handles);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot configure %s for sampling",
                                  sampler->device->properties.name);
    sampler->is_active = true;
    return ZETA_EXIT_OK;
}

/* Periods come in steps, often powers of two; only one that is out of range is worth a word. */
static void print_periods(const struct zeta_sampler *sampler, uint64_t wanted_ns)
{
    char wanted[ZETA_DURATION_TEXT_BYTES];
    char used[ZETA_DURATION_TEXT_BYTES];

    zeta_duration_format(wanted_ns, wanted);
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        const struct zeta_sampled_group *group = &sampler->streams[i].group;

        if (group->period_ns <= 2 * wanted_ns && wanted_ns <= 2 * group->period_ns)
            continue;
        zeta_duration_format(group->period_ns, used);
        zeta_print_note("%s cannot sample %s every %s; it samples every %s",
                        sampler->device->properties.name, group->entry->properties.name, wanted,
                        used);
    }
}

int zeta_sampler_open(struct zeta_sampler *sampler, const struct zeta_sampler_desc *desc)
{
    *sampler = (struct zeta_sampler){.device = desc->device};
    sampler->streams = zeta_allocate(desc->group_count, sizeof(*sampler->streams));
    if (activate(sampler, desc) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    for (uint32_t i = 0; i < desc->group_count; i++) {
        const bool is_profile = desc->profile && i + 1 == desc->group_count;

        sampler->stream_count = i + 1;
        sampler->streams[i].profile = is_profile ? desc->profile : NULL;
        if (open_stream(sampler, &sampler->streams[i], desc->groups[i],
                        is_profile ? desc->ip_period_ns : desc->period_ns,
                        desc->read_bytes) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    if (desc->has_period)
        print_periods(sampler, desc->period_ns);
    return ZETA_EXIT_OK;
}

static uint32_t take_row(void *user, const struct zeta_metric_row *row)
{
    struct zeta_sampler_stream *stream = user;

    if (!stream->profile)
        zeta_sampled_group_add_row(&stream->group, row);
    else if (!zeta_ip_profile_add_row(stream->profile, row->values))
        stream->group.has_no_memory = true;
    return stream->profile == NULL;
}

/* Ticks as QueryBeginTime shows them: masked, in whole ns. */
static uint64_t ticks_to_ns(const zet_metric_global_timestamps_resolution_exp_t *clock,
                            uint64_t ticks)
{
    if (clock->timerResolution == 0)
        return ticks;
    if (clock->timestampValidBits < 64)
        ticks &= (UINT64_C(1) << clock->timestampValidBits) - 1;
    /* In two steps, since ticks * 10^9 may need more than 64 bits. */
    return ticks / clock->timerResolution * 1000000000 +
           ticks % clock->timerResolution * 1000000000 / clock->timerResolution;
}

/* A stream that cannot be read any more: what would have come until now is lost. */
static int fail_stream(const struct zeta_sampler *sampler, struct zeta_sampler_stream *stream,
                       ze_result_t result)
{
    const zet_metric_global_timestamps_resolution_exp_t *clock = &stream->group.entry->clock;
    const int status =
        zeta_print_refusal(result, "cannot read %s", stream->group.entry->properties.name);
    uint64_t host_ns = 0, device_ticks = 0;

    /* A device that is gone has no clock, so the time is unknown. */
    if (zeDeviceGetGlobalTimestamps(sampler->device->device, &host_ns, &device_ticks) ==
        ZE_RESULT_SUCCESS)
        zeta_sampled_group_end_at(&stream->group, ticks_to_ns(clock, device_ticks));
    return status;
}

static int read_stream(struct zeta_sampler *sampler, struct zeta_sampler_stream *stream)
{
    const struct zeta_group_entry *entry = stream->group.entry;
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    /* Asked for first, so that nothing can come between the last read and the end. */
    const bool has_ended =
        zetaMetricStreamerGetInfo(stream->streamer, &info) == ZE_RESULT_SUCCESS && info.ended != 0;

    for (uint32_t asked = 0; asked < MAX_RECORDS; asked += stream->read_records) {
        struct zeta_metric_data data = {.struct_size = sizeof(data),
                                        .raw_size = stream->raw_bytes,
                                        .raw = stream->raw,
                                        .each = take_row,
                                        .user = stream};
        uint64_t start_ns;
        ze_result_t result = zetMetricStreamerReadData(stream->streamer, stream->read_records,
                                                       &data.raw_size, stream->raw);

        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_WARNING_DROPPED_DATA)
            return fail_stream(sampler, stream, result);
        if (data.raw_size == 0) {
            stream->is_over = has_ended;
            return ZETA_EXIT_OK;
        }
        (void)zeta_sampled_group_take_slots(&stream->group, stream->raw, data.raw_size,
                                            entry->info.record_bytes);
        if (sampler->tap && sampler->tap(sampler->tap_user, (uint32_t)(stream - sampler->streams),
                                         stream->raw, data.raw_size) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        start_ns = zeta_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        result = zetaMetricSumAdd(stream->group.sum, &data);
        sampler->calculation_ns += zeta_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
        if (result != ZE_RESULT_SUCCESS)
            return zeta_print_refusal(result, "cannot calculate %s", entry->properties.name);
        if (stream->group.has_no_memory)
            return zeta_print_failure("no memory for the rows of %s", entry->properties.name);
    }
    return ZETA_EXIT_OK;
}

int zeta_sampler_read(struct zeta_sampler *sampler)
{
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        if (read_stream(sampler, &sampler->streams[i]) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
    }
    return ZETA_EXIT_OK;
}

bool zeta_sampler_has_started(const struct zeta_sampler *sampler)
{
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        const struct zeta_sampler_stream *stream = &sampler->streams[i];

        /* Samples of threads begin with the work. */
        if (!stream->profile && stream->group.end_index >= 0 && stream->group.samples == 0)
            return false;
    }
    return true;
}

bool zeta_sampler_is_over(const struct zeta_sampler *sampler)
{
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        if (!sampler->streams[i].is_over)
            return false;
    }
    return sampler->stream_count > 0;
}

bool zeta_sampler_reaches(const struct zeta_sampler *sampler, uint64_t device_ticks,
                          uint64_t before_ns)
{
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        const struct zeta_sampled_group *group = &sampler->streams[i].group;

        if (!sampler->streams[i].profile && group->end_index >= 0 &&
            !zeta_sampled_group_reaches(group, ticks_to_ns(&group->entry->clock, device_ticks),
                                        before_ns))
            return false;
    }
    return true;
}

int zeta_sampler_now(const struct zeta_sampler *sampler, uint64_t *out_device_ticks)
{
    uint64_t host_ns = 0;
    ze_result_t result =
        zeDeviceGetGlobalTimestamps(sampler->device->device, &host_ns, out_device_ticks);

    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the clock of %s",
                                  sampler->device->properties.name);
    return ZETA_EXIT_OK;
}

uint64_t zeta_sampler_pause_ns(const struct zeta_sampler *sampler)
{
    uint64_t pause_ns = 50000000;

    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        const struct zeta_sampler_stream *stream = &sampler->streams[i];
        const uint64_t quarter_ns = stream->ring_records / 4 * stream->group.period_ns;

        if (quarter_ns && quarter_ns < pause_ns)
            pause_ns = quarter_ns;
    }
    return pause_ns;
}

/* The longest period in use. */
static uint64_t longest_period_ns(const struct zeta_sampler *sampler)
{
    uint64_t period_ns = 0;

    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        if (sampler->streams[i].group.period_ns > period_ns)
            period_ns = sampler->streams[i].group.period_ns;
    }
    return period_ns;
}

void zeta_sampler_stop(struct zeta_sampler *sampler)
{
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        if (sampler->streams[i].streamer)
            (void)zetMetricStreamerClose(sampler->streams[i].streamer);
        sampler->streams[i].streamer = NULL;
    }
    if (sampler->is_active)
        (void)zetContextActivateMetricGroups(sampler->context, sampler->device->device, 0, NULL);
    sampler->is_active = false;
    if (sampler->context)
        (void)zeContextDestroy(sampler->context);
    sampler->context = NULL;
}

int zeta_sampler_settle(struct zeta_sampler *sampler)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < sampler->stream_count && status == ZETA_EXIT_OK; i++)
        status = zeta_sampled_group_settle(&sampler->streams[i].group);
    return status;
}

void zeta_sampler_close(struct zeta_sampler *sampler)
{
    zeta_sampler_stop(sampler);
    for (uint32_t i = 0; i < sampler->stream_count; i++) {
        zeta_sampled_group_finish(&sampler->streams[i].group);
        free(sampler->streams[i].raw);
    }
    free(sampler->streams);
    *sampler = (struct zeta_sampler){0};
}

/* ---- sessions ------------------------------------------------------------------------------- */

int zeta_session_init(struct zeta_session *session, const char *device)
{
    if (zeta_child_init(&session->child) != ZETA_EXIT_OK ||
        zeta_environment_init(&session->environment, session->is_shared) != ZETA_EXIT_OK ||
        (session->has_modules &&
         zeta_environment_want_modules(&session->environment, session->program != NULL) !=
             ZETA_EXIT_OK))
        return ZETA_EXIT_FAILED;
    if (session->hidden)
        (void)unsetenv(session->hidden);
    if (zeta_device_list_init(&session->devices) != ZETA_EXIT_OK ||
        zeta_device_list_find(&session->devices, device, &session->device) != ZETA_EXIT_OK ||
        (session->program &&
         zeta_environment_build(&session->environment, session->device->info.compute[0] != 0) !=
             ZETA_EXIT_OK))
        return ZETA_EXIT_FAILED;
    session->variables = session->environment.variables;
    return zeta_group_list_init(session->device->device, &session->groups);
}

int zeta_session_open(struct zeta_session *session, struct zeta_sampler_desc desc)
{
    int status;

    desc.device = session->device;
    status = zeta_sampler_open(&session->sampler, &desc);
    if (status != ZETA_EXIT_OK && strcmp(session->device->info.device_class, "hardware") == 0)
        zeta_plugin_list_suggest_software();
    return status;
}

void zeta_session_finish(struct zeta_session *session)
{
    zeta_sampler_close(&session->sampler);
    zeta_group_list_finish(&session->groups);
    zeta_device_list_finish(&session->devices);
    zeta_child_finish(&session->child);
    zeta_environment_finish(&session->environment);
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int read_streams(struct zeta_session *session)
{
    if (zeta_sampler_read(&session->sampler) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    return session->after_read ? session->after_read(session->user) : ZETA_EXIT_OK;
}

static uint64_t pause_ns_of(const struct zeta_session *session)
{
    const uint64_t pause_ns = zeta_sampler_pause_ns(&session->sampler);

    return session->pause_limit_ns ? shorter(pause_ns, session->pause_limit_ns) : pause_ns;
}

/*
 * Reads until every stream has given its first row (device_ticks: null), or the rows up to so long
 * before an instant of the device; or a signal asks to end, or the time is over. What counts are
 * the pauses between reads: time in which the machine stood still does not count.
 */
static int read_until(struct zeta_session *session, const uint64_t *device_ticks,
                      uint64_t before_ns, uint64_t patience_ns, bool *out_is_there)
{
    const struct zeta_sampler *sampler = &session->sampler;
    const uint64_t pause_ns =
        shorter(pause_ns_of(session), longest_period_ns(sampler) / 2 + 100000);
    const unsigned interrupts = session->child.interrupts;

    for (uint64_t waited_ns = 0;; waited_ns += pause_ns) {
        if (read_streams(session) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        *out_is_there = device_ticks ? zeta_sampler_reaches(sampler, *device_ticks, before_ns) ||
                                           zeta_sampler_is_over(sampler)
                                     : zeta_sampler_has_started(sampler);
        if (*out_is_there || session->child.interrupts > interrupts || waited_ns > patience_ns)
            return ZETA_EXIT_OK;
        zeta_child_wait(&session->child, pause_ns);
    }
}

static uint64_t patience(const struct zeta_session *session)
{
    return 3000000000 + 3 * longest_period_ns(&session->sampler);
}

/* What the program does must lie between two reports: here is the first of them. */
static int wait_for_first_report(struct zeta_session *session)
{
    const struct zeta_device_entry *device = session->device;
    bool is_there = false;
    int status = read_until(session, NULL, 0, patience(session), &is_there);

    if (status != ZETA_EXIT_OK || is_there || session->child.interrupts > 0)
        return status;
    return zeta_print_failure(
        "%s gave no report, so the program was not run. %s", device->properties.name,
        strcmp(device->info.device_class, "software") == 0
            ? "A virtual device with clock: virtual gives reports only while it works, and only to "
              "its own process"
            : "A sleeping GPU gives none: run something on it, or keep it awake; if that does not "
              "help, see dmesg and 'zeta selftest'");
}

/* And here is the last: one that ends after the program, or after the time that was asked for. */
static int wait_for_last_report(struct zeta_session *session, uint64_t end_ns, uint64_t limit)
{
    const uint64_t now_ns = zeta_monotonic_ns();
    const uint64_t late_ns = now_ns > end_ns ? now_ns - end_ns : 0;
    const uint64_t rest_ns = limit > now_ns ? limit - now_ns : 0;
    uint64_t end_ticks = 0;
    bool is_there = false;

    if (zeta_sampler_now(&session->sampler, &end_ticks) != ZETA_EXIT_OK ||
        read_until(session, &end_ticks, late_ns, shorter(patience(session), rest_ns), &is_there) !=
            ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    if (!is_there)
        zeta_print_note("%s gave no report after the end; the last reports may be missing",
                        session->device->properties.name);
    return ZETA_EXIT_OK;
}

/* Whether the program has ended, or the sampling without one. */
static bool is_over(const struct zeta_session *session, uint64_t end_ns)
{
    if (session->program)
        return session->child.has_ended;
    return session->child.interrupts > 0 || zeta_sampler_is_over(&session->sampler) ||
           zeta_monotonic_ns() >= end_ns;
}

/* The program goes on when the sampling fails; its exit status is awaited either way. */
static int sample(struct zeta_session *session, uint64_t open_ns)
{
    const uint64_t pause_ns = pause_ns_of(session);
    const uint64_t period_ns = longest_period_ns(&session->sampler);
    uint64_t limit_ns = UINT64_MAX;
    uint64_t end_ns = UINT64_MAX;
    int status = ZETA_EXIT_OK;

    /*
     * The first report of a run of a certain time covers the time since the streams were opened, so
     * that time counts. A period after its end the report that reaches it is there; slow hosts have
     * a second more. Nothing is waited for longer: a kernel may keep the newest report for itself.
     */
    if (!session->program && session->for_ns > 0) {
        end_ns = open_ns + session->for_ns;
        limit_ns = end_ns + period_ns + 1000000000;
    }
    while (!is_over(session, end_ns)) {
        const uint64_t now_ns = zeta_monotonic_ns();

        zeta_child_wait(&session->child, now_ns < end_ns ? shorter(pause_ns, end_ns - now_ns) : 0);
        if (status == ZETA_EXIT_OK)
            status = read_streams(session);
        if (status != ZETA_EXIT_OK && !session->program)
            break;
    }
    return status == ZETA_EXIT_OK ? wait_for_last_report(session, end_ns, limit_ns) : status;
}

int zeta_session_run(struct zeta_session *session)
{
    const uint64_t start_ns = zeta_monotonic_ns();
    const uint64_t start_cpu_ns = zeta_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int status = wait_for_first_report(session);

    if (status != ZETA_EXIT_OK)
        return status;
    /* A terminal's signal that came until now does not reach a program that is started later. */
    if (session->program)
        zeta_child_wait(&session->child, 0);
    /* Without a program that is how it ends, however early. */
    if (session->program && session->child.interrupts > 0)
        return ZETA_EXIT_SIGNAL + session->child.last_interrupt;
    if (session->program) {
        status = zeta_child_start(&session->child, session->program, session->variables);
        if (status != ZETA_EXIT_OK)
            return status;
    }
    session->was_started = true;
    status = sample(session, start_ns);
    session->elapsed_ns = zeta_monotonic_ns() - start_ns;
    session->cpu_ns = zeta_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_cpu_ns;
    return status;
}

int zeta_session_exit_code(const struct zeta_session *session, int status)
{
    if (session->program && zeta_child_exit_code(&session->child) != ZETA_EXIT_OK)
        return zeta_child_exit_code(&session->child);
    return status;
}
