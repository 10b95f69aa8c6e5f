#include "core/formula/record/slot.h"

#include <string.h>

#include "core/formula/record/layout.h"

const unsigned char zeta_slot_magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

static void put_u32(unsigned char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void zeta_slot_write(const struct zeta_slot_control *control, void *slot, size_t record_bytes)
{
    unsigned char *bytes = slot;

    memset(bytes, 0, record_bytes);
    memcpy(bytes, zeta_slot_magic, sizeof(zeta_slot_magic));
    put_u32(bytes + 16, (uint32_t)control->kind);
    put_u32(bytes + 20, control->value);
    put_u32(bytes + 24, (uint32_t)control->lost_records);
    put_u32(bytes + 28, (uint32_t)(control->lost_records >> 32));
}

bool zeta_slot_is_padding(const void *slot, size_t record_bytes)
{
    const unsigned char *bytes = slot;

    /* All bytes equal their neighbour and the first one is zero. */
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, record_bytes - 1) == 0;
}

bool zeta_slot_read(const void *slot, struct zeta_slot_control *out_control)
{
    const unsigned char *bytes = slot;
    uint32_t kind;

    if (!zeta_slot_is_control(slot))
        return false;
    kind = get_u32(bytes + 16);
    if (kind < ZETA_SLOT_BREAK || kind > ZETA_SLOT_END)
        return false;
    out_control->kind = (enum zeta_slot_kind)kind;
    out_control->value = get_u32(bytes + 20);
    out_control->lost_records = get_u32(bytes + 24) | (uint64_t)get_u32(bytes + 28) << 32;
    return true;
}

size_t zeta_slot_skip(const void *raw, size_t raw_bytes, size_t record_bytes, uint32_t record_count,
                      uint32_t *out_tile)
{
    const unsigned char *bytes = raw;
    struct zeta_slot_control control;
    size_t offset = 0;

    *out_tile = 0;
    for (; record_count > 0 && raw_bytes - offset >= record_bytes; offset += record_bytes) {
        const unsigned char *slot = bytes + offset;

        if (!zeta_slot_is_control(slot)) {
            if (!zeta_slot_is_padding(slot, record_bytes))
                record_count--;
        } else if (zeta_slot_read(slot, &control)) {
            if (control.kind == ZETA_SLOT_TILE)
                *out_tile = control.value;
            else if (control.kind == ZETA_SLOT_END)
                *out_tile = 0;
        }
    }
    return offset;
}
