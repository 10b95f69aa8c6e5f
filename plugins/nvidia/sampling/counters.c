#include "plugins/nvidia/sampling/counters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/sampling/program.h"

/* Longest form that follows a name. */
#define ROLLUP_BYTES (sizeof(".sum") - 1)

/* Bytes of a description of a programmable at most. */
enum { DESCRIPTION_MOST = 127 };

static const char head[] =
    "format: 2\n"
    "kinds:\n"
    "  counter: {domain: 0, unit: perfmon, layout: nv-interval, sampling: [time],"
    " parameters: [Rollup]}\n"
    "programmables:\n";

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

static void write_counter(FILE *file, const struct nvidia_host_properties *properties)
{
    const char *description = properties->description ? properties->description : "";
    const char *unit = properties->unit ? properties->unit : "";
    const char *dimension = properties->dimension ? properties->dimension : "";

    (void)fputs("  - {name: ", file);
    write_name(file, properties->name);
    (void)fputs(", kind: counter, description: ", file);
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

/* Result of CUPTI. */
static int write_counters(const struct nvidia_cupti *cupti, void *host, bool has_links,
                          const char *curated, FILE *file)
{
    struct nvidia_host_base_metrics list = {.host = host};
    const int result = nvidia_cupti_host_base_metrics(cupti, &list);

    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    (void)fputs(head, file);
    for (size_t i = 0; i < list.count; i++) {
        struct nvidia_host_properties properties = {.host = host, .name = list.names[i]};
        const size_t length = strlen(list.names[i]);

        if (!nvidia_program_is_name(list.names[i], length) ||
            length + ROLLUP_BYTES >= NVIDIA_NAME_BYTES || is_curated(curated, list.names[i]) ||
            nvidia_cupti_host_properties(cupti, &properties) != NVIDIA_CUPTI_SUCCESS)
            continue;
        if (has_links || !properties.unit || strncmp(properties.unit, "nvl", 3) != 0)
            write_counter(file, &properties);
    }
    return NVIDIA_CUPTI_SUCCESS;
}

char *nvidia_counters_write(const struct nvidia_cupti *cupti, const char *chip, bool has_links,
                            const char *curated, int *out_result)
{
    struct nvidia_host_initialize begin = {.type = NVIDIA_PM_SAMPLING, .chip = chip};
    struct nvidia_host_object end;
    char *text = NULL;
    size_t bytes = 0;
    bool is_written;
    FILE *file;

    *out_result = nvidia_cupti_host_initialize(cupti, &begin);
    if (*out_result != NVIDIA_CUPTI_SUCCESS)
        return NULL;
    end = (struct nvidia_host_object){.host = begin.host};
    file = open_memstream(&text, &bytes);
    if (file)
        *out_result = write_counters(cupti, begin.host, has_links, curated, file);
    is_written = file && !ferror(file);
    is_written = file && fclose(file) == 0 && is_written;
    (void)nvidia_cupti_host_deinitialize(cupti, &end);
    if (is_written && *out_result == NVIDIA_CUPTI_SUCCESS)
        return text;
    if (!is_written)
        *out_result = NVIDIA_CUPTI_OUT_OF_MEMORY;
    free(text);
    return NULL;
}
