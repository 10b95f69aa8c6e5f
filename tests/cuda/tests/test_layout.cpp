// The parameter blocks of the fake against the vendor's headers, member by member, at compile time.

#include <cstddef>
#include <cstdio>

#include <cuda.h>
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "tests/cuda/cupti/blocks.h"
#include "tests/cuda/cupti/records.h"
#include "tests/cuda/driver/abi.h"

#define SIZE(ours, last, theirs)                                                                   \
    static_assert(BLOCK_SIZE(ours, last) == theirs##_Params_STRUCT_SIZE, #theirs);
#define AT(ours, member, theirs, name)                                                             \
    static_assert(offsetof(ours, member) == offsetof(theirs, name), #theirs "." #name);            \
    static_assert(sizeof(ours::member) == sizeof(theirs::name), #theirs "." #name);

SIZE(only_head, head, CUpti_Profiler_Initialize)
SIZE(only_head, head, CUpti_Profiler_DeInitialize)
SIZE(chip_name, name, CUpti_Device_GetChipName)
AT(chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex)
AT(chip_name, name, CUpti_Device_GetChipName_Params, pChipName)
SIZE(device_supported, api, CUpti_Profiler_DeviceSupported)
AT(device_supported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice)
AT(device_supported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported)
AT(device_supported, architecture, CUpti_Profiler_DeviceSupported_Params, architecture)
AT(device_supported, sli, CUpti_Profiler_DeviceSupported_Params, sli)
AT(device_supported, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu)
AT(device_supported, confidential, CUpti_Profiler_DeviceSupported_Params, confidentialCompute)
AT(device_supported, cmp, CUpti_Profiler_DeviceSupported_Params, cmp)
AT(device_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl)
AT(device_supported, api, CUpti_Profiler_DeviceSupported_Params, api)
SIZE(range_availability, image, CUpti_Profiler_GetCounterAvailability)
AT(range_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx)
AT(range_availability, bytes, CUpti_Profiler_GetCounterAvailability_Params,
   counterAvailabilityImageSize)
AT(range_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
   pCounterAvailabilityImage)
SIZE(pm_availability, image, CUpti_PmSampling_GetCounterAvailability)
AT(pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex)
SIZE(host_initialize, host, CUpti_Profiler_Host_Initialize)
AT(host_initialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType)
AT(host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName)
AT(host_initialize, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage)
AT(host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject)
SIZE(host_only, host, CUpti_Profiler_Host_Deinitialize)
SIZE(host_chips, names, CUpti_Profiler_Host_GetSupportedChips)
AT(host_chips, count, CUpti_Profiler_Host_GetSupportedChips_Params, numChips)
AT(host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames)
SIZE(host_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics)
AT(host_base_metrics, kind, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType)
AT(host_base_metrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames)
AT(host_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics)
SIZE(host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics)
AT(host_sub_metrics, kind, CUpti_Profiler_Host_GetSubMetrics_Params, metricType)
AT(host_sub_metrics, name, CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName)
AT(host_sub_metrics, count, CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics)
AT(host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics)
SIZE(host_properties, kind, CUpti_Profiler_Host_GetMetricProperties)
AT(host_properties, name, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName)
AT(host_properties, description, CUpti_Profiler_Host_GetMetricProperties_Params, pDescription)
AT(host_properties, unit, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit)
AT(host_properties, dimension, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit)
AT(host_properties, kind, CUpti_Profiler_Host_GetMetricProperties_Params, metricType)
SIZE(host_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics)
AT(host_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames)
AT(host_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics)
SIZE(host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize)
AT(host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize)
SIZE(host_image, image, CUpti_Profiler_Host_GetConfigImage)
AT(host_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize)
AT(host_image, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage)
SIZE(host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses)
AT(host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize)
AT(host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage)
AT(host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses)
SIZE(host_max_metrics, count, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass)
AT(host_max_metrics, chip, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params, pChipName)
AT(host_max_metrics, count, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params,
   maxMetricsPerPass)
SIZE(host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues)
AT(host_evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage)
AT(host_evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize)
AT(host_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex)
AT(host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames)
AT(host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics)
AT(host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues)
SIZE(pm_enable, object, CUpti_PmSampling_Enable)
AT(pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex)
AT(pm_enable, object, CUpti_PmSampling_Enable_Params, pPmSamplingObject)
SIZE(pm_config, append, CUpti_PmSampling_SetConfig)
AT(pm_config, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize)
AT(pm_config, config, CUpti_PmSampling_SetConfig_Params, pConfig)
AT(pm_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize)
AT(pm_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval)
AT(pm_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode)
AT(pm_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode)
SIZE(pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize)
AT(pm_data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames)
AT(pm_data_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics)
AT(pm_data_size, max_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples)
AT(pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize)
SIZE(pm_image, image, CUpti_PmSampling_CounterDataImage_Initialize)
AT(pm_image, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize)
AT(pm_image, image, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData)
SIZE(pm_only, object, CUpti_PmSampling_Start)
SIZE(pm_only, object, CUpti_PmSampling_Stop)
SIZE(pm_only, object, CUpti_PmSampling_Disable)
SIZE(pm_decode, overflow, CUpti_PmSampling_DecodeData)
AT(pm_decode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage)
AT(pm_decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize)
AT(pm_decode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason)
AT(pm_decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow)
SIZE(pm_info, completed, CUpti_PmSampling_GetCounterDataInfo)
AT(pm_info, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage)
AT(pm_info, total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples)
AT(pm_info, populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples)
AT(pm_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples)
SIZE(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo)
AT(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex)
AT(pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp)
AT(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp)
SIZE(range_enable, object, CUpti_RangeProfiler_Enable)
SIZE(range_config, target_level, CUpti_RangeProfiler_SetConfig)
AT(range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig)
AT(range_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage)
AT(range_config, range, CUpti_RangeProfiler_SetConfig_Params, range)
AT(range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode)
AT(range_config, max_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass)
AT(range_config, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels)
AT(range_config, min_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel)
AT(range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex)
AT(range_config, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel)
SIZE(range_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize)
AT(range_data_size, max_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges)
AT(range_data_size, max_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes)
SIZE(pm_image, image, CUpti_RangeProfiler_CounterDataImage_Initialize)
SIZE(pm_only, object, CUpti_RangeProfiler_Start)
SIZE(pm_only, object, CUpti_RangeProfiler_PopRange)
SIZE(pm_only, object, CUpti_RangeProfiler_Disable)
SIZE(range_push, name, CUpti_RangeProfiler_PushRange)
SIZE(range_stop, all_passes_done, CUpti_RangeProfiler_Stop)
AT(range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex)
AT(range_stop, all_passes_done, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted)
SIZE(range_decode, dropped, CUpti_RangeProfiler_DecodeData)
SIZE(range_info, ranges, CUpti_RangeProfiler_GetCounterDataInfo)
SIZE(range_name, name, CUpti_RangeProfiler_CounterData_GetRangeInfo)
AT(range_name, index, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex)
AT(range_name, delimiter, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeDelimiter)
AT(range_name, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName)

#define RECORD(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs);
RECORD(kernel_record, CUpti_ActivityKernel10)
AT(kernel_record, registers, CUpti_ActivityKernel10, registersPerThread)
AT(kernel_record, start, CUpti_ActivityKernel10, start)
AT(kernel_record, completed, CUpti_ActivityKernel10, completed)
AT(kernel_record, device, CUpti_ActivityKernel10, deviceId)
AT(kernel_record, stream, CUpti_ActivityKernel10, streamId)
static_assert(offsetof(kernel_record, grid) == offsetof(CUpti_ActivityKernel10, gridX), "gridX");
static_assert(offsetof(kernel_record, block) == offsetof(CUpti_ActivityKernel10, blockX), "blockX");
AT(kernel_record, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory)
AT(kernel_record, correlation, CUpti_ActivityKernel10, correlationId)
AT(kernel_record, grid_id, CUpti_ActivityKernel10, gridId)
AT(kernel_record, name, CUpti_ActivityKernel10, name)
AT(kernel_record, queued, CUpti_ActivityKernel10, queued)
RECORD(memcpy_record, CUpti_ActivityMemcpy6)
AT(memcpy_record, copy_kind, CUpti_ActivityMemcpy6, copyKind)
AT(memcpy_record, bytes, CUpti_ActivityMemcpy6, bytes)
AT(memcpy_record, stream, CUpti_ActivityMemcpy6, streamId)
AT(memcpy_record, correlation, CUpti_ActivityMemcpy6, correlationId)
RECORD(memset_record, CUpti_ActivityMemset4)
AT(memset_record, value, CUpti_ActivityMemset4, value)
AT(memset_record, correlation, CUpti_ActivityMemset4, correlationId)
RECORD(synchronization_record, CUpti_ActivitySynchronization2)
AT(synchronization_record, start, CUpti_ActivitySynchronization2, start)
AT(synchronization_record, correlation, CUpti_ActivitySynchronization2, correlationId)
AT(synchronization_record, event, CUpti_ActivitySynchronization2, cudaEventId)

static_assert(sizeof(cu_copy) == sizeof(CUDA_MEMCPY3D), "CUDA_MEMCPY3D");
static_assert(offsetof(cu_copy, target) == offsetof(CUDA_MEMCPY3D, dstXInBytes), "dstXInBytes");
static_assert(offsetof(cu_side, device) == offsetof(CUDA_MEMCPY3D, srcDevice), "srcDevice");
static_assert(offsetof(cu_side, pitch) == offsetof(CUDA_MEMCPY3D, srcPitch), "srcPitch");
static_assert(offsetof(cu_copy, width) == offsetof(CUDA_MEMCPY3D, WidthInBytes), "WidthInBytes");

int main()
{
    (void)std::puts("the blocks are those of the vendor's headers");
    return 0;
}
