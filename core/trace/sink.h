/*
 * The recorder of ZETA_TRACE: a listener that writes every call to the file of core/trace/file.h.
 */
#ifndef ZETA_CORE_TRACE_SINK_H
#define ZETA_CORE_TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/trace/file.h"

/**
 * Starts the recording that the environment asks for, once for a process. The entries of the
 * functions that initialise call it before they look for listeners, so that their own calls are
 * recorded too. One load when there is nothing to do. Any thread.
 */
void zeta_sink_prepare(void);

/**
 * A slot for a record that is no call of this thread. NULL: nothing is recorded, or the record is
 * lost. Give it back with zeta_trace_slot_give().
 */
struct zeta_trace_slot *zeta_sink_slot(void);

/* ---- What the variables of the recorder say ---- */

/**
 * Makes the name of a trace file from a pattern, in which %p is the process id. attempt: 0 at
 * first, one more each time that the file was found to exist; without %p the second name ends with
 * ".<pid>", and further ones have a number too. False when the name does not fit.
 */
bool zeta_sink_path(const char *pattern, pid_t pid, unsigned attempt, char *out_path,
                    size_t size_bytes);

/** Reads "4096", "64K", "64M" or "2G", in bytes; false if it is none of these. */
bool zeta_sink_limit(const char *text, uint64_t *out_bytes);

#endif
