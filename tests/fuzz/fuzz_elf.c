/* Any bytes as a kernel file: loaded, looked at and unloaded, or refused with a sentence. */
#include <stdint.h>
#include <stdlib.h>

#include "plugins/vgpu/engine/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_vgpu_space *space = zeta_vgpu_space_create();
    struct zeta_vgpu_message message = {""};
    struct zeta_vgpu_image *image = NULL;
    enum zeta_vgpu_result result;

    if (!space)
        return 0;
    result = zeta_vgpu_image_create(space, data, size, &message, &image);
    if (result == ZETA_VGPU_OK) {
        struct zeta_vgpu_symbol symbol;

        for (uint32_t i = 0; i < zeta_vgpu_image_kernel_count(image); i++) {
            const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_kernel(image, i);

            if (!zeta_vgpu_image_find_kernel(image, kernel->name))
                abort();
        }
        (void)zeta_vgpu_image_find_symbol(image, "table", &symbol);
        (void)zeta_vgpu_image_link(&image, 1, NULL, NULL);
        zeta_vgpu_image_destroy(image);
    } else if (image || message.text[0] == '\0') {
        abort();
    }
    zeta_vgpu_space_destroy(space);
    return 0;
}
