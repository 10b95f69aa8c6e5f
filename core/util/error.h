/*
 * Failures and the sentence that explains them.
 */
#ifndef ZETA_CORE_UTIL_ERROR_H
#define ZETA_CORE_UTIL_ERROR_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#if defined(__GNUC__)
#define ZETA_PRINTF(text, first) __attribute__((format(printf, text, first), cold))
#else
#define ZETA_PRINTF(text, first)
#endif

/**
 * Returns result and leaves a sentence for zeDriverGetLastErrorDescription on this thread.
 *
 * The sentence says what was wrong, where, and what to do. It is cut at 2047 bytes; its numbers
 * have a decimal point in every locale; errno stays. Not for ZE_RESULT_NOT_READY and warnings.
 */
ze_result_t zeta_error(ze_result_t result, const char *format, ...) ZETA_PRINTF(2, 3);

/** OUT_OF_HOST_MEMORY, "there is no memory for <what>". */
ze_result_t zeta_error_no_memory(const char *what);

/* What analyses a file alone cannot see what these functions return. */
#ifdef __clang_analyzer__
#define zeta_error(result, ...) ((void)zeta_error(result, __VA_ARGS__), (result))
#define zeta_error_no_memory(what)                                                                 \
    ((void)zeta_error_no_memory(what), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
#endif

/** zeta_error() with a finished text of a plugin; copied, cut at the limit of the buffer. */
ze_result_t zeta_error_text(ze_result_t result, const char *text, uint64_t size_bytes);

/**
 * The last sentence of this thread, "" if there is none. Valid until the next failure on this
 * thread.
 */
const char *zeta_error_describe(void);

/** How many sentences this thread has left so far: whether a call left one of its own. */
uint64_t zeta_error_count(void);

/** Forgets the sentence of this thread. */
void zeta_error_clear(void);

#endif
