#include "plugins/intel/query/field.h"

#include <string.h>

static uint64_t mask_of(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static bool fits(uint32_t bit, uint32_t width, uint32_t report_bytes)
{
    return width <= 64 && (uint64_t)bit + width <= (uint64_t)report_bytes * 8 &&
           width + bit % 8 <= 64;
}

bool zeta_intel_field_make(const struct zeta_plugin_query_field *from, uint32_t report_bytes,
                           struct zeta_intel_field *out_field)
{
    if (!fits(from->low_bit, from->low_width, report_bytes) ||
        !fits(from->high_bit, from->high_width, report_bytes) ||
        from->low_width + from->high_width > 64 || from->delta_bits > 64)
        return false;
    *out_field = (struct zeta_intel_field){
        .low_byte = from->low_bit / 8,
        .low_shift = from->low_bit % 8,
        .low_width = from->low_width,
        .low_mask = mask_of(from->low_width),
        .high_byte = from->high_bit / 8,
        .high_shift = from->high_bit % 8,
        .high_mask = from->high_width ? mask_of(from->high_width) : 0,
        .delta_mask = from->delta_bits ? mask_of(from->delta_bits) : 0,
        .is_float = from->is_float != 0,
    };
    return true;
}

static double to_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

uint64_t zeta_intel_field_add(const struct zeta_intel_field *field, uint64_t sum, uint64_t before,
                              uint64_t now)
{
    if (field->is_float)
        return to_bits(to_double(sum) + to_double(now) - to_double(before));
    return sum + ((now - before) & field->delta_mask);
}

uint64_t zeta_intel_field_difference(const struct zeta_intel_field *field, uint64_t begin,
                                     uint64_t end)
{
    if (!field->delta_mask)
        return end;
    return field->is_float ? to_bits(to_double(end) - to_double(begin)) : end - begin;
}
