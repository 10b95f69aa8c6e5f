#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs ------------------------------------------------------------------------------- */

static const char *const counter_names[ZETA_VGPU_COUNTER_COUNT] = {
    [ZETA_VGPU_GPU_CORE_CLOCKS] = "GpuCoreClocks",
    [ZETA_VGPU_BUSY_CLOCKS] = "GpuBusyClocks",
    [ZETA_VGPU_EU_ACTIVE_CLOCKS] = "EuActiveClocks",
    [ZETA_VGPU_EU_STALL_CLOCKS] = "EuStallClocks",
    [ZETA_VGPU_THREAD_CLOCKS] = "ThreadClocks",
    [ZETA_VGPU_INST_RETIRED] = "InstRetired",
    [ZETA_VGPU_INST_INT] = "InstInt",
    [ZETA_VGPU_INST_FP32] = "InstFp32",
    [ZETA_VGPU_INST_FP64] = "InstFp64",
    [ZETA_VGPU_FP_OPS] = "FpOps",
    [ZETA_VGPU_INST_BRANCH] = "InstBranch",
    [ZETA_VGPU_INST_BRANCH_TAKEN] = "InstBranchTaken",
    [ZETA_VGPU_INST_CALL] = "InstCall",
    [ZETA_VGPU_INST_MEM] = "InstMem",
    [ZETA_VGPU_INST_ATOMIC] = "InstAtomic",
    [ZETA_VGPU_INST_MATH] = "InstMath",
    [ZETA_VGPU_BARRIER_MESSAGES] = "BarrierMessages",
    [ZETA_VGPU_BARRIER_STALL_CYCLES] = "BarrierStallCycles",
    [ZETA_VGPU_GLOBAL_READ_BYTES] = "GlobalReadBytes",
    [ZETA_VGPU_GLOBAL_WRITE_BYTES] = "GlobalWriteBytes",
    [ZETA_VGPU_PRIVATE_BYTES] = "PrivateBytes",
    [ZETA_VGPU_SLM_READ_BYTES] = "SlmReadBytes",
    [ZETA_VGPU_SLM_WRITE_BYTES] = "SlmWriteBytes",
    [ZETA_VGPU_L1_HITS] = "L1Hits",
    [ZETA_VGPU_L1_MISSES] = "L1Misses",
    [ZETA_VGPU_L3_HITS] = "L3Hits",
    [ZETA_VGPU_L3_MISSES] = "L3Misses",
    [ZETA_VGPU_GPU_MEMORY_READ_BYTES] = "GpuMemoryReadBytes",
    [ZETA_VGPU_GPU_MEMORY_WRITE_BYTES] = "GpuMemoryWriteBytes",
    [ZETA_VGPU_TLB_MISSES] = "TlbMisses",
    [ZETA_VGPU_INST_CACHE_MISSES] = "InstCacheMisses",
    [ZETA_VGPU_COPY_BYTES] = "CopyBytes",
    [ZETA_VGPU_THREADS_DISPATCHED] = "ThreadsDispatched",
    [ZETA_VGPU_GROUPS_DISPATCHED] = "GroupsDispatched",
    [ZETA_VGPU_KERNELS_LAUNCHED] = "KernelsLaunched",
    [ZETA_VGPU_DEBUG_HALT_CYCLES] = "DebugHaltCycles",
};

/* A program entry while it is read. */
struct parse {
    const struct zeta_vgpu_topology *topology;
    uint32_t tiles;
    const char *text; /* the whole selection */
    struct zeta_vgpu_message *message;
};

static bool refuse(const struct parse *parse, const char *reason)
{
    snprintf(parse->message->text, sizeof(parse->message->text), "selection '%.100s': %s",
             parse->text, reason);
    return false;
}

/* Moves *text behind a word that it begins with. */
static bool skip(const char **text, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool read_number(const struct parse *parse, const char *text, uint32_t least,
                        uint32_t *out_value)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || value < least ||
        value > UINT32_MAX)
        return refuse(parse, "a number of 32 bits is expected at its end");
    *out_value = (uint32_t)value;
    return true;
}

/* "slice=1", "subslice=2" or "eu=3": which rows of which tile, or which EU. */
static bool read_place(const struct parse *parse, const char *place,
                       struct zeta_vgpu_selection *out)
{
    const struct zeta_vgpu_topology *topology = parse->topology;
    const uint32_t per_slice = topology->subslices_per_slice;
    const uint32_t subslices = topology->slices * per_slice;
    const uint32_t eus = subslices * topology->eus_per_subslice;
    uint32_t index;

    if (skip(&place, "eu=")) {
        if (!read_number(parse, place, 0, &index))
            return false;
        if (index >= eus * parse->tiles)
            return refuse(parse, "the device has fewer EUs");
        if (!zeta_vgpu_counter_has_eus(out->counter))
            return refuse(parse, "this counter is not known of single EUs");
        out->kind = ZETA_VGPU_SELECT_EU;
        out->tile = index / eus;
        out->eu = index % eus;
        return true;
    }
    if (skip(&place, "subslice="))
        out->row_count = 1;
    else if (skip(&place, "slice="))
        out->row_count = per_slice;
    else
        return refuse(parse, "write slice=<n>, subslice=<n> or eu=<n> behind '@'");
    if (!read_number(parse, place, 0, &index))
        return false;
    if (index >= subslices * parse->tiles / out->row_count)
        return refuse(parse, out->row_count == 1 ? "the device has fewer subslices"
                                                 : "the device has fewer slices");
    out->tile = index * out->row_count / subslices;
    out->first_row = index * out->row_count % subslices;
    return true;
}

static bool read_counter(const struct parse *parse, const char *text,
                         struct zeta_vgpu_selection *out)
{
    const char *place = strchr(text, '@');
    const size_t length = place ? (size_t)(place - text) : strlen(text);

    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
        if (strlen(counter_names[i]) != length || memcmp(counter_names[i], text, length) != 0)
            continue;
        out->kind = ZETA_VGPU_SELECT_COUNTER;
        out->counter = i;
        return !place || read_place(parse, place + 1, out);
    }
    return refuse(parse, "there is no counter of that name");
}

/* "written@work": one of the counts of a source of events. */
static bool read_events(const struct parse *parse, const char *text,
                        struct zeta_vgpu_selection *out)
{
    static const char *const names[ZETA_VGPU_SOURCES][ZETA_VGPU_EVENTS_COUNT] = {
        [ZETA_VGPU_SOURCE_WORK] = {"written@work", "lost@work", "waiting@work", "capacity@work"},
        [ZETA_VGPU_SOURCE_DEVICE] = {"written@device", "lost@device", "waiting@device",
                                     "capacity@device"}};

    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES * ZETA_VGPU_EVENTS_COUNT; i++) {
        out->value = i / ZETA_VGPU_EVENTS_COUNT;
        out->counter = i % ZETA_VGPU_EVENTS_COUNT;
        if (strcmp(names[out->value][out->counter], text) == 0) {
            out->kind = ZETA_VGPU_SELECT_EVENTS;
            return true;
        }
    }
    return refuse(parse, "write written, lost, waiting or capacity behind 'events:', then @work "
                         "or @device");
}

static bool read_entry(const struct parse *parse, struct zeta_vgpu_program *out_program)
{
    const char *text = parse->text;
    struct zeta_vgpu_selection *out;
    bool good;

    if (strcmp(text, "switches") == 0) {
        out_program->switches = true;
        return true;
    }
    if ((text[0] != 'B' && text[0] != 'C') || text[1] < '0' || text[1] > '7' || text[2] != '=')
        return refuse(parse, "it begins with B0= to B7= or C0= to C7=");
    out = &out_program->selections[text[1] - '0' + (text[0] == 'C' ? 8 : 0)];
    if (out->kind != ZETA_VGPU_SELECT_NOTHING)
        return refuse(parse, "this counter was selected before");
    text += 3;
    if (skip(&text, "counter:")) {
        good = read_counter(parse, text, out);
    } else if (skip(&text, "events:")) {
        good = read_events(parse, text, out);
    } else if (strcmp(text, "reports") == 0) {
        out->kind = ZETA_VGPU_SELECT_REPORTS;
        good = true;
    } else if (skip(&text, "ticks/")) {
        out->kind = ZETA_VGPU_SELECT_TICKS;
        good = read_number(parse, text, 1, &out->value);
    } else if (skip(&text, "constant:")) {
        out->kind = ZETA_VGPU_SELECT_CONSTANT;
        good = read_number(parse, text, 0, &out->value);
    } else {
        good = refuse(parse, "counter:<Name>, ticks/<n>, reports, constant:<n> or "
                             "events:<count>@<source> is expected");
    }
    out_program->events |= out->kind == ZETA_VGPU_SELECT_EVENTS;
    out_program->eus |= out->kind == ZETA_VGPU_SELECT_EU;
    return good;
}

bool zeta_vgpu_program_parse(const struct zeta_plugin_array *entries,
                             const struct zeta_vgpu_topology *topology, uint32_t tiles,
                             struct zeta_vgpu_program *out_program,
                             struct zeta_vgpu_message *out_message)
{
    char text[160];
    const struct parse parse = {topology, tiles, text, out_message};
    const char *at = entries->data;

    memset(out_program, 0, sizeof(*out_program));
    for (uint64_t i = 0; i < entries->count; i++, at += entries->stride) {
        struct zeta_plugin_program_entry entry;

        memcpy(&entry, at, sizeof(entry));
        if (entry.select.size == 0)
            return zeta_vgpu_reject(
                out_message, "the virtual GPU has no register 0x%x; its programs are selections",
                entry.address);
        snprintf(text, sizeof(text), "%.*s",
                 entry.select.size < sizeof(text) ? (int)entry.select.size : (int)sizeof(text) - 1,
                 entry.select.data);
        if (!read_entry(&parse, out_program))
            return false;
    }
    return true;
}

/* ---- reports -------------------------------------------------------------------------------- */

#define COUNTERS_40 32u /* A0..A31 have 40 bits, the others 32 */

static void put_u32(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t selected(const struct zeta_vgpu_sample *sample,
                         const struct zeta_vgpu_selection *selection, const uint64_t *sums)
{
    uint64_t sum = 0;

    switch (selection->kind) {
    case ZETA_VGPU_SELECT_COUNTER:
        if (selection->row_count == 0)
            return sums[selection->counter];
        for (uint32_t i = 0; i < selection->row_count; i++)
            sum += sample->totals[selection->tile * sample->rows_per_tile + selection->first_row +
                                  i][selection->counter];
        return sum;
    case ZETA_VGPU_SELECT_TICKS:
        return sample->ticks / selection->value;
    case ZETA_VGPU_SELECT_REPORTS:
        return sample->number;
    case ZETA_VGPU_SELECT_CONSTANT:
        return sample->number * selection->value;
    case ZETA_VGPU_SELECT_EVENTS:
        return sample->events ? sample->events[selection->value][selection->counter] : 0;
    case ZETA_VGPU_SELECT_EU: /* by place, see below */
    case ZETA_VGPU_SELECT_NOTHING:
        break;
    }
    return 0;
}

void zeta_vgpu_report_values(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint64_t out_values[ZETA_VGPU_REPORT_WORDS])
{
    uint64_t *sums = out_values + ZETA_VGPU_REPORT_COUNTERS;

    memset(out_values, 0, ZETA_VGPU_REPORT_WORDS * sizeof(out_values[0]));
    for (uint32_t row = 0; row < sample->tiles * sample->rows_per_tile; row++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            sums[i] += sample->totals[row][i];
    }
    sums[ZETA_VGPU_GPU_CORE_CLOCKS] = sample->core_clocks;
    sums[ZETA_VGPU_BUSY_CLOCKS] = sample->core_clocks;

    out_values[0] = sample->report_id;
    out_values[1] = sample->ticks;
    out_values[2] = sample->context;
    out_values[3] = sums[ZETA_VGPU_GPU_CORE_CLOCKS];
    for (uint32_t i = 0; i < ZETA_VGPU_SELECTIONS; i++)
        out_values[ZETA_VGPU_REPORT_SELECTED + i] =
            program->selections[i].kind == ZETA_VGPU_SELECT_EU && sample->eus
                ? sample->eus[i]
                : selected(sample, &program->selections[i], sums);
}

void zeta_vgpu_report_encode(const struct zeta_vgpu_sample *sample,
                             const struct zeta_vgpu_program *program,
                             uint8_t out_report[ZETA_VGPU_REPORT_BYTES])
{
    uint64_t values[ZETA_VGPU_REPORT_WORDS];

    zeta_vgpu_report_values(sample, program, values);
    for (uint32_t i = 0; i < ZETA_VGPU_REPORT_WORDS; i++)
        put_u32(out_report + 4 * i, values[i]);
    out_report[3] |= (uint8_t)(values[1] >> 32 << 6);
    for (uint32_t i = 0; i < COUNTERS_40; i++)
        out_report[160 + i] = (uint8_t)(values[ZETA_VGPU_REPORT_COUNTERS + i] >> 32);
}
