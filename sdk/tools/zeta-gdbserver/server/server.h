/*
 * One connection: answers GDB's packets from the process on the device.
 */
#ifndef ZETA_GDBSERVER_SERVER_SERVER_H
#define ZETA_GDBSERVER_SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "sdk/tools/zeta-gdbserver/packet/link.h"
#include "sdk/tools/zeta-gdbserver/packet/text.h"
#include "sdk/tools/zeta-gdbserver/process/process.h"

/** How a connection ended. */
enum zeta_gdb_end {
    ZETA_GDB_END_NONE,
    ZETA_GDB_END_CLOSED, /**< GDB is gone and said nothing; its breakpoints are, too */
    ZETA_GDB_END_DETACHED,
    ZETA_GDB_END_KILLED,
    ZETA_GDB_END_EXITED /**< the process ended */
};

struct zeta_gdb_server {
    struct zeta_gdb_process *process; /**< not owned */
    int in, out;                      /**< descriptors, not owned */
    int stop;    /**< descriptor, not owned: the connection ends when it can be read; -1: none */
    pid_t child; /**< 0: the process is not of this one. It is not waited for */

    /* Inside. */
    struct zeta_gdb_link link;
    FILE *answer; /**< a memory stream */
    char *answer_text;
    size_t answer_size;
    char *document; /**< that qXfer reads in slices; owned */
    size_t document_size;
    char document_name[16];
    uint32_t selected;  /**< for registers and memory */
    uint32_t reported;  /**< last stop */
    bool is_running;    /**< so that events have to be looked for */
    bool is_non_stop;   /**< GDB lets threads go on one by one, and is told of each stop */
    bool is_notified;   /**< non-stop: GDB was told of a stop and asks for more with vStopped */
    bool is_first;      /**< non-stop: that stop was the answer to "?" */
    bool is_exit_told;  /**< the process ended, and GDB was told so */
    bool control_halts; /**< non-stop: GDB waits for the stop of the control thread */
    bool control_runs;  /**< GDB let the control thread go on, so that it can stop */
    bool answers_later; /**< the packet that is handled has no answer now */
    bool has_swbreak;   /**< GDB understands that reason */
    enum zeta_gdb_end end;
};

/**
 * Serves a connection until it ends. process, in, out, stop and child are set, the rest is zero.
 * Prints nothing but failures.
 */
enum zeta_gdb_end zeta_gdb_server_run(struct zeta_gdb_server *server);

/** Answers with "OK" or an error. */
void zeta_gdb_answer_ok(struct zeta_gdb_server *server, bool succeeded);

/** Sends what was written to the answer; without GDB the connection ends. */
void zeta_gdb_send_answer(struct zeta_gdb_server *server);

/** Ends the connection because GDB is gone, unless it ends already for what GDB asked for. */
void zeta_gdb_close(struct zeta_gdb_server *server);

/* Stops and resuming (run.c). ----------------------------------------------------------------- */

/** How long is waited while nothing comes: the API has no descriptor to wait for both sides. */
#define ZETA_GDB_WAIT_MS 10

/** "?": stops what runs and answers why threads stopped. Non-stop: nothing is stopped, and the
 * control thread is the answer. */
void zeta_gdb_answer_why(struct zeta_gdb_server *server, struct zeta_gdb_text *text);

/** "vStopped", non-stop: the next stop, or "OK" when there is none. */
void zeta_gdb_answer_stopped(struct zeta_gdb_server *server, struct zeta_gdb_text *text);

/** "vCtrlC", non-stop: stops one thread that runs, because a person asked for it. */
void zeta_gdb_answer_break(struct zeta_gdb_server *server, struct zeta_gdb_text *text);

/** "vCont", what follows the name is ";ACTION[:THREAD]", once or more. A stop is the answer, later;
 * non-stop: "OK" is, and stops are told. */
void zeta_gdb_answer_resume(struct zeta_gdb_server *server, struct zeta_gdb_text *text);

/** While threads run: waits a moment for a stop, and sends it. */
void zeta_gdb_watch(struct zeta_gdb_server *server);

/** While threads run: stops them, because a person asked for it. */
void zeta_gdb_interrupt(struct zeta_gdb_server *server);

/* Documents and files (documents.c). Each writes the answer to a packet, of which text is what
 * follows its name. -------------------------------------------------------------------------- */

/** "OBJECT:read:ANNEX:OFFSET,SIZE" */
void zeta_gdb_document_answer(struct zeta_gdb_server *server, struct zeta_gdb_text *text);

/** "open:...", "fstat:...", "pread:...", "close:...", "setfs:...", of files of modules only */
void zeta_gdb_file_answer(struct zeta_gdb_server *server, struct zeta_gdb_text *text);

/** GDB's number of a thread. */
uint32_t zeta_gdb_thread_tid(uint32_t thread);

#endif
