/* Reading memory of the application that may not be there. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/trace/render.h"

#define PAGE_BYTES 4096

/* The stack of this thread; end 1 when it is not known. A child of fork() keeps it. */
static _Thread_local struct {
    uintptr_t start;
    uintptr_t end;
} stack;

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;

    stack.end = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    (void)pthread_attr_getstack(&attributes, &start, &bytes);
    (void)pthread_attr_destroy(&attributes);
    stack.start = (uintptr_t)start;
    stack.end = (uintptr_t)start + bytes;
}

/*
 * Everything between a local variable and the end of the stack is in use, so it is there. A local
 * variable may be elsewhere, when the program switches stacks or a sanitizer moves variables.
 */
static bool is_on_stack(const void *from, size_t size_bytes)
{
    const uintptr_t here = (uintptr_t)&size_bytes;
    const uintptr_t at = (uintptr_t)from;

    if (stack.end == 0)
        find_stack();
    return here >= stack.start && at > here && at < stack.end && size_bytes <= stack.end - at;
}

bool zeta_peek(void *to, const void *from, size_t size_bytes)
{
    const int error = errno;
    bool is_there;

    if (is_on_stack(from, size_bytes)) {
        memcpy(to, from, size_bytes);
        return true;
    }
    is_there = zeta_chain_copy(to, from, size_bytes);
    errno = error;
    return is_there;
}

/* A string may end just in front of memory that is not there, so no read crosses a page. */
bool zeta_peek_string(char *to, const char *from, size_t size_bytes, size_t *out_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        const size_t page = PAGE_BYTES - (uintptr_t)(from + done) % PAGE_BYTES;
        const size_t part = page < size_bytes - done ? page : size_bytes - done;

        if (!zeta_peek(to + done, from + done, part))
            break;

        const char *end = memchr(to + done, '\0', part);
        if (end) {
            *out_bytes = (size_t)(end - to);
            return true;
        }
        done += part;
    }
    *out_bytes = done;
    return done > 0;
}
