#include "plugins/replay/recording/source.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/slot.h>

struct zeta_replay_feed {
    struct zeta_replay_wish wish;
    struct zeta_replay_pieces pieces;
    const unsigned char *at; /**< of the piece */
    size_t left;
    uint32_t source; /**< number of the stream that the piece belongs to */
    uint32_t wanted; /**< tile of that stream */
    bool has_source;
    bool ended;
    uint32_t tile; /**< that the next slots come from */
    bool broken;   /**< before the next record */
    uint32_t reason;
    uint64_t lost;
    bool has_first, has_last;
    unsigned char *first; /**< record of the stream */
    unsigned char *last;  /**< record that was given */
};

struct zeta_replay_feed *zeta_replay_feed_open(const struct zeta_replay_wish *wish,
                                               struct zeta_replay_problem *problem)
{
    struct zeta_replay_feed *feed = calloc(1, sizeof(*feed));
    bool good;

    if (feed) {
        feed->wish = *wish;
        feed->first = malloc(wish->set->record_bytes);
        feed->last = malloc(wish->set->record_bytes);
    }
    if (!feed || !feed->first || !feed->last) {
        (void)zeta_replay_say(problem, "there is no memory to read the recording");
        zeta_replay_feed_close(feed);
        return NULL;
    }
    good = zeta_replay_recording_same_file(wish->recording, problem) &&
           (wish->recording->format == ZETA_REPLAY_IGT
                ? zeta_replay_pieces_igt(wish->recording, &feed->pieces, problem)
                : zeta_replay_pieces_container(wish->recording, &feed->pieces, problem));
    if (good)
        return feed;
    zeta_replay_feed_close(feed);
    return NULL;
}

void zeta_replay_feed_close(struct zeta_replay_feed *feed)
{
    if (!feed)
        return;
    if (feed->pieces.close)
        feed->pieces.close(feed->pieces.context);
    free(feed->first);
    free(feed->last);
    free(feed);
}

const unsigned char *zeta_replay_feed_first(const struct zeta_replay_feed *feed)
{
    return feed->has_first ? feed->first : NULL;
}

const char *zeta_replay_feed_problem(const struct zeta_replay_feed *feed)
{
    return feed->pieces.problem.text;
}

static void note_break(struct zeta_replay_feed *feed, uint32_t reason, uint64_t lost)
{
    feed->broken = true;
    feed->reason = reason >= ZETA_PLUGIN_BREAK_OVERFLOW && reason <= ZETA_PLUGIN_BREAK_RESET
                       ? reason
                       : ZETA_PLUGIN_BREAK_LOST;
    feed->lost += lost;
}

/* Streams of one set were recorded one after the other: nothing connects them. */
static void begin_source(struct zeta_replay_feed *feed, uint32_t source)
{
    if (feed->has_source && feed->source == source)
        return;
    if (feed->has_last && !feed->wish.is_mixed)
        note_break(feed, ZETA_PLUGIN_BREAK_LOST, 0);
    feed->tile = 0;
    feed->has_source = true;
    feed->source = source;
    for (uint32_t i = 0; i < feed->wish.source_count; i++) {
        if (feed->wish.sources[i].number == source)
            feed->wanted = feed->wish.sources[i].tile;
    }
}

static bool next_piece(struct zeta_replay_feed *feed)
{
    uint32_t source = 0;
    bool damaged = false;

    if (feed->ended)
        return false;
    if (!feed->pieces.next(feed->pieces.context, &feed->wish, &feed->at, &feed->left, &source,
                           &damaged)) {
        feed->ended = true;
        feed->left = 0;
        return false;
    }
    begin_source(feed, source);
    if (damaged)
        note_break(feed, ZETA_PLUGIN_BREAK_LOST, 0);
    return true;
}

static bool is_wanted_tile(const struct zeta_replay_feed *feed)
{
    return feed->wanted == UINT32_MAX || feed->tile == feed->wanted;
}

static void take_control(struct zeta_replay_feed *feed, const unsigned char *slot)
{
    struct zeta_slot_control control;

    if (!zeta_slot_read(slot, &control))
        return;
    if (control.kind == ZETA_SLOT_TILE)
        feed->tile = control.value;
    else if (control.kind == ZETA_SLOT_BREAK && is_wanted_tile(feed))
        note_break(feed, control.value, control.lost_records);
    else if (control.kind == ZETA_SLOT_END && feed->has_last)
        note_break(feed, ZETA_PLUGIN_BREAK_LOST, 0);
}

/* Each read of a recorded stream began with the last record of the read before. */
static bool is_repetition(const struct zeta_replay_feed *feed, const unsigned char *record)
{
    return feed->wish.set->kind == ZETA_REPLAY_DELTA && feed->has_last && !feed->broken &&
           memcmp(feed->last, record, feed->wish.set->record_bytes) == 0;
}

/* True if the slot is a record to give. */
static bool take_slot(struct zeta_replay_feed *feed, const unsigned char *slot)
{
    const uint32_t bytes = feed->wish.set->record_bytes;

    if (zeta_slot_is_control(slot)) {
        take_control(feed, slot);
        return false;
    }
    if (zeta_slot_is_padding(slot, bytes))
        return false;
    if (!feed->has_first) {
        memcpy(feed->first, slot, bytes);
        feed->has_first = true;
    }
    /* Events tell their tile themselves; of other records a TILE slot before them does. */
    if (feed->wish.set->tile.present)
        feed->tile = (uint32_t)zeta_replay_field_read(&feed->wish.set->tile, slot);
    return is_wanted_tile(feed) && !is_repetition(feed, slot);
}

void zeta_replay_feed_next(struct zeta_replay_feed *feed, struct zeta_replay_item *out_item)
{
    const uint32_t bytes = feed->wish.set->record_bytes;

    *out_item = (struct zeta_replay_item){.kind = ZETA_REPLAY_ITEM_END};
    for (;;) {
        const unsigned char *slot = feed->at;

        if (feed->left < bytes) {
            if (!next_piece(feed))
                return;
            continue;
        }
        /* A break stands for itself first; its record is looked at again then. */
        if (!take_slot(feed, slot)) {
            feed->at += bytes;
            feed->left -= bytes;
            continue;
        }
        if (feed->broken) {
            *out_item = (struct zeta_replay_item){
                .kind = ZETA_REPLAY_ITEM_BREAK, .reason = feed->reason, .lost = feed->lost};
            feed->broken = false;
            feed->lost = 0;
            feed->has_last = false;
            return;
        }
        feed->at += bytes;
        feed->left -= bytes;
        memcpy(feed->last, slot, bytes);
        feed->has_last = true;
        *out_item =
            (struct zeta_replay_item){.kind = ZETA_REPLAY_ITEM_RECORD, .record = feed->last};
        return;
    }
}
