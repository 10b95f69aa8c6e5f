#ifndef ZETA_PLUGINS_REPLAY_PLUGIN_H
#define ZETA_PLUGINS_REPLAY_PLUGIN_H

/*
 * The plugin object: one per manifest, made by zeta_plugin_negotiate(). What init() makes hangs off
 * struct zeta_replay.
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

/** What the host has open: a stream, or a tracer of several units. */
struct zeta_replay_player {
    struct zeta_replay_player *next;
    struct zeta_plugin_device *device;
    struct zeta_replay_reel reel;
    char units[8][ZETA_REPLAY_NAME_BYTES];
    uint32_t unit_count;
    bool is_stopped; /**< its units are free again; under the lock */
    bool was_told;   /**< that something is wrong with the file */
};

/** The state of an initialised plugin object. */
struct zeta_replay {
    struct zeta_plugin *self;
    struct zeta_replay_recording *recording;
    struct zeta_plugin_device *devices;
    bool is_paced;
    uint64_t start_ns;    /**< when the device's clock stood where the recording begins */
    pthread_mutex_t lock; /**< of the list; a leaf */
    struct zeta_replay_player *players;
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
 * True if the data of a source are those of a device: it was recorded there, or on its root.
 * *out_set: index of the set; *out_tile: of the TILE slots that are the device's, UINT32_MAX: all.
 */
bool zeta_replay_source_is_of(const struct zeta_replay_source *source,
                              const struct zeta_plugin_device *device, uint32_t *out_set,
                              uint32_t *out_tile);

/** Makes a player of what the wish names; its reel stands still. Ends with player_close(). */
uint32_t zeta_replay_player_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 const struct zeta_replay_wish *wish, uint32_t capacity,
                                 struct zeta_replay_player **out_player);

/** Enters a player into the list. HANDLE_OBJECT_IN_USE when this process has one of its units. */
uint32_t zeta_replay_player_take_units(struct zeta_replay_player *player,
                                       const struct zeta_plugin_array *units);

/** Gives up the units; what is due can still be read. */
void zeta_replay_player_stop(struct zeta_replay_player *player);

/** Says once what is wrong with the file, if something is. */
void zeta_replay_player_tell(struct zeta_replay_player *player);

/** Ends a player, also one that is in no list. */
void zeta_replay_player_close(struct zeta_replay_player *player);

/** Capacity of a reel for so many wanted records, with at least twice the level of notification. */
uint32_t zeta_replay_capacity(uint64_t wanted, uint64_t notify, uint32_t record_bytes);

#endif
