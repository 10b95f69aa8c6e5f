#include "sdk/tools/zeta/sampling/slot_losses.h"

#include <string.h>

#include <zeta/slot.h>

bool zeta_slot_is_control(const uint8_t *slot, uint32_t *out_kind, uint64_t *out_lost)
{
    static const uint8_t magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

    if (memcmp(slot, magic, sizeof(magic)) != 0)
        return false;
    memcpy(out_kind, slot + 16, sizeof(*out_kind));
    memcpy(out_lost, slot + 24, sizeof(*out_lost));
    return true;
}

uint64_t zeta_slots_lost(const uint8_t *raw, size_t bytes, size_t record_bytes)
{
    uint64_t all = 0;

    if (record_bytes < ZETA_SLOT_CONTROL_BYTES)
        return 0;
    for (size_t at = 0; at + record_bytes <= bytes; at += record_bytes) {
        uint32_t kind;
        uint64_t lost;

        if (zeta_slot_is_control(raw + at, &kind, &lost) && kind == ZETA_SLOT_BREAK)
            all += lost > 0 ? lost : 1;
    }
    return all;
}
