/*
 * The folder that the processes of a program write their traces into, the variables for it, and the
 * lines of these traces while they are written.
 */
#ifndef ZETA_TOOLS_TRACE_FOLDER_H
#define ZETA_TOOLS_TRACE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/tools/zeta/program/program.h"

/** The variable of the recorder in the library. */
#define ZETA_TRACE_VARIABLE "ZETA_TRACE"

enum { ZETA_TRACE_VARIABLES = 3 };

/** All zero bytes: none. */
struct zeta_trace_folder {
    struct zeta_run_folder place;
    char *own[ZETA_TRACE_VARIABLES];
    char **variables; /**< of the program, null-terminated; most strings are not ours */
};

/**
 * Makes the folder beside a result, where there is room for it.
 *
 * @output_path  null: among the temporary files
 *
 * On failure prints why.
 */
int zeta_trace_folder_make(struct zeta_trace_folder *folder, const char *output_path);

/**
 * Builds the program's environment.
 *
 * @before         that it had otherwise; the strings must outlive the folder
 * @filter, @limit values of the variables of that name; null: not set
 */
void zeta_trace_folder_build(struct zeta_trace_folder *folder, char **before, const char *filter,
                             const char *limit);

/** Frees everything, and leaves what is in the file system. */
void zeta_trace_folder_finish(struct zeta_trace_folder *folder);

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
