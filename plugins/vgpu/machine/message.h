#ifndef ZETA_PLUGINS_VGPU_MACHINE_MESSAGE_H
#define ZETA_PLUGINS_VGPU_MACHINE_MESSAGE_H

/* Outcome of a call, and the sentence that explains a failure. */

#include <stdbool.h>

/** Outcome of a call. */
enum zeta_vgpu_result {
    ZETA_VGPU_OK,
    ZETA_VGPU_OUT_OF_MEMORY,
    ZETA_VGPU_INVALID_ARGUMENT,
    ZETA_VGPU_INVALID_IMAGE, /**< not an RV64 kernel file; the message says what and where */
    ZETA_VGPU_FAULT,         /**< a hardware thread stopped with an exception */
    ZETA_VGPU_INTERRUPTED,   /**< the launch was asked to stop before its end */
    ZETA_VGPU_RESULT_COUNT
};

/** Room for one sentence that explains a failure; always terminated. */
struct zeta_vgpu_message {
    char text[512];
};

/** Writes the reason of a failure and returns @result. @message may be NULL. */
enum zeta_vgpu_result zeta_vgpu_fail(struct zeta_vgpu_message *message,
                                     enum zeta_vgpu_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Writes the reason of a refusal, and is false, also for tools that analyse a file alone. */
#define zeta_vgpu_reject(message, ...)                                                             \
    (zeta_vgpu_fail(message, ZETA_VGPU_INVALID_ARGUMENT, __VA_ARGS__) && false)

#endif
