/*
 * The process on the device, by zetDebug*: its threads, modules, memory and registers, as a
 * debugger that stops all of them at once sees them.
 *
 *     running --event--> stop_all(): one interrupt of all --> stopped: threads have states
 *        ^                                                        |
 *        +------------------------ resume() <---------------------+
 *
 * The API does not say which threads run, so that after an interrupt each possible one is asked for
 * its pc: those that answer are the threads. One thread uses a process at a time.
 */
#ifndef ZETA_GDBSERVER_PROCESS_PROCESS_H
#define ZETA_GDBSERVER_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <level_zero/zet_api.h>

#include "sdk/tools/zeta-gdbserver/packet/text.h"

/** Of the thread that is always there and always stopped: what concerns no thread of the device. */
#define ZETA_GDB_CONTROL_THREAD UINT32_MAX

/** Register sets of a thread that executes RV64. */
enum {
    ZETA_GDB_SET_CE = 4,
    ZETA_GDB_SET_CR = 6,
    ZETA_GDB_SET_X = 0x10001,
    ZETA_GDB_SET_F = 0x10002,
    ZETA_GDB_SET_PC = 0x10003,
    ZETA_GDB_SET_ID = 0x10004, /**< group id x, y, z, local id x, y, z, thread, subslice,
                                   waits at its barrier, launch */
    ZETA_GDB_SET_FCSR = 0x10005
};

/** Why a thread stopped: bits of dword 1 of CR. */
enum zeta_gdb_cause {
    ZETA_GDB_CAUSE_BREAK = (int)(1u << 31), /**< or step done; set before resume: step */
    ZETA_GDB_CAUSE_HALT = 1 << 30,
    ZETA_GDB_CAUSE_ILLEGAL = 1 << 28,
    ZETA_GDB_CAUSE_BREAKPOINT = 1 << 25, /**< a breakpoint register */
    ZETA_GDB_CAUSE_WATCH = 1 << 24,      /**< dwords 2 and 3: address of the access */
    ZETA_GDB_CAUSE_FAULT = 1 << 16       /**< the same */
};

/** In dword 0 of CR: the thread passes a breakpoint register when it is resumed. */
#define ZETA_GDB_CONTROL_SUPPRESS (UINT32_C(1) << 15)

/** What GDB asked a thread to do; threads that it does not know run. */
enum zeta_gdb_action {
    ZETA_GDB_ACTION_CONTINUE,
    ZETA_GDB_ACTION_STEP, /**< as long as pc stays within its range */
    ZETA_GDB_ACTION_STAY  /**< stopped; what it stopped for is told when it is to go on */
};

struct zeta_gdb_thread {
    bool is_there;    /**< as far as is known: it ran or was stopped when it was looked for */
    bool is_stopped;  /**< otherwise there is no such thread, or it runs */
    bool is_gone;     /**< GDB waits for its stop, and it had ended before */
    bool has_stop;    /**< it stopped for a reason of its own that GDB does not know yet */
    bool has_cause;   /**< CR has bits that would mean something at resume */
    uint32_t cause;   /**< with has_stop; a halt alone: GDB asked for it */
    bool is_break;    /**< with has_stop: by a breakpoint of ours, at address */
    bool is_step;     /**< with has_stop: a step was made */
    uint64_t address; /**< with has_stop: of the access that caused it */
    enum zeta_gdb_action action; /**< last */
    uint64_t range_begin, range_end;
    bool has_ids;    /**< read since it stopped */
    uint64_t ids[6]; /**< of its group and of its work-item in it */
};

/** Code that is loaded, and a file of it that GDB reads. */
struct zeta_gdb_module {
    uint64_t load;
    zet_debug_event_t event; /**< to acknowledge, with is_held */
    bool is_held;            /**< the process waits for the acknowledgement */
    bool is_loaded;          /**< its entry stays: file descriptors of GDB are its number */
    uint32_t opens;          /**< how often GDB has the file open; it stays as long */
    char *path;              /**< owned; null: it has no file */
    int file;                /**< descriptor, read only; -1: it has no file */
};

/** A condition of a breakpoint, in GDB's bytecode. */
struct zeta_gdb_condition {
    struct zeta_gdb_condition *next;
    size_t size;
    uint8_t code[];
};

/** A breakpoint register of the device, or an instruction that was replaced by a break. */
struct zeta_gdb_breakpoint {
    uint64_t address;
    uint32_t bytes;   /**< 2 or 4; 0: this entry is free */
    bool is_register; /**< that of the entry's number; memory has the instruction */
    uint8_t original[4];
    /** Owned. Of one in a register: where all are false, the thread goes on. */
    struct zeta_gdb_condition *conditions;
};

enum { ZETA_GDB_WATCHPOINTS = 16 };

/** Numbers of the Z packets. */
enum zeta_gdb_watch {
    ZETA_GDB_WATCH_WRITE = 2,
    ZETA_GDB_WATCH_READ = 3,
    ZETA_GDB_WATCH_ACCESS = 4
};

struct zeta_gdb_watchpoint {
    enum zeta_gdb_watch kind; /**< 0: this entry is free */
    uint64_t address, bytes;
};

struct zeta_gdb_process {
    zet_debug_session_handle_t session; /**< null: detached */
    const char *failure;                /**< why attaching failed; valid until the next call */
    char *folder;                       /**< private, for files of modules; null: not made yet */
    uint32_t slices, subslices, eus, threads_per_eu;
    uint32_t thread_count; /**< that are possible */
    struct zeta_gdb_thread *threads;

    struct zeta_gdb_module *modules; /**< in the order of their loads */
    uint32_t module_count;
    bool modules_changed; /**< and GDB does not know it */

    struct zeta_gdb_breakpoint *breakpoints;
    uint32_t breakpoint_count;
    uint32_t breakpoint_registers; /**< of the device, for the first entries; 0: it has none */
    struct zeta_gdb_watchpoint watchpoints[ZETA_GDB_WATCHPOINTS];

    uint32_t set_types[32]; /**< register sets that the device has */
    uint32_t set_count;
    bool has_fault; /**< an access failed at fault_address, and GDB does not know it */
    uint64_t fault_address;
    bool has_ended;
};

/**
 * Attaches. NOT_READY: the program has not come so far. On failure, which process->failure
 * explains, nothing is to be finished.
 */
ze_result_t zeta_gdb_process_attach(struct zeta_gdb_process *process, zet_device_handle_t device,
                                    uint32_t pid);

/** Removes breakpoints and watchpoints, lets all run, and detaches; then frees all. */
void zeta_gdb_process_detach(struct zeta_gdb_process *process);

/**
 * Takes one event, and waits for it at most this long; false when there was none. Sets has_stop of
 * threads, modules_changed, has_fault and has_ended.
 */
bool zeta_gdb_process_take_event(struct zeta_gdb_process *process, uint64_t timeout_ms);

/** Takes all events that wait. */
void zeta_gdb_process_take_events(struct zeta_gdb_process *process);

/** Stops every thread that runs, and finds out which threads there are. Their actions stay. */
void zeta_gdb_process_stop_all(struct zeta_gdb_process *process);

/** The same for one thread, at the cost of one. */
void zeta_gdb_process_stop(struct zeta_gdb_process *process, uint32_t thread);

/**
 * Lets stopped threads do what their action says, but those with a stop that GDB does not know.
 * release: modules that wait go on.
 */
void zeta_gdb_process_resume(struct zeta_gdb_process *process, bool release);

/** The API's name of a thread. */
ze_device_thread_t zeta_gdb_thread_name(const struct zeta_gdb_process *process, uint32_t thread);

/* Modules (modules.c) ------------------------------------------------------------------------- */

void zeta_gdb_module_loaded(struct zeta_gdb_process *process, const zet_debug_event_t *event);
void zeta_gdb_module_unloaded(struct zeta_gdb_process *process, const zet_debug_event_t *event);

/** Removes the file of a module that is unloaded, unless GDB has it open. */
void zeta_gdb_module_trim(struct zeta_gdb_module *module);

/** Lets the process go on behind all loads that wait. */
void zeta_gdb_modules_release(struct zeta_gdb_process *process);

/** Removes their files and frees them. */
void zeta_gdb_modules_finish(struct zeta_gdb_process *process);

/* Registers (registers.c) --------------------------------------------------------------------- */

/** Whether the device has a register set of a type. */
bool zeta_gdb_has_set(const struct zeta_gdb_process *process, uint32_t set);

/** Registers of a thread, as many as are in a row; false when it is not stopped or has none. */
bool zeta_gdb_registers_read(struct zeta_gdb_process *process, uint32_t thread, uint32_t set,
                             uint32_t first, uint32_t count, void *out_values);
bool zeta_gdb_registers_write(struct zeta_gdb_process *process, uint32_t thread, uint32_t set,
                              uint32_t first, uint32_t count, const void *values);

/** Its six ids, which GDB asks for again and again, until it goes on; NULL: it has none. */
const uint64_t *zeta_gdb_thread_ids(struct zeta_gdb_process *process, uint32_t thread);

/** Writes the target description, in XML. */
void zeta_gdb_description_write(const struct zeta_gdb_process *process, FILE *answer);

/** Bytes of a register with GDB's number; 0: there is none. */
uint32_t zeta_gdb_register_bytes(const struct zeta_gdb_process *process, uint32_t number);

/** One register by GDB's number, of at most 8 bytes. Those of the control thread are zero. */
bool zeta_gdb_register_get(struct zeta_gdb_process *process, uint32_t thread, uint32_t number,
                           uint64_t *out_value);
bool zeta_gdb_register_set(struct zeta_gdb_process *process, uint32_t thread, uint32_t number,
                           uint64_t value);

/** GDB's numbers: x0..x31 and pc, which come in one answer. */
enum {
    ZETA_GDB_REGISTER_SP = 2,
    ZETA_GDB_REGISTER_TP = 4,
    ZETA_GDB_REGISTER_FP = 8,
    ZETA_GDB_REGISTER_PC = 32
};
#define ZETA_GDB_GENERAL_REGISTERS 33u

bool zeta_gdb_general_get(struct zeta_gdb_process *process, uint32_t thread,
                          uint64_t out_values[ZETA_GDB_GENERAL_REGISTERS]);
bool zeta_gdb_general_set(struct zeta_gdb_process *process, uint32_t thread,
                          const uint64_t values[ZETA_GDB_GENERAL_REGISTERS]);

/* Memory (memory.c) --------------------------------------------------------------------------- */

/** Reads memory as a thread sees it, with instructions where breakpoints are. All or nothing. */
bool zeta_gdb_memory_read(struct zeta_gdb_process *process, uint32_t thread, uint64_t address,
                          size_t size, uint8_t *out_bytes);

/** Writes memory as a thread sees it, and keeps breakpoints in it. */
bool zeta_gdb_memory_write(struct zeta_gdb_process *process, uint32_t thread, uint64_t address,
                           size_t size, const uint8_t *bytes);

/** Finds out how many breakpoint registers the device has. */
void zeta_gdb_breakpoints_init(struct zeta_gdb_process *process);

/**
 * Sets a breakpoint for an instruction of 2 or 4 bytes; one that is there stays. It gets the
 * conditions, which are freed on failure.
 */
bool zeta_gdb_breakpoint_insert(struct zeta_gdb_process *process, uint64_t address, uint32_t bytes,
                                struct zeta_gdb_condition *conditions);

/** Removes it; one that is not there is removed already. */
bool zeta_gdb_breakpoint_remove(struct zeta_gdb_process *process, uint64_t address);

/** The breakpoint there; NULL: there is none. */
const struct zeta_gdb_breakpoint *zeta_gdb_breakpoint_at(const struct zeta_gdb_process *process,
                                                         uint64_t address);

/** Whether memory has an instruction there at which threads stop, of ours or of the program. */
bool zeta_gdb_memory_breaks(struct zeta_gdb_process *process, uint64_t address);

/** Forgets breakpoints of code that is gone. */
void zeta_gdb_breakpoints_drop(struct zeta_gdb_process *process, uint64_t begin, uint64_t end);

bool zeta_gdb_watchpoint_insert(struct zeta_gdb_process *process, enum zeta_gdb_watch kind,
                                uint64_t address, uint64_t bytes);
bool zeta_gdb_watchpoint_remove(struct zeta_gdb_process *process, enum zeta_gdb_watch kind,
                                uint64_t address, uint64_t bytes);

/** Removes all breakpoints and watchpoints. */
void zeta_gdb_points_clear(struct zeta_gdb_process *process);

/* Conditions (conditions.c) ------------------------------------------------------------------- */

/** Takes the list behind a Z0 packet, ";X<size>,<bytes>X...", up to its end or ";cmds:". */
bool zeta_gdb_conditions_take(struct zeta_gdb_text *text, struct zeta_gdb_condition **out_first);

/**
 * Whether a stopped thread is to stay: one of the conditions is true, or cannot be evaluated, or
 * there is none.
 */
bool zeta_gdb_conditions_hold(struct zeta_gdb_process *process, uint32_t thread,
                              const struct zeta_gdb_condition *first);

void zeta_gdb_conditions_free(struct zeta_gdb_condition *first);

#endif
