#ifndef ZETA_TESTS_SUPPORT_KERNELS_H
#define ZETA_TESTS_SUPPORT_KERNELS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/ze_api.h>

/**
 * The module in the file path, or in the file that ZETA_TEST_KERNELS names: the same kernels for
 * another device. What starts as SPIR-V is SPIR-V, everything else native. The caller frees
 * pInputModule. A file that cannot be read ends the process.
 */
static inline ze_module_desc_t test_kernels(const char *path)
{
    enum { MAX_BYTES = 1 << 20 };
    static const uint32_t spirv = 0x07230203;
    const char *other = getenv("ZETA_TEST_KERNELS");
    FILE *file = fopen(other ? other : path, "rb");
    uint8_t *image = malloc(MAX_BYTES);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .pInputModule = image};

    if (!file || !image) {
        (void)fprintf(stderr, "%s cannot be read\n", other ? other : path);
        abort();
    }
    desc.inputSize = fread(image, 1, MAX_BYTES, file);
    (void)fclose(file);
    desc.format = desc.inputSize >= sizeof(spirv) && memcmp(image, &spirv, sizeof(spirv)) == 0
                      ? ZE_MODULE_FORMAT_IL_SPIRV
                      : ZE_MODULE_FORMAT_NATIVE;
    return desc;
}

#endif
