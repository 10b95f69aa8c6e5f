/*
 * Reading memory of the application that may not be there.
 */
#ifndef ZETA_CORE_TRACE_PEEK_H
#define ZETA_CORE_TRACE_PEEK_H

#include <stdbool.h>
#include <stddef.h>

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
