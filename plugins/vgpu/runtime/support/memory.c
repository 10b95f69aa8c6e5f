/* Blocks of memory: compilers make calls of these on their own. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict target, const void *restrict source, size_t length);
void *memmove(void *target, const void *source, size_t length);
void *memset(void *target, int value, size_t length);
int memcmp(const void *first, const void *second, size_t length);

/* What any memory may be accessed as. */
typedef uint64_t __attribute__((may_alias)) word;

enum { WORD = sizeof(word) };

static int is_word(const void *address)
{
    return ((uintptr_t)address & (WORD - 1)) == 0;
}

/* From low to high addresses; the engine takes words at any address, so only the target counts. */
static void copy_up(char *to, const char *from, size_t length)
{
    for (; length > 0 && !is_word(to); length--)
        *to++ = *from++;
    for (; length >= WORD && is_word(from); length -= WORD, to += WORD, from += WORD)
        *(word *)to = *(const word *)from;
    while (length-- > 0)
        *to++ = *from++;
}

void *memcpy(void *restrict target, const void *restrict source, size_t length)
{
    copy_up(target, source, length);
    return target;
}

void *memmove(void *target, const void *source, size_t length)
{
    char *to = target;
    const char *from = source;

    if ((uintptr_t)to - (uintptr_t)from >= length) {
        copy_up(to, from, length);
        return target;
    }
    while (length-- > 0)
        to[length] = from[length];
    return target;
}

void *memset(void *target, int value, size_t length)
{
    char *to = target;
    word pattern = (unsigned char)value * UINT64_C(0x0101010101010101);

    for (; length > 0 && !is_word(to); length--)
        *to++ = (char)value;
    for (; length >= WORD; length -= WORD, to += WORD)
        *(word *)to = pattern;
    while (length-- > 0)
        *to++ = (char)value;
    return target;
}

int memcmp(const void *first, const void *second, size_t length)
{
    const unsigned char *a = first, *b = second;

    for (; length > 0; length--, a++, b++) {
        if (*a != *b)
            return *a - *b;
    }
    return 0;
}
