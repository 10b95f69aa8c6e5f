#include "core/formula/record/layout.h"

#include <string.h>

uint32_t zeta_layout_find_field(const struct zeta_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->header_count; i++) {
        if (strcmp(layout->fields[i].name, name) == 0)
            return i;
    }
    return ZETA_FIELD_NONE;
}

uint32_t zeta_layout_clock(const struct zeta_layout *layout)
{
    const uint32_t index = zeta_layout_find_field(layout, "timestamp");

    return index != ZETA_FIELD_NONE ? index : zeta_layout_find_field(layout, "ticks");
}

const struct zeta_bank *zeta_layout_find_bank(const struct zeta_layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->bank_count; i++) {
        if (strcmp(layout->banks[i].name, name) == 0)
            return &layout->banks[i];
    }
    return NULL;
}

const struct zeta_event_type *zeta_layout_find_event(const struct zeta_layout *layout,
                                                     const char *name)
{
    for (uint32_t i = 0; i < layout->event_count; i++) {
        if (strcmp(layout->events[i].name, name) == 0)
            return &layout->events[i];
    }
    return NULL;
}

bool zeta_event_is_about_tracer(const struct zeta_event_type *event)
{
    return strcmp(event->name, "enabled") == 0 || strcmp(event->name, "disabled") == 0;
}

/** Reads width bits (1 to 64) that start at bit; the run lies inside the record. */
static uint64_t read_bits(const unsigned char *record, uint32_t bit, uint32_t width)
{
    const unsigned char *bytes = record + bit / 8;
    uint32_t skip = bit % 8;
    uint64_t value = 0;

    for (uint32_t i = 0; i < 8 && i * 8 < skip + width; i++)
        value |= (uint64_t)bytes[i] << (i * 8);
    value >>= skip;
    if (skip + width > 64)
        value |= (uint64_t)bytes[8] << (64 - skip);
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

uint64_t zeta_field_read(const struct zeta_field *field, const void *record)
{
    uint64_t value = read_bits(record, field->low_bit, field->low_width);

    if (field->high_width > 0)
        value |= read_bits(record, field->high_bit, field->high_width) << field->low_width;
    return value;
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
