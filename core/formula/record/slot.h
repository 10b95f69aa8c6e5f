/*
 * Control slots, which the core writes between the records of raw data (zeta/slot.h). Loss and tile
 * travel with the bytes, so any concatenation of reads is valid data, and calculation needs no
 * state.
 */
#ifndef ZETA_CORE_FORMULA_RECORD_SLOT_H
#define ZETA_CORE_FORMULA_RECORD_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include "zeta/slot.h"

/** Why a stream of records is interrupted; numerically ZETA_PLUGIN_BREAK_*. */
enum zeta_break_reason {
    ZETA_BREAK_OVERFLOW = 1, /**< the ring was full */
    ZETA_BREAK_LOST = 2,     /**< the device reports lost records */
    ZETA_BREAK_RESET = 3     /**< the device was reset */
};

/**
 * Goes behind the first record_count records, whichever tile they are of; control slots and padding
 * among them are passed too. Gives the bytes to leave out, and in *out_tile the tile of what
 * follows.
 */
size_t zeta_slot_skip(const void *raw, size_t raw_bytes, size_t record_bytes, uint32_t record_count,
                      uint32_t *out_tile);

#endif
