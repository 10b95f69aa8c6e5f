/* The reader of specialization constants on any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "plugins/vgpu/engine/engine.h"
#include <zeta/compiler/spirv.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_spirv_constant *constants = NULL;
    struct zeta_vgpu_message message = {""};
    uint32_t count = 0;

    if (zeta_spirv_constants(data, size, &constants, &count, message.text, sizeof(message.text))) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bytes = constants[i].size_bytes;

            if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
                abort();
        }
        /* Each takes an instruction of three words or more. */
        if (count > size / 12)
            abort();
        free(constants);
    } else if (message.text[0] == '\0' || constants) {
        abort();
    }
    return 0;
}
