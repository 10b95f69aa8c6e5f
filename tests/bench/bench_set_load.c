/*
 * Reading, linking and compiling set files as large as those of a GPU with many sets: 1000 shared
 * definitions, 50 sets of 40 metrics each. Beside it libyaml, which only splits the same text.
 */
#include <yaml.h>

#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/util/list.h"
#include "tests/bench/bench.h"

#define SHARED 1000u
#define SETS 50u
#define METRICS 40u
#define ROUNDS 15

enum figure { READ, LINK, COMPILE, PEER, FIGURES };

static void write_text(struct zeta_text *text)
{
    zeta_text_add(text, "format: 1\nunits: {u: {}}\nlayouts:\n"
                        "  - {name: l, kind: delta, record: 256,\n"
                        "     header: {ticks: {at: 0, width: 32, delta: 32}},\n"
                        "     counters: {A: [{n: 30, at: 8, stride: 8, width: 64}]}}\nmetrics:\n");
    for (unsigned i = 0; i < SHARED; i++)
        zeta_text_add(
            text,
            "  M%u: {type: ratio, value_type: f32, unit: percent, tier: 3, class: exact,\n"
            "    component: EU Array/Pixel Shader,\n"
            "    value: \"f64(A[%u] * 100) / f64(A[%u] + %u)\", description: \"M%u.\"}\n",
            i, i % 30, i % 7, i, i);
    zeta_text_add(text, "sets:\n");
    for (unsigned set = 0; set < SETS; set++) {
        zeta_text_add(text,
                      "  - {name: s%u, description: d, domain: 0, unit: u, layout: l,\n"
                      "     sampling: [time], metrics: [",
                      set);
        for (unsigned i = 0; i < METRICS; i++)
            zeta_text_add(text, "%sM%u", i > 0 ? ", " : "", (set * 20 + i) % SHARED);
        zeta_text_add(text, "]}\n");
    }
}

/** Milliseconds since *then, which becomes now. */
static double lap_ms(double *then)
{
    const double now = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    const double lap = (now - *then) * 1e3;

    *then = now;
    return lap;
}

static void load(const struct zeta_text *text, struct bench_rounds *figures)
{
    double then = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    struct zeta_catalog *catalog = zeta_catalog_create();

    if (!catalog || zeta_catalog_add_whole(catalog, "bench", text->data, strlen(text->data),
                                           NULL) != ZE_RESULT_SUCCESS)
        abort();
    bench_add(&figures[READ], lap_ms(&then));
    if (zeta_catalog_link(catalog, NULL) != ZE_RESULT_SUCCESS)
        abort();
    bench_add(&figures[LINK], lap_ms(&then));
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        struct zeta_compiled *compiled = NULL;

        if (zeta_set_compile(catalog, zeta_catalog_set(catalog, i), NULL, NULL, &compiled) !=
            ZE_RESULT_SUCCESS)
            abort();
        zeta_compiled_destroy(compiled);
    }
    bench_add(&figures[COMPILE], lap_ms(&then));
    zeta_catalog_destroy(catalog);
}

/** All events of the text, thrown away. */
static void split(const struct zeta_text *text, struct bench_rounds *figure)
{
    double then = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    yaml_parser_t parser;
    bool ended = false;

    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, strlen(text->data));
    while (!ended) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event))
            abort();
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    bench_add(figure, lap_ms(&then));
}

int main(void)
{
    static const char *const names[FIGURES] = {"read", "link", "compile", "peer: libyaml alone"};
    struct bench_rounds figures[FIGURES] = {{{0}, 0}};
    struct zeta_text text = {0};

    write_text(&text);
    if (text.failed)
        return 1;
    bench_begin("set files: 1000 shared metrics, 50 sets of 40", NULL);
    for (int round = 0; round < ROUNDS; round++) {
        load(&text, figures);
        split(&text, &figures[PEER]);
    }
    (void)printf("  %zu KiB;", strlen(text.data) / 1024);
    for (int i = 0; i < FIGURES; i++)
        (void)printf("%s %s %.2f ms (median %.2f)", i > 0 ? ";" : "", names[i],
                     bench_least(&figures[i]), bench_median(&figures[i]));
    (void)printf("\n");
    free(text.data);
    return 0;
}
