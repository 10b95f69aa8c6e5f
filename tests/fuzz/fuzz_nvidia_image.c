/* Any bytes given as an image for NVIDIA's GPUs: told apart, and read within their bounds. */
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/compute/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(enum nvidia_image_kind kind, const uint8_t *data, size_t size)
{
    struct nvidia_image *image = nvidia_image_read(kind, data, size);

    for (uint32_t i = 0; image && i < image->count; i++) {
        if (!nvidia_image_find(image, image->entries[i].name, strlen(image->entries[i].name)))
            abort();
    }
    nvidia_image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *problem = NULL;
    const uint8_t *source = data;
    struct nvidia_image_end end;
    const size_t body = nvidia_image_body(data, size, &source, &end);
    const enum nvidia_image_kind kind = nvidia_image_kind(data, size, &problem);

    if (kind == NVIDIA_IMAGE_UNKNOWN && !problem)
        abort();
    if (body > size || (body < size && (source != data + body || end.source_bytes > size)))
        abort();
    /* Both readers, whatever it is. */
    read_as(NVIDIA_IMAGE_PTX, data, size);
    read_as(NVIDIA_IMAGE_CUBIN, data, size);
    return 0;
}
