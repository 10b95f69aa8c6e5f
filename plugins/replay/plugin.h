#ifndef ZETA_PLUGINS_REPLAY_PLUGIN_H
#define ZETA_PLUGINS_REPLAY_PLUGIN_H

/*
 * The plugin object: one per manifest, made by zeta_plugin_negotiate(). init() makes its struct
 * zeta_replay.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>
#include <zeta/plugin_host.h>

#include "plugins/replay/recording/buffer.h"
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

/** An open stream, or a tracer of several units. */
struct zeta_replay_playback {
    struct zeta_replay_playback *next;
    struct zeta_plugin_device *device;
    struct zeta_replay_buffer buffer;
    char units[8][ZETA_REPLAY_NAME_BYTES];
    uint32_t unit_count;
    bool is_stopped;          /**< its units are free again; guarded by the lock */
    bool is_problem_reported; /**< the problem with the file, to the log */
};

/** The state of an initialised plugin object. */
struct zeta_replay {
    struct zeta_plugin *self;
    struct zeta_replay_recording *recording;
    struct zeta_plugin_device *devices;
    bool is_paced;
    uint64_t start_ns;    /**< host time at which the device's clock had first_ticks */
    pthread_mutex_t lock; /**< guards the list; no other lock is taken under it */
    struct zeta_replay_playback *playbacks;
};

struct zeta_plugin {
    struct zeta_host host;
    struct zeta_replay *replay; /**< NULL: not initialised, or no recording is named */
};

/** The operations, each group in the file of its name. */
extern const struct zeta_plugin_metric_ops zeta_replay_metric_ops;
extern const struct zeta_plugin_tracer_ops zeta_replay_tracer_ops;

/** Fills replay->devices from the recording. False without memory. */
bool zeta_replay_devices_init(struct zeta_replay *replay);

uint32_t zeta_replay_enumerate(struct zeta_plugin *self, uint32_t capacity,
                               struct zeta_plugin_device **out_devices, uint32_t *out_count);
uint32_t zeta_replay_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_device_properties *out_properties);
uint32_t zeta_replay_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock);

/**
 * True if the records of a stream belong to a device: recorded there, or on its root.
 * *out_set: index of the set; *out_tile: the tile whose records belong to it, UINT32_MAX: all.
 */
bool zeta_replay_stream_is_of(const struct zeta_replay_stream *stream,
                              const struct zeta_plugin_device *device, uint32_t *out_set,
                              uint32_t *out_tile);

/** Opens what the request names, stopped. Ends with zeta_replay_playback_close(). */
uint32_t zeta_replay_playback_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_replay_request *request, uint32_t capacity,
                                   struct zeta_replay_playback **out_playback);

/** Adds a playback to the list. HANDLE_OBJECT_IN_USE when this process uses one of its units. */
uint32_t zeta_replay_playback_take_units(struct zeta_replay_playback *playback,
                                         const struct zeta_plugin_array *units);

/** Releases the units; records that are due can still be read. */
void zeta_replay_playback_stop(struct zeta_replay_playback *playback);

/** Logs the problem with the file, if there is one, once. */
void zeta_replay_playback_report_problem(struct zeta_replay_playback *playback);

/** Closes a playback, also one that is not in the list. */
void zeta_replay_playback_close(struct zeta_replay_playback *playback);

/** Records of a buffer: the wanted number, but at least twice the level of notification. */
uint32_t zeta_replay_capacity(uint64_t wanted, uint64_t notify, uint32_t record_bytes);

#endif
