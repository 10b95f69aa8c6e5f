/*
 * Program debug of the interface between libzeta and its backends: what a debugger does with the
 * threads, memory and code that one other process has on one device. Backends include
 * zeta/plugin.h.
 *
 * The rules of zetDebug* (which event follows which call, what a wildcard selects, when a register
 * can be read) belong to the host. A backend reports facts and moves bytes.
 *
 * Threads are numbered ((slice * subslices + subslice) * EUs + EU) * threads + thread, with the
 * counts of the device's properties; the slices of a root are those of its tiles, tile after tile.
 * A thread mask has a bit for each of them: bit t % 64 of word t / 64.
 */
#ifndef ZETA_PLUGIN_DEBUG_H
#define ZETA_PLUGIN_DEBUG_H

#include <zeta/plugin_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** In place of a thread's number: none, or the view of the whole process. */
#define ZETA_PLUGIN_DEBUG_NO_THREAD UINT32_MAX

/** Flags of a register set, numerically zet_debug_regset_flags_t. */
enum { ZETA_PLUGIN_REGISTER_READ = 1u << 0, ZETA_PLUGIN_REGISTER_WRITE = 1u << 1 };

/** A set of equal registers. */
struct zeta_plugin_register_set {
    uint64_t struct_size;
    uint32_t type;    /**< not 0; the device's own number, unique among its sets */
    uint32_t version; /**< of the layout */
    uint32_t flags;   /**< ZETA_PLUGIN_REGISTER_* */
    uint32_t device_flags;
    uint32_t count; /**< of registers, at least 1 */
    uint32_t bits;  /**< of a register */
    uint32_t bytes; /**< that a register takes in a buffer, at least bits / 8 */
};

/** How a device can be debugged. */
struct zeta_plugin_debug_properties {
    uint64_t struct_size;
    uint32_t halt_timeout_ms; /**< threads that a halt() has not stopped by then are taken for
                                   threads that do not run */
    uint32_t reserved;
    struct zeta_plugin_array register_sets; /**< of struct zeta_plugin_register_set, valid until
                                                 finish() */
};

/** Kinds of struct zeta_plugin_debug_event. */
enum {
    ZETA_PLUGIN_DEBUG_QUEUE_CREATED = 1,
    ZETA_PLUGIN_DEBUG_QUEUE_DESTROYED = 2,
    ZETA_PLUGIN_DEBUG_MODULE_LOADED = 3,   /**< u.module */
    ZETA_PLUGIN_DEBUG_MODULE_UNLOADED = 4, /**< u.module as it was loaded; its image is readable
                                                until the next such event is taken */
    ZETA_PLUGIN_DEBUG_THREADS = 5,         /**< u.threads: threads stopped, or a halt() is done */
    ZETA_PLUGIN_DEBUG_FAULT = 6,           /**< u.fault; the stop of its thread follows */
    ZETA_PLUGIN_DEBUG_ENDED = 7            /**< the process ended; nothing follows */
};

/** A module of the process. */
struct zeta_plugin_debug_module {
    uint64_t image_begin; /**< of its ELF file, readable in ZETA_PLUGIN_SPACE_ELF; 0: none */
    uint64_t image_end;   /**< exclusive */
    uint64_t load;        /**< lowest device address of its code */
    uint64_t cookie;      /**< the process waits until acknowledge() gets it; 0: it does not wait */
};

/** Which threads are stopped now. */
struct zeta_plugin_debug_threads {
    const uint64_t *stopped;  /**< mask: of all that are stopped when the event is taken; valid
                                   until the next call */
    const uint64_t *excepted; /**< mask: of these, what stopped for a reason of its own (breakpoint,
                                   step, fault) and no event has said yet */
    uint64_t halt;            /**< number of the last halt() that is done; 0: none */
};

/** An access that failed. */
struct zeta_plugin_debug_fault {
    uint64_t address; /**< of the access, aligned down to what the device knows */
    uint64_t mask;    /**< of the address bits that are known */
    uint32_t reason;  /**< numerically zet_debug_page_fault_reason_t */
    uint32_t thread;  /**< that did it, or ZETA_PLUGIN_DEBUG_NO_THREAD */
};

/** Something that happened in the process. */
struct zeta_plugin_debug_event {
    uint64_t struct_size;
    uint32_t kind; /**< ZETA_PLUGIN_DEBUG_* */
    uint32_t reserved;
    union {
        struct zeta_plugin_debug_module module;
        struct zeta_plugin_debug_threads threads;
        struct zeta_plugin_debug_fault fault;
    } u;
};

/** Memory of a debugged process, numerically zet_debug_memory_space_type_t. */
enum {
    ZETA_PLUGIN_SPACE_DEFAULT = 0, /**< addresses as kernels use them */
    ZETA_PLUGIN_SPACE_SLM = 1,     /**< local memory of the thread's group, from 0 on */
    ZETA_PLUGIN_SPACE_ELF = 2,     /**< images of modules */
    ZETA_PLUGIN_SPACE_BARRIER = 3
};

/**
 * Program debug. All functions are required once the table is given, except those marked optional;
 * a backend that only says why nothing can be debugged has properties() alone, which always fails.
 * Calls for one session are serialised by the host, except detach(), which comes alone.
 * After the process has ended, each answers DEVICE_LOST; detach() still works.
 */
struct zeta_plugin_debug_ops {
    uint64_t struct_size;

    /**
     * Fills what struct_size of the host's struct has room for. UNSUPPORTED_FEATURE, with a
     * sentence that says why, where nothing can be debugged on the device; NOT_AVAILABLE for a tile
     * that is debugged with its root only. Any time.
     */
    uint32_t (*properties)(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_debug_properties *out_properties);

    /**
     * Lets debuggers of other processes attach to this one, from now on. Called once after init(),
     * when the program asks for it (ZET_ENABLE_PROGRAM_DEBUGGING); it may use the device already.
     * A failure leaves a sentence, which the host logs. Optional.
     */
    uint32_t (*enable)(struct zeta_plugin *self);

    /**
     * Begins to debug what a process does on the device. Reports, as events, the queues and
     * modules that it has already, before anything that happens later.
     * NOT_READY: the process has not come so far; worth trying again. NOT_AVAILABLE: there is no
     * such process, it does not let debuggers attach, or one is attached. INSUFFICIENT_PERMISSIONS:
     * this user may not debug it. A sentence says which, and what to do.
     */
    uint32_t (*attach)(struct zeta_plugin *self, struct zeta_plugin_device *device, uint32_t pid,
                       struct zeta_plugin_debug_session **out_session);
    /**
     * Ends it: what waits for an acknowledgement goes on, all threads are resumed, and the process
     * runs as if it had never been debugged. What was written to memory and registers stays.
     */
    void (*detach)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session);

    /** A descriptor that polls readable while an event waits. The session's. Any time. */
    int32_t (*descriptor)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session);
    /** Takes the oldest event; NOT_READY when there is none. Does not wait. */
    uint32_t (*next_event)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                           struct zeta_plugin_debug_event *out_event);
    /** Lets what waits for a cookie go on; in any order. INVALID_ARGUMENT when nothing does. */
    uint32_t (*acknowledge)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                            uint64_t cookie);

    /**
     * Asks the threads of a mask to stop. Does not wait: a THREADS event whose halt is out_number
     * or later says that all of them that run have stopped. Numbers grow from 1. Hardware that can
     * only halt all threads halts all: the host resumes those that nobody asked for.
     */
    uint32_t (*halt)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                     const uint64_t *threads, uint64_t *out_number);
    /**
     * Lets the stopped threads of a mask go on; the others of it are left alone. Returns when they
     * do. A later stop of one of them is a new event.
     */
    uint32_t (*resume)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                       const uint64_t *threads);

    /**
     * Reads memory as a thread sees it, which is stopped, or as the process does
     * (ZETA_PLUGIN_DEBUG_NO_THREAD, in the spaces DEFAULT and ELF). Any alignment and size; all of
     * it or nothing. NOT_AVAILABLE when a byte of it is not there: the sentence has its address.
     * UNSUPPORTED_FEATURE for a space that the device does not have.
     */
    uint32_t (*memory_read)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                            uint32_t space, uint32_t thread, uint64_t address, uint64_t size_bytes,
                            void *buffer);
    /**
     * The same for writing. Every thread that begins or goes on afterwards executes the code that
     * was written. What kernels may only read is written too.
     */
    uint32_t (*memory_write)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                             uint32_t space, uint32_t thread, uint64_t address, uint64_t size_bytes,
                             const void *buffer);

    /**
     * Reads registers first..first + count - 1 of a set of a stopped thread; the host has checked
     * them against the thread's sets. NOT_AVAILABLE when the thread is not stopped.
     */
    uint32_t (*registers_read)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                               uint32_t thread, uint32_t type, uint32_t first, uint32_t count,
                               void *buffer);
    /** The same for writing. Any value is kept while the thread is stopped. */
    uint32_t (*registers_write)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                                uint32_t thread, uint32_t type, uint32_t first, uint32_t count,
                                const void *buffer);
    /**
     * Register sets of one stopped thread, an array of struct zeta_plugin_register_set, valid until
     * the next call for the session. Optional; absent: those of the device.
     */
    uint32_t (*register_sets)(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                              uint32_t thread, struct zeta_plugin_array *out_sets);
};

#ifdef __cplusplus
}
#endif

#endif
