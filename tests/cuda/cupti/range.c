/* The range profiler: one object per context, ranges of what the context does between two calls. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/cupti/cupti.h"

enum { NAME_BYTES = 128, LONGER_NS = 9000, AUTO = 1, USER = 2, APPLICATION = 1, KERNEL_REPLAY = 2 };

/* What an image has of a range, and what is collected until then. */
struct range {
    struct interval interval;
    uint64_t busy_ns;
    char name[NAME_BYTES];
};

enum state { CREATED, CONFIGURED, RUNNING, STOPPED };

struct profiler {
    bool exists;
    enum state state;
    uint32_t gpu;
    int ordinal;
    void *context;
    bool has_unit;
    struct config_image set;
    struct range_config config; /* of SetConfig; config and data stay with the caller */
    uint64_t max_ranges;        /* of the last question for a size */
    struct range *ranges;
    uint64_t count, open; /* ranges of this pass; number of the open one from 1 */
    uint64_t first_mark;  /* of this pass: marks are never used twice */
    uint64_t passes_done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct profiler profilers[CUDA_GPUS];
static uint64_t marks;

static struct profiler *find(void *object)
{
    struct profiler *profiler = object;

    for (int i = 0; i < CUDA_GPUS; i++) {
        if (profiler == &profilers[i] && profiler->exists)
            return profiler;
    }
    return NULL;
}

/* A range more, if there is a place: those beyond vanish. */
static uint64_t add_range(struct profiler *profiler, const char *name)
{
    struct range *range;

    if (profiler->count == profiler->config.max_ranges)
        return 0;
    range = &profiler->ranges[profiler->count++];
    *range = (struct range){0};
    (void)snprintf(range->name, sizeof(range->name), "%s", name);
    marks++;
    return profiler->count;
}

uint64_t range_mark(void *context, bool is_launch)
{
    uint64_t mark = 0;

    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < CUDA_GPUS; i++) {
        struct profiler *profiler = &profilers[i];

        if (!profiler->exists || profiler->context != context || profiler->state != RUNNING)
            continue;
        if (profiler->config.range == AUTO && is_launch) {
            char name[NAME_BYTES];

            (void)snprintf(name, sizeof(name), "%llu", (unsigned long long)profiler->count);
            mark = add_range(profiler, name);
        } else if (profiler->config.range == USER) {
            mark = profiler->open;
        }
        if (mark > 0)
            mark += profiler->first_mark;
    }
    (void)pthread_mutex_unlock(&lock);
    return mark;
}

void range_seen(const struct cuda_seen *seen)
{
    if (seen->mark == 0)
        return;
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < CUDA_GPUS; i++) {
        struct profiler *profiler = &profilers[i];
        const uint64_t index = seen->mark - profiler->first_mark - 1;
        struct range *range;

        if (!profiler->exists || profiler->gpu != seen->gpu || seen->mark <= profiler->first_mark ||
            index >= profiler->count)
            continue;
        range = &profiler->ranges[index];
        if (range->interval.start == 0 || seen->begin < range->interval.start)
            range->interval.start = seen->begin;
        if (seen->end > range->interval.end)
            range->interval.end = seen->end;
        range->busy_ns += seen->end - seen->begin;
        for (int k = 0; k < CUDA_COUNTS; k++)
            range->interval.counts[k] += seen->counts[k];
    }
    (void)pthread_mutex_unlock(&lock);
}

int cuptiRangeProfilerEnable(struct range_enable *block)
{
    struct profiler *profiler;
    uint32_t gpu;
    int ordinal, result;

    ENTER(block, range_enable, object);
    if (!cupti_is_initialised())
        return CUPTI_NOT_INITIALIZED;
    if (!cupti_gpu_of_context(block->context, &gpu, &ordinal) || !cupti_watch())
        return CUPTI_INVALID_CONTEXT;
    result = cupti_permission(gpu);
    if (result != CUPTI_OK)
        return result;
    if (cuda_shared()->description.gpus[gpu].cc_major < 7)
        return CUPTI_NOT_SUPPORTED;
    (void)pthread_mutex_lock(&lock);
    profiler = &profilers[gpu];
    if (profiler->exists) {
        result = CUPTI_INVALID_OPERATION;
    } else {
        *profiler = (struct profiler){
            .exists = true, .gpu = gpu, .ordinal = ordinal, .context = block->context};
        block->object = profiler;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int cuptiRangeProfilerGetCounterDataSize(struct range_data_size *block)
{
    struct profiler *profiler;
    uint64_t metrics[METRIC_WORDS] = {0}, stride;
    int result;

    ENTER(block, range_data_size, bytes);
    if (!block->names || block->count == 0 || block->max_ranges == 0 ||
        block->max_nodes < block->max_ranges)
        return CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    result = profiler ? host_parse_names(cuda_shared()->description.gpus[profiler->gpu].chip,
                                         RANGE_PROFILER, false, block->names, block->count, metrics)
                      : CUPTI_INVALID_PARAMETER;
    if (result == CUPTI_OK) {
        profiler->max_ranges = block->max_ranges;
        block->bytes = image_bytes(block->max_ranges, metrics, &stride);
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/* What the image can evaluate comes with DecodeData: the names are those of the configuration. */
int cuptiRangeProfilerCounterDataImageInitialize(struct pm_image *block)
{
    struct profiler *profiler;
    struct data_image *image;
    int result = CUPTI_INVALID_PARAMETER;

    ENTER(block, pm_image, image);
    image = (struct data_image *)(void *)block->image;
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    if (profiler && image && profiler->max_ranges > 0 && block->bytes > sizeof(*image)) {
        *image =
            (struct data_image){.magic = DATA_MAGIC,
                                .type = RANGE_PROFILER,
                                .bytes = block->bytes,
                                .stride = (block->bytes - sizeof(*image)) / profiler->max_ranges,
                                .capacity = profiler->max_ranges,
                                .chip = cuda_shared()->description.gpus[profiler->gpu]};
        result = CUPTI_OK;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static int set_config(struct profiler *profiler, const struct range_config *block)
{
    const struct cuda_chip *chip = &cuda_shared()->description.gpus[profiler->gpu];
    const struct config_image *config = host_config(block->config, block->config_bytes);
    const struct data_image *image = host_data(block->data, block->data_bytes);
    struct range *ranges;

    if (!config || config->type != RANGE_PROFILER || strcmp(config->chip, chip->chip) != 0 ||
        !image || image->type != RANGE_PROFILER || block->max_ranges == 0 || block->levels == 0 ||
        block->range < AUTO || block->range > USER || block->replay < APPLICATION ||
        block->replay > 3)
        return CUPTI_INVALID_PARAMETER;
    if (profiler->state == RUNNING || (block->range == USER && block->replay == KERNEL_REPLAY))
        return CUPTI_INVALID_OPERATION;
    ranges = calloc(block->max_ranges, sizeof(*ranges));
    if (!ranges)
        return CUPTI_OUT_OF_MEMORY;
    free(profiler->ranges);
    profiler->ranges = ranges;
    profiler->config = *block;
    profiler->set = *config;
    profiler->count = profiler->open = profiler->passes_done = 0;
    profiler->state = CONFIGURED;
    return CUPTI_OK;
}

int cuptiRangeProfilerSetConfig(struct range_config *block)
{
    struct profiler *profiler;
    int result;

    ENTER(block, range_config, target_level);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    result = profiler ? set_config(profiler, block) : CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int cuptiRangeProfilerStart(struct pm_only *block)
{
    struct profiler *profiler;
    int result = CUPTI_OK;

    ENTER(block, pm_only, object);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    if (!profiler) {
        result = CUPTI_INVALID_PARAMETER;
    } else if (profiler->state != CONFIGURED && profiler->state != STOPPED) {
        result = CUPTI_INVALID_OPERATION;
    } else if (!profiler->has_unit && !cuda_unit_take(CUDA_PERFMON, profiler->gpu)) {
        result = CUPTI_HARDWARE_BUSY;
    } else {
        profiler->has_unit = true;
        profiler->count = profiler->open = 0;
        profiler->first_mark = marks;
        if (profiler->passes_done == profiler->set.passes)
            profiler->passes_done = 0;
        profiler->state = RUNNING;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/*
 * Ranges are a stack; with one level a second one does not fit. Waits for all work that the context
 * has, of whichever stream.
 */
int cuptiRangeProfilerPushRange(struct range_push *block)
{
    struct profiler *profiler;
    void *context;
    int result = CUPTI_OK;

    ENTER(block, range_push, name);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    context = profiler ? profiler->context : NULL;
    (void)pthread_mutex_unlock(&lock);
    if (context)
        cupti_drain(context);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    if (!profiler || !block->name)
        result = CUPTI_INVALID_PARAMETER;
    else if (profiler->state != RUNNING || profiler->config.range != USER || profiler->open > 0)
        result = CUPTI_INVALID_OPERATION;
    else
        profiler->open = add_range(profiler, block->name);
    /* One that vanishes is open all the same. */
    if (result == CUPTI_OK && profiler->open == 0)
        profiler->open = UINT32_MAX;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int cuptiRangeProfilerPopRange(struct pm_only *block)
{
    struct profiler *profiler;
    int result = CUPTI_OK;

    ENTER(block, pm_only, object);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    if (!profiler)
        result = CUPTI_INVALID_PARAMETER;
    else if (profiler->state != RUNNING || profiler->open == 0)
        result = CUPTI_INVALID_OPERATION;
    else
        profiler->open = 0;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/* It waits for the work. */
int cuptiRangeProfilerStop(struct range_stop *block)
{
    struct profiler *profiler;
    void *context = NULL;
    uint64_t end = 0;
    int result = CUPTI_OK;

    ENTER(block, range_stop, all_passes_done);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    if (!profiler)
        result = CUPTI_INVALID_PARAMETER;
    else if (profiler->state != RUNNING || profiler->open > 0)
        result = CUPTI_INVALID_OPERATION;
    else
        context = profiler->context;
    (void)pthread_mutex_unlock(&lock);
    if (result != CUPTI_OK)
        return result;
    cupti_drain(context);
    (void)pthread_mutex_lock(&lock);
    profiler->state = STOPPED;
    profiler->passes_done++;
    for (uint64_t i = 0; i < profiler->count; i++)
        end = profiler->ranges[i].interval.end > end ? profiler->ranges[i].interval.end : end;
    block->pass = profiler->passes_done;
    block->target_level = 1;
    block->all_passes_done = profiler->passes_done >= profiler->set.passes;
    (void)pthread_mutex_unlock(&lock);
    cuda_wait_until(cuda_shared(), end);
    return CUPTI_OK;
}

int cuptiRangeProfilerDisable(struct pm_only *block)
{
    struct profiler *profiler;

    ENTER(block, pm_only, object);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    if (profiler) {
        if (profiler->has_unit)
            cuda_unit_give(CUDA_PERFMON, profiler->gpu);
        free(profiler->ranges);
        *profiler = (struct profiler){0};
    }
    (void)pthread_mutex_unlock(&lock);
    return profiler ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

static struct range *image_range(struct data_image *image, uint64_t index)
{
    return (struct range *)(void *)image_interval(image, index);
}

/* The GPU's time of a range is a little longer than its work. */
static void write_range(struct data_image *image, uint64_t index, const struct range *from)
{
    struct range *range = image_range(image, index);

    *range = *from;
    range->interval.end += LONGER_NS;
    interval_clocks(&range->interval, &image->chip);
}

static int decode(struct profiler *profiler, struct range_decode *block)
{
    struct data_image *image = host_data(profiler->config.data, profiler->config.data_bytes);
    const uint64_t count =
        image && profiler->count > image->capacity ? image->capacity : profiler->count;

    block->dropped = 0; /* also when some vanished */
    if (!image || image->type != RANGE_PROFILER)
        return CUPTI_INVALID_PARAMETER;
    if (profiler->state != STOPPED || profiler->passes_done < profiler->set.passes)
        return CUPTI_OK;
    (void)memcpy(image->metrics, profiler->set.metrics, sizeof(image->metrics));
    for (uint64_t i = 0; i < count; i++)
        write_range(image, i, &profiler->ranges[i]);
    image->populated = image->completed = count;
    return CUPTI_OK;
}

int cuptiRangeProfilerDecodeData(struct range_decode *block)
{
    struct profiler *profiler;
    int result;

    ENTER(block, range_decode, dropped);
    (void)pthread_mutex_lock(&lock);
    profiler = find(block->object);
    result = !profiler                    ? CUPTI_INVALID_PARAMETER
             : profiler->state == CREATED ? CUPTI_INVALID_OPERATION
                                          : decode(profiler, block);
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int cuptiRangeProfilerGetCounterDataInfo(struct range_info *block)
{
    const struct data_image *image;

    ENTER(block, range_info, ranges);
    image = host_data(block->image, block->bytes);
    if (!image || image->type != RANGE_PROFILER)
        return CUPTI_INVALID_PARAMETER;
    block->ranges = image->populated;
    return CUPTI_OK;
}

int cuptiRangeProfilerCounterDataGetRangeInfo(struct range_name *block)
{
    struct data_image *image;

    ENTER(block, range_name, name);
    image = host_data(block->image, block->bytes);
    if (!image || image->type != RANGE_PROFILER || block->index >= image->populated)
        return CUPTI_INVALID_PARAMETER;
    block->name = image_range(image, block->index)->name;
    return CUPTI_OK;
}
