/*
 * Control slots: what libzeta writes between the records of raw data.
 *
 * Raw data of streams and tracers, exported or recorded too, is a sequence of slots of the record
 * size. A slot is a record, padding (only zero bytes), or a control slot:
 *
 *    0  magic             16 bytes, ZETA_SLOT_MAGIC
 *   16  kind              enum zeta_slot_kind; a reader passes over kinds that it does not know
 *   20  value             BREAK: the reason; TILE: index of the tile; else 0
 *   24  lost              BREAK: records that are missing, 0 if unknown; else 0 (64 bits)
 *   32  0                 up to the record size
 *
 * All numbers are little-endian.
 */
#ifndef ZETA_SLOT_H
#define ZETA_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZETA_SLOT_MAGIC_BYTES 16u
/** Bytes of a control slot that mean something; the rest of the slot is zero. */
#define ZETA_SLOT_CONTROL_BYTES 32u
/** First bytes of every control slot, as an initialiser. Chosen at random: no record has them. */
#define ZETA_SLOT_MAGIC                                                                            \
    {                                                                                              \
        0x9e, 0x7a, 0x65, 0x74, 0x61, 0x13, 0xc7, 0x52, 0x1d, 0xe8, 0x40, 0xb6, 0x75, 0xf3, 0x2a,  \
            0x8d                                                                                   \
    }

enum zeta_slot_kind {
    ZETA_SLOT_BREAK = 1, /**< the records on both sides are not neighbours */
    ZETA_SLOT_TILE = 2,  /**< the following slots come from the tile `value` */
    ZETA_SLOT_END = 3    /**< the stream ended; what follows belongs to another one */
};

/** A control slot in numbers. */
struct zeta_slot_control {
    enum zeta_slot_kind kind;
    uint32_t value;
    uint64_t lost_records;
};

/** True if the slot starts with the magic. The slot holds at least ZETA_SLOT_MAGIC_BYTES. */
static inline bool zeta_slot_is_control(const void *slot)
{
    static const unsigned char magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

    return memcmp(slot, magic, sizeof(magic)) == 0;
}

/** True if the slot holds only zero bytes. */
static inline bool zeta_slot_is_padding(const void *slot, size_t record_bytes)
{
    const unsigned char *bytes = (const unsigned char *)slot;

    /* All bytes equal their neighbour and the first one is zero. */
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, record_bytes - 1) == 0;
}

/** Writes a control slot. record_bytes >= ZETA_SLOT_CONTROL_BYTES; every byte of it is written. */
static inline void zeta_slot_write(const struct zeta_slot_control *control, void *slot,
                                   size_t record_bytes)
{
    static const unsigned char magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;
    const uint64_t numbers[2] = {(uint64_t)control->kind | (uint64_t)control->value << 32,
                                 control->lost_records};
    unsigned char *bytes = (unsigned char *)slot;

    memset(bytes, 0, record_bytes);
    memcpy(bytes, magic, sizeof(magic));
    for (unsigned i = 0; i < sizeof(numbers); i++)
        bytes[ZETA_SLOT_MAGIC_BYTES + i] = (unsigned char)(numbers[i / 8] >> (8 * (i % 8)));
}

/**
 * Reads a control slot; false if the slot is none, or of a kind that this header does not know: a
 * reader passes over such a slot.
 */
static inline bool zeta_slot_read(const void *slot, struct zeta_slot_control *out_control)
{
    const unsigned char *bytes = (const unsigned char *)slot + ZETA_SLOT_MAGIC_BYTES;
    uint64_t numbers[2] = {0, 0};

    if (!zeta_slot_is_control(slot))
        return false;
    for (unsigned i = 0; i < sizeof(numbers); i++)
        numbers[i / 8] |= (uint64_t)bytes[i] << (8 * (i % 8));
    if ((uint32_t)numbers[0] < ZETA_SLOT_BREAK || (uint32_t)numbers[0] > ZETA_SLOT_END)
        return false;
    out_control->kind = (enum zeta_slot_kind)(uint32_t)numbers[0];
    out_control->value = (uint32_t)(numbers[0] >> 32);
    out_control->lost_records = numbers[1];
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
