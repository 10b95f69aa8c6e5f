#ifndef ZETA_PLUGINS_INTEL_QUERY_FIELD_H
#define ZETA_PLUGINS_INTEL_QUERY_FIELD_H

/* One field of a report: where its bits lie, and the difference of two of its values. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <zeta/plugin.h>

/** One field of a report. */
struct zeta_intel_field {
    uint32_t low_byte, low_shift;
    uint32_t high_byte, high_shift, low_width; /**< where the upper bits go; high_mask 0: none */
    uint64_t low_mask, high_mask;
    uint64_t delta_mask; /**< of a running count that wraps there; 0: no count */
    bool is_float;
};

/** From the host's description; false for a field that lies outside of a report or has more than
 * 64 bits. */
bool zeta_intel_field_make(const struct zeta_plugin_query_field *from, uint32_t report_bytes,
                           struct zeta_intel_field *out_field);

/** Reads up to 64 bits; a number that does not begin in a byte has 57 at most. */
static inline uint64_t zeta_intel_bits_read(const uint8_t *report, uint32_t byte, uint32_t shift,
                                            uint64_t mask)
{
    uint64_t word;

    memcpy(&word, report + byte, sizeof(word));
    return word >> shift & mask;
}

/** The value in a report. At least 8 bytes behind the report have to be readable. */
static inline uint64_t zeta_intel_field_read(const struct zeta_intel_field *field,
                                             const uint8_t *report)
{
    uint64_t value =
        zeta_intel_bits_read(report, field->low_byte, field->low_shift, field->low_mask);

    if (field->high_mask)
        value |= zeta_intel_bits_read(report, field->high_byte, field->high_shift, field->high_mask)
                 << field->low_width;
    return value;
}

/** Adds what a field counted between two of its values to a sum; the field is a running count. */
uint64_t zeta_intel_field_add(const struct zeta_intel_field *field, uint64_t sum, uint64_t before,
                              uint64_t now);

/** The difference of two sums of a field: of no count the later value. */
uint64_t zeta_intel_field_difference(const struct zeta_intel_field *field, uint64_t begin,
                                     uint64_t end);

#endif
