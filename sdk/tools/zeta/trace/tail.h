/*
 * Takes the lines out of traces that are still being written.
 *
 * The library writes a trace in parts of the file that belong to threads (sdk/doc/formats.md), so
 * new lines appear in several places. This remembers how far each part was read.
 */
#ifndef ZETA_TOOLS_TRACE_TAIL_H
#define ZETA_TOOLS_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Receives whole lines, each ended with ",\n". On failure it printed why. */
typedef int (*zeta_trace_tail_take)(void *user, const char *lines, size_t bytes);

/** One trace of the folder. */
struct zeta_trace_tail_file {
    char *name;
    uint32_t *used; /**< bytes that were read of each part */
    uint32_t part_count;
    bool has_head; /**< the lines about the process were taken */
};

/** All zero bytes: nothing was read. */
struct zeta_trace_tail {
    struct zeta_trace_tail_file *files;
    uint32_t file_count;
    char *buffer;    /**< a part of a file */
    uint64_t lines;  /**< that were taken */
    uint64_t broken; /**< that their process did not finish */
};

/**
 * Gives the lines that came into the traces of a folder since the last call.
 *
 * @is_last  the processes have ended: calls that were under way are given too, and lines that were
 *           cut are counted
 *
 * On failure prints why.
 */
int zeta_trace_tail_read(struct zeta_trace_tail *tail, const char *folder, bool is_last,
                         zeta_trace_tail_take take, void *user);

void zeta_trace_tail_finish(struct zeta_trace_tail *tail);

#endif
