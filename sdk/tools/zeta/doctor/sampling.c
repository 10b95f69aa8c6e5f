/* Can hardware be sampled? Nobody knows but the kernel, and it says so when a stream is opened. */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/inventory/group_list.h"
#include "sdk/tools/zeta/output/message.h"

/* Rarely: a stream that is closed at once is about permission, not about reports. */
enum { PERIOD_NS = 100000000 };

static ze_result_t open_stream(const struct zeta_device_entry *device, ze_context_handle_t context,
                               zet_metric_group_handle_t group)
{
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .samplingPeriod = PERIOD_NS,
    };
    zet_metric_streamer_handle_t streamer = NULL;
    ze_result_t result = zetContextActivateMetricGroups(context, device->device, 1, &group);

    if (result == ZE_RESULT_SUCCESS)
        result =
            zetMetricStreamerOpen(context, device->device, group, &description, NULL, &streamer);
    return result == ZE_RESULT_SUCCESS ? zetMetricStreamerClose(streamer) : result;
}

/* False without memory. */
static bool try_group(const struct zeta_device_entry *device, zet_metric_group_handle_t group,
                      struct zeta_doctor_sampling *sampling)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context = NULL;
    ze_result_t result = zeContextCreate(device->driver, &description, &context);
    bool has_memory = true;

    if (result == ZE_RESULT_SUCCESS)
        result = open_stream(device, context, group);
    sampling->was_tried = true;
    if (result != ZE_RESULT_SUCCESS) {
        sampling->is_busy = result == ZE_RESULT_ERROR_NOT_AVAILABLE;
        sampling->error = strdup(zetaGetLastError());
        has_memory = sampling->error != NULL;
    }
    if (context) {
        (void)zetContextActivateMetricGroups(context, device->device, 0, NULL);
        (void)zeContextDestroy(context);
    }
    return has_memory;
}

bool zeta_doctor_try_sampling(struct zeta_doctor *doctor)
{
    bool has_memory = true;

    if (!doctor->is_initialised || doctor->devices.count == 0)
        return true;
    doctor->samplings = calloc(doctor->devices.count, sizeof(*doctor->samplings));
    if (!doctor->samplings)
        return false;
    for (uint32_t i = 0; i < doctor->devices.count && has_memory; i++) {
        const struct zeta_device_entry *device = &doctor->devices.entries[i];
        struct zeta_group_list groups = {0};

        if (strcmp(device->info.device_class, "hardware") != 0 || !device->info.stream[0])
            continue;
        /* The first group of a device is one that can be streamed. */
        if (zeta_group_list_init(device->device, &groups) == ZETA_EXIT_OK && groups.count > 0)
            has_memory = try_group(device, groups.entries[0].group, &doctor->samplings[i]);
        zeta_group_list_finish(&groups);
    }
    return has_memory;
}
