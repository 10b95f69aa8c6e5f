#include "sdk/tools/zeta/recording/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"

bool zeta_report_kernels_init(struct zeta_report *report)
{
    const struct zeta_report_runs *runs = &report->runs;

    report->kernels = calloc((size_t)runs->names.count + 1, sizeof(*report->kernels));
    if (!report->kernels)
        return false;
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
    return true;
}

static struct zeta_sampled_group *make_group(struct zeta_report *report,
                                             struct zeta_report_kernel *kernel, uint32_t index)
{
    const struct zeta_sampled_group *all = &report->streams[index]->calc.group;
    const struct zeta_metric_sum_desc rows = {.struct_size = sizeof(rows), .like = all->sum};
    struct zeta_sampled_group *group;

    if (!kernel->groups) {
        if (report->kernels_with_groups == ZETA_REPORT_MAX_KERNELS)
            return NULL;
        kernel->groups = calloc(report->stream_count, sizeof(struct zeta_sampled_group *));
        report->kernels_with_groups += kernel->groups != NULL;
    }
    group = kernel->groups ? calloc(1, sizeof(*group)) : NULL;
    if (!group || !zeta_sampled_group_init(group, all->entry, all->tile_count) ||
        zeta_sampled_group_open(group, &rows) != ZE_RESULT_SUCCESS) {
        if (group)
            zeta_sampled_group_finish(group);
        free(group);
        report->has_no_memory = true;
        return NULL;
    }
    group->period_ns = all->period_ns;
    /* Between runs there are gaps, which are no losses; those are the stream's. */
    group->end_index = -1;
    kernel->groups[index] = group;
    return group;
}

bool zeta_report_kernels_add_row(struct zeta_report *report, struct zeta_report_stream *stream,
                                 const int64_t times_ns[2], const struct zeta_metric_row *row)
{
    const uint32_t name = zeta_report_runs_find(&report->runs, times_ns[0], times_ns[1]);
    struct zeta_sampled_group *group;
    uint32_t index = 0;

    if (name == ZETA_REPORT_IDLE || name == ZETA_REPORT_SHARED) {
        stream->idle_rows += name == ZETA_REPORT_IDLE;
        stream->shared_rows += name == ZETA_REPORT_SHARED;
        return true;
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
    return !report->has_no_memory;
}

static int by_time(const void *left, const void *right)
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
        calloc((size_t)report->kernel_count + 1, sizeof(const struct zeta_report_kernel *));

    for (uint32_t i = 0; list && i < report->kernel_count; i++)
        list[i] = &report->kernels[i];
    if (list)
        qsort((void *)list, report->kernel_count, sizeof(const struct zeta_report_kernel *),
              by_time);
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
    int status = ZETA_EXIT_OK;

    for (uint32_t k = 0; k < report->kernel_count; k++) {
        struct zeta_report_kernel *kernel = &report->kernels[k];

        for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
            if (!kernel->groups[i] || status != ZETA_EXIT_OK)
                continue;
            /* Nobody knows in which run reports were lost. */
            kernel->groups[i]->losses = report->streams[i]->calc.group.losses;
            status = zeta_sampled_group_settle(kernel->groups[i]);
        }
    }
    return status;
}

void zeta_report_kernels_finish(struct zeta_report *report)
{
    for (uint32_t k = 0; k < report->kernel_count; k++) {
        struct zeta_report_kernel *kernel = &report->kernels[k];

        for (uint32_t i = 0; kernel->groups && i < report->stream_count; i++) {
            if (!kernel->groups[i])
                continue;
            zeta_sampled_group_finish(kernel->groups[i]);
            free(kernel->groups[i]);
        }
        free((void *)kernel->groups);
    }
    free(report->kernels);
    report->kernels = NULL;
    report->kernel_count = 0;
}
