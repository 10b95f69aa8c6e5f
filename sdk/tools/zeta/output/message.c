#include "sdk/tools/zeta/output/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <zeta/c_locale.h>
#include <zeta/zeta.h>

/** The command that runs, "" before it is known. */
#undef zeta_print_failure
#undef zeta_print_usage_error
#undef zeta_print_refusal

static const char *about = "";

static void __attribute__((format(printf, 1, 0))) print(const char *format, va_list arguments)
{
    (void)fputs("zeta: ", stderr);
    (void)zeta_c_vfprintf(stderr, format, arguments);
}

int zeta_print_failure(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    return ZETA_EXIT_FAILED;
}

void zeta_message_set_command(const char *command)
{
    about = command;
}

int zeta_print_usage_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "\nTry 'zeta help%s%s'.\n", *about ? " " : "", about);
    return ZETA_EXIT_USAGE;
}

int zeta_print_refusal(ze_result_t result, const char *format, ...)
{
    const char *reason = zetaGetLastError();
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    if (reason[0])
        (void)fprintf(stderr, ": %s\n", reason);
    else
        (void)fprintf(stderr, ": the library gave no reason (code 0x%x)\n", (unsigned)result);
    return ZETA_EXIT_FAILED;
}

void zeta_print_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
}

void zeta_need_memory(bool was_there)
{
    if (!was_there)
        exit(zeta_print_failure("no memory"));
}

static void *need(void *memory)
{
    zeta_need_memory(memory != NULL);
    return memory;
}

void *zeta_allocate(size_t count, size_t size)
{
    return need(calloc(count ? count : 1, size));
}

void *zeta_reallocate(void *memory, size_t count, size_t size)
{
    return need(reallocarray(memory, count ? count : 1, size));
}

char *zeta_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (zeta_c_vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return need(text);
}
