#ifndef ZETA_SDK_LIB_COMPILER_COMPILER_PRIV_H
#define ZETA_SDK_LIB_COMPILER_COMPILER_PRIV_H

/* What the files of this folder share. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes on the heap. */
struct zeta_compiler_bytes {
    uint8_t *data;
    size_t size;
};

/**
 * Runs the program at @path with one request and reads its answer, in at most @patience_s seconds.
 * Nothing of the calling process shows in the program.
 *
 * @out_answer  a whole answer with the right digest
 * @out_log     on failure what happened, with the program's standard error; NULL without memory
 */
bool zeta_compiler_run(const char *path, const struct zeta_compiler_bytes *request,
                       uint32_t patience_s, struct zeta_compiler_bytes *out_answer, char **out_log);

/**
 * A file that the program at @path needs, as the file @path.needs tells: lines of a path and,
 * behind a blank, the package that has it, or "-" for a library, which may be elsewhere. Paths
 * without a slash at the begin are relative to the program. A program without that file needs
 * nothing that is known.
 */
struct zeta_compiler_need {
    char path[1024];
    char package[64];
};

/** All of them, to be freed; NULL with no count without such a file, or without memory. */
struct zeta_compiler_need *zeta_compiler_needs(const char *path, size_t *out_count);

/** How much of an answer is there. */
enum zeta_compiler_answer_state {
    ZETA_COMPILER_ANSWER_MORE,  /**< its begin is right, the end is missing */
    ZETA_COMPILER_ANSWER_WHOLE, /**< all of it, and its digest is right */
    ZETA_COMPILER_ANSWER_WRONG  /**< it will never be one */
};

/** Checks the first @size bytes of an answer; @out_why is the reason, when it is wrong. */
enum zeta_compiler_answer_state zeta_compiler_answer(const uint8_t *bytes, size_t size,
                                                     const char **out_why);

#endif
