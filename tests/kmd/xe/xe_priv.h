#ifndef ZETA_TESTS_KMD_XE_PRIV_H
#define ZETA_TESTS_KMD_XE_PRIV_H

/* What the files of the emulated xe share. All run under the lock of the GPU (dispatch.c). */

#include "tests/kmd/machine/kmd_priv.h"
#include "xe_uapi.h"

enum {
    KMD_XE_CORE_BYTES = 16, /**< of a mask of Xe cores in GT_TOPOLOGY */
    KMD_XE_CORES = KMD_XE_CORE_BYTES * 8,
    KMD_XE_STALL_RATES = 7,    /**< multiples of KMD_XE_STALL_CYCLES */
    KMD_XE_STALL_CYCLES = 251, /**< of the core clock */
    KMD_XE_STALL_RECORD_BYTES = 64,
    KMD_XE_STALL_BUFFER_BYTES = 524288, /**< of each Xe core */
    KMD_XE_POLL_NS = 5000000            /**< the driver's timer looks 200 times in a second */
};

/* ------------------------------------------------------------------------------------------------
 * xe_gpu.c: GTs, units and engines
 * --------------------------------------------------------------------------------------------- */

/** One GT. */
struct kmd_xe_gt_info {
    uint16_t type, tile, id;
    uint32_t ip; /**< version x 100 */
};

/** Fills units and engines; for struct kmd_driver. */
void kmd_xe_start(struct kmd_gpu *gpu);
/** GTs of all tiles, in the order of their ids. */
uint32_t kmd_xe_gt_count(const struct kmd_gpu *gpu);
/** Describes the GT with this id; false if there is none. */
bool kmd_xe_gt(const struct kmd_gpu *gpu, uint64_t id, struct kmd_xe_gt_info *out_gt);
/** Mask of the Xe cores of a main GT: bit slice x places per slice + n. */
void kmd_xe_cores(const struct kmd_gpu *gpu, uint8_t out_mask[KMD_XE_CORE_BYTES]);
/** The OA unit with this id, NULL if there is none. */
struct kmd_unit *kmd_xe_unit(struct kmd_gpu *gpu, uint64_t id);
/** The engine, NULL if there is none. */
const struct kmd_engine *kmd_xe_engine(const struct kmd_gpu *gpu, uint64_t class, uint64_t instance,
                                       uint64_t gt);
/** Capabilities of OA units. */
uint32_t kmd_xe_capabilities(const struct kmd_gpu *gpu);
/** Whether EU stalls can be sampled. */
bool kmd_xe_samples_stalls(const struct kmd_gpu *gpu);

/* ------------------------------------------------------------------------------------------------
 * xe_query.c, xe_cycles.c: DEVICE_QUERY
 * --------------------------------------------------------------------------------------------- */

/** Room for the longest answer. */
struct kmd_xe_answer {
    uint32_t bytes;
    uint64_t data[2048];
};

/**
 * What DEVICE_QUERY answers, but for ENGINE_CYCLES. 0, -EINVAL for what is unknown, -ENODEV for
 * what this GPU lacks. A function of the GPU's description alone.
 */
int kmd_xe_answer(const struct kmd_gpu *gpu, uint32_t query, struct kmd_xe_answer *out_answer);
/** The ioctl, with all its checks. */
long kmd_xe_device_query(struct kmd_gpu *gpu, uint64_t argument);

/* ------------------------------------------------------------------------------------------------
 * xe_chain.c: properties
 * --------------------------------------------------------------------------------------------- */

/** Takes one property of a chain: 0, or a negative errno that ends the walk. */
typedef int (*kmd_xe_property_fn)(void *context, uint32_t property, uint64_t value);

/**
 * Walks a chain of struct kmd_xe_set_property in memory of the program: -E2BIG after max links,
 * -EFAULT, -EINVAL for a link of another kind, or what `take` answers.
 */
int kmd_xe_chain(uint64_t first, uint32_t max, kmd_xe_property_fn take, void *context);

/* ------------------------------------------------------------------------------------------------
 * xe_sync.c: fences
 * --------------------------------------------------------------------------------------------- */

/** Checks `count` fences; *out_signal: whether one of them is to be signalled. 0 or an errno. */
int kmd_xe_syncs_check(uint64_t syncs, uint64_t count, bool *out_signal);
/** Signals those that are to be signalled. */
void kmd_xe_syncs_signal(uint64_t syncs, uint64_t count);

/* ------------------------------------------------------------------------------------------------
 * xe_queue.c: exec queues, as far as streams refer to them
 * --------------------------------------------------------------------------------------------- */

struct kmd_xe_queue {
    uint16_t engine_class, gt;
    uint32_t width;
};
long kmd_xe_queue_create(struct kmd_gpu *gpu, uint64_t argument);
long kmd_xe_queue_destroy(struct kmd_gpu *gpu, uint64_t argument);
/** False if there is no queue with this id. */
bool kmd_xe_queue(const struct kmd_gpu *gpu, uint64_t id, struct kmd_xe_queue *out_queue);

/* ------------------------------------------------------------------------------------------------
 * Streams
 * --------------------------------------------------------------------------------------------- */

/** Words of struct kmd_stream.driver in an OA stream. */
enum kmd_xe_oa_word {
    KMD_XE_OA_IS_SAMPLING, /**< SAMPLE_OA */
    KMD_XE_OA_WAIT,        /**< WAIT_NUM_REPORTS */
    KMD_XE_OA_STATUS,      /**< bits that the last read found */
    KMD_XE_OA_TAKEN,       /**< reports that were read since it was enabled */
    KMD_XE_OA_IS_MAPPED,   /**< the program has the ring in its memory */
    KMD_XE_OA_MAPPED_TICK, /**< it shows the reports up to this time */
    KMD_XE_OA_MAPPED_COUNT /**< and that many since the stream was enabled */
};

/** xe_config.c. */
long kmd_xe_config_add(struct kmd_gpu *gpu, uint64_t param);
long kmd_xe_config_remove(struct kmd_gpu *gpu, uint64_t param);

/** xe_oa.c: what the properties of an OA stream say. */
struct kmd_xe_oa_request {
    struct kmd_gpu *gpu;
    bool is_config;        /**< of the ioctl CONFIG, not of opening */
    struct kmd_unit *unit; /**< NULL: not said */
    bool samples, is_disabled, no_preempt, has_exponent;
    uint32_t exponent;
    uint64_t metric_set, queue, engine_instance;
    const struct kmd_format *format; /**< NULL: not said */
    uint64_t num_syncs, syncs;
    uint64_t buffer_bytes; /**< 0: not said */
    uint64_t wait_reports; /**< 0: not said */
};
/** Reads the chain of OA properties. */
int kmd_xe_oa_read_request(struct kmd_gpu *gpu, uint64_t chain, bool is_config,
                           struct kmd_xe_oa_request *out_request);
long kmd_xe_oa_open(struct kmd_call *call, uint64_t param);

/** xe_oa_stream.c. */
long kmd_xe_oa_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument);
ssize_t kmd_xe_oa_read(struct kmd_call *call, uint64_t buffer, size_t bytes);
bool kmd_xe_oa_look(struct kmd_gpu *gpu, struct kmd_unit *unit);

/** xe_mapping.c: the ring in memory of the program. Brings it up to the tail. */
void kmd_xe_mapping_update(struct kmd_gpu *gpu, struct kmd_unit *unit);
/** Tells it that so many more reports were read: their ids and times become 0. */
void kmd_xe_mapping_taken(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t count);
/** Empties it, when the stream is enabled. */
void kmd_xe_mapping_restart(struct kmd_unit *unit);
int kmd_xe_oa_mmap(struct kmd_call *call, void *address, size_t bytes, int protection, int flags,
                   int64_t offset, void **out_address);

/** Words of struct kmd_stream.driver in an EU stall stream. */
enum kmd_xe_stall_word {
    KMD_XE_STALL_WAIT,    /**< WAIT_NUM_REPORTS */
    KMD_XE_STALL_PERIOD,  /**< cycles of the core clock between two samples */
    KMD_XE_STALL_SEEN_NS, /**< the buffers are as of this time */
    KMD_XE_STALL_REST,    /**< cycles until then that did not complete a record */
    KMD_XE_STALL_DROP,    /**< enum kmd_xe_drop */
    KMD_XE_STALL_BUFFERS  /**< first of the words for buffers, one for each core */
};

/** What became of the news that records were dropped. */
enum kmd_xe_drop { KMD_XE_DROP_NONE, KMD_XE_DROP_NEW, KMD_XE_DROP_TOLD };

/** xe_stall_buffer.c: empties the buffers of the cores; they fill from now on. */
void kmd_xe_stall_start(struct kmd_unit *unit);
/** Brings the buffers up to now. A record that finds no room sets KMD_XE_STALL_DROP. */
void kmd_xe_stall_update(struct kmd_gpu *gpu, struct kmd_unit *unit);
/** Records in the buffers of all cores. */
uint64_t kmd_xe_stall_available(const struct kmd_unit *unit);
/** Takes at most max records, core by core; how many. */
uint32_t kmd_xe_stall_take(struct kmd_gpu *gpu, struct kmd_unit *unit, uint8_t *out, uint32_t max);

/** xe_stall.c: the streams. */
long kmd_xe_stall_open(struct kmd_call *call, uint64_t param);
long kmd_xe_stall_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument);
ssize_t kmd_xe_stall_read(struct kmd_call *call, uint64_t buffer, size_t bytes);
bool kmd_xe_stall_look(struct kmd_gpu *gpu, struct kmd_unit *unit);

#endif
