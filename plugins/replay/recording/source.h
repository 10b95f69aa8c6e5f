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

/** What comes next in the file. */
enum zeta_replay_item_kind {
    ZETA_REPLAY_ITEM_RECORD,
    ZETA_REPLAY_ITEM_BREAK, /**< records are missing before the next one */
    ZETA_REPLAY_ITEM_END    /**< nothing follows, ever */
};

struct zeta_replay_item {
    enum zeta_replay_item_kind kind;
    const unsigned char *record; /**< valid until the next call */
    uint32_t reason;             /**< of a break, ZETA_PLUGIN_BREAK_* */
    uint64_t lost;               /**< of a break, 0: unknown */
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

/** Opens the file. NULL after a failure, with the reason in problem. The request's recording and
 * set outlive the source. */
struct zeta_replay_source *zeta_replay_source_open(const struct zeta_replay_request *request,
                                                   struct zeta_replay_problem *problem);

/** Gives what comes next. A damaged piece is a break, and the end where the next piece cannot be
 * found. */
void zeta_replay_source_next(struct zeta_replay_source *source, struct zeta_replay_item *out_item);

/** The first record of the stream, of whatever tile; NULL before there was one. */
const unsigned char *zeta_replay_source_first(const struct zeta_replay_source *source);

/** The problem with the file so far, "" if none. */
const char *zeta_replay_source_problem(const struct zeta_replay_source *source);

/** Closes the file. NULL is allowed. */
void zeta_replay_source_close(struct zeta_replay_source *source);

/** How slots are read from a file of one format: in pieces of whole slots. */
struct zeta_replay_pieces {
    void *context;
    /**
     * The next piece; *out_stream the number of its stream, *out_damaged: something is missing
     * before it. False: the end.
     */
    bool (*next)(void *context, const struct zeta_replay_request *request,
                 const unsigned char **out_data, size_t *out_bytes, uint32_t *out_stream,
                 bool *out_damaged);
    void (*close)(void *context);
    struct zeta_replay_problem problem; /**< with the file, the first one */
};

/** Opens the file of a container or of intel-gpu-tools. False with the reason in problem. */
bool zeta_replay_pieces_container(const struct zeta_replay_recording *recording,
                                  struct zeta_replay_pieces *out_pieces,
                                  struct zeta_replay_problem *problem);
bool zeta_replay_pieces_igt(const struct zeta_replay_recording *recording,
                            struct zeta_replay_pieces *out_pieces,
                            struct zeta_replay_problem *problem);

#endif
