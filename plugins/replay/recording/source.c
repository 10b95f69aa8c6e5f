#include "plugins/replay/recording/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zeta/container.h>
#include <zeta/slot.h>

struct zeta_replay_source {
    struct zeta_replay_request request;
    struct zeta_replay_pieces pieces;
    struct zeta_replay_piece piece; /**< what is left of it */
    bool has_stream, has_ended;
    uint32_t stream;            /**< number of the stream that the piece belongs to */
    uint32_t wanted;            /**< tile of that stream */
    uint32_t tile;              /**< that the next slots come from */
    struct zeta_replay_gap gap; /**< before the next record */
    bool has_first, has_last;
    unsigned char *first; /**< record of the stream */
    unsigned char *last;  /**< record that was given */
};

/* ---- names of ids ---------------------------------------------------------------------------- */

/* Adds the names of a chunk; without memory their ids stay without names. */
static void add_names(struct zeta_replay_pieces *pieces, const void *payload, size_t bytes)
{
    struct zeta_chunk_name name;
    unsigned char *names;
    size_t whole = 0;

    while (zeta_chunk_name_read(payload, bytes, &whole, &name))
        continue;
    if (whole == 0)
        return;
    names = realloc(pieces->names, pieces->names_bytes + whole);
    if (!names)
        return;
    memcpy(names + pieces->names_bytes, payload, whole);
    pieces->names = names;
    pieces->names_bytes += whole;
}

bool zeta_replay_source_name(const struct zeta_replay_source *source, uint64_t id,
                             struct zeta_plugin_string *out_name)
{
    struct zeta_chunk_name name;
    size_t at = 0;

    while (zeta_chunk_name_read(source->pieces.names, source->pieces.names_bytes, &at, &name)) {
        if (name.id == id) {
            *out_name = (struct zeta_plugin_string){name.text, strnlen(name.text, name.bytes)};
            return true;
        }
    }
    return false;
}

/* ---- pieces of a container: the payloads of the DATA chunks of the wanted streams ----------- */

static bool next_of_container(struct zeta_replay_pieces *pieces,
                              const struct zeta_replay_request *request,
                              struct zeta_replay_piece *out_piece)
{
    struct zeta_container_reader *reader = pieces->context;
    enum zeta_container_result result;
    struct zeta_container_chunk chunk;
    const void *payload;

    out_piece->is_damaged = false;
    while ((result = zeta_container_next(reader, &chunk)) == ZETA_CONTAINER_OK) {
        bool is_wanted = false;

        for (uint32_t i = 0; i < request->stream_count; i++)
            is_wanted = is_wanted || request->streams[i].number == chunk.stream;
        if ((chunk.type != ZETA_CHUNK_DATA && chunk.type != ZETA_CHUNK_NAMES) || !is_wanted)
            continue;
        result = zeta_container_payload(reader, &payload);
        if (chunk.type == ZETA_CHUNK_NAMES) {
            if (result == ZETA_CONTAINER_OK)
                add_names(pieces, payload, (size_t)chunk.payload_bytes);
            continue;
        }
        if (result == ZETA_CONTAINER_OK) {
            out_piece->data = payload;
            out_piece->bytes = (size_t)chunk.payload_bytes;
            out_piece->stream = chunk.stream;
            return true;
        }
        if (result != ZETA_CONTAINER_DAMAGED)
            break;
        if (pieces->problem.text[0] == '\0')
            (void)zeta_replay_fail(&pieces->problem, "%s", zeta_container_reader_problem(reader));
        out_piece->is_damaged = true;
    }
    if (result != ZETA_CONTAINER_AT_END && pieces->problem.text[0] == '\0')
        (void)zeta_replay_fail(&pieces->problem, "%s", zeta_container_reader_problem(reader));
    return false;
}

static void close_container(void *context)
{
    zeta_container_reader_destroy(context);
}

/* ---- records -------------------------------------------------------------------------------- */

/* Opens the recording, if it is the file that was loaded. */
static bool open_pieces(const struct zeta_replay_recording *recording,
                        struct zeta_replay_pieces *out_pieces, struct zeta_replay_problem *problem)
{
    struct zeta_container_reader *reader;
    struct zeta_container_problem why;
    struct stat info;

    if (stat(recording->path, &info) != 0)
        return zeta_replay_fail(problem, "the recording %.300s is gone: %s", recording->path,
                                strerror(errno));
    if (info.st_dev != recording->file_device || info.st_ino != recording->file_number)
        return zeta_replay_fail(problem,
                                "another file has taken the place of the recording %.300s since it "
                                "was opened; start the program again",
                                recording->path);
    if (recording->format == ZETA_REPLAY_IGT)
        return zeta_replay_pieces_igt(recording, out_pieces, problem);
    if (zeta_container_open_file(recording->path, &why, &reader) != ZETA_CONTAINER_OK)
        return zeta_replay_fail(problem, "%s", why.text);
    *out_pieces = (struct zeta_replay_pieces){
        .context = reader, .next = next_of_container, .close = close_container};
    return true;
}

struct zeta_replay_source *zeta_replay_source_open(const struct zeta_replay_request *request,
                                                   struct zeta_replay_problem *problem)
{
    struct zeta_replay_source *source = calloc(1, sizeof(*source));

    if (source) {
        source->request = *request;
        source->first = malloc(request->set->record_bytes);
        source->last = malloc(request->set->record_bytes);
    }
    if (!source || !source->first || !source->last)
        (void)zeta_replay_fail(problem, "there is no memory to read the recording");
    else if (open_pieces(request->recording, &source->pieces, problem))
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
    free(source->pieces.names);
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
    source->gap.reason = reason >= ZETA_PLUGIN_BREAK_OVERFLOW && reason <= ZETA_PLUGIN_BREAK_RESET
                             ? reason
                             : ZETA_PLUGIN_BREAK_LOST;
    source->gap.lost += lost;
}

static bool next_piece(struct zeta_replay_source *source)
{
    const struct zeta_replay_request *request = &source->request;
    struct zeta_replay_piece *piece = &source->piece;

    if (source->has_ended || !source->pieces.next(&source->pieces, request, piece)) {
        source->has_ended = true;
        return false;
    }
    if (!source->has_stream || source->stream != piece->stream) {
        /* Streams of one set were recorded one after the other: nothing connects them. */
        if (source->has_last && !request->is_mixed)
            note_break(source, ZETA_PLUGIN_BREAK_LOST, 0);
        source->tile = 0;
        source->has_stream = true;
        source->stream = piece->stream;
        for (uint32_t i = 0; i < request->stream_count; i++) {
            if (request->streams[i].number == piece->stream)
                source->wanted = request->streams[i].tile;
        }
    }
    if (piece->is_damaged)
        note_break(source, ZETA_PLUGIN_BREAK_LOST, 0);
    return true;
}

static bool is_wanted_tile(const struct zeta_replay_source *source)
{
    return source->wanted == UINT32_MAX || source->tile == source->wanted;
}

/* True if the slot is a record to give. */
static bool take_slot(struct zeta_replay_source *source, const unsigned char *slot)
{
    const struct zeta_replay_set *set = source->request.set;
    struct zeta_slot_control control;

    if (zeta_slot_is_control(slot)) {
        if (!zeta_slot_read(slot, &control))
            return false;
        if (control.kind == ZETA_SLOT_TILE)
            source->tile = control.value;
        else if (control.kind == ZETA_SLOT_BREAK && is_wanted_tile(source))
            note_break(source, control.value, control.lost_records);
        else if (control.kind == ZETA_SLOT_END && source->has_last)
            note_break(source, ZETA_PLUGIN_BREAK_LOST, 0);
        return false;
    }
    if (zeta_slot_is_padding(slot, set->record_bytes))
        return false;
    if (!source->has_first) {
        memcpy(source->first, slot, set->record_bytes);
        source->has_first = true;
    }
    /* An event contains its tile; other records follow a TILE slot that names it. */
    if (set->tile.present)
        source->tile = (uint32_t)zeta_replay_field_read(&set->tile, slot);
    /* Each read of a recorded stream began with the last record of the read before. */
    return is_wanted_tile(source) && (set->kind != ZETA_REPLAY_DELTA || !source->has_last ||
                                      source->gap.reason != ZETA_PLUGIN_BREAK_NONE ||
                                      memcmp(source->last, slot, set->record_bytes) != 0);
}

const unsigned char *zeta_replay_source_next(struct zeta_replay_source *source,
                                             struct zeta_replay_gap *out_gap)
{
    const uint32_t bytes = source->request.set->record_bytes;
    const unsigned char *slot;

    do {
        while (source->piece.bytes < bytes) {
            if (!next_piece(source))
                return NULL;
        }
        slot = source->piece.data;
        source->piece.data += bytes;
        source->piece.bytes -= bytes;
    } while (!take_slot(source, slot));
    memcpy(source->last, slot, bytes);
    source->has_last = true;
    *out_gap = source->gap;
    source->gap = (struct zeta_replay_gap){ZETA_PLUGIN_BREAK_NONE, 0};
    return source->last;
}
