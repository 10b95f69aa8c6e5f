#include "core/formula/record/slot.h"

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
