/* Any text as the description of the device: refused with a place, or values inside their ranges.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/device/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_vgpu_description d;
    struct zeta_vgpu_message message = {""};

    zeta_vgpu_description_default(&d);
    if (zeta_vgpu_description_parse(&d, (const char *)data, size, "text", NULL, NULL, &message) !=
        ZETA_VGPU_OK) {
        if (strncmp(message.text, "text:", 5) != 0)
            abort();
    }
    if (d.tiles < 1 || d.tiles > ZETA_VGPU_MAX_TILES || d.vendor_id <= 0xffff ||
        d.topology.slices < 1 || d.topology.slices > 64 || d.core_clock_mhz < 25 ||
        memchr(d.name, 0, sizeof(d.name)) == NULL || strchr(d.instance, '/') || d.name[0] == '\0')
        abort();
    return 0;
}
