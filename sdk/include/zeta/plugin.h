/*
 * The interface between libzeta and its backends.
 *
 * A backend is a shared object that exports one symbol, zeta_plugin_negotiate(). Everything else
 * crosses this border in tables of functions and plain structs with fixed-width members.
 *
 * ABI rules, for every struct that starts with struct_size:
 *  - it grows only at the end; members are never reordered, removed or given another meaning;
 *  - struct_size is sizeof() in the build of the side that fills it; the reader uses a member only
 *    if it lies inside that size (ZETA_PLUGIN_HAS) and, for a function, is not null;
 *  - an absent function means "unsupported feature", never a failed load, unless its comment says
 *    that it is required.
 *
 * Results are uint32_t with the numeric values of ze_result_t; the ones a backend needs are in
 * plugin_base.h. After a failure a backend may leave a sentence for the user with host->fail().
 *
 * Parts: plugin_base.h, plugin_compute.h, plugin_metric.h and plugin_debug.h; the services of the
 * host, devices and the negotiation are here.
 *
 * Threads: the host serialises calls for one plugin object (a stream, a queue, a module), calls for
 * different objects may run at the same time; members marked "any time" may run beside any other
 * call. The host holds no lock while it calls a plugin, except in init() and module_link(). A
 * plugin may call host services from any thread, but never from a signal handler. Threads that a
 * plugin starts block every signal.
 *
 * Strings are pointer and length, without a promise of a terminator, valid during the call unless
 * stated otherwise. Arrays cross with their element stride, so that elements can grow.
 */
#ifndef ZETA_PLUGIN_H
#define ZETA_PLUGIN_H

#include <zeta/plugin_base.h>
#include <zeta/plugin_compute.h>
#include <zeta/plugin_debug.h>
#include <zeta/plugin_metric.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Host services
 * --------------------------------------------------------------------------------------------- */

/** Importance of a log message. */
enum {
    ZETA_PLUGIN_LOG_ERROR = 0,
    ZETA_PLUGIN_LOG_WARN = 1,
    ZETA_PLUGIN_LOG_INFO = 2,
    ZETA_PLUGIN_LOG_DEBUG = 3,
    ZETA_PLUGIN_LOG_TRACE = 4
};

/** When a command ran, in ticks of the device's timer (unmasked, 64 bit); end > begin always. */
struct zeta_plugin_times {
    uint64_t begin_ticks;
    uint64_t end_ticks;
};

/**
 * Services of the host. The host pointer given at negotiation is the first argument of each.
 * All members are present in ABI 1 unless their comment says otherwise. The table lives as long as
 * the process.
 */
struct zeta_plugin_host_ops {
    uint64_t struct_size;

    /** Writes a log message (ZETA_PLUGIN_LOG_*); the host decides where it goes. */
    void (*log)(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text);

    /**
     * Leaves the sentence that zeDriverGetLastErrorDescription gives to the calling thread.
     * Says what failed, on which device, why, and what the user can do. Copied.
     */
    void (*fail)(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text);

    /**
     * Looks up a setting of this manifest by name ("instance", "fault.lost_reports"...).
     * The host has merged the manifest, the configuration files and the environment.
     * NOT_AVAILABLE if nobody set it. The value is valid until finish().
     */
    uint32_t (*setting)(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                        struct zeta_plugin_string *out_value);

    /** SUCCESS if the event is signalled, else NOT_READY. Lock-free. */
    uint32_t (*event_query)(struct zeta_plugin_host *host, struct zeta_plugin_event *event);

    /**
     * Signals an event and wakes who waits for it. times may be null when nothing was timed.
     * The host calls wake() of queues that may wait for it before this returns or soon after.
     */
    void (*event_signal)(struct zeta_plugin_host *host, struct zeta_plugin_event *event,
                         const struct zeta_plugin_times *times);

    /** Makes an event unsignalled. */
    void (*event_reset)(struct zeta_plugin_host *host, struct zeta_plugin_event *event);

    /**
     * Reports the end of one submission with the cookie that came with it. result is SUCCESS or the
     * reason why the commands did not all run. Called once for each accepted submission.
     */
    void (*submission_done)(struct zeta_plugin_host *host, void *cookie, uint32_t result);

    /**
     * Text that a kernel printed, in whole calls of printf. The host writes it to the standard
     * output of the application (the place where a device's printf goes by definition).
     */
    void (*kernel_output)(struct zeta_plugin_host *host, struct zeta_plugin_string text);

    /**
     * How long a backend whose command waits for the event may sleep before it asks event_query
     * again. UINT64_MAX: until wake() is called, as for nearly all events; less for those that
     * change without the host being told, because another process or a kernel does it. Who waited
     * for long already may sleep longer, in proportion. Lock-free.
     * Absent in older hosts, which have no such events.
     */
    uint64_t (*event_look_ns)(struct zeta_plugin_host *host, struct zeta_plugin_event *event);

    /**
     * Says that all commands of a submission have run, and that submission_done() follows whatever
     * happens; before the event of the last one is signalled. Who destroys what the submission uses
     * then waits for the report as long as it takes. Once at most, never for a submission that
     * failed. Lock-free. Optional for the backend; absent in older hosts.
     */
    void (*submission_over)(struct zeta_plugin_host *host, void *cookie);
};

/* ------------------------------------------------------------------------------------------------
 * Devices
 * --------------------------------------------------------------------------------------------- */

/** Device kinds, numerically those of ze_device_type_t. */
enum { ZETA_PLUGIN_DEVICE_GPU = 1, ZETA_PLUGIN_DEVICE_CPU = 2 };

/** Flags of zeta_plugin_device_properties. */
enum {
    ZETA_PLUGIN_DEVICE_INTEGRATED = 1u << 0, /**< shares memory with the host */
    ZETA_PLUGIN_DEVICE_ON_DEMAND_PAGING = 1u << 1,
    ZETA_PLUGIN_DEVICE_ECC = 1u << 2,
    ZETA_PLUGIN_DEVICE_READ_ONLY_ENFORCED = 1u << 3 /**< a kernel that writes to memory mapped
                                                         read-only faults */
};

/** Flags of a queue group, numerically those of ze_command_queue_group_property_flag_t. */
enum {
    ZETA_PLUGIN_QUEUE_COMPUTE = 1u << 0,
    ZETA_PLUGIN_QUEUE_COPY = 1u << 1,
    ZETA_PLUGIN_QUEUE_COOPERATIVE = 1u << 2,
    ZETA_PLUGIN_QUEUE_METRICS = 1u << 3
};

/** One group of equal queues. The index in the array is the ordinal. */
struct zeta_plugin_queue_group {
    uint64_t struct_size;
    uint32_t flags; /**< ZETA_PLUGIN_QUEUE_* */
    uint32_t queue_count;
    uint64_t max_fill_pattern_bytes;
};

/** One memory of the device. The index in the array is the ordinal. */
struct zeta_plugin_memory {
    uint64_t struct_size;
    struct zeta_plugin_string name;
    uint64_t total_bytes;
    uint32_t max_clock_mhz;
    uint32_t bus_width_bits;
};

/** One cache level. */
struct zeta_plugin_cache {
    uint64_t struct_size;
    uint64_t size_bytes;
    uint32_t user_controlled; /**< 1 if software can size it */
    uint32_t line_bytes;      /**< of a cache line, 0: unknown */
};

/**
 * What a device is. Filled by the plugin, which owns what the pointers refer to until finish().
 * Fields that do not apply are 0. Tiles are devices of their own whose parent is the root's index.
 */
struct zeta_plugin_device_properties {
    uint64_t struct_size;
    struct zeta_plugin_string name; /**< at most 255 bytes */
    struct zeta_plugin_string id;   /**< "vgpu0", or the PCI address; same for all plugins that see
                                         this device, equal in every process */
    uint32_t type;                  /**< ZETA_PLUGIN_DEVICE_* */
    uint32_t flags;                 /**< ZETA_PLUGIN_DEVICE_INTEGRATED ... */
    uint32_t parent; /**< index of the root device in the enumeration, or UINT32_MAX */
    uint32_t tile;   /**< number of the tile on its root, 0 for a root */
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t revision;
    uint32_t has_pci; /**< 1 if the address below is real or set on purpose */
    uint32_t pci_domain, pci_bus, pci_device, pci_function;
    uint8_t uuid[16]; /**< equal in every process */

    uint64_t timer_hz;                    /**< ticks per second of the device timer, never 0 */
    uint32_t timestamp_valid_bits;        /**< bits of the timer before it wraps */
    uint32_t kernel_timestamp_valid_bits; /**< <= 34 (clients multiply by 10^9 in 64 bits) */

    uint32_t core_clock_mhz;
    uint32_t slices;
    uint32_t subslices_per_slice;
    uint32_t eus_per_subslice;
    uint32_t threads_per_eu;
    uint32_t simd_width;
    uint64_t max_allocation_bytes;
    uint32_t max_hardware_contexts;
    uint32_t max_command_queue_priority;

    uint32_t max_group_size; /**< work-items of a group */
    uint32_t max_group_size_xyz[3];
    uint32_t max_group_count_xyz[3];
    uint32_t max_shared_local_bytes;
    uint32_t max_argument_bytes;
    uint32_t printf_buffer_bytes;
    uint32_t spirv_version;                   /**< major << 16 | minor, 0: no IL accepted */
    uint32_t fp16, fp64, int64_atomics, dp4a; /**< 1 where the device has it */
    struct zeta_plugin_array subgroup_sizes;  /**< of uint32_t, not empty for a compute device */

    struct zeta_plugin_array queue_groups; /**< of struct zeta_plugin_queue_group */
    struct zeta_plugin_array memories;     /**< of struct zeta_plugin_memory */
    struct zeta_plugin_array caches;       /**< of struct zeta_plugin_cache */

    uint32_t ip_version; /**< grows with newer hardware of the same maker, 0: unknown */
    /** What arithmetic does, numerically ze_device_fp_flags_t; 0: what IEEE 754 demands at least.
     */
    uint32_t fp16_flags, fp32_flags, fp64_flags;
    /** Atomic operations on numbers, numerically ze_device_fp_atomic_ext_flags_t. */
    uint32_t fp16_atomics, fp32_atomics, fp64_atomics;
    struct zeta_plugin_string vendor; /**< who made it, at most 63 bytes; empty: unknown */
};

/** The device's clock and the host's, read together. */
struct zeta_plugin_clock {
    uint64_t struct_size;
    uint64_t device_ticks; /**< unmasked when the device has more bits than it reports as valid */
    uint64_t host_ns;      /**< CLOCK_MONOTONIC_RAW if raw is 1, else CLOCK_MONOTONIC */
    uint64_t error_ns;     /**< bound of the distance between the two reads */
    uint32_t raw;
    uint32_t reserved;
};

/** Devices. Required. */
struct zeta_plugin_device_ops {
    uint64_t struct_size;

    /**
     * Lists the devices, roots before their tiles, in an order that is the same in every process.
     * Writes at most capacity pointers and the whole number to out_count. No device is success
     * with 0, silently. Required. The devices live until finish().
     */
    uint32_t (*enumerate)(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count);

    /** Fills what struct_size of the host's struct has room for. Required. */
    uint32_t (*properties)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out_properties);

    /** Reads both clocks. Required. Any time. */
    uint32_t (*clock)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                      struct zeta_plugin_clock *out_clock);

    /**
     * SUCCESS, or DEVICE_LOST while the device cannot work: until the queue whose work faulted is
     * destroyed, or for good. Other devices go on. Any time, cheap.
     */
    uint32_t (*status)(struct zeta_plugin *self, struct zeta_plugin_device *device);

    /**
     * Called in a child of fork() before anything else; absent: the plugin is unusable there.
     * After success the plugin works as after init(), and the host lists its devices anew; devices
     * and all other objects of the parent are not used any more.
     */
    uint32_t (*child_after_fork)(struct zeta_plugin *self);
};

/* ------------------------------------------------------------------------------------------------
 * Negotiation
 * --------------------------------------------------------------------------------------------- */

/** The operations of one plugin instance (one manifest). Lives until the process ends. */
struct zeta_plugin_ops {
    uint64_t struct_size;

    /**
     * Prepares the plugin: reads settings, looks for hardware. May start threads. Called once after
     * negotiation, and again after finish(). Absent: nothing to do. A sentence that it leaves with
     * host->fail(SUCCESS) is a note, which the host shows beside the plugin.
     */
    uint32_t (*init)(struct zeta_plugin *self);
    /** Stops threads, closes descriptors, frees memory. The code stays mapped. Required. */
    void (*finish)(struct zeta_plugin *self);

    const struct zeta_plugin_device_ops *device;   /**< required */
    const struct zeta_plugin_compute_ops *compute; /**< null: no compute */
    const struct zeta_plugin_metric_ops *metric;   /**< null: no metrics */
    const struct zeta_plugin_tracer_ops *tracer;   /**< null: no metric tracers */
    const struct zeta_plugin_debug_ops *debug;     /**< null: no program debug */
};

/** What the host offers. Valid during the call, except ops and host, which live on. */
struct zeta_plugin_offer {
    uint64_t struct_size;
    uint32_t abi_min; /**< oldest interface the host still speaks */
    uint32_t abi_max;
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
    struct zeta_plugin_string id;       /**< of the manifest */
    struct zeta_plugin_string data_dir; /**< directory of the manifest's data, absolute */
    struct zeta_plugin_string host_version;
};

/** What the plugin answers. */
struct zeta_plugin_answer {
    uint64_t struct_size;
    uint32_t abi; /**< chosen, inside the offered range */
    uint32_t reserved;
    struct zeta_plugin *self; /**< first argument of every operation; not null */
    const struct zeta_plugin_ops *ops;
    struct zeta_plugin_string id;      /**< must equal the offered id */
    struct zeta_plugin_string version; /**< of the plugin */
};

/** Type of the one exported symbol. */
typedef uint32_t (*zeta_plugin_negotiate_fn)(const struct zeta_plugin_offer *offer,
                                             struct zeta_plugin_answer *out_answer);

/**
 * The only symbol that a plugin exports. Called once per manifest, so one shared object can serve
 * several manifests with one self each; it keeps no mutable globals. UNSUPPORTED_VERSION when the
 * offered range holds no version that the plugin speaks.
 */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
uint32_t
zeta_plugin_negotiate(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer);

#ifdef __cplusplus
}
#endif

#endif
