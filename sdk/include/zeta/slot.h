/*
 * Control slots: what libzeta says between the records of raw data.
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

#ifdef __cplusplus
}
#endif

#endif
