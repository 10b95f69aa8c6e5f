/* What bench_stream and its backend agree on. */
#ifndef ZETA_TESTS_BENCH_STREAM_BACKEND_H
#define ZETA_TESTS_BENCH_STREAM_BACKEND_H

#include <stdint.h>

#define STREAM_RECORD_BYTES 256u
#define STREAM_RING_BYTES (16u << 20)

/** The ring, which the benchmark fills and copies from itself for comparison. */
extern uint8_t stream_backend_ring[STREAM_RING_BYTES];

#endif
