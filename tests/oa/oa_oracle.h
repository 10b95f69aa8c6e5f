/*
 * libi915_perf of igt-gpu-tools as an oracle: its functions calculate the same metrics from the
 * same reports. It evaluates on any machine; no GPU is involved.
 *
 * The library has no stable layout: what is known here is that of release 1.27 (soname 1.5), and
 * oa_oracle_load() refuses others.
 */
#ifndef ZETA_TESTS_OA_OA_ORACLE_H
#define ZETA_TESTS_OA_OA_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define OA_ORACLE_DELTAS 64u
#define OA_ORACLE_RECORD_HEADER 8u

struct oa_oracle_device; /* the library's `perf`: a device's description and its sets */
struct oa_oracle_set;
struct oa_oracle_counter;

/** Differences of two reports, as the library numbers them. */
struct oa_oracle_deltas {
    uint64_t deltas[OA_ORACLE_DELTAS];
};

/** What the kernel would tell about a device. Bit n of subslices[s]: subslice n of slice s. */
struct oa_oracle_shape {
    uint32_t device_id, revision;
    uint64_t timestamp_hz, min_hz, max_hz;
    uint32_t slices, subslice_count, eu_count; /**< at most, of each */
    uint32_t subslices[8];
};

/** Opens the library. NULL, or a sentence why it cannot be used. Once per process. */
const char *oa_oracle_load(void);

/** The device with its sets; NULL if the library does not know its id. */
struct oa_oracle_device *oa_oracle_open(const struct oa_oracle_shape *shape);
void oa_oracle_close(struct oa_oracle_device *device);

/**
 * Tells the library which slices there are, and which cores in each, as the shape has them: it
 * reads these masks and never fills them. Its sets of that platform are loaded anew.
 */
void oa_oracle_fill(struct oa_oracle_device *device, const char *platform, const uint8_t cores[8]);

uint64_t oa_oracle_eus(const struct oa_oracle_device *device);
uint64_t oa_oracle_threads(const struct oa_oracle_device *device);

/** The set whose program has that uuid; NULL if there is none. */
const struct oa_oracle_set *oa_oracle_find(const struct oa_oracle_device *device, const char *uuid);

/** Sets one after the other: the first behind NULL, NULL behind the last. */
const struct oa_oracle_set *oa_oracle_next(const struct oa_oracle_device *device,
                                           const struct oa_oracle_set *set);
const char *oa_oracle_set_name(const struct oa_oracle_set *set);
const char *oa_oracle_set_uuid(const struct oa_oracle_set *set);

uint32_t oa_oracle_counter_count(const struct oa_oracle_set *set);
const struct oa_oracle_counter *oa_oracle_counter(const struct oa_oracle_set *set, uint32_t index);
const char *oa_oracle_counter_name(const struct oa_oracle_counter *counter);

/** Register writes of a set in the order mux, boolean, flexible EU counters. */
uint32_t oa_oracle_register_count(const struct oa_oracle_set *set);
void oa_oracle_register(const struct oa_oracle_set *set, uint32_t index, uint32_t *out_address,
                        uint32_t *out_value);

/** Differences of two records: a report behind a header of OA_ORACLE_RECORD_HEADER bytes. */
void oa_oracle_accumulate(const struct oa_oracle_device *device, const struct oa_oracle_set *set,
                          const unsigned char *earlier, const unsigned char *later,
                          struct oa_oracle_deltas *out_deltas);

/** A value or a maximum: an integer, or a double that is not rounded to f32. */
struct oa_oracle_value {
    bool is_float;
    uint64_t u;
    double f;
};

struct oa_oracle_value oa_oracle_read(const struct oa_oracle_device *device,
                                      const struct oa_oracle_set *set,
                                      const struct oa_oracle_counter *counter,
                                      struct oa_oracle_deltas *deltas);

/** The function behind a counter, for who calls it so often that a step between would count. */
struct oa_oracle_function {
    uint64_t (*u64)(const void *device, const void *set, uint64_t *deltas); /**< NULL: f64 */
    double (*f64)(const void *device, const void *set, uint64_t *deltas);
};
struct oa_oracle_function oa_oracle_function(const struct oa_oracle_counter *counter);

/** False if the counter has no maximum. */
bool oa_oracle_maximum(const struct oa_oracle_device *device, const struct oa_oracle_set *set,
                       const struct oa_oracle_counter *counter, struct oa_oracle_deltas *deltas,
                       struct oa_oracle_value *out_value);

/** First reason of a report, in the library's word. */
const char *oa_oracle_reason(const struct oa_oracle_device *device, const unsigned char *record);

#endif
