#ifndef ZETA_PLUGINS_NVIDIA_COMPUTE_IMAGE_H
#define ZETA_PLUGINS_NVIDIA_COMPUTE_IMAGE_H

/*
 * Images of modules: what they are, whether they are whole, and which kernels they hold. The driver
 * gets no length: it reads as far as an image says, so the image is measured first.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nvidia_image_kind {
    NVIDIA_IMAGE_UNKNOWN, /**< none of the others, or not whole */
    NVIDIA_IMAGE_PTX,
    NVIDIA_IMAGE_CUBIN,
    NVIDIA_IMAGE_FATBIN
};

/** One argument of a kernel. */
struct nvidia_parameter {
    uint32_t offset_bytes, size_bytes;
};

/** A kernel of an image. */
struct nvidia_entry {
    char *name;
    struct nvidia_parameter *parameters;
    uint32_t parameter_count;
    bool is_told; /**< the image tells the parameters */
};

struct nvidia_image {
    struct nvidia_entry *entries;
    uint32_t count;
};

/**
 * Tells an image by its content. Any bytes.
 *
 * @out_problem  for NVIDIA_IMAGE_UNKNOWN: a sentence without the beginning, "is ..."
 */
enum nvidia_image_kind nvidia_image_kind(const uint8_t *bytes, size_t size,
                                         const char **out_problem);

/**
 * Reads the kernels of PTX or of a cubin: for drivers that do not tell them. A fat binary has none
 * that can be told. Any bytes. NULL without memory; nvidia_image_free() frees it.
 */
struct nvidia_image *nvidia_image_read(enum nvidia_image_kind kind, const uint8_t *bytes,
                                       size_t size);
void nvidia_image_free(struct nvidia_image *image);

/** The kernel of a name, NULL: there is none. */
const struct nvidia_entry *nvidia_image_find(const struct nvidia_image *image, const char *name,
                                             size_t length);

#endif
