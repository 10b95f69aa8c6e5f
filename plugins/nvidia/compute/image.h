#ifndef ZETA_PLUGINS_NVIDIA_COMPUTE_IMAGE_H
#define ZETA_PLUGINS_NVIDIA_COMPUTE_IMAGE_H

/*
 * Images of modules: what they are, whether they are whole, and which kernels they hold. The driver
 * gets no length: it reads as far as an image says, so the image is measured first.
 *
 * Images of zeta-nv-cc tell more of their kernels, in lines of text: comments before PTX, and what
 * follows a cubin that was made of it.
 *
 *     //zeta kernel NAME arguments LETTERS [group X,Y,Z] [attributes TEXT]
 *
 * A letter for each parameter, "-" for none: p an address, v a value, l local memory (a parameter
 * of 8 bytes, which takes the offset in dynamic shared memory). Behind these: o one of three
 * parameters of 4 bytes, which take the offset of the launch; b one of 8 bytes, which takes the
 * address of the buffer of printf. Of modules that may be linked:
 *
 *     //zeta import NAME
 *     //zeta export NAME
 *     //zeta variable UNIT NAME OWN w|c     OWN is the name in the image; w: written to
 *
 * Images that import or export end with what they were made of, and a struct nvidia_image_end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

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

/** What a parameter is: letters of the lines of zeta-nv-cc. */
enum {
    NVIDIA_PARAMETER_ADDRESS = 'p',
    NVIDIA_PARAMETER_VALUE = 'v',
    NVIDIA_PARAMETER_LOCAL = 'l',
    NVIDIA_PARAMETER_OFFSET = 'o',
    NVIDIA_PARAMETER_PRINT = 'b'
};

/** A kernel of an image. */
struct nvidia_entry {
    char *name;
    struct nvidia_parameter *parameters;
    uint32_t parameter_count;
    bool is_told;           /**< the image tells the parameters */
    char *letters;          /**< what each is; NULL: no line of zeta-nv-cc tells */
    char *attributes;       /**< of the source; NULL: none */
    uint32_t group_size[3]; /**< that the kernel requires; 0: any */
};

/** A variable that is shared with modules that are linked. */
struct nvidia_variable {
    uint32_t unit;    /**< of the modules that were built together */
    char *name;       /**< of the source */
    char *own;        /**< of the image */
    bool is_writable; /**< modules that use it have to use this one */
};

/** Names that lines tell, each a copy. */
struct nvidia_names {
    struct zeta_plugin_string *list;
    uint32_t count;
};

struct nvidia_image {
    struct nvidia_entry *entries;
    uint32_t count;
    struct nvidia_names imports, exports;
    struct nvidia_variable *variables;
    uint32_t variable_count;
};

/** The last bytes of an image that holds its source. */
struct nvidia_image_end {
    char magic[8]; /**< NVIDIA_IMAGE_END */
    uint64_t source_bytes;
    uint32_t source_images;
    uint32_t reserved;
};

#define NVIDIA_IMAGE_END "\nzetasrc"

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

/**
 * How many bytes of an image are before its source; all, if it has none. Any bytes.
 *
 * @out_source, @out_end  if it has one: where it begins, and the last bytes
 */
size_t nvidia_image_body(const uint8_t *bytes, size_t size, const uint8_t **out_source,
                         struct nvidia_image_end *out_end);

/** The variable of a name of the source, NULL: there is none. */
const struct nvidia_variable *nvidia_image_variable(const struct nvidia_image *image, uint32_t unit,
                                                    struct zeta_plugin_string name);

/** True if a name is among them. */
bool nvidia_names_have(const struct nvidia_names *names, struct zeta_plugin_string name);

/** The lines of zeta-nv-cc before PTX: how many bytes they are, 0 for none. */
size_t nvidia_image_notes(const uint8_t *ptx, size_t size);

/** The kernel of a name, NULL: there is none. */
const struct nvidia_entry *nvidia_image_find(const struct nvidia_image *image, const char *name,
                                             size_t length);

#endif
