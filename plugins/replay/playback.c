/*
 * What the host has open, and which units that takes. A recording is no hardware, but the rules are
 * the same: one stream of a unit in a process. Other processes open the file by themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/plugin.h"

/* Records of a reel when nobody wants more, and bytes that it never exceeds. */
#define RECORDS_MIN 4096u
#define BYTES_MAX (UINT64_C(32) << 20)

uint32_t zeta_replay_capacity(uint64_t wanted, uint64_t notify, uint32_t record_bytes)
{
    const uint64_t limit = BYTES_MAX / record_bytes;
    uint64_t records = notify < limit ? 2 * notify : limit;

    if (records < RECORDS_MIN)
        records = RECORDS_MIN;
    if (wanted != 0 && wanted < records && wanted >= 2)
        records = wanted;
    return (uint32_t)(records < limit ? records : limit);
}

bool zeta_replay_source_is_of(const struct zeta_replay_source *source,
                              const struct zeta_plugin_device *device, uint32_t *out_set,
                              uint32_t *out_tile)
{
    const struct zeta_replay_device *recorded = device->recorded;

    *out_tile = UINT32_MAX;
    *out_set = source->sets[0];
    if (source->device == device->index)
        return true;
    if (recorded->parent != source->device || recorded->tile >= source->tiles)
        return false;
    *out_set = source->sets[recorded->tile];
    *out_tile = recorded->tile;
    return true;
}

uint32_t zeta_replay_player_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 const struct zeta_replay_wish *wish, uint32_t capacity,
                                 struct zeta_replay_player **out_player)
{
    const struct zeta_replay *replay = self->replay;
    struct zeta_replay_problem problem = {""};
    struct zeta_replay_player *player = calloc(1, sizeof(*player));
    struct zeta_replay_feed *feed;

    if (!player)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    feed = zeta_replay_feed_open(wish, &problem);
    if (!feed) {
        free(player);
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s: %.400s", device->id,
                              problem.text);
    }
    if (!zeta_replay_reel_init(&player->reel, feed, wish->set, capacity)) {
        free(player);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    player->device = device;
    player->is_stopped = true;
    player->reel.is_paced = replay->is_paced;
    player->reel.hz = device->recorded->metric_hz;
    *out_player = player;
    return ZETA_PLUGIN_SUCCESS;
}

/* A device and its tiles share their units. */
static bool overlap(const struct zeta_plugin_device *a, const struct zeta_plugin_device *b)
{
    return a->index == b->index || a->recorded->parent == b->index ||
           b->recorded->parent == a->index;
}

static bool has_unit(const struct zeta_replay_player *player, const char *unit)
{
    for (uint32_t i = 0; i < player->unit_count; i++) {
        if (strcmp(player->units[i], unit) == 0)
            return true;
    }
    return false;
}

/* The player that has one of the units now. */
static const struct zeta_replay_player *holder_locked(const struct zeta_replay_player *player)
{
    const struct zeta_replay_player *other = player->device->replay->players;

    for (; other; other = other->next) {
        for (uint32_t i = 0; i < player->unit_count; i++) {
            if (!other->is_stopped && overlap(other->device, player->device) &&
                has_unit(other, player->units[i]))
                return other;
        }
    }
    return NULL;
}

uint32_t zeta_replay_player_take_units(struct zeta_replay_player *player,
                                       const struct zeta_plugin_array *units)
{
    struct zeta_replay *replay = player->device->replay;
    bool is_free;

    for (uint64_t i = 0; i < units->count && player->unit_count < 8; i++) {
        const struct zeta_plugin_string *unit =
            (const void *)((const char *)units->data + i * units->stride);

        (void)snprintf(player->units[player->unit_count++], ZETA_REPLAY_NAME_BYTES, "%.*s",
                       unit->size < ZETA_REPLAY_NAME_BYTES ? (int)unit->size
                                                           : (int)ZETA_REPLAY_NAME_BYTES - 1,
                       unit->data);
    }
    (void)pthread_mutex_lock(&replay->lock);
    is_free = !holder_locked(player);
    if (is_free) {
        player->is_stopped = false;
        player->next = replay->players;
        replay->players = player;
    }
    (void)pthread_mutex_unlock(&replay->lock);
    if (is_free)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&replay->self->host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                          "this process has a stream on unit %s of %s already", player->units[0],
                          player->device->id);
}

void zeta_replay_player_stop(struct zeta_replay_player *player)
{
    struct zeta_replay *replay = player->device->replay;

    zeta_replay_reel_stop(&player->reel);
    (void)pthread_mutex_lock(&replay->lock);
    player->is_stopped = true;
    (void)pthread_mutex_unlock(&replay->lock);
}

void zeta_replay_player_tell(struct zeta_replay_player *player)
{
    const char *problem = zeta_replay_feed_problem(player->reel.feed);

    if (player->was_told || problem[0] == '\0')
        return;
    player->was_told = true;
    zeta_host_log(&player->device->replay->self->host, ZETA_PLUGIN_LOG_WARN, "%s: %s",
                  player->device->replay->recording->path, problem);
}

void zeta_replay_player_close(struct zeta_replay_player *player)
{
    struct zeta_replay *replay = player->device->replay;
    struct zeta_replay_player **at = &replay->players;

    (void)pthread_mutex_lock(&replay->lock);
    while (*at && *at != player)
        at = &(*at)->next;
    if (*at)
        *at = player->next;
    (void)pthread_mutex_unlock(&replay->lock);
    zeta_replay_reel_finish(&player->reel);
    free(player);
}
