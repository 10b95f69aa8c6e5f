// The parameter blocks of the plugin against the vendor's headers, member by member, at compile
// time.

#include <cstddef>
#include <cstdio>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "plugins/nvidia/library/cupti.h"

#define SIZE(ours, last, theirs)                                                                   \
    static_assert(offsetof(ours, last) + sizeof(ours::last) == theirs##_Params_STRUCT_SIZE,        \
                  #theirs);
#define AT(ours, member, theirs, name)                                                             \
    static_assert(offsetof(ours, member) == offsetof(theirs, name), #theirs "." #name);            \
    static_assert(sizeof(ours::member) == sizeof(theirs::name), #theirs "." #name);
#define SAME(ours, theirs) static_assert(int(ours) == int(theirs), #theirs);

SIZE(nvidia_plain, head, CUpti_Profiler_Initialize)
SIZE(nvidia_chip_name, name, CUpti_Device_GetChipName)
AT(nvidia_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex)
AT(nvidia_chip_name, name, CUpti_Device_GetChipName_Params, pChipName)
SIZE(nvidia_device_supported, api, CUpti_Profiler_DeviceSupported)
AT(nvidia_device_supported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice)
AT(nvidia_device_supported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported)
AT(nvidia_device_supported, architecture, CUpti_Profiler_DeviceSupported_Params, architecture)
AT(nvidia_device_supported, sli, CUpti_Profiler_DeviceSupported_Params, sli)
AT(nvidia_device_supported, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu)
AT(nvidia_device_supported, confidential_computing, CUpti_Profiler_DeviceSupported_Params,
   confidentialCompute)
AT(nvidia_device_supported, cmp, CUpti_Profiler_DeviceSupported_Params, cmp)
AT(nvidia_device_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl)
AT(nvidia_device_supported, api, CUpti_Profiler_DeviceSupported_Params, api)
SIZE(nvidia_host_initialize, host, CUpti_Profiler_Host_Initialize)
AT(nvidia_host_initialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType)
AT(nvidia_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName)
AT(nvidia_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
   pCounterAvailabilityImage)
AT(nvidia_host_initialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject)
SIZE(nvidia_host_object, host, CUpti_Profiler_Host_Deinitialize)
AT(nvidia_host_object, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject)
SIZE(nvidia_host_chips, names, CUpti_Profiler_Host_GetSupportedChips)
AT(nvidia_host_chips, count, CUpti_Profiler_Host_GetSupportedChips_Params, numChips)
AT(nvidia_host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames)
SIZE(nvidia_host_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics)
AT(nvidia_host_base_metrics, host, CUpti_Profiler_Host_GetBaseMetrics_Params, pHostObject)
AT(nvidia_host_base_metrics, kind, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType)
AT(nvidia_host_base_metrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames)
AT(nvidia_host_base_metrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics)
SIZE(nvidia_host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics)
AT(nvidia_host_sub_metrics, host, CUpti_Profiler_Host_GetSubMetrics_Params, pHostObject)
AT(nvidia_host_sub_metrics, kind, CUpti_Profiler_Host_GetSubMetrics_Params, metricType)
AT(nvidia_host_sub_metrics, name, CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName)
AT(nvidia_host_sub_metrics, count, CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics)
AT(nvidia_host_sub_metrics, names, CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics)
SIZE(nvidia_host_properties, kind, CUpti_Profiler_Host_GetMetricProperties)
AT(nvidia_host_properties, host, CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject)
AT(nvidia_host_properties, name, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName)
AT(nvidia_host_properties, description, CUpti_Profiler_Host_GetMetricProperties_Params,
   pDescription)
AT(nvidia_host_properties, unit, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit)
AT(nvidia_host_properties, dimension, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit)
AT(nvidia_host_properties, kind, CUpti_Profiler_Host_GetMetricProperties_Params, metricType)
SIZE(nvidia_host_names, count, CUpti_Profiler_Host_ConfigAddMetrics)
AT(nvidia_host_names, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject)
AT(nvidia_host_names, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames)
AT(nvidia_host_names, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics)
SIZE(nvidia_host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize)
AT(nvidia_host_image_size, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject)
AT(nvidia_host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize)
SIZE(nvidia_host_image, image, CUpti_Profiler_Host_GetConfigImage)
AT(nvidia_host_image, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject)
AT(nvidia_host_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize)
AT(nvidia_host_image, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage)
SIZE(nvidia_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses)
AT(nvidia_host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize)
AT(nvidia_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage)
AT(nvidia_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses)
SIZE(nvidia_host_most_metrics, count, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass)
AT(nvidia_host_most_metrics, type, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params,
   profilerType)
AT(nvidia_host_most_metrics, chip, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params,
   pChipName)
AT(nvidia_host_most_metrics, availability,
   CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params, pCounterAvailabilityImage)
AT(nvidia_host_most_metrics, count, CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params,
   maxMetricsPerPass)
SIZE(nvidia_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues)
AT(nvidia_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject)
AT(nvidia_host_evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage)
AT(nvidia_host_evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
   counterDataImageSize)
AT(nvidia_host_evaluate, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex)
AT(nvidia_host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames)
AT(nvidia_host_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics)
AT(nvidia_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues)
SIZE(nvidia_pm_availability, image, CUpti_PmSampling_GetCounterAvailability)
AT(nvidia_pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex)
AT(nvidia_pm_availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params,
   counterAvailabilityImageSize)
AT(nvidia_pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params,
   pCounterAvailabilityImage)
SIZE(nvidia_pm_enable, object, CUpti_PmSampling_Enable)
AT(nvidia_pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex)
AT(nvidia_pm_enable, object, CUpti_PmSampling_Enable_Params, pPmSamplingObject)
SIZE(nvidia_pm_config, append, CUpti_PmSampling_SetConfig)
AT(nvidia_pm_config, object, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject)
AT(nvidia_pm_config, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize)
AT(nvidia_pm_config, config, CUpti_PmSampling_SetConfig_Params, pConfig)
AT(nvidia_pm_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize)
AT(nvidia_pm_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval)
AT(nvidia_pm_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode)
AT(nvidia_pm_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode)
SIZE(nvidia_pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize)
AT(nvidia_pm_data_size, object, CUpti_PmSampling_GetCounterDataSize_Params, pPmSamplingObject)
AT(nvidia_pm_data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames)
AT(nvidia_pm_data_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics)
AT(nvidia_pm_data_size, most_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples)
AT(nvidia_pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize)
SIZE(nvidia_data_image, image, CUpti_PmSampling_CounterDataImage_Initialize)
AT(nvidia_data_image, object, CUpti_PmSampling_CounterDataImage_Initialize_Params,
   pPmSamplingObject)
AT(nvidia_data_image, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize)
AT(nvidia_data_image, image, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData)
SIZE(nvidia_object, object, CUpti_PmSampling_Start)
AT(nvidia_object, object, CUpti_PmSampling_Start_Params, pPmSamplingObject)
SIZE(nvidia_object, object, CUpti_PmSampling_Stop)
AT(nvidia_object, object, CUpti_PmSampling_Stop_Params, pPmSamplingObject)
SIZE(nvidia_object, object, CUpti_PmSampling_Disable)
AT(nvidia_object, object, CUpti_PmSampling_Disable_Params, pPmSamplingObject)
SIZE(nvidia_pm_decode, overflow, CUpti_PmSampling_DecodeData)
AT(nvidia_pm_decode, object, CUpti_PmSampling_DecodeData_Params, pPmSamplingObject)
AT(nvidia_pm_decode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage)
AT(nvidia_pm_decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize)
AT(nvidia_pm_decode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason)
AT(nvidia_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow)
SIZE(nvidia_pm_info, completed, CUpti_PmSampling_GetCounterDataInfo)
AT(nvidia_pm_info, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage)
AT(nvidia_pm_info, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize)
AT(nvidia_pm_info, total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples)
AT(nvidia_pm_info, populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples)
AT(nvidia_pm_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples)
SIZE(nvidia_pm_sample_info, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo)
AT(nvidia_pm_sample_info, object, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
   pPmSamplingObject)
AT(nvidia_pm_sample_info, image, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
   pCounterDataImage)
AT(nvidia_pm_sample_info, bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
   counterDataImageSize)
AT(nvidia_pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex)
AT(nvidia_pm_sample_info, start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
   startTimestamp)
AT(nvidia_pm_sample_info, end_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp)
SIZE(nvidia_range_availability, image, CUpti_Profiler_GetCounterAvailability)
AT(nvidia_range_availability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx)
AT(nvidia_range_availability, bytes, CUpti_Profiler_GetCounterAvailability_Params,
   counterAvailabilityImageSize)
AT(nvidia_range_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
   pCounterAvailabilityImage)
SIZE(nvidia_range_enable, object, CUpti_RangeProfiler_Enable)
AT(nvidia_range_enable, context, CUpti_RangeProfiler_Enable_Params, ctx)
AT(nvidia_range_enable, object, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject)
SIZE(nvidia_range_config, target_level, CUpti_RangeProfiler_SetConfig)
AT(nvidia_range_config, object, CUpti_RangeProfiler_SetConfig_Params, pRangeProfilerObject)
AT(nvidia_range_config, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize)
AT(nvidia_range_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig)
AT(nvidia_range_config, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize)
AT(nvidia_range_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage)
AT(nvidia_range_config, range, CUpti_RangeProfiler_SetConfig_Params, range)
AT(nvidia_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode)
AT(nvidia_range_config, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass)
AT(nvidia_range_config, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels)
AT(nvidia_range_config, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel)
AT(nvidia_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex)
AT(nvidia_range_config, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel)
SIZE(nvidia_range_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize)
AT(nvidia_range_data_size, object, CUpti_RangeProfiler_GetCounterDataSize_Params,
   pRangeProfilerObject)
AT(nvidia_range_data_size, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames)
AT(nvidia_range_data_size, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics)
AT(nvidia_range_data_size, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
   maxNumOfRanges)
AT(nvidia_range_data_size, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
   maxNumRangeTreeNodes)
AT(nvidia_range_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize)
SIZE(nvidia_data_image, image, CUpti_RangeProfiler_CounterDataImage_Initialize)
AT(nvidia_data_image, object, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
   pRangeProfilerObject)
AT(nvidia_data_image, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
   counterDataSize)
AT(nvidia_data_image, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData)
SIZE(nvidia_object, object, CUpti_RangeProfiler_Start)
AT(nvidia_object, object, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject)
SIZE(nvidia_range_push, name, CUpti_RangeProfiler_PushRange)
AT(nvidia_range_push, object, CUpti_RangeProfiler_PushRange_Params, pRangeProfilerObject)
AT(nvidia_range_push, name, CUpti_RangeProfiler_PushRange_Params, pRangeName)
SIZE(nvidia_object, object, CUpti_RangeProfiler_PopRange)
AT(nvidia_object, object, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject)
SIZE(nvidia_range_stop, all_passes_done, CUpti_RangeProfiler_Stop)
AT(nvidia_range_stop, object, CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject)
AT(nvidia_range_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex)
AT(nvidia_range_stop, target_level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel)
AT(nvidia_range_stop, all_passes_done, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted)
SIZE(nvidia_object, object, CUpti_RangeProfiler_Disable)
AT(nvidia_object, object, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject)
SIZE(nvidia_range_decode, dropped, CUpti_RangeProfiler_DecodeData)
AT(nvidia_range_decode, object, CUpti_RangeProfiler_DecodeData_Params, pRangeProfilerObject)
AT(nvidia_range_decode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped)
SIZE(nvidia_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo)
AT(nvidia_range_count, image, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage)
AT(nvidia_range_count, bytes, CUpti_RangeProfiler_GetCounterDataInfo_Params, counterDataImageSize)
AT(nvidia_range_count, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges)
SIZE(nvidia_range_info, name, CUpti_RangeProfiler_CounterData_GetRangeInfo)
AT(nvidia_range_info, image, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, pCounterDataImage)
AT(nvidia_range_info, bytes, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
   counterDataImageSize)
AT(nvidia_range_info, index, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex)
AT(nvidia_range_info, delimiter, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params,
   rangeDelimiter)
AT(nvidia_range_info, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName)

SAME(NVIDIA_CUPTI_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION)
SAME(NVIDIA_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY)
SAME(NVIDIA_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED)
SAME(NVIDIA_CUPTI_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME)
SAME(NVIDIA_CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY)
SAME(NVIDIA_CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED)
SAME(NVIDIA_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
SAME(NVIDIA_CUPTI_INVALID_CHIP_NAME, CUPTI_ERROR_INVALID_CHIP_NAME)
SAME(NVIDIA_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER)
SAME(NVIDIA_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING)
SAME(NVIDIA_TRIGGER_NS, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL)

int main()
{
    std::puts("the blocks are those of the headers");
    return 0;
}
