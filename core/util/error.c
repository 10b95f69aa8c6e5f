/*
 * The last failure of each thread.
 *
 * The sentences are plain thread-local storage without a destructor: the library may be gone from
 * the point of view of its users when a thread ends, and then nothing of ours may run.
 */
#include "core/util/error.h"
#undef zeta_error
#undef zeta_error_no_memory

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <zeta/c_locale.h>

#define SENTENCE_BYTES 2048
#define CUT_MARK "..."

/* The last sentence and the one before: a new one may be made of the last. */
static _Thread_local char sentences[2][SENTENCE_BYTES];
static _Thread_local uint64_t sentence_count;

static char *sentence(void)
{
    return sentences[sentence_count % 2];
}

/* The next buffer holds the beginning of a sentence of so many bytes. */
static void publish(size_t size_bytes)
{
    sentence_count++;
    if (size_bytes >= SENTENCE_BYTES)
        memcpy(sentence() + SENTENCE_BYTES - sizeof(CUT_MARK), CUT_MARK, sizeof(CUT_MARK));
    else
        sentence()[size_bytes] = '\0';
}

ze_result_t zeta_error(ze_result_t result, const char *format, ...)
{
    char *next = sentences[(sentence_count + 1) % 2];
    const int before = errno;
    va_list arguments;

    va_start(arguments, format);
    const int length = zeta_c_vsnprintf(next, SENTENCE_BYTES, format, arguments);
    va_end(arguments);
    publish(length < 0 ? 0 : (size_t)length);
    errno = before;
    return result;
}

ze_result_t zeta_error_no_memory(const char *what)
{
    return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "there is no memory for %s", what);
}

ze_result_t zeta_error_text(ze_result_t result, const char *text, uint64_t size_bytes)
{
    const size_t size = text ? (size_t)size_bytes : 0;

    if (size > 0)
        memmove(sentences[(sentence_count + 1) % 2], text,
                size < SENTENCE_BYTES ? size : SENTENCE_BYTES);
    publish(size);
    return result;
}

const char *zeta_error_describe(void)
{
    return sentence();
}

uint64_t zeta_error_count(void)
{
    return sentence_count;
}

void zeta_error_clear(void)
{
    *sentence() = '\0';
}
