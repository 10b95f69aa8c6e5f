/*
 * A process that is debugged: a child of the test, which does with the virtual GPU what it is told.
 */
#ifndef ZETA_TESTS_DEBUG_DEBUGGEE_H
#define ZETA_TESTS_DEBUG_DEBUGGEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/metric_api/harness.h"

#define ANY UINT32_MAX

/** What it can be told. Each is answered when it is done, with a number. */
enum debuggee_order {
    DEBUGGEE_INIT,          /**< the library; allows debuggers first if the argument is not 0 */
    DEBUGGEE_QUEUE,         /**< makes a queue on tile argument - 1, or on the root (0) */
    DEBUGGEE_QUEUE_DESTROY, /**< the newest one */
    DEBUGGEE_IMMEDIATE, /**< makes an immediate list on the root, which is destroyed as a queue */
    DEBUGGEE_MODULE,    /**< loads the kernels */
    DEBUGGEE_MODULE_DESTROY, /**< the newest one */
    DEBUGGEE_FUNCTION,       /**< address of touched() in the newest module */
    DEBUGGEE_FLAG,           /**< address of the memory that kernels get, 0 at first */
    DEBUGGEE_READ_FLAG,      /**< its first number */
    DEBUGGEE_CLEAR_FLAG,     /**< writes 0 there */
    DEBUGGEE_READ_ONLY, /**< address of memory that nobody may write, behind memory that is written
                         */
    DEBUGGEE_LAUNCH,    /**< a kernel (enum debuggee_kernel) on the newest queue; does not wait */
    DEBUGGEE_WAIT,      /**< for the newest queue; the result */
    DEBUGGEE_WAIT_AND_VANISH, /**< as DEBUGGEE_WAIT, and _exit(0) at once; no answer */
    DEBUGGEE_LOAD_AND_VANISH, /**< as DEBUGGEE_MODULE, and _exit(0) at once; no answer */
    DEBUGGEE_FORK,  /**< a child that sleeps, after it initialised the library if the argument
                                 is not 0; its id */
    DEBUGGEE_CALL,  /**< a debuggee_function of this program; what it gives */
    DEBUGGEE_FINISH /**< exit(0); no answer */
};

enum debuggee_kernel { DEBUGGEE_SPIN, DEBUGGEE_LOCAL, DEBUGGEE_FAULT, DEBUGGEE_MEET };

typedef uint64_t debuggee_function(ze_context_handle_t context, ze_device_handle_t device);

struct debuggee {
    pid_t pid;
    int socket;
};

/** Starts one that is initialised and lets debuggers attach, or one that has done nothing. */
struct debuggee debuggee_start(void);
struct debuggee debuggee_start_bare(void);

/** Tells it to do something, waits, and gives the answer. */
uint64_t debuggee_do(const struct debuggee *debuggee, enum debuggee_order order, uint64_t argument);

/** The same in two steps. */
void debuggee_tell(const struct debuggee *debuggee, enum debuggee_order order, uint64_t argument);
uint64_t debuggee_hear(const struct debuggee *debuggee);

/** True when the answer is there already. */
bool debuggee_answered(const struct debuggee *debuggee);

/** Kills it, and waits for its end. */
void debuggee_kill(struct debuggee *debuggee);

/** Lets it exit by itself; it has to succeed. */
void debuggee_finish(struct debuggee *debuggee);

/** Returns when a process waits for something. */
void await_sleep(pid_t pid);

/* The debugger. */

extern const ze_device_thread_t everything;

/** The root device of the virtual GPU in this process. */
ze_device_handle_t debugger_device(void);

/** Attaches; NULL with a result. */
zet_debug_session_handle_t debugger_attach(pid_t pid);
ze_result_t debugger_try(pid_t pid, zet_debug_session_handle_t *out_session);

/** The next event, waiting as long as it takes, which is of this type. */
zet_debug_event_t debugger_expect(zet_debug_session_handle_t session, zet_debug_event_type_t type);

/** Reads or writes memory of the process; has to succeed. */
void debugger_read(zet_debug_session_handle_t session, uint64_t address, size_t size, void *buffer);
void debugger_write(zet_debug_session_handle_t session, uint64_t address, size_t size,
                    const void *buffer);

/** A debugged process with a queue and the kernels, all events of that read. */
struct bench {
    struct debuggee debuggee;
    zet_debug_session_handle_t session;
    uint64_t flag;     /**< address of the kernels' memory */
    uint64_t function; /**< touched() */
};

/** @tile  of the queue, as DEBUGGEE_QUEUE has it */
struct bench bench_start(uint64_t tile);
void bench_end(struct bench *bench);

/** Launches spin() and waits until it runs; ends it. */
void spin(const struct bench *bench);
void end_spin(const struct bench *bench);

/** Stops all threads; at least one runs. */
void interrupt(const struct bench *bench);

/** One of those that are stopped: whose registers can be read. */
ze_device_thread_t find_stopped(const struct bench *bench);

#endif
