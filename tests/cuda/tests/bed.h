#ifndef ZETA_TESTS_CUDA_TESTS_BED_H
#define ZETA_TESTS_CUDA_TESTS_BED_H

/* What tests of the libraries share: each runs in a process of its own, which opens them by path.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/cuda/cuda.h"
#include "tests/cuda/cupti/blocks.h"
#include "tests/cuda/cupti/records.h"
#include "tests/cuda/driver/abi.h"
#include "tests/cuda/nvml/nvml.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define POINTER(name, parameters) int(*name) parameters;
#define BLOCK_POINTER(name, type, last) int (*name)(struct type * block);
struct bed_driver {
    CUDA_API(POINTER)
};
struct bed_cupti {
    CUPTI_API(BLOCK_POINTER)
    CUPTI_RANGE_API(BLOCK_POINTER)
    CUPTI_ACTIVITY_API(POINTER)
    int (*cuptiGetVersion)(uint32_t *out);
    int (*cuptiGetResultString)(int result, const char **out);
    int (*cuptiGetTimestamp)(uint64_t *out);
    int (*cuptiActivityRegisterTimestampCallback)(uint64_t (*callback)(void));
};
struct bed_nvml {
    NVML_API(POINTER)
};
#undef POINTER
#undef BLOCK_POINTER

/* In the process of a test. */
extern struct bed_driver cu;
extern struct bed_cupti cupti;
extern struct bed_nvml nvml;
extern struct cuda_machine *bed_machine;

/* Runs a test in a process of its own on a machine of that description. */
void bed_run(const char *description, void (*body)(void));
/* The same; it has to be killed by that signal. */
void bed_run_dies(const char *description, void (*body)(void), int signal);
/* In the process of a test: another one on the same machine, which has to succeed. */
void bed_other(void (*body)(void));

/* cuInit, the primary context of a device, and it is current. */
void *bed_context(int ordinal);
/* kernels.ptx or mma.ptx of kernels/; free() it. */
char *bed_text(const char *file);
void *bed_function(const char *name);
/* Launches on a stream; arguments by pointer. */
void bed_launch(void *function, uint32_t groups, uint32_t threads, void *stream, void **arguments);
/* fma_loop on the default stream, 4 groups of 256 for each of 132 SMs; returns when it has begun.
 */
void bed_fma(uint32_t turns);
enum { BED_GROUPS = 528, BED_THREADS = 528 * 256, BED_WARPS = BED_THREADS / 32 };

/* A block of a function: zero but for its size. */
#define BED_BLOCK(type, last)                                                                      \
    {                                                                                              \
        .head = {.size = BLOCK_SIZE(type, last) }                                                  \
    }

/* A session of PM sampling in the order that works, and what it has given. */
struct bed_stream {
    const char *const *names;
    size_t count;
    uint8_t *config, *image;
    size_t config_bytes, image_bytes;
    void *host, *object;
    size_t handed;       /* samples of this image */
    uint32_t samples;    /* completed ones that were seen */
    double sums[8];      /* of all but time: values of samples added */
    double first[8];     /* values of the first sample */
    uint64_t start, end; /* of the last sample */
};

struct bed_options {
    uint64_t period_ns, buffer_bytes; /* 0: 1 ms, 64 MiB */
    uint32_t max_samples;             /* 0: 1024 */
    int append;
};

/* A host object that refused a name configures nothing more. */
void bed_expect_refusal(void);

/* The config image; false with the passes if they are several. */
int bed_configure(struct bed_stream *stream, const char *chip, int type, const char *const *names,
                  size_t count, size_t *out_passes);
void bed_open(struct bed_stream *stream, const char *const *names, size_t count,
              const struct bed_options *options);
/* One decode; hands out what is complete and new. Its result and stop reason. */
int bed_decode(struct bed_stream *stream, int *out_stop_reason);
void bed_initialise(struct bed_stream *stream);
void bed_info(const struct bed_stream *stream, struct pm_info *out);
void bed_evaluate(const struct bed_stream *stream, size_t index, double *out_values);
void bed_stop(struct bed_stream *stream);
/* Stop, decode until nothing is new, Disable. */
void bed_close(struct bed_stream *stream);

#endif
