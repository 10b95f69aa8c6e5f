#ifndef ZETA_PLUGINS_NVIDIA_LIBRARY_CUPTI_H
#define ZETA_PLUGINS_NVIDIA_LIBRARY_CUPTI_H

/*
 * CUPTI, declared anew: the parameter blocks of its functions as they are in CUDA 13.0, the
 * functions as a table, and what its results mean.
 *
 * A block begins with the size that the caller knows of it. CUPTI refuses larger ones than its own
 * and those that are too short, so the smallest that has all that is used here is sent, whatever
 * the version: nvidia_cupti_*() write it. Later versions grow blocks at the end.
 *
 * Source: the documentation of CUPTI 13.0; sizes and offsets compiled from its headers, on x86-64
 * and arm64 alike. plugin.nvidia.blocks compares them with these headers where a toolkit is
 * installed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/nvidia/library/library.h"

/** Results that the plugin acts upon. */
enum {
    NVIDIA_CUPTI_SUCCESS = 0,
    NVIDIA_CUPTI_INVALID_PARAMETER = 1,
    NVIDIA_CUPTI_INVALID_DEVICE = 2,
    NVIDIA_CUPTI_INVALID_OPERATION = 7,
    NVIDIA_CUPTI_OUT_OF_MEMORY = 8,
    NVIDIA_CUPTI_MAX_LIMIT_REACHED = 12,
    NVIDIA_CUPTI_NOT_READY = 13,
    NVIDIA_CUPTI_NOT_INITIALIZED = 15,
    NVIDIA_CUPTI_INVALID_METRIC_NAME = 17,
    NVIDIA_CUPTI_HARDWARE_BUSY = 26,
    NVIDIA_CUPTI_NOT_SUPPORTED = 27,
    NVIDIA_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    NVIDIA_CUPTI_INVALID_CHIP_NAME = 46,
    NVIDIA_CUPTI_UNKNOWN = 999
};

/** What a configuration is for. */
enum { NVIDIA_RANGE_PROFILER = 0, NVIDIA_PM_SAMPLING = 1 };

/** Which part nvidia_device_supported asks about. */
enum { NVIDIA_SUPPORT_RANGE = 0, NVIDIA_SUPPORT_PM_SAMPLING = 3 };

/** Answers of nvidia_device_supported. */
enum {
    NVIDIA_SUPPORT_UNKNOWN = 0,
    NVIDIA_SUPPORT_NONE = 1,
    NVIDIA_SUPPORT_DISABLED = 2,
    NVIDIA_SUPPORT_YES = 3
};

/** What an interval of PM sampling is counted in. */
enum { NVIDIA_TRIGGER_SYSTEM_CYCLES = 0, NVIDIA_TRIGGER_NS = 1 };

/** Why a decode ended. */
enum { NVIDIA_STOP_OTHER = 0, NVIDIA_STOP_IMAGE_FULL = 1, NVIDIA_STOP_END_OF_RECORDS = 2 };

/* ---- blocks ------------------------------------------------------------------------------- */

/** Head of each block: its size, and null. nvidia_cupti_*() write it. */
struct nvidia_block {
    size_t size;
    void *reserved;
};

struct nvidia_plain {
    struct nvidia_block head;
};

struct nvidia_chip_name {
    struct nvidia_block head;
    size_t device; /**< CUDA ordinal */
    const char *name;
};

struct nvidia_device_supported {
    struct nvidia_block head;
    int32_t device; /**< CUdevice */
    /** NVIDIA_SUPPORT_*: all together, then each reason. */
    int32_t supported, architecture, sli, vgpu, confidential_computing, cmp, wsl;
    int32_t api;
};

struct nvidia_range_availability {
    struct nvidia_block head;
    void *context;
    size_t bytes;
    uint8_t *image;
};

struct nvidia_pm_availability {
    struct nvidia_block head;
    size_t device;
    size_t bytes;
    uint8_t *image;
};

struct nvidia_host_initialize {
    struct nvidia_block head;
    int32_t type;
    const char *chip;
    const uint8_t *availability; /**< may be null */
    void *host;
};

struct nvidia_host_object {
    struct nvidia_block head;
    void *host;
};

struct nvidia_host_chips {
    struct nvidia_block head;
    size_t count;
    const char *const *names;
};

struct nvidia_host_base_metrics {
    struct nvidia_block head;
    void *host;
    int32_t kind; /**< 0 counter, 1 ratio, 2 throughput */
    const char **names;
    size_t count;
};

struct nvidia_host_sub_metrics {
    struct nvidia_block head;
    void *host;
    int32_t kind;
    const char *name;
    size_t count;
    const char **names;
};

struct nvidia_host_properties {
    struct nvidia_block head;
    void *host;
    const char *name;
    const char *description, *unit, *dimension;
    int32_t kind;
};

struct nvidia_host_names {
    struct nvidia_block head;
    void *host;
    const char **names;
    size_t count;
};

struct nvidia_host_image_size {
    struct nvidia_block head;
    void *host;
    size_t bytes;
};

struct nvidia_host_image {
    struct nvidia_block head;
    void *host;
    size_t bytes;
    uint8_t *image;
};

struct nvidia_host_passes {
    struct nvidia_block head;
    size_t bytes;
    uint8_t *image;
    size_t passes;
};

struct nvidia_host_most_metrics {
    struct nvidia_block head;
    int32_t type;
    const char *chip;
    const uint8_t *availability;
    size_t count;
};

struct nvidia_host_evaluate {
    struct nvidia_block head;
    void *host;
    const uint8_t *image;
    size_t bytes;
    size_t index; /**< of the sample or range */
    const char **names;
    size_t count;
    double *values;
};

struct nvidia_pm_enable {
    struct nvidia_block head;
    size_t device;
    void *object;
};

struct nvidia_pm_config {
    struct nvidia_block head;
    void *object;
    size_t config_bytes;
    const uint8_t *config; /**< CUPTI keeps the pointer until the object is disabled */
    size_t buffer_bytes;   /**< of the hardware buffer */
    uint64_t interval;
    int32_t trigger;
    int32_t append; /**< 0 keep oldest. Keep latest can kill the process after an overrun. */
};

/** Of PM sampling; with another number of samples, existing images become useless. */
struct nvidia_pm_data_size {
    struct nvidia_block head;
    void *object;
    const char **names;
    size_t count;
    uint32_t most_samples;
    size_t bytes;
};

/** Initialising an image, of PM sampling or ranges. */
struct nvidia_data_image {
    struct nvidia_block head;
    void *object;
    size_t bytes;
    uint8_t *image;
};

/** Start, stop and end, of PM sampling or ranges. */
struct nvidia_object {
    struct nvidia_block head;
    void *object;
};

struct nvidia_pm_decode {
    struct nvidia_block head;
    void *object;
    uint8_t *image;
    size_t bytes;
    int32_t stop_reason; /**< NVIDIA_STOP_* */
    uint8_t overflow;
};

struct nvidia_pm_info {
    struct nvidia_block head;
    const uint8_t *image;
    size_t bytes;
    size_t total, populated, completed;
};

struct nvidia_pm_sample_info {
    struct nvidia_block head;
    void *object;
    const uint8_t *image;
    size_t bytes;
    size_t index;
    uint64_t start_ns, end_ns;
};

struct nvidia_range_enable {
    struct nvidia_block head;
    void *context;
    void *object;
};

struct nvidia_range_config {
    struct nvidia_block head;
    void *object;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    int32_t range;  /**< 1 auto, 2 user */
    int32_t replay; /**< 1 application, 2 kernel, 3 user */
    size_t most_ranges;
    uint16_t levels, least_level;
    size_t pass;
    uint16_t target_level;
};

struct nvidia_range_data_size {
    struct nvidia_block head;
    void *object;
    const char **names;
    size_t count;
    size_t most_ranges;
    uint32_t most_nodes; /**< at least as many */
    size_t bytes;
};

struct nvidia_range_push {
    struct nvidia_block head;
    void *object;
    const char *name;
};

struct nvidia_range_stop {
    struct nvidia_block head;
    void *object;
    size_t pass, target_level;
    uint8_t all_passes_done;
};

struct nvidia_range_decode {
    struct nvidia_block head;
    void *object;
    size_t dropped;
};

struct nvidia_range_count {
    struct nvidia_block head;
    const uint8_t *image;
    size_t bytes;
    size_t ranges;
};

struct nvidia_range_info {
    struct nvidia_block head;
    const uint8_t *image;
    size_t bytes;
    size_t index;
    const char *delimiter;
    const char *name;
};

/* ---- functions ------------------------------------------------------------------------------ */

/*
 * Functions that take a block: symbol, name of the call here, struct, its last member, the size
 * that is sent. Those of each list come and go together.
 */
#define NVIDIA_CUPTI_HOST(FUNCTION)                                                                \
    FUNCTION(cuptiProfilerInitialize, initialize, nvidia_plain, head, 16)                          \
    FUNCTION(cuptiDeviceGetChipName, chip_name, nvidia_chip_name, name, 32)                        \
    FUNCTION(cuptiProfilerDeviceSupported, device_supported, nvidia_device_supported, api, 52)     \
    FUNCTION(cuptiProfilerHostInitialize, host_initialize, nvidia_host_initialize, host, 48)       \
    FUNCTION(cuptiProfilerHostDeinitialize, host_deinitialize, nvidia_host_object, host, 24)       \
    FUNCTION(cuptiProfilerHostGetSupportedChips, host_chips, nvidia_host_chips, names, 32)         \
    FUNCTION(cuptiProfilerHostGetBaseMetrics, host_base_metrics, nvidia_host_base_metrics, count,  \
             48)                                                                                   \
    FUNCTION(cuptiProfilerHostGetSubMetrics, host_sub_metrics, nvidia_host_sub_metrics, names, 56) \
    FUNCTION(cuptiProfilerHostGetMetricProperties, host_properties, nvidia_host_properties, kind,  \
             60)                                                                                   \
    FUNCTION(cuptiProfilerHostConfigAddMetrics, host_add_metrics, nvidia_host_names, count, 40)    \
    FUNCTION(cuptiProfilerHostGetConfigImageSize, host_config_size, nvidia_host_image_size, bytes, \
             32)                                                                                   \
    FUNCTION(cuptiProfilerHostGetConfigImage, host_config, nvidia_host_image, image, 40)           \
    FUNCTION(cuptiProfilerHostGetNumOfPasses, host_passes, nvidia_host_passes, passes, 40)         \
    FUNCTION(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass, host_most_metrics,                  \
             nvidia_host_most_metrics, count, 48)                                                  \
    FUNCTION(cuptiProfilerHostEvaluateToGpuValues, host_evaluate, nvidia_host_evaluate, values, 72)

#define NVIDIA_CUPTI_SAMPLING(FUNCTION)                                                            \
    FUNCTION(cuptiPmSamplingGetCounterAvailability, pm_availability, nvidia_pm_availability,       \
             image, 40)                                                                            \
    FUNCTION(cuptiPmSamplingEnable, pm_enable, nvidia_pm_enable, object, 32)                       \
    FUNCTION(cuptiPmSamplingSetConfig, pm_set_config, nvidia_pm_config, append, 64)                \
    FUNCTION(cuptiPmSamplingGetCounterDataSize, pm_data_size, nvidia_pm_data_size, bytes, 56)      \
    FUNCTION(cuptiPmSamplingCounterDataImageInitialize, pm_data_initialize, nvidia_data_image,     \
             image, 40)                                                                            \
    FUNCTION(cuptiPmSamplingStart, pm_start, nvidia_object, object, 24)                            \
    FUNCTION(cuptiPmSamplingStop, pm_stop, nvidia_object, object, 24)                              \
    FUNCTION(cuptiPmSamplingDisable, pm_disable, nvidia_object, object, 24)                        \
    FUNCTION(cuptiPmSamplingDecodeData, pm_decode, nvidia_pm_decode, overflow, 45)                 \
    FUNCTION(cuptiPmSamplingGetCounterDataInfo, pm_info, nvidia_pm_info, completed, 56)            \
    FUNCTION(cuptiPmSamplingCounterDataGetSampleInfo, pm_sample_info, nvidia_pm_sample_info,       \
             end_ns, 64)

#define NVIDIA_CUPTI_RANGES(FUNCTION)                                                              \
    FUNCTION(cuptiProfilerGetCounterAvailability, range_availability, nvidia_range_availability,   \
             image, 40)                                                                            \
    FUNCTION(cuptiRangeProfilerEnable, range_enable, nvidia_range_enable, object, 32)              \
    FUNCTION(cuptiRangeProfilerSetConfig, range_set_config, nvidia_range_config, target_level, 90) \
    FUNCTION(cuptiRangeProfilerGetCounterDataSize, range_data_size, nvidia_range_data_size, bytes, \
             64)                                                                                   \
    FUNCTION(cuptiRangeProfilerCounterDataImageInitialize, range_data_initialize,                  \
             nvidia_data_image, image, 40)                                                         \
    FUNCTION(cuptiRangeProfilerStart, range_start, nvidia_object, object, 24)                      \
    FUNCTION(cuptiRangeProfilerPushRange, range_push, nvidia_range_push, name, 32)                 \
    FUNCTION(cuptiRangeProfilerPopRange, range_pop, nvidia_object, object, 24)                     \
    FUNCTION(cuptiRangeProfilerStop, range_stop, nvidia_range_stop, all_passes_done, 41)           \
    FUNCTION(cuptiRangeProfilerDisable, range_disable, nvidia_object, object, 24)                  \
    FUNCTION(cuptiRangeProfilerDecodeData, range_decode, nvidia_range_decode, dropped, 32)         \
    FUNCTION(cuptiRangeProfilerGetCounterDataInfo, range_count, nvidia_range_count, ranges, 40)    \
    FUNCTION(cuptiRangeProfilerCounterDataGetRangeInfo, range_info, nvidia_range_info, name, 56)

#define NVIDIA_CUPTI_BLOCKS(FUNCTION)                                                              \
    NVIDIA_CUPTI_HOST(FUNCTION) NVIDIA_CUPTI_SAMPLING(FUNCTION) NVIDIA_CUPTI_RANGES(FUNCTION)

/* Functions without a block: symbol, parameters. */
#define NVIDIA_CUPTI_OTHERS(FUNCTION)                                                              \
    FUNCTION(cuptiGetVersion, (uint32_t * out_version))                                            \
    FUNCTION(cuptiGetResultString, (int result, const char **out_name))                            \
    FUNCTION(cuptiGetTimestamp, (uint64_t * out_ns))                                               \
    FUNCTION(cuptiActivityRegisterTimestampCallback, (uint64_t(*callback)(void)))                  \
    FUNCTION(cuptiActivityRegisterCallbacks,                                                       \
             (void (*request)(uint8_t * *buffer, size_t * bytes, size_t * most_records),           \
              void (*complete)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,      \
                               size_t valid)))                                                     \
    FUNCTION(cuptiActivitySetAttribute, (int attribute, size_t *bytes, void *value))               \
    FUNCTION(cuptiActivityEnable, (int kind))                                                      \
    FUNCTION(cuptiActivityDisable, (int kind))                                                     \
    FUNCTION(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))          \
    FUNCTION(cuptiActivityFlushAll, (uint32_t flags))                                              \
    FUNCTION(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *out_count))

/** Functions of libcupti; null: this version has none of that name. Constant once opened. */
struct nvidia_cupti {
    struct nvidia_library lib;
    uint32_t version; /**< 24: CUDA 12.6; 130001: 13.0.1 */
#define NVIDIA_MEMBER(symbol, call, type, last, bytes) int (*symbol)(struct type * block);
    NVIDIA_CUPTI_BLOCKS(NVIDIA_MEMBER)
#undef NVIDIA_MEMBER
#define NVIDIA_MEMBER(symbol, parameters) int(*symbol) parameters;
    NVIDIA_CUPTI_OTHERS(NVIDIA_MEMBER)
#undef NVIDIA_MEMBER
};

/*
 * A call: writes the head of the block. NVIDIA_CUPTI_NOT_SUPPORTED where the function is missing.
 * Calls about one object come one at a time.
 */
#define NVIDIA_DECLARE(symbol, call, type, last, bytes)                                            \
    int nvidia_cupti_##call(const struct nvidia_cupti *cupti, struct type *block);
NVIDIA_CUPTI_BLOCKS(NVIDIA_DECLARE)
#undef NVIDIA_DECLARE

/**
 * Opens libcupti and, before it looks for them by name alone, the libraries beside it that it
 * needs. False with lib.problem.
 */
bool nvidia_cupti_open(struct nvidia_cupti *cupti, const struct zeta_host *host, const char *root);

/** Whether there is a libcupti, without opening it; the sentence with what to do if not. */
bool nvidia_cupti_is_there(const struct zeta_host *host, const char *root, const char **out_advice);

/**
 * The first symbol that PM sampling, or the range profiler, needs and the library lacks; NULL: it
 * has all of them. They came with CUDA 12.6.
 */
const char *nvidia_cupti_lacks_sampling(const struct nvidia_cupti *cupti);
const char *nvidia_cupti_lacks_ranges(const struct nvidia_cupti *cupti);

/* ---- results -------------------------------------------------------------------------------- */

/** "CUPTI_ERROR_HARDWARE_BUSY" by the library, or a text of ours; never NULL. */
const char *nvidia_cupti_name(const struct nvidia_cupti *cupti, int result);

/** What a call was about, for messages. */
struct nvidia_asked {
    const struct zeta_host *host;
    const struct nvidia_cupti *cupti;
    const char *device; /**< "NVIDIA H100 80GB HBM3 (0000:06:00.0)" */
    const char *root;   /**< before /proc; empty for that of the machine */
};

/** What a result is for the host: ZETA_PLUGIN_*. */
uint32_t nvidia_cupti_result(int result);

/**
 * Why CUPTI gives such a result and what helps, as sentences without the result's name; the state
 * of this machine is read for that where it matters. Always terminated.
 */
void nvidia_cupti_explain(int result, const char *root, char *text, size_t capacity_bytes);

/**
 * Leaves a sentence about a call that did not work: "DEVICE: CUPTI cannot WHAT (NAME): why, what
 * helps". Gives the result for the host.
 *
 * @what  "start sampling of ComputeBasic"
 */
uint32_t nvidia_cupti_fail(const struct nvidia_asked *asked, int result, const char *what,
                           ...) ZETA_HOST_FORMAT;

/** Whether the driver lets administrators alone read counters. */
enum nvidia_admin_only { NVIDIA_ADMIN_UNKNOWN, NVIDIA_ADMIN_ALL, NVIDIA_ADMIN_ONLY };

/** Reads RmProfilingAdminOnly out of the text of /proc/driver/nvidia/params. */
enum nvidia_admin_only nvidia_parse_admin_only(const char *params);

/** Reads CapEff out of the text of /proc/PID/status. False: it is not there. */
bool nvidia_parse_capabilities(const char *status, uint64_t *out_effective);

/** Whether files and capabilities say that this process may read counters; the driver decides. */
bool nvidia_may_read_counters(const char *root);

/**
 * Who may have the counters: the processes under root/proc that have libraries of profilers open,
 * this one left out; and what to do. Terminated.
 */
void nvidia_explain_busy(const char *root, char *text, size_t capacity_bytes);

/** Why counters are not permitted here, and what the administrator can do; terminated. */
void nvidia_explain_permission(const char *root, char *text, size_t capacity_bytes);

#endif
