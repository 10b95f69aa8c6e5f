#ifndef ZETA_TESTS_CUDA_DRIVER_OBSERVER_H
#define ZETA_TESTS_CUDA_DRIVER_OBSERVER_H

/*
 * What libcupti sees of the work of its process. The libraries know each other by these two
 * functions of libcuda alone, which libcupti looks up in the library that is loaded.
 */

#include "tests/cuda/cuda.h"

enum cuda_seen_kind { CUDA_SEEN_KERNEL, CUDA_SEEN_COPY, CUDA_SEEN_FILL, CUDA_SEEN_SYNCHRONIZE };

/* Work whose place in time is known. Times of the machine. */
struct cuda_seen {
    enum cuda_seen_kind kind;
    uint32_t gpu, ordinal, context, stream, correlation;
    uint64_t begin, end;
    uint64_t mark;    /* what mark() gave when it was enqueued */
    const char *name; /* of the kernel; NULL else */
    uint32_t grid[3], block[3], dynamic_shared, value;
    uint64_t bytes;
    uint8_t copy_kind, from_kind, to_kind; /* of CUPTI: 1 host to device, 2 back, 8 within */
    const uint64_t *counts;                /* of CUDA_COUNTS */
};

struct cuda_observer {
    /* In the call that enqueues; is_launch: of a kernel. */
    uint64_t (*mark)(void *context, bool is_launch);
    /* Work of a stream was enqueued, which will be seen if it does not fail. */
    void (*enqueued)(uint32_t stream);
    /* In a thread of the stream, when the work has run and before anybody is told. */
    void (*seen)(const struct cuda_seen *seen);
};

/* NULL takes it away. The structure stays. */
void cuda_observe(const struct cuda_observer *observer);

/* The GPU of a context, and its ordinal; false for what is none. */
bool cuda_context_gpu(const void *context, uint32_t *out_gpu, int *out_ordinal);

/* Returns when everything that was enqueued in the context has run, though its time may go on. */
void cuda_context_drain(void *context);

/* The GPU of an ordinal of this process; false if cuInit was not called or there is none. */
bool cuda_ordinal_gpu(int ordinal, uint32_t *out_gpu);

#endif
