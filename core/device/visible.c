#include "core/device/init.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/log.h"

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* A number in decimal digits; false, with *text left alone, if there is none that fits. */
static bool read_number(const char **text, uint32_t *out_number)
{
    const char *at = *text;
    uint64_t number = 0;

    while (isdigit((unsigned char)*at) && number < UINT32_MAX)
        number = number * 10 + (uint64_t)(*at++ - '0');
    if (at == *text || number >= UINT32_MAX)
        return false;
    *text = at;
    *out_number = (uint32_t)number;
    return true;
}

size_t zeta_mask_parse(const char *text, struct zeta_mask_entry entries[ZETA_MASK_ENTRIES],
                       const char **out_bad)
{
    size_t count = 0;

    *out_bad = NULL;
    for (text = skip_blanks(text); *text; text = skip_blanks(text + 1)) {
        struct zeta_mask_entry entry = {.tile = UINT32_MAX};
        const char *start = text;
        bool good = read_number(&text, &entry.device);

        if (good && *text == '.') {
            text++;
            good = read_number(&text, &entry.tile);
        }
        text = skip_blanks(text);
        if (!good || (*text != ',' && *text != '\0') || count == ZETA_MASK_ENTRIES) {
            *out_bad = good ? text : start;
            return count;
        }
        entries[count++] = entry;
        if (*text == '\0')
            break;
    }
    return count;
}

/* Shows the tiles of a driver's devices in their place; false without memory. */
static bool show_tiles(struct zeta_driver *driver, bool alone)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < driver->device_count; i++)
        count += driver->devices[i]->tile_count ? driver->devices[i]->tile_count : 1;
    struct zeta_device **shown = calloc(count + 1, sizeof(*shown));
    if (!shown)
        return false;
    count = 0;
    for (uint32_t i = 0; i < driver->device_count; i++) {
        struct zeta_device *root = driver->devices[i];

        if (root->tile_count == 0)
            shown[count++] = root;
        for (uint32_t tile = 0; tile < root->tile_count; tile++) {
            root->tiles[tile]->alone = alone;
            shown[count++] = root->tiles[tile];
        }
    }
    free(driver->devices);
    driver->devices = shown;
    driver->device_count = count;
    return true;
}

static bool mask_has(const struct zeta_mask_entry *entries, size_t count, uint32_t device,
                     uint32_t tile)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].device == device &&
            (entries[i].tile == UINT32_MAX || tile == UINT32_MAX || entries[i].tile == tile))
            return true;
    }
    return false;
}

/* Devices are numbered through all drivers, in the order in which they are shown. */
static void apply_mask(struct zeta_driver_set *set, const struct zeta_mask_entry *entries,
                       size_t count)
{
    uint32_t number = 0;

    for (uint32_t d = 0; d < set->count; d++) {
        struct zeta_driver *driver = set->drivers[d];
        uint32_t kept = 0;

        for (uint32_t i = 0; i < driver->device_count; i++, number++) {
            struct zeta_device *device = driver->devices[i];
            uint32_t tiles = device->tile_count;

            if (!mask_has(entries, count, number, UINT32_MAX))
                continue;
            uint32_t left = 0;
            for (uint32_t t = 0; t < tiles; t++) {
                if (mask_has(entries, count, number, t))
                    device->tiles[left++] = device->tiles[t];
            }
            device->is_part = left > 0 && left < tiles;
            device->tile_count = left;
            if (tiles > 0 ? left == 0 : !mask_has(entries, count, number, 0))
                continue;
            if (tiles > 1 && device->tile_count == 1) {
                device = device->tiles[0];
                device->alone = true;
            }
            driver->devices[kept++] = device;
        }
        driver->device_count = kept;
    }
}

static uint64_t pci_place(const struct zeta_device *device)
{
    const struct zeta_plugin_device_properties *p = &device->backend->properties;

    /* Devices without an address come last. */
    if (!p->has_pci)
        return UINT64_MAX;
    return (uint64_t)p->pci_domain << 16 | (uint64_t)(p->pci_bus & 0xff) << 8 |
           (uint64_t)(p->pci_device & 0x1f) << 3 | (p->pci_function & 7);
}

/* Stable: tiles of a device keep their order. */
static void sort_by_address(struct zeta_driver *driver)
{
    for (uint32_t i = 1; i < driver->device_count; i++) {
        struct zeta_device *device = driver->devices[i];
        uint32_t at = i;

        for (; at > 0 && pci_place(driver->devices[at - 1]) > pci_place(device); at--)
            driver->devices[at] = driver->devices[at - 1];
        driver->devices[at] = device;
    }
}

void zeta_visible_apply(struct zeta_driver_set *set)
{
    const char *mask = secure_getenv("ZE_AFFINITY_MASK");
    struct zeta_mask_entry entries[ZETA_MASK_ENTRIES];
    const char *text = secure_getenv("ZE_FLAT_DEVICE_HIERARCHY");
    const bool is_flat = text && strcasecmp(text, "FLAT") == 0;
    const bool is_combined = text && strcasecmp(text, "COMBINED") == 0;
    const char *bad = NULL;

    if (text && *text && !is_flat && !is_combined && strcasecmp(text, "COMPOSITE") != 0)
        zeta_log(ZETA_LOG_WARN, "init",
                 "ZE_FLAT_DEVICE_HIERARCHY is '%.40s', not COMPOSITE, FLAT or COMBINED; devices "
                 "are shown as COMPOSITE",
                 text);

    for (uint32_t i = 0; i < set->count; i++) {
        if (zeta_settings_switch("ZE_ENABLE_PCI_ID_DEVICE_ORDER"))
            sort_by_address(set->drivers[i]);
        if ((is_flat || is_combined) && !show_tiles(set->drivers[i], is_flat))
            zeta_log(ZETA_LOG_WARN, "init", "no memory to show the tiles of driver %s as devices",
                     set->drivers[i]->name);
    }
    if (!mask || !*skip_blanks(mask))
        return;
    size_t count = zeta_mask_parse(mask, entries, &bad);
    if (bad)
        zeta_log(ZETA_LOG_WARN, "init",
                 "ZE_AFFINITY_MASK '%.80s' is read up to '%.20s'; it must be a list of devices "
                 "and tiles such as 0,1.0",
                 mask, bad);
    apply_mask(set, entries, count);
}
