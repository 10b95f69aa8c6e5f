#ifndef ZETA_TESTS_KMD_KMD_PRIV_H
#define ZETA_TESTS_KMD_KMD_PRIV_H

/*
 * What the files of the emulated kernel share: the machine in shared memory, the table that each
 * driver fills, and the engine that makes reports.
 *
 * The way of a call: interpose*.c takes it from the program and finds out whether it concerns the
 * machine; dispatch.c finds the GPU or the stream behind a descriptor, takes the GPU's lock and
 * calls the driver (i915*.c, xe*.c), which uses ring.c for reports.
 *
 * Functions that can fail answer as a kernel does: 0 or more, or a negative errno.
 *
 * Descriptors have no table. A node is a file of the tree and a stream is a FIFO of the machine's
 * folder, both known by their inode; so dup, fork, exec and passing work as they do natively. The
 * descriptor of a stream holds a lock on its FIFO (flock), which the kernel takes back when the
 * last copy in the last process is closed: then the unit is free.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/kmd/kmd.h"

enum {
    KMD_UNITS = 24,     /**< of one GPU, EU stall sampling included */
    KMD_ENGINES = 32,   /**< of one GPU */
    KMD_CONFIGS = 2048, /**< of one GPU at a time */
    KMD_IDLES = 32,     /**< times of sleep that are remembered; older ones count as awake */
    KMD_HOLES = 8,      /**< of one stream, between reports that nobody took; older ones close */
    KMD_CLASSES = 5,    /**< of engines: render, copy, video, video enhance, compute */
    KMD_PRIVATE = 96    /**< words that a driver has for itself */
};

/* ------------------------------------------------------------------------------------------------
 * Platforms: constants
 * --------------------------------------------------------------------------------------------- */

/** A preset. Facts of public descriptions, but for counts of a part that was picked. */
struct kmd_platform {
    const char *name;   /**< "tgl-gt2" */
    const char *driver; /**< "i915" or "xe": the usual one */
    uint32_t graphics;  /**< version x 100 of the graphics IP: 750, 1200, 1255, 2004 */
    uint32_t media;     /**< of a standalone media GT, 0: none */
    uint32_t pci_id, revision;
    uint32_t max_slices, max_subslices, max_eus; /**< shape that i915 reports, per slice/subslice */
    uint32_t slices, subslices, eus; /**< fused, from the first on, per slice/subslice */
    uint32_t min_mhz, max_mhz;
    uint32_t oa_hz, cs_hz;
    uint32_t i915_formats;         /**< bit n: format id n */
    uint32_t tiles;                /**< 1 or 2 */
    uint32_t engines[KMD_CLASSES]; /**< per tile, that the kernel shows */
    uint32_t oam_units;            /**< xe: OAM units of the media GT (without SAG) */
    bool has_sag;                  /**< xe: an OAM_SAG unit */
    bool has_eu_stall;             /**< xe */
    uint32_t l3_banks;             /**< per tile */
    uint64_t vram_bytes;           /**< per tile, 0: integrated */
};

extern const struct kmd_platform kmd_platform_table[];
/** The preset of that name, NULL if there is none. */
const struct kmd_platform *kmd_platform_find(const char *name);

/* ------------------------------------------------------------------------------------------------
 * Formats of reports
 * --------------------------------------------------------------------------------------------- */

/** How a run of counters is stored. */
enum kmd_width {
    KMD_U32,
    KMD_U64,
    KMD_U40, /**< low 32 bits in the run, high 8 bits of counter n in byte 160 + n */
};

struct kmd_segment {
    uint8_t bank;  /**< enum kmd_bank */
    uint8_t width; /**< enum kmd_width */
    uint8_t first, count;
    uint16_t offset;
};

enum kmd_header { KMD_HEADER_HSW, KMD_HEADER_32, KMD_HEADER_64 };

/** Which kinds of units make it. */
enum kmd_format_users { KMD_FOR_OAG = 1, KMD_FOR_OAM = 2 };

struct kmd_format {
    uint32_t i915; /**< id of i915, 0: none */
    bool has_xe;
    uint32_t xe; /**< format word of xe */
    uint32_t min_graphics, max_graphics;
    uint32_t users; /**< enum kmd_format_users */
    uint32_t bytes; /**< of a report */
    enum kmd_header header;
    struct kmd_segment segments[9]; /**< count 0 ends the list */
};

/** By id of i915 or by word of xe; NULL: this generation of graphics does not have it. */
const struct kmd_format *kmd_format_i915(uint32_t graphics, uint32_t id);
const struct kmd_format *kmd_format_xe(uint32_t graphics, uint32_t word);

/* ------------------------------------------------------------------------------------------------
 * The machine: in shared memory, at another address in each process; no pointers
 * --------------------------------------------------------------------------------------------- */

/** Why a driver has to tell of a loss. */
enum kmd_loss {
    KMD_LOST_REPORTS = 1,
    KMD_LOST_BUFFER = 2,
    KMD_LOST_COUNTS = 4,  /**< xe: a counter went over */
    KMD_LOST_TRIGGERS = 8 /**< xe: too many triggered reports */
};

/** Reports of these times, later than `from`, were never written. */
struct kmd_hole {
    uint64_t from;
    uint64_t to; /**< UINT64_MAX: the ring is full, and the hardware waits for room */
};

/** The stream of a unit. Under the lock of the GPU. */
struct kmd_stream {
    bool is_open;           /**< made, and its end was not noticed yet */
    bool enabled;           /**< set by kmd_ring_start() and kmd_ring_stop() */
    bool readable;          /**< a byte is in the FIFO: it polls readable */
    uint64_t serial;        /**< of all streams of the machine: names the FIFO */
    _Atomic uint64_t inode; /**< of the FIFO */
    int32_t pid;            /**< of the process that opened it */

    /* What the driver chose; all that the ring needs to know. */
    uint64_t poll_ns;      /**< period of the kernel's look at the tail */
    uint32_t format;       /**< index in the table of formats: kmd_stream_set_format() */
    uint32_t report_bytes; /**< of the format, or of the driver's own records */
    bool has_timer;        /**< makes reports by itself */
    uint32_t exponent;
    uint64_t ring_bytes;
    uint64_t config;       /**< id */
    char uuid[37];         /**< of the configuration; "" for none */
    char earlier_uuid[37]; /**< of the one before, until changed_tick */
    uint64_t changed_tick;
    uint32_t context; /**< id that reports of context switches name */

    /* The ring: positions are times of the unit's clock, in full. */
    uint64_t head_tick;               /**< reports up to this one were taken */
    uint64_t tail_tick;               /**< reports up to this one were seen by the kernel */
    uint64_t looked_ns;               /**< machine time when they were */
    uint64_t switch_from, switch_to;  /**< periods [from, to) with a context switch in the middle */
    struct kmd_hole holes[KMD_HOLES]; /**< in order of time */
    uint32_t hole_count;
    uint64_t full_head;  /**< head_tick when the ring became full */
    uint64_t full_least; /**< reports that it drops at least until it goes on */
    uint64_t lose;       /**< so many reports are still to be lost */
    uint64_t lose_tick;  /**< those after this time, and after head_tick */
    bool is_losing;      /**< the loss was told of, and goes on */
    uint32_t losses; /**< enum kmd_loss, that the driver did not tell yet; the driver clears them */
    uint64_t short_reads; /**< at most so many reports in a read, 0: no limit */
    uint32_t read_errno;  /**< of the next read */
    uint64_t false_polls; /**< left */

    uint64_t driver[KMD_PRIVATE]; /**< for the driver; 0 when the stream is opened */
};

enum kmd_unit_kind {
    KMD_UNIT_OAG,
    KMD_UNIT_OAM,
    KMD_UNIT_OAM_SAG,
    KMD_UNIT_MERT,
    KMD_UNIT_EU_STALL
};

struct kmd_unit {
    enum kmd_unit_kind kind;
    uint32_t id; /**< oa_unit_id of xe; the GT of EU stall sampling */
    uint32_t gt, tile;
    uint64_t oa_hz;
    struct kmd_stream stream;
};

struct kmd_engine {
    uint16_t class, instance;
    uint16_t gt;
    uint16_t unit; /**< index of its unit, UINT16_MAX: none */
};

struct kmd_oa_config {
    uint64_t id; /**< 0: the place is free */
    char uuid[37];
    uint32_t counts[3]; /**< i915: mux, boolean, flex; xe: the first */
};

/** Of the clock: it is n ticks at the machine's time from_ns. */
struct kmd_clock {
    uint64_t from_ns;
    uint64_t first_ticks;
};

struct kmd_gpu {
    pthread_mutex_t lock; /**< robust, shared; dispatch.c holds it around each call of a driver */
    uint32_t index;
    uint32_t platform; /**< index in kmd_platform_table */
    bool is_xe;
    uint32_t pci_id, revision;
    uint32_t slices, subslices, eus; /**< fused, see struct kmd_platform */
    uint32_t tiles;
    uint32_t perf_revision;
    uint32_t min_mhz, max_mhz;
    uint64_t oa_hz, cs_hz;
    uint32_t xe_capabilities; /**< 0: those of a recent kernel */
    bool has_no_oa, has_no_eu_stall, has_render_node_only, has_no_metrics_folder;
    bool is_flat_out;
    uint32_t mux_first, mux_last; /**< as of struct kmd_device */
    char slot[16];                /**< PCI address "0000:03:00.0" */
    uint64_t card_inode, render_inode;

    struct kmd_clock clock; /**< of all its units */
    uint32_t idle_count;
    struct {
        uint64_t from_ns, to_ns; /**< to_ns UINT64_MAX: still asleep */
    } idles[KMD_IDLES];

    uint32_t open_errno;
    uint64_t fault_switches, fault_lose; /**< for the next stream, when there was none */
    uint64_t fault_short_reads;          /**< as of its streams, for those opened later */
    _Atomic bool is_unplugged;

    uint32_t unit_count;
    struct kmd_unit units[KMD_UNITS];
    uint32_t engine_count;
    struct kmd_engine engines[KMD_ENGINES];

    uint64_t next_config;
    struct kmd_oa_config configs[KMD_CONFIGS];

    uint64_t statistics[KMD_STAT_READ_NS + 1];
    uint64_t driver[KMD_PRIVATE]; /**< for the driver; 0 when the machine starts */
};

struct kmd_shared {
    uint32_t magic, version;
    uint32_t gpu_count;
    bool is_privileged, node_is_forbidden, is_manual;
    uint64_t start_ns;            /**< CLOCK_MONOTONIC when the machine's time was 0 */
    _Atomic uint64_t manual_ns;   /**< manual time */
    _Atomic uint64_t next_serial; /**< of streams */
    uint64_t device;              /**< st_dev of the folder */
    struct kmd_gpu gpus[KMD_DEVICES];
};

/** Adds to a statistic. Under the lock. */
static inline void kmd_count(struct kmd_gpu *gpu, enum kmd_statistic statistic, uint64_t more)
{
    gpu->statistics[statistic] += more;
}

/** The machine that this process sees; NULL: none. */
struct kmd_shared *kmd_shared(void);
/** Folder of that machine, without a slash at its end. */
const char *kmd_root(void);
const struct kmd_platform *kmd_gpu_platform(const struct kmd_gpu *gpu);

/** Machine time in ns since its start: real, or what kmd_advance() made of it. */
uint64_t kmd_now_ns(void);
/** Clock of a unit, in full, at a machine time. */
uint64_t kmd_unit_ticks(const struct kmd_gpu *gpu, const struct kmd_unit *unit, uint64_t ns);
/** Clock of the command streamer at a machine time: unwrapped; oa = cs * oa_hz / cs_hz. */
uint64_t kmd_cs_ticks(const struct kmd_gpu *gpu, uint64_t ns);
/** CLOCK_MONOTONIC that belongs to a machine time (a manual machine has its own). */
uint64_t kmd_monotonic_ns(uint64_t ns);

/* ------------------------------------------------------------------------------------------------
 * Help for drivers
 * --------------------------------------------------------------------------------------------- */

/** Copies to and from memory of the program: 0, or -EFAULT without harm. */
int kmd_copy_in(void *to, uint64_t from, size_t bytes);
int kmd_copy_out(uint64_t to, const void *from, size_t bytes);

/** May the caller do what CAP_PERFMON allows, or is the driver not paranoid? */
bool kmd_may_observe(const struct kmd_gpu *gpu);
/** The caller has CAP_PERFMON or CAP_SYS_ADMIN, as the machine's description says. */
bool kmd_is_capable(void);
/** A number of /proc/sys/dev, as it is now: "i915/oa_max_sample_rate". */
uint64_t kmd_sysctl(const char *name);

/** Is the text 36 characters of the form of a uuid (hexadecimal digits and dashes)? */
bool kmd_uuid_is_valid(const char text[36]);

/**
 * Adds a configuration with its registers (pairs of address and value; counts[0] + [1] + [2] of
 * them) and its folder in sysfs. The id (first on), -EADDRINUSE, -ENOSPC.
 */
int64_t kmd_config_add(struct kmd_gpu *gpu, const char *uuid, const uint32_t counts[3],
                       const uint32_t *registers, uint64_t first);
/** 0 or -ENOENT. Streams that use it go on. */
int kmd_config_remove(struct kmd_gpu *gpu, uint64_t id);
struct kmd_oa_config *kmd_config_by_id(struct kmd_gpu *gpu, uint64_t id);
struct kmd_oa_config *kmd_config_by_uuid(struct kmd_gpu *gpu, const char *uuid);
/** Its registers: that many pairs as counts say. 0 or -ENOENT. */
int kmd_config_registers(const struct kmd_gpu *gpu, const struct kmd_oa_config *config,
                         uint32_t *registers);
/** May a set program this register on this GPU? Classes as of i915: 0 mux, 1 boolean, 2 flex. */
bool kmd_register_is_allowed(const struct kmd_gpu *gpu, uint32_t list, uint32_t address);
/** Ranges of registers, both ends included, that are allowed on a platform; false: no more. */
bool kmd_register_range(const struct kmd_platform *platform, uint32_t index, uint32_t *out_list,
                        uint32_t *out_first, uint32_t *out_last);

/* ------------------------------------------------------------------------------------------------
 * Streams and their rings
 * --------------------------------------------------------------------------------------------- */

struct kmd_call;

/** Has another stream that is alive the unit? Ends one that is not. */
bool kmd_unit_is_busy(struct kmd_gpu *gpu, struct kmd_unit *unit);
/**
 * Makes the stream of a free unit: everything zero but for what the arguments say. The descriptor
 * (flags: O_CLOEXEC, O_NONBLOCK), -EMFILE, -ENFILE, -ENOMEM. After it nothing may fail.
 */
int kmd_stream_make(struct kmd_call *call, struct kmd_unit *unit, int flags);
/** Sets format and report_bytes. */
void kmd_stream_set_format(struct kmd_stream *stream, const struct kmd_format *format);
const struct kmd_format *kmd_stream_format(const struct kmd_stream *stream);
/** Sets whether its descriptor polls readable. */
void kmd_stream_set_readable(struct kmd_gpu *gpu, struct kmd_unit *unit, int fd, bool readable);

/**
 * Another configuration from now on. What is in the ring keeps the counters of the one before; of
 * two changes between reads only the last is told apart.
 */
void kmd_stream_set_config(struct kmd_gpu *gpu, struct kmd_unit *unit,
                           const struct kmd_oa_config *config);

/** Starts with an empty ring: reports from now on. */
void kmd_ring_start(struct kmd_gpu *gpu, struct kmd_unit *unit);
/** The same for a ring that overflowed: what nobody took counts as lost. */
void kmd_ring_drop(struct kmd_gpu *gpu, struct kmd_unit *unit);
/** Stops: no reports after now. What is in the ring stays until kmd_ring_start(). */
void kmd_ring_stop(struct kmd_gpu *gpu, struct kmd_unit *unit);
/**
 * Looks at the hardware's tail: moves tail_tick to now. Loses reports that faults say (then
 * KMD_LOST_REPORTS is set, once for each fault). A ring that overflowed keeps what it has, gets
 * KMD_LOST_BUFFER in losses, and takes no more before the look behind the first that is taken.
 */
void kmd_ring_look(struct kmd_gpu *gpu, struct kmd_unit *unit);
/** Reports between head and tail. */
uint64_t kmd_ring_available(struct kmd_gpu *gpu, struct kmd_unit *unit);
/**
 * Takes at most max reports, oldest first: each at out + n * stride. Returns how many.
 */
uint32_t kmd_ring_take(struct kmd_gpu *gpu, struct kmd_unit *unit, void *out, size_t stride,
                       uint32_t max);

/* ------------------------------------------------------------------------------------------------
 * Drivers
 * --------------------------------------------------------------------------------------------- */

/** A call of a driver. The lock of the GPU is held. */
struct kmd_call {
    struct kmd_gpu *gpu;
    struct kmd_unit *unit; /**< of a stream, else NULL */
    struct kmd_unit *made; /**< out: that got a stream, else NULL */
    int fd;
    bool is_blocking;  /**< the descriptor has no O_NONBLOCK */
    uint32_t sleep_us; /**< out: the caller sleeps so long after the lock was released */
};

/** One driver of the kernel. */
struct kmd_driver {
    const char *name;
    /** Fills units and engines of a GPU when the machine starts. */
    void (*start)(struct kmd_gpu *gpu);
    /** ioctl of a node. -ENOTTY is that of an unknown request. */
    long (*ioctl)(struct kmd_call *call, unsigned long request, uint64_t argument);
    /** ioctl of a stream. */
    long (*stream_ioctl)(struct kmd_call *call, unsigned long request, uint64_t argument);
    /**
     * One attempt of read(). -EAGAIN: there is nothing; a blocking caller comes again when the
     * descriptor polls readable. Copies with kmd_copy_out(), clears readable when it has to.
     */
    ssize_t (*stream_read)(struct kmd_call *call, uint64_t buffer, size_t bytes);
    /** What the kernel's timer does each poll_ns: true if the descriptor shall poll readable. */
    bool (*stream_look)(struct kmd_gpu *gpu, struct kmd_unit *unit);
    /** mmap of a stream; 0 and the address, or a negative errno. NULL: -ENODEV. */
    int (*stream_mmap)(struct kmd_call *call, void *address, size_t bytes, int protection,
                       int flags, int64_t offset, void **out_address);
};

extern const struct kmd_driver kmd_i915;
extern const struct kmd_driver kmd_xe;

#endif
