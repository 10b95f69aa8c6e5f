#ifndef ZETA_TESTS_CUDA_CUPTI_CUPTI_H
#define ZETA_TESTS_CUDA_CUPTI_CUPTI_H

/* What the files of libcupti share. */

#include "tests/cuda/cupti/blocks.h"
#include "tests/cuda/driver/observer.h"
#include "tests/cuda/machine/machine.h"

#define DECLARE(name, type, last)                                                                  \
    __attribute__((visibility("default"))) int name(struct type *block);
CUPTI_API(DECLARE)
CUPTI_RANGE_API(DECLARE)
#undef DECLARE

enum {
    CUPTI_OK,
    CUPTI_INVALID_PARAMETER = 1,
    CUPTI_INVALID_DEVICE = 2,
    CUPTI_INVALID_CONTEXT = 3,
    CUPTI_INVALID_OPERATION = 7,
    CUPTI_OUT_OF_MEMORY = 8,
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_INVALID_METRIC_NAME = 17,
    CUPTI_INVALID_KIND = 21,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_INVALID_CHIP_NAME = 46,
    CUPTI_UNKNOWN = 999
};

enum { RANGE_PROFILER, PM_SAMPLING };

/* Faults, and the size of the block: at least the end of its last member that is known to all. */
#define ENTER(block, type, last)                                                                   \
    do {                                                                                           \
        const int entered =                                                                        \
            cupti_enter(__func__, (block) ? &(block)->head : NULL, BLOCK_SIZE(type, last));        \
        if (entered != CUPTI_OK)                                                                   \
            return entered;                                                                        \
    } while (0)

int cupti_enter(const char *function, const struct block *block, size_t smallest);

/* What libcuda tells; false if it is not loaded. */
bool cupti_gpu_of_ordinal(size_t ordinal, uint32_t *out_gpu);
bool cupti_gpu_of_context(const void *context, uint32_t *out_gpu, int *out_ordinal);
void cupti_drain(void *context);

/* From now on ranges and activity are told of work; false without a driver. */
bool cupti_watch(void);

/* range.c: the range that is open in a context, 0 for none; work of a range. */
uint64_t range_mark(void *context, bool is_launch);
void range_seen(const struct cuda_seen *seen);
/* activity.c */
void activity_enqueued(uint32_t stream);
void activity_seen(const struct cuda_seen *seen);
/* sampling.c: whether this process samples. */
bool sampling_is_open(void);

/* Whether the counters of a GPU may be used, else why not. */
int cupti_permission(uint32_t gpu);

/* The clock of records and samples: that of the callback, else CLOCK_REALTIME. */
uint64_t cupti_timestamp(void);
/* What is added to a time of the machine to have it on that clock; asks the callback once. */
int64_t cupti_clock_offset(void);

/* Whether the profiler was initialised. */
bool cupti_is_initialised(void);

enum { METRICS = 192, METRIC_WORDS = METRICS / 64 };

/* The numbers of an interval, from which metrics follow. Times of the machine. */
struct interval {
    uint64_t start, end;
    uint64_t duration;       /* ns of the GPU's own clock */
    uint64_t gpc, sys, dram; /* cycles of one instance */
    uint64_t counts[CUDA_COUNTS];
    bool is_open; /* it still grows */
};

/* What an image says first. */
struct data_image {
    uint32_t magic, type;
    uint64_t bytes, stride, capacity;
    uint64_t populated, completed;
    uint64_t metrics[METRIC_WORDS]; /* which can be evaluated */
    struct cuda_chip chip;
    uint64_t serial, generation; /* of the session; of this initialisation */
};

struct config_image {
    uint32_t magic, type;
    uint32_t passes;
    bool is_heavy, has_links;
    uint64_t metrics[METRIC_WORDS];
    char chip[CUDA_TEXT];
};

enum { DATA_MAGIC = 0x64617461, CONFIG_MAGIC = 0x636f6e66 };

/* host.c */
/* Adds the base metrics of names to a set; a result of CUPTI. */
int host_parse_names(const char *chip, uint32_t type, bool has_availability,
                     const char *const *names, size_t count, uint64_t out_metrics[METRIC_WORDS]);
/* The config image behind these bytes; NULL if they are none. */
const struct config_image *host_config(const void *bytes, size_t size);
struct data_image *host_data(const void *bytes, size_t size);

/* The numbers of a sample or range; the image has as many as its capacity says. */
struct interval *image_interval(struct data_image *image, uint64_t index);
/* Bytes of an image for so many; the documented ones, of which our own need is a part. */
uint64_t image_bytes(uint64_t capacity, const uint64_t metrics[METRIC_WORDS], uint64_t *out_stride);
/* Adds what a piece of the GPU's time counted. The lock of the GPU is held. */
void interval_add(struct interval *interval, const struct cuda_gpu *gpu, uint64_t first_work,
                  uint64_t begin, uint64_t end);
/* Sets the clocks of an interval whose start and end are known. */
void interval_clocks(struct interval *interval, const struct cuda_chip *chip);

#endif
