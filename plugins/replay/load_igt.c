/*
 * A file of the recorder of intel-gpu-tools as a recording: one device, one stream, one set with
 * the counters as they stand in the reports.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "igt.h"
#include "set_text.h"

#define VERSION_BYTES 8u
#define DEVICE_INFO_BYTES 336u
#define TOPOLOGY_BYTES 16u
#define CORRELATION_BYTES 16u

/** Valid bits of the time stamp of the command streamer. */
#define CS_BITS 36

/* What the file says of the device. */
struct device_info {
    uint64_t oa_hz;
    uint32_t pci_id, revision;
    uint32_t min_hz, max_hz;
    uint32_t format;
    char set[257];
    char uuid[41];
};

/* Counts of a topology. */
struct topology {
    uint32_t slices, subslices, eus;
    uint32_t slice_mask;
    uint64_t subslice_mask;
    uint32_t subslices_per_slice, eus_per_subslice; /**< most of any */
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
        return zeta_replay_say(problem, "it does not begin with a version");
    version = zeta_igt_get(record->body, 4);
    if (version != 1)
        return zeta_replay_say(problem, "its format has version %" PRIu64 "; version 1 can be read",
                               version);
    return true;
}

static bool take_device_info(const struct zeta_igt_record *record, struct device_info *info,
                             struct zeta_replay_problem *problem)
{
    const unsigned char *body = record->body;

    if (record->type != ZETA_IGT_DEVICE_INFO || record->body_bytes < DEVICE_INFO_BYTES)
        return zeta_replay_say(problem, "the description of the device is missing at byte %" PRIu64,
                               record->offset);
    info->oa_hz = zeta_igt_get(body, 8);
    info->pci_id = (uint32_t)zeta_igt_get(body + 8, 4);
    info->revision = (uint32_t)zeta_igt_get(body + 12, 4);
    info->min_hz = (uint32_t)zeta_igt_get(body + 16, 4);
    info->max_hz = (uint32_t)zeta_igt_get(body + 20, 4);
    info->format = (uint32_t)zeta_igt_get(body + 32, 4);
    memcpy(info->set, body + 36, 256);
    memcpy(info->uuid, body + 292, 40);
    if (info->oa_hz < 1000 || info->oa_hz > 1000000000)
        return zeta_replay_say(problem, "a clock of %" PRIu64 " Hz cannot be that of its reports",
                               info->oa_hz);
    return true;
}

static bool has_bit(const unsigned char *bytes, uint32_t bit)
{
    return (bytes[bit / 8] >> (bit % 8) & 1) != 0;
}

static uint32_t count_eus(const unsigned char *eus, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < most; i++)
        count += has_bit(eus, i) ? 1 : 0;
    return count;
}

/* The block of the kernel: where the masks lie, then the masks. */
static bool take_topology(const struct zeta_igt_record *record, uint32_t mask_stride,
                          struct topology *out, struct zeta_replay_problem *problem)
{
    uint32_t head[8] = {0}; /* flags, slices, subslices, EUs, then offsets and strides */
    const unsigned char *data = record->body + TOPOLOGY_BYTES;
    uint64_t needed;

    if (record->type != ZETA_IGT_TOPOLOGY || record->body_bytes < TOPOLOGY_BYTES)
        return zeta_replay_say(problem, "the topology is missing at byte %" PRIu64, record->offset);
    for (uint32_t i = 0; i < 8; i++)
        head[i] = (uint32_t)zeta_igt_get(record->body + 2 * i, 2);
    needed = (uint64_t)head[6] + (uint64_t)head[1] * head[2] * head[7];
    if ((uint64_t)head[4] + (uint64_t)head[1] * head[5] > needed)
        needed = (uint64_t)head[4] + (uint64_t)head[1] * head[5];
    if (head[1] == 0 || head[1] > 32 || head[2] > 64 || head[3] > 64 || head[5] * 8 < head[2] ||
        head[7] * 8 < head[3] || needed > record->body_bytes - TOPOLOGY_BYTES ||
        (head[1] + 7) / 8 > head[4])
        return zeta_replay_say(problem, "the topology at byte %" PRIu64 " is damaged",
                               record->offset);
    for (uint32_t s = 0; s < head[1]; s++) {
        uint32_t own = 0;

        if (!has_bit(data, s))
            continue;
        out->slices++;
        out->slice_mask |= 1u << s;
        for (uint32_t ss = 0; ss < head[2]; ss++) {
            const uint32_t bit = s * mask_stride + ss;
            uint32_t eus;

            if (!has_bit(data + head[4] + s * head[5], ss))
                continue;
            own++;
            if (bit < 64)
                out->subslice_mask |= UINT64_C(1) << bit;
            eus = count_eus(data + head[6] + (s * head[2] + ss) * head[7], head[3]);
            out->eus += eus;
            if (eus > out->eus_per_subslice)
                out->eus_per_subslice = eus;
        }
        out->subslices += own;
        if (own > out->subslices_per_slice)
            out->subslices_per_slice = own;
    }
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
 * switches of contexts add reports between. The middle of the first gaps tells which one.
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
 * Ticks of the unit for one of the command streamer. The file tells only the rate of the unit; that
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
                        const struct zeta_igt_platform *platform, const struct topology *topology,
                        struct zeta_replay_problem *problem)
{
    const struct {
        const char *name;
        uint64_t value;
    } symbols[] = {
        {"GpuTimestampFrequency", info->oa_hz},
        {"GpuMinFrequency", info->min_hz},
        {"GpuMaxFrequency", info->max_hz},
        {"EuCoresTotalCount", topology->eus},
        {"EuSlicesTotalCount", topology->slices},
        {"EuSubslicesTotalCount", topology->subslices},
        {"EuDualSubslicesTotalCount", topology->subslices},
        {"EuThreadsCount", platform->threads_per_eu},
        {"SliceMask", topology->slice_mask},
        {"SubsliceMask", topology->subslice_mask},
        {"DualSubsliceMask", topology->subslice_mask},
        {"SkuRevisionId", info->revision},
        {"QueryMode", 0},
    };

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        if (!zeta_replay_add_symbol(device, symbols[i].name, false, symbols[i].value, 0, problem))
            return false;
    }
    return true;
}

/* No two files of one machine differ here, and no other device has it. */
static void make_uuid(const struct device_info *info, uint8_t uuid[16])
{
    const uint32_t words[4] = {0x8086, info->pci_id, info->revision, 0x69677472};

    for (uint32_t i = 0; i < 16; i++)
        uuid[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

static bool add_device(struct zeta_replay_recording *recording, const struct device_info *info,
                       const struct zeta_igt_platform *platform, const struct topology *topology,
                       struct zeta_replay_problem *problem)
{
    struct zeta_replay_device *device = zeta_replay_add_device(recording, problem);

    if (!device)
        return false;
    device->parent = UINT32_MAX;
    (void)snprintf(device->name, sizeof(device->name), "Intel %s 0x%04" PRIx32, platform->name,
                   info->pci_id);
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
    device->subslices_per_slice = topology->subslices_per_slice;
    device->eus_per_subslice = topology->eus_per_subslice;
    device->threads_per_eu = platform->threads_per_eu;
    device->simd_width = 8;
    return add_symbols(device, info, platform, topology, problem);
}

static bool add_set(struct zeta_replay_recording *recording, const struct device_info *info,
                    const struct zeta_igt_format *format, const struct zeta_igt_platform *platform,
                    struct zeta_replay_problem *problem)
{
    struct zeta_replay_set *set = zeta_replay_add_set(recording, problem);

    if (!set)
        return false;
    set->text = zeta_igt_set_text(format, platform, info->set, info->uuid, &set->text_bytes);
    if (!set->text)
        return zeta_replay_say(problem, "there is no memory for its metric set");
    recording->igt.report_bytes = format->report_bytes;
    return zeta_replay_set_read(set, problem);
}

static bool add_stream(struct zeta_replay_recording *recording, struct zeta_replay_problem *problem)
{
    struct zeta_replay_source *source = zeta_replay_add_source(recording, problem);
    struct zeta_replay_device *device = &recording->devices[0];
    struct scan scan = {.correlations = 0};

    if (!source || !scan_file(recording, &scan, problem))
        return false;
    source->tiles = 1;
    source->period_ns = find_period_ns(&scan, device->metric_hz);
    /* Reports with a long time stamp tell more of it than the correlations do. */
    device->first_ticks = scan.correlations > 0 && recording->sets[0].clock.low_width <= 32
                              ? scan.first.cs_ticks * find_ratio(&scan, device->metric_hz)
                              : scan.first_time;
    (void)snprintf(recording->note, sizeof(recording->note),
                   "%" PRIu64 " reports, %" PRIu32 " time correlations%s", scan.reports,
                   scan.correlations,
                   scan.correlations < 2 ? ": times are those of the nominal frequency" : "");
    return true;
}

/* The records in front of the data, which stand in this order. */
static bool read_head(struct zeta_igt_file *file, struct device_info *info,
                      struct zeta_igt_platform *platform, struct topology *topology,
                      struct zeta_replay_problem *problem)
{
    struct zeta_igt_record record;

    if (!zeta_igt_next(file, &record) || !take_version(&record, problem))
        return false;
    if (!zeta_igt_next(file, &record))
        return zeta_replay_say(problem, "it ends before the description of the device");
    if (!take_device_info(&record, info, problem))
        return false;
    if (!zeta_igt_platform_find(info->pci_id, platform))
        return zeta_replay_say(problem, "the PCI id 0x%04" PRIx32 " is of no known platform",
                               info->pci_id);
    if (!zeta_igt_next(file, &record))
        return zeta_replay_say(problem, "it ends before the topology");
    return take_topology(&record, platform->subslice_stride, topology, problem);
}

bool zeta_replay_load_igt(struct zeta_replay_recording *recording,
                          struct zeta_replay_problem *problem)
{
    struct zeta_igt_platform platform = {0};
    const struct zeta_igt_format *format;
    struct device_info info = {0};
    struct topology topology = {0};
    struct zeta_igt_file file;
    bool good;

    if (!zeta_igt_open(&file, recording->path, 0, problem))
        return false;
    (void)zeta_replay_say(problem, "it ends within its first record");
    good = read_head(&file, &info, &platform, &topology, problem);
    recording->igt.data_offset = file.offset + file.used;
    zeta_igt_close(&file);
    if (!good)
        return false;
    format = zeta_igt_format_find(info.format, platform.version < 80);
    if (!format)
        return zeta_replay_say(
            problem, "its reports have format %" PRIu32 ", whose layout on %s is not known",
            info.format, platform.name);
    return add_set(recording, &info, format, &platform, problem) &&
           add_device(recording, &info, &platform, &topology, problem) &&
           add_stream(recording, problem);
}
