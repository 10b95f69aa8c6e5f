/*
 * How a test plays the process that is debugged on the scripted device.
 *
 * Devices: "debug0" stops exactly the threads that are to stop; "debug1" stops all that run, as
 * some hardware does; "debug2" cannot be debugged. Each has 2 slices x 2 subslices x 2 EUs x
 * 9 threads = 72 threads, so a mask has two words. A thread that runs is stopped by stop() or a
 * halt; masks are those of zeta/plugin_debug.h.
 *
 * "debug3" is like "debug0", with the registers of the virtual GPU and 64 KiB at DEBUG_CODE that
 * its threads execute, one straight line: each instruction does nothing, but for ebreak and
 * c.ebreak, which stop, and "j .", which goes on for ever. Behind the code a thread ends. BREAK in
 * CR makes one step; a halt leaves its bit there. Images are at DEBUG_IMAGE; its watchpoints are
 * memory, and nothing more.
 *
 * Memory: 256 bytes from DEBUG_MEMORY on in the default space, 64 bytes of local memory from 0 on.
 * Registers: set 1, read and write, 4 x 8 bytes; set 2, read only, 1 x 4 bytes: the thread's
 * number; set 3, write only, 1 x 4 bytes.
 */
#ifndef ZETA_TESTS_HARNESS_DEVICE_DEBUG_CONTROL_H
#define ZETA_TESTS_HARNESS_DEVICE_DEBUG_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "zeta/plugin.h"

#define DEBUG_PID 7777u
#define DEBUG_THREADS 72u
#define DEBUG_MEMORY UINT64_C(0x10000)
#define DEBUG_MEMORY_BYTES 256u
#define DEBUG_LOCAL_BYTES 64u
#define DEBUG_CODE UINT64_C(0x40000000)
#define DEBUG_CODE_BYTES 65536u
#define DEBUG_IMAGE UINT64_C(0x70000000)
#define DEBUG_WATCHPOINTS UINT64_C(0xfffffffffffff000)
#define DEBUG_WATCHPOINTS_BYTES 512u

/** What the backend saw of the library since the last reset. */
struct debug_counts {
    uint32_t enables, attaches, detaches, halts, resumes, acknowledges, register_reads;
    uint64_t cookies[8]; /**< of acknowledges, in order */
    uint32_t overlaps;   /**< calls for one session at the same time: must stay 0 */
};

/** Any thread. Events of the process are for the session that is attached, which must be there. */
struct debug_control {
    /** Forgets everything, for the next test. Nothing is attached. */
    void (*reset)(void);
    /** Threads of a mask begin to run. */
    void (*run)(uint64_t low, uint64_t high);
    /** A running thread stops for a reason of its own. */
    void (*stop)(uint32_t thread);
    /** Threads of a mask that are stopped now. */
    bool (*is_stopped)(uint32_t thread);
    /** An event of QUEUE_*, MODULE_* or FAULT. */
    void (*push)(const struct zeta_plugin_debug_event *event);
    /** The process ends. */
    void (*end)(void);
    /** While it holds, halts stop no thread and are not done. */
    void (*hold_halts)(bool yes);
    /** Attaching fails with this result and sentence; 0: it works again. */
    void (*refuse_attach)(uint32_t result, const char *sentence);
    /** What kernels and debuggers read and write at DEBUG_MEMORY. */
    uint8_t *(*memory)(void);
    /** The same of DEBUG_CODE, DEBUG_IMAGE (as large) and DEBUG_WATCHPOINTS. */
    uint8_t *(*code)(void);
    uint8_t *(*image)(void);
    uint64_t *(*watchpoints)(void);
    /** Threads of "debug3" begin to execute at once, with a stack in DEBUG_MEMORY. */
    void (*launch)(uint32_t first, uint32_t count, uint64_t pc);
    struct debug_counts (*counts)(void);
    /** A running thread of "debug3" stops for an access to this address. */
    void (*meet_watchpoint)(uint32_t thread, uint64_t address);
};

/** The table of the library that libzeta has opened (harness_control). */
__attribute__((visibility("default"))) extern const struct debug_control debug_control;

#endif
