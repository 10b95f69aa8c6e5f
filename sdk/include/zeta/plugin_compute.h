/*
 * Compute of the interface between libzeta and its backends: memory, modules, kernels, queues and
 * the commands that run in them. Backends include zeta/plugin.h.
 */
#ifndef ZETA_PLUGIN_COMPUTE_H
#define ZETA_PLUGIN_COMPUTE_H

#include <zeta/plugin_base.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    ZETA_PLUGIN_ARG_LOCAL = 2,  /**< local memory; the block holds its size as uint64_t */
    ZETA_PLUGIN_ARG_UNKNOWN = 3 /**< 8 bytes: plain data or a pointer, nobody knows which */
};

/** Flags of an argument. */
enum {
    ZETA_PLUGIN_ARG_OPTIONAL = 1u << 0 /**< LOCAL only: need not be set, and is 0 bytes then */
};

/** One kernel argument and its place in the argument block of a launch. */
struct zeta_plugin_argument {
    uint64_t struct_size;
    uint32_t kind; /**< ZETA_PLUGIN_ARG_* */
    uint32_t size_bytes;
    uint32_t offset_bytes; /**< in the block */
    uint32_t flags;        /**< ZETA_PLUGIN_ARG_OPTIONAL */
};

/** Flags of a kernel. */
enum {
    ZETA_PLUGIN_KERNEL_NO_GLOBAL_OFFSET = 1u << 0 /**< its launches have no global offset */
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
    uint32_t flags; /**< ZETA_PLUGIN_KERNEL_*; 0 of backends that do not know the member */
    uint32_t reserved;
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
    uint32_t group_count[3];         /**< a zero in any of them: nothing runs, success */
    uint64_t global_offset[3];       /**< 0 with ZETA_PLUGIN_KERNEL_NO_GLOBAL_OFFSET */
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

/** Neighbouring bytes of a device's register file. */
struct zeta_plugin_register_range {
    uint32_t begin_bytes; /**< of the first one, from the begin of the file */
    uint32_t size_bytes;
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
 *
 * A plugin that has queries but does not compute (its manifest provides metric.query and not
 * compute) gives a table with the functions of queues alone: queue_create(), queue_destroy(),
 * submit(), wake() and queue_status(). Such queues get BARRIER, TIMESTAMP, EVENT_RESET, CALL,
 * QUERY_BEGIN, QUERY_END and MARKER commands.
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
     * whose work faulted is the way back to a usable device, where there is one: a device may stay
     * lost until the process ends, and status() says so.
     */
    void (*queue_destroy)(struct zeta_plugin *self, struct zeta_plugin_queue *queue);
    /**
     * Hands over commands; never waits for them. The commands, what they point to, and their events
     * stay valid until submission_done() was called with cookie. Queues may wait for events that
     * other queues signal later: this must not dead-lock, whatever the order of submission.
     * DEVICE_LOST for a device that is lost for good; nothing is reported of this submission then.
     */
    uint32_t (*submit)(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                       const struct zeta_plugin_array *commands, void *cookie);
    /** Some event changed; commands that wait may be ready now. Any time. Cheap. */
    void (*wake)(struct zeta_plugin *self);
    /**
     * SUCCESS, or DEVICE_LOST after a command of this queue faulted, or of the device if that is
     * lost for good. Any time. Cheap.
     */
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

    /**
     * As memory_export(), for physical memory from some byte to its end: share->offset_bytes is
     * that byte, a multiple of the page. Optional, with physical_import().
     */
    uint32_t (*physical_export)(struct zeta_plugin *self, struct zeta_plugin_physical *physical,
                                struct zeta_plugin_share *share);
    /** As memory_import(), for physical memory; physical_destroy() ends it. Optional. */
    uint32_t (*physical_import)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_share *share,
                                struct zeta_plugin_physical **out_physical);
    /**
     * Lets kernels use memory that the application got elsewhere (heap, stack, a file), at its own
     * address; memory_free() ends that and leaves the memory alone. Whole pages that were mapped
     * with that access when the call began: ZETA_PLUGIN_ACCESS_READ or _READ_WRITE.
     * INVALID_ARGUMENT when it overlaps memory that kernels can use already. Optional.
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
    /**
     * Lowest address of a kernel's code on the device; of a module's code, each instruction belongs
     * to one kernel. Any time. Optional, with module_code().
     */
    uint32_t (*kernel_code)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                            uint64_t *out_begin);
    /**
     * The bytes that the device executes for a kernel, from kernel_code() on. They live as long as
     * the kernel. Any time. Optional, with kernel_code().
     */
    uint32_t (*kernel_image)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                             struct zeta_plugin_array *out_bytes);

    /**
     * Bytes of the device's register file that neither the code of a kernel nor what it calls ever
     * uses: at most *count ranges, ascending and apart. *count gets how many there are, which is 0
     * where the code does not tell. Derived from the code as it is now. Any time. Optional; absent:
     * nobody can tell.
     */
    uint32_t (*kernel_profile)(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                               uint32_t *count, struct zeta_plugin_register_range *ranges);

    /**
     * Waits until the first count submissions that the queue accepted since it was made have been
     * reported, at most timeout_ns (0: looks, UINT64_MAX: no limit), and reports on the calling
     * thread what has finished. So who waits need not be woken by another thread.
     *
     * It waits for work of the device alone: NOT_READY also when one of the submissions waits for
     * something else, an event for example, or has not been accepted yet. The host sleeps then, and
     * these reports come as soon as they can. What is submitted later delays none of them.
     *
     * A plugin that has this function may report late, by some milliseconds, what signals no event
     * as long as nobody waits for it. Any thread, several at a time and beside submit(), but not
     * during queue_destroy(). Optional; absent: each report comes as soon as it can.
     */
    uint32_t (*queue_wait)(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                           uint64_t count, uint64_t timeout_ns);
};

#ifdef __cplusplus
}
#endif

#endif
