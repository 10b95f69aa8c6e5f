/* The runtime API: the default driver, which is the first one, and numbers of devices. */
#include "core/device/device.h"
#include "core/device/init.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* The devices in the order of their numbers, as far as somebody looks. */
struct search {
    uint32_t identifier;              /* what is looked for, or UINT32_MAX */
    const struct zeta_device *device; /* what is looked for, or NULL */
    uint32_t passed;                  /* number of the next device */
    struct zeta_device *found;
};

static void visit(struct search *search, struct zeta_device *device)
{
    if (search->found)
        return;
    if (search->passed == search->identifier || device == search->device)
        search->found = device;
    else
        search->passed++;
}

/* First what zeDeviceGet gives, driver by driver; then tiles; then roots behind tiles. */
static void walk(struct search *search)
{
    const struct zeta_driver_set *set = zeta_core_drivers();

    for (unsigned pass = 0; pass < 3; pass++) {
        for (uint32_t d = 0; d < set->count; d++) {
            const struct zeta_driver *driver = set->drivers[d];

            for (uint32_t i = 0; i < driver->device_count; i++) {
                struct zeta_device *device = driver->devices[i];

                for (uint32_t t = 0; pass == 1 && t < device->tile_count; t++)
                    visit(search, device->tiles[t]);
                if (pass == 0)
                    visit(search, device);
                if (pass == 2 && device->parent && !device->alone &&
                    (i == 0 || driver->devices[i - 1]->parent != device->parent))
                    visit(search, device->parent);
            }
        }
    }
}

ze_result_t ZE_APICALL impl_zerGetLastErrorDescription(const char **ppString)
{
    *ppString = zeta_error_describe();
    return ZE_RESULT_SUCCESS;
}

uint32_t ZE_APICALL impl_zerTranslateDeviceHandleToIdentifier(ze_device_handle_t hDevice)
{
    struct search search = {.identifier = UINT32_MAX, .device = (struct zeta_device *)hDevice};

    walk(&search);
    if (search.found)
        return search.passed;
    (void)zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                     "device %s is hidden from this process by ZE_AFFINITY_MASK",
                     search.device->name);
    return UINT32_MAX;
}

ze_device_handle_t ZE_APICALL impl_zerTranslateIdentifierToDeviceHandle(uint32_t identifier)
{
    struct search search = {.identifier = identifier};

    walk(&search);
    if (!search.found)
        (void)zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                         "no device has the number %u; there are %u", identifier, search.passed);
    return (ze_device_handle_t)search.found;
}
