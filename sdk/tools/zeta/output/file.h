/*
 * Files that results are written to.
 */
#ifndef ZETA_TOOLS_OUTPUT_FILE_H
#define ZETA_TOOLS_OUTPUT_FILE_H

#include <stdio.h>

#include <json-c/json.h>

/**
 * Names a file that this command reads, before any output is opened: no output goes into it, under
 * whatever name. Fails with a message if the standard output goes into it.
 */
int zeta_output_protect(const char *path);

/** Fails with a message if a path leads to a file that zeta_output_protect() named. */
int zeta_output_check_input(const char *path);

/**
 * Opens a file for results that come later, and leaves what is in it until then, so that a wrong
 * path is found before a long run and a failed run destroys nothing. Refuses inputs, recordings and
 * what another output goes to. On failure prints why.
 */
int zeta_output_open(const char *path, FILE **out_file);

/** Empties the file before the first result, as far as it can be emptied (a pipe cannot). */
void zeta_output_begin(FILE *file);

/** Closes the file; fails with a message when something could not be written. */
int zeta_output_close(FILE *file, const char *path);

/**
 * Writes a document to a path, or to the standard output for null or "-", and releases it. A null
 * document means that there was no memory for one. On failure prints why.
 */
int zeta_output_put_json(const char *path, struct json_object *document);

#endif
