#include "plugins/nvidia/query/ranges.h"

#include <stdio.h>
#include <stdlib.h>

enum { USER_RANGE = 2, USER_REPLAY = 3, NAME_BYTES = 12 };

struct nvidia_ranges {
    const struct nvidia_cupti *cupti;
    struct nvidia_config config;
    void *object;
    uint8_t *image; /* CUPTI keeps the pointer */
    size_t image_bytes;
    uint32_t capacity, count;
    bool is_running, is_open;
    double *values;
    char names[][NAME_BYTES]; /* of the ranges, in case that CUPTI keeps them */
};

/* ---- opening ------------------------------------------------------------------------------ */

static int make_image(struct nvidia_ranges *ranges)
{
    struct nvidia_range_data_size size = {.object = ranges->object,
                                          .names = ranges->config.names,
                                          .count = ranges->config.count,
                                          .most_ranges = ranges->capacity,
                                          .most_nodes = ranges->capacity};
    const int result = nvidia_cupti_range_data_size(ranges->cupti, &size);

    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    ranges->image = calloc(1, size.bytes);
    ranges->image_bytes = size.bytes;
    return ranges->image ? NVIDIA_CUPTI_SUCCESS : NVIDIA_CUPTI_OUT_OF_MEMORY;
}

static int initialise_image(struct nvidia_ranges *ranges)
{
    struct nvidia_data_image block = {
        .object = ranges->object, .bytes = ranges->image_bytes, .image = ranges->image};

    return nvidia_cupti_range_data_initialize(ranges->cupti, &block);
}

static int configure(struct nvidia_ranges *ranges)
{
    struct nvidia_range_config config = {.object = ranges->object,
                                         .config_bytes = ranges->config.image_bytes,
                                         .config = ranges->config.image,
                                         .data_bytes = ranges->image_bytes,
                                         .data = ranges->image,
                                         .range = USER_RANGE,
                                         .replay = USER_REPLAY,
                                         .most_ranges = ranges->capacity,
                                         .levels = 1,
                                         .least_level = 1,
                                         .target_level = 1};

    return nvidia_cupti_range_set_config(ranges->cupti, &config);
}

static int set_up(struct nvidia_ranges *ranges, const struct nvidia_ranges_options *options)
{
    struct nvidia_plain initialize = {0}; /* as often as one likes, and never taken back */
    struct nvidia_range_enable enable = {.context = options->context};
    size_t wrong;
    int result = nvidia_cupti_initialize(ranges->cupti, &initialize);

    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_config_make(ranges->cupti, NVIDIA_RANGE_PROFILER, options->chip,
                                    options->names, options->count, &ranges->config, &wrong);
    if (result == NVIDIA_CUPTI_SUCCESS && ranges->config.passes != 1)
        result = NVIDIA_CUPTI_NOT_SUPPORTED;
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_range_enable(ranges->cupti, &enable);
    if (result != NVIDIA_CUPTI_SUCCESS)
        return result;
    ranges->object = enable.object;
    result = make_image(ranges);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = initialise_image(ranges);
    return result == NVIDIA_CUPTI_SUCCESS ? configure(ranges) : result;
}

int nvidia_ranges_open(const struct nvidia_ranges_options *options,
                       struct nvidia_ranges **out_ranges)
{
    struct nvidia_ranges *ranges =
        calloc(1, sizeof(*ranges) + options->capacity * sizeof(ranges->names[0]));
    sigset_t before;
    int result;

    if (!ranges)
        return NVIDIA_CUPTI_OUT_OF_MEMORY;
    ranges->cupti = options->cupti;
    ranges->capacity = options->capacity;
    ranges->values = calloc(options->count, sizeof(*ranges->values));
    nvidia_signals_block(&before); /* for threads of CUPTI */
    result = ranges->values ? set_up(ranges, options) : NVIDIA_CUPTI_OUT_OF_MEMORY;
    nvidia_signals_restore(&before);
    if (result == NVIDIA_CUPTI_SUCCESS)
        *out_ranges = ranges;
    else
        nvidia_ranges_close(ranges);
    return result;
}

/* ---- ranges ------------------------------------------------------------------------------- */

uint32_t nvidia_ranges_count(const struct nvidia_ranges *ranges)
{
    return ranges->count;
}

bool nvidia_ranges_are_full(const struct nvidia_ranges *ranges)
{
    return ranges->count == ranges->capacity;
}

static int start(struct nvidia_ranges *ranges)
{
    struct nvidia_object block = {.object = ranges->object};
    sigset_t before;
    int result;

    nvidia_signals_block(&before);
    result = nvidia_cupti_range_start(ranges->cupti, &block);
    nvidia_signals_restore(&before);
    ranges->is_running = result == NVIDIA_CUPTI_SUCCESS;
    return result;
}

int nvidia_ranges_begin(struct nvidia_ranges *ranges)
{
    char *name = ranges->names[ranges->count];
    struct nvidia_range_push push = {.object = ranges->object, .name = name};
    int result = ranges->is_running ? NVIDIA_CUPTI_SUCCESS : start(ranges);

    (void)snprintf(name, NAME_BYTES, "%u", ranges->count);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_range_push(ranges->cupti, &push);
    if (result == NVIDIA_CUPTI_SUCCESS) {
        ranges->is_open = true;
        ranges->count++;
    }
    return result;
}

int nvidia_ranges_end(struct nvidia_ranges *ranges)
{
    struct nvidia_object pop = {.object = ranges->object};

    ranges->is_open = false;
    return nvidia_cupti_range_pop(ranges->cupti, &pop);
}

/* ---- results ------------------------------------------------------------------------------ */

/* Stops counting, and brings what was counted into the image. */
static int decode(struct nvidia_ranges *ranges, size_t *out_count)
{
    struct nvidia_range_stop stop = {.object = ranges->object};
    struct nvidia_range_decode decode = {.object = ranges->object};
    struct nvidia_range_count info = {.image = ranges->image, .bytes = ranges->image_bytes};
    int result = nvidia_cupti_range_stop(ranges->cupti, &stop);

    ranges->is_running = false;
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_range_decode(ranges->cupti, &decode);
    if (result == NVIDIA_CUPTI_SUCCESS)
        result = nvidia_cupti_range_count(ranges->cupti, &info);
    *out_count = info.ranges;
    return result;
}

/* The number of the range at a place of the image. False: none of this session. */
static bool number_at(const struct nvidia_ranges *ranges, size_t index, uint32_t *out_number)
{
    struct nvidia_range_info info = {
        .image = ranges->image, .bytes = ranges->image_bytes, .index = index, .delimiter = "/"};
    unsigned long number;
    char *end;

    if (nvidia_cupti_range_info(ranges->cupti, &info) != NVIDIA_CUPTI_SUCCESS || !info.name)
        return false;
    number = strtoul(info.name, &end, 10);
    *out_number = (uint32_t)number;
    return end != info.name && *end == '\0' && number < ranges->count;
}

int nvidia_ranges_fetch(struct nvidia_ranges *ranges, const struct nvidia_ranges_taker *taker)
{
    size_t count = 0;
    int result = ranges->is_running ? decode(ranges, &count) : NVIDIA_CUPTI_SUCCESS;

    for (size_t i = 0; result == NVIDIA_CUPTI_SUCCESS && i < count; i++) {
        uint32_t number;

        if (!number_at(ranges, i, &number))
            continue;
        result = nvidia_config_evaluate(&ranges->config, ranges->image, ranges->image_bytes, i,
                                        ranges->values);
        if (result == NVIDIA_CUPTI_SUCCESS)
            taker->take(taker->context, number, ranges->values);
    }
    ranges->count = 0;
    return result == NVIDIA_CUPTI_SUCCESS ? initialise_image(ranges) : result;
}

void nvidia_ranges_close(struct nvidia_ranges *ranges)
{
    struct nvidia_object object;
    struct nvidia_range_stop stop;

    if (!ranges)
        return;
    object = (struct nvidia_object){.object = ranges->object};
    stop = (struct nvidia_range_stop){.object = ranges->object};
    if (ranges->is_open)
        (void)nvidia_ranges_end(ranges);
    if (ranges->is_running)
        (void)nvidia_cupti_range_stop(ranges->cupti, &stop);
    if (ranges->object)
        (void)nvidia_cupti_range_disable(ranges->cupti, &object);
    nvidia_config_finish(&ranges->config);
    free(ranges->image);
    free(ranges->values);
    free(ranges);
}
