#include <zeta/intel_gpu.h>

#include <stdlib.h>
#include <string.h>

static void free_platform(struct zeta_intel_platform *platform)
{
    for (uint32_t i = 0; i < platform->set_count; i++)
        free(platform->sets[i]);
    free(platform->sets);
    free(platform->pci);
    free(platform->symbols);
}

void zeta_intel_platforms_free(struct zeta_intel_platforms *platforms)
{
    for (uint32_t i = 0; i < platforms->count; i++)
        free_platform(&platforms->items[i]);
    free(platforms->items);
    *platforms = (struct zeta_intel_platforms){NULL, 0};
}

const struct zeta_intel_platform *
zeta_intel_platform_find(const struct zeta_intel_platforms *platforms, uint32_t device_id)
{
    for (uint32_t i = 0; i < platforms->count; i++) {
        const struct zeta_intel_platform *platform = &platforms->items[i];

        for (uint32_t p = 0; p < platform->pci_count; p++) {
            if (platform->pci[p] == device_id)
                return platform;
        }
    }
    return NULL;
}
