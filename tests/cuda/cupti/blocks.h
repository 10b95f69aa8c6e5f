#ifndef ZETA_TESTS_CUDA_CUPTI_BLOCKS_H
#define ZETA_TESTS_CUDA_CUPTI_BLOCKS_H

/*
 * Parameter blocks of CUPTI 13.0, declared anew. The size that a block says is the end of its last
 * member, without padding: BLOCK_SIZE(). cuda.layout compares them with the vendor's headers.
 */

#include <stddef.h>
#include <stdint.h>

struct block {
    size_t size;
    void *priv;
};

#define BLOCK_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct only_head {
    struct block head;
};

struct chip_name {
    struct block head;
    size_t device;
    const char *name;
};

struct device_supported {
    struct block head;
    int32_t device;
    int32_t supported, architecture, sli, vgpu, confidential, cmp, wsl;
    int32_t api; /* 0 range profiler, 3 PM sampling */
};

struct range_availability {
    struct block head;
    void *context;
    size_t bytes;
    uint8_t *image;
};

struct pm_availability {
    struct block head;
    size_t device;
    size_t bytes;
    uint8_t *image;
};

struct host_initialize {
    struct block head;
    int32_t type;
    const char *chip;
    const uint8_t *availability;
    void *host;
};

struct host_only {
    struct block head;
    void *host;
};

struct host_chips {
    struct block head;
    size_t count;
    const char *const *names;
};

struct host_base_metrics {
    struct block head;
    void *host;
    int32_t kind;
    const char **names;
    size_t count;
};

struct host_sub_metrics {
    struct block head;
    void *host;
    int32_t kind;
    const char *name;
    size_t count;
    const char **names;
};

struct host_properties {
    struct block head;
    void *host;
    const char *name;
    const char *description, *unit, *dimension;
    int32_t kind;
};

struct host_add_metrics {
    struct block head;
    void *host;
    const char **names;
    size_t count;
};

struct host_image_size {
    struct block head;
    void *host;
    size_t bytes;
};

struct host_image {
    struct block head;
    void *host;
    size_t bytes;
    uint8_t *image;
};

struct host_passes {
    struct block head;
    size_t bytes;
    uint8_t *image;
    size_t passes;
};

struct host_max_metrics {
    struct block head;
    int32_t type;
    const char *chip;
    const uint8_t *availability;
    size_t count;
};

struct host_evaluate {
    struct block head;
    void *host;
    const uint8_t *image;
    size_t bytes;
    size_t index;
    const char **names;
    size_t count;
    double *values;
};

struct pm_enable {
    struct block head;
    size_t device;
    void *object;
};

struct pm_config {
    struct block head;
    void *object;
    size_t config_bytes;
    const uint8_t *config;
    size_t buffer_bytes;
    uint64_t interval;
    int32_t trigger, append;
};

struct pm_data_size {
    struct block head;
    void *object;
    const char **names;
    size_t count;
    uint32_t max_samples;
    size_t bytes;
};

struct pm_image {
    struct block head;
    void *object;
    size_t bytes;
    uint8_t *image;
};

struct pm_only {
    struct block head;
    void *object;
};

struct pm_decode {
    struct block head;
    void *object;
    uint8_t *image;
    size_t bytes;
    int32_t stop_reason;
    uint8_t overflow;
};

struct pm_info {
    struct block head;
    const uint8_t *image;
    size_t bytes;
    size_t total, populated, completed;
};

struct pm_sample_info {
    struct block head;
    void *object;
    const uint8_t *image;
    size_t bytes;
    size_t index;
    uint64_t start, end;
};

struct range_enable {
    struct block head;
    void *context;
    void *object;
};

struct range_config {
    struct block head;
    void *object;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    int32_t range, replay;
    size_t max_ranges;
    uint16_t levels, min_level;
    size_t pass;
    uint16_t target_level;
};

struct range_data_size {
    struct block head;
    void *object;
    const char **names;
    size_t count;
    size_t max_ranges;
    uint32_t max_nodes;
    size_t bytes;
};

struct range_push {
    struct block head;
    void *object;
    const char *name;
};

struct range_stop {
    struct block head;
    void *object;
    size_t pass, target_level;
    uint8_t all_passes_done;
};

struct range_decode {
    struct block head;
    void *object;
    size_t dropped;
};

struct range_info {
    struct block head;
    const uint8_t *image;
    size_t bytes;
    size_t ranges;
};

struct range_name {
    struct block head;
    const uint8_t *image;
    size_t bytes;
    size_t index;
    const char *delimiter;
    const char *name;
};

/* Functions that take a block, and the last member of the smallest one. */
#define CUPTI_API(FUNCTION)                                                                        \
    FUNCTION(cuptiProfilerInitialize, only_head, head)                                             \
    FUNCTION(cuptiProfilerDeInitialize, only_head, head)                                           \
    FUNCTION(cuptiDeviceGetChipName, chip_name, name)                                              \
    FUNCTION(cuptiProfilerDeviceSupported, device_supported, api)                                  \
    FUNCTION(cuptiProfilerGetCounterAvailability, range_availability, image)                       \
    FUNCTION(cuptiPmSamplingGetCounterAvailability, pm_availability, image)                        \
    FUNCTION(cuptiProfilerHostInitialize, host_initialize, host)                                   \
    FUNCTION(cuptiProfilerHostDeinitialize, host_only, host)                                       \
    FUNCTION(cuptiProfilerHostGetSupportedChips, host_chips, names)                                \
    FUNCTION(cuptiProfilerHostGetBaseMetrics, host_base_metrics, count)                            \
    FUNCTION(cuptiProfilerHostGetSubMetrics, host_sub_metrics, names)                              \
    FUNCTION(cuptiProfilerHostGetMetricProperties, host_properties, kind)                          \
    FUNCTION(cuptiProfilerHostConfigAddMetrics, host_add_metrics, count)                           \
    FUNCTION(cuptiProfilerHostGetConfigImageSize, host_image_size, bytes)                          \
    FUNCTION(cuptiProfilerHostGetConfigImage, host_image, image)                                   \
    FUNCTION(cuptiProfilerHostGetNumOfPasses, host_passes, passes)                                 \
    FUNCTION(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, host_max_metrics, count)            \
    FUNCTION(cuptiProfilerHostEvaluateToGpuValues, host_evaluate, values)                          \
    FUNCTION(cuptiPmSamplingEnable, pm_enable, object)                                             \
    FUNCTION(cuptiPmSamplingSetConfig, pm_config, append)                                          \
    FUNCTION(cuptiPmSamplingGetCounterDataSize, pm_data_size, bytes)                               \
    FUNCTION(cuptiPmSamplingCounterDataImageInitialize, pm_image, image)                           \
    FUNCTION(cuptiPmSamplingStart, pm_only, object)                                                \
    FUNCTION(cuptiPmSamplingStop, pm_only, object)                                                 \
    FUNCTION(cuptiPmSamplingDisable, pm_only, object)                                              \
    FUNCTION(cuptiPmSamplingDecodeData, pm_decode, overflow)                                       \
    FUNCTION(cuptiPmSamplingGetCounterDataInfo, pm_info, completed)                                \
    FUNCTION(cuptiPmSamplingCounterDataGetSampleInfo, pm_sample_info, end)

#define CUPTI_RANGE_API(FUNCTION)                                                                  \
    FUNCTION(cuptiRangeProfilerEnable, range_enable, object)                                       \
    FUNCTION(cuptiRangeProfilerSetConfig, range_config, target_level)                              \
    FUNCTION(cuptiRangeProfilerGetCounterDataSize, range_data_size, bytes)                         \
    FUNCTION(cuptiRangeProfilerCounterDataImageInitialize, pm_image, image)                        \
    FUNCTION(cuptiRangeProfilerStart, pm_only, object)                                             \
    FUNCTION(cuptiRangeProfilerPushRange, range_push, name)                                        \
    FUNCTION(cuptiRangeProfilerPopRange, pm_only, object)                                          \
    FUNCTION(cuptiRangeProfilerStop, range_stop, all_passes_done)                                  \
    FUNCTION(cuptiRangeProfilerDisable, pm_only, object)                                           \
    FUNCTION(cuptiRangeProfilerDecodeData, range_decode, dropped)                                  \
    FUNCTION(cuptiRangeProfilerGetCounterDataInfo, range_info, ranges)                             \
    FUNCTION(cuptiRangeProfilerCounterDataGetRangeInfo, range_name, name)

#endif
