/*
 * A descriptor that polls readable while a condition holds, for streams and event queues of
 * backends. Static helper: linked into the plugin, no part of the plugin interface.
 */
#ifndef ZETA_NOTIFY_H
#define ZETA_NOTIFY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A level. The owner serialises calls that change it. */
struct zeta_notify {
    int32_t descriptor; /**< for poll(); -1 before zeta_notify_init() */
    uint32_t raised;    /**< 1 while it polls readable */
};

/** Opens the descriptor, not raised. 0, or an errno value. */
int zeta_notify_init(struct zeta_notify *notify);

/** Closes the descriptor; a finished or failed one is left alone. */
void zeta_notify_finish(struct zeta_notify *notify);

/** Makes it readable (raised not 0) or not; a system call only when that changes something. */
void zeta_notify_set(struct zeta_notify *notify, uint32_t raised);

#ifdef __cplusplus
}
#endif

#endif
