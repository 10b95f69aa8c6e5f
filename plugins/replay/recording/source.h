#ifndef ZETA_PLUGINS_REPLAY_RECORDING_SOURCE_H
#define ZETA_PLUGINS_REPLAY_RECORDING_SOURCE_H

/*
 * A source reads the records of one recorded stream and tile from the file, one after another. It
 * keeps one piece of the file in memory. Each playback has its own source, and uses it from one
 * thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/replay/recording/recording.h"

/** What is missing before a record. */
struct zeta_replay_gap {
    uint32_t reason; /**< ZETA_PLUGIN_BREAK_*; NONE: nothing */
    uint64_t lost;   /**< records, 0: unknown */
};

/** Most streams of one set that are shown as one. */
#define ZETA_REPLAY_JOINED 64u

/** Which records are wanted. */
struct zeta_replay_request {
    const struct zeta_replay_recording *recording;
    const struct zeta_replay_set *set; /**< the layout of the records */
    struct {
        uint32_t number; /**< of the stream in the file */
        uint32_t tile;   /**< of its TILE slots; UINT32_MAX: all tiles */
    } streams[ZETA_REPLAY_JOINED];
    uint32_t stream_count;
    bool is_mixed; /**< the streams ran at the same time, so a change of stream is no break */
};

struct zeta_replay_source;

/** Opens the file, which no other may have replaced. NULL with the reason. The request's recording
 * and set outlive the source. */
struct zeta_replay_source *zeta_replay_source_open(const struct zeta_replay_request *request,
                                                   struct zeta_replay_problem *problem);

/** The next record, valid until the next call; NULL: nothing follows, ever. A damaged piece is a
 * gap, and the end where the next piece cannot be found. */
const unsigned char *zeta_replay_source_next(struct zeta_replay_source *source,
                                             struct zeta_replay_gap *out_gap);

/** The first record of the stream, of whatever tile; NULL before there was one. */
const unsigned char *zeta_replay_source_first(const struct zeta_replay_source *source);

/** The problem with the file so far, "" if none. */
const char *zeta_replay_source_problem(const struct zeta_replay_source *source);

/** The name of an id in the records so far, valid until the next record; false: it has none. */
bool zeta_replay_source_name(const struct zeta_replay_source *source, uint64_t id,
                             struct zeta_plugin_string *out_name);

/** Closes the file. NULL is allowed. */
void zeta_replay_source_close(struct zeta_replay_source *source);

/** Whole slots of a stream. */
struct zeta_replay_piece {
    const unsigned char *data;
    size_t bytes;
    uint32_t stream; /**< its number */
    bool is_damaged; /**< something is missing before it */
};

/** How slots are read from a file of one format. */
struct zeta_replay_pieces {
    void *context;
    /** The next piece; false: the end. */
    bool (*next)(struct zeta_replay_pieces *pieces, const struct zeta_replay_request *request,
                 struct zeta_replay_piece *out_piece);
    void (*close)(void *context);
    struct zeta_replay_problem problem; /**< with the file, the first one */
    unsigned char *names;               /**< as a NAMES chunk has them, of all that were read */
    size_t names_bytes;
};

/** Opens a file of intel-gpu-tools. False with the reason. */
bool zeta_replay_pieces_igt(const struct zeta_replay_recording *recording,
                            struct zeta_replay_pieces *out_pieces,
                            struct zeta_replay_problem *problem);

#endif
