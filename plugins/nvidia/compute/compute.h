#ifndef ZETA_PLUGINS_NVIDIA_COMPUTE_COMPUTE_H
#define ZETA_PLUGINS_NVIDIA_COMPUTE_COMPUTE_H

/*
 * Compute on the driver API: what the files of this folder share.
 *
 * All Level Zero contexts share the primary context of a device. A thread of the application may
 * have a context of its own current, so each call brings ours and puts the other one back; threads
 * of queues have ours for ever.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/compiler/compiler.h>

#include "plugins/nvidia/gpu/nvidia.h"

struct nvidia_base;
struct nvidia_failure;
struct nvidia_print;

/** What a device keeps for compute. */
struct nvidia_context {
    /** The primary context, made when something computes there for the first time. */
    void *_Atomic primary;
    void *clock;          /**< a stream on which nothing else runs */
    pthread_mutex_t lock; /**< for the members below, and for making the context */
    struct nvidia_base *base;
    struct zeta_plugin_queue *queues;
    struct nvidia_print *prints; /**< buffers of printf that no launch uses */
};

/** What the plugin keeps for compute. */
struct nvidia_compute {
    struct zeta_softqueue_pool *waiters; /**< queues that wait for events */
    pthread_mutex_t lock;                /**< for the allocations */
    void *allocations;                   /**< of struct nvidia_allocation, for tsearch */
    struct nvidia_context contexts[];    /**< of the devices, in their order */
};

/** The context of a thread before nvidia_enter(). */
struct nvidia_entered {
    void *before;
    bool is_changed;
};

/**
 * Makes the context of a device current on the calling thread; the first call makes it. Each
 * success is followed by nvidia_leave() on the same thread. Any thread.
 * Errors: DEVICE_LOST for a device that is lost, with its sentence; NOT_AVAILABLE in exclusive
 * mode; OUT_OF_*_MEMORY.
 */
uint32_t nvidia_enter(struct zeta_plugin *self, struct zeta_plugin_device *device,
                      struct nvidia_entered *out_entered);
void nvidia_leave(struct zeta_plugin *self, const struct nvidia_entered *entered);

/** As nvidia_enter(), for what belongs to no device: memory of the host, addresses. */
uint32_t nvidia_enter_any(struct zeta_plugin *self, struct nvidia_entered *out_entered);

/**
 * The result of the interface for one of the driver, with a sentence "DEVICE: WHAT failed: ...". A
 * fault makes the device lost for good.
 *
 * @device  may be NULL
 * @what    "an allocation of 100 bytes"
 */
uint32_t nvidia_fail(struct zeta_plugin *self, struct zeta_plugin_device *device, int cuda,
                     const char *what);

/** The result of the interface for one of the driver. */
uint32_t nvidia_result(int cuda);

/** True for results after which every later call of the context fails. */
bool nvidia_is_fault(int cuda);

/** What a fault is, in words: "an address that is not mapped". */
const char *nvidia_fault_kind(int cuda);

/** SUCCESS, or DEVICE_LOST with the sentence. Any thread, cheap. */
uint32_t nvidia_lost(struct zeta_plugin_device *device);

/* ---- Memory (memory.c, virtual.c) ---- */

uint32_t nvidia_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_memory_desc *desc, void **out_address);
uint32_t nvidia_memory_free(struct zeta_plugin *self, void *address);
uint32_t nvidia_memory_adopt(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                             uint32_t access);
uint32_t nvidia_memory_unused(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              uint64_t *out_bytes);

/** Frees the table; what the application left in it stays until the process ends. */
void nvidia_memory_finish(struct nvidia_compute *compute);

uint64_t nvidia_virtual_page(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             uint64_t size_bytes);
uint32_t nvidia_virtual_reserve(struct zeta_plugin *self, void *wanted, uint64_t size_bytes,
                                void **out_address);
uint32_t nvidia_virtual_free(struct zeta_plugin *self, void *address, uint64_t size_bytes);
uint32_t nvidia_physical_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                uint32_t kind, uint64_t size_bytes,
                                struct zeta_plugin_physical **out_physical);
void nvidia_physical_destroy(struct zeta_plugin *self, struct zeta_plugin_physical *physical);
uint32_t nvidia_virtual_map(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                            struct zeta_plugin_physical *physical, uint64_t offset_bytes,
                            uint32_t access);
uint32_t nvidia_virtual_unmap(struct zeta_plugin *self, void *address, uint64_t size_bytes);
uint32_t nvidia_virtual_access(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                               uint32_t access);

/* ---- Modules and kernels (module.c, link.c, kernel.c) ---- */

struct zeta_plugin_module {
    struct zeta_plugin_device *device;
    void *handle;   /**< NULL: it has imports */
    uint8_t *image; /**< native: a cubin or fat binary, with the lines of zeta-nv-cc behind it */
    size_t image_bytes;
    struct zeta_plugin_string *names; /**< of kernels */
    uint32_t name_count;
    struct nvidia_image *contents; /**< kernels as the image tells them; NULL: the driver tells */
    struct zeta_compiler_source source; /**< if it may be linked: what it was made of */
    struct nvidia_linked *linked;       /**< NULL: it has no imports, or they were not found yet */
    struct zeta_plugin_module **givers; /**< of its imports, in their order, once it is linked */
    uint32_t unit;                      /**< of what was linked together */
    uint8_t uuid[16];
};

/** What was made of modules that were linked: one, or some that import from each other. */
struct nvidia_linked {
    void *handle;
    struct nvidia_image *contents;
    uint32_t users; /**< modules, which go one after the other */
};

struct zeta_plugin_kernel {
    struct zeta_plugin_module *module;
    void *function;
    char *name;
    /** Of kernels that zeta-nv-cc did not make the last one is dynamic shared memory. */
    struct zeta_plugin_argument *arguments;
    uint32_t argument_count;
    uint32_t parameter_count; /**< arguments, the offset of the launch, the buffer of printf */
    uint32_t parameter_bytes; /**< of the block that the driver gets */
    uint32_t block_bytes;     /**< of the block that a launch has */
    bool is_ours;    /**< made by zeta-nv-cc: each local argument has its part of shared memory */
    bool has_offset; /**< the last three parameters are the offset of the launch */
    uint32_t offset_at; /**< where these are, in the block */
    bool prints;        /**< the last parameter is the buffer of printf */
    uint32_t print_at;
    const struct nvidia_entry
        *entry; /**< of the module's contents; NULL: the image does not tell */
    int max_threads, registers, shared_bytes, private_bytes;
    uint8_t uuid[16];
};

uint32_t nvidia_module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module);
void nvidia_module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module);
uint32_t nvidia_module_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                             struct zeta_plugin_array *out_names);
uint32_t nvidia_module_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                             struct zeta_plugin_array *out_bytes);
uint32_t nvidia_module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name, void **out_address,
                              uint64_t *out_bytes);
uint32_t nvidia_module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint32_t kind, struct zeta_plugin_array *out_names);

/**
 * Makes a module of what zeta-nv-cc made. The log gets what the driver says.
 * Errors: MODULE_BUILD_FAILURE; those of a native module.
 */
uint32_t nvidia_module_from(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            const struct zeta_compiled *built, struct zeta_plugin_string flags,
                            const struct zeta_plugin_log_sink *log,
                            struct zeta_plugin_module **out_module);

uint32_t nvidia_module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                            const struct zeta_plugin_log_sink *log);

/** Gives up what a module has of links. */
void nvidia_module_unlink(struct zeta_plugin *self, struct zeta_plugin_module *module);

/** What was loaded for a module, and what tells its kernels and variables. */
void *nvidia_module_handle(const struct zeta_plugin_module *module);
const struct nvidia_image *nvidia_module_loaded(const struct zeta_plugin_module *module);

uint32_t nvidia_kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name,
                              struct zeta_plugin_kernel **out_kernel);
void nvidia_kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel);
uint32_t nvidia_kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                  struct zeta_plugin_kernel_properties *out_properties);

/** Dynamic shared memory of a launch with these arguments, in bytes. */
uint64_t nvidia_kernel_shared(const struct zeta_plugin_kernel *kernel, const void *arguments);

/**
 * Writes parameter_bytes as the driver gets them: the arguments, with local memory as offsets in
 * dynamic shared memory, the offset of the launch, and the address of the buffer of printf.
 */
void nvidia_kernel_parameters(const struct zeta_plugin_kernel *kernel,
                              const struct zeta_plugin_launch *launch, uint64_t print,
                              void *out_block);

uint32_t nvidia_kernel_resident(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                const uint32_t group_size[3], const void *arguments,
                                uint64_t *out_groups);

/** Mixes bytes into a uuid. */
void nvidia_hash(uint8_t uuid[16], const void *bytes, size_t size);

/* ---- Times (times.c) ---- */

/** A CUDA event whose host time is known: others are told relative to it. */
struct nvidia_base {
    void *event;
    uint64_t host_ns;
    unsigned users;
};

/**
 * The base of a device, not older than a second, for nvidia_base_release(). The context is current.
 * NULL when the driver fails.
 */
struct nvidia_base *nvidia_base_acquire(struct zeta_plugin *self,
                                        struct zeta_plugin_device *device);
void nvidia_base_release(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         struct nvidia_base *base);

/**
 * Time of a CUDA event that is complete, in ticks of the device's timer; within some microseconds.
 * 0 when the driver does not tell.
 */
uint64_t nvidia_base_time(struct zeta_plugin *self, const struct nvidia_base *base, void *event);

/* ---- Commands (command.c) ---- */

/** What went wrong with a command: a result of the interface, and the sentence. */
struct nvidia_failure {
    uint32_t result;
    int cuda; /**< of the driver, 0: not its */
    char sentence[512];
};

/**
 * True if a command can be given to a stream at once: it neither reads memory of the host when it
 * begins nor makes the call wait.
 */
bool nvidia_command_is_asynchronous(struct zeta_plugin *self,
                                    const struct zeta_plugin_command *command);

/**
 * Gives a LAUNCH, COPY, COPY_REGION, FILL or TIMESTAMP to a stream. The context is current; for one
 * that is not asynchronous everything before it is complete, and the call returns when it is.
 * False with the failure.
 */
bool nvidia_command_run(struct zeta_plugin *self, struct zeta_plugin_device *device, void *stream,
                        const struct zeta_plugin_command *command,
                        struct nvidia_failure *out_failure);

/** Waits for a stream. False with the failure. The context is current. */
bool nvidia_stream_wait(struct zeta_plugin *self, void *stream, struct nvidia_failure *out_failure);

/* ---- printf (print.c) ---- */

/**
 * Takes a buffer for a launch on that stream, empty; NULL with the failure. nvidia_print_end() or
 * nvidia_print_drop() ends the use. The context is current.
 */
struct nvidia_print *nvidia_print_begin(struct zeta_plugin_device *device, void *stream,
                                        struct nvidia_failure *out_failure);

/** Its address on the device. */
uint64_t nvidia_print_address(const struct nvidia_print *print);

/**
 * Waits for the launch and writes what it printed. Calls that were lost and records that make no
 * sense are logged. False with the failure. The context is current.
 */
bool nvidia_print_end(struct zeta_plugin_device *device, void *stream, struct nvidia_print *print,
                      const struct zeta_plugin_kernel *kernel, struct nvidia_failure *out_failure);

/** Gives a buffer back that nothing was launched with. Any thread. */
void nvidia_print_drop(struct zeta_plugin_device *device, struct nvidia_print *print);

/** Frees the buffers. The context is current. */
void nvidia_print_finish(struct zeta_plugin_device *device);

/* ---- Queues (queue.c, steps.c) ---- */

uint32_t nvidia_queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue);
void nvidia_queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue);
uint32_t nvidia_queue_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_array *commands, void *cookie);
uint32_t nvidia_queue_submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                  const struct zeta_plugin_array *commands, void *cookie);
uint32_t nvidia_queue_wait(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                           uint64_t count, uint64_t timeout_ns);
uint32_t nvidia_queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue);

/* ---- compute.c ---- */

/** Prepares compute. Errors: OUT_OF_HOST_MEMORY. */
uint32_t nvidia_compute_init(struct nvidia *nvidia);
void nvidia_compute_finish(struct nvidia *nvidia);

extern const struct zeta_plugin_compute_ops nvidia_compute_ops;

#endif
