/*
 * Control slots, which the core writes between the records of raw data.
 *
 * Raw data is a sequence of slots of the record size. A slot is a record, or a control slot that
 * starts with a magic of 16 bytes, or padding (only zero bytes). So loss and tile travel with the
 * bytes, any concatenation of reads is valid data, and calculation needs no state.
 *
 *   0              16      20      24            32
 *   | magic        | kind  | value | lost        | zero up to the record size
 *
 * All numbers are little-endian; they are in zeta/slot.h, for those who read raw data themselves.
 */
#ifndef ZETA_CORE_FORMULA_RECORD_SLOT_H
#define ZETA_CORE_FORMULA_RECORD_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "zeta/slot.h"

/** Why a stream of records is interrupted; numerically ZETA_PLUGIN_BREAK_*. */
enum zeta_break_reason {
    ZETA_BREAK_OVERFLOW = 1, /**< the ring was full */
    ZETA_BREAK_LOST = 2,     /**< the device reports lost records */
    ZETA_BREAK_RESET = 3     /**< the device was reset */
};

/** A decoded control slot. */
struct zeta_slot_control {
    enum zeta_slot_kind kind;
    uint32_t value;        /**< BREAK: zeta_break_reason; TILE: index of the tile; END: 0 */
    uint64_t lost_records; /**< BREAK: records that are missing, 0 if unknown */
};

/** Writes a control slot. record_bytes >= ZETA_RECORD_MIN_BYTES; every byte of it is written. */
void zeta_slot_write(const struct zeta_slot_control *control, void *slot, size_t record_bytes);

/** First bytes of every control slot. Chosen at random, so that no record begins with them. */
extern const unsigned char zeta_slot_magic[ZETA_SLOT_MAGIC_BYTES];

/** True if the slot starts with the magic. The slot holds at least ZETA_SLOT_MAGIC_BYTES. */
static inline bool zeta_slot_is_control(const void *slot)
{
    return memcmp(slot, zeta_slot_magic, ZETA_SLOT_MAGIC_BYTES) == 0;
}

/** True if the slot holds only zero bytes. */
bool zeta_slot_is_padding(const void *slot, size_t record_bytes);

/**
 * Decodes a control slot; false if the slot is none, or of a kind that this version does not know
 * (such a slot is skipped by readers).
 */
bool zeta_slot_read(const void *slot, struct zeta_slot_control *out_control);

/**
 * Goes behind the first record_count records, whichever tile they are of; control slots and padding
 * among them are passed too. Gives the bytes to leave out, and in *out_tile the tile of what
 * follows.
 */
size_t zeta_slot_skip(const void *raw, size_t raw_bytes, size_t record_bytes, uint32_t record_count,
                      uint32_t *out_tile);

#endif
