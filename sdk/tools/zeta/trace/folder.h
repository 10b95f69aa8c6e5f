/*
 * A folder in which the processes of a program write their traces, and the variables for it.
 */
#ifndef ZETA_TOOLS_TRACE_FOLDER_H
#define ZETA_TOOLS_TRACE_FOLDER_H

#include "sdk/tools/zeta/program/run_folder.h"

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
 *
 * On failure prints why.
 */
int zeta_trace_folder_build(struct zeta_trace_folder *folder, char **before, const char *filter,
                            const char *limit);

/** Removes the folder and the files in it. */
void zeta_trace_folder_remove(struct zeta_trace_folder *folder);

/** Frees everything, and leaves what is in the file system. */
void zeta_trace_folder_finish(struct zeta_trace_folder *folder);

#endif
