/*
 * Reads a request of the plugin (zeta/compiler/protocol.h). Everything is checked against the size
 * of the message and the bounds of the protocol before it is used.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_REQUEST_REQUEST_H
#define ZETA_SDK_TOOLS_ZETA_CC_REQUEST_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/compiler/protocol.h>

/** One image; everything points into the message. */
struct zeta_cc_request_image {
    const unsigned char *bytes; /**< of any alignment */
    size_t size;
    const char *options; /**< not terminated */
    size_t options_bytes;
    const unsigned char *constants; /**< struct zeta_compile_constant, of any alignment */
    uint32_t constant_count;
};

/** A request. */
struct zeta_cc_request {
    enum zeta_compile_format format;
    uint32_t image_count;
    struct zeta_cc_request_image images[ZETA_COMPILE_MAX_IMAGES];
};

/** Reads a whole message; false with a reason (static storage) when it is no request. */
bool zeta_cc_request_read(const void *message, size_t size, struct zeta_cc_request *out_request,
                          const char **out_reason);

/** The constant at @index of an image; false when its size is none of 1, 2, 4, 8. */
bool zeta_cc_request_constant(const struct zeta_cc_request_image *image, uint32_t index,
                              struct zeta_compile_constant *out_constant);

#endif
