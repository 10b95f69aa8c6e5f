#include "request.h"

#include <string.h>

/* The part of a message that was not read yet. */
struct cursor {
    const unsigned char *at;
    size_t left;
};

static const unsigned char *take(struct cursor *cursor, size_t size)
{
    const unsigned char *at = cursor->at;

    if (size > cursor->left)
        return NULL;
    cursor->at += size;
    cursor->left -= size;
    return at;
}

static bool refuse(const char **out_reason, const char *reason)
{
    *out_reason = reason;
    return false;
}

static bool read_image(struct cursor *cursor, struct zeta_cc_request_image *image,
                       const char **out_reason)
{
    const unsigned char *bytes = take(cursor, sizeof(struct zeta_compile_image));
    struct zeta_compile_image header;

    if (!bytes)
        return refuse(out_reason, "the request ends before the header of an image");
    memcpy(&header, bytes, sizeof(header));
    if (header.image_bytes > ZETA_COMPILE_MAX_IMAGE_BYTES)
        return refuse(out_reason, "an image of the request is too large");
    if (header.options_bytes > ZETA_COMPILE_MAX_OPTIONS_BYTES)
        return refuse(out_reason, "the build options of the request are too long");
    if (header.constant_count > ZETA_COMPILE_MAX_CONSTANTS)
        return refuse(out_reason, "the request has too many specialization constants");
    image->options = (const char *)take(cursor, header.options_bytes);
    image->options_bytes = header.options_bytes;
    if (!image->options)
        return refuse(out_reason, "the request ends in its build options");
    image->constant_count = header.constant_count;
    image->constants =
        take(cursor, (size_t)header.constant_count * sizeof(struct zeta_compile_constant));
    if (!image->constants)
        return refuse(out_reason, "the request ends in its specialization constants");
    image->size = (size_t)header.image_bytes;
    image->bytes = take(cursor, image->size);
    if (!image->bytes)
        return refuse(out_reason, "the request ends in an image");
    for (uint32_t i = 0; i < image->constant_count; i++) {
        struct zeta_compile_constant constant;

        if (!zeta_cc_request_constant(image, i, &constant))
            return refuse(out_reason, "a specialization constant has none of the sizes 1, 2, 4, 8");
    }
    return true;
}

bool zeta_cc_request_constant(const struct zeta_cc_request_image *image, uint32_t index,
                              struct zeta_compile_constant *out_constant)
{
    memcpy(out_constant, image->constants + (size_t)index * sizeof(*out_constant),
           sizeof(*out_constant));
    return out_constant->size_bytes == 1 || out_constant->size_bytes == 2 ||
           out_constant->size_bytes == 4 || out_constant->size_bytes == 8;
}

bool zeta_cc_request_read(const void *message, size_t size, struct zeta_cc_request *out_request,
                          const char **out_reason)
{
    struct cursor cursor = {message, size};
    const unsigned char *bytes = take(&cursor, sizeof(struct zeta_compile_request));
    struct zeta_compile_request header;

    if (!bytes)
        return refuse(out_reason, "the request is shorter than its header");
    memcpy(&header, bytes, sizeof(header));
    if (header.magic != ZETA_COMPILE_REQUEST_MAGIC)
        return refuse(out_reason, "the standard input holds no request of a backend");
    if (header.version != ZETA_COMPILE_VERSION)
        return refuse(out_reason, "the request has another version: plugin and compiler do not "
                                  "belong together");
    if (header.format > ZETA_COMPILE_OPENCL_C)
        return refuse(out_reason, "the request has an unknown form of input");
    if (header.image_count == 0 || header.image_count > ZETA_COMPILE_MAX_IMAGES)
        return refuse(out_reason, "the request has no image, or too many");
    out_request->format = (enum zeta_compile_format)header.format;
    out_request->image_count = header.image_count;
    for (uint32_t i = 0; i < header.image_count; i++) {
        if (!read_image(&cursor, &out_request->images[i], out_reason))
            return false;
    }
    if (cursor.left > 0)
        return refuse(out_reason, "there are bytes behind the request");
    return true;
}
