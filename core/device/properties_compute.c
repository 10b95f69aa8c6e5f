/* What a device can execute: compute, module and queue group properties, vector widths. */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "zeta_impl.h"

static const struct zeta_plugin_device_properties *facts(ze_device_handle_t hDevice)
{
    return &((const struct zeta_device *)hDevice)->backend->properties;
}

/* Products of packed bytes, where the device has them; no device has a systolic array. */
static void fill_products(const struct zeta_plugin_device_properties *p,
                          ze_device_compute_dotproduct_ext_properties_t *out)
{
    out->dp_caps = p->dp4a ? ZE_DEVICE_DP_CAPABILITY_FLAG_DEVICE_NON_SYSTOLIC_DPA4_SIMD_ALL : 0;
    out->dpv4_input_types =
        p->dp4a ? ZE_DEVICE_INPUT_DATA_TYPE_FLAG_DEVICE_INPUT_DATA_INT8_PACK4_PER_SIMD_LANE : 0;
    out->dpv4_output_types = p->dp4a ? ZE_DEVICE_OUTPUT_DATA_TYPE_FLAG_DEVICE_OUTPUT_DATA_INT32 : 0;
    out->dpas_input_types = 0;
    out->dpas_output_types = 0;
    out->bdpas_input_types = 0;
    out->bdpas_output_types = 0;
}

ze_result_t ZE_APICALL impl_zeDeviceGetComputeProperties(
    ze_device_handle_t hDevice, ze_device_compute_properties_t *pComputeProperties)
{
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_compute_properties_t *out = pComputeProperties;

    out->maxTotalGroupSize = p->max_group_size;
    out->maxGroupSizeX = p->max_group_size_xyz[0];
    out->maxGroupSizeY = p->max_group_size_xyz[1];
    out->maxGroupSizeZ = p->max_group_size_xyz[2];
    out->maxGroupCountX = p->max_group_count_xyz[0];
    out->maxGroupCountY = p->max_group_count_xyz[1];
    out->maxGroupCountZ = p->max_group_count_xyz[2];
    out->maxSharedLocalMemory = p->max_shared_local_bytes;
    out->numSubGroupSizes = p->subgroup_sizes.count < ZE_SUBGROUPSIZE_COUNT
                                ? (uint32_t)p->subgroup_sizes.count
                                : ZE_SUBGROUPSIZE_COUNT;
    memset(out->subGroupSizes, 0, sizeof(out->subGroupSizes));
    for (uint32_t i = 0; i < out->numSubGroupSizes; i++)
        zeta_array_read(&p->subgroup_sizes, i, &out->subGroupSizes[i], sizeof(uint32_t));
    ze_device_compute_dotproduct_ext_properties_t *products = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_DOTPRODUCT_EXT_PROPERTIES, sizeof(*products));
    if (products)
        fill_products(p, products);
    return ZE_RESULT_SUCCESS;
}

/* What a backend reports of a precision, or what IEEE 754 demands. */
static ze_device_fp_flags_t fp_flags(bool present, uint32_t reported)
{
    const ze_device_fp_flags_t ieee =
        ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST;

    if (!present)
        return 0;
    return reported ? reported : ieee;
}

static void fill_module_chain(const struct zeta_plugin_device_properties *p, const void *next)
{
    ze_float_atomic_ext_properties_t *atomics =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES, sizeof(*atomics));
    ze_device_raytracing_ext_properties_t *rays =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES, sizeof(*rays));
    ze_scheduling_hint_exp_properties_t *hints =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES, sizeof(*hints));

    if (atomics) {
        atomics->fp16Flags = p->fp16_atomics;
        atomics->fp32Flags = p->fp32_atomics;
        atomics->fp64Flags = p->fp64_atomics;
    }
    if (rays) {
        rays->flags = 0;
        rays->maxBVHLevels = 0;
    }
    if (hints)
        hints->schedulingHintFlags = 0;
}

ze_result_t ZE_APICALL impl_zeDeviceGetModuleProperties(
    ze_device_handle_t hDevice, ze_device_module_properties_t *pModuleProperties)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_module_properties_t *out = pModuleProperties;
    const char *format = device->driver->compute ? device->driver->compute->id : "";

    out->spirvVersionSupported = p->spirv_version;
    out->flags = (p->fp16 ? ZE_DEVICE_MODULE_FLAG_FP16 : 0u) |
                 (p->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0u) |
                 (p->int64_atomics ? ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS : 0u) |
                 (p->dp4a ? ZE_DEVICE_MODULE_FLAG_DP4A : 0u);
    out->fp16flags = fp_flags(p->fp16 != 0, p->fp16_flags);
    out->fp32flags = fp_flags(device->driver->compute != NULL, p->fp32_flags);
    out->fp64flags = fp_flags(p->fp64 != 0, p->fp64_flags);
    out->maxArgumentsSize = p->max_argument_bytes;
    out->printfBufferSize = p->printf_buffer_bytes;
    memset(out->nativeKernelSupported.id, 0, sizeof(out->nativeKernelSupported.id));
    memcpy(out->nativeKernelSupported.id, format,
           strnlen(format, sizeof(out->nativeKernelSupported.id)));
    fill_module_chain(p, out->pNext);
    return ZE_RESULT_SUCCESS;
}

/* How fast a backend copies is not known. */
static void fill_copy_bandwidth(const void *next)
{
    ze_copy_bandwidth_exp_properties_t *out =
        zeta_chain_find(next, ZE_STRUCTURE_TYPE_COPY_BANDWIDTH_EXP_PROPERTIES, sizeof(*out));

    if (!out)
        return;
    out->copyBandwidth = 0;
    out->copyBandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
}

ze_result_t ZE_APICALL impl_zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties)
{
    const struct zeta_plugin_array *groups = &facts(hDevice)->queue_groups;
    uint32_t n = zeta_count_clip(pCount, (uint32_t)groups->count, pCommandQueueGroupProperties);

    for (uint32_t i = 0; i < n; i++) {
        struct zeta_plugin_queue_group group;

        zeta_array_read(groups, i, &group, sizeof(group));
        pCommandQueueGroupProperties[i].flags = group.flags;
        pCommandQueueGroupProperties[i].maxMemoryFillPatternSize =
            (size_t)group.max_fill_pattern_bytes;
        pCommandQueueGroupProperties[i].numQueues = group.queue_count;
        fill_copy_bandwidth(pCommandQueueGroupProperties[i].pNext);
    }
    return ZE_RESULT_SUCCESS;
}

bool zeta_device_is_cooperative(const struct zeta_device *device)
{
    const struct zeta_plugin_array *groups = &device->backend->properties.queue_groups;
    struct zeta_plugin_queue_group group = {0};

    for (uint64_t i = 0; i < groups->count; i++) {
        zeta_array_read(groups, i, &group, sizeof(group));
        if (group.flags & ZETA_PLUGIN_QUEUE_COOPERATIVE)
            return true;
    }
    return false;
}

/* Each lane executes scalars: vectors are loops, so no width is better than 1. */
ze_result_t ZE_APICALL impl_zeDeviceGetVectorWidthPropertiesExt(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_device_vector_width_properties_ext_t *pVectorWidthProperties)
{
    const struct zeta_plugin_device_properties *p = facts(hDevice);
    ze_device_vector_width_properties_ext_t *out = pVectorWidthProperties;
    bool computes = ((const struct zeta_device *)hDevice)->driver->compute != NULL;

    if (zeta_count_clip(pCount, computes ? 1 : 0, out) == 0)
        return ZE_RESULT_SUCCESS;
    out->vector_width_size = p->simd_width;
    out->preferred_vector_width_char = out->native_vector_width_char = 1;
    out->preferred_vector_width_short = out->native_vector_width_short = 1;
    out->preferred_vector_width_int = out->native_vector_width_int = 1;
    out->preferred_vector_width_long = out->native_vector_width_long = 1;
    out->preferred_vector_width_float = out->native_vector_width_float = 1;
    out->preferred_vector_width_double = out->native_vector_width_double = p->fp64 ? 1 : 0;
    out->preferred_vector_width_half = out->native_vector_width_half = p->fp16 ? 1 : 0;
    return ZE_RESULT_SUCCESS;
}
