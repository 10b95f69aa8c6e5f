#ifndef ZETA_PLUGINS_REPLAY_RECORDING_SOURCE_H
#define ZETA_PLUGINS_REPLAY_RECORDING_SOURCE_H

/*
 * A feed gives the records of one recorded stream on one tile, one after another, from the file.
 * It holds one piece of the file at a time. Each replaying stream has its own; one thread at a
 * time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/replay/recording/recording.h"

/** What stands next. */
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
struct zeta_replay_wish {
    const struct zeta_replay_recording *recording;
    const struct zeta_replay_set *set; /**< the layout of the records */
    struct {
        uint32_t number; /**< of the stream in the file */
        uint32_t tile;   /**< of its TILE slots; UINT32_MAX: all tiles */
    } sources[ZETA_REPLAY_JOINED];
    uint32_t source_count;
    bool is_mixed; /**< the streams ran at the same time, so a change of stream breaks nothing */
};

struct zeta_replay_feed;

/** Opens the file. NULL with a sentence. The wish's recording and set outlive the feed. */
struct zeta_replay_feed *zeta_replay_feed_open(const struct zeta_replay_wish *wish,
                                               struct zeta_replay_problem *problem);

/** Gives what stands next. A damaged piece is a break, and the end where the way on is lost. */
void zeta_replay_feed_next(struct zeta_replay_feed *feed, struct zeta_replay_item *out_item);

/** The first record of the stream, of whatever tile; NULL before one was met. */
const unsigned char *zeta_replay_feed_first(const struct zeta_replay_feed *feed);

/** What was wrong with the file so far, "" if nothing. */
const char *zeta_replay_feed_problem(const struct zeta_replay_feed *feed);

/** Closes the file. NULL is allowed. */
void zeta_replay_feed_close(struct zeta_replay_feed *feed);

/** The two ways to get slots of a file: a piece of whole slots, or 0 bytes at the end. */
struct zeta_replay_pieces {
    void *context;
    /**
     * The next piece; *out_source the number of its stream, *out_damaged: something is missing
     * before it. False: the end.
     */
    bool (*next)(void *context, const struct zeta_replay_wish *wish, const unsigned char **out_data,
                 size_t *out_bytes, uint32_t *out_source, bool *out_damaged);
    void (*close)(void *context);
    struct zeta_replay_problem problem; /**< about the file, first one kept */
};

/** Opens the file of a container or of intel-gpu-tools. False with a sentence. */
bool zeta_replay_pieces_container(const struct zeta_replay_recording *recording,
                                  struct zeta_replay_pieces *out_pieces,
                                  struct zeta_replay_problem *problem);
bool zeta_replay_pieces_igt(const struct zeta_replay_recording *recording,
                            struct zeta_replay_pieces *out_pieces,
                            struct zeta_replay_problem *problem);

#endif
