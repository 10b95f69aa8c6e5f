/* PM sampling: one object per GPU and process, with the properties that were measured. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cuda/cupti/cupti.h"

enum {
    BEFORE_START_NS = 3000000, /* of the first sample, in microseconds: three seconds */
    OPEN_NS = 7000,            /* what the newest sample lacks */
    LIGHT_BYTES = 3000,        /* of the hardware buffer for a sample */
    MORE_BYTES = 600,          /* for each counter more */
    HEAVY_BYTES = 30000,
    JITTER_FROM_NS = 1000,
    LOST_FIRST = 4,
    LOST_RANGE = 677,
    OPEN_EACH = 4 /* decodes of a light set in which the newest sample is open */
};

enum state { CREATED, CONFIGURED, RUNNING, STOPPED };

struct sampler {
    bool exists;
    enum state state;
    bool is_overrun; /* keep oldest: for ever */
    bool keeps_latest;
    uint32_t gpu;
    const void *config; /* the caller's: it must stay */
    uint64_t config_bytes;
    struct config_image set;
    uint64_t period_ns, buffer_bytes;
    uint32_t max_samples; /* of the last question for a size */
    uint64_t serial, generations, decodes;
    int64_t offset;    /* of the clock of samples */
    uint64_t start_ns; /* boundary 0 */
    uint64_t stop_ns;
    uint64_t sample;          /* number of the one that comes next */
    uint64_t position;        /* time up to which counts were handed out */
    uint64_t first_work;      /* before it nothing counts any more */
    uint64_t open_generation; /* of the image that has the open sample; 0: none is open */
    bool is_after_full, has_tail, has_empty;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sampler samplers[CUDA_GPUS];
static uint64_t serials;

/* The object of a handle; NULL if it is none. */
static struct sampler *find(void *object)
{
    struct sampler *sampler = object;

    for (int i = 0; i < CUDA_GPUS; i++) {
        if (sampler == &samplers[i] && sampler->exists)
            return sampler;
    }
    return NULL;
}

bool sampling_is_open(void)
{
    bool is_open = false;

    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < CUDA_GPUS; i++)
        is_open = is_open || samplers[i].exists;
    (void)pthread_mutex_unlock(&lock);
    return is_open;
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 33) * 0xff51afd7ed558ccdull;
    return value ^ value >> 29;
}

/* Samples begin at ticks; the distance of two is that of the period to within two of them. */
static uint64_t boundary(const struct sampler *sampler, uint64_t number)
{
    const uint64_t even =
        sampler->start_ns + number * sampler->period_ns / CUDA_TICK_NS * CUDA_TICK_NS;

    if (number == 0 || sampler->period_ns < JITTER_FROM_NS)
        return even;
    return even + mix(number) % 3 * CUDA_TICK_NS - CUDA_TICK_NS;
}

int cuptiPmSamplingEnable(struct pm_enable *block)
{
    struct sampler *sampler;
    uint32_t gpu;
    int result;

    ENTER(block, pm_enable, object);
    if (!cupti_is_initialised())
        return CUPTI_NOT_INITIALIZED;
    if (!cupti_gpu_of_ordinal(block->device, &gpu))
        return CUPTI_INVALID_DEVICE;
    result = cupti_permission(gpu);
    if (result != CUPTI_OK)
        return result;
    if (!cuda_shared()->description.gpus[gpu].has_pm_sampling)
        return CUPTI_NOT_SUPPORTED;
    (void)pthread_mutex_lock(&lock);
    sampler = &samplers[gpu];
    if (sampler->exists) {
        result = CUPTI_INVALID_OPERATION;
    } else {
        *sampler = (struct sampler){
            .exists = true, .gpu = gpu, .serial = ++serials, .offset = cupti_clock_offset()};
        block->object = sampler;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static int set_config(struct sampler *sampler, const struct pm_config *block)
{
    const struct cuda_chip *chip = &cuda_shared()->description.gpus[sampler->gpu];
    const struct config_image *config = host_config(block->config, block->config_bytes);
    const uint64_t interval = block->interval & UINT32_MAX; /* longer ones are cut */

    if (!config || config->type != PM_SAMPLING || strcmp(config->chip, chip->chip) != 0 ||
        interval < 2 || block->buffer_bytes == 0 || block->trigger < 0 || block->trigger > 1 ||
        block->append < 0 || block->append > 1)
        return CUPTI_INVALID_PARAMETER;
    if (config->passes > 1 || (block->trigger == 1 && !chip->has_ns_trigger))
        return CUPTI_NOT_SUPPORTED;
    if (sampler->state == RUNNING)
        return CUPTI_INVALID_OPERATION;
    if (sampler->state == CREATED && !cuda_unit_take(CUDA_PERFMON, sampler->gpu))
        return CUPTI_HARDWARE_BUSY;
    sampler->state = CONFIGURED;
    sampler->config = block->config;
    sampler->config_bytes = block->config_bytes;
    sampler->set = *config;
    sampler->buffer_bytes = block->buffer_bytes;
    sampler->keeps_latest = block->append == 1;
    sampler->period_ns = block->trigger == 1 ? interval : interval * 1000000 / chip->system_khz;
    if (sampler->period_ns < CUDA_TICK_NS)
        sampler->period_ns = CUDA_TICK_NS;
    return CUPTI_OK;
}

int cuptiPmSamplingSetConfig(struct pm_config *block)
{
    struct sampler *sampler;
    int result;

    ENTER(block, pm_config, append);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    result = sampler ? set_config(sampler, block) : CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static int get_data_size(struct sampler *sampler, struct pm_data_size *block)
{
    const struct cuda_chip *chip = &cuda_shared()->description.gpus[sampler->gpu];
    uint64_t metrics[METRIC_WORDS] = {0}, stride;
    int result;

    if (!block->names || block->count == 0 || block->max_samples == 0)
        return CUPTI_INVALID_PARAMETER;
    result = host_parse_names(chip->chip, PM_SAMPLING, false, block->names, block->count, metrics);
    if (result != CUPTI_OK)
        return result;
    sampler->max_samples = block->max_samples;
    block->bytes = image_bytes(block->max_samples, metrics, &stride);
    return CUPTI_OK;
}

int cuptiPmSamplingGetCounterDataSize(struct pm_data_size *block)
{
    struct sampler *sampler;
    int result;

    ENTER(block, pm_data_size, bytes);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    if (!sampler)
        result = CUPTI_INVALID_PARAMETER;
    else
        result =
            sampler->state == CREATED ? CUPTI_INVALID_OPERATION : get_data_size(sampler, block);
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static int initialise(struct sampler *sampler, const struct pm_image *block)
{
    struct data_image *image = (struct data_image *)(void *)block->image;
    uint64_t stride;

    if (sampler->max_samples == 0)
        return CUPTI_INVALID_OPERATION;
    if (!image || block->bytes < sizeof(*image))
        return CUPTI_INVALID_PARAMETER;
    if (block->bytes != image_bytes(sampler->max_samples, sampler->set.metrics, &stride))
        return CUPTI_UNKNOWN; /* also for one whose size was asked before another was */
    if (cuda_shared()->description.fills_images)
        (void)memset(block->image, 0xff, block->bytes);
    *image = (struct data_image){.magic = DATA_MAGIC,
                                 .type = PM_SAMPLING,
                                 .bytes = block->bytes,
                                 .stride = stride,
                                 .capacity = sampler->max_samples,
                                 .chip = cuda_shared()->description.gpus[sampler->gpu],
                                 .serial = sampler->serial,
                                 .generation = ++sampler->generations};
    (void)memcpy(image->metrics, sampler->set.metrics, sizeof(image->metrics));
    return CUPTI_OK;
}

int cuptiPmSamplingCounterDataImageInitialize(struct pm_image *block)
{
    struct sampler *sampler;
    int result;

    ENTER(block, pm_image, image);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    result = sampler ? initialise(sampler, block) : CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static int start(struct sampler *sampler)
{
    struct cuda_shared *shared = cuda_shared();
    struct cuda_gpu *gpu = &shared->gpus[sampler->gpu];
    const struct config_image *config = host_config(sampler->config, sampler->config_bytes);

    if (sampler->is_overrun)
        return CUPTI_UNKNOWN;
    if (sampler->state != CONFIGURED && sampler->state != STOPPED)
        return CUPTI_INVALID_OPERATION;
    if (!config)
        return CUPTI_INVALID_PARAMETER;
    sampler->set = *config;
    cuda_lock(&gpu->lock);
    sampler->start_ns = (cuda_time(shared) + CUDA_TICK_NS - 1) / CUDA_TICK_NS * CUDA_TICK_NS;
    sampler->position = sampler->start_ns;
    sampler->first_work = gpu->work_count > CUDA_WORKS / 2 ? gpu->work_count - CUDA_WORKS / 2 : 0;
    cuda_unlock(&gpu->lock);
    sampler->sample = 0;
    sampler->open_generation = 0;
    sampler->has_tail = sampler->has_empty = false;
    sampler->state = RUNNING;
    return CUPTI_OK;
}

int cuptiPmSamplingStart(struct pm_only *block)
{
    struct sampler *sampler;
    int result;

    ENTER(block, pm_only, object);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    result = sampler ? start(sampler) : CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int cuptiPmSamplingStop(struct pm_only *block)
{
    struct sampler *sampler;
    int result = CUPTI_OK;

    ENTER(block, pm_only, object);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    if (!sampler) {
        result = CUPTI_INVALID_PARAMETER;
    } else if (sampler->state != RUNNING) {
        result = CUPTI_INVALID_OPERATION;
    } else {
        struct cuda_gpu *gpu = &cuda_shared()->gpus[sampler->gpu];

        cuda_lock(&gpu->lock); /* work that comes later begins later */
        sampler->stop_ns = cuda_time(cuda_shared()) + 1;
        cuda_unlock(&gpu->lock);
        sampler->state = STOPPED;
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int cuptiPmSamplingDisable(struct pm_only *block)
{
    struct sampler *sampler;

    ENTER(block, pm_only, object);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    if (sampler) {
        if (sampler->state != CREATED)
            cuda_unit_give(CUDA_PERFMON, sampler->gpu);
        sampler->exists = false;
    }
    (void)pthread_mutex_unlock(&lock);
    return sampler ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}

static uint64_t sample_bytes(const struct sampler *sampler)
{
    uint64_t count = 0;

    for (int i = 0; i < METRIC_WORDS; i++)
        count += (uint64_t)__builtin_popcountll(sampler->set.metrics[i]);
    return LIGHT_BYTES + count * MORE_BYTES + (sampler->set.is_heavy ? HEAVY_BYTES : 0);
}

/* Whether more was written than the hardware buffer holds, or than the machine remembers. */
static bool is_overrun(const struct sampler *sampler, const struct cuda_gpu *gpu, uint64_t now)
{
    const uint64_t waiting =
        now > sampler->position ? (now - sampler->position) / sampler->period_ns : 0;

    return waiting * sample_bytes(sampler) > sampler->buffer_bytes ||
           gpu->work_count > sampler->first_work + CUDA_WORKS;
}

static bool is_busy(const struct sampler *sampler, const struct cuda_gpu *gpu, uint64_t now)
{
    for (uint64_t i = sampler->first_work; i < gpu->work_count; i++) {
        const struct cuda_work *work = &gpu->works[i % CUDA_WORKS];

        if (work->begin <= now && now < work->end)
            return true;
    }
    return false;
}

/* What is left of the sample that begins at `begin`, into a slot of the image. */
static void fill(struct sampler *sampler, struct data_image *image, uint64_t slot, uint64_t begin,
                 uint64_t counted_from, uint64_t end)
{
    const struct cuda_gpu *gpu = &cuda_shared()->gpus[sampler->gpu];
    struct interval *interval = image_interval(image, slot);

    *interval = (struct interval){.start = begin, .end = end};
    if (sampler->sample == 0)
        interval->start -= BEFORE_START_NS * 1000ull;
    interval_clocks(interval, &image->chip);
    if (sampler->sample == 0)
        interval->duration = end; /* an absolute time */
    interval_add(interval, gpu, sampler->first_work, counted_from, end);
    interval->start += (uint64_t)sampler->offset;
    interval->end += (uint64_t)sampler->offset;
    if (sampler->is_after_full)
        interval->start = interval->end = 0;
    sampler->is_after_full = false;
}

/* Goes on from a slot that holds the open sample, if the image still has it. */
static void complete(struct sampler *sampler, struct data_image *image, uint64_t end)
{
    const bool was_open = sampler->open_generation == image->generation;
    struct interval *interval = image_interval(image, image->completed);
    uint64_t counts[CUDA_COUNTS] = {0};

    if (was_open)
        (void)memcpy(counts, interval->counts, sizeof(counts));
    fill(sampler, image, image->completed, boundary(sampler, sampler->sample), sampler->position,
         end);
    for (int i = 0; i < CUDA_COUNTS; i++)
        interval->counts[i] += counts[i];
    image->completed++;
    image->populated = image->completed;
    sampler->open_generation = 0;
    sampler->position = end;
    sampler->sample++;
}

/* The newest sample, up to a moment ago: it still grows. */
static void open_newest(struct sampler *sampler, struct data_image *image, uint64_t now)
{
    const uint64_t begin = boundary(sampler, sampler->sample);
    const uint64_t until = now > OPEN_NS ? now - OPEN_NS : 0;
    struct interval *interval = image_interval(image, image->completed);
    uint64_t counts[CUDA_COUNTS] = {0};

    if (until <= sampler->position || until <= begin)
        return;
    if (sampler->open_generation == image->generation)
        (void)memcpy(counts, interval->counts, sizeof(counts));
    else if (sampler->open_generation != 0)
        return; /* its beginning was thrown away: the rest waits */
    fill(sampler, image, image->completed, begin, sampler->position, until);
    for (int i = 0; i < CUDA_COUNTS; i++)
        interval->counts[i] += counts[i];
    interval->is_open = true;
    image->populated = image->completed + 1;
    sampler->open_generation = image->generation;
    sampler->position = until;
}

/* The image is full: some samples are never seen again, and nobody says so. */
static void lose(struct sampler *sampler, uint64_t now)
{
    uint64_t count = LOST_FIRST + mix(sampler->sample) % LOST_RANGE;

    while (count > 0 && boundary(sampler, sampler->sample + 1) <= now) {
        sampler->sample++;
        count--;
    }
    sampler->position = boundary(sampler, sampler->sample);
    sampler->open_generation = 0;
    sampler->is_after_full = true;
}

/* After Stop: what began, then perhaps one of no length. */
static void finish(struct sampler *sampler, struct data_image *image)
{
    if (!sampler->has_tail && sampler->stop_ns > sampler->position &&
        image->completed < image->capacity) {
        complete(sampler, image, sampler->stop_ns);
        sampler->has_tail = true;
    } else if (!sampler->has_empty && image->completed < image->capacity) {
        fill(sampler, image, image->completed, sampler->stop_ns, sampler->stop_ns,
             sampler->stop_ns);
        image->populated = ++image->completed;
        sampler->has_empty = true;
    }
}

static int decode(struct sampler *sampler, struct pm_decode *block, uint64_t *out_new)
{
    struct cuda_shared *shared = cuda_shared();
    struct cuda_gpu *gpu = &shared->gpus[sampler->gpu];
    struct data_image *image = host_data(block->image, block->bytes);
    const uint64_t before = image ? image->completed : 0;
    uint64_t now;
    bool is_full = false;

    if (!image || image->serial != sampler->serial)
        return CUPTI_INVALID_PARAMETER;
    if (sampler->state != RUNNING && sampler->state != STOPPED)
        return CUPTI_INVALID_OPERATION;
    now = cuda_time(shared);
    if (sampler->state == STOPPED && now > sampler->stop_ns)
        now = sampler->stop_ns;
    if (sampler->is_overrun || is_overrun(sampler, gpu, now)) {
        if (sampler->keeps_latest)
            (void)raise(SIGFPE); /* as the vendor's library dies */
        sampler->is_overrun = true;
        block->overflow = 1;
        block->stop_reason = 0;
        return CUPTI_OUT_OF_MEMORY;
    }
    block->overflow = 0;
    block->stop_reason = 2;
    if (sampler->set.has_links && !image->chip.has_links)
        return CUPTI_OK; /* nothing ever completes */
    while (!is_full && boundary(sampler, sampler->sample + 1) <= now && !sampler->has_tail) {
        is_full = image->completed == image->capacity;
        if (!is_full)
            complete(sampler, image, boundary(sampler, sampler->sample + 1));
    }
    if (is_full) {
        block->stop_reason = 1;
        lose(sampler, now);
    } else if (sampler->state == STOPPED) {
        finish(sampler, image);
    } else if (image->completed < image->capacity && is_busy(sampler, gpu, now) &&
               (sampler->set.is_heavy || ++sampler->decodes % OPEN_EACH == 0)) {
        open_newest(sampler, image, now);
    }
    while (sampler->first_work < gpu->work_count &&
           gpu->works[sampler->first_work % CUDA_WORKS].end <= sampler->position)
        sampler->first_work++;
    *out_new = image->completed - before;
    return CUPTI_OK;
}

int cuptiPmSamplingDecodeData(struct pm_decode *block)
{
    struct sampler *sampler;
    uint64_t count = 0;
    int result = CUPTI_INVALID_PARAMETER;

    ENTER(block, pm_decode, overflow);
    (void)pthread_mutex_lock(&lock);
    sampler = find(block->object);
    if (sampler) {
        struct cuda_gpu *gpu = &cuda_shared()->gpus[sampler->gpu];

        cuda_lock(&gpu->lock);
        result = decode(sampler, block, &count);
        cuda_unlock(&gpu->lock);
    }
    (void)pthread_mutex_unlock(&lock);
    if (cuda_shared() && cuda_shared()->description.decode_ns > 0) {
        const uint64_t ns = count * cuda_shared()->description.decode_ns;
        const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                                       .tv_nsec = (long)(ns % 1000000000)};

        (void)nanosleep(&pause, NULL);
    }
    return result;
}

int cuptiPmSamplingGetCounterDataInfo(struct pm_info *block)
{
    const struct data_image *image;

    ENTER(block, pm_info, completed);
    image = host_data(block->image, block->bytes);
    if (!image || image->type != PM_SAMPLING)
        return CUPTI_INVALID_PARAMETER;
    block->total = image->capacity;
    block->populated = image->populated;
    block->completed = image->completed;
    return CUPTI_OK;
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct pm_sample_info *block)
{
    struct data_image *image;
    const struct interval *interval;

    ENTER(block, pm_sample_info, end);
    image = host_data(block->image, block->bytes);
    if (!image || image->type != PM_SAMPLING || block->index >= image->populated)
        return CUPTI_INVALID_PARAMETER;
    interval = image_interval(image, block->index);
    block->start = interval->start;
    block->end = interval->end;
    return CUPTI_OK;
}
