#include "plugins/replay/recording/source.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/slot.h>

struct zeta_replay_source {
    struct zeta_replay_request request;
    struct zeta_replay_pieces pieces;
    const unsigned char *at; /**< of the piece */
    size_t left;
    uint32_t stream; /**< number of the stream that the piece belongs to */
    uint32_t wanted; /**< tile of that stream */
    bool has_stream;
    bool ended;
    uint32_t tile; /**< that the next slots come from */
    bool broken;   /**< before the next record */
    uint32_t reason;
    uint64_t lost;
    bool has_first, has_last;
    unsigned char *first; /**< record of the stream */
    unsigned char *last;  /**< record that was given */
};

struct zeta_replay_source *zeta_replay_source_open(const struct zeta_replay_request *request,
                                                   struct zeta_replay_problem *problem)
{
    struct zeta_replay_source *source = calloc(1, sizeof(*source));
    bool good;

    if (source) {
        source->request = *request;
        source->first = malloc(request->set->record_bytes);
        source->last = malloc(request->set->record_bytes);
    }
    if (!source || !source->first || !source->last) {
        (void)zeta_replay_fail(problem, "no memory to read the recording");
        zeta_replay_source_close(source);
        return NULL;
    }
    good = zeta_replay_recording_same_file(request->recording, problem) &&
           (request->recording->format == ZETA_REPLAY_IGT
                ? zeta_replay_pieces_igt(request->recording, &source->pieces, problem)
                : zeta_replay_pieces_container(request->recording, &source->pieces, problem));
    if (good)
        return source;
    zeta_replay_source_close(source);
    return NULL;
}

void zeta_replay_source_close(struct zeta_replay_source *source)
{
    if (!source)
        return;
    if (source->pieces.close)
        source->pieces.close(source->pieces.context);
    free(source->first);
    free(source->last);
    free(source);
}

const unsigned char *zeta_replay_source_first(const struct zeta_replay_source *source)
{
    return source->has_first ? source->first : NULL;
}

const char *zeta_replay_source_problem(const struct zeta_replay_source *source)
{
    return source->pieces.problem.text;
}

static void note_break(struct zeta_replay_source *source, uint32_t reason, uint64_t lost)
{
    source->broken = true;
    source->reason = reason >= ZETA_PLUGIN_BREAK_OVERFLOW && reason <= ZETA_PLUGIN_BREAK_RESET
                         ? reason
                         : ZETA_PLUGIN_BREAK_LOST;
    source->lost += lost;
}

/* Streams of one set were recorded one after the other: nothing connects them. */
static void begin_stream(struct zeta_replay_source *source, uint32_t stream)
{
    if (source->has_stream && source->stream == stream)
        return;
    if (source->has_last && !source->request.is_mixed)
        note_break(source, ZETA_PLUGIN_BREAK_LOST, 0);
    source->tile = 0;
    source->has_stream = true;
    source->stream = stream;
    for (uint32_t i = 0; i < source->request.stream_count; i++) {
        if (source->request.streams[i].number == stream)
            source->wanted = source->request.streams[i].tile;
    }
}

static bool next_piece(struct zeta_replay_source *source)
{
    uint32_t stream = 0;
    bool damaged = false;

    if (source->ended)
        return false;
    if (!source->pieces.next(source->pieces.context, &source->request, &source->at, &source->left,
                             &stream, &damaged)) {
        source->ended = true;
        source->left = 0;
        return false;
    }
    begin_stream(source, stream);
    if (damaged)
        note_break(source, ZETA_PLUGIN_BREAK_LOST, 0);
    return true;
}

static bool is_wanted_tile(const struct zeta_replay_source *source)
{
    return source->wanted == UINT32_MAX || source->tile == source->wanted;
}

static void take_control(struct zeta_replay_source *source, const unsigned char *slot)
{
    struct zeta_slot_control control;

    if (!zeta_slot_read(slot, &control))
        return;
    if (control.kind == ZETA_SLOT_TILE)
        source->tile = control.value;
    else if (control.kind == ZETA_SLOT_BREAK && is_wanted_tile(source))
        note_break(source, control.value, control.lost_records);
    else if (control.kind == ZETA_SLOT_END && source->has_last)
        note_break(source, ZETA_PLUGIN_BREAK_LOST, 0);
}

/* Each read of a recorded stream began with the last record of the read before. */
static bool is_repetition(const struct zeta_replay_source *source, const unsigned char *record)
{
    return source->request.set->kind == ZETA_REPLAY_DELTA && source->has_last && !source->broken &&
           memcmp(source->last, record, source->request.set->record_bytes) == 0;
}

/* True if the slot is a record to give. */
static bool take_slot(struct zeta_replay_source *source, const unsigned char *slot)
{
    const uint32_t bytes = source->request.set->record_bytes;

    if (zeta_slot_is_control(slot)) {
        take_control(source, slot);
        return false;
    }
    if (zeta_slot_is_padding(slot, bytes))
        return false;
    if (!source->has_first) {
        memcpy(source->first, slot, bytes);
        source->has_first = true;
    }
    /* An event contains its tile; other records follow a TILE slot that names it. */
    if (source->request.set->tile.present)
        source->tile = (uint32_t)zeta_replay_field_read(&source->request.set->tile, slot);
    return is_wanted_tile(source) && !is_repetition(source, slot);
}

void zeta_replay_source_next(struct zeta_replay_source *source, struct zeta_replay_item *out_item)
{
    const uint32_t bytes = source->request.set->record_bytes;

    *out_item = (struct zeta_replay_item){.kind = ZETA_REPLAY_ITEM_END};
    for (;;) {
        const unsigned char *slot = source->at;

        if (source->left < bytes) {
            if (!next_piece(source))
                return;
            continue;
        }
        /* A break comes first; the next call takes its record again. */
        if (!take_slot(source, slot)) {
            source->at += bytes;
            source->left -= bytes;
            continue;
        }
        if (source->broken) {
            *out_item = (struct zeta_replay_item){
                .kind = ZETA_REPLAY_ITEM_BREAK, .reason = source->reason, .lost = source->lost};
            source->broken = false;
            source->lost = 0;
            source->has_last = false;
            return;
        }
        source->at += bytes;
        source->left -= bytes;
        memcpy(source->last, slot, bytes);
        source->has_last = true;
        *out_item =
            (struct zeta_replay_item){.kind = ZETA_REPLAY_ITEM_RECORD, .record = source->last};
        return;
    }
}
