/*
 * Goes through the chunks of a recording, also of one that is cut or damaged.
 */
#ifndef ZETA_TOOLS_RECORDING_WALK_H
#define ZETA_TOOLS_RECORDING_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include <zeta/container.h>
#include <zeta/zeta.h>

/** How the file was. */
struct zeta_report_condition {
    bool is_cut;      /**< it ends before its end chunk */
    uint64_t damaged; /**< chunks, or the place where nothing more can be read */
    char damage[512]; /**< what the first of them was */
};

/** Takes one chunk. On failure it printed why, and the walk ends. */
typedef int (*zeta_report_take)(void *user, struct zeta_recording_reader *reader,
                                const struct zeta_recording_chunk *chunk);

/** Goes through a file. What is damaged is counted and passed over. On failure prints why. */
int zeta_report_walk(const char *path, zeta_report_take take, void *user,
                     struct zeta_report_condition *out_condition);

#endif
