/*
 * Programs that do a part of the work. What goes in and out are files in memory: nothing has a
 * name that others could guess, and nothing is left behind whatever happens.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_FRONT_END_CHILD_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_FRONT_END_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sdk/tools/zeta-vgpu-cc/request/buffer.h"

/** Address space of a child, in bytes. The largest module of the tests, 385 KiB, needs 256 MiB. */
#define ZETA_CC_CHILD_MEMORY_BYTES (UINT64_C(4) << 30)

/** How a child ended. */
enum zeta_cc_child_end {
    ZETA_CC_CHILD_FINE,    /**< exit status 0 */
    ZETA_CC_CHILD_FAILED,  /**< another exit status */
    ZETA_CC_CHILD_CRASHED, /**< by a signal */
    ZETA_CC_CHILD_MISSING  /**< it could not be started */
};

/** A running program. */
struct zeta_cc_child {
    pid_t process; /**< 0: none */
    int error;     /**< errno when it could not be started */
    int status;    /**< of waitpid, once it has ended */
    int input;
    int output;
    int messages;
};

/**
 * Starts arguments->list[0], an absolute path, with a small environment of its own and no more than
 * ZETA_CC_CHILD_MEMORY_BYTES of memory.
 *
 * @input, @size  its standard input, which is a seekable file (/proc/self/fd/0 opens it anew)
 *
 * Always followed by zeta_cc_child_end.
 */
void zeta_cc_child_start(struct zeta_cc_child *child, const struct zeta_cc_strings *arguments,
                         const void *input, size_t size);

/** Waits for the end; appends what it wrote to both streams. */
enum zeta_cc_child_end zeta_cc_child_end(struct zeta_cc_child *child,
                                         struct zeta_cc_buffer *out_output,
                                         struct zeta_cc_buffer *out_messages);

#endif
