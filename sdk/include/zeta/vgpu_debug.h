/*
 * What a debugger has to know of the threads of a virtual GPU beyond zetDebug*: the types and
 * meanings of its register sets, why a thread stopped, single steps, breakpoints and watchpoints;
 * and what is in its core dumps beside what such files have.
 */
#ifndef ZETA_VGPU_DEBUG_H
#define ZETA_VGPU_DEBUG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Types of register sets: those of other makers have other numbers, but for CE and CR, which tools
 * know by these. zetDebugGetRegisterSetProperties lists them in the order X, F, PC, CE, CR, ID,
 * FCSR. Any value is kept while the thread is stopped.
 */
enum {
    ZETA_VGPU_REGISTERS_CE = 4,        /**< 1 x 32 bits: 1, the execution mask; read only */
    ZETA_VGPU_REGISTERS_CR = 6,        /**< 1 x 128: dword 0 has ZETA_VGPU_CONTROL_SUPPRESS, the
                                            rest of it is free, dword 1 has ZETA_VGPU_CAUSE_*,
                                            dwords 2 and 3 the address that a fault or a watchpoint is
                                            about, low half first */
    ZETA_VGPU_REGISTERS_X = 0x10001,   /**< 31 x 64: x1..x31 */
    ZETA_VGPU_REGISTERS_F = 0x10002,   /**< 32 x 64: f0..f31, single precision NaN-boxed */
    ZETA_VGPU_REGISTERS_PC = 0x10003,  /**< 1 x 64 */
    ZETA_VGPU_REGISTERS_ID = 0x10004,  /**< 10 x 64: group id x, y, z, local id x, y, z, number
                                            of the thread in its tile, subslice, 1 while it
                                            waits at the barrier of its group, number of the
                                            launch on its tile, from 1; read only */
    ZETA_VGPU_REGISTERS_FCSR = 0x10005 /**< 1 x 32, of which the hardware uses 8 */
};

/**
 * Why a thread stopped: bits of dword 1 of CR, which a stop sets and only the debugger clears. A
 * thread that is resumed with BREAK set executes one instruction and stops; a step into a barrier
 * lasts until the barrier lets the thread go. No stop follows the last instruction of a thread.
 */
/** An ebreak, where pc is; or the step is done. */
#define ZETA_VGPU_CAUSE_BREAK (UINT32_C(1) << 31)
/** A breakpoint register has the address in pc. */
#define ZETA_VGPU_CAUSE_BREAKPOINT (UINT32_C(1) << 25)
/** zetDebugInterrupt. */
#define ZETA_VGPU_CAUSE_HALT (UINT32_C(1) << 30)
/** An illegal instruction, or a call that does not exist. */
#define ZETA_VGPU_CAUSE_ILLEGAL (UINT32_C(1) << 28)
/** An access to a watched address; pc is behind it. */
#define ZETA_VGPU_CAUSE_WATCH (UINT32_C(1) << 24)
/** A failed access, jump or check; pc is at it, or where no code is. */
#define ZETA_VGPU_CAUSE_FAULT (UINT32_C(1) << 16)

/**
 * In dword 0 of CR: a thread that is resumed with it executes the instruction at pc, whether or not
 * a breakpoint register has that address. A stop at a breakpoint register sets it, so a thread that
 * is just resumed goes on behind its breakpoint; a later stop clears it if the thread did.
 */
#define ZETA_VGPU_CONTROL_SUPPRESS (UINT32_C(1) << 15)

/**
 * Where the breakpoint registers are: registers of the whole device, as an array of addresses of 64
 * bits in the default memory space with all threads selected; 0: none. Any part of the array can be
 * read and written. A thread stops before it executes an instruction that has one, which must be
 * loaded when the register is written. Memory keeps the instruction. They end with the session.
 *
 * Without limit, but to be stepped over by whoever sets them, are breakpoints in memory: an
 * `ebreak` (0x00100073) that is written into the code.
 */
#define ZETA_VGPU_BREAKPOINTS_ADDRESS UINT64_C(0xffffffffffffe000)

/** Entries of the array. */
#define ZETA_VGPU_BREAKPOINTS 128u

/**
 * Where the watchpoints are: registers of the whole device, as an array of struct
 * zeta_vgpu_watchpoint in the default memory space with all threads selected. Any part of the array
 * can be read and written. They end with the session.
 */
#define ZETA_VGPU_WATCHPOINTS_ADDRESS UINT64_C(0xfffffffffffff000)

/** Entries of the array. */
#define ZETA_VGPU_WATCHPOINTS 16u

/** Kinds of access that are watched. */
enum { ZETA_VGPU_WATCHPOINT_WRITE = 1u << 0, ZETA_VGPU_WATCHPOINT_READ = 1u << 1 };

/** Addresses whose use stops the thread, whichever it is. */
struct zeta_vgpu_watchpoint {
    uint64_t address;
    uint64_t bytes;    /**< 0: none */
    uint64_t kinds;    /**< ZETA_VGPU_WATCHPOINT_*; 0: off */
    uint64_t reserved; /**< 0 */
};

/**
 * Notes of core dumps with the owner "ZETA". Numbers are little endian; arrays end with the note.
 * The threads are those of NT_PRSTATUS and in the same order, the one that faulted first; the
 * number of one is 2 + that of the thread in the root device. Registers and memory are those of
 * RV64 on Linux.
 */
enum {
    ZETA_VGPU_NOTE_FAULT = 1,   /**< terminated text: the sentence about the fault */
    ZETA_VGPU_NOTE_THREADS = 2, /**< struct zeta_vgpu_core_thread[] */
    ZETA_VGPU_NOTE_MODULES = 3  /**< struct zeta_vgpu_core_module[]; the first is the kernel's */
};

/** Where scripts of debuggers find the content of ZETA_VGPU_NOTE_THREADS: it is memory of the core
 * too. */
#define ZETA_VGPU_CORE_THREADS_ADDRESS (UINT64_C(1) << 61)

/**
 * A thread. The window of local memory has the bytes of the faulting thread's group; each group's
 * are also where the host has them, and the note names that place.
 */
struct zeta_vgpu_core_thread {
    uint64_t number;        /**< as in NT_PRSTATUS */
    uint64_t ids[10];       /**< the registers of ZETA_VGPU_REGISTERS_ID */
    uint64_t local_begin;   /**< the window: addresses that the kernel uses */
    uint64_t local_bytes;   /**< local memory of a group; 0: it has none */
    uint64_t local_address; /**< of the bytes of this thread's group */
};

/** A module that was loaded. */
struct zeta_vgpu_core_module {
    uint64_t offset;                 /**< to be added to addresses of the file */
    uint64_t file_begin, file_bytes; /**< the ELF file, as the program gave it, if it had room */
    uint64_t text_begin, text_end;   /**< its code */
};

#ifdef __cplusplus
}
#endif

#endif
