/*
 * A file of the recorder of intel-gpu-tools as a recording: one device, one stream, and two sets:
 * the recorded one, where the data of the plugin for Intel GPUs describe it, and the counters as
 * they stand in the reports.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/igt/igt.h"
#include "plugins/replay/igt/intel_data.h"
#include "plugins/replay/recording/set_text.h"
#include <zeta/intel_gpu.h>

#define VERSION_BYTES 8u
#define DEVICE_INFO_BYTES 336u
#define CORRELATION_BYTES 16u

/** Valid bits of the time stamp of the command streamer. */
#define CS_BITS 36

/* The device as the file describes it. */
struct device_info {
    uint64_t oa_hz;
    uint32_t pci_id, revision;
    uint32_t min_hz, max_hz;
    uint32_t format;
    char set[257]; /**< name and uuid of the set: plain, whatever the file says */
    char uuid[41];
};

/* The records before the data. */
struct head {
    struct device_info info;
    unsigned char topology[65536]; /**< the kernel's block: as much as a record can hold */
    size_t topology_bytes;
    uint64_t topology_offset;
};

/* What the file is of. */
struct origin {
    const struct zeta_igt_platform *igt;
    const struct zeta_igt_format *format;
    bool is_described; /**< by the data of the plugin for Intel GPUs */
    struct zeta_replay_intel intel;
    struct zeta_intel_platform fallback; /**< without them: what follows from the PCI id */
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

static bool take_version(const struct zeta_igt_record *record, struct zeta_replay_problem *problem)
{
    uint64_t version;

    if (record->type != ZETA_IGT_VERSION || record->body_bytes < VERSION_BYTES)
        return zeta_replay_fail(problem, "it does not begin with a version");
    version = zeta_igt_get(record->body, 4);
    if (version != 1)
        return zeta_replay_fail(
            problem, "its format has version %" PRIu64 "; version 1 can be read", version);
    return true;
}

/* Takes a text of the file, in which what is no letter, digit, '-' or '_' becomes '_'. */
static void take_text(char *text, const unsigned char *bytes, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (size_t i = 0; i < size && bytes[i]; i++)
        text[i] = strchr(plain, bytes[i]) ? (char)bytes[i] : '_';
}

static bool take_device_info(const struct zeta_igt_record *record, struct device_info *info,
                             struct zeta_replay_problem *problem)
{
    const unsigned char *body = record->body;

    if (record->type != ZETA_IGT_DEVICE_INFO || record->body_bytes < DEVICE_INFO_BYTES)
        return zeta_replay_fail(
            problem, "the description of the device is missing at byte %" PRIu64, record->offset);
    info->oa_hz = zeta_igt_get(body, 8);
    info->pci_id = (uint32_t)zeta_igt_get(body + 8, 4);
    info->revision = (uint32_t)zeta_igt_get(body + 12, 4);
    info->min_hz = (uint32_t)zeta_igt_get(body + 16, 4);
    info->max_hz = (uint32_t)zeta_igt_get(body + 20, 4);
    info->format = (uint32_t)zeta_igt_get(body + 32, 4);
    take_text(info->set, body + 36, 256);
    take_text(info->uuid, body + 292, 40);
    if (info->oa_hz < 1000 || info->oa_hz > 1000000000)
        return zeta_replay_fail(problem, "a clock of %" PRIu64 " Hz cannot be that of its reports",
                                info->oa_hz);
    return true;
}

static bool take_topology(const struct zeta_igt_record *record, struct head *head,
                          struct zeta_replay_problem *problem)
{
    if (record->type != ZETA_IGT_TOPOLOGY)
        return zeta_replay_fail(problem, "the topology is missing at byte %" PRIu64,
                                record->offset);
    memcpy(head->topology, record->body, record->body_bytes);
    head->topology_bytes = record->body_bytes;
    head->topology_offset = record->offset;
    return true;
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

    if (!zeta_igt_open(&file, recording->path, recording->igt.data_offset, problem))
        return false;
    while (zeta_igt_next(&file, &record)) {
        if (record.type == ZETA_IGT_CORRELATION && record.body_bytes >= CORRELATION_BYTES)
            take_correlation(scan, record.body);
        else if (record.type == ZETA_IGT_SAMPLE && record.body_bytes == recording->igt.report_bytes)
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

static bool add_symbols(struct zeta_replay_device *device, const struct device_info *info,
                        const struct origin *origin, struct zeta_replay_problem *problem)
{
    const struct zeta_intel_facts facts = {
        .platform = origin->platform,
        .topology = &origin->topology,
        .timestamp_hz = info->oa_hz,
        .min_hz = info->min_hz,
        .max_hz = info->max_hz,
        .fastest_hz = info->max_hz,
        .revision = info->revision,
        .media_units = origin->platform->formats[ZETA_INTEL_OAM].i915 != 0 ? 1 : 0,
    };
    struct zeta_plugin_symbol *symbols;
    uint32_t count;
    bool good = true;

    if (!zeta_intel_symbols_list(&facts, &symbols, &count))
        return zeta_replay_fail(problem, "there is no memory for its numbers");
    for (uint32_t i = 0; good && i < count; i++)
        good =
            zeta_replay_add_symbol(device, symbols[i].name.data, false, symbols[i].u64, 0, problem);
    free(symbols);
    return good;
}

/* No two files of one machine differ here, and no other device has it. */
static void make_uuid(const struct device_info *info, uint8_t uuid[16])
{
    const uint32_t words[4] = {0x8086, info->pci_id, info->revision, 0x69677472};

    for (uint32_t i = 0; i < 16; i++)
        uuid[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

static uint32_t divide_up(uint32_t value, uint32_t by)
{
    return by == 0 ? 0 : (value + by - 1) / by;
}

static bool add_device(struct zeta_replay_recording *recording, const struct device_info *info,
                       const struct origin *origin, struct zeta_replay_problem *problem)
{
    const struct zeta_intel_topology *topology = &origin->topology;
    struct zeta_replay_device *device = zeta_replay_add_device(recording, problem);

    if (!device)
        return false;
    device->parent = UINT32_MAX;
    (void)snprintf(device->name, sizeof(device->name), "Intel %s 0x%04" PRIx32,
                   origin->platform->name, info->pci_id);
    (void)snprintf(device->id, sizeof(device->id), "i915-%04" PRIx32, info->pci_id);
    make_uuid(info, device->uuid);
    device->vendor_id = 0x8086;
    device->device_id = info->pci_id;
    device->revision = info->revision;
    device->timer_hz = info->oa_hz;
    device->metric_hz = info->oa_hz;
    device->timestamp_valid_bits = recording->sets[0].clock.low_width;
    device->kernel_timestamp_valid_bits = 32;
    device->core_clock_mhz = info->max_hz / 1000000;
    device->slices = topology->slices;
    device->subslices_per_slice = divide_up(topology->subslices, topology->slices);
    device->eus_per_subslice = divide_up(topology->eus, topology->subslices);
    device->threads_per_eu = origin->platform->threads_per_eu;
    device->simd_width = 8;
    return add_symbols(device, info, origin, problem);
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
static bool add_named_set(struct zeta_replay_recording *recording, const struct device_info *info,
                          const struct origin *origin, struct zeta_replay_problem *problem)
{
    struct zeta_replay_set *set = zeta_replay_add_set(recording, problem);

    if (!set)
        return false;
    if (zeta_replay_intel_set(&origin->intel, info->set, info->uuid, set, problem) &&
        zeta_replay_set_read(set, problem)) {
        if (origin->platform->formats[kind_of(set->unit)].i915 == info->format &&
            set->record_bytes == origin->format->report_bytes)
            return true;
        (void)zeta_replay_fail(problem, "%.60s of %s is not for reports of format %" PRIu32,
                               set->name, origin->platform->name, info->format);
    }
    free(set->text);
    *set = (struct zeta_replay_set){0};
    recording->set_count--;
    return false;
}

static bool add_raw_set(struct zeta_replay_recording *recording, const struct device_info *info,
                        const struct origin *origin, struct zeta_replay_problem *problem)
{
    struct zeta_replay_set *set = zeta_replay_add_set(recording, problem);

    if (!set)
        return false;
    set->text =
        zeta_igt_set_text(origin->format, origin->igt, info->set, info->uuid, &set->text_bytes);
    if (!set->text)
        return zeta_replay_fail(problem, "there is no memory for its metric set");
    recording->igt.report_bytes = origin->format->report_bytes;
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

/* The records before the data, in their order in the file. */
static bool read_head(struct zeta_igt_file *file, struct head *head,
                      struct zeta_replay_problem *problem)
{
    struct zeta_igt_record record;

    if (!zeta_igt_next(file, &record) || !take_version(&record, problem))
        return false;
    if (!zeta_igt_next(file, &record))
        return zeta_replay_fail(problem, "it ends before the description of the device");
    if (!take_device_info(&record, &head->info, problem))
        return false;
    if (!zeta_igt_next(file, &record))
        return zeta_replay_fail(problem, "it ends before the topology");
    return take_topology(&record, head, problem);
}

/*
 * What follows from the PCI id without the data. Slices are as in the file, with the bits that
 * their subslices take in masks.
 */
static void describe_by_id(struct origin *origin)
{
    struct zeta_intel_platform *platform = &origin->fallback;

    (void)snprintf(platform->name, sizeof(platform->name), "%s", origin->igt->name);
    platform->graphics =
        origin->igt->version < 200 ? origin->igt->version * 10 : origin->igt->version;
    platform->threads_per_eu = origin->igt->threads_per_eu;
    if (platform->graphics < 1255)
        platform->subslice_bits = platform->graphics < 1100 ? 3 : 8;
    origin->platform = platform;
}

/* Identifies the GPU of the file. Missing data are no failure; the note reports them. */
static bool find_origin(struct zeta_replay_recording *recording, const struct head *head,
                        struct origin *origin, struct zeta_replay_problem *problem)
{
    const struct device_info *info = &head->info;
    struct zeta_replay_problem missing = {""};

    origin->igt = zeta_igt_platform_find(info->pci_id);
    if (!origin->igt) {
        (void)zeta_replay_fail(problem, "the PCI id 0x%04" PRIx32 " is of no known platform",
                               info->pci_id);
        return false;
    }
    origin->format = zeta_igt_format_find(info->format, origin->igt->version < 80);
    if (!origin->format) {
        (void)zeta_replay_fail(
            problem, "its reports have format %" PRIu32 ", whose layout on %s is not known",
            info->format, origin->igt->name);
        return false;
    }
    origin->is_described =
        zeta_replay_intel_open(recording->share, info->pci_id, &origin->intel, &missing);
    if (origin->is_described)
        origin->platform = origin->intel.platform;
    else
        describe_by_id(origin);
    if (!zeta_intel_topology_read(head->topology, head->topology_bytes, &origin->topology)) {
        (void)zeta_replay_fail(problem, "the topology at byte %" PRIu64 " is damaged",
                               head->topology_offset);
        return false;
    }
    zeta_intel_topology_split(&origin->topology, origin->platform->subslices_per_slice);
    if (!origin->is_described || !add_named_set(recording, info, origin, &missing))
        (void)snprintf(recording->note, sizeof(recording->note), "counters are shown raw only: %s",
                       missing.text);
    return true;
}

static bool load(struct zeta_replay_recording *recording, const struct head *head,
                 struct origin *origin, struct zeta_replay_problem *problem)
{
    return find_origin(recording, head, origin, problem) &&
           add_raw_set(recording, &head->info, origin, problem) &&
           add_device(recording, &head->info, origin, problem) && add_streams(recording, problem);
}

bool zeta_replay_load_igt(struct zeta_replay_recording *recording,
                          struct zeta_replay_problem *problem)
{
    struct head *head = calloc(1, sizeof(*head));
    struct origin origin = {.is_described = false};
    struct zeta_igt_file file;
    bool good;

    if (!head)
        return zeta_replay_fail(problem, "there is no memory to read it");
    good = zeta_igt_open(&file, recording->path, 0, problem);
    if (good) {
        (void)zeta_replay_fail(problem, "it ends within its first record");
        good = read_head(&file, head, problem);
        recording->igt.data_offset = file.offset + file.used;
        zeta_igt_close(&file);
    }
    good = good && load(recording, head, &origin, problem);
    if (origin.is_described)
        zeta_replay_intel_close(&origin.intel);
    free(head);
    return good;
}
