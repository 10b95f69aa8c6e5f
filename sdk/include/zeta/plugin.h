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
 * Results are uint32_t with the numeric values of ze_result_t; the ones a backend needs are below.
 * After a failure a backend may leave a sentence for the user with host->fail().
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

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The newest version of this interface that the header describes. */
#define ZETA_PLUGIN_ABI 1u

/** True if the table or struct that p points to is large enough to hold member m. */
#define ZETA_PLUGIN_HAS(p, m)                                                                      \
    ((p)->struct_size >= (uint64_t)((const char *)(&(p)->m + 1) - (const char *)(p)))

/** Result codes, numerically those of ze_result_t. */
enum {
    ZETA_PLUGIN_SUCCESS = 0,
    ZETA_PLUGIN_NOT_READY = 1,
    ZETA_PLUGIN_DEVICE_LOST = 0x70000001,
    ZETA_PLUGIN_OUT_OF_HOST_MEMORY = 0x70000002,
    ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY = 0x70000003,
    ZETA_PLUGIN_MODULE_BUILD_FAILURE = 0x70000004,
    ZETA_PLUGIN_MODULE_LINK_FAILURE = 0x70000005,
    ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS = 0x70010000,
    ZETA_PLUGIN_NOT_AVAILABLE = 0x70010001,
    ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE = 0x70020000,
    ZETA_PLUGIN_UNSUPPORTED_VERSION = 0x78000002,
    ZETA_PLUGIN_UNSUPPORTED_FEATURE = 0x78000003,
    ZETA_PLUGIN_INVALID_ARGUMENT = 0x78000004,
    ZETA_PLUGIN_HANDLE_OBJECT_IN_USE = 0x78000006,
    ZETA_PLUGIN_INVALID_SIZE = 0x78000008,
    ZETA_PLUGIN_UNSUPPORTED_SIZE = 0x78000009,
    ZETA_PLUGIN_INVALID_NATIVE_BINARY = 0x7800000f,
    ZETA_PLUGIN_INVALID_GLOBAL_NAME = 0x78000010,
    ZETA_PLUGIN_INVALID_KERNEL_NAME = 0x78000011,
    ZETA_PLUGIN_INVALID_FUNCTION_NAME = 0x78000012,
    ZETA_PLUGIN_UNKNOWN = 0x7ffffffe
};

/** Text with an explicit length in bytes. data may be null when size is 0. */
struct zeta_plugin_string {
    const char *data;
    uint64_t size;
};

/** A read-only array whose elements are stride bytes apart. Owned by the side that made it. */
struct zeta_plugin_array {
    const void *data;
    uint64_t count;
    uint64_t stride;
};

/* Objects of the host that a plugin only passes back. */
struct zeta_plugin_host;
struct zeta_plugin_event;

/* Objects of the plugin that the host only passes back. */
struct zeta_plugin;
struct zeta_plugin_device;
struct zeta_plugin_module;
struct zeta_plugin_kernel;
struct zeta_plugin_queue;
struct zeta_plugin_stream;
struct zeta_plugin_query_pool;
struct zeta_plugin_tracer;
struct zeta_plugin_physical;

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

    /** SUCCESS, or DEVICE_LOST while the device cannot work. Any time, cheap. */
    uint32_t (*status)(struct zeta_plugin *self, struct zeta_plugin_device *device);

    /**
     * Called in a child of fork() before anything else; absent: the plugin is unusable there.
     * After success the plugin works as after init(), and the host lists its devices anew; devices
     * and all other objects of the parent are not used any more.
     */
    uint32_t (*child_after_fork)(struct zeta_plugin *self);
};

/* ------------------------------------------------------------------------------------------------
 * Compute: memory, modules, kernels, queues
 * --------------------------------------------------------------------------------------------- */

/** Where an allocation lives. Numerically ze_memory_type_t. */
enum { ZETA_PLUGIN_MEMORY_HOST = 1, ZETA_PLUGIN_MEMORY_DEVICE = 2, ZETA_PLUGIN_MEMORY_SHARED = 3 };

/**
 * A piece of memory as another process can get it: bytes of a descriptor that can be mapped.
 * After an export the host owns the descriptor and closes it. The memory stays as long as this
 * descriptor, a copy of it, or an import of it is open in any process.
 */
struct zeta_plugin_share {
    uint64_t struct_size;
    int32_t descriptor;
    uint32_t kind; /**< ZETA_PLUGIN_MEMORY_* of the allocation */
    uint64_t offset_bytes;
    uint64_t size_bytes;
    uint64_t token; /**< the plugin's own mark of the file, not 0; compared at an import */
};

/** How a mapped range may be used, numerically ze_memory_access_attribute_t. */
enum {
    ZETA_PLUGIN_ACCESS_NONE = 0,
    ZETA_PLUGIN_ACCESS_READ_WRITE = 1,
    ZETA_PLUGIN_ACCESS_READ = 2
};

/** What memory_allocate() shall allocate. */
struct zeta_plugin_memory_desc {
    uint64_t struct_size;
    uint32_t kind;        /**< ZETA_PLUGIN_MEMORY_* */
    uint32_t ordinal;     /**< of the device's memories */
    uint64_t size_bytes;  /**< > 0 */
    uint64_t align_bytes; /**< a power of two, or 0 for the default */
    uint32_t access;      /**< ZETA_PLUGIN_ACCESS_READ: kernels only read it; else they write too */
    uint32_t reserved;
};

/** Forms of a module image. */
enum { ZETA_PLUGIN_MODULE_IL_SPIRV = 0, ZETA_PLUGIN_MODULE_NATIVE = 1 };

/** What a module is made from. Everything it points to is valid during module_create(). */
struct zeta_plugin_module_desc {
    uint64_t struct_size;
    uint32_t format; /**< ZETA_PLUGIN_MODULE_* */
    uint32_t reserved;
    const uint8_t *image;
    uint64_t image_bytes;
    struct zeta_plugin_string build_flags;
    struct zeta_plugin_array constant_ids;    /**< of uint32_t */
    struct zeta_plugin_array constant_values; /**< of pointers to the values, same count */
    struct zeta_plugin_array parts; /**< of struct zeta_plugin_module_part: further images of the
                                         same format that make one program with the first */
};

/** One more image of a program that is given in several, with its own flags and constants. */
struct zeta_plugin_module_part {
    uint64_t struct_size;
    const uint8_t *image;
    uint64_t image_bytes;
    struct zeta_plugin_string build_flags;
    struct zeta_plugin_array constant_ids;    /**< as of the first image */
    struct zeta_plugin_array constant_values; /**< as of the first image */
};

/** Which symbols a list of module_symbols() holds. */
enum {
    ZETA_PLUGIN_SYMBOL_IMPORT = 0,  /**< named, not defined here, not linked yet */
    ZETA_PLUGIN_SYMBOL_EXPORT = 1,  /**< functions and globals that other modules may use */
    ZETA_PLUGIN_SYMBOL_FUNCTION = 2 /**< functions whose address can be asked for */
};

/** Receives log text piece by piece during module_create() and module_link(), on their thread. */
struct zeta_plugin_log_sink {
    void *context;
    void (*write)(void *context, struct zeta_plugin_string text);
};

/** What a kernel argument is. */
enum {
    ZETA_PLUGIN_ARG_VALUE = 0,  /**< size_bytes of plain data */
    ZETA_PLUGIN_ARG_GLOBAL = 1, /**< a pointer, 8 bytes */
    ZETA_PLUGIN_ARG_LOCAL = 2   /**< local memory; the block holds its size as uint64_t */
};

/** One kernel argument and its place in the argument block of a launch. */
struct zeta_plugin_argument {
    uint64_t struct_size;
    uint32_t kind; /**< ZETA_PLUGIN_ARG_* */
    uint32_t size_bytes;
    uint32_t offset_bytes; /**< in the block */
    uint32_t reserved;
};

/** What a kernel is. Pointers stay valid until the kernel is destroyed. */
struct zeta_plugin_kernel_properties {
    uint64_t struct_size;
    struct zeta_plugin_string name;
    struct zeta_plugin_string attributes; /**< source attributes, blank separated */
    struct zeta_plugin_array arguments;   /**< of struct zeta_plugin_argument */
    uint32_t block_bytes;                 /**< size of the argument block */
    uint32_t required_group_size[3];      /**< 0: free */
    uint32_t max_group_size;
    uint32_t max_subgroup_size; /**< >= 1 */
    uint32_t max_subgroups;
    uint32_t local_bytes;   /**< static local memory of a group */
    uint32_t private_bytes; /**< per work-item */
    uint32_t spill_bytes;   /**< of these, for values without a register; 0 also if unknown */
    uint8_t uuid[16];       /**< of the kernel */
    uint8_t module_uuid[16];
};

/** What kind of queue queue_create() shall make. */
struct zeta_plugin_queue_desc {
    uint64_t struct_size;
    uint32_t ordinal;  /**< queue group */
    uint32_t index;    /**< queue in the group */
    uint32_t priority; /**< numerically ze_command_queue_priority_t */
    uint32_t reserved;
};

/** Command types. */
enum {
    ZETA_PLUGIN_COMMAND_BARRIER =
        0, /**< all earlier commands complete; also carries waits/signal */
    ZETA_PLUGIN_COMMAND_LAUNCH = 1,
    ZETA_PLUGIN_COMMAND_COPY = 2,
    ZETA_PLUGIN_COMMAND_COPY_REGION = 3,
    ZETA_PLUGIN_COMMAND_FILL = 4,
    ZETA_PLUGIN_COMMAND_TIMESTAMP = 5, /**< writes the device timer (uint64_t) to memory */
    ZETA_PLUGIN_COMMAND_EVENT_RESET = 6,
    ZETA_PLUGIN_COMMAND_CALL = 7,        /**< calls a function of the host in queue order */
    ZETA_PLUGIN_COMMAND_QUERY_BEGIN = 8, /**< u.query: counting starts; earlier commands complete */
    ZETA_PLUGIN_COMMAND_QUERY_END = 9,   /**< u.query: earlier commands complete, counting ends */
    ZETA_PLUGIN_COMMAND_MARKER = 10      /**< u.marker: earlier commands complete, then it is set */
};

/** Flags of a command. */
enum {
    ZETA_PLUGIN_COMMAND_COOPERATIVE = 1u << 0,
    ZETA_PLUGIN_COMMAND_INDIRECT = 1u << 1 /**< launch.indirect_counts holds the group counts at run
                                              time, copy.indirect says what a COPY copies */
};

/** Runs a kernel. */
struct zeta_plugin_launch {
    struct zeta_plugin_kernel *kernel;
    const void *arguments; /**< block_bytes of the kernel; valid until the submission is done */
    uint32_t group_size[3];
    uint32_t group_count[3]; /**< a zero in any of them: nothing runs, success */
    uint64_t global_offset[3];
    const uint32_t *indirect_counts; /**< with COMMAND_INDIRECT: three values read when it starts */
};

/** Copies bytes between any memory that the device can reach. */
struct zeta_plugin_copy {
    void *target;
    const void *source;
    uint64_t size_bytes;                     /**< 0 copies nothing and touches nothing */
    const struct zeta_plugin_copy *indirect; /**< with COMMAND_INDIRECT: read when it starts, in
                                                  place of the members above; the host's memory */
};

/** A box of bytes, width x height rows x depth slices, at origins inside both buffers. */
struct zeta_plugin_copy_region {
    void *target;
    const void *source;
    uint64_t target_origin[3], source_origin[3]; /**< x in bytes, y in rows, z in slices */
    uint64_t size[3];                            /**< x in bytes, y in rows, z in slices */
    uint64_t target_pitch_bytes, target_slice_bytes;
    uint64_t source_pitch_bytes, source_slice_bytes;
};

/** Repeats a pattern from target on, the last time perhaps in part. */
struct zeta_plugin_fill {
    void *target;
    const void *pattern; /**< pattern_bytes, valid until the submission is done */
    uint64_t pattern_bytes;
    uint64_t size_bytes;
};

/** Calls a function of the host, which may block, on a thread of the backend without its locks. */
struct zeta_plugin_call {
    void (*function)(void *context);
    void *context;
};

/** Which query a QUERY_BEGIN or QUERY_END is about. */
struct zeta_plugin_query_point {
    struct zeta_plugin_query_pool *pool; /**< stays until the submission is done */
    uint32_t index;                      /**< below the count of the pool */
    uint32_t reserved;
};

/** Puts a value into the data of a counting unit, at the place in time where the command runs. */
struct zeta_plugin_marker {
    struct zeta_plugin_device *device; /**< whose unit: that of the queue, or one of its tiles */
    struct zeta_plugin_string unit;    /**< valid until the submission is done */
    uint64_t value;
    uint64_t stream_token; /**< of the stream that the marker is for; dropped without a word when
                                that stream is closed. 0: for all who collect from the unit, in any
                                process, streams and tracers */
};

/**
 * One command. Commands of a submission run in order; each starts after its wait events are
 * signalled and, when it ends, signals its event with the ticks at which it began and ended.
 */
struct zeta_plugin_command {
    uint64_t struct_size;
    uint32_t type; /**< ZETA_PLUGIN_COMMAND_* */
    uint32_t flags;
    struct zeta_plugin_event *const *wait_events;
    uint64_t wait_count;
    struct zeta_plugin_event *signal_event; /**< null: none; for EVENT_RESET the one to reset */
    union {
        struct zeta_plugin_launch launch;
        struct zeta_plugin_copy copy;
        struct zeta_plugin_copy_region region;
        struct zeta_plugin_fill fill;
        uint64_t *timestamp; /**< where TIMESTAMP writes */
        struct zeta_plugin_call call;
        struct zeta_plugin_query_point query;
        struct zeta_plugin_marker marker;
    } u;
};

/**
 * Compute. The memory, module, kernel and queue functions are required once the table is given,
 * except those marked optional.
 */
struct zeta_plugin_compute_ops {
    uint64_t struct_size;

    /** Allocates memory; device may be null for host memory. OUT_OF_*_MEMORY when there is none. */
    uint32_t (*memory_allocate)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_memory_desc *desc, void **out_address);
    /** Frees what memory_allocate gave. No command uses it any more. */
    uint32_t (*memory_free)(struct zeta_plugin *self, void *address);

    /**
     * Builds or loads a module. May take long, may block while a debugger looks at it. On failure
     * the log sink has got a text that says what is wrong, also for native images. A plugin without
     * a compiler is asked for IL all the same: it knows best how to get one.
     */
    uint32_t (*module_create)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module);
    /** Frees a module. Its kernels were destroyed and no work uses it. */
    void (*module_destroy)(struct zeta_plugin *self, struct zeta_plugin_module *module);
    /** Array of struct zeta_plugin_string, valid until the module is destroyed. */
    uint32_t (*module_kernel_names)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                    struct zeta_plugin_array *out_names);
    /** The image in the form that module_create accepts as NATIVE; valid until destroyed. */
    uint32_t (*module_native_image)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                    struct zeta_plugin_array *out_bytes);
    /** Address and size of a global variable; INVALID_GLOBAL_NAME if there is none. */
    uint32_t (*module_global)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name, void **out_address,
                              uint64_t *out_bytes);

    /** INVALID_KERNEL_NAME if the module has no such kernel. */
    uint32_t (*kernel_create)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name,
                              struct zeta_plugin_kernel **out_kernel);
    /** Frees a kernel that no work uses. */
    void (*kernel_destroy)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel);
    /** Fills what struct_size of the host's struct has room for. Any time. */
    uint32_t (*kernel_properties)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                  struct zeta_plugin_kernel_properties *out_properties);

    /**
     * Makes a queue of a group of the device. Descriptors with equal ordinal and index may share
     * one hardware queue. INVALID_ARGUMENT for a group or an index that the device does not have.
     */
    uint32_t (*queue_create)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue);
    /**
     * Ends a queue. Submissions that have not finished are abandoned: running work is interrupted
     * and reported as DEVICE_LOST through submission_done before this returns. Destroying a queue
     * whose work faulted is the way back to a usable device.
     */
    void (*queue_destroy)(struct zeta_plugin *self, struct zeta_plugin_queue *queue);
    /**
     * Hands over commands; never waits for them. The commands, what they point to, and their events
     * stay valid until submission_done() was called with cookie. Queues may wait for events that
     * other queues signal later: this must not dead-lock, whatever the order of submission.
     */
    uint32_t (*submit)(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                       const struct zeta_plugin_array *commands, void *cookie);
    /** Some event changed; commands that wait may be ready now. Any time. Cheap. */
    void (*wake)(struct zeta_plugin *self);
    /** SUCCESS, or DEVICE_LOST after a command of this queue faulted. Any time. Cheap. */
    uint32_t (*queue_status)(struct zeta_plugin *self, struct zeta_plugin_queue *queue);

    /**
     * Gives an allocation of memory_allocate() in a form that another process can import. base is
     * what memory_allocate() gave. Optional, with memory_import().
     */
    uint32_t (*memory_export)(struct zeta_plugin *self, void *base,
                              struct zeta_plugin_share *out_share);
    /**
     * Maps memory that another process (or this one) exported; memory_free() ends it. The
     * descriptor stays the host's. With size_bytes 0 only the descriptor is known; the plugin finds
     * the rest and fills it in. INVALID_ARGUMENT when it is not what an export gives, or the memory
     * was freed since.
     */
    uint32_t (*memory_import)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              struct zeta_plugin_share *share, void **out_address);

    /**
     * Virtual memory: ranges of addresses, physical memory, and mappings between them. Optional,
     * all or none, from here to virtual_access(). Addresses and sizes are multiples of the page.
     * The host checks that ranges are reserved and that what is mapped lies inside both sides, and
     * makes one change at a time to one reservation.
     *
     * virtual_page_bytes() gives the page for memory of a size; 0: the device has no virtual
     * memory. Any time.
     */
    uint64_t (*virtual_page_bytes)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   uint64_t size_bytes);
    /**
     * Reserves addresses, at wanted if that is possible; null: anywhere. Nothing is mapped there.
     * OUT_OF_HOST_MEMORY when no range is free.
     */
    uint32_t (*virtual_reserve)(struct zeta_plugin *self, void *wanted, uint64_t size_bytes,
                                void **out_address);
    /** Gives back a whole reservation, in which nothing is mapped. */
    uint32_t (*virtual_free)(struct zeta_plugin *self, void *address, uint64_t size_bytes);
    /**
     * Makes memory that has no address. kind is ZETA_PLUGIN_MEMORY_DEVICE or _HOST; device is null
     * for host memory. OUT_OF_*_MEMORY when there is none.
     */
    uint32_t (*physical_create)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                uint32_t kind, uint64_t size_bytes,
                                struct zeta_plugin_physical **out_physical);
    /** Frees physical memory, which is mapped nowhere. */
    void (*physical_destroy)(struct zeta_plugin *self, struct zeta_plugin_physical *physical);
    /**
     * Shows size_bytes of physical memory, from offset_bytes on, at addresses where nothing is
     * mapped. access is one of ZETA_PLUGIN_ACCESS_*.
     */
    uint32_t (*virtual_map)(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                            struct zeta_plugin_physical *physical, uint64_t offset_bytes,
                            uint32_t access);
    /** Takes away what is mapped in a part of a reservation; parts of it may hold nothing. */
    uint32_t (*virtual_unmap)(struct zeta_plugin *self, void *address, uint64_t size_bytes);
    /** Changes the access (ZETA_PLUGIN_ACCESS_*) of a range that is mapped as a whole. */
    uint32_t (*virtual_access)(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                               uint32_t access);

    /** Address of a function by name; INVALID_FUNCTION_NAME if there is none. Optional. */
    uint32_t (*module_function)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                struct zeta_plugin_string name, void **out_address);
    /**
     * Names of a kind (ZETA_PLUGIN_SYMBOL_*), an array of struct zeta_plugin_string, valid until
     * the module is linked or destroyed. Optional; absent: modules have no symbols.
     */
    uint32_t (*module_symbols)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint32_t kind, struct zeta_plugin_array *out_names);
    /**
     * Resolves the imports of each module with the exports of all of them. modules is an array of
     * struct zeta_plugin_module pointers; the log says what is missing. A module may be linked
     * once; the modules that it took something from live longer than it does (the host sees to
     * that). MODULE_LINK_FAILURE when something is missing. Optional, with module_symbols().
     */
    uint32_t (*module_link)(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                            const struct zeta_plugin_log_sink *log);

    /** As memory_export(), for physical memory. Optional, with physical_import(). */
    uint32_t (*physical_export)(struct zeta_plugin *self, struct zeta_plugin_physical *physical,
                                struct zeta_plugin_share *out_share);
    /** As memory_import(), for physical memory; physical_destroy() ends it. Optional. */
    uint32_t (*physical_import)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_share *share,
                                struct zeta_plugin_physical **out_physical);
    /**
     * Lets kernels use memory that the application got elsewhere (heap, stack, a file), at its own
     * address; memory_free() ends that and leaves the memory alone. Whole pages. access is
     * ZETA_PLUGIN_ACCESS_READ or _READ_WRITE. INVALID_ARGUMENT when it is not there, cannot be
     * used so, or overlaps memory that kernels can use already. Optional.
     */
    uint32_t (*memory_adopt)(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                             uint32_t access);
    /** Bytes of the device's memory that nobody has. Any time. Optional. */
    uint32_t (*memory_unused)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              uint64_t *out_bytes);

    /**
     * Number of groups of a kernel that can all be resident at the same time on one queue of its
     * device, for a group size and an argument block (which holds the sizes of local memory). Any
     * time. Optional; absent: the host computes it from the properties of the device.
     */
    uint32_t (*kernel_resident_groups)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                       const uint32_t group_size[3], const void *arguments,
                                       uint64_t *out_groups);

    /**
     * As submit(), for a caller that waits for the end of the commands in any case: the backend may
     * run them before it returns, on the calling thread, and report them there. It does not when
     * that could block on something else than the work: earlier submissions, events, CALL
     * commands. Optional; absent or UNSUPPORTED_FEATURE: the host uses submit().
     */
    uint32_t (*submit_here)(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                            const struct zeta_plugin_array *commands, void *cookie);

    /**
     * Address range of a module's code on the device, end exclusive; where the executable bytes of
     * the native image were loaded. Any time. Optional; absent: nobody can tell what an
     * instruction pointer belongs to.
     */
    uint32_t (*module_code)(struct zeta_plugin *self, struct zeta_plugin_module *module,
                            uint64_t *out_begin, uint64_t *out_end);
    /** Address at which a kernel's code begins. Any time. Optional, with module_code(). */
    uint32_t (*kernel_code)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                            uint64_t *out_begin);
};

/* ------------------------------------------------------------------------------------------------
 * Metrics: sets, symbols, streams, queries
 * --------------------------------------------------------------------------------------------- */

/** Receives set text (YAML of the set format) that a plugin makes at run time. */
struct zeta_plugin_text_sink {
    void *context;
    void (*write)(void *context, struct zeta_plugin_string name, struct zeta_plugin_string text);
};

/** A number that expressions refer to as $Name. */
struct zeta_plugin_symbol {
    uint64_t struct_size;
    struct zeta_plugin_string name; /**< without the dollar sign */
    uint32_t is_float;              /**< 1: f64, else u64 */
    uint32_t reserved;
    uint64_t u64;
    double f64;
};

/** One register write or one selection of a program. */
struct zeta_plugin_program_entry {
    uint64_t struct_size;
    uint32_t address; /**< of a register */
    uint32_t value;
    struct zeta_plugin_string
        select; /**< not empty: a selection that only the plugin understands */
};

/** Opens a stream; in and out. */
struct zeta_plugin_stream_desc {
    uint64_t struct_size;
    struct zeta_plugin_string unit;   /**< name of the exclusive unit, from the set file */
    struct zeta_plugin_string set;    /**< name of the set, for messages */
    struct zeta_plugin_array program; /**< of struct zeta_plugin_program_entry */
    struct zeta_plugin_string digest; /**< identifies the program between processes */
    uint64_t period_ns;               /**< in: wanted; out: used, nearest supported one */
    uint64_t notify_records;          /**< N: the descriptor polls readable with N pending */
    uint64_t ring_records;            /**< in: wanted capacity; out: capacity */
    uint32_t record_bytes;            /**< record size of the layout; INVALID_ARGUMENT if wrong */
    uint32_t keeps;         /**< out: 1: no record is ever lost here, however late it is read, so
                                 the host takes no more than it has room for */
    uint64_t max_period_ns; /**< in: what the caller can be told; the period used is not
                                 longer. 0: any */
    uint64_t token; /**< out: names this stream among all that the unit ever had in any process,
                         for MARKER commands; 0: the unit has no markers */
};

/** A program and the unit that would run it. */
struct zeta_plugin_program_use {
    uint64_t struct_size;
    struct zeta_plugin_string unit;
    struct zeta_plugin_string set;    /**< name of the set, for messages */
    struct zeta_plugin_array entries; /**< of struct zeta_plugin_program_entry */
};

/**
 * One number of a query record (zeta/query_record.h), as the layout of the set describes it in a
 * record of the unit. A view of some bits of another field has no place of its own.
 */
struct zeta_plugin_query_field {
    uint64_t struct_size;
    struct zeta_plugin_string name; /**< of a header field, or of the bank of a counter */
    uint32_t index;                 /**< of a counter in its bank, 0 for a header field */
    uint32_t low_bit, low_width;    /**< bits in the record of the unit */
    uint32_t high_bit, high_width; /**< the upper bits where they lie elsewhere; width 0: nowhere */
    uint32_t delta_bits; /**< a running count that wraps at that width; 0: the value at the end */
    uint32_t is_float;   /**< 1: an IEEE double */
};

/** Makes a pool of queries. Everything it points to is valid during query_pool_create(). */
struct zeta_plugin_query_desc {
    uint64_t struct_size;
    struct zeta_plugin_string unit;
    struct zeta_plugin_string set;    /**< name of the set, for messages */
    struct zeta_plugin_array program; /**< of struct zeta_plugin_program_entry */
    struct zeta_plugin_string digest; /**< identifies the program between processes */
    uint32_t count;                   /**< of queries, above 0 */
    uint32_t report_bytes;            /**< record size of the unit's layout */
    uint32_t record_bytes;            /**< of the query records that query_collect() makes */
    uint32_t reserved;
    struct zeta_plugin_array fields; /**< of struct zeta_plugin_query_field, in order */
};

/** What one read gave. */
struct zeta_plugin_read {
    uint64_t struct_size;
    uint64_t bytes;  /**< whole records, oldest first */
    uint64_t lost;   /**< records lost before the first of this read; 0 if unknown or none */
    uint32_t broken; /**< 1: the sequence is interrupted before the first record of this read */
    uint32_t reason; /**< of the break: ZETA_PLUGIN_BREAK_* */
};

/** Why a sequence of records is interrupted. */
enum {
    ZETA_PLUGIN_BREAK_NONE = 0,
    ZETA_PLUGIN_BREAK_OVERFLOW = 1, /**< ring was full */
    ZETA_PLUGIN_BREAK_LOST = 2,     /**< device says that reports were lost */
    ZETA_PLUGIN_BREAK_RESET = 3     /**< device was reset */
};

/** Range of sampling periods of a unit. */
struct zeta_plugin_limits {
    uint64_t struct_size;
    uint64_t min_period_ns;
    uint64_t max_period_ns;
};

/** Sets and time-based streams. */
struct zeta_plugin_metric_ops {
    uint64_t struct_size;

    /** Optional. Writes set files beside those of the manifest. */
    uint32_t (*get_sets)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink);
    /** Array of struct zeta_plugin_symbol, valid until finish(). Required. */
    uint32_t (*symbols)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_array *out_symbols);
    /** Range of periods of a unit. Required. */
    uint32_t (*limits)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits);
    /** Process id that has the unit now, 0 if it is free. Optional. */
    uint32_t (*holder)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, uint32_t *out_pid);

    /**
     * Starts sampling. The first record is taken at open (the baseline). Streams count what every
     * process does on the device. HANDLE_OBJECT_IN_USE: this process has the unit;
     * NOT_AVAILABLE: another process has it (fail() names its pid). Required.
     */
    uint32_t (*stream_open)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream);
    /**
     * Copies whole records, oldest first. Never blocks; nothing pending is SUCCESS with 0 bytes.
     * A read ends before a break, so a break is only ever before its first record. Required.
     */
    uint32_t (*stream_read)(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read);
    /** Records that a read would give now. Any time. Lock-free. Optional. */
    uint64_t (*stream_pending)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
    /** A descriptor that polls readable when notify_records are pending, or -1. Optional. */
    int32_t (*stream_descriptor)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
    /**
     * Stops sampling and gives up the unit; records stay readable until close.
     * After it no record is added. Optional.
     */
    void (*stream_stop)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
    /** Ends the stream. Required. */
    void (*stream_close)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);

    /**
     * Makes a pool whose queries count what QUERY_BEGIN and QUERY_END of queues of the device (or
     * of its tiles) enclose: the work of that queue alone, where the device can tell, also while
     * other queues and processes run. Pools live side by side in any number and do not hold the
     * unit. NOT_AVAILABLE where queries need the whole unit and somebody has it. Optional, all or
     * none, from here to query_collect().
     */
    uint32_t (*query_pool_create)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool);
    /** Frees a pool of which nothing is in a submission any more. */
    void (*query_pool_destroy)(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
    /** Back to the state before the first begin. Nothing of it is in a submission. */
    uint32_t (*query_reset)(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                            uint32_t index);
    /**
     * Writes the result of a query: record_bytes for each tile of the pool's device (once without
     * tiles), in the order of tiles. NOT_READY until the latest QUERY_END has run and its numbers
     * are there, and while a new QUERY_BEGIN waits for its end. Any time.
     */
    uint32_t (*query_collect)(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                              uint32_t index, void *records);

    /**
     * Whether the device can count with all these programs (an array of struct
     * zeta_plugin_program_use) at the same time; writes 1 or 0. Units that differ never exclude
     * each other, one unit never runs two programs: the host knows that and asks about more than
     * that only. Any time. Optional; absent: nothing else excludes anything.
     */
    uint32_t (*concurrent)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           const struct zeta_plugin_array *programs, uint32_t *out_possible);

    /**
     * 1 when no record will ever be added to the stream, because what it shows was recorded and
     * has an end; what it holds can still be read. Any time. Lock-free. Optional; absent: 0.
     */
    uint32_t (*stream_ended)(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
};

/* ------------------------------------------------------------------------------------------------
 * Metric tracers: events that a device reports when they happen
 * --------------------------------------------------------------------------------------------- */

/** Opens a tracer; in and out. */
struct zeta_plugin_tracer_desc {
    uint64_t struct_size;
    struct zeta_plugin_array units; /**< of struct zeta_plugin_string: the sources to trace */
    uint32_t record_bytes;          /**< record size of their layout; INVALID_ARGUMENT if wrong */
    uint32_t keeps;                 /**< out: as of struct zeta_plugin_stream_desc */
    uint64_t notify_bytes; /**< whole records; the descriptor polls readable with so many pending.
                                0: never */
    uint64_t ring_bytes;   /**< in: wanted capacity; out: capacity */
};

/** What a tracer does. */
enum {
    ZETA_PLUGIN_TRACER_OFF = 0,
    ZETA_PLUGIN_TRACER_STARTING = 1, /**< enabled asynchronously, takes effect within 10 ms */
    ZETA_PLUGIN_TRACER_ON = 2,
    ZETA_PLUGIN_TRACER_STOPPING = 3 /**< disabled asynchronously, records may still come */
};

/** Event records of fixed size, in the order of their time stamps for each source. */
struct zeta_plugin_tracer_ops {
    uint64_t struct_size;

    /**
     * Makes a tracer, which is off. Sees what every process does on the device.
     * HANDLE_OBJECT_IN_USE: this process has one of the units; NOT_AVAILABLE: another process has
     * it (fail() names its pid). Required, as all here but descriptor().
     */
    uint32_t (*open)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                     struct zeta_plugin_tracer_desc *desc, struct zeta_plugin_tracer **out_tracer);
    /**
     * Starts; writes an `enabled` record. synchronous 1: the tracer is on when it returns, and what
     * begins later is recorded; 0: returns at once. A pending stop is taken back.
     */
    uint32_t (*enable)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                       uint32_t synchronous);
    /** Ends; writes a `disabled` record with the time of the call, in both ways. */
    uint32_t (*disable)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                        uint32_t synchronous);
    /** ZETA_PLUGIN_TRACER_*. Any time. */
    uint32_t (*state)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** As stream_read(): whole records, oldest first, a break only before the first. */
    uint32_t (*read)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer, void *buffer,
                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
    /** Bytes that a read would give now. Any time. Lock-free. */
    uint64_t (*pending)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** A descriptor that polls readable when notify_bytes are pending, or -1. Optional. */
    int32_t (*descriptor)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** Ends the tracer, whatever it does, and gives up its units. */
    void (*close)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
    /** As stream_ended(): what was recorded is over. Any time. Lock-free. Optional; absent: 0. */
    uint32_t (*ended)(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer);
};

/* ------------------------------------------------------------------------------------------------
 * Negotiation
 * --------------------------------------------------------------------------------------------- */

/** The operations of one plugin instance (one manifest). Lives until the process ends. */
struct zeta_plugin_ops {
    uint64_t struct_size;

    /**
     * Prepares the plugin: reads settings, looks for hardware. May start threads. Called once after
     * negotiation, and again after finish(). Absent: nothing to do.
     */
    uint32_t (*init)(struct zeta_plugin *self);
    /** Stops threads, closes descriptors, frees memory. The code stays mapped. Required. */
    void (*finish)(struct zeta_plugin *self);

    const struct zeta_plugin_device_ops *device;   /**< required */
    const struct zeta_plugin_compute_ops *compute; /**< null: no compute */
    const struct zeta_plugin_metric_ops *metric;   /**< null: no metrics */
    const struct zeta_plugin_tracer_ops *tracer;   /**< null: no metric tracers */
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
