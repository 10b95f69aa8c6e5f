/*
 * printf of kernels: any bytes as the records of a device; and any format, whose record, written by
 * the device's code, prints what the format prints by itself.
 */
#include <stdlib.h>
#include <string.h>

#include <zeta/kernel_print.h>

#include "plugins/nvidia/runtime/print.h"

enum { SLOTS = 4, ROOM = 1 << 18, MOST_FORMAT = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    struct zeta_print_buffer head;
    uint8_t records[ROOM];
} buffer;

static struct zeta_print_text direct;
static unsigned texts;

unsigned long __zeta_print_buffer(void)
{
    return (uintptr_t)&buffer;
}

static void take(void *user, const char *text, size_t size_bytes)
{
    (void)user;
    (void)text;
    if (size_bytes > ZETA_PRINT_TEXT_BYTES)
        abort();
}

static void compare(void *user, const char *text, size_t size_bytes)
{
    (void)user;
    texts++;
    if (size_bytes != direct.size_bytes || memcmp(text, direct.bytes, size_bytes) != 0)
        abort();
}

/* Addresses are those of this process. */
static bool read_memory(const void *user, uint64_t address, void *out, size_t size_bytes)
{
    (void)user;
    memcpy(out, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

static void print(const char *format, const char *string, uint64_t count)
{
    uint64_t slots[SLOTS];
    const struct zeta_print_source source = {.read = read_memory,
                                             .format = (uintptr_t)format,
                                             .slots = (uintptr_t)slots,
                                             .slot_count = count};
    uint64_t bad_address;
    size_t bad_byte;

    for (size_t i = 0; i < SLOTS; i++)
        slots[i] = (uintptr_t)string; /* each may be taken for one */
    buffer.head = (struct zeta_print_buffer){.room_bytes = ROOM};
    if (!zeta_print_format(&source, &direct, &bad_address))
        abort();
    texts = 0;
    if (__zeta_printf((uintptr_t)format, (uintptr_t)slots, count) != 0 ||
        !zeta_print_records(buffer.records, buffer.head.used_bytes, compare, NULL, &bad_byte) ||
        texts != 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char format[MOST_FORMAT + 1], string[MOST_FORMAT + 1];
    size_t bad_byte = 0;

    if (!zeta_print_records(data, size, take, NULL, &bad_byte) && bad_byte >= size)
        abort();
    for (size_t i = 0; i <= MOST_FORMAT; i++) {
        format[i] = i < size && i < MOST_FORMAT ? (char)data[i] : '\0';
        string[i] = i < MOST_FORMAT && i + 3 < size ? (char)data[i + 3] : '\0';
    }
    for (uint64_t count = 0; count <= SLOTS; count++)
        print(format, string, count);
    return 0;
}
