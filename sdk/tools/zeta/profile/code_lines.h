/*
 * What lies at an address of a module's code: a function and a line of its source, as the image
 * says (libdw). Built without libdw nothing is known.
 */
#ifndef ZETA_TOOLS_PROFILE_CODE_LINES_H
#define ZETA_TOOLS_PROFILE_CODE_LINES_H

#include <stdbool.h>
#include <stdint.h>

/** An image that was opened. */
struct zeta_code_lines;

/** A place in the source. The texts live as long as the image is open. */
struct zeta_code_place {
    const char *function; /**< of the symbol table; null: unknown */
    const char *file;     /**< path as the compiler was given it, absolute; null: unknown */
    uint32_t line;        /**< from 1; 0: of none in particular, or unknown */
};

/** Whether this program can find lines at all. */
bool zeta_code_lines_work(void);

/**
 * Opens an image.
 *
 * @path   of the file
 * @begin  address at which its code was loaded
 *
 * Null when it is none, or cannot be read.
 */
struct zeta_code_lines *zeta_code_lines_open(const char *path, uint64_t begin);

void zeta_code_lines_close(struct zeta_code_lines *lines);

/** Looks an address up, as it was when the image was loaded. What is unknown is null or 0. */
void zeta_code_lines_find(struct zeta_code_lines *lines, uint64_t address,
                          struct zeta_code_place *out_place);

/** Whether the image has lines at all: it was built with -g. */
bool zeta_code_lines_has_lines(const struct zeta_code_lines *lines);

#endif
