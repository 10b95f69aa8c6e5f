/*
 * Arguments of a call as JSON members, "hDevice":"0x7f..","count":3.
 *
 * Addresses may be garbage: a trace sees a call before it is checked. So nothing is read through
 * them but with a copy that fails where a load would end the process.
 */
#ifndef ZETA_CORE_TRACE_RENDER_H
#define ZETA_CORE_TRACE_RENDER_H

#include "core/trace/text.h"
#include "zeta_functions.h"

/**
 * Adds what is known before the call: values, and what they point to where that is an input.
 *
 * @arguments  addresses of the arguments, as listeners of core/trace/trace.h get them
 *
 * A member that does not fit is left out, and so is the rest; text->is_cut is true then.
 */
void zeta_trace_render_before(struct zeta_trace_text *text, enum zeta_function function,
                              const void *const *arguments);

/** Adds to the members that are there what a call that succeeded has given. */
void zeta_trace_render_after(struct zeta_trace_text *text, enum zeta_function function,
                             const void *const *arguments);

/* ---- Reading memory of the application that may not be there (peek.c) ---- */

/**
 * Copies size_bytes (at most 4096); false if any byte of it cannot be read.
 * What lies on the stack of this thread, above the caller, is simply copied; the rest costs a
 * system call. Leaves errno alone.
 */
bool zeta_peek(void *to, const void *from, size_t size_bytes);

/**
 * Copies the start of a string, at most size_bytes of it, and gives how many bytes that is; less
 * than size_bytes when it ends before. False if the first byte cannot be read.
 */
bool zeta_peek_string(char *to, const char *from, size_t size_bytes, size_t *out_bytes);

#endif
