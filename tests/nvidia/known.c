#include "tests/nvidia/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four groups for each SM of an H100. */
enum { GROUPS = 528, COPIED_WORDS = 8 * GROUPS * KNOWN_GROUP, STRIDE = 4 };

#define MEMORY                                                                                     \
    {                                                                                              \
        8, KNOWN_MEMORY, 0                                                                         \
    }
#define SIZE                                                                                       \
    {                                                                                              \
        4, KNOWN_SIZE, 0                                                                           \
    }
#define NUMBER(bytes, bits)                                                                        \
    {                                                                                              \
        bytes, KNOWN_NUMBER, bits                                                                  \
    }

/* 0.5 and 0.25 as numbers of 32 and of 64 bits. */
static const struct known_kernel kernels[] = {
    {"empty", "kernels.ptx", GROUPS, 0, 0, {{0}}},
    {"fma_loop",
     "kernels.ptx",
     GROUPS,
     4,
     4,
     {MEMORY, SIZE, NUMBER(4, 0x3f000000), NUMBER(4, 0x3e800000)}},
    {"dfma_loop",
     "kernels.ptx",
     GROUPS,
     8,
     4,
     {MEMORY, SIZE, NUMBER(8, 0x3fe0000000000000), NUMBER(8, 0x3fd0000000000000)}},
    {"hfma_loop", "kernels.ptx", GROUPS, 4, 4, {MEMORY, SIZE, NUMBER(4, 0), NUMBER(4, 0)}},
    {"vector_add", "kernels.ptx", 0, 4, 4, {MEMORY, MEMORY, MEMORY, SIZE}},
    {"copy_repeat", "kernels.ptx", GROUPS, 32, 4, {MEMORY, MEMORY, NUMBER(4, COPIED_WORDS), SIZE}},
    {"shared_stride", "kernels.ptx", GROUPS, 4, 3, {MEMORY, SIZE, NUMBER(4, STRIDE)}},
    {"mma_chain", "mma.ptx", GROUPS, 4, 2, {MEMORY, SIZE}},
    {"divergent", "kernels.ptx", GROUPS, 4, 2, {MEMORY, SIZE}},
};

const struct known_kernel *known_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    }
    return NULL;
}

uint32_t known_groups(const struct known_kernel *kernel, uint32_t size)
{
    return kernel->groups > 0 ? kernel->groups : (size + KNOWN_GROUP - 1) / KNOWN_GROUP;
}

char *known_read(const struct known_kernel *kernel)
{
    enum { MOST_BYTES = 65536 };
    char path[4096], *text = calloc(1, MOST_BYTES);
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/tests/cuda/kernels/%s", ZETA_SOURCE_DIR, kernel->file);
    file = fopen(path, "r");
    if (text && file && fread(text, 1, MOST_BYTES - 1, file) > 0) {
        (void)fclose(file);
        return text;
    }
    perror(path);
    if (file)
        (void)fclose(file);
    free(text);
    return NULL;
}
