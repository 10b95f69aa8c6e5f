/*
 * Loading what the Intel plugin ships, platform by platform, as when metric groups of a device are
 * asked for the first time: reading the set files, linking them, listing the sets that the device
 * has; then linking and compiling every set, of which an application uses few. Beside it libyaml,
 * which only splits the same files.
 *
 * usage: bench_platform_load [PLATFORM]
 */
#include <stdbool.h>
#include <yaml.h>

#include "core/formula/compile/compile.h"
#include "core/formula/programmables/recipe_set.h"
#include "tests/bench/bench.h"
#include "tests/intel_data/data.h"

#define ROUNDS 5

enum figure { READ, LINK, LIST, USE, PEER, FIGURES };

static void stop(const char *what)
{
    (void)fprintf(stderr, "bench_platform_load: %s\n", what);
    exit(1);
}

/** Milliseconds since *then, which becomes now. */
static double lap_ms(double *then)
{
    const double now = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    const double lap = (now - *then) * 1e3;

    *then = now;
    return lap;
}

/** A device that has everything: every part is there, and every number is above 0. */
static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    (void)name;
    *out_value = (struct zeta_number){ZETA_EXPR_U64, {.u64 = 0xff}};
    return true;
}

/** Compiles what the device has; the number of sets. */
static uint32_t list(const struct zeta_catalog *catalog, const struct zeta_symbol_values *values,
                     struct zeta_compiled **compiled)
{
    const struct zeta_symbol_lookup everything = {.find = find_symbol, .values = values};
    uint32_t count = 0;

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);
        const ze_result_t result =
            zeta_set_compile(catalog, set, &everything, NULL, &compiled[count]);

        if (result == ZE_RESULT_SUCCESS)
            count++;
        else if (result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
            stop(set->name);
    }
    return count;
}

static uint32_t load(const struct data_generation *generation,
                     const struct zeta_intel_platform *platform, struct bench_rounds *figures)
{
    double then = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    struct zeta_catalog *catalog = data_catalog_open(generation, platform, true);
    const struct zeta_symbol_lookup everything = {.find = find_symbol};
    struct zeta_symbol_values *values;
    struct zeta_compiled **compiled;
    uint32_t count;

    bench_add(&figures[READ], lap_ms(&then));
    if (zeta_catalog_link(catalog, NULL) != ZE_RESULT_SUCCESS ||
        zeta_programmables_link(catalog, NULL) != ZE_RESULT_SUCCESS)
        stop(platform->id);
    bench_add(&figures[LINK], lap_ms(&then));
    compiled = calloc((size_t)zeta_catalog_set_count(catalog) + 1, sizeof(struct zeta_compiled *));
    values = zeta_symbol_values_create(catalog, &everything);
    if (!compiled || !values)
        stop("no memory");
    count = list(catalog, values, compiled);
    bench_add(&figures[LIST], lap_ms(&then));
    for (uint32_t i = 0; i < count; i++) {
        if (zeta_compiled_check(compiled[i]) != ZE_RESULT_SUCCESS)
            stop(zeta_compiled_set(compiled[i])->name);
    }
    bench_add(&figures[USE], lap_ms(&then));
    for (uint32_t i = 0; i < count; i++)
        zeta_compiled_destroy(compiled[i]);
    free(compiled);
    free(values);
    zeta_catalog_destroy(catalog);
    return count;
}

/** All events of a file, thrown away; its bytes. */
static uint64_t split_file(const char *folder, const char *name)
{
    char path[512];
    yaml_parser_t parser;
    uint64_t bytes = 0;
    bool ended = false;
    FILE *file;

    /* What generations share is named by where it is installed: intel/NAME. */
    if (strncmp(name, "intel/", 6) == 0) {
        folder = "common";
        name += 6;
    }
    (void)snprintf(path, sizeof(path), ZETA_BENCH_SOURCE "/plugins/intel/data/%s/%s", folder, name);
    file = fopen(path, "r");
    if (!file || !yaml_parser_initialize(&parser))
        stop(path);
    yaml_parser_set_input_file(&parser, file);
    while (!ended) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event))
            stop(path);
        ended = event.type == YAML_STREAM_END_EVENT;
        bytes = event.end_mark.index;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    (void)fclose(file);
    return bytes;
}

static uint64_t split(const struct data_generation *generation,
                      const struct zeta_intel_platform *platform, struct bench_rounds *figure)
{
    double then = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t bytes = 0;

    for (size_t i = 0; i < generation->manifest.metrics.count; i++)
        bytes += split_file("common", generation->manifest.metrics.items[i]);
    for (uint32_t i = 0; i < platform->set_count; i++)
        bytes += split_file(generation->name, platform->sets[i]);
    bench_add(figure, lap_ms(&then));
    return bytes;
}

static void measure(const struct data_generation *generation,
                    const struct zeta_intel_platform *platform)
{
    struct bench_rounds figures[FIGURES] = {{{0}, 0}};
    uint32_t sets = 0;
    uint64_t bytes = 0;
    double sum = 0;

    for (int round = 0; round < ROUNDS; round++) {
        sets = load(generation, platform, figures);
        bytes = split(generation, platform, &figures[PEER]);
    }
    for (int i = 0; i < USE; i++)
        sum += bench_least(&figures[i]);
    (void)printf("  %-8s %-10s %5u %5llu %7.2f", generation->name, platform->id, sets,
                 (unsigned long long)bytes / 1024, sum);
    for (int i = 0; i < FIGURES; i++)
        (void)printf("  %6.2f (%5.2f)", bench_least(&figures[i]), bench_median(&figures[i]));
    (void)printf("\n");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    uint32_t count = 0;
    struct data_generation *generations = data_read(&count);

    bench_begin("set files of Intel's platforms: milliseconds, best of 5 rounds (median)",
                "Tiger Lake's sets <= 5 ms");
    (void)printf("  %-8s %-10s %5s %5s %7s  %14s  %14s  %14s  %14s  %14s\n", "", "platform", "sets",
                 "KiB", "sum", "read", "link", "list", "use of all", "libyaml alone");
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t p = 0; p < generations[i].platforms.count; p++) {
            const struct zeta_intel_platform *platform = &generations[i].platforms.items[p];

            if (argc < 2 || strcmp(platform->id, argv[1]) == 0)
                measure(&generations[i], platform);
        }
    }
    data_free(generations, count);
    return 0;
}
