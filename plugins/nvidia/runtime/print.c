/*
 * printf: a record for each call in a buffer that the host formats (zeta/kernel_print.h). Compiled
 * for nvptx64, where pointers are generic; and for the host, by the tests of both sides.
 */
#include "print.h"

#include <zeta/kernel_print.h>

/* Adds, and gives what was there. Records of other items may come in any order. */
static uint64_t add(uint64_t *target, uint64_t value)
{
#ifdef __NVPTX__
    uint64_t old;

    __asm__ volatile("atom.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(target), "l"(value) : "memory");
    return old;
#else
    return __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
#endif
}

/* Stores a string of at most that length, and its terminator; without a record only its length. */
static uint32_t store_string(char *record, uint32_t at, const char *text, size_t limit)
{
    uint32_t length = 0;

    for (; length < limit && text[length] != '\0'; length++) {
        if (record)
            record[at + length] = text[length];
    }
    if (record)
        record[at + length] = '\0';
    return length + 1;
}

static uint64_t slot_at(const uint64_t *slots, uint32_t count, uint32_t index)
{
    return index < count ? slots[index] : 0;
}

/* Stores all but the head and the format of a call, or only tells how many bytes that is. */
static uint32_t store(char *record, uint32_t at, const char *format, const uint64_t *slots,
                      uint32_t count)
{
    struct zeta_print_conversion conversion;
    const char *end = format + ZETA_PRINT_FORMAT_BYTES;
    uint64_t *stored =
        record ? (uint64_t *)(void *)(record + sizeof(struct zeta_print_record)) : NULL;
    uint32_t next = 0;

    for (uint32_t i = 0; stored && i < count; i++)
        stored[i] = slots[i];
    while (format < end && *format != '\0') {
        if (*format++ != '%')
            continue;
        format = zeta_print_read_conversion(format, &conversion);
        next += conversion.has_width_slot;
        if (conversion.has_precision_slot)
            conversion.precision = zeta_print_width(slot_at(slots, count, next++));
        if (!zeta_print_takes_values(&conversion))
            continue;
        if (conversion.letter == 's' && next < count) {
            if (stored)
                stored[next] = at;
            at += store_string(record, at, (const char *)slots[next],
                               zeta_print_string_limit(&conversion));
        }
        next += conversion.components;
    }
    return at;
}

/* -1: the call is lost. */
__attribute__((noinline)) static int print_to(unsigned long address, unsigned long format_address,
                                              unsigned long slots_address, unsigned long slot_count)
{
    struct zeta_print_buffer *buffer = (struct zeta_print_buffer *)address;
    const char *format = (const char *)format_address;
    const uint64_t *slots = (const uint64_t *)slots_address;
    const uint32_t count = (uint32_t)slot_count;
    struct zeta_print_record head = {0, count};
    const uint32_t format_at = (uint32_t)(sizeof(head) + count * sizeof(uint64_t));
    uint32_t strings_at;
    uint64_t place;
    char *record;

    if (!buffer)
        return -1;
    strings_at = format_at + store_string(NULL, 0, format, ZETA_PRINT_FORMAT_BYTES);
    head.size_bytes = (store(NULL, strings_at, format, slots, count) + 7) / 8 * 8;
    place = add(&buffer->used_bytes, head.size_bytes);
    record = place < buffer->room_bytes ? (char *)(buffer + 1) + place : NULL;
    if (!record || head.size_bytes > buffer->room_bytes - place) {
        (void)add(&buffer->lost_count, 1);
        head.size_bytes = 0;
        if (record)
            *(struct zeta_print_record *)(void *)record = head;
        return -1;
    }
    *(struct zeta_print_record *)(void *)record = head;
    (void)store_string(record, format_at, format, ZETA_PRINT_FORMAT_BYTES);
    (void)store(record, strings_at, format, slots, count);
    return 0;
}

int __zeta_printf(unsigned long format, unsigned long slots, unsigned long count)
{
    return print_to(__zeta_print_buffer(), format, slots, count);
}
