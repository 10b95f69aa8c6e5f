/*
 * A device that is sampled while a program runs, or for a while: the first report is there before
 * the program begins, and the last one comes after its end.
 */
#ifndef ZETA_TOOLS_SAMPLING_SESSION_H
#define ZETA_TOOLS_SAMPLING_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/program/child.h"
#include "sdk/tools/zeta/sampling/sampler.h"

struct zeta_session {
    struct zeta_child child;
    struct zeta_sampler sampler; /**< open */
    const struct zeta_device_entry *device;
    char **program;   /**< null-terminated arguments; null: none */
    char **variables; /**< the program's environment */
    uint64_t for_ns;  /**< how long without a program; 0: until somebody asks to end */

    /** Called after each reading of the streams; on failure it printed why. Null: nothing to do. */
    int (*after_read)(void *user);
    void *user;
    uint64_t
        pause_limit_ns; /**< the longest time between two readings; 0: what the streams allow */

    uint64_t elapsed_ns; /**< of sampling */
    uint64_t cpu_ns;     /**< of this process, all threads, meanwhile */
    bool was_started;    /**< the program ran, or the sampling without one began */
};

/**
 * How opening the sampler went: gives the status back. Where hardware refused, prints how to choose
 * the virtual GPU.
 */
int zeta_session_opened(const struct zeta_session *session, int status);

/**
 * Waits for the first report, runs the program, samples until its end and one report more. On
 * failure prints why; the program goes on when the sampling fails, and its end is awaited either
 * way.
 */
int zeta_session_run(struct zeta_session *session);

/** Exit code for the shell: the program's own if it failed, else status. */
int zeta_session_exit_code(const struct zeta_session *session, int status);

#endif
