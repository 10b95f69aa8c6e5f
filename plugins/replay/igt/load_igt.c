/*
 * A file of the recorder of intel-gpu-tools as a recording: one device, one stream, and two sets:
 * the recorded one, where the data of the plugin for Intel GPUs describe it, and the counters as
 * they are in the reports.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/igt/igt.h"

#define VERSION_BYTES 8u
#define DEVICE_INFO_BYTES 336u
#define CORRELATION_BYTES 16u

/** Valid bits of the time stamp of the command streamer. */
#define CS_BITS 36

/* What the file is of, by its records before the data and by the data of the plugin. */
struct origin {
    uint64_t oa_hz;
    uint32_t pci_id, revision;
    uint32_t min_hz, max_hz;
    uint32_t format_id;
    char set[257]; /* name and uuid of the set: plain, whatever the file says */
    char uuid[41];

    const struct zeta_igt_platform *igt;
    const struct zeta_igt_format *format;
    bool is_described; /* by the data of the plugin for Intel GPUs */
    struct zeta_replay_intel intel;
    struct zeta_intel_platform fallback; /* without them: what follows from the PCI id */
    const struct zeta_intel_platform *platform;
    struct zeta_intel_topology topology;
};

/* Two clocks at one instant. */
struct correlation {
    uint64_t host_ns;
    uint64_t cs_ticks; /**< unwrapped */
};

/* What one pass over the file finds. */
struct scan {
    struct correlation first, last;
    uint32_t correlations;
    uint64_t reports;
    uint64_t first_time;
    uint64_t last_time; /**< of a report */
    uint64_t gaps[64];  /**< ticks between neighbours */
    uint32_t gap_count;
    bool connected; /**< last_time is that of the report before */
};

/* Takes a text of the file, in which what is no letter, digit, '-' or '_' becomes '_'. */
static void take_text(char *text, const unsigned char *bytes, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (size_t i = 0; i < size && bytes[i]; i++)
        text[i] = strchr(plain, bytes[i]) ? (char)bytes[i] : '_';
}

static void take_correlation(struct scan *scan, const unsigned char *body)
{
    const uint64_t mask = (UINT64_C(1) << CS_BITS) - 1;
    const uint64_t cs = zeta_igt_get(body + 8, 8);
    struct correlation now = {.host_ns = zeta_igt_get(body, 8), .cs_ticks = cs & mask};

    if (scan->correlations++ == 0)
        scan->first = now;
    else
        now.cs_ticks = scan->last.cs_ticks + ((cs - scan->last.cs_ticks) & mask);
    scan->last = now;
}

static void take_report(struct scan *scan, const struct zeta_replay_field *clock,
                        const unsigned char *report)
{
    const uint64_t time = zeta_replay_field_read(clock, report);

    if (scan->reports++ == 0)
        scan->first_time = time;
    else if (scan->connected && scan->gap_count < 64)
        scan->gaps[scan->gap_count++] = (time - scan->last_time) & zeta_replay_field_mask(clock);
    scan->last_time = time;
    scan->connected = true;
}

/* One pass over everything, for the clocks and for the period. */
static bool scan_file(const struct zeta_replay_recording *recording, struct scan *scan,
                      struct zeta_replay_problem *problem)
{
    struct zeta_igt_record record;
    struct zeta_igt_file file;

    if (!zeta_igt_open(&file, recording->path, recording->igt_data_offset, problem))
        return false;
    while (zeta_igt_next(&file, &record)) {
        if (record.type == ZETA_IGT_CORRELATION && record.body_bytes >= CORRELATION_BYTES)
            take_correlation(scan, record.body);
        else if (record.type == ZETA_IGT_SAMPLE && record.body_bytes == recording->igt_report_bytes)
            take_report(scan, &recording->sets[0].clock, record.body);
        else if (record.type == ZETA_IGT_REPORT_LOST || record.type == ZETA_IGT_BUFFER_LOST)
            scan->connected = false;
    }
    zeta_igt_close(&file);
    return true;
}

static int compare_gaps(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/*
 * The unit writes a report when a bit of its clock falls, so the period is a power of two of ticks;
 * switches of contexts add reports between. The middle one of the first gaps decides.
 */
static uint64_t find_period_ns(struct scan *scan, uint64_t hz)
{
    uint64_t period = 2, middle;

    if (scan->gap_count == 0)
        return 0;
    qsort(scan->gaps, scan->gap_count, sizeof(scan->gaps[0]), compare_gaps);
    middle = scan->gaps[scan->gap_count / 2];
    while (period < (UINT64_C(1) << 32) && period * 3 / 2 < middle)
        period *= 2;
    return (uint64_t)ceil((double)period * 1e9 / (double)hz);
}

/*
 * Ticks of the unit for one of the command streamer. The file has only the rate of the unit; that
 * of the streamer follows from how far it came between two correlations. 1 where that is unknown.
 */
static uint64_t find_ratio(const struct scan *scan, uint64_t oa_hz)
{
    const uint64_t ticks = scan->last.cs_ticks - scan->first.cs_ticks;
    const uint64_t ns = scan->last.host_ns - scan->first.host_ns;
    double ratio;
    uint64_t rounded = 1;

    if (scan->correlations < 2 || ticks == 0 || scan->last.host_ns <= scan->first.host_ns)
        return 1;
    ratio = (double)oa_hz * (double)ns / 1e9 / (double)ticks;
    while (rounded < 8 && (double)rounded * 1.5 < ratio)
        rounded *= 2;
    return rounded;
}

static uint32_t divide_up(uint32_t value, uint32_t by)
{
    return by == 0 ? 0 : (value + by - 1) / by;
}

static bool add_device(struct zeta_replay_recording *recording, const struct origin *origin,
                       struct zeta_replay_problem *problem)
{
    /* No two files of one machine differ here, and no other device has it. */
    const uint32_t uuid[4] = {0x8086, origin->pci_id, origin->revision, 0x69677472};
    const struct zeta_intel_topology *topology = &origin->topology;
    const struct zeta_intel_facts facts = {
        .platform = origin->platform,
        .topology = topology,
        .timestamp_hz = origin->oa_hz,
        .min_hz = origin->min_hz,
        .max_hz = origin->max_hz,
        .fastest_hz = origin->max_hz,
        .revision = origin->revision,
        .media_units = origin->platform->formats[ZETA_INTEL_OAM].i915 != 0 ? 1 : 0,
    };
    struct zeta_replay_device *device = zeta_replay_add_device(recording, problem);

    if (!device)
        return false;
    device->parent = UINT32_MAX;
    (void)snprintf(device->name, sizeof(device->name), "Intel %s 0x%04" PRIx32,
                   origin->platform->name, origin->pci_id);
    (void)snprintf(device->id, sizeof(device->id), "i915-%04" PRIx32, origin->pci_id);
    for (uint32_t i = 0; i < 16; i++)
        device->uuid[i] = (uint8_t)(uuid[i / 4] >> (8 * (i % 4)));
    device->vendor_id = 0x8086;
    device->device_id = origin->pci_id;
    device->revision = origin->revision;
    device->timer_hz = origin->oa_hz;
    device->metric_hz = origin->oa_hz;
    device->timestamp_valid_bits = recording->sets[0].clock.low_width;
    device->kernel_timestamp_valid_bits = 32;
    device->core_clock_mhz = origin->max_hz / 1000000;
    device->slices = topology->slices;
    device->subslices_per_slice = divide_up(topology->subslices, topology->slices);
    device->eus_per_subslice = divide_up(topology->eus, topology->subslices);
    device->threads_per_eu = origin->platform->threads_per_eu;
    device->simd_width = 8;
    return zeta_intel_symbols_list(&facts, &device->symbols, &device->symbol_count) ||
           zeta_replay_fail(problem, "there is no memory for its numbers");
}

/* The kind of unit that sets call by a name. */
static enum zeta_intel_unit_kind kind_of(const char *unit)
{
    if (strcmp(unit, "oam-sag") == 0)
        return ZETA_INTEL_OAM_SAG;
    return strncmp(unit, "oam", 3) == 0 ? ZETA_INTEL_OAM : ZETA_INTEL_OAG;
}

/*
 * Adds the recorded set if the data describe it, for reports as they are in the file. False with
 * a sentence, and nothing added.
 */
static bool add_named_set(struct zeta_replay_recording *recording, const struct origin *origin,
                          struct zeta_replay_problem *problem)
{
    struct zeta_replay_set *set = zeta_replay_add_set(recording, problem);

    if (!set)
        return false;
    if (zeta_replay_intel_set(&origin->intel, origin->set, origin->uuid, set, problem) &&
        zeta_replay_set_read(set, problem)) {
        if (origin->platform->formats[kind_of(set->unit)].i915 == origin->format_id &&
            set->record_bytes == origin->format->report_bytes)
            return true;
        (void)zeta_replay_fail(problem, "%.60s of %s is not for reports of format %" PRIu32,
                               set->name, origin->platform->name, origin->format_id);
    }
    free(set->text);
    *set = (struct zeta_replay_set){0};
    recording->set_count--;
    return false;
}

static bool add_raw_set(struct zeta_replay_recording *recording, const struct origin *origin,
                        struct zeta_replay_problem *problem)
{
    struct zeta_replay_set *set = zeta_replay_add_set(recording, problem);

    if (!set)
        return false;
    set->text =
        zeta_igt_set_text(origin->format, origin->igt, origin->set, origin->uuid, &set->text_bytes);
    if (!set->text)
        return zeta_replay_fail(problem, "there is no memory for its metric set");
    recording->igt_report_bytes = origin->format->report_bytes;
    return zeta_replay_set_read(set, problem);
}

/* The same reports, once for each set. */
static bool add_streams(struct zeta_replay_recording *recording,
                        struct zeta_replay_problem *problem)
{
    struct zeta_replay_device *device = &recording->devices[0];
    struct scan scan = {.correlations = 0};
    const size_t used = strlen(recording->note);
    uint64_t period_ns;

    if (!scan_file(recording, &scan, problem))
        return false;
    period_ns = find_period_ns(&scan, device->metric_hz);
    for (uint32_t i = 0; i < recording->set_count; i++) {
        struct zeta_replay_stream *stream = zeta_replay_add_stream(recording, problem);

        if (!stream)
            return false;
        stream->tiles = 1;
        stream->sets[0] = i;
        stream->period_ns = period_ns;
    }
    /* Long timestamps of reports have more bits than those of the correlations. */
    device->first_ticks = scan.correlations > 0 && recording->sets[0].clock.low_width <= 32
                              ? scan.first.cs_ticks * find_ratio(&scan, device->metric_hz)
                              : scan.first_time;
    (void)snprintf(recording->note + used, sizeof(recording->note) - used,
                   "%s%" PRIu64 " reports, %" PRIu32 " time correlations%s", used > 0 ? "; " : "",
                   scan.reports, scan.correlations,
                   scan.correlations < 2 ? ": times are those of the nominal frequency" : "");
    return true;
}

/* Identifies the GPU of the file. Missing data are no failure; the note reports them. */
static bool find_origin(struct zeta_replay_recording *recording, struct origin *origin,
                        const struct zeta_igt_record *topology, struct zeta_replay_problem *problem)
{
    struct zeta_replay_problem missing = {""};
    struct zeta_intel_platform *fallback = &origin->fallback;

    origin->igt = zeta_igt_platform_find(origin->pci_id);
    if (!origin->igt)
        return zeta_replay_fail(problem, "the PCI id 0x%04" PRIx32 " is of no known platform",
                                origin->pci_id);
    origin->format = zeta_igt_format_find(origin->format_id, origin->igt->version < 80);
    if (!origin->format)
        return zeta_replay_fail(
            problem, "its reports have format %" PRIu32 ", whose layout on %s is not known",
            origin->format_id, origin->igt->name);
    origin->is_described =
        zeta_replay_intel_open(recording->share, origin->pci_id, &origin->intel, &missing);
    origin->platform = origin->intel.platform;
    if (!origin->is_described) {
        /* What follows from the PCI id. Slices are as in the file, with the bits that their
         * subslices take in masks. */
        origin->platform = fallback;
        (void)snprintf(fallback->name, sizeof(fallback->name), "%s", origin->igt->name);
        fallback->graphics =
            origin->igt->version < 200 ? origin->igt->version * 10 : origin->igt->version;
        fallback->threads_per_eu = origin->igt->threads_per_eu;
        if (fallback->graphics < 1255)
            fallback->subslice_bits = fallback->graphics < 1100 ? 3 : 8;
    }
    if (!zeta_intel_topology_read(topology->body, topology->body_bytes, &origin->topology))
        return zeta_replay_fail(problem, "the topology at byte %" PRIu64 " is damaged",
                                topology->offset);
    zeta_intel_topology_split(&origin->topology, origin->platform->subslices_per_slice);
    if (!origin->is_described || !add_named_set(recording, origin, &missing))
        (void)snprintf(recording->note, sizeof(recording->note), "counters are shown raw only: %s",
                       missing.text);
    return true;
}

/* The next record, of that type and so many bytes at least. */
static bool take_record(struct zeta_igt_file *file, enum zeta_igt_type type, uint32_t least_bytes,
                        const char *what, struct zeta_igt_record *out_record,
                        struct zeta_replay_problem *problem)
{
    if (!zeta_igt_next(file, out_record))
        return zeta_replay_fail(problem, "it ends before the %s", what);
    return (out_record->type == type && out_record->body_bytes >= least_bytes) ||
           zeta_replay_fail(problem, "the %s is missing at byte %" PRIu64, what,
                            out_record->offset);
}

/* Reads the records before the data, which have an order, and identifies the GPU. */
static bool read_head(struct zeta_replay_recording *recording, struct zeta_igt_file *file,
                      struct origin *origin, struct zeta_replay_problem *problem)
{
    struct zeta_igt_record record;
    const unsigned char *body;

    if (!take_record(file, ZETA_IGT_VERSION, VERSION_BYTES, "version", &record, problem))
        return false;
    if (zeta_igt_get(record.body, 4) != 1)
        return zeta_replay_fail(problem,
                                "its format has version %" PRIu64 "; version 1 can be read",
                                zeta_igt_get(record.body, 4));

    if (!take_record(file, ZETA_IGT_DEVICE_INFO, DEVICE_INFO_BYTES, "description of the device",
                     &record, problem))
        return false;
    body = record.body;
    origin->oa_hz = zeta_igt_get(body, 8);
    origin->pci_id = (uint32_t)zeta_igt_get(body + 8, 4);
    origin->revision = (uint32_t)zeta_igt_get(body + 12, 4);
    origin->min_hz = (uint32_t)zeta_igt_get(body + 16, 4);
    origin->max_hz = (uint32_t)zeta_igt_get(body + 20, 4);
    origin->format_id = (uint32_t)zeta_igt_get(body + 32, 4);
    take_text(origin->set, body + 36, 256);
    take_text(origin->uuid, body + 292, 40);
    if (origin->oa_hz < 1000 || origin->oa_hz > 1000000000)
        return zeta_replay_fail(problem, "a clock of %" PRIu64 " Hz cannot be that of its reports",
                                origin->oa_hz);

    if (!take_record(file, ZETA_IGT_TOPOLOGY, 0, "topology", &record, problem))
        return false;
    recording->igt_data_offset = file->offset + file->used;
    return find_origin(recording, origin, &record, problem);
}

bool zeta_replay_load_igt(struct zeta_replay_recording *recording,
                          struct zeta_replay_problem *problem)
{
    struct origin *origin = calloc(1, sizeof(*origin));
    struct zeta_igt_file file;
    bool good;

    if (!origin)
        return zeta_replay_fail(problem, "there is no memory to read it");
    good = zeta_igt_open(&file, recording->path, 0, problem);
    if (good) {
        good = read_head(recording, &file, origin, problem);
        zeta_igt_close(&file);
    }
    good = good && add_raw_set(recording, origin, problem) &&
           add_device(recording, origin, problem) && add_streams(recording, problem);
    if (origin->is_described)
        zeta_replay_intel_close(&origin->intel);
    free(origin);
    return good;
}
