#ifndef ZETA_PLUGINS_REPLAY_PLUGIN_H
#define ZETA_PLUGINS_REPLAY_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>
#include <zeta/plugin_host.h>

#include "plugins/replay/recording/recording.h"

/** A device of the recording as the host sees it. */
struct zeta_plugin_device {
    struct zeta_replay *replay;
    const struct zeta_replay_device *recorded;
    uint32_t index; /**< of both lists */
    uint32_t root;  /**< number of its root among the roots */
    char id[32];    /**< "replay0", tiles "replay0.1" */
    char name[ZETA_REPLAY_NAME_BYTES];
    uint8_t uuid[16];
};

/** The state of an initialised plugin object. */
struct zeta_replay {
    struct zeta_plugin *self;
    struct zeta_replay_recording *recording;
    struct zeta_plugin_device *devices;
    bool is_paced;
    uint64_t start_ns;    /**< host time at which the device's clock had first_ticks */
    pthread_mutex_t lock; /**< guards the list; no other lock is taken under it */
    struct zeta_plugin_stream *playbacks; /**< open streams and tracers */
};

/** The plugin object: one per manifest, made by zeta_plugin_negotiate(). */
struct zeta_plugin {
    struct zeta_host host;
    struct zeta_replay *replay; /**< NULL: not initialised, or no recording is named */
};

/* playback.c: sets, streams and tracers. */
extern const struct zeta_plugin_metric_ops zeta_replay_metric_ops;
extern const struct zeta_plugin_tracer_ops zeta_replay_tracer_ops;

/** Closes what the host left open. */
void zeta_replay_playbacks_close(struct zeta_replay *replay);

#endif
