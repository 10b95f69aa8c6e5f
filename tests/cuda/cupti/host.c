/* The host side: chips, names, configurations, values. It opens libnvperf_host.so by its name. */

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cupti/cupti.h"
#include "tests/cuda/cupti/metrics.h"

enum {
    RANGE_LIMIT = 88,
    PM_LIMIT = 248,
    RANGE_LIMIT_AVAILABLE = 76,
    PM_LIMIT_AVAILABLE = 212,
    AVAILABILITY_BYTES = 9184
};

struct host {
    uint32_t type;
    bool has_availability;
    bool has_image;  /* its size was asked for */
    bool has_failed; /* a name was refused: nothing can be configured any more */
    char chip[CUDA_TEXT];
    uint64_t metrics[METRIC_WORDS];
    const char *names[METRICS];
};

static const char *const chips[] = {
    "GV100", "GV11B", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103",
    "GA104", "GA106", "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104", "AD106", "AD107",
    "GB100", "GB102", "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"};

enum { CHIPS = sizeof(chips) / sizeof(chips[0]) };

static bool has_metric(const struct metric *metric, const char *chip, uint32_t type)
{
    const bool is_embedded = strcmp(chip, "GA10B") == 0 || strcmp(chip, "GB10B") == 0;

    if ((metric->flags & (type == PM_SAMPLING ? IN_PM : IN_RANGE)) == 0)
        return false;
    if (strncmp(metric->name, "dram", 4) == 0 && (is_embedded || strncmp(chip, "GB20", 4) == 0))
        return false;
    if (strncmp(metric->name, "fbpa", 4) == 0 && is_embedded)
        return false;
    return strcmp(chip, "GH100") == 0 || metric->flags & EVERYWHERE;
}

/* CUPTI cannot work without this library, which it looks for as the dynamic linker does. */
static bool has_perf_host(void)
{
    return dlopen("libnvperf_host.so", RTLD_NOW) != NULL;
}

static bool has(const uint64_t set[METRIC_WORDS], uint32_t index)
{
    return set[index / 64] >> (index % 64) & 1;
}

int host_parse_names(const char *chip, uint32_t type, bool has_availability,
                     const char *const *names, size_t count, uint64_t out_metrics[METRIC_WORDS])
{
    for (size_t i = 0; i < count; i++) {
        uint32_t index, rollup, sub;

        /* 13.0 says no more than this, whatever is wrong with a name. */
        if (!names[i] || !metric_parse(names[i], &index, &rollup, &sub) ||
            !has_metric(&metric_table[index], chip, type))
            return CUPTI_INVALID_PARAMETER;
        if (has_availability && metric_table[index].flags & IS_DEVICE)
            return CUPTI_UNKNOWN;
        out_metrics[index / 64] |= 1ull << (index % 64);
    }
    return CUPTI_OK;
}

/* Alone, and beside each other as far as it is known. */
static uint32_t count_passes(const char *chip, uint32_t type, const uint64_t metrics[METRIC_WORDS])
{
    const bool is_turing = strncmp(chip, "TU", 2) == 0;
    uint32_t most = 0, sass = 0, others = 0, dram = 0, flags = 0;

    for (uint32_t i = 0; i < metric_count; i++) {
        const struct metric *metric = &metric_table[i];
        uint32_t alone = type == PM_SAMPLING ? metric->pm_passes : metric->range_passes;

        if (!has(metrics, i))
            continue;
        alone = alone > 0 ? alone : 1;
        most = alone > most ? alone : most;
        flags |= metric->flags;
        sass += (metric->flags & IS_SASS) != 0;
        others += (metric->flags & IS_SASS) == 0;
        dram += strcmp(metric->unit, "dram") == 0;
    }
    if (type == PM_SAMPLING && most == 1 && flags & SM_INST && flags & SM_LAUNCHED)
        most = 2;
    return most + (sass > 0 && others > 0) + (is_turing && dram > 0 && others > dram);
}

static bool is_heavy(const uint64_t metrics[METRIC_WORDS])
{
    uint32_t core = 0, more = 0, sm_a = 0, heavy = 0;

    for (uint32_t i = 0; i < metric_count; i++) {
        const uint32_t flags = has(metrics, i) ? metric_table[i].flags : 0;

        core += (flags & TPC_CORE) != 0;
        more += (flags & TPC_MORE) != 0;
        sm_a += (flags & SM_A) != 0;
        heavy += (flags & HEAVY) != 0;
    }
    return heavy > 0 || sm_a > 4 || (core >= 3 && more > 0);
}

int cuptiProfilerHostInitialize(struct host_initialize *block)
{
    struct host *host;
    uint32_t chip = 0;

    ENTER(block, host_initialize, host);
    if (!block->chip || (block->type != RANGE_PROFILER && block->type != PM_SAMPLING))
        return CUPTI_INVALID_PARAMETER;
    if (!has_perf_host())
        return CUPTI_NOT_INITIALIZED;
    while (chip < CHIPS && strcmp(chips[chip], block->chip) != 0)
        chip++;
    if (chip == CHIPS)
        return CUPTI_INVALID_CHIP_NAME;
    if (block->type == PM_SAMPLING && strncmp(block->chip, "GV", 2) == 0)
        return CUPTI_NOT_SUPPORTED;
    host = calloc(1, sizeof(*host));
    if (!host)
        return CUPTI_OUT_OF_MEMORY;
    host->type = (uint32_t)block->type;
    host->has_availability = block->availability != NULL;
    (void)strcpy(host->chip, block->chip);
    block->host = host;
    return CUPTI_OK;
}

int cuptiProfilerHostDeinitialize(struct host_only *block)
{
    ENTER(block, host_only, host);
    if (!block->host)
        return CUPTI_INVALID_PARAMETER;
    free(block->host);
    return CUPTI_OK;
}

int cuptiProfilerHostGetSupportedChips(struct host_chips *block)
{
    ENTER(block, host_chips, names);
    if (!has_perf_host())
        return CUPTI_NOT_INITIALIZED;
    block->count = CHIPS;
    block->names = chips;
    return CUPTI_OK;
}

int cuptiProfilerHostGetBaseMetrics(struct host_base_metrics *block)
{
    struct host *host;
    size_t count = 0;

    ENTER(block, host_base_metrics, count);
    host = block->host;
    if (!host || block->kind < METRIC_COUNTER || block->kind > METRIC_THROUGHPUT)
        return CUPTI_INVALID_PARAMETER;
    for (uint32_t i = 0; i < metric_count; i++) {
        if ((int)metric_table[i].kind == block->kind &&
            has_metric(&metric_table[i], host->chip, host->type))
            host->names[count++] = metric_table[i].name;
    }
    block->names = host->names;
    block->count = count;
    return CUPTI_OK;
}

/* By a base name or a whole one; NULL: this chip has none of it. */
static const struct metric *find_metric(const struct host *host, const char *name)
{
    for (uint32_t i = 0; i < metric_count; i++) {
        const size_t length = strlen(metric_table[i].name);

        if (strncmp(name, metric_table[i].name, length) == 0 &&
            (name[length] == '\0' || name[length] == '.') &&
            has_metric(&metric_table[i], host->chip, host->type))
            return &metric_table[i];
    }
    return NULL;
}

int cuptiProfilerHostGetSubMetrics(struct host_sub_metrics *block)
{
    struct host *host;
    const struct metric *metric;
    size_t count = 0;

    ENTER(block, host_sub_metrics, names);
    host = block->host;
    if (!host || !block->name)
        return CUPTI_INVALID_PARAMETER;
    metric = find_metric(host, block->name);
    if (!metric)
        return CUPTI_INVALID_METRIC_NAME;
    if (block->kind != (int)metric->kind)
        return CUPTI_INVALID_PARAMETER;
    for (const char *form = metric_form(metric->kind, 0); form;
         form = metric_form(metric->kind, (uint32_t)count))
        host->names[count++] = form;
    block->names = host->names;
    block->count = count;
    return CUPTI_OK;
}

int cuptiProfilerHostGetMetricProperties(struct host_properties *block)
{
    const struct host *host;
    const struct metric *metric;

    ENTER(block, host_properties, kind);
    host = block->host;
    if (!host || !block->name)
        return CUPTI_INVALID_PARAMETER;
    metric = find_metric(host, block->name);
    if (!metric)
        return CUPTI_INVALID_METRIC_NAME;
    /* Many of the triage names have none. */
    block->description = strchr(metric->name, '.') ? "" : "a metric of the fake CUPTI";
    block->unit = metric->unit;
    block->dimension = metric->dimension;
    block->kind = (int32_t)metric->kind;
    return CUPTI_OK;
}

int cuptiProfilerHostConfigAddMetrics(struct host_add_metrics *block)
{
    struct host *host;
    uint64_t metrics[METRIC_WORDS];
    int result;

    ENTER(block, host_add_metrics, count);
    host = block->host;
    if (!host || !block->names || block->count == 0)
        return CUPTI_INVALID_PARAMETER;
    if (host->has_failed)
        return CUPTI_UNKNOWN;
    (void)memcpy(metrics, host->metrics, sizeof(metrics));
    result = host_parse_names(host->chip, host->type, host->has_availability, block->names,
                              block->count, metrics);
    if (result == CUPTI_OK)
        (void)memcpy(host->metrics, metrics, sizeof(metrics));
    host->has_failed = result != CUPTI_OK;
    return result;
}

static bool has_metrics(const struct host *host)
{
    uint64_t any = 0;

    for (int i = 0; host && i < METRIC_WORDS; i++)
        any |= host->metrics[i];
    return any != 0;
}

int cuptiProfilerHostGetConfigImageSize(struct host_image_size *block)
{
    struct host *host;

    ENTER(block, host_image_size, bytes);
    host = block->host;
    if (host && host->has_failed)
        return CUPTI_UNKNOWN;
    if (!has_metrics(host))
        return CUPTI_INVALID_OPERATION;
    host->has_image = true;
    block->bytes = sizeof(struct config_image);
    return CUPTI_OK;
}

int cuptiProfilerHostGetConfigImage(struct host_image *block)
{
    const struct host *host;
    struct config_image image = {.magic = CONFIG_MAGIC};

    ENTER(block, host_image, image);
    host = block->host;
    if (!has_metrics(host) || !host->has_image)
        return CUPTI_INVALID_OPERATION;
    if (!block->image || block->bytes < sizeof(image))
        return CUPTI_INVALID_PARAMETER;
    image.type = host->type;
    image.passes = count_passes(host->chip, host->type, host->metrics);
    image.is_heavy = is_heavy(host->metrics);
    (void)memcpy(image.metrics, host->metrics, sizeof(image.metrics));
    for (uint32_t i = 0; i < metric_count; i++)
        image.has_links |= has(host->metrics, i) && metric_table[i].flags & IS_LINK;
    (void)memcpy(image.chip, host->chip, sizeof(image.chip));
    (void)memcpy(block->image, &image, sizeof(image));
    return CUPTI_OK;
}

const struct config_image *host_config(const void *bytes, size_t size)
{
    const struct config_image *image = bytes;

    return image && size >= sizeof(*image) && image->magic == CONFIG_MAGIC ? image : NULL;
}

struct data_image *host_data(const void *bytes, size_t size)
{
    struct data_image *image = (struct data_image *)bytes;

    return image && size >= sizeof(*image) && image->magic == DATA_MAGIC && image->bytes <= size
               ? image
               : NULL;
}

struct interval *image_interval(struct data_image *image, uint64_t index)
{
    return (struct interval *)(void *)((char *)(image + 1) + index * image->stride);
}

int cuptiProfilerHostGetNumOfPasses(struct host_passes *block)
{
    const struct config_image *image;

    ENTER(block, host_passes, passes);
    image = host_config(block->image, block->bytes);
    if (!image)
        return CUPTI_INVALID_PARAMETER;
    block->passes = image->passes;
    return CUPTI_OK;
}

int cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(struct host_max_metrics *block)
{
    ENTER(block, host_max_metrics, count);
    if (block->type == PM_SAMPLING)
        block->count = block->availability ? PM_LIMIT_AVAILABLE : PM_LIMIT;
    else
        block->count = block->availability ? RANGE_LIMIT_AVAILABLE : RANGE_LIMIT;
    return CUPTI_OK;
}

int cuptiProfilerHostEvaluateToGpuValues(struct host_evaluate *block)
{
    struct data_image *image;
    const struct interval *interval;

    ENTER(block, host_evaluate, values);
    image = host_data(block->image, block->bytes);
    if (!block->host || !image || !block->names || !block->values ||
        block->index >= image->populated)
        return CUPTI_INVALID_PARAMETER;
    interval = image_interval(image, block->index);
    for (size_t i = 0; i < block->count; i++) {
        uint32_t index, rollup, sub;

        if (!block->names[i] || !metric_parse(block->names[i], &index, &rollup, &sub) ||
            !has(image->metrics, index))
            return CUPTI_INVALID_METRIC_NAME;
        block->values[i] =
            cuda_value(metric_evaluate(&metric_table[index], rollup, sub, &image->chip, interval));
    }
    return CUPTI_OK;
}

/* The cheap test of permission; impossible while a session is open on the device. */
static int availability(uint32_t gpu, size_t *bytes, uint8_t *image)
{
    const int permission = cupti_permission(gpu);

    if (permission != CUPTI_OK)
        return permission;
    if (!cuda_unit_take(CUDA_PERFMON, gpu))
        return CUPTI_HARDWARE_BUSY;
    cuda_unit_give(CUDA_PERFMON, gpu);
    if (!image) {
        *bytes = AVAILABILITY_BYTES;
        return CUPTI_OK;
    }
    if (*bytes < AVAILABILITY_BYTES)
        return CUPTI_INVALID_PARAMETER;
    (void)memset(image, 0x5a, AVAILABILITY_BYTES);
    return CUPTI_OK;
}

int cuptiPmSamplingGetCounterAvailability(struct pm_availability *block)
{
    uint32_t gpu;

    ENTER(block, pm_availability, image);
    if (!cupti_is_initialised())
        return CUPTI_NOT_INITIALIZED;
    if (!cupti_gpu_of_ordinal(block->device, &gpu))
        return CUPTI_INVALID_DEVICE;
    return availability(gpu, &block->bytes, block->image);
}

int cuptiProfilerGetCounterAvailability(struct range_availability *block)
{
    uint32_t gpu;
    int ordinal;

    ENTER(block, range_availability, image);
    if (!cupti_is_initialised())
        return CUPTI_NOT_INITIALIZED;
    if (!cupti_gpu_of_context(block->context, &gpu, &ordinal))
        return CUPTI_INVALID_CONTEXT;
    return availability(gpu, &block->bytes, block->image);
}
