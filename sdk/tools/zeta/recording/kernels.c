/* Work of the device in time, and what the device did while one kernel ran. */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/recording/recording.h"

void zeta_report_runs_add(struct zeta_report_runs *runs, const char *name, const char *lane,
                          int64_t begin_ns, int64_t end_ns, bool is_event)
{
    struct zeta_report_run run = {.begin_ns = begin_ns, .end_ns = end_ns, .is_event = is_event};

    if (runs->count == ZETA_REPORT_MAX_RUNS) {
        runs->left_out++;
        return;
    }
    if (run.end_ns < run.begin_ns)
        run.end_ns = run.begin_ns;
    if (runs->count == runs->room) {
        runs->room = runs->room ? 2 * runs->room : 1024;
        runs->runs = zeta_reallocate(runs->runs, runs->room, sizeof(*runs->runs));
    }
    (void)zeta_name_table_get(&runs->names, name, &run.name);
    (void)zeta_name_table_get(&runs->lanes, lane, &run.lane);
    runs->runs[runs->count++] = run;
    runs->has_events = runs->has_events || is_event;
}

void zeta_report_runs_name_lane(struct zeta_report_runs *runs, const char *lane, const char *title)
{
    uint32_t number = 0;

    (void)zeta_name_table_get(&runs->lanes, lane, &number);
    while (number >= runs->lane_title_count) {
        runs->lane_titles =
            zeta_reallocate(runs->lane_titles, runs->lane_title_count + 1, sizeof(char *));
        runs->lane_titles[runs->lane_title_count++] = NULL;
    }
    if (!runs->lane_titles[number])
        runs->lane_titles[number] = zeta_format("%s", title);
}

static int by_begin(const void *left, const void *right)
{
    const struct zeta_report_run *a = left, *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int by_time(const void *left, const void *right)
{
    const struct zeta_report_segment *a = left, *b = right;

    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

void zeta_report_runs_sort(struct zeta_report_runs *runs)
{
    uint64_t name_sum = 0; /* of the runs under way: of a single one its name */
    uint32_t edges = 0, under_way = 0, kept = 0;

    for (uint32_t i = 0; i < runs->count; i++) {
        if (runs->runs[i].is_event || !runs->has_events)
            runs->runs[kept++] = runs->runs[i];
    }
    runs->count = kept;
    if (runs->count == 0)
        return;
    qsort(runs->runs, runs->count, sizeof(*runs->runs), by_begin);
    runs->segments = zeta_allocate(2 * (size_t)runs->count, sizeof(*runs->segments));
    /* First the edges of all runs that last some time, then in their place what lies between. */
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct zeta_report_run *run = &runs->runs[i];

        if (run->end_ns == run->begin_ns)
            continue;
        runs->segments[edges++] = (struct zeta_report_segment){run->begin_ns, run->name, 1};
        runs->segments[edges++] = (struct zeta_report_segment){run->end_ns, run->name, -1};
    }
    qsort(runs->segments, edges, sizeof(*runs->segments), by_time);
    for (uint32_t i = 0; i < edges; i++) {
        const struct zeta_report_segment edge = runs->segments[i];
        struct zeta_report_segment *segment = &runs->segments[runs->segment_count];

        under_way += (uint32_t)edge.change;
        name_sum += edge.change > 0 ? edge.name : -(uint64_t)edge.name;
        if (i + 1 < edges && runs->segments[i + 1].begin_ns == edge.begin_ns)
            continue;
        *segment =
            (struct zeta_report_segment){.begin_ns = edge.begin_ns, .name = ZETA_REPORT_SHARED};
        if (under_way == 0)
            segment->name = ZETA_REPORT_IDLE;
        else if (under_way == 1)
            segment->name = (uint32_t)name_sum;
        runs->segment_count++;
    }
}

uint32_t zeta_report_runs_find(const struct zeta_report_runs *runs, int64_t begin_ns,
                               int64_t end_ns)
{
    uint32_t low = 0, high = runs->segment_count;

    /* The last segment that begins at or before the interval. */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (runs->segments[middle].begin_ns <= begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == runs->segment_count || runs->segments[low].begin_ns >= end_ns)
        return low > 0 ? runs->segments[low - 1].name : ZETA_REPORT_IDLE;
    /* It goes on into the next one, and of two neighbours one at least is not idle. */
    return ZETA_REPORT_SHARED;
}

void zeta_report_runs_finish(struct zeta_report_runs *runs)
{
    zeta_name_table_finish(&runs->names);
    zeta_name_table_finish(&runs->lanes);
    for (uint32_t i = 0; i < runs->lane_title_count; i++)
        free(runs->lane_titles[i]);
    free(runs->lane_titles);
    free(runs->runs);
    free(runs->segments);
    *runs = (struct zeta_report_runs){0};
}

void zeta_report_kernels_init(struct zeta_report *report)
{
    const struct zeta_report_runs *runs = &report->runs;

    report->kernels = zeta_allocate(runs->names.count, sizeof(*report->kernels));
    report->kernel_count = runs->names.count;
    for (uint32_t i = 0; i < report->kernel_count; i++)
        report->kernels[i] = (struct zeta_report_kernel){.name = i, .min_ns = UINT64_MAX};
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct zeta_report_run *run = &runs->runs[i];
        struct zeta_report_kernel *kernel = &report->kernels[run->name];
        const uint64_t time_ns = (uint64_t)(run->end_ns - run->begin_ns);

        if (!zeta_report_in_range(report, run->begin_ns, run->end_ns))
            continue;
        kernel->count++;
        kernel->total_ns += time_ns;
        if (time_ns < kernel->min_ns)
            kernel->min_ns = time_ns;
        if (time_ns > kernel->max_ns)
            kernel->max_ns = time_ns;
    }
}

static struct zeta_sampled_group *make_group(struct zeta_report *report,
                                             struct zeta_report_kernel *kernel, uint32_t index)
{
    const struct zeta_sampled_group *all = &report->streams[index]->group;
    const struct zeta_metric_sum_desc rows = {.struct_size = sizeof(rows), .like = all->sum};
    struct zeta_sampled_group *group;

    if (!kernel->groups) {
        if (report->kernels_with_groups++ >= ZETA_REPORT_MAX_KERNELS)
            return NULL;
        kernel->groups = zeta_allocate(report->stream_count, sizeof(struct zeta_sampled_group *));
    }
    group = zeta_allocate(1, sizeof(*group));
    zeta_sampled_group_init(group, all->entry, all->tile_count);
    zeta_need_memory(zetaMetricSumCreate(&rows, &group->sum) == ZE_RESULT_SUCCESS);
    group->period_ns = all->period_ns;
    /* Between runs there are gaps, which are no losses; those are the stream's. */
    group->end_index = -1;
    kernel->groups[index] = group;
    return group;
}

void zeta_report_kernels_add_row(struct zeta_report *report, struct zeta_report_stream *stream,
                                 const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    const uint32_t name = zeta_report_runs_find(&report->runs, times_ns[0], times_ns[1]);
    struct zeta_sampled_group *group;
    uint32_t index = 0;

    if (name == ZETA_REPORT_IDLE || name == ZETA_REPORT_SHARED) {
        stream->idle_rows += name == ZETA_REPORT_IDLE;
        stream->shared_rows += name == ZETA_REPORT_SHARED;
        return;
    }
    while (report->streams[index] != stream)
        index++;
    group = report->kernels[name].groups ? report->kernels[name].groups[index] : NULL;
    if (!group)
        group = make_group(report, &report->kernels[name], index);
    if (group) {
        zeta_sampled_group_add_row(group, row);
        (void)zetaMetricSumAddRow(group->sum, row);
    } else {
        report->rows_without_kernel++;
    }
}

static int longest_first(const void *left, const void *right)
{
    const struct zeta_report_kernel *a = *(const struct zeta_report_kernel *const *)left;
    const struct zeta_report_kernel *b = *(const struct zeta_report_kernel *const *)right;

    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

const struct zeta_report_kernel **zeta_report_kernels_sorted(const struct zeta_report *report)
{
    const struct zeta_report_kernel **list =
        zeta_allocate(report->kernel_count, sizeof(const struct zeta_report_kernel *));

    for (uint32_t i = 0; i < report->kernel_count; i++)
        list[i] = &report->kernels[i];
    qsort((void *)list, report->kernel_count, sizeof(const struct zeta_report_kernel *),
          longest_first);
    return list;
}

void zeta_report_kernel_name(const struct zeta_report *report, uint32_t name, char *text,
                             size_t bytes)
{
    (void)snprintf(text, bytes, "%s", report->runs.names.names[name]);
    zeta_text_clean(text, strlen(text));
}

int zeta_report_kernels_settle(struct zeta_report *report)
{
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        struct zeta_sampled_group **groups = report->kernels[k].groups;

        for (uint32_t i = 0; groups && i < report->stream_count; i++) {
            if (!groups[i])
                continue;
            /* It is unknown in which run reports were lost. */
            groups[i]->losses = report->streams[i]->group.losses;
            if (zeta_sampled_group_settle(groups[i]) != ZETA_EXIT_OK)
                return ZETA_EXIT_FAILED;
        }
    }
    return ZETA_EXIT_OK;
}

void zeta_report_kernels_finish(struct zeta_report *report)
{
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        struct zeta_sampled_group **groups = report->kernels[k].groups;

        for (uint32_t i = 0; groups && i < report->stream_count; i++) {
            if (groups[i])
                zeta_sampled_group_finish(groups[i]);
            free(groups[i]);
        }
        free((void *)groups);
    }
    free(report->kernels);
    report->kernels = NULL;
    report->kernel_count = 0;
}
