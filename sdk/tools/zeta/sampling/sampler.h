/*
 * Samples several groups of a device at once and sums up their rows.
 */
#ifndef ZETA_TOOLS_SAMPLING_SAMPLER_H
#define ZETA_TOOLS_SAMPLING_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/program/program.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

/** One open stream and the memory to read it with, which does not grow. */
struct zeta_sampler_stream {
    struct zeta_sampled_group group;
    zet_metric_streamer_handle_t streamer;
    uint8_t *raw;
    size_t raw_bytes;
    uint32_t read_records; /**< of one read */
    uint64_t ring_records;
    struct zeta_ip_profile *profile; /**< takes the rows in place of the group; usually null */
    bool is_over;                    /**< a recording, of which everything was read */
};

/**
 * Sees the raw reports of a stream before they become rows: whole reads, each of which can be
 * calculated by itself. On failure it printed why, and the sampling ends.
 */
typedef int (*zeta_sampler_tap)(void *user, uint32_t stream, const uint8_t *raw, size_t bytes);

/** What is sampled. Groups have their metrics, are of different domains and outlive the sampler. */
struct zeta_sampler_desc {
    const struct zeta_device_entry *device;
    struct zeta_group_entry *const *groups;
    uint32_t group_count;
    uint64_t period_ns; /**< wanted; the one in use is in each stream's group */
    bool has_period;    /**< it was asked for: one that is far from it is printed */
    const zet_metric_group_handle_t
        *more_groups; /**< activated and not sampled: those of tracers */
    uint32_t more_count;
    size_t read_bytes; /**< largest wanted read, as far as few records allow; 0: any */
    struct zeta_ip_profile *profile; /**< null, or takes the rows of the last group */
    uint64_t ip_period_ns;           /**< of that group */
};

struct zeta_sampler {
    const struct zeta_device_entry *device;
    ze_context_handle_t context;
    bool is_active; /**< groups are activated */
    struct zeta_sampler_stream *streams;
    uint32_t stream_count;
    zeta_sampler_tap tap; /**< null: none; may be set once it is open */
    void *tap_user;
    uint64_t calculation_ns; /**< time of this thread spent in calculating rows */
};

/**
 * Activates groups and opens a stream for each. On failure prints why. zeta_sampler_close ends it
 * either way.
 */
int zeta_sampler_open(struct zeta_sampler *sampler, const struct zeta_sampler_desc *desc);

/** Takes what has arrived on every stream until there is no more. On failure prints why. */
int zeta_sampler_read(struct zeta_sampler *sampler);

/** Whether every stream has given its first row; a profile has none before there is work. */
bool zeta_sampler_has_started(const struct zeta_sampler *sampler);

/**
 * Whether every stream has given the rows up to so long before an instant of zeta_sampler_now; what
 * a profile lacks is there with the next read.
 */
bool zeta_sampler_reaches(const struct zeta_sampler *sampler, uint64_t device_ticks,
                          uint64_t before_ns);

/** Whether all streams are those of recordings and have given everything. */
bool zeta_sampler_is_over(const struct zeta_sampler *sampler);

/** Ticks of the device clock. On failure prints why. */
int zeta_sampler_now(const struct zeta_sampler *sampler, uint64_t *out_device_ticks);

/** How long the streams may be left alone without a loss, and without letting it show. */
uint64_t zeta_sampler_pause_ns(const struct zeta_sampler *sampler);

/** Ends the streams and deactivates the groups. */
void zeta_sampler_stop(struct zeta_sampler *sampler);

/** Calculates what is shown of the groups, after the stop. On failure prints why. */
int zeta_sampler_settle(struct zeta_sampler *sampler);

/** Stops if needed and frees everything, the groups' sums too. */
void zeta_sampler_close(struct zeta_sampler *sampler);

/** A run of a program, or a time without one, during which a device is sampled. */
struct zeta_session {
    /* Set before zeta_session_init(). */
    char **program;     /**< null-terminated arguments; null: none */
    bool is_shared;     /**< use the virtual devices that other processes use */
    bool has_modules;   /**< the program shall write the images of its modules */
    const char *hidden; /**< a variable that is for the program alone; null: none */
    uint64_t for_ns;    /**< how long without a program; 0: until a signal */
    /** Called after each reading of the streams; on failure it printed why. Null: nothing to do. */
    int (*after_read)(void *user);
    void *user;
    uint64_t pause_limit_ns; /**< longest time between two readings; 0: what the streams allow */

    struct zeta_environment environment;
    struct zeta_device_list devices;
    const struct zeta_device_entry *device;
    struct zeta_group_list groups; /**< of the device */
    char **variables;              /**< the program's environment */
    struct zeta_child child;
    struct zeta_sampler sampler;

    uint64_t elapsed_ns; /**< of sampling */
    uint64_t cpu_ns;     /**< of this process, all threads, meanwhile */
    bool was_started;    /**< the program ran, or the sampling without one began */
};

/**
 * Takes over the signals, prepares the program's environment and lists the groups of a device
 * (null: the first one). On failure prints why. zeta_session_finish ends it either way.
 */
int zeta_session_init(struct zeta_session *session, const char *device);

/**
 * Opens the sampler on the session's device, which the description need not name. On failure prints
 * why, and where hardware refused, how to choose the virtual GPU.
 */
int zeta_session_open(struct zeta_session *session, struct zeta_sampler_desc desc);

/**
 * Waits for the first report, runs the program, samples until its end and one report more. On
 * failure prints why; the program goes on when the sampling fails, and its end is awaited either
 * way.
 */
int zeta_session_run(struct zeta_session *session);

/** Exit code for the shell: the program's own if it failed, else status. */
int zeta_session_exit_code(const struct zeta_session *session, int status);

void zeta_session_finish(struct zeta_session *session);

#endif
