#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_PROGRAM_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_PROGRAM_H

/*
 * Programs of sets: which metrics of CUPTI go into which field of a record. An entry is a text:
 *
 *     C4=NAME             field 4 of the bank C, of streams and queries
 *     C4=NAME;OTHER       OTHER in queries
 *     C4=NAME;            of streams alone; C4=;OTHER of queries alone
 *     F0=NAME             field 0 of the bank F
 *     shortest=1000000    no stream has a shorter period, in ns, unless the setting says so
 *
 * and the record nv-interval, of 512 bytes, little-endian:
 *
 *     at   0  start, ns of the host's clock          24  sequence, lost ones included
 *          8  timestamp: the end                     32  valid: bit i for F[i]
 *         16  flags: 2 first behind a loss           40  C: 40 counts, u64
 *         20  set: number of the program            360  F: 19 values, f64
 *
 * and a query record has the same fields.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin_host.h>

enum {
    NVIDIA_COUNTS = 40, /**< fields of the bank C */
    NVIDIA_VALUES = 19, /**< fields of the bank F */
    NVIDIA_FIELDS = NVIDIA_COUNTS + NVIDIA_VALUES,
    NVIDIA_NAME_BYTES = 160, /**< of a metric, with the terminator */
    NVIDIA_RECORD_BYTES = 512
};

/** A record in memory: the layout nv-interval. */
struct nvidia_interval {
    uint64_t start_ns, end_ns;
    uint32_t flags; /**< NVIDIA_BEHIND_LOSS */
    uint32_t set;
    uint64_t sequence;
    uint64_t valid; /**< bit i: values[i] was measured */
    uint64_t counts[NVIDIA_COUNTS];
    double values[NVIDIA_VALUES];
};

/** Flags of a record. */
enum { NVIDIA_BEHIND_LOSS = 2 };

/** The metrics of a program for one use. */
struct nvidia_program {
    uint32_t count;                   /**< at least 1 */
    uint32_t fields[NVIDIA_FIELDS];   /**< of each: C[i] is i, F[i] is NVIDIA_COUNTS + i */
    const char *names[NVIDIA_FIELDS]; /**< into the texts */
    char texts[NVIDIA_FIELDS][NVIDIA_NAME_BYTES];
    uint64_t shortest_ns; /**< period of a stream, 0: the entries do not say */
};

/** Whether that may be the name of a metric: letters, digits, dots, underscores, and not too long.
 */
bool nvidia_program_is_name(const char *text, size_t length);

/**
 * Reads the entries (struct zeta_plugin_program_entry) of a set for ZETA_PLUGIN_USE_*. Points into
 * itself, so it stays where it is. INVALID_ARGUMENT with the set and the entry: what is no such
 * text, a field that is not there or given twice, no metric at all, registers.
 */
uint32_t nvidia_program_read(const struct zeta_host *host, struct zeta_plugin_string set,
                             const struct zeta_plugin_array *entries, uint32_t kind,
                             struct nvidia_program *out_program);

/**
 * Puts the values of all metrics of a program, in its order, into the fields of a record; the other
 * fields become 0. False if a count is none (NaN, infinite, negative): then nothing of the interval
 * is of use.
 */
bool nvidia_program_store(const struct nvidia_program *program, const double *values,
                          struct nvidia_interval *interval);

/** The number of a program in records, from the text that identifies it. */
uint32_t nvidia_program_number(struct zeta_plugin_string digest);

#endif
