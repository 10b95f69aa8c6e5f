/* Groups and profiles as tables, CSV and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/stat/stat.h"

enum {
    MAX_LINES = 25,     /* of the table; the other forms have all */
    MAX_REASONS = 3,    /* named for a line */
    SOURCE_BYTES = 256, /* of a line of the source */
    REASONS_BYTES = 128,
    MIN_SOURCE_WIDTH = 16 /* a shorter piece of source shows nothing */
};

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* "file.cl:12", or the address; what the compiler or its library brought has no line. */
static void set_place(struct zeta_table *table, uint32_t row, uint32_t column,
                      const struct zeta_ip_line *line)
{
    const char *slash = line->file ? strrchr(line->file, '/') : NULL;
    const char *file = slash ? slash + 1 : line->file;

    if (line->is_address)
        zeta_table_set(table, row, column, "0x%" PRIx64, line->address);
    else if (!file)
        zeta_table_set(table, row, column, "(no line)");
    else if (line->line == 0)
        zeta_table_set(table, row, column, "%s:?", file);
    else
        zeta_table_set(table, row, column, "%s:%u", file, line->line);
}

/* Metric names end with Stall; the table's title has what they are about. */
static int short_length(const char *name)
{
    const char *stall = strstr(name, "Stall");

    return stall && stall[5] == '\0' ? (int)(stall - name) : (int)strlen(name);
}

/* The reasons that most samples have, such as "Sbid 61 %, Active 20 %". */
static void reasons_text(const struct zeta_ip_profile *profile, const struct zeta_ip_counts *counts,
                         char text[REASONS_BYTES])
{
    bool named[ZETA_IP_REASONS] = {false};
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t n = 0; n < MAX_REASONS; n++) {
        uint32_t best = ZETA_IP_REASONS;

        for (uint32_t i = 0; i < ZETA_IP_REASONS; i++) {
            if (!named[i] && counts->reasons[i] > 0 &&
                (best == ZETA_IP_REASONS || counts->reasons[i] > counts->reasons[best]))
                best = i;
        }
        if (best == ZETA_IP_REASONS || (n > 0 && counts->reasons[best] * 20 < counts->total))
            return;
        named[best] = true;
        length += (size_t)zeta_c_snprintf(text + length, REASONS_BYTES - length, "%s%.*s %.0f %%",
                                          n ? ", " : "", short_length(profile->reason_names[best]),
                                          profile->reason_names[best],
                                          percent(counts->reasons[best], counts->total));
        if (length >= REASONS_BYTES)
            return;
    }
}

/* Text of a line of the source without its indentation; empty when the file is not there. */
static void source_text(const struct zeta_ip_line *line, char text[SOURCE_BYTES])
{
    FILE *file = line->file ? fopen(line->file, "re") : NULL;
    char *row = NULL;
    size_t room = 0;
    ssize_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; file && i < line->line && length >= 0; i++)
        length = getline(&row, &room, file);
    if (file && length > 0) {
        const char *begin = row + strspn(row, " \t");

        (void)snprintf(text, SOURCE_BYTES, "%.*s", (int)strcspn(begin, "\r\n"), begin);
    }
    /* A file may hold anything; a terminal shall not get it. */
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
    free(row);
    if (file)
        (void)fclose(file);
}

/* Whether the code is unknown at every address: then there are no kernels. */
static bool has_addresses_only(const struct zeta_ip_profile *profile)
{
    return profile->kernel_count == 1 && !profile->kernels[0].name;
}

static void print_kernels(const struct zeta_ip_profile *profile, FILE *stream)
{
    enum { KERNEL, SAMPLES, SHARE, REASONS, COLUMN_COUNT = REASONS + ZETA_IP_REASONS };
    const bool is_bare = has_addresses_only(profile);
    char titles[ZETA_IP_REASONS][ZET_MAX_METRIC_NAME];
    struct zeta_table_column columns[COLUMN_COUNT] = {
        [KERNEL] = {.title = is_bare ? "" : "Kernel", .least = 6},
        [SAMPLES] = {.title = "Samples", .gap = 1, .least = 10, .is_right = true},
        [SHARE] = {.title = "%", .gap = 1, .least = 6, .is_right = true},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};

    for (uint32_t r = 0; r < ZETA_IP_REASONS; r++) {
        (void)snprintf(titles[r], sizeof(titles[r]), "%.*s", short_length(profile->reason_names[r]),
                       profile->reason_names[r]);
        columns[REASONS + r] = (struct zeta_table_column){
            .title = titles[r], .gap = r == 0 ? 2 : 1, .least = 7, .is_right = true};
    }
    for (uint32_t i = 0; i < profile->kernel_count; i++) {
        const struct zeta_ip_kernel *kernel = &profile->kernels[i];

        zeta_table_set(&table, i, KERNEL, "%s",
                       is_bare        ? "All"
                       : kernel->name ? kernel->name
                                      : "(unknown)");
        zeta_table_set(&table, i, SAMPLES, "%" PRIu64, kernel->counts.total);
        zeta_table_set(&table, i, SHARE, "%.1f", percent(kernel->counts.total, profile->all.total));
        for (uint32_t r = 0; r < ZETA_IP_REASONS; r++)
            zeta_table_set(&table, i, REASONS + r, "%.1f",
                           percent(kernel->counts.reasons[r], kernel->counts.total));
    }
    zeta_table_finish(&table, stream);
}

/* Lines of the source, or addresses where nothing else is known. */
static void print_lines(const struct zeta_ip_profile *profile, unsigned terminal_columns,
                        FILE *stream)
{
    enum { SAMPLES, SHARE, KERNEL, PLACE, REASONS, SOURCE, COLUMN_COUNT };
    const bool is_bare = has_addresses_only(profile);
    const uint32_t count = profile->line_count < MAX_LINES ? profile->line_count : MAX_LINES;
    const struct zeta_table_column columns[COLUMN_COUNT] = {
        [SAMPLES] = {.title = "Samples", .least = 10, .is_right = true},
        [SHARE] = {.title = "%", .gap = 1, .least = 6, .is_right = true},
        [KERNEL] = {.title = "Kernel", .gap = 2},
        [PLACE] = {.title = is_bare ? "Address" : "Line", .gap = 2},
        [REASONS] = {.title = "Reasons", .gap = 2},
        [SOURCE] = {.title = "Source", .gap = 2},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};
    uint64_t rest = profile->all.total;
    int width = SOURCE_BYTES;

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_ip_line *line = &profile->lines[i];
        char reasons[REASONS_BYTES];

        reasons_text(profile, &line->counts, reasons);
        zeta_table_set(&table, i, SAMPLES, "%" PRIu64, line->counts.total);
        zeta_table_set(&table, i, SHARE, "%.1f", percent(line->counts.total, profile->all.total));
        if (!is_bare)
            zeta_table_set(&table, i, KERNEL, "%s", line->kernel ? line->kernel : "(unknown)");
        set_place(&table, i, PLACE, line);
        zeta_table_set(&table, i, REASONS, "%s", reasons);
        rest -= line->counts.total;
    }
    if (terminal_columns > 0)
        width = (int)terminal_columns - zeta_table_width(&table) - columns[SOURCE].gap;
    for (uint32_t i = 0; !is_bare && width >= MIN_SOURCE_WIDTH && i < count; i++) {
        char source[SOURCE_BYTES];

        source_text(&profile->lines[i], source);
        zeta_table_set(&table, i, SOURCE, "%.*s", width, source);
    }
    (void)fputc('\n', stream);
    zeta_table_finish(&table, stream);
    if (profile->line_count > count)
        (void)zeta_c_fprintf(stream, "%10" PRIu64 " %6.1f  %s %u more %s\n", rest,
                             percent(rest, profile->all.total), is_bare ? "at" : "in",
                             profile->line_count - count, is_bare ? "addresses" : "lines");
}

/* What is missing from the tables, and what to do about it. */
static void print_notes(const struct zeta_ip_profile *profile, bool is_software, FILE *stream)
{
    if (profile->all.total == 0)
        (void)fputs("No sample met a kernel: none ran, or too shortly for the period.\n", stream);
    else if (has_addresses_only(profile) && is_software)
        (void)fputs("\nThe code at these addresses is unknown: no program wrote its modules. Set "
                    "ZETA_MODULE_DUMP\nto one folder for the programs and for zeta.\n",
                    stream);
    else if (has_addresses_only(profile))
        (void)fputs("\nThe code at these addresses is unknown: Zeta does not load the kernels of "
                    "this device.\nAddresses count bytes from the base of its instructions.\n",
                    stream);
    else if (!zeta_code_lines_work())
        (void)fputs("\nThis zeta was built without libdw and shows addresses instead of lines.\n",
                    stream);
    else if (profile->without_lines > 0)
        (void)zeta_c_fprintf(
            stream, "\n%.1f %% of the samples are in code without lines: build kernels with -g.\n",
            percent(profile->without_lines, profile->all.total));
}

void zeta_stat_ip_print(const struct zeta_ip_profile *profile,
                        const struct zeta_sampled_group *group, const char *device_class,
                        unsigned columns, FILE *stream)
{
    const bool is_software = strcmp(device_class, "software") == 0;
    char period[ZETA_DURATION_TEXT_BYTES];
    char losses[ZETA_LOSSES_BYTES];

    zeta_duration_format(group->period_ns, period);
    zeta_losses_format(group, true, losses);
    /* How far two samples lie apart: software counts modelled time, hardware cycles. */
    (void)fprintf(stream, "\n%s, domain %u, %s every %s%s: %" PRIu64 " samples, %s\n\n",
                  group->entry->properties.name, group->entry->properties.domain,
                  is_software ? "each thread" : "a sample", period,
                  is_software                             ? " of its modelled time"
                  : strcmp(device_class, "hardware") == 0 ? " at the highest clock"
                                                          : "",
                  profile->all.total, losses);
    if (profile->all.total > 0) {
        print_kernels(profile, stream);
        print_lines(profile, columns, stream);
    }
    print_notes(profile, is_software, stream);
}

void zeta_stat_ip_write_csv(const struct zeta_ip_profile *profile,
                            const struct zeta_sampled_group *group, FILE *file)
{
    (void)fputs("kernel,file,line,address,samples,percent", file);
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
        (void)fprintf(file, ",%s", profile->reason_names[i]);
    (void)fputs(",lost,breaks,lost_time_ns\n", file);
    for (uint32_t i = 0; i < profile->line_count; i++) {
        const struct zeta_ip_line *line = &profile->lines[i];

        zeta_text_write_csv(file, line->kernel ? line->kernel : "");
        (void)fputc(',', file);
        zeta_text_write_csv(file, line->file ? line->file : "");
        if (line->file && line->line)
            (void)fprintf(file, ",%u", line->line);
        else
            (void)fputc(',', file);
        (void)zeta_c_fprintf(file, ",0x%" PRIx64 ",%" PRIu64 ",%.3f", line->address,
                             line->counts.total, percent(line->counts.total, profile->all.total));
        for (uint32_t r = 0; r < ZETA_IP_REASONS; r++)
            (void)fprintf(file, ",%" PRIu64, line->counts.reasons[r]);
        (void)fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                      zeta_sampled_group_lost(group), group->losses.breaks, group->losses.lost_ns);
    }
}

static void put_counts(struct json_object *object, const struct zeta_ip_profile *profile,
                       const struct zeta_ip_counts *counts)
{
    zeta_json_put_u64(object, "samples", counts->total);
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++)
        zeta_json_put_u64(object, profile->reason_names[i], counts->reasons[i]);
}

void zeta_stat_ip_put_json(struct json_object *document, const struct zeta_ip_profile *profile,
                           const struct zeta_sampled_group *group)
{
    struct json_object *object = zeta_json_put_object(document, "profile");
    struct json_object *array = NULL;

    zeta_json_put_text(object, "group", group->entry->properties.name);
    zeta_json_put_u64(object, "period_ns", group->period_ns);
    zeta_json_put_u64(object, "records", profile->rows);
    zeta_losses_put_json(object, group);
    zeta_json_put_bool(object, "can_tell_lines", zeta_code_lines_work());
    put_counts(object, profile, &profile->all);
    array = zeta_json_put_array(object, "kernels");
    for (uint32_t i = 0; i < profile->kernel_count; i++) {
        struct json_object *kernel = zeta_json_append_object(array);

        zeta_json_put_text(kernel, "name", profile->kernels[i].name);
        put_counts(kernel, profile, &profile->kernels[i].counts);
    }
    array = zeta_json_put_array(object, "lines");
    for (uint32_t i = 0; i < profile->line_count; i++) {
        const struct zeta_ip_line *from = &profile->lines[i];
        struct json_object *line = zeta_json_append_object(array);

        zeta_json_put_text(line, "kernel", from->kernel);
        zeta_json_put_text(line, "file", from->file);
        if (from->file && from->line)
            zeta_json_put_u64(line, "line", from->line);
        else
            (void)json_object_object_add(line, "line", NULL);
        zeta_json_put_u64(line, "address", from->address);
        put_counts(line, profile, &from->counts);
    }
}

enum { VALUE_WIDTH = 16 /* longest value: exact up to 16 digits */ };

struct zeta_stat_style zeta_stat_style_of(FILE *stream)
{
    const unsigned columns = zeta_terminal_columns(stream);

    return (struct zeta_stat_style){
        .columns = columns,
        .has_sparklines = columns > 0 && zeta_terminal_has_utf8(),
    };
}

void zeta_stat_group_print(const struct zeta_sampled_group *group,
                           const struct zeta_stat_style *style, FILE *stream)
{
    enum { METRIC, VALUE, KIND, MIN, MAX, UNIT, LINE, COLUMN_COUNT, SHORTEST_LINE = 6 };
    static const struct zeta_table_column columns[COLUMN_COUNT] = {
        [METRIC] = {.title = "Metric"},
        [VALUE] = {.title = "Value", .gap = 1, .is_right = true},
        [KIND] = {.title = "", .gap = 1, .least = 5},
        [MIN] = {.title = "Min", .gap = 1, .least = 7, .is_right = true},
        [MAX] = {.title = "Max", .gap = 1, .least = 7, .is_right = true},
        [UNIT] = {.title = "Unit", .gap = 1},
        [LINE] = {.title = "Time line", .gap = 1},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};
    const uint32_t metric_count = group->entry->properties.metricCount;
    char text[ZETA_SPARKLINE_TEXT_BYTES];
    char period[ZETA_DURATION_TEXT_BYTES];
    char losses[ZETA_LOSSES_BYTES];
    int rest;

    zeta_duration_format(group->period_ns, period);
    zeta_losses_format(group, true, losses);
    (void)fprintf(stream, "\n%s, domain %u%s%s: %" PRIu64 " samples", group->entry->properties.name,
                  group->entry->properties.domain, group->period_ns > 0 ? ", every " : "",
                  group->period_ns > 0 ? period : "", group->samples);
    if (group->tile_count > 1)
        (void)fprintf(stream, " of %u tiles added up", group->tile_count);
    (void)fprintf(stream, ", %s\n\n", losses);
    for (uint32_t i = 0; i < metric_count; i++) {
        const zet_metric_properties_t *metric = &group->entry->metrics[i].properties;
        const struct zeta_account *account = &group->accounts[i];

        zeta_table_set(&table, i, METRIC, "%s", metric->name);
        zeta_number_format(account->value, VALUE_WIDTH, text);
        zeta_table_set(&table, i, VALUE, "%s", text);
        zeta_table_set(&table, i, KIND, "%s", zeta_account_kind_name(account->kind));
        zeta_number_format_short(account->min, text);
        zeta_table_set(&table, i, MIN, "%s", text);
        zeta_number_format_short(account->max, text);
        zeta_table_set(&table, i, MAX, "%s", text);
        zeta_table_set(&table, i, UNIT, "%s", metric->resultUnits);
    }
    rest = (int)style->columns - zeta_table_width(&table) - columns[LINE].gap;
    for (uint32_t i = 0; style->has_sparklines && rest >= SHORTEST_LINE && i < metric_count; i++) {
        (void)zeta_sparkline_draw(&group->accounts[i].line, (unsigned)rest, text);
        zeta_table_set(&table, i, LINE, "%s", text);
    }
    zeta_table_finish(&table, stream);
}

static void print_overhead(const struct zeta_stat_report *report, FILE *stream)
{
    char elapsed[ZETA_DURATION_TEXT_BYTES];
    char cpu[ZETA_DURATION_TEXT_BYTES];
    char calculation[ZETA_DURATION_TEXT_BYTES];
    char passes[32] = "";
    const double share =
        report->elapsed_ns ? 100.0 * (double)report->cpu_ns / (double)report->elapsed_ns : 0.0;

    zeta_duration_format(report->elapsed_ns, elapsed);
    zeta_duration_format(report->cpu_ns, cpu);
    zeta_duration_format(report->calculation_ns, calculation);
    if (report->pass_count > 1)
        (void)snprintf(passes, sizeof(passes), " in %u passes", report->pass_count);
    (void)zeta_c_fprintf(stream,
                         "\nSampled for %s%s.\n"
                         "Overhead in CPU time of zeta: %s (%.1f %% of one core),\n"
                         "of which %s to calculate metric values.\n",
                         elapsed, passes, cpu, share, calculation);
}

void zeta_stat_report_print(const struct zeta_stat_report *report,
                            const struct zeta_stat_style *style, FILE *stream)
{
    (void)fprintf(stream, "\n%s (%s, %s)\n", report->device->properties.name,
                  report->device->info.device_class, report->device->info.id);
    for (uint32_t i = 0; i < report->group_count; i++)
        zeta_stat_group_print(report->groups[i], style, stream);
    if (report->profile)
        zeta_stat_ip_print(report->profile, report->profile_group,
                           report->device->info.device_class, style->columns, stream);
    print_overhead(report, stream);
}

/* ---- CSV ---------------------------------------------------------------------------------- */

static void write_metric(FILE *file, const struct zeta_stat_report *report,
                         const struct zeta_sampled_group *group, uint32_t index)
{
    const struct zeta_metric_entry *metric = &group->entry->metrics[index];
    const struct zeta_account *account = &group->accounts[index];
    const struct zeta_number numbers[] = {account->value, account->min, account->max};

    zeta_text_write_csv(file, group->entry->properties.name);
    (void)fputc(',', file);
    zeta_text_write_csv(file, report->device->properties.name);
    (void)fprintf(file, ",%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                  report->device->info.id, group->entry->properties.domain, group->samples,
                  zeta_sampled_group_lost(group), group->losses.breaks, group->losses.lost_ns);
    zeta_text_write_csv(file, metric->properties.name);
    (void)fputc(',', file);
    zeta_text_write_csv(file, metric->properties.resultUnits);
    (void)fprintf(file, ",%s,%s", zeta_metric_type_name(metric->properties.metricType),
                  zeta_metric_class_name(metric->info.metric_class));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char text[ZETA_NUMBER_TEXT_BYTES];

        zeta_number_format_exact(numbers[i], text);
        (void)fprintf(file, ",%s", text);
    }
    (void)fputc('\n', file);
}

void zeta_stat_report_write_csv(const struct zeta_stat_report *report, FILE *file)
{
    (void)fputs(
        "group,device,device_id,domain,samples,lost,breaks,lost_time_ns,metric,unit,type,class,"
        "value,min,max\n",
        file);
    for (uint32_t i = 0; i < report->group_count; i++) {
        const struct zeta_sampled_group *group = report->groups[i];

        for (uint32_t m = 0; m < group->entry->properties.metricCount; m++)
            write_metric(file, report, group, m);
    }
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_metric(struct json_object *array, const struct zeta_metric_entry *metric,
                       const struct zeta_account *account)
{
    struct json_object *object = zeta_json_append_object(array);

    zeta_json_put_text(object, "name", metric->properties.name);
    zeta_json_put_text(object, "unit", metric->properties.resultUnits);
    zeta_json_put_text(object, "type", zeta_metric_type_name(metric->properties.metricType));
    zeta_json_put_text(object, "class", zeta_metric_class_name(metric->info.metric_class));
    zeta_json_put_number(object, "value", account->value);
    zeta_json_put_number(object, "total", zeta_account_total(account));
    zeta_json_put_number(object, "min", account->min);
    zeta_json_put_number(object, "max", account->max);
    zeta_json_put_number(object, "last", account->last);
}

void zeta_stat_group_put_json(struct json_object *array, const struct zeta_device_entry *device,
                              const struct zeta_sampled_group *group)
{
    struct json_object *object = zeta_json_append_object(array);
    struct json_object *metrics = NULL;

    zeta_json_put_text(object, "name", group->entry->properties.name);
    zeta_json_put_text(object, "device", device->properties.name);
    zeta_json_put_text(object, "device_id", device->info.id);
    zeta_json_put_text(object, "device_class", device->info.device_class);
    zeta_json_put_u64(object, "domain", group->entry->properties.domain);
    zeta_json_put_u64(object, "period_ns", group->period_ns);
    zeta_json_put_u64(object, "tiles", group->tile_count);
    zeta_json_put_u64(object, "samples", group->samples);
    zeta_losses_put_json(object, group);
    metrics = zeta_json_put_array(object, "metrics");
    for (uint32_t i = 0; i < group->entry->properties.metricCount; i++)
        put_metric(metrics, &group->entry->metrics[i], &group->accounts[i]);
}

struct json_object *zeta_stat_report_to_json(const struct zeta_stat_report *report)
{
    struct json_object *document = zeta_json_new_document("zeta.stat/1");
    struct json_object *array = NULL;

    zeta_json_put_text(document, "version", zetaGetVersion());
    if (report->program) {
        array = zeta_json_put_array(document, "program");
        for (char **word = report->program; *word; word++)
            zeta_json_append_text(array, *word);
        zeta_json_put_u64(document, "exit_code", (uint64_t)report->exit_code);
    }
    zeta_json_put_bool(document, "interrupted", report->is_interrupted);
    if (report->pass_count > 1)
        zeta_json_put_u64(document, "passes", report->pass_count);
    zeta_json_put_u64(document, "elapsed_ns", report->elapsed_ns);
    zeta_json_put_u64(document, "overhead_cpu_ns", report->cpu_ns);
    zeta_json_put_u64(document, "overhead_calculation_ns", report->calculation_ns);
    array = zeta_json_put_array(document, "groups");
    for (uint32_t i = 0; i < report->group_count; i++)
        zeta_stat_group_put_json(array, report->device, report->groups[i]);
    if (report->profile)
        zeta_stat_ip_put_json(document, report->profile, report->profile_group);
    return document;
}
