#ifndef ZETA_PLUGINS_INTEL_KMD_KMD_H
#define ZETA_PLUGINS_INTEL_KMD_KMD_H

/*
 * The border between the plugin and the kernel's drivers: what i915 and xe do in different ways is
 * one table each. Functions that fail have called zeta_host_fail() with what was asked, of which
 * device, what the kernel answered, why, and what to do.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/intel_gpu.h>
#include <zeta/plugin_host.h>

struct zeta_intel;
struct zeta_intel_kmd;

enum {
    ZETA_INTEL_TILES = 8,     /**< of one GPU, at most */
    ZETA_INTEL_UNITS = 32,    /**< counting units of one GPU, at most */
    ZETA_INTEL_EXPONENTS = 32 /**< of sampling periods: 0 to 31 */
};

/** One exclusive counting resource of a tile. */
struct zeta_intel_unit {
    char name[24]; /**< as set files say it: "oa", "oam0", "oam1", "oam-sag", "mert", "eu-stall" */
    enum zeta_intel_unit_kind kind;
    uint32_t tile;
    uint32_t gt;           /**< id of the GT that it counts on */
    uint32_t kernel_id;    /**< xe: oa_unit_id, EU stalls: the GT; i915: class << 16 | instance */
    uint64_t timestamp_hz; /**< of the time stamps in its reports; EU stalls: the highest core clock
                                of its tile, 0: unknown */
    uint64_t rates[8];     /**< EU stalls: cycles between two samples, rising; 0 ends the list */
    uint32_t record_bytes; /**< EU stalls: of a record */
    bool can_size_buffer;  /**< the kernel takes a size for the buffer */
    bool can_wait_for_reports; /**< the kernel takes a number of reports to wait for */
};

/** What the kernel reports of one tile; a GPU without tiles has one. */
struct zeta_intel_tile {
    struct zeta_intel_topology topology;
    uint64_t min_hz, max_hz;    /**< core clock, 0: unknown */
    uint64_t fastest_hz;        /**< that the hardware allows, or max_hz; 0: unknown */
    uint64_t fastest_media_hz;  /**< likewise, of the clock of media engines */
    uint64_t cs_timestamp_hz;   /**< of the command streamer's clock */
    uint32_t cs_timestamp_bits; /**< before it wraps */
    uint64_t memory_bytes;      /**< of its own, 0: none */
    uint32_t gt;                /**< xe: id of the GT of its render and compute engines */
    uint32_t clock_gt, clock_class, clock_instance; /**< xe: the engine whose clock is read */
};

/** One register write. */
struct zeta_intel_register {
    uint32_t address, value;
};

/** What a register belongs to; set files say it (units: registers), under these names. */
enum zeta_intel_register_class {
    ZETA_INTEL_REGISTER_MUX,     /**< "mux": wires events to counters */
    ZETA_INTEL_REGISTER_BOOLEAN, /**< "boolean": of the OA unit, its boolean counters, triggers */
    ZETA_INTEL_REGISTER_FLEX,    /**< "flex": selects what the counters of EUs count */
    ZETA_INTEL_REGISTER_CLASSES
};

/** What a unit is programmed with. */
struct zeta_intel_program {
    struct zeta_intel_register *registers; /**< by class, in each in the order of the host */
    uint32_t count;
    uint32_t counts[ZETA_INTEL_REGISTER_CLASSES]; /**< of each class */
    char uuid[37];    /**< of the set file, else made from the registers */
    bool is_nameless; /**< made from the registers: no other process looks for it */
};

/** Use of a unit by this process. Behind the lock of struct zeta_intel, but for the descriptor. */
struct zeta_intel_use {
    bool is_taken;
    char holder[96]; /**< what it is taken for, for messages: "a stream of RenderBasic" */
    /** Of the kernel's stream, -1: none. Read without the lock by a child of fork(). */
    _Atomic int fd;
    uint32_t seen_pid; /**< another process that had it at seen_ns, 0: none was seen */
    uint64_t seen_ns;  /**< 0: never asked */
};

/** A clock that wraps, made one that does not. Behind the lock of struct zeta_intel. */
struct zeta_intel_unwrap {
    bool is_started;
    uint64_t ticks;   /**< in full, when it was read last */
    uint64_t host_ns; /**< then */
};

/** One GPU of the machine. Lives from init() to finish(). */
struct zeta_intel_gpu {
    struct zeta_intel *intel;
    const struct zeta_host *host; /**< of intel */
    const struct zeta_intel_kmd *kmd;
    const struct zeta_intel_platform *platform;
    int fd;      /**< of the render node, else of the card; -1: could not be opened */
    char id[24]; /**< PCI address: "0000:03:00.0" */
    char name[128];
    char node[64]; /**< path of the node that fd is of */
    char card[64]; /**< directory of the card in sysfs: "/sys/class/drm/card0" */
    uint32_t device_id, revision;
    uint32_t pci_domain, pci_bus, pci_device, pci_function;
    uint32_t tile_count; /**< at least 1 */
    struct zeta_intel_tile tiles[ZETA_INTEL_TILES];
    uint32_t unit_count;
    struct zeta_intel_unit units[ZETA_INTEL_UNITS];
    struct zeta_intel_use uses[ZETA_INTEL_UNITS];       /**< of the unit with the same index */
    struct zeta_intel_unwrap unwraps[ZETA_INTEL_TILES]; /**< of the command streamer's clock */
    atomic_bool is_lost;                                /**< the kernel said that it is gone */
    char no_metrics[512]; /**< not empty: it has no metrics, for this reason (a sentence) */
    char note[768];       /**< what users should know before they sample; may be empty */
};

/**
 * Nanoseconds between two reports, rounded up: one comes when bit `exponent` of the tick counter
 * falls, so every 2^(exponent + 1) ticks. EU stalls: of the rate with that index.
 */
uint64_t zeta_intel_period_ns(const struct zeta_intel_unit *unit, uint32_t exponent);

/** The greatest exponent, or index of a rate, of a unit. */
uint32_t zeta_intel_period_last(const struct zeta_intel_unit *unit);

/** What stream_open() opens. */
struct zeta_intel_stream_request {
    const struct zeta_intel_unit *unit;
    const struct zeta_intel_program *program; /**< NULL for EU stalls */
    uint64_t config;         /**< the kernel's id of the program; zeta_intel_unit_open() fills it */
    uint32_t format;         /**< of the platform file: id of i915, or format word of xe */
    uint32_t record_bytes;   /**< of a report */
    uint32_t exponent;       /**< period is 2^(exponent + 1) ticks; EU stalls: index in rates */
    uint64_t ring_bytes;     /**< wanted; 0: what the kernel takes */
    uint64_t notify_records; /**< to wake after so many, where the kernel can; 0: no one waits */
};

/** An open stream of the kernel; a kmd embeds it in its own. */
struct zeta_intel_kernel_stream {
    struct zeta_intel_gpu *gpu;
    const struct zeta_intel_unit *unit;
    int fd; /**< polls readable when there may be reports; non-blocking, close-on-exec */
    uint64_t ring_bytes; /**< of the kernel's buffer */
    uint32_t record_bytes;
    /**
     * ZETA_PLUGIN_BREAK_*: reports are missing among those that the last or the next reads give;
     * only their times say where. The reader resets it to NONE.
     */
    uint32_t loss;
    bool tells_loss_once; /**< and never again, however often reports are lost later */
};

/** One driver of the kernel. Static and const. */
struct zeta_intel_kmd {
    const char *driver; /**< name that the kernel gives it: "i915", "xe" */
    bool is_xe;
    const char *sysctl; /**< that lets everybody count; exists where the kernel can count */
    /** Names of stream descriptors in the links of /proc/PID/fd, of OA units and of EU stalls. */
    const char *stream_names[2];

    /**
     * Asks the kernel about a GPU whose descriptor is open: fills gpu->tiles, units, revision. A
     * GPU without units (guest, old kernel) is SUCCESS, with the reason in gpu->no_metrics.
     */
    uint32_t (*probe)(struct zeta_intel_gpu *gpu);

    /** Reads the command streamer's clock of a tile and the host's. Any time. */
    uint32_t (*clock)(struct zeta_intel_gpu *gpu, uint32_t tile,
                      struct zeta_plugin_clock *out_clock);

    /** Uploads the registers of a program: the kernel's id of it, or the negative errno. */
    int64_t (*config_add)(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program);

    /**
     * Removes a configuration from the kernel, unless another process did; streams that run with
     * it go on.
     */
    void (*config_remove)(struct zeta_intel_gpu *gpu, uint64_t config);

    /** Opens and starts a stream. Errors: those of zeta_intel_fail_open(). */
    uint32_t (*stream_open)(struct zeta_intel_gpu *gpu,
                            const struct zeta_intel_stream_request *request,
                            struct zeta_intel_kernel_stream **out_stream);
    /**
     * As stream_read() of zeta/plugin.h: bare reports, a break only before the first. A loss at an
     * unknown place is no break, but stream->loss. *out_read is without bytes and breaks before.
     */
    uint32_t (*stream_read)(struct zeta_intel_kernel_stream *stream, void *buffer,
                            uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
    void (*stream_close)(struct zeta_intel_kernel_stream *stream);

    /**
     * The shortest period of an OA unit that the kernel lets this process have now, or any process
     * without privileges. NULL: that of exponent 0, always.
     */
    uint64_t (*min_period_ns)(const struct zeta_intel_unit *unit, bool for_everybody);
};

extern const struct zeta_intel_kmd zeta_intel_i915;
extern const struct zeta_intel_kmd zeta_intel_xe;

#endif
