#ifndef ZETA_PLUGINS_VGPU_ENGINE_ENGINE_H
#define ZETA_PLUGINS_VGPU_ENGINE_ENGINE_H

/*
 * Execution engine of the virtual GPU: loads RV64 kernels, runs them on simulated hardware
 * threads and counts what they do. It knows no Level Zero and no plugin interface, and has no
 * mutable state outside the objects it hands out, so a process may hold several engines.
 *
 *   space    which host memory a kernel may touch            (space.h)
 *   image    one loaded RV64 ELF file, with its kernels
 *   engine   topology, worker threads, caches, counters of one tile
 *   launch   one kernel over a grid of work-groups
 *
 * Order of destruction: engine, then its images, then the space.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/vgpu/machine/elf.h"
#include "plugins/vgpu/machine/message.h"
#include "plugins/vgpu/machine/space.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"

struct zeta_vgpu_engine;
struct zeta_vgpu_image;

/** A part of counts: @taken of @of belongs to a time that is over; all where taken is not less. */
struct zeta_vgpu_part {
    uint64_t taken, of;
};

/** A part of a value, rounded down. */
static inline uint64_t zeta_vgpu_part_of(uint64_t value, struct zeta_vgpu_part part)
{
    __extension__ typedef unsigned __int128 uint128;

    return part.taken >= part.of ? value : (uint64_t)((uint128)value * part.taken / part.of);
}

/**
 * Counters of a subslice, in the order of A0..A35 of the OA report.
 *
 * The device's value of every counter is the plain sum over its subslices: quantities that
 * belong to the device as a whole (clocks, launches) are kept in the row of subslice 0 only.
 * Classes: exact unless marked simulated (a cache model fed with the real addresses)
 * or modelled (cycle model).
 */
enum zeta_vgpu_counter {
    ZETA_VGPU_GPU_CORE_CLOCKS,  /**< modelled; clocks in which a launch ran, row 0 */
    ZETA_VGPU_BUSY_CLOCKS,      /**< modelled; equal to the above, row 0 */
    ZETA_VGPU_EU_ACTIVE_CLOCKS, /**< modelled; sum over EUs */
    ZETA_VGPU_EU_STALL_CLOCKS,  /**< modelled; sum over EUs */
    ZETA_VGPU_THREAD_CLOCKS,    /**< modelled; resident threads x clocks */
    ZETA_VGPU_INST_RETIRED,
    ZETA_VGPU_INST_INT,
    ZETA_VGPU_INST_FP32,
    ZETA_VGPU_INST_FP64,
    ZETA_VGPU_FP_OPS,
    ZETA_VGPU_INST_BRANCH,
    ZETA_VGPU_INST_BRANCH_TAKEN,
    ZETA_VGPU_INST_CALL,
    ZETA_VGPU_INST_MEM,
    ZETA_VGPU_INST_ATOMIC,
    ZETA_VGPU_INST_MATH,
    ZETA_VGPU_BARRIER_MESSAGES,
    ZETA_VGPU_BARRIER_STALL_CYCLES, /**< modelled */
    ZETA_VGPU_GLOBAL_READ_BYTES,
    ZETA_VGPU_GLOBAL_WRITE_BYTES,
    ZETA_VGPU_PRIVATE_BYTES,
    ZETA_VGPU_SLM_READ_BYTES,
    ZETA_VGPU_SLM_WRITE_BYTES,
    ZETA_VGPU_L1_HITS, /**< simulated, as all down to INST_CACHE_MISSES */
    ZETA_VGPU_L1_MISSES,
    ZETA_VGPU_L3_HITS,
    ZETA_VGPU_L3_MISSES,
    ZETA_VGPU_GPU_MEMORY_READ_BYTES,
    ZETA_VGPU_GPU_MEMORY_WRITE_BYTES,
    ZETA_VGPU_TLB_MISSES,
    ZETA_VGPU_INST_CACHE_MISSES,
    ZETA_VGPU_COPY_BYTES, /**< always 0 here: copies are done by the queue */
    ZETA_VGPU_THREADS_DISPATCHED,
    ZETA_VGPU_GROUPS_DISPATCHED,
    ZETA_VGPU_KERNELS_LAUNCHED,  /**< row 0 */
    ZETA_VGPU_DEBUG_HALT_CYCLES, /**< modelled; clocks of threads that a debugger has stopped while
                                      others ran */
    ZETA_VGPU_COUNTER_COUNT
};

/** Shape of the simulated hardware of one tile. All members are at least 1. */
struct zeta_vgpu_topology {
    uint32_t tile;                /**< index of the tile, 0..63; part of thread ids only */
    uint32_t slices;              /**< 1..64 */
    uint32_t subslices_per_slice; /**< 1..64; slices x subslices at most 64 */
    uint32_t eus_per_subslice;    /**< 1..64 */
    uint32_t threads_per_eu;      /**< 1..64; EUs x threads at most 1024 */
    uint32_t slm_bytes;           /**< shared local memory of a subslice, up to 16 MiB */
    uint32_t stack_bytes;         /**< private memory of a thread, 4 KiB..1 MiB, whole pages */
    uint32_t l1_bytes;            /**< data cache of a subslice; power of two, 1 KiB..1 MiB */
    uint32_t l3_bytes;            /**< shared cache; power of two, 16 KiB..256 MiB */
};

/** Fills the default shape: 2 x 2 subslices x 32 EUs x 16 threads, 64 KiB SLM, 64 KiB stacks. */
void zeta_vgpu_topology_default(struct zeta_vgpu_topology *out_topology);

/** False, with the reason, when a member is out of its range. */
bool zeta_vgpu_topology_check(const struct zeta_vgpu_topology *topology,
                              struct zeta_vgpu_message *message);

/** Number of subslices of a tile. */
static inline uint32_t zeta_vgpu_topology_subslices(const struct zeta_vgpu_topology *topology)
{
    return topology->slices * topology->subslices_per_slice;
}

/** Largest work-group, in work-items: the threads of a subslice. */
static inline uint32_t zeta_vgpu_topology_group_limit(const struct zeta_vgpu_topology *topology)
{
    return topology->eus_per_subslice * topology->threads_per_eu;
}

/**
 * Whose time an engine follows. Counters are handed out at the end of each epoch: work of some ten
 * thousand instructions on each subslice.
 */
enum zeta_vgpu_time {
    /** The host's: epochs take as long as the owner allows, and events are reported at once. */
    ZETA_VGPU_TIME_HOST,
    /**
     * That of the modelled clocks. The sequence of all callbacks depends on nothing but
     * the work: not on host time, and not on the number of workers.
     */
    ZETA_VGPU_TIME_MODELLED
};

/** What a hardware thread does at an instant, in the order of the metrics of stall samples. */
enum zeta_vgpu_stall {
    ZETA_VGPU_STALL_ACTIVE,  /**< its instruction issues */
    ZETA_VGPU_STALL_CONTROL, /**< a branch was taken, the next instruction is not there yet */
    ZETA_VGPU_STALL_PIPE,    /**< latency of an arithmetic unit */
    ZETA_VGPU_STALL_SEND,    /**< memory takes a store */
    ZETA_VGPU_STALL_DIST,    /**< could issue, but another thread of its EU does */
    ZETA_VGPU_STALL_SBID,    /**< waits for loaded data */
    ZETA_VGPU_STALL_SYNC,    /**< waits at a barrier */
    ZETA_VGPU_STALL_FETCH,   /**< its code is not in the instruction cache */
    ZETA_VGPU_STALL_OTHER,   /**< stopped by a debugger */
    ZETA_VGPU_STALL_COUNT
};

/** How often threads were seen at an instruction, doing the same. */
struct zeta_vgpu_ip_sample {
    uint64_t address; /**< of the instruction */
    uint32_t stall;   /**< enum zeta_vgpu_stall */
    uint32_t count;
};

/** Events that an owner can ask for. */
enum zeta_vgpu_engine_event_kind {
    ZETA_VGPU_EVENT_KERNEL_BEGIN,
    ZETA_VGPU_EVENT_KERNEL_END, /**< also when it was stopped */
    ZETA_VGPU_EVENT_GROUP_BEGIN,
    ZETA_VGPU_EVENT_GROUP_END, /**< of a group that came to its end */
    ZETA_VGPU_EVENT_BARRIER,   /**< the last work-item of a group arrived: all of it goes on */
    ZETA_VGPU_EVENT_FAULT      /**< the first of a launch; reported when the launch has stopped */
};

/** Which of them somebody wants: bits. */
enum {
    ZETA_VGPU_WATCH_WORK = 1u << 0,  /**< kernels and groups */
    ZETA_VGPU_WATCH_DEVICE = 1u << 1 /**< barriers and faults */
};

struct zeta_vgpu_engine_event {
    enum zeta_vgpu_engine_event_kind kind;
    uint32_t subslice;                   /**< of groups and barriers; counts over slices */
    uint32_t group_id[3];                /**< of groups and barriers */
    uint32_t items;                      /**< BARRIER: work-items that waited */
    const struct zeta_vgpu_fault *fault; /**< FAULT; during the call */
    uint64_t core_clocks; /**< when it happened; ZETA_VGPU_TIME_MODELLED only, else 0 */
};

/** An epoch as host time saw it; CLOCK_MONOTONIC. */
struct zeta_vgpu_epoch {
    uint64_t begin_ns; /**< its execution began here */
    uint64_t end_ns;
    uint64_t clocks;       /**< that it took by the model; 0 before the first of a launch */
    uint64_t instructions; /**< of all subslices */
};

/** What the owner wants of a launch under way. */
struct zeta_vgpu_pace {
    uint64_t slice_ns;  /**< what is counted shall be published at least so often; 0: any time */
    uint64_t resume_ns; /**< until then the epoch lasts, and nothing else is executed; 0: no rest */
};

/** Callbacks of the owner. Every member may be NULL. */
struct zeta_vgpu_callbacks {
    void *user; /**< first argument of all callbacks */

    /**
     * New totals of all subslices since the engine was made, at the end of an epoch; they never
     * fall. Exact, simulated and modelled ones are those of the same instructions, so all of them
     * can be compared with each other. While an epoch lasts longer than it was executed, the part
     * of its counts, the same of all, that belongs to the time that has passed: @part.
     *
     * Called on one worker thread at a time, and for the last time, with all that was counted,
     * before zeta_vgpu_engine_launch returns. Must not block; may call
     * zeta_vgpu_engine_eu_counter() alone.
     */
    void (*publish)(void *user, const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT],
                    struct zeta_vgpu_part part);

    /**
     * ZETA_VGPU_TIME_HOST only: an epoch was executed and will be published, or a launch begins.
     * What is wanted, which is nothing when the callback leaves it alone, holds until the next
     * call. Rules as above.
     */
    void (*pace)(void *user, const struct zeta_vgpu_epoch *epoch, struct zeta_vgpu_pace *wanted);

    /**
     * Asked about once per epoch and subslice: how many clocks of a thread lie between two samples
     * of it, 0: none are wanted. A new @out_session begins the sequence of samples anew. Must be
     * there when sampled is.
     */
    uint64_t (*sampling)(void *user, uint64_t *out_session);

    /**
     * Samples of the threads of a subslice in an epoch (sample.c describes how they are taken),
     * and how many were lost because memory was short. Comes when the epoch is replayed, before it
     * is published; subslices in order.
     */
    void (*sampled)(void *user, const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                    uint64_t lost);

    /**
     * ZETA_VGPU_WATCH_* that are wanted now; anybody may change them at any time. NULL: none.
     * While nothing is wanted, events cost a load each.
     */
    const _Atomic uint32_t *watched;

    /**
     * Something happened. Required with watched. With ZETA_VGPU_TIME_HOST on the thread that
     * runs the subslice, as it happens; else when its epoch is replayed, in the order of clocks.
     * Several threads at a time. Must not call the engine.
     */
    void (*event)(void *user, const struct zeta_vgpu_engine_event *event);

    /**
     * Text that a kernel printed, not terminated. Calls are serialised and hold whole printf
     * calls; the order between groups is not fixed with several workers.
     */
    void (*print)(void *user, const char *text, size_t length);
};

/** What an engine is made of. The struct and its topology are copied. */
struct zeta_vgpu_engine_config {
    struct zeta_vgpu_topology topology;
    struct zeta_vgpu_callbacks callbacks;
    enum zeta_vgpu_time time;
    uint32_t workers; /**< threads that execute, 1..subslices; 0: number of CPUs */
    uint32_t slice;   /**< instructions that a hart runs before the next one, 0: 256 */
};

/**
 * Makes an engine that runs kernels on the memory of @space, which must outlive it. Worker threads
 * start with the first launch. In a child after fork the engine must not be used or destroyed.
 */
enum zeta_vgpu_result zeta_vgpu_engine_create(const struct zeta_vgpu_engine_config *config,
                                              struct zeta_vgpu_space *space,
                                              struct zeta_vgpu_message *out_message,
                                              struct zeta_vgpu_engine **out_engine);

/** Stops the workers and frees the engine. No launch may be running. NULL is allowed. */
void zeta_vgpu_engine_destroy(struct zeta_vgpu_engine *engine);

/** A kernel of an image; owned by the image. */
struct zeta_vgpu_kernel {
    const char *name;
    uint64_t entry;                /**< address of the entry stub */
    uint64_t code_begin, code_end; /**< what of the image's code is this kernel's */
    uint32_t argument_count;
    const struct vgpu_argument_info *arguments;
    uint32_t argument_block_bytes;
    uint32_t required_group_size[3]; /**< 0: not required */
    uint32_t private_bytes;          /**< largest stack frame chain known, 0: unknown */
    uint32_t spill_bytes;            /**< of these, for values without a register; 0: unknown */
    const char *attributes;          /**< of the source, blank separated; "" if unknown */
    uint32_t slm_bytes;              /**< static shared local memory */
};

/**
 * Loads a copy of an ELF file (see elf.h): ET_DYN wherever there is room, ET_EXEC at its own
 * address. All of its memory is registered in @space, which must outlive the image.
 * Errors, with a message: INVALID_IMAGE, OUT_OF_MEMORY, INVALID_ARGUMENT. Any thread.
 */
enum zeta_vgpu_result zeta_vgpu_image_create(struct zeta_vgpu_space *space, const void *bytes,
                                             size_t size, struct zeta_vgpu_message *out_message,
                                             struct zeta_vgpu_image **out_image);

/** Unloads. No launch may use it any more. NULL is allowed. */
void zeta_vgpu_image_destroy(struct zeta_vgpu_image *image);

uint32_t zeta_vgpu_image_kernel_count(const struct zeta_vgpu_image *image);

/** Kernel by position in the file's table, below kernel_count. */
const struct zeta_vgpu_kernel *zeta_vgpu_image_kernel(const struct zeta_vgpu_image *image,
                                                      uint32_t index);

/** Kernel by name, or NULL. */
const struct zeta_vgpu_kernel *zeta_vgpu_image_find_kernel(const struct zeta_vgpu_image *image,
                                                           const char *name);

/** A global variable or function by name, first of those that the image offers to others. */
bool zeta_vgpu_image_find_symbol(const struct zeta_vgpu_image *image, const char *name,
                                 struct zeta_vgpu_symbol *out_symbol);

/** What the image offers to others: functions and variables, sorted by name. */
const struct zeta_vgpu_symbol *zeta_vgpu_image_exports(const struct zeta_vgpu_image *image,
                                                       uint32_t *out_count);

/** Names that the image needs from others; none once it was linked. */
const char *const *zeta_vgpu_image_imports(const struct zeta_vgpu_image *image,
                                           uint32_t *out_count);

/** Called for each name that a link did not find, or found twice; @text is one line. */
typedef void (*zeta_vgpu_link_report)(void *user, const char *text);

/**
 * Gives all images what they need from each other: all of them, or none when something is missing
 * or several images offer it. Images that gave something must outlive those that took it; no launch
 * may run one that takes. Errors: INVALID_IMAGE (names were reported), OUT_OF_MEMORY.
 */
enum zeta_vgpu_result zeta_vgpu_image_link(struct zeta_vgpu_image *const *images, uint32_t count,
                                           zeta_vgpu_link_report report, void *user);

/**
 * The registers that a kernel of the image may use, with all that it calls: bit n is xn, bit 32 + n
 * is fn. All 64 where the code jumps or calls to where only its execution tells, or out of the
 * image. Reads the code as it is now. False without memory. Any time.
 */
bool zeta_vgpu_image_used_registers(const struct zeta_vgpu_image *image,
                                    const struct zeta_vgpu_kernel *kernel, uint64_t *out_used);

/** Address range of the executable segment. */
void zeta_vgpu_image_text(const struct zeta_vgpu_image *image, uint64_t *out_begin,
                          uint64_t *out_end);

/** What is to be added to an address in the ELF file to have the one in memory. */
uint64_t zeta_vgpu_image_offset(const struct zeta_vgpu_image *image);

/** The ELF file as it was given, kept in memory that kernels may read. */
const void *zeta_vgpu_image_file(const struct zeta_vgpu_image *image, size_t *out_size);

/** Why a hardware thread stopped. */
enum zeta_vgpu_fault_reason {
    ZETA_VGPU_FAULT_NONE,
    ZETA_VGPU_FAULT_ILLEGAL_INSTRUCTION,
    ZETA_VGPU_FAULT_BREAKPOINT,      /**< ebreak */
    ZETA_VGPU_FAULT_READ,            /**< load from memory the kernel may not read */
    ZETA_VGPU_FAULT_WRITE,           /**< store to memory the kernel may not write */
    ZETA_VGPU_FAULT_FETCH,           /**< jump to an address without code */
    ZETA_VGPU_FAULT_MISALIGNED_JUMP, /**< jump target not a multiple of 4 */
    ZETA_VGPU_FAULT_MISALIGNED_ATOMIC,
    ZETA_VGPU_FAULT_STACK_OVERFLOW, /**< access below the private memory of the thread */
    ZETA_VGPU_FAULT_UNKNOWN_CALL,   /**< ecall with a number that has no meaning */
    ZETA_VGPU_FAULT_ABORT,          /**< the kernel asked for it */
    ZETA_VGPU_FAULT_REASON_COUNT
};

/** Where and why a launch failed. */
struct zeta_vgpu_fault {
    enum zeta_vgpu_fault_reason reason;
    uint64_t pc;
    uint64_t address;                     /**< of the access or jump; 0 when there is none */
    uint32_t slice, subslice, eu, thread; /**< subslice counts within its slice */
    uint32_t group_id[3], local_id[3];
    struct zeta_vgpu_message message; /**< a sentence with all of it */
};

/** One kernel launch. Everything is only read, and only until the call returns. */
struct zeta_vgpu_launch {
    const struct zeta_vgpu_image *image;
    const struct zeta_vgpu_kernel *kernel;
    /** Packed arguments, argument_block_bytes of the kernel; local pointers are filled in. */
    const void *arguments;
    /** One size per argument, used for those of kind LOCAL; NULL when there are none. */
    const uint32_t *local_bytes;
    uint32_t group_count[3]; /**< any may be 0: nothing runs */
    uint32_t group_size[3];  /**< at least 1 each, product up to the group limit */
    uint64_t global_offset[3];
    /**
     * Becomes true when the launch shall stop at the next slice; may be NULL. Call
     * zeta_vgpu_engine_wake() then, as a debugger may have all threads.
     */
    const atomic_bool *interrupt;
    /**
     * All groups are resident from the begin to the end, so they may wait for each other. More than
     * zeta_vgpu_topology_resident_groups() are refused.
     */
    bool cooperative;
    /**
     * Called when a fault has stopped the launch and no thread executes any more, on the thread
     * that launches: zeta_vgpu_debug_remains() then tells what the threads have left. May hold the
     * space; must not launch. NULL: nobody wants to know.
     */
    void (*faulted)(void *user, const struct zeta_vgpu_fault *fault);
    void *user; /**< first argument of faulted */
};

/** Number of groups of so many work-items (0: none) that a tile holds at the same time. */
uint64_t zeta_vgpu_topology_resident_groups(const struct zeta_vgpu_topology *topology,
                                            uint64_t group_items, uint64_t group_slm_bytes);

/** Shared local memory that a group takes, with parts aligned; @local_bytes as in a launch. */
uint64_t zeta_vgpu_group_slm_bytes(const struct zeta_vgpu_kernel *kernel,
                                   const uint32_t *local_bytes);

/**
 * Runs a kernel to its end, after all launches that came before. When a thread faults and no
 * debugger takes it (debug.h), the others stop at their next slice; memory and counters stay as
 * they are, and the engine can be used again.
 *
 * @out_fault  the first fault; on INVALID_ARGUMENT its message names the argument
 * Errors: INVALID_ARGUMENT (group too large, too much local memory, wrong required size),
 *         FAULT, INTERRUPTED, OUT_OF_MEMORY.
 */
enum zeta_vgpu_result zeta_vgpu_engine_launch(struct zeta_vgpu_engine *engine,
                                              const struct zeta_vgpu_launch *launch,
                                              struct zeta_vgpu_fault *out_fault);

/** Makes the running launch look at its interrupt flag, also while a debugger has its threads. */
void zeta_vgpu_engine_wake(struct zeta_vgpu_engine *engine);

/** True for counters that are known of single EUs. */
bool zeta_vgpu_counter_has_eus(enum zeta_vgpu_counter counter);

/** Counts for single EUs from now on, or once less often. Any thread; work that runs notices. */
void zeta_vgpu_engine_count_eus(struct zeta_vgpu_engine *engine, bool on);

/**
 * What an EU (numbered subslice by subslice) counted while that was on. While no launch runs, and
 * in the publish callback: there modelled counters are those of the end of the epoch that is
 * published, also while that lasts, and exact ones can be up to two epochs ahead of it.
 */
uint64_t zeta_vgpu_engine_eu_counter(const struct zeta_vgpu_engine *engine, uint32_t eu,
                                     enum zeta_vgpu_counter counter);

/** Copies the totals of a subslice; only while no launch runs. */
void zeta_vgpu_engine_counters(const struct zeta_vgpu_engine *engine, uint32_t subslice,
                               uint64_t out_counters[ZETA_VGPU_COUNTER_COUNT]);

#endif
