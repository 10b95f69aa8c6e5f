#include "plugins/nvidia/sampling/counters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/sampling/program.h"

/* Longest form that follows a name. */
#define ROLLUP_BYTES (sizeof(".sum") - 1)

/* Bytes of a description of a programmable at most; counters of a set file, which may not be larger
 * than a mebibyte. */
enum { DESCRIPTION_MOST = 127, COUNTERS_MOST = 1000 };

static const char head[] =
    "format: 2\n"
    "kinds:\n"
    "  streamed: {domain: 0, unit: perfmon, layout: nv-interval, sampling: [time],"
    " parameters: [Rollup]}\n"
    "  queried: {domain: 0, unit: perfmon, layout: nv-interval, sampling: [event],"
    " parameters: [Rollup]}\n"
    "  both: {domain: 0, unit: perfmon, layout: nv-interval, sampling: [time, event],"
    " parameters: [Rollup]}\n"
    "programmables:\n";

/* What a profiler of CUPTI counts on a chip. */
struct listing {
    void *host;
    const char **names; /* sorted; the host's */
    size_t count;
};

/* Dimensions of CUPTI, whole or behind "gpc_", and our words; others are units as they are. */
static const struct {
    const char *dimension, *unit;
} units[] = {
    {"cycle", "cycles"},
    {"sector", "sectors"},
    {"request", "requests"},
    {"wavefront", "wavefronts"},
    {"byte", "bytes"},
    {"nanosecond", "ns"},
    {"instruction", "instructions"},
    {"warp", "warps"},
    {"thread", "threads"},
    {"cta", "groups"},
    {"cga", "clusters"},
    {"workload", "launches"},
};

static const char *unit_of(const char *dimension)
{
    const char *last = strrchr(dimension, '_');

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && !strchr(dimension, '/'); i++) {
        if (strcmp(last ? last + 1 : dimension, units[i].dimension) == 0)
            return units[i].unit;
    }
    return dimension;
}

/* A text in quotes; what is longer than a description may be ends with dots. */
static void write_quoted(FILE *file, const char *text)
{
    const size_t length = strlen(text);
    const size_t shown = length > DESCRIPTION_MOST ? DESCRIPTION_MOST - 3 : length;

    (void)fputc('"', file);
    for (size_t i = 0; i < shown; i++) {
        if (text[i] == '"' || text[i] == '\\')
            (void)fputc('\\', file);
        /* Braces would stand for a parameter. */
        if (text[i] == '{' || text[i] == '}')
            (void)fputc(text[i] == '{' ? '(' : ')', file);
        else
            (void)fputc(isprint((unsigned char)text[i]) ? text[i] : ' ', file);
    }
    (void)fputs(shown < length ? "...\"" : "\"", file);
}

/* Names of programmables have no dots. */
static void write_name(FILE *file, const char *name)
{
    for (; *name; name++)
        (void)fputc(*name == '.' ? '_' : *name, file);
}

static void write_upper(FILE *file, const char *text)
{
    for (; *text; text++)
        (void)fputc(toupper((unsigned char)*text), file);
}

/* Whether the text has a line "  - name: NAME". */
static bool is_curated(const char *curated, const char *name)
{
    char line[NVIDIA_NAME_BYTES + 16];

    (void)snprintf(line, sizeof(line), "- name: %s\n", name);
    return strstr(curated, line) != NULL;
}

static void write_counter(FILE *file, const struct nvidia_host_properties *properties,
                          const char *kind)
{
    const char *description = properties->description ? properties->description : "";
    const char *unit = properties->unit ? properties->unit : "";
    const char *dimension = properties->dimension ? properties->dimension : "";

    (void)fputs("  - {name: ", file);
    write_name(file, properties->name);
    (void)fprintf(file, ", kind: %s, description: ", kind);
    write_quoted(file, *description ? description : "CUPTI does not describe it.");
    (void)fputs(", component: \"", file);
    write_upper(file, *unit ? unit : "GPU");
    (void)fprintf(file,
                  "\",\n     counters: {count: {bank: F, select: [\"{slot}=%s.{rollup}\"]}},\n"
                  "     metric: {type: \"{as}\", value_type: f64, class: exact, unit: ",
                  properties->name);
    write_quoted(file, unit_of(dimension));
    (void)fputs(", value: \"{count}\"}}\n", file);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Result of CUPTI, or NVIDIA_CUPTI_OUT_OF_MEMORY; closed in any case. */
static int open_listing(const struct nvidia_cupti *cupti, int32_t type, const char *chip,
                        struct listing *out_listing)
{
    struct nvidia_host_initialize host = {.type = type, .chip = chip};
    struct nvidia_host_base_metrics list = {0};
    int result = nvidia_cupti_host_initialize(cupti, &host);

    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    out_listing->host = list.host = host.host;
    result = nvidia_cupti_host_base_metrics(cupti, &list);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    out_listing->names = calloc(list.count + 1, sizeof(*out_listing->names));
    if (!out_listing->names)
        return NVIDIA_CUPTI_OUT_OF_MEMORY;
    memcpy(out_listing->names, list.names, list.count * sizeof(*list.names));
    out_listing->count = list.count;
    qsort(out_listing->names, list.count, sizeof(*list.names), compare_names);
    return NVIDIA_CUPTI_SUCCESS;
}

static void close_listing(const struct nvidia_cupti *cupti, struct listing *listing)
{
    struct nvidia_host_object object = {.host = listing->host};

    if (listing->host)
        (void)nvidia_cupti_host_deinitialize(cupti, &object);
    free(listing->names);
}

static bool is_listed(const struct listing *listing, const char *name)
{
    return bsearch(&name, listing->names, listing->count, sizeof(name), compare_names) != NULL;
}

/* What to write of the counters of a listing. */
struct wanted {
    const struct listing *own, *other;
    const char *alone, *both; /* kinds of those that the other one lacks, and has; NULL: none */
    bool has_links;
    const char *curated; /* text with others */
};

/* Writes counters from a place of the listing on, as many as a file has; the place behind them. */
static size_t write_counters(const struct nvidia_cupti *cupti, const struct wanted *wanted,
                             size_t first, FILE *file)
{
    size_t i = first, written = 0;

    (void)fputs(head, file);
    for (; i < wanted->own->count && written < COUNTERS_MOST; i++) {
        const char *name = wanted->own->names[i];
        const char *kind = is_listed(wanted->other, name) ? wanted->both : wanted->alone;
        struct nvidia_host_properties properties = {.host = wanted->own->host, .name = name};
        const size_t length = strlen(name);

        if (!kind || !nvidia_program_is_name(name, length) ||
            length + ROLLUP_BYTES >= NVIDIA_NAME_BYTES || is_curated(wanted->curated, name) ||
            nvidia_cupti_host_properties(cupti, &properties) != NVIDIA_CUPTI_SUCCESS)
            continue;
        if (!wanted->has_links && properties.unit && strncmp(properties.unit, "nvl", 3) == 0)
            continue;
        write_counter(file, &properties, kind);
        written++;
    }
    return i;
}

/* All counters of a listing, file by file. */
static int write_files(const struct nvidia_cupti *cupti, const struct wanted *wanted,
                       const char *name, const struct zeta_plugin_text_sink *sink)
{
    for (size_t i = 0; i < wanted->own->count;) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *file = open_memstream(&text, &bytes);
        bool is_written;

        if (!file)
            return NVIDIA_CUPTI_OUT_OF_MEMORY;
        i = write_counters(cupti, wanted, i, file);
        is_written = !ferror(file);
        is_written = fclose(file) == 0 && is_written;
        if (is_written)
            sink->write(sink->context, zeta_string(name), zeta_string(text));
        free(text);
        if (!is_written)
            return NVIDIA_CUPTI_OUT_OF_MEMORY;
    }
    return NVIDIA_CUPTI_SUCCESS;
}

int nvidia_counters_write(const struct nvidia_cupti *cupti, const char *chip, bool has_links,
                          const char *curated, const struct zeta_plugin_text_sink *sink)
{
    struct listing streams = {0}, queries = {0};
    const struct wanted streamed = {&streams, &queries, "streamed", "both", has_links, curated};
    const struct wanted queried = {&queries, &streams, "queried", NULL, has_links, curated};
    int result = open_listing(cupti, NVIDIA_PM_SAMPLING, chip, &streams);

    if (result == NVIDIA_CUPTI_SUCCESS)
        result = open_listing(cupti, NVIDIA_RANGE_PROFILER, chip, &queries);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = write_files(cupti, &streamed, "counters of streams by CUPTI", sink);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = write_files(cupti, &queried, "counters of queries by CUPTI", sink);
    close_listing(cupti, &streams);
    close_listing(cupti, &queries);
    return result;
}
