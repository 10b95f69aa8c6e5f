/* Writing recordings: the functions of zeta.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/export/export.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"

struct zeta_recording {
    struct zeta_export_target target;
    struct zeta_list devices; /**< of struct zeta_device; the number of each is
                                 its index + 1 */
    uint32_t streams;
};

ze_result_t zetaRecordingCreate(const struct zeta_recording_desc *desc,
                                struct zeta_recording **out_recording)
{
    struct zeta_recording_desc known = {0};
    struct zeta_container_problem problem = {""};
    struct zeta_recording *recording;
    ze_result_t result = zeta_own_struct_check("zetaRecordingCreate", desc);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!out_recording)
        return zeta_own_null_pointer("zetaRecordingCreate", "out_recording");
    zeta_own_struct_copy(&known, sizeof(known), desc, desc->struct_size);
    if (!known.path)
        return zeta_own_null_pointer("zetaRecordingCreate", "desc->path");
    recording = calloc(1, sizeof(*recording));
    if (!recording)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeta_export_result(zeta_container_create_file(known.path, ZETA_CONTAINER_RECORDING,
                                                           known.limit_bytes, &problem,
                                                           &recording->target.writer),
                                problem.text);
    if (result != ZE_RESULT_SUCCESS) {
        free(recording);
        return result;
    }
    *out_recording = recording;
    return ZE_RESULT_SUCCESS;
}

/** The lines of a DEVICE chunk; parent is 0 for a root. */
static void add_properties(const struct zeta_device *device, uint32_t parent,
                           struct zeta_lines *lines)
{
    const struct zeta_plugin_device_properties *properties = &device->backend->properties;
    char uuid[2 * sizeof(properties->uuid) + 1];

    for (size_t i = 0; i < sizeof(properties->uuid); i++)
        (void)snprintf(uuid + 2 * i, 3, "%02x", properties->uuid[i]);
    zeta_lines_add(lines, "name", device->name);
    zeta_lines_add(lines, "id", device->backend->id);
    zeta_lines_add(lines, "class",
                   zeta_device_class_name(device->backend->identity.backend->device_class));
    zeta_lines_add(lines, "uuid", uuid);
    zeta_lines_add_u64(lines, "vendor", properties->vendor_id);
    zeta_lines_add_u64(lines, "device", properties->device_id);
    zeta_lines_add_u64(lines, "revision", properties->revision);
    if (parent != 0) {
        zeta_lines_add_u64(lines, "parent", parent);
        zeta_lines_add_u64(lines, "tile", device->tile);
    }
    zeta_lines_add_u64(lines, "timer-hz", properties->timer_hz);
    zeta_lines_add_u64(lines, "timestamp-bits", properties->timestamp_valid_bits);
    zeta_lines_add_u64(lines, "kernel-timestamp-bits", properties->kernel_timestamp_valid_bits);
    zeta_lines_add_u64(lines, "core-clock-mhz", properties->core_clock_mhz);
    zeta_lines_add_u64(lines, "slices", properties->slices);
    zeta_lines_add_u64(lines, "subslices-per-slice", properties->subslices_per_slice);
    zeta_lines_add_u64(lines, "eus-per-subslice", properties->eus_per_subslice);
    zeta_lines_add_u64(lines, "threads-per-eu", properties->threads_per_eu);
    zeta_lines_add_u64(lines, "simd-width", properties->simd_width);
}

/** Describes a device, if that was not done yet. */
static ze_result_t describe_device(struct zeta_recording *recording, struct zeta_device *device,
                                   uint32_t parent, uint32_t *out_number)
{
    struct zeta_list *devices = &recording->devices;
    struct zeta_lines lines = {0};
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    for (*out_number = 1; *out_number <= devices->count; (*out_number)++) {
        if (devices->items[*out_number - 1] == device)
            return ZE_RESULT_SUCCESS;
    }
    add_properties(device, parent, &lines);
    if (!lines.no_memory && zeta_list_add(devices, device)) {
        result = zeta_export_append(recording->target.writer, ZETA_CHUNK_DEVICE, *out_number,
                                    (struct zeta_container_part){lines.text, lines.bytes});
        if (result != ZE_RESULT_SUCCESS)
            devices->count--;
    }
    zeta_lines_finish(&lines);
    return result;
}

/** Describes the root of a device with all its tiles. */
static ze_result_t add_device(struct zeta_recording *recording, struct zeta_device *device,
                              uint32_t *out_number)
{
    struct zeta_device *root = device->parent ? device->parent : device;
    uint32_t parent = 0;
    ze_result_t result = describe_device(recording, root, 0, &parent);
    uint32_t number = parent;

    for (uint32_t i = 0; i < root->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        uint32_t tile = 0;

        result = describe_device(recording, root->tiles[i], parent, &tile);
        if (root->tiles[i] == device)
            number = tile;
    }
    if (result == ZE_RESULT_SUCCESS)
        *out_number = number;
    return result;
}

ze_result_t zetaRecordingAddDevice(struct zeta_recording *recording, ze_device_handle_t device,
                                   uint32_t *out_number)
{
    const char *function = "zetaRecordingAddDevice";

    if (!recording)
        return zeta_own_null_handle(function, "recording");
    if (!zeta_object_is(device, ZETA_KIND_DEVICE))
        return zeta_object_explain(device, ZETA_KIND_DEVICE, function, "device");
    if (!out_number)
        return zeta_own_null_pointer(function, "out_number");
    return add_device(recording, (struct zeta_device *)device, out_number);
}

ze_result_t zetaRecordingAddStream(struct zeta_recording *recording,
                                   const struct zeta_recording_stream_desc *desc,
                                   uint32_t *out_stream)
{
    const char *function = "zetaRecordingAddStream";
    struct zeta_recording_stream_desc known = {0};
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_lines lines = {0};
    uint32_t device = 0;
    ze_result_t result;

    if (!recording)
        return zeta_own_null_handle(function, "recording");
    result = zeta_own_struct_check(function, desc);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_own_struct_copy(&known, sizeof(known), desc, desc->struct_size);
    if (!known.group || !zeta_object_is(known.group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(known.group, ZETA_KIND_METRIC_GROUP, function, "desc->group");
    if (!out_stream)
        return zeta_own_null_pointer(function, "out_stream");
    result = zeta_group_view_acquire(known.group, function, "desc->group", &view);
    if (result == ZE_RESULT_SUCCESS)
        result = add_device(recording, view.group->device, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_lines_add_u64(&lines, "device", device);
    zeta_lines_add_u64(&lines, "period-ns", known.period_ns);
    result = zeta_export_add_group(&recording->target, view.group, recording->streams + 1, &lines);
    if (result == ZE_RESULT_SUCCESS)
        *out_stream = ++recording->streams;
    return result;
}

ze_result_t zetaRecordingAppend(struct zeta_recording *recording, uint32_t type, uint32_t number,
                                const void *payload, size_t size)
{
    const char *function = "zetaRecordingAppend";

    if (!recording)
        return zeta_own_null_handle(function, "recording");
    if (!payload && size > 0)
        return zeta_own_null_pointer(function, "payload");
    if (type != ZETA_CHUNK_META && type != ZETA_CHUNK_DATA && type != ZETA_CHUNK_CLOCK &&
        type != ZETA_CHUNK_TRACE && type != ZETA_CHUNK_MODULE)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%s: chunks of type %u are none that can be appended", function, type);
    if (type == ZETA_CHUNK_DATA && (number == 0 || number > recording->streams))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%s: the recording has %u streams and no stream %u", function,
                          recording->streams, number);
    if ((type == ZETA_CHUNK_DATA || type == ZETA_CHUNK_TRACE) && size > ZETA_CHUNK_PIECE_BYTES)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: %zu bytes are more than the %u that one piece of a recording may "
                          "have; read less at a time",
                          function, size, ZETA_CHUNK_PIECE_BYTES);
    return zeta_export_append(recording->target.writer, (enum zeta_chunk_type)type, number,
                              (struct zeta_container_part){payload, size});
}

ze_result_t zetaRecordingFlush(struct zeta_recording *recording)
{
    if (!recording)
        return zeta_own_null_handle("zetaRecordingFlush", "recording");
    return zeta_export_result(zeta_container_flush(recording->target.writer),
                              zeta_container_writer_problem(recording->target.writer));
}

ze_result_t zetaRecordingGetInfo(const struct zeta_recording *recording,
                                 struct zeta_recording_info *info)
{
    struct zeta_recording_info found = {0};
    ze_result_t result;

    if (!recording)
        return zeta_own_null_handle("zetaRecordingGetInfo", "recording");
    result = zeta_own_struct_check("zetaRecordingGetInfo", info);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    found.bytes = zeta_container_size(recording->target.writer);
    found.lost_chunks = zeta_container_lost(recording->target.writer).chunks;
    found.lost_bytes = zeta_container_lost(recording->target.writer).bytes;
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaRecordingFinish(struct zeta_recording *recording)
{
    ze_result_t result;

    if (!recording)
        return ZE_RESULT_SUCCESS;
    result = zeta_export_result(zeta_container_finish(recording->target.writer),
                                zeta_container_writer_problem(recording->target.writer));
    zeta_container_writer_destroy(recording->target.writer);
    zeta_export_target_finish(&recording->target);
    zeta_list_finish(&recording->devices);
    free(recording);
    return result;
}
