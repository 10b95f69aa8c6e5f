#include "sdk/tools/zeta/stat/ip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/duration.h"
#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/profile/code_lines.h"
#include "sdk/tools/zeta/stat/report.h"

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

static const char *kernel_name(const char *name)
{
    return name ? name : "(unknown)";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "file.cl:12", or the address; what the compiler or its library brought has no line. */
static char *place_text(const struct zeta_ip_line *line)
{
    char *text = NULL;
    int length = 0;

    if (line->is_address)
        length = asprintf(&text, "0x%" PRIx64, line->address);
    else if (!line->file)
        length = asprintf(&text, "(no line)");
    else if (line->line == 0)
        length = asprintf(&text, "%s:?", base_name(line->file));
    else
        length = asprintf(&text, "%s:%u", base_name(line->file), line->line);
    return length < 0 ? NULL : text;
}

/* Metric names end with Stall; what they are about is said before. */
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

static int longest(int width, const char *text)
{
    return text && (int)strlen(text) > width ? (int)strlen(text) : width;
}

/* Whether nobody knows what lies at any address: then there are no kernels to tell apart. */
static bool has_addresses_only(const struct zeta_ip_profile *profile)
{
    return profile->kernel_count == 1 && !profile->kernels[0].name;
}

static void print_kernels(const struct zeta_ip_profile *profile, FILE *stream)
{
    const bool is_bare = has_addresses_only(profile);
    int width = longest(6, NULL);

    for (uint32_t i = 0; i < profile->kernel_count && !is_bare; i++)
        width = longest(width, kernel_name(profile->kernels[i].name));
    (void)fprintf(stream, "%-*s %10s %6s ", width, is_bare ? "" : "Kernel", "Samples", "%");
    for (uint32_t i = 0; i < ZETA_IP_REASONS; i++) {
        const int length = short_length(profile->reason_names[i]);

        (void)fprintf(stream, " %*s%.*s", length < 7 ? 7 - length : 0, "", length,
                      profile->reason_names[i]);
    }
    (void)fputc('\n', stream);
    for (uint32_t i = 0; i < profile->kernel_count; i++) {
        const struct zeta_ip_kernel *kernel = &profile->kernels[i];

        (void)zeta_c_fprintf(stream, "%-*s %10" PRIu64 " %6.1f ", width,
                             is_bare ? "All" : kernel_name(kernel->name), kernel->counts.total,
                             percent(kernel->counts.total, profile->all.total));
        for (uint32_t r = 0; r < ZETA_IP_REASONS; r++) {
            const int length = short_length(profile->reason_names[r]);

            (void)zeta_c_fprintf(stream, " %*.1f", length > 7 ? length : 7,
                                 percent(kernel->counts.reasons[r], kernel->counts.total));
        }
        (void)fputc('\n', stream);
    }
}

/* Widths of the columns of the table of lines. */
struct widths {
    int kernel, place, reasons, source;
};

static void print_line(const struct zeta_ip_profile *profile, const struct zeta_ip_line *line,
                       const struct widths *widths, FILE *stream)
{
    char reasons[REASONS_BYTES], source[SOURCE_BYTES] = "";
    char *place = place_text(line);

    reasons_text(profile, &line->counts, reasons);
    if (widths->source > 0)
        source_text(line, source);
    (void)zeta_c_fprintf(stream, "%10" PRIu64 " %6.1f  %-*s  %-*s  ", line->counts.total,
                         percent(line->counts.total, profile->all.total), widths->kernel,
                         kernel_name(line->kernel), widths->place, place ? place : "");
    if (source[0])
        (void)fprintf(stream, "%-*s  %.*s\n", widths->reasons, reasons, widths->source, source);
    else
        (void)fprintf(stream, "%s\n", reasons);
    free(place);
}

static void print_lines(const struct zeta_ip_profile *profile, unsigned columns, FILE *stream)
{
    const uint32_t count = profile->line_count < MAX_LINES ? profile->line_count : MAX_LINES;
    struct widths widths = {.kernel = 6, .place = 4, .reasons = 7};
    uint64_t rest = profile->all.total;

    for (uint32_t i = 0; i < count; i++) {
        char reasons[REASONS_BYTES];
        char *place = place_text(&profile->lines[i]);

        reasons_text(profile, &profile->lines[i].counts, reasons);
        widths.kernel = longest(widths.kernel, kernel_name(profile->lines[i].kernel));
        widths.place = longest(widths.place, place);
        widths.reasons = longest(widths.reasons, reasons);
        rest -= profile->lines[i].counts.total;
        free(place);
    }
    widths.source = SOURCE_BYTES;
    if (columns > 0)
        widths.source = (int)columns - (10 + 1 + 6 + 2 + widths.kernel + 2 + widths.place + 2 +
                                        widths.reasons + 2);
    if (widths.source < MIN_SOURCE_WIDTH)
        widths.source = 0;
    (void)fprintf(stream, "\n%10s %6s  %-*s  %-*s  %-*s%s\n", "Samples", "%", widths.kernel,
                  "Kernel", widths.place, "Line", widths.reasons, "Reasons",
                  widths.source ? "  Source" : "");
    for (uint32_t i = 0; i < count; i++)
        print_line(profile, &profile->lines[i], &widths, stream);
    if (profile->line_count > count)
        (void)zeta_c_fprintf(stream, "%10" PRIu64 " %6.1f  in %u more lines\n", rest,
                             percent(rest, profile->all.total), profile->line_count - count);
}

/* The same where addresses are all that is known. */
static void print_addresses(const struct zeta_ip_profile *profile, FILE *stream)
{
    const uint32_t count = profile->line_count < MAX_LINES ? profile->line_count : MAX_LINES;
    uint64_t rest = profile->all.total;
    int width = longest(7, NULL);

    for (uint32_t i = 0; i < count; i++) {
        char *place = place_text(&profile->lines[i]);

        width = longest(width, place);
        free(place);
    }
    (void)fprintf(stream, "\n%10s %6s  %-*s  %s\n", "Samples", "%", width, "Address", "Reasons");
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_ip_counts *counts = &profile->lines[i].counts;
        char *place = place_text(&profile->lines[i]);
        char reasons[REASONS_BYTES];

        reasons_text(profile, counts, reasons);
        (void)zeta_c_fprintf(stream, "%10" PRIu64 " %6.1f  %-*s  %s\n", counts->total,
                             percent(counts->total, profile->all.total), width, place ? place : "",
                             reasons);
        rest -= counts->total;
        free(place);
    }
    if (profile->line_count > count)
        (void)zeta_c_fprintf(stream, "%10" PRIu64 " %6.1f  at %u more addresses\n", rest,
                             percent(rest, profile->all.total), profile->line_count - count);
}

/* What is missing from the tables, and what to do about it. */
static void print_notes(const struct zeta_ip_profile *profile, bool is_software, FILE *stream)
{
    if (profile->all.total == 0)
        (void)fputs("No thread of a kernel was seen: none ran, or too shortly for the period.\n",
                    stream);
    else if (has_addresses_only(profile) && is_software)
        (void)fputs("\nWhat lies at these addresses is not known: no program wrote its modules. "
                    "Programs do\nthat when ZETA_MODULE_DUMP names a folder, the same for them and "
                    "for zeta.\n",
                    stream);
    else if (has_addresses_only(profile))
        (void)fputs("\nWhat lies at these addresses is not known: Zeta does not load the kernels "
                    "of this device.\nThey count in bytes from the base of its instructions.\n",
                    stream);
    else if (!zeta_code_lines_work())
        (void)fputs("\nThis zeta was built without libdw, so addresses stand for lines.\n", stream);
    else if (profile->without_lines > 0)
        (void)zeta_c_fprintf(
            stream, "\n%.1f %% of the samples are in code without lines: build kernels with -g.\n",
            percent(profile->without_lines, profile->all.total));
}

/* How far two samples lie apart. Software counts in the time that it models, hardware in cycles. */
static void print_period(const char *device_class, uint64_t period_ns, FILE *stream)
{
    char period[ZETA_DURATION_TEXT_BYTES];

    zeta_duration_format(period_ns, period);
    if (strcmp(device_class, "software") == 0)
        (void)fprintf(stream, "each thread every %s of its modelled time", period);
    else if (strcmp(device_class, "hardware") == 0)
        (void)fprintf(stream, "a sample every %s at the highest clock", period);
    else
        (void)fprintf(stream, "a sample every %s", period);
}

void zeta_stat_ip_print(const struct zeta_ip_profile *profile,
                        const struct zeta_sampled_group *group, const char *device_class,
                        unsigned columns, FILE *stream)
{
    char losses[ZETA_STAT_LOSSES_BYTES];

    (void)fprintf(stream, "\n%s, domain %u, ", group->entry->properties.name,
                  group->entry->properties.domain);
    print_period(device_class, group->period_ns, stream);
    zeta_stat_losses_format(group, true, losses);
    (void)fprintf(stream, ": %" PRIu64 " samples, %s\n\n", profile->all.total, losses);
    if (profile->all.total > 0) {
        print_kernels(profile, stream);
        if (has_addresses_only(profile))
            print_addresses(profile, stream);
        else
            print_lines(profile, columns, stream);
    }
    print_notes(profile, strcmp(device_class, "software") == 0, stream);
}

static void write_text(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; text && *text; text++) {
        if (*text == '"')
            (void)fputc('"', file);
        (void)fputc(*text, file);
    }
    (void)fputc('"', file);
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

        write_text(file, line->kernel);
        (void)fputc(',', file);
        write_text(file, line->file);
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

/* What is not known is null. */
static void put_known(struct json_object *object, const char *key, const char *text)
{
    if (text)
        zeta_json_put_text(object, key, text);
    else
        (void)json_object_object_add(object, key, NULL);
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
    struct json_object *object = json_object_new_object();
    struct json_object *array = NULL;

    (void)json_object_object_add(document, "profile", object);
    zeta_json_put_text(object, "group", group->entry->properties.name);
    zeta_json_put_u64(object, "period_ns", group->period_ns);
    zeta_json_put_u64(object, "records", profile->rows);
    zeta_stat_losses_put_json(object, group);
    zeta_json_put_bool(object, "can_tell_lines", zeta_code_lines_work());
    put_counts(object, profile, &profile->all);
    array = zeta_json_put_array(object, "kernels");
    for (uint32_t i = 0; i < profile->kernel_count; i++) {
        struct json_object *kernel = zeta_json_append_object(array);

        put_known(kernel, "name", profile->kernels[i].name);
        put_counts(kernel, profile, &profile->kernels[i].counts);
    }
    array = zeta_json_put_array(object, "lines");
    for (uint32_t i = 0; i < profile->line_count; i++) {
        const struct zeta_ip_line *from = &profile->lines[i];
        struct json_object *line = zeta_json_append_object(array);

        put_known(line, "kernel", from->kernel);
        put_known(line, "file", from->file);
        if (from->file && from->line)
            zeta_json_put_u64(line, "line", from->line);
        else
            (void)json_object_object_add(line, "line", NULL);
        zeta_json_put_u64(line, "address", from->address);
        put_counts(line, profile, &from->counts);
    }
}
