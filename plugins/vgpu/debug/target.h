#ifndef ZETA_PLUGINS_VGPU_DEBUG_TARGET_H
#define ZETA_PLUGINS_VGPU_DEBUG_TARGET_H

/*
 * The process that is debugged: a list of its modules and queues, and, once it lets debuggers
 * attach, a socket in the folder of the instance and a thread that serves the one that does
 * (protocol.h).
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "plugins/vgpu/device/describe.h"

struct zeta_vgpu;
struct zeta_vgpu_image;
struct zeta_vgpu_target;

/** A module in the list; part of what has the image. Zero-initialised: not in it. */
struct zeta_vgpu_target_module {
    TAILQ_ENTRY(zeta_vgpu_target_module) entry;
    const struct zeta_vgpu_image *image; /**< NULL: not in the list */
    uint64_t cookie;                     /**< its creation waits for this acknowledgement; 0: not */
};

/** Lists nothing yet, and nobody can attach. NULL without memory. */
struct zeta_vgpu_target *zeta_vgpu_target_create(struct zeta_vgpu *vgpu);

/** Detaches the debugger, so that what waits goes on, and lets none attach again. NULL is allowed.
 */
void zeta_vgpu_target_end(struct zeta_vgpu_target *target);

/** Frees the lists, after the end. NULL is allowed. */
void zeta_vgpu_target_destroy(struct zeta_vgpu_target *target);

/** In a child of fork(): closes what belongs to the parent. */
void zeta_vgpu_target_abandon(struct zeta_vgpu_target *target);

/** Lets debuggers attach, as enable() of struct zeta_plugin_debug_ops; idempotent. */
uint32_t zeta_vgpu_target_enable(struct zeta_vgpu_target *target);

/** The process made a queue, or has destroyed one. Any thread. */
void zeta_vgpu_target_queue_created(struct zeta_vgpu_target *target);
void zeta_vgpu_target_queue_destroyed(struct zeta_vgpu_target *target);

/**
 * The process loaded an image, which nobody uses yet. Returns when the debugger, if there is one,
 * acknowledged it or is gone. Any thread.
 */
void zeta_vgpu_target_module_loaded(struct zeta_vgpu_target *target,
                                    struct zeta_vgpu_target_module *module,
                                    const struct zeta_vgpu_image *image);

/** It is going to unload it; nothing for a module that is not listed. Any thread. */
void zeta_vgpu_target_module_unloaded(struct zeta_vgpu_target *target,
                                      struct zeta_vgpu_target_module *module);

/**
 * Keeps modules from coming and going until they are unlocked; gives the first one, of which the
 * others follow in the order of their creation. Not while the space is held.
 */
const struct zeta_vgpu_target_module *
zeta_vgpu_target_lock_modules(struct zeta_vgpu_target *target);
void zeta_vgpu_target_unlock_modules(struct zeta_vgpu_target *target);

/** True when a process of that user may debug one of this. */
bool zeta_vgpu_debug_peer_allowed(uid_t peer, uid_t own);

/** Room for the name of a socket. */
#define ZETA_VGPU_DEBUG_NAME_BYTES (ZETA_VGPU_ID_BYTES + 32u)

/** Name of the socket of a process for a device, in the folder of instances. */
void zeta_vgpu_debug_socket_name(char out_name[ZETA_VGPU_DEBUG_NAME_BYTES], uint32_t pid,
                                 const char *device);

/** Connects to a socket in a folder, whose path may be longer than addresses of sockets can be.
 * -1 with errno. */
int zeta_vgpu_debug_connect(const char *folder, const char *name);

/** Polls readable once the process has ended; -1 where the system cannot tell, with errno. */
int zeta_vgpu_debug_watch_process(uint32_t pid);

#endif
