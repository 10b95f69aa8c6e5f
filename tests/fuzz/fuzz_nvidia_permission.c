/* Any text as files of the kernel that say who may read counters. */
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/library/cupti.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    uint64_t effective = 1;
    enum nvidia_admin_only admin;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    admin = nvidia_parse_admin_only(text);
    if (admin != NVIDIA_ADMIN_UNKNOWN && !strstr(text, "RmProfilingAdminOnly:"))
        abort();
    if (nvidia_parse_capabilities(text, &effective) ? !strstr(text, "CapEff:") : effective != 1)
        abort();
    free(text);
    return 0;
}
