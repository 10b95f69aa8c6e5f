#ifndef ZETA_PLUGINS_REPLAY_RECORDING_SET_TEXT_H
#define ZETA_PLUGINS_REPLAY_RECORDING_SET_TEXT_H

/*
 * Texts of sets. Each set of a recording is a whole set file with its own copy of the layout, the
 * unit and the symbols; the sets of a device may define each of them only once.
 */

#include <stdbool.h>

#include "plugins/replay/recording/recording.h"

/**
 * Finds in the set's text, a set file with one set, what replaying needs: name, unit, kind, record
 * size, and where the clock and the tile of a record are. False with a sentence.
 */
bool zeta_replay_set_read(struct zeta_replay_set *set, struct zeta_replay_problem *problem);

/** What was written for a device already. Zero-initialised it is empty. */
struct zeta_replay_seen {
    char **names; /**< "kind:name" */
    uint32_t count;
};

/**
 * Hands the set to the sink, without the parts that were written before. Nothing is written of a
 * set whose name was written before. False with a sentence.
 */
bool zeta_replay_set_write(const struct zeta_replay_set *set, struct zeta_replay_seen *seen,
                           const struct zeta_plugin_text_sink *sink,
                           struct zeta_replay_problem *problem);

/** Frees what zeta_replay_set_write() noted. */
void zeta_replay_seen_finish(struct zeta_replay_seen *seen);

#endif
