/*
 * A kernel and a host of the plugin that a test plays word by word: clock, reports, losses,
 * failures, settings; and what was asked of them.
 */
#ifndef ZETA_TESTS_INTEL_SCRIPTED_H
#define ZETA_TESTS_INTEL_SCRIPTED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugins/intel/gpu/intel.h"

enum { SCRIPTED_TILES = 2, SCRIPTED_REPORTS = 4096, SCRIPTED_REPORT_BYTES = 64 };

/** Of the clock: it goes with the host's. */
enum { SCRIPTED_TICK_NS = 1000 };

struct scripted_report {
    uint32_t id, ticks, words[14];
};

/** The unit of one tile. */
struct scripted_source {
    struct zeta_intel_kernel_stream stream;
    bool is_open;
    struct scripted_report reports[SCRIPTED_REPORTS];
    uint32_t first, count;
    bool broken;
    bool has_loss;
    bool is_counted;  /**< who read the last report came back, and found no more */
    uint32_t failure; /**< of each read, with what there is */
    uint32_t exponent;
};

/** All of it. What the plugin's thread touches is behind the lock while a stream is open. */
extern struct scripted {
    pthread_mutex_t lock;
    uint64_t now_ticks;
    uint64_t host_shift_ns; /**< of the host's clock, against now_ticks */
    uint64_t reset_ticks;   /**< not 0: where the next read that gives reports sets the clock */
    struct scripted_source sources[SCRIPTED_TILES];
    uint32_t opens;                      /**< of streams so far */
    uint32_t refusals;                   /**< of openings, to come */
    uint64_t configs;                    /**< uploaded so far: the id of the last one */
    uint64_t oldest_config;              /**< somebody removed those with lower ids */
    uint64_t least_ns, least_for_all_ns; /**< between reports */
    char sentence[1024];                 /**< the last one that the plugin said */
    char setting[32];                    /**< query_period_ns; empty: not set */
} scripted;

extern const struct zeta_intel_kmd scripted_kmd;
extern const struct zeta_plugin_host_ops scripted_host;

/** As at the start: time 5, no reports, nothing refused. */
void scripted_reset(void);

void scripted_set_time(uint64_t ticks);

/** The device is reset: its clock goes on from there, the host's does not notice. */
void scripted_reset_device(uint64_t ticks);

/** A report of a tile at a time, when its counter stood at a value; time has passed until then. */
void scripted_report_on(uint32_t tile, uint64_t ticks, uint32_t count, uint32_t id);
/** The same of the first tile, by its timer. */
void scripted_report(uint64_t ticks, uint32_t count);

/** The next read of the first tile says that reports are missing before it. */
void scripted_lose_reports(void);
/** The next read of the first tile is told that some are missing, somewhere. */
void scripted_tell_loss(void);
/** All reads of the first tile fail from now on. */
void scripted_fail_reads(uint32_t result);

/** Until somebody has read every report of the first tile, and done what was to be done with it. */
void scripted_await_reader(void);

/** Whether every report was read; something may still be to be done. */
bool scripted_is_empty(void);

#endif
