/* The line by which the kernel module of NVIDIA's driver tells its version. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/gpu/nvidia.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[16] = "untouched";
    char *line = malloc(size + 1);

    if (!line)
        return 0;
    if (size > 0)
        memcpy(line, data, size);
    line[size] = '\0';
    if (nvidia_parse_module_version(line, text, sizeof(text))) {
        if (!strchr(text, '.') || strspn(text, "0123456789.") != strlen(text) ||
            !strstr(line, text))
            abort();
    } else if (strcmp(text, "untouched") != 0) {
        abort();
    }
    free(line);
    return 0;
}
