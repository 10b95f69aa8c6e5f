#ifndef ZETA_PLUGINS_INTEL_KMD_XE_UAPI_H
#define ZETA_PLUGINS_INTEL_KMD_XE_UAPI_H

/*
 * The part of the interface of the xe driver that the plugin uses. Distributions of 2023 have no
 * header for it, so it is defined here, under names that do not clash with a real <xe_drm.h>.
 *
 * Source: include/uapi/drm/xe_drm.h of the Linux kernel (DRM_XE_DEVICE_QUERY since 6.8,
 * DRM_XE_OBSERVATION since 6.11, EU stall sampling since 6.15), whose layout only grows. Integers
 * are those of the machine, which is little-endian wherever the driver runs. Every struct ends with
 * asserts of its size and of the places of its members.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/ioctl.h>

#define ZETA_XE_SIZE(type, bytes)                                                                  \
    static_assert(sizeof(struct type) == (bytes), "size of struct " #type)
#define ZETA_XE_AT(type, member, bytes)                                                            \
    static_assert(offsetof(struct type, member) == (bytes), "place of " #type "." #member)

/* ---- Questions about the device ----------------------------------------------------------- */

enum {
    ZETA_XE_QUERY_ENGINES = 0,
    ZETA_XE_QUERY_MEM_REGIONS = 1,
    ZETA_XE_QUERY_CONFIG = 2,
    ZETA_XE_QUERY_GT_LIST = 3,
    ZETA_XE_QUERY_GT_TOPOLOGY = 5,
    ZETA_XE_QUERY_ENGINE_CYCLES = 6,
    ZETA_XE_QUERY_OA_UNITS = 8,
    ZETA_XE_QUERY_EU_STALL = 10
};

/**
 * Argument of ZETA_XE_DEVICE_QUERY (drm_xe_device_query). With size 0 the kernel writes the size of
 * the answer; any other size than exactly that is EINVAL.
 */
struct zeta_xe_device_query {
    uint64_t extensions; /**< 0 */
    uint32_t query;
    uint32_t size;
    uint64_t data;        /**< address of the room for the answer */
    uint64_t reserved[2]; /**< 0 */
};
ZETA_XE_SIZE(zeta_xe_device_query, 40);
ZETA_XE_AT(zeta_xe_device_query, query, 8);
ZETA_XE_AT(zeta_xe_device_query, size, 12);
ZETA_XE_AT(zeta_xe_device_query, data, 16);

/** An engine by its place (drm_xe_engine_class_instance). */
struct zeta_xe_engine_class_instance {
    uint16_t engine_class; /**< ZETA_XE_ENGINE_* */
    uint16_t engine_instance;
    uint16_t gt_id;
    uint16_t pad;
};
ZETA_XE_SIZE(zeta_xe_engine_class_instance, 8);
ZETA_XE_AT(zeta_xe_engine_class_instance, engine_instance, 2);
ZETA_XE_AT(zeta_xe_engine_class_instance, gt_id, 4);

enum {
    ZETA_XE_ENGINE_RENDER = 0,
    ZETA_XE_ENGINE_COPY = 1,
    ZETA_XE_ENGINE_VIDEO_DECODE = 2,
    ZETA_XE_ENGINE_VIDEO_ENHANCE = 3,
    ZETA_XE_ENGINE_COMPUTE = 4
};

/** One element of the answer to ENGINES (drm_xe_engine). */
struct zeta_xe_engine {
    struct zeta_xe_engine_class_instance instance;
    uint64_t reserved[3];
};
ZETA_XE_SIZE(zeta_xe_engine, 32);

/** Begin of the answers ENGINES, MEM_REGIONS, CONFIG and GT_LIST; their elements follow at 8. */
struct zeta_xe_list {
    uint32_t count;
    uint32_t pad;
};
ZETA_XE_SIZE(zeta_xe_list, 8);

/** Numbers of the answer to CONFIG (drm_xe_query_config), each a uint64_t. */
enum {
    ZETA_XE_CONFIG_REV_AND_DEVICE_ID = 0 /**< PCI device id, revision from bit 16 on */
};

/** One GT, that is: one block of engines (drm_xe_gt). */
struct zeta_xe_gt {
    uint16_t type; /**< ZETA_XE_GT_* */
    uint16_t tile_id;
    uint16_t gt_id;
    uint16_t pad[3];
    uint32_t reference_clock;  /**< Hz, of the command streamers' time stamps */
    uint64_t near_mem_regions; /**< bit n: the region with instance n */
    uint64_t far_mem_regions;
    uint16_t ip_ver_major, ip_ver_minor, ip_ver_rev;
    uint16_t pad2;
    uint64_t reserved[7];
};
ZETA_XE_SIZE(zeta_xe_gt, 96);
ZETA_XE_AT(zeta_xe_gt, tile_id, 2);
ZETA_XE_AT(zeta_xe_gt, gt_id, 4);
ZETA_XE_AT(zeta_xe_gt, reference_clock, 12);
ZETA_XE_AT(zeta_xe_gt, near_mem_regions, 16);
ZETA_XE_AT(zeta_xe_gt, far_mem_regions, 24);
ZETA_XE_AT(zeta_xe_gt, ip_ver_major, 32);
ZETA_XE_AT(zeta_xe_gt, ip_ver_minor, 34);
ZETA_XE_AT(zeta_xe_gt, ip_ver_rev, 36);

enum { ZETA_XE_GT_MAIN = 0, ZETA_XE_GT_MEDIA = 1 };

/** Begin of one mask of the answer to GT_TOPOLOGY (drm_xe_query_topology_mask); bytes follow. */
struct zeta_xe_topology_mask {
    uint16_t gt_id;
    uint16_t type; /**< ZETA_XE_TOPO_* */
    uint32_t num_bytes;
};
ZETA_XE_SIZE(zeta_xe_topology_mask, 8);
ZETA_XE_AT(zeta_xe_topology_mask, type, 2);
ZETA_XE_AT(zeta_xe_topology_mask, num_bytes, 4);

enum {
    ZETA_XE_TOPO_DSS_GEOMETRY = 1,
    ZETA_XE_TOPO_DSS_COMPUTE = 2,
    ZETA_XE_TOPO_L3_BANK = 3,
    ZETA_XE_TOPO_EU_PER_DSS = 4,
    ZETA_XE_TOPO_SIMD16_EU_PER_DSS = 5
};

/** Question and answer of ENGINE_CYCLES (drm_xe_query_engine_cycles). */
struct zeta_xe_engine_cycles {
    struct zeta_xe_engine_class_instance eci; /**< in */
    int32_t clockid;                          /**< in: CLOCK_MONOTONIC_RAW, ... */
    uint32_t width;                           /**< out: bits that engine_cycles has */
    uint64_t engine_cycles;                   /**< out: ticks of the GT's reference clock */
    uint64_t cpu_timestamp;                   /**< out: ns, before the ticks were read */
    uint64_t cpu_delta;                       /**< out: ns that the reading took */
};
ZETA_XE_SIZE(zeta_xe_engine_cycles, 40);
ZETA_XE_AT(zeta_xe_engine_cycles, clockid, 8);
ZETA_XE_AT(zeta_xe_engine_cycles, width, 12);
ZETA_XE_AT(zeta_xe_engine_cycles, engine_cycles, 16);
ZETA_XE_AT(zeta_xe_engine_cycles, cpu_timestamp, 24);
ZETA_XE_AT(zeta_xe_engine_cycles, cpu_delta, 32);

/** One memory (drm_xe_mem_region). */
struct zeta_xe_mem_region {
    uint16_t mem_class; /**< ZETA_XE_MEM_* */
    uint16_t instance;
    uint32_t min_page_size;
    uint64_t total_size;
    uint64_t used;
    uint64_t cpu_visible_size;
    uint64_t cpu_visible_used;
    uint64_t reserved[6];
};
ZETA_XE_SIZE(zeta_xe_mem_region, 88);
ZETA_XE_AT(zeta_xe_mem_region, instance, 2);
ZETA_XE_AT(zeta_xe_mem_region, min_page_size, 4);
ZETA_XE_AT(zeta_xe_mem_region, total_size, 8);
ZETA_XE_AT(zeta_xe_mem_region, used, 16);
ZETA_XE_AT(zeta_xe_mem_region, cpu_visible_size, 24);

enum { ZETA_XE_MEM_VRAM = 1 };

/** Begin of the answer to OA_UNITS (drm_xe_query_oa_units); units follow, of different size. */
struct zeta_xe_oa_units {
    uint64_t extensions;
    uint32_t num_oa_units;
    uint32_t pad;
};
ZETA_XE_SIZE(zeta_xe_oa_units, 16);
ZETA_XE_AT(zeta_xe_oa_units, num_oa_units, 8);

/** Begin of one unit (drm_xe_oa_unit); num_engines engines by place follow. */
struct zeta_xe_oa_unit {
    uint64_t extensions;
    uint32_t oa_unit_id;
    uint32_t oa_unit_type; /**< ZETA_XE_OA_UNIT_* */
    uint64_t capabilities; /**< ZETA_XE_OA_CAPS_* */
    uint64_t oa_timestamp_freq;
    uint16_t gt_id; /**< only with ZETA_XE_OA_CAPS_OA_UNIT_GT_ID */
    uint16_t reserved1[3];
    uint64_t reserved[3];
    uint64_t num_engines;
};
ZETA_XE_SIZE(zeta_xe_oa_unit, 72);
ZETA_XE_AT(zeta_xe_oa_unit, oa_unit_id, 8);
ZETA_XE_AT(zeta_xe_oa_unit, oa_unit_type, 12);
ZETA_XE_AT(zeta_xe_oa_unit, capabilities, 16);
ZETA_XE_AT(zeta_xe_oa_unit, oa_timestamp_freq, 24);
ZETA_XE_AT(zeta_xe_oa_unit, gt_id, 32);
ZETA_XE_AT(zeta_xe_oa_unit, num_engines, 64);

enum {
    ZETA_XE_OA_UNIT_OAG = 0,
    ZETA_XE_OA_UNIT_OAM = 1,
    ZETA_XE_OA_UNIT_OAM_SAG = 2,
    ZETA_XE_OA_UNIT_MERT = 3
};

enum {
    ZETA_XE_OA_CAPS_BASE = 1 << 0,
    ZETA_XE_OA_CAPS_OA_BUFFER_SIZE = 1 << 2,
    ZETA_XE_OA_CAPS_WAIT_NUM_REPORTS = 1 << 3,
    ZETA_XE_OA_CAPS_OAM = 1 << 4, /**< media units can be used; older kernels only list them */
    ZETA_XE_OA_CAPS_OA_UNIT_GT_ID = 1 << 5
};

/** Begin of the answer to EU_STALL (drm_xe_query_eu_stall); num_sampling_rates uint64_t follow. */
struct zeta_xe_eu_stall {
    uint64_t extensions;
    uint64_t capabilities; /**< ZETA_XE_EU_STALL_CAPS_* */
    uint64_t record_size;
    uint64_t per_xecore_buf_size;
    uint64_t reserved[5];
    uint64_t num_sampling_rates;
};
ZETA_XE_SIZE(zeta_xe_eu_stall, 80);
ZETA_XE_AT(zeta_xe_eu_stall, capabilities, 8);
ZETA_XE_AT(zeta_xe_eu_stall, record_size, 16);
ZETA_XE_AT(zeta_xe_eu_stall, per_xecore_buf_size, 24);
ZETA_XE_AT(zeta_xe_eu_stall, num_sampling_rates, 72);

enum { ZETA_XE_EU_STALL_CAPS_BASE = 1 << 0 };

/* ---- Observation -------------------------------------------------------------------------- */

/** Argument of ZETA_XE_OBSERVATION (drm_xe_observation_param). */
struct zeta_xe_observation {
    uint64_t extensions; /**< 0 */
    uint64_t type;       /**< ZETA_XE_OBSERVATION_* */
    uint64_t op;         /**< ZETA_XE_OP_* */
    uint64_t param;      /**< address of what the operation takes */
};
ZETA_XE_SIZE(zeta_xe_observation, 32);
ZETA_XE_AT(zeta_xe_observation, type, 8);
ZETA_XE_AT(zeta_xe_observation, op, 16);
ZETA_XE_AT(zeta_xe_observation, param, 24);

enum { ZETA_XE_OBSERVATION_OA = 0, ZETA_XE_OBSERVATION_EU_STALL = 1 };
enum { ZETA_XE_OP_STREAM_OPEN = 0, ZETA_XE_OP_ADD_CONFIG = 1, ZETA_XE_OP_REMOVE_CONFIG = 2 };

/** One property of a stream and the address of the next (drm_xe_ext_set_property). */
struct zeta_xe_property {
    uint64_t next; /**< address of the next property, 0: the last */
    uint32_t name; /**< 0: "set a property" */
    uint32_t pad;
    uint32_t property;
    uint32_t pad2;
    uint64_t value;
    uint64_t reserved[2];
};
ZETA_XE_SIZE(zeta_xe_property, 48);
ZETA_XE_AT(zeta_xe_property, name, 8);
ZETA_XE_AT(zeta_xe_property, property, 16);
ZETA_XE_AT(zeta_xe_property, value, 24);

/** Properties of OA streams. */
enum {
    ZETA_XE_OA_UNIT_ID = 1,
    ZETA_XE_OA_SAMPLE = 2,
    ZETA_XE_OA_METRIC_SET = 3,
    ZETA_XE_OA_FORMAT = 4, /**< type, counter select << 8, counter size << 16, bc report << 24 */
    ZETA_XE_OA_PERIOD_EXPONENT = 5,
    ZETA_XE_OA_BUFFER_SIZE = 12,     /**< a power of two, 128 KiB to 128 MiB */
    ZETA_XE_OA_WAIT_NUM_REPORTS = 13 /**< at least 1, and no more than the buffer holds */
};

/** Properties of EU stall streams. */
enum {
    ZETA_XE_STALL_GT_ID = 1,
    ZETA_XE_STALL_SAMPLE_RATE = 2, /**< cycles; one of the rates of EU_STALL */
    ZETA_XE_STALL_WAIT_NUM_REPORTS = 3
};

/** A configuration: registers under a name (drm_xe_oa_config). */
struct zeta_xe_oa_config {
    uint64_t extensions; /**< 0 */
    char uuid[36];       /**< in lower case, without a terminator */
    uint32_t n_regs;
    uint64_t regs_ptr; /**< address of pairs of uint32_t: address and value */
};
ZETA_XE_SIZE(zeta_xe_oa_config, 56);
ZETA_XE_AT(zeta_xe_oa_config, uuid, 8);
ZETA_XE_AT(zeta_xe_oa_config, n_regs, 44);
ZETA_XE_AT(zeta_xe_oa_config, regs_ptr, 48);

/** Why a read of an OA stream gave EIO (drm_xe_oa_stream_status). */
struct zeta_xe_oa_status {
    uint64_t extensions;
    uint64_t oa_status; /**< ZETA_XE_OA_STATUS_* */
    uint64_t reserved[3];
};
ZETA_XE_SIZE(zeta_xe_oa_status, 40);
ZETA_XE_AT(zeta_xe_oa_status, oa_status, 8);

enum {
    ZETA_XE_OA_STATUS_REPORT_LOST = 1 << 0,
    ZETA_XE_OA_STATUS_BUFFER_OVERFLOW = 1 << 1,
    ZETA_XE_OA_STATUS_COUNTER_OVERFLOW = 1 << 2,
    ZETA_XE_OA_STATUS_MMIO_TRG_Q_FULL = 1 << 3
};

/** What the kernel gave to an OA stream (drm_xe_oa_stream_info). */
struct zeta_xe_oa_info {
    uint64_t extensions;
    uint64_t oa_buf_size;
    uint64_t reserved[3];
};
ZETA_XE_SIZE(zeta_xe_oa_info, 40);
ZETA_XE_AT(zeta_xe_oa_info, oa_buf_size, 8);

/* ---- Numbers of the ioctls ---------------------------------------------------------------- */

#define ZETA_XE_DEVICE_QUERY _IOWR('d', 0x40, struct zeta_xe_device_query)
#define ZETA_XE_OBSERVATION _IOW('d', 0x4b, struct zeta_xe_observation)
static_assert(ZETA_XE_DEVICE_QUERY == 0xc0286440, "number of DRM_IOCTL_XE_DEVICE_QUERY");
static_assert(ZETA_XE_OBSERVATION == 0x4020644b, "number of DRM_IOCTL_XE_OBSERVATION");

/* Of the descriptors of streams; the argument is an address, though the numbers do not say so. */
#define ZETA_XE_STREAM_ENABLE _IO('i', 0x0)
#define ZETA_XE_STREAM_STATUS _IO('i', 0x3)
#define ZETA_XE_STREAM_INFO _IO('i', 0x4)
static_assert(ZETA_XE_STREAM_ENABLE == 0x6900, "number of DRM_XE_OBSERVATION_IOCTL_ENABLE");
static_assert(ZETA_XE_STREAM_STATUS == 0x6903, "number of DRM_XE_OBSERVATION_IOCTL_STATUS");
static_assert(ZETA_XE_STREAM_INFO == 0x6904, "number of DRM_XE_OBSERVATION_IOCTL_INFO");

#endif
