/*
 * What the command prints for a person on stderr, and its exit codes.
 */
#ifndef ZETA_TOOLS_OUTPUT_MESSAGE_H
#define ZETA_TOOLS_OUTPUT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <level_zero/ze_api.h>

/** Exit codes of the command's own; zeta stat otherwise exits as its program did. */
enum zeta_exit {
    ZETA_EXIT_OK = 0,
    ZETA_EXIT_FAILED = 1,
    ZETA_EXIT_USAGE = 2,
    ZETA_EXIT_NOT_EXECUTABLE = 126, /**< the program is there and cannot be run, as in sh */
    ZETA_EXIT_NOT_FOUND = 127,      /**< there is no such program, as in sh */
    ZETA_EXIT_SIGNAL = 128          /**< plus the number of the signal that killed the program */
};

/** Prints "zeta: <sentence>". Gives ZETA_EXIT_FAILED, so that callers can return it. */
int zeta_print_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Names the command whose manual zeta_print_usage_error() points to; it must stay valid. */
void zeta_message_set_command(const char *command);

/** Prints "zeta: <sentence>" and where the usage is explained. Gives ZETA_EXIT_USAGE. */
int zeta_print_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * Prints "zeta: <what was tried>: <why the library refused>". The reason is that of the calling
 * thread's last failed call. Gives ZETA_EXIT_FAILED.
 */
int zeta_print_refusal(ze_result_t result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Prints "zeta: <sentence>" about something that is no failure. */
void zeta_print_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory that is there: without any the command prints that and ends with ZETA_EXIT_FAILED. For
 * what is made before a program runs, or without one. */

/** Ends the command unless there was memory for something. */
void zeta_need_memory(bool was_there);

/** count x size bytes of zero, for free(). */
void *zeta_allocate(size_t count, size_t size);

/** As reallocarray(). */
void *zeta_reallocate(void *memory, size_t count, size_t size);

/** The text that printf would print in the C locale, for free(). */
char *zeta_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What analyses a file alone cannot see what these functions return. */
#ifdef __clang_analyzer__
#define zeta_print_failure(...) ((void)zeta_print_failure(__VA_ARGS__), ZETA_EXIT_FAILED)
#define zeta_print_usage_error(...) ((void)zeta_print_usage_error(__VA_ARGS__), ZETA_EXIT_USAGE)
#define zeta_print_refusal(...) ((void)zeta_print_refusal(__VA_ARGS__), ZETA_EXIT_FAILED)
#endif

#endif
