#ifndef ZETA_TESTS_CUDA_CUPTI_RECORDS_H
#define ZETA_TESTS_CUDA_CUPTI_RECORDS_H

/*
 * Activity records of CUPTI 13.0 as far as they are written, declared anew; `rest` brings them to
 * the vendor's size. cuda.layout compares them with the headers.
 */

#include <stddef.h>
#include <stdint.h>

enum record_kind {
    RECORD_MEMCPY = 1,
    RECORD_MEMSET = 2,
    RECORD_KERNEL = 3,
    RECORD_DRIVER = 4,
    RECORD_RUNTIME = 5,
    RECORD_CONCURRENT_KERNEL = 10,
    RECORD_SYNCHRONIZATION = 38,
    RECORD_KINDS = 64
};

struct kernel_record {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t partitioned_requested, partitioned_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t rest[80];
};

struct memcpy_record {
    uint32_t kind;
    uint8_t copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint8_t rest[48];
};

struct memset_record {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint8_t rest[40];
};

struct synchronization_record {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint8_t rest[16];
};

typedef void (*activity_request)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*activity_complete)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                  size_t valid);

#define CUPTI_ACTIVITY_API(FUNCTION)                                                               \
    FUNCTION(cuptiActivityRegisterCallbacks,                                                       \
             (activity_request request, activity_complete complete))                               \
    FUNCTION(cuptiActivitySetAttribute, (int attribute, size_t *bytes, void *value))               \
    FUNCTION(cuptiActivityEnable, (int kind))                                                      \
    FUNCTION(cuptiActivityDisable, (int kind))                                                     \
    FUNCTION(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))          \
    FUNCTION(cuptiActivityFlushAll, (uint32_t flag))                                               \
    FUNCTION(cuptiActivityFlushPeriod, (uint32_t ms))                                              \
    FUNCTION(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *out))

#endif
