#ifndef ZETA_TESTS_KMD_XE_UAPI_H
#define ZETA_TESTS_KMD_XE_UAPI_H

/*
 * What xe and user space say to each other, as the emulated driver and its tests see it. Written
 * apart from the definitions of the plugin on purpose: two readings of one description check each
 * other. Source of each size, offset and number: the kernel's description of the interface of xe
 * (include/uapi/drm/xe_drm.h), as of 2026; all integers little-endian, u64 aligned to 8.
 */

#include <stddef.h>
#include <stdint.h>

/** Numbers of ioctls on the node. */
#define KMD_XE_DEVICE_QUERY 0xc0286440UL
#define KMD_XE_EXEC_QUEUE_CREATE 0xc0306446UL
#define KMD_XE_EXEC_QUEUE_DESTROY 0x40186447UL
#define KMD_XE_OBSERVATION 0x4020644bUL

/** Numbers of ioctls on a stream of observation. */
enum {
    KMD_XE_STREAM_ENABLE = 0x6900,
    KMD_XE_STREAM_DISABLE = 0x6901,
    KMD_XE_STREAM_CONFIG = 0x6902,
    KMD_XE_STREAM_STATUS = 0x6903,
    KMD_XE_STREAM_INFO = 0x6904
};

#define KMD_XE_LAYOUT(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#define KMD_XE_AT(type, member, offset)                                                            \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

/** One link of a chain. */
struct kmd_xe_extension {
    uint64_t next;
    uint32_t name; /**< 0: sets a property */
    uint32_t pad;
};
KMD_XE_LAYOUT(kmd_xe_extension, 16);

struct kmd_xe_set_property {
    struct kmd_xe_extension base;
    uint32_t property;
    uint32_t pad;
    uint64_t value;
    uint64_t reserved[2];
};
KMD_XE_LAYOUT(kmd_xe_set_property, 48);
KMD_XE_AT(kmd_xe_set_property, property, 16);
KMD_XE_AT(kmd_xe_set_property, value, 24);

enum { KMD_XE_TYPE_OA = 0, KMD_XE_TYPE_EU_STALL = 1 };
enum { KMD_XE_OP_STREAM_OPEN = 0, KMD_XE_OP_ADD_CONFIG = 1, KMD_XE_OP_REMOVE_CONFIG = 2 };

struct kmd_xe_observation_param {
    uint64_t extensions;
    uint64_t type;
    uint64_t op;
    uint64_t param;
};
KMD_XE_LAYOUT(kmd_xe_observation_param, 32);
KMD_XE_AT(kmd_xe_observation_param, param, 24);

struct kmd_xe_oa_config {
    uint64_t extensions;
    char uuid[36];
    uint32_t n_regs;
    uint64_t regs_ptr;
};
KMD_XE_LAYOUT(kmd_xe_oa_config, 56);
KMD_XE_AT(kmd_xe_oa_config, uuid, 8);
KMD_XE_AT(kmd_xe_oa_config, n_regs, 44);
KMD_XE_AT(kmd_xe_oa_config, regs_ptr, 48);

/** Answer of STATUS. */
struct kmd_xe_oa_status {
    uint64_t extensions;
    uint64_t status;
    uint64_t reserved[3];
};
KMD_XE_LAYOUT(kmd_xe_oa_status, 40);
KMD_XE_AT(kmd_xe_oa_status, status, 8);

enum {
    KMD_XE_STATUS_REPORT_LOST = 1,
    KMD_XE_STATUS_BUFFER_OVERFLOW = 2,
    KMD_XE_STATUS_COUNTER_OVERFLOW = 4,
    KMD_XE_STATUS_TRIGGER_QUEUE_FULL = 8
};

/** Answer of INFO. */
struct kmd_xe_oa_info {
    uint64_t extensions;
    uint64_t buffer_bytes;
    uint64_t reserved[3];
};
KMD_XE_LAYOUT(kmd_xe_oa_info, 40);
KMD_XE_AT(kmd_xe_oa_info, buffer_bytes, 8);

struct kmd_xe_sync {
    uint64_t extensions;
    uint32_t type;
    uint32_t flags;
    uint64_t address; /**< or a handle in its low half */
    uint64_t timeline_value;
    uint64_t reserved[2];
};
KMD_XE_LAYOUT(kmd_xe_sync, 48);
KMD_XE_AT(kmd_xe_sync, type, 8);
KMD_XE_AT(kmd_xe_sync, address, 16);

enum { KMD_XE_SYNC_OBJECT = 0, KMD_XE_SYNC_TIMELINE = 1, KMD_XE_SYNC_USER_FENCE = 2 };
enum { KMD_XE_SYNC_SIGNAL = 1, KMD_XE_MAX_SYNCS = 1024 };

/** Properties of an OA stream. */
enum {
    KMD_XE_OA_UNIT_ID = 1,
    KMD_XE_OA_SAMPLE = 2,
    KMD_XE_OA_METRIC_SET = 3,
    KMD_XE_OA_FORMAT = 4,
    KMD_XE_OA_EXPONENT = 5,
    KMD_XE_OA_DISABLED = 6,
    KMD_XE_OA_EXEC_QUEUE = 7,
    KMD_XE_OA_ENGINE_INSTANCE = 8,
    KMD_XE_OA_NO_PREEMPT = 9,
    KMD_XE_OA_NUM_SYNCS = 10,
    KMD_XE_OA_SYNCS = 11,
    KMD_XE_OA_BUFFER_SIZE = 12,
    KMD_XE_OA_WAIT_NUM_REPORTS = 13
};

/** Properties of an EU stall stream. */
enum {
    KMD_XE_EU_STALL_GT_ID = 1,
    KMD_XE_EU_STALL_SAMPLE_RATE = 2,
    KMD_XE_EU_STALL_WAIT_NUM_REPORTS = 3
};

/** What can be asked. */
enum {
    KMD_XE_QUERY_ENGINES = 0,
    KMD_XE_QUERY_MEM_REGIONS = 1,
    KMD_XE_QUERY_CONFIG = 2,
    KMD_XE_QUERY_GT_LIST = 3,
    KMD_XE_QUERY_HWCONFIG = 4,
    KMD_XE_QUERY_GT_TOPOLOGY = 5,
    KMD_XE_QUERY_ENGINE_CYCLES = 6,
    KMD_XE_QUERY_UC_FW_VERSION = 7,
    KMD_XE_QUERY_OA_UNITS = 8,
    KMD_XE_QUERY_PXP_STATUS = 9,
    KMD_XE_QUERY_EU_STALL = 10
};

struct kmd_xe_device_query {
    uint64_t extensions;
    uint32_t query;
    uint32_t size;
    uint64_t data;
    uint64_t reserved[2];
};
KMD_XE_LAYOUT(kmd_xe_device_query, 40);
KMD_XE_AT(kmd_xe_device_query, size, 12);
KMD_XE_AT(kmd_xe_device_query, data, 16);

enum {
    KMD_XE_RENDER = 0,
    KMD_XE_COPY = 1,
    KMD_XE_VIDEO_DECODE = 2,
    KMD_XE_VIDEO_ENHANCE = 3,
    KMD_XE_COMPUTE = 4,
    KMD_XE_CLASSES = 5
};

struct kmd_xe_engine {
    uint16_t engine_class, instance, gt_id, pad;
};
KMD_XE_LAYOUT(kmd_xe_engine, 8);

struct kmd_xe_engine_info {
    struct kmd_xe_engine engine;
    uint64_t reserved[3];
};
KMD_XE_LAYOUT(kmd_xe_engine_info, 32);

/** Begins the answers of ENGINES, CONFIG, GT_LIST and MEM_REGIONS. */
struct kmd_xe_count {
    uint32_t count;
    uint32_t pad;
};
KMD_XE_LAYOUT(kmd_xe_count, 8);

enum {
    KMD_XE_CONFIG_DEVICE = 0, /**< PCI id, revision << 16 */
    KMD_XE_CONFIG_FLAGS = 1,  /**< bit 0: has memory of its own */
    KMD_XE_CONFIG_ALIGNMENT = 2,
    KMD_XE_CONFIG_VA_BITS = 3,
    KMD_XE_CONFIG_PRIORITY = 4,
    KMD_XE_CONFIG_COUNT = 5
};

struct kmd_xe_gt {
    uint16_t type, tile_id, gt_id, pad[3];
    uint32_t reference_clock;
    uint64_t near_regions, far_regions;
    uint16_t ip_major, ip_minor, ip_revision, pad2;
    uint64_t reserved[7];
};
KMD_XE_LAYOUT(kmd_xe_gt, 96);
KMD_XE_AT(kmd_xe_gt, reference_clock, 12);
KMD_XE_AT(kmd_xe_gt, near_regions, 16);
KMD_XE_AT(kmd_xe_gt, ip_major, 32);
KMD_XE_AT(kmd_xe_gt, reserved, 40);

enum { KMD_XE_GT_MAIN = 0, KMD_XE_GT_MEDIA = 1 };

/** Begins an entry of GT_TOPOLOGY; the mask follows. */
struct kmd_xe_topology {
    uint16_t gt_id, type;
    uint32_t bytes;
};
KMD_XE_LAYOUT(kmd_xe_topology, 8);

enum {
    KMD_XE_DSS_GEOMETRY = 1,
    KMD_XE_DSS_COMPUTE = 2,
    KMD_XE_L3_BANK = 3,
    KMD_XE_EU_PER_DSS = 4,
    KMD_XE_SIMD16_EU_PER_DSS = 5
};

struct kmd_xe_engine_cycles {
    struct kmd_xe_engine engine;
    int32_t clockid;
    uint32_t width;
    uint64_t engine_cycles;
    uint64_t cpu_timestamp;
    uint64_t cpu_delta;
};
KMD_XE_LAYOUT(kmd_xe_engine_cycles, 40);
KMD_XE_AT(kmd_xe_engine_cycles, engine_cycles, 16);
KMD_XE_AT(kmd_xe_engine_cycles, cpu_delta, 32);

struct kmd_xe_region {
    uint16_t region_class, instance;
    uint32_t min_page_size;
    uint64_t total_bytes, used_bytes, visible_bytes, visible_used_bytes;
    uint64_t reserved[6];
};
KMD_XE_LAYOUT(kmd_xe_region, 88);
KMD_XE_AT(kmd_xe_region, total_bytes, 8);
KMD_XE_AT(kmd_xe_region, reserved, 40);

/** Begins the answer of OA_UNITS. */
struct kmd_xe_oa_units {
    uint64_t extensions;
    uint32_t count;
    uint32_t pad;
};
KMD_XE_LAYOUT(kmd_xe_oa_units, 16);

/** One unit; its engines follow. */
struct kmd_xe_oa_unit {
    uint64_t extensions;
    uint32_t id, type;
    uint64_t capabilities;
    uint64_t timestamp_hz;
    uint16_t gt_id, reserved1[3];
    uint64_t reserved[3];
    uint64_t num_engines;
};
KMD_XE_LAYOUT(kmd_xe_oa_unit, 72);
KMD_XE_AT(kmd_xe_oa_unit, capabilities, 16);
KMD_XE_AT(kmd_xe_oa_unit, gt_id, 32);
KMD_XE_AT(kmd_xe_oa_unit, num_engines, 64);

enum { KMD_XE_OAG = 0, KMD_XE_OAM = 1, KMD_XE_OAM_SAG = 2, KMD_XE_MERT = 3 };
enum {
    KMD_XE_CAP_BASE = 1,
    KMD_XE_CAP_SYNCS = 2,
    KMD_XE_CAP_BUFFER_SIZE = 4,
    KMD_XE_CAP_WAIT_NUM_REPORTS = 8,
    KMD_XE_CAP_OAM = 16,
    KMD_XE_CAP_UNIT_GT_ID = 32,
    KMD_XE_CAP_ALL = 63
};

/** Begins the answer of EU_STALL; the rates follow. */
struct kmd_xe_eu_stall {
    uint64_t extensions;
    uint64_t capabilities;
    uint64_t record_bytes;
    uint64_t buffer_bytes; /**< of one Xe core */
    uint64_t reserved[5];
    uint64_t num_rates;
};
KMD_XE_LAYOUT(kmd_xe_eu_stall, 80);
KMD_XE_AT(kmd_xe_eu_stall, num_rates, 72);

/** Argument of EXEC_QUEUE_DESTROY. */
struct kmd_xe_destroy {
    uint32_t id;
    uint32_t pad;
    uint64_t reserved[2];
};
KMD_XE_LAYOUT(kmd_xe_destroy, 24);

/** Argument of EXEC_QUEUE_CREATE. */
struct kmd_xe_exec_queue_create {
    uint64_t extensions;
    uint16_t width;          /**< engines that run one batch together */
    uint16_t num_placements; /**< that it may run on */
    uint32_t vm_id;
    uint32_t flags;
    uint32_t exec_queue_id; /**< out */
    uint64_t instances;     /**< of struct kmd_xe_engine, width x num_placements */
    uint64_t reserved[2];
};
KMD_XE_LAYOUT(kmd_xe_exec_queue_create, 48);

#undef KMD_XE_LAYOUT
#undef KMD_XE_AT

#endif
