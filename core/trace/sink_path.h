/*
 * Names of trace files, and globs for names of functions.
 */
#ifndef ZETA_CORE_TRACE_SINK_PATH_H
#define ZETA_CORE_TRACE_SINK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Makes the name of a trace file from a pattern, in which %p is the process id.
 *
 * @attempt  0 at first; one more each time that the file was found to exist. Without %p the second
 *           name has ".<pid>" at its end; further ones have a number too
 *
 * False when the name does not fit.
 */
bool zeta_sink_path(const char *pattern, pid_t pid, unsigned attempt, char *out_path,
                    size_t size_bytes);

/** True for a name that asks for a format that only the zeta command writes. */
bool zeta_sink_path_is_foreign(const char *path);

/** True if one of the globs, separated by commas, matches the name as a whole. */
bool zeta_sink_filter_accepts(const char *filter, const char *name);

/** Reads "4096", "64K", "64M" or "2G", in bytes; false if it is none of these. */
bool zeta_sink_limit(const char *text, uint64_t *out_bytes);

#endif
