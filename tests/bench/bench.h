/*
 * What benchmarks share: their head, clocks, and rounds.
 *
 * Machines are shared. So what is compared is measured in turn, round by round, and a figure is the
 * best round with the median behind it: they lie far apart when others disturbed.
 */
#ifndef ZETA_TESTS_BENCH_BENCH_H
#define ZETA_TESTS_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/** Most rounds of one figure. */
#define BENCH_MOST_ROUNDS 32u

/** Seconds of a clock. */
static inline double bench_seconds(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/**
 * Lets this process, and those that it starts, see the virtual GPU of the build and nothing else,
 * with metrics on, as an instance of its own: others may count on the usual one. Says so. Before
 * the first call of the library.
 */
static inline void bench_use_virtual_gpu(void)
{
    char instance[40];

    (void)snprintf(instance, sizeof(instance), "bench-%ld", (long)getpid());
    (void)setenv("ZETA_VGPU_INSTANCE", instance, 1);
    (void)setenv("ZETA_PLUGIN_PATH", ZETA_BUILD_DIR "/share/zeta", 0);
    (void)setenv("ZETA_CONFIG", "none", 0);
    (void)setenv("ZETA_PLUGINS_SELECT", "vgpu", 1);
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    (void)printf("on the virtual GPU (ZETA_PLUGINS_SELECT=vgpu)\n");
    (void)fflush(stdout);
}

/**
 * Prints what is measured, the budget and how busy the machine is.
 *
 * @budget  NULL: there is none for it
 */
static inline void bench_begin(const char *what, const char *budget)
{
    double load[1] = {0};

    (void)getloadavg(load, 1);
    (void)printf("%s\n  budget: %s\n  load %.1f on %ld processors\n", what,
                 budget ? budget : "none", load[0], sysconf(_SC_NPROCESSORS_ONLN));
    (void)fflush(stdout);
}

/** Measurements of one thing. Zero-initialised: none yet. */
struct bench_rounds {
    double values[BENCH_MOST_ROUNDS];
    unsigned count;
};

/** Adds a measurement; at most BENCH_MOST_ROUNDS. */
static inline void bench_add(struct bench_rounds *rounds, double value)
{
    if (rounds->count < BENCH_MOST_ROUNDS)
        rounds->values[rounds->count++] = value;
}

static inline int bench_compare(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

/** The smallest value; 0 without rounds. */
static inline double bench_least(const struct bench_rounds *rounds)
{
    double least = rounds->count > 0 ? rounds->values[0] : 0;

    for (unsigned i = 1; i < rounds->count; i++)
        least = rounds->values[i] < least ? rounds->values[i] : least;
    return least;
}

/** The largest value; 0 without rounds. */
static inline double bench_most(const struct bench_rounds *rounds)
{
    double most = 0;

    for (unsigned i = 0; i < rounds->count; i++)
        most = rounds->values[i] > most ? rounds->values[i] : most;
    return most;
}

/** The value in the middle, of an even number of rounds the lower one; 0 without rounds. */
static inline double bench_median(const struct bench_rounds *rounds)
{
    double sorted[BENCH_MOST_ROUNDS];

    if (rounds->count == 0)
        return 0;
    memcpy(sorted, rounds->values, rounds->count * sizeof(sorted[0]));
    qsort(sorted, rounds->count, sizeof(sorted[0]), bench_compare);
    return sorted[(rounds->count - 1) / 2];
}

#endif
