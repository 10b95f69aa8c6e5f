/*
 * Decoding of tracer data in events per second, beside a switch over the same records written by
 * hand.
 *
 * 65536 records of 64 bytes per call, always into the same buffers, one core. Entries of both
 * programs are compared before anything is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/evaluate/decode.h"
#include "core/formula/evaluate/evaluate.h"
#include "tests/bench/bench.h"

#define RECORDS 65536u
#define RECORD_BYTES 64u
#define MOST_ENTRIES 4u
#define TICK_NS 40u
#define ROUNDS 7
#define ROUND_S 0.03

enum { ENABLED = 1, KERNEL_BEGIN, KERNEL_END, GROUP_BEGIN, GROUP_END, COPY };

static const char set_text[] =
    "format: 1\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: trace\n"
    "    kind: event\n"
    "    record: 64\n"
    "    header:\n"
    "      type: {at: 0, width: 16}\n"
    "      tile: {at: 2, width: 8}\n"
    "      thread: {at: 4, width: 32}\n"
    "      ticks: {at: 8, width: 64}\n"
    "      kernel: {at: 16, width: 64}\n"
    "      began: {at: 24, width: 64}\n"
    "      bytes: {at: 32, width: 64}\n"
    "    events: {enabled: 1, kernel_begin: 2, kernel_end: 3, group_begin: 4, group_end: 5,\n"
    "             copy: 6}\n"
    "sets:\n"
    "  - name: All\n"
    "    description: d\n"
    "    domain: 0\n"
    "    unit: u\n"
    "    layout: trace\n"
    "    sampling: [tracer]\n"
    "    metrics:\n"
    "      - {name: KernelBegin, description: d, type: raw, value_type: u64, class: exact,\n"
    "         events: [kernel_begin], value: kernel}\n"
    "      - {name: KernelEnd, description: d, type: raw, value_type: u64, class: exact,\n"
    "         events: [kernel_end], value: kernel}\n"
    "      - {name: KernelTime, description: d, type: duration, value_type: u64, class: exact,\n"
    "         events: [kernel_end], value: '(ticks - began) * 40'}\n"
    "      - {name: Thread, description: d, type: raw, value_type: u32, class: exact,\n"
    "         events: [group_begin, group_end], value: thread}\n"
    "      - {name: GroupTime, description: d, type: duration, value_type: u64, class: exact,\n"
    "         events: [group_end], value: '(ticks - began) * 40'}\n"
    "      - {name: CopyBytes, description: d, type: event, value_type: u64, class: exact,\n"
    "         events: [copy], value: bytes}\n"
    "      - {name: CopyRate, description: d, type: throughput, value_type: f64, class: exact,\n"
    "         events: [copy], value: 'f64(bytes) / f64((ticks - began) * 40)'}\n";

static uint64_t get64(const unsigned char *record, size_t at)
{
    uint64_t value;

    memcpy(&value, record + at, sizeof(value));
    return value;
}

/** What a program that knows the records would do. Any metric may be left out, as with us. */
static size_t decode_by_hand(const unsigned char *raw, size_t raw_bytes, const uint32_t *names,
                             zet_metric_entry_exp_t *entries)
{
    zet_metric_entry_exp_t *at = entries;

    for (size_t i = 0; i < raw_bytes; i += RECORD_BYTES) {
        const unsigned char *record = raw + i;
        const uint64_t ticks = get64(record, 8);
        zet_metric_entry_exp_t entry = {.timeStamp = ticks * TICK_NS};
        uint16_t type;
        uint32_t thread;

        memcpy(&type, record, sizeof(type));
        memcpy(&thread, record + 4, sizeof(thread));
#define GIVE(metric, member, number)                                                               \
    do {                                                                                           \
        if (names[metric] != ZETA_DECODE_LEFT_OUT) {                                               \
            entry.value.ui64 = 0;                                                                  \
            entry.value.member = (number);                                                         \
            entry.metricIndex = names[metric];                                                     \
            *at++ = entry;                                                                         \
        }                                                                                          \
    } while (0)
        switch (type) {
        case KERNEL_BEGIN:
            GIVE(0, ui64, get64(record, 16));
            break;
        case KERNEL_END:
            GIVE(1, ui64, get64(record, 16));
            GIVE(2, ui64, (ticks - get64(record, 24)) * TICK_NS);
            break;
        case GROUP_BEGIN:
            GIVE(3, ui32, thread);
            break;
        case GROUP_END:
            GIVE(3, ui32, thread);
            GIVE(4, ui64, (ticks - get64(record, 24)) * TICK_NS);
            break;
        case COPY:
            GIVE(5, ui64, get64(record, 32));
            GIVE(6, fp64,
                 (double)get64(record, 32) / (double)((ticks - get64(record, 24)) * TICK_NS));
            break;
        default:
            break;
        }
#undef GIVE
    }
    return (size_t)(at - entries);
}

/** A kernel of 30 groups and a copy, again and again. */
static void fill(unsigned char *raw)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        unsigned char *record = raw + (size_t)i * RECORD_BYTES;
        const uint32_t step = i % 64;
        const uint16_t type = step == 0    ? KERNEL_BEGIN
                              : step == 62 ? KERNEL_END
                              : step == 63 ? COPY
                              : step % 2   ? GROUP_BEGIN
                                           : GROUP_END;
        const uint64_t numbers[4] = {100 + (uint64_t)i * 3, i / 64, 90 + (uint64_t)i * 3, i * 512u};
        const uint32_t thread = step / 2;

        memset(record, 0, RECORD_BYTES);
        memcpy(record, &type, sizeof(type));
        memcpy(record + 4, &thread, sizeof(thread));
        memcpy(record + 8, numbers, sizeof(numbers));
    }
}

static struct zeta_decode_plan *make_plan(void)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_compiled *compiled[1] = {NULL};
    const struct zeta_decode_group group = {.compiled = compiled};
    const struct zeta_decode_source source = {
        .groups = &group, .group_count = 1, .timer_hz = 25000000, .timestamp_bits = 64};
    struct zeta_decode_plan *plan = NULL;
    struct zeta_diagnostics sink = {0};

    if (!catalog ||
        zeta_catalog_add_text(catalog, set_text, strlen(set_text), "t", &sink) !=
            ZE_RESULT_SUCCESS ||
        zeta_catalog_link(catalog, &sink) != ZE_RESULT_SUCCESS ||
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, &sink, &compiled[0]) !=
            ZE_RESULT_SUCCESS ||
        zeta_decode_plan_create(&source, &plan) != ZE_RESULT_SUCCESS) {
        (void)fprintf(stderr, "bench_decode: %s\n", sink.first_error);
        exit(1);
    }
    return plan;
}

struct subject {
    const struct zeta_decode_plan *plan;
    const unsigned char *raw;
    const uint32_t *names;
    zet_metric_entry_exp_t *entries;
};

static uint64_t run_ours(const struct subject *subject)
{
    const struct zeta_decode_request request = {.raw = subject->raw,
                                                .raw_bytes = (size_t)RECORDS * RECORD_BYTES,
                                                .names = subject->names,
                                                .set_count = 1,
                                                .capacity = (uint64_t)RECORDS * MOST_ENTRIES};
    struct zeta_decode_outcome outcome;
    uint64_t counts[1];

    if (zeta_decode(subject->plan, &request, counts, subject->entries, &outcome) !=
        ZE_RESULT_SUCCESS)
        exit(1);
    return outcome.entry_count;
}

static uint64_t run_hand(const struct subject *subject)
{
    return decode_by_hand(subject->raw, (size_t)RECORDS * RECORD_BYTES, subject->names,
                          subject->entries);
}

/** Million events per second of processor time. */
static double measure(uint64_t (*run)(const struct subject *), const struct subject *subject)
{
    const double begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t events = 0;
    double took;

    do {
        (void)run(subject);
        events += RECORDS;
        took = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    } while (took < ROUND_S);
    return (double)events / took / 1e6;
}

static void measure_both(const char *name, const struct subject *subject)
{
    struct bench_rounds ours = {0}, hand = {0};

    for (unsigned round = 0; round < ROUNDS; round++) {
        bench_add(&ours, measure(run_ours, subject));
        bench_add(&hand, measure(run_hand, subject));
    }
    (void)printf("  %-26s %6.1f (%6.1f)   by hand %6.1f (%6.1f)\n", name, bench_most(&ours),
                 bench_median(&ours), bench_most(&hand), bench_median(&hand));
}

static void compare(const struct subject *subject)
{
    const size_t most = (size_t)RECORDS * MOST_ENTRIES;
    zet_metric_entry_exp_t *other = calloc(most, sizeof(*other));
    struct subject hand = *subject;
    uint64_t count;

    if (!other)
        exit(1);
    hand.entries = other;
    count = run_hand(&hand);
    if (run_ours(subject) != count ||
        memcmp(subject->entries, other, count * sizeof(*other)) != 0) {
        (void)fprintf(stderr, "bench_decode: the two decoders differ\n");
        exit(1);
    }
    free(other);
}

int main(void)
{
    static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6};
    static const uint32_t kernels[] = {0,
                                       1,
                                       2,
                                       ZETA_DECODE_LEFT_OUT,
                                       ZETA_DECODE_LEFT_OUT,
                                       ZETA_DECODE_LEFT_OUT,
                                       ZETA_DECODE_LEFT_OUT};
    static const struct {
        const char *name;
        const uint32_t *names;
    } cases[] = {{"all seven metrics", all}, {"three metrics of kernels", kernels}};
    unsigned char *raw = malloc((size_t)RECORDS * RECORD_BYTES);
    zet_metric_entry_exp_t *entries = calloc((size_t)RECORDS * MOST_ENTRIES, sizeof(*entries));
    struct zeta_decode_plan *plan = make_plan();

    if (!raw || !entries)
        return 1;
    fill(raw);
    bench_begin(
        "decoder of tracer data: million events per second, best of 7 rounds (median), beside "
        "a switch written by hand",
        NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct subject subject = {plan, raw, cases[i].names, entries};

        compare(&subject);
        measure_both(cases[i].name, &subject);
    }
    zeta_decode_plan_destroy(plan);
    free(entries);
    free(raw);
    return 0;
}
