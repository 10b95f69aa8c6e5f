/*
 * The recorder of ZETA_TRACE: a listener that writes every call to the file of core/trace/file.h.
 */
#ifndef ZETA_CORE_TRACE_SINK_H
#define ZETA_CORE_TRACE_SINK_H

#include <stdint.h>

#include <level_zero/ze_api.h>

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

/**
 * Starts to record.
 *
 * @path         of a file that does not exist
 * @filter       globs of function names, separated by commas; null or "": every function
 * @limit_bytes  of the file; 0: the usual limit
 *
 * Errors: NOT_AVAILABLE when a trace is being written or the file cannot be created (errno is
 * EEXIST when it exists); INVALID_ARGUMENT for the name of another format; OUT_OF_HOST_MEMORY.
 * Any thread.
 */
ze_result_t zeta_sink_start(const char *path, const char *filter, uint64_t limit_bytes);

/**
 * Ends the recording and completes the file. Waits for nobody: calls under way stay in the trace
 * as unfinished. Errors: NOT_AVAILABLE when nothing is recorded. Any thread.
 */
ze_result_t zeta_sink_stop(void);

#endif
