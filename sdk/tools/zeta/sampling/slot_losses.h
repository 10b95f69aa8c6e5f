/*
 * What raw data says of records that are missing.
 */
#ifndef ZETA_TOOLS_SAMPLING_SLOT_LOSSES_H
#define ZETA_TOOLS_SAMPLING_SLOT_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether a slot is none of a record or padding; what kind it is (ZETA_SLOT_*), and its count. */
bool zeta_slot_is_control(const uint8_t *slot, uint32_t *out_kind, uint64_t *out_lost);

/**
 * Records that are missing in raw data, at least: a break that does not say how many counts as one.
 *
 * @record_bytes  of a slot
 */
uint64_t zeta_slots_lost(const uint8_t *raw, size_t bytes, size_t record_bytes);

#endif
