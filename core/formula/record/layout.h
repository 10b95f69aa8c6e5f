/*
 * What the bytes of a record mean, and what is between records.
 *
 * A layout is data: a set file declares the record size, named header fields and numbered counters
 * in banks. Every field is a run of bits of a little-endian record, or two runs when hardware keeps
 * the high part of a counter somewhere else (40-bit counters whose top bytes lie apart).
 *
 * Between the records of raw data the core writes control slots (zeta/slot.h). Loss and tile travel
 * with the bytes, so any concatenation of reads is valid data, and calculation needs no state.
 */
#ifndef ZETA_CORE_FORMULA_RECORD_LAYOUT_H
#define ZETA_CORE_FORMULA_RECORD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/slot.h>

struct zeta_expr;

/** Bounds of record sizes in bytes, multiples of 4; a control slot (zeta/slot.h) has to fit. */
#define ZETA_RECORD_MIN_BYTES 32u
#define ZETA_RECORD_MAX_BYTES 4096u

/** Largest record of a layout of kind event, in bytes. */
#define ZETA_EVENT_RECORD_MAX_BYTES 256u
/** Largest number of an event type; they start at 1, so that no event is a slot of padding. */
#define ZETA_EVENT_MAX_TYPE 4095u
/** Largest number of event types of one layout. */
#define ZETA_EVENT_MAX_COUNT 256u

enum zeta_layout_kind {
    ZETA_LAYOUT_DELTA,  /**< running counters; a row is the difference of two records */
    ZETA_LAYOUT_SAMPLE, /**< each record is a row */
    ZETA_LAYOUT_EVENT,  /**< each record is an event; its type decides what the other fields mean */
    ZETA_LAYOUT_KIND_COUNT
};

/** Index that means "no field". */
#define ZETA_FIELD_NONE UINT32_MAX

/** A number inside a record. */
struct zeta_field {
    const char *name; /**< of a header field; for counters the bank's name */
    uint32_t index;   /**< of a counter in its bank; 0 for header fields */
    uint32_t line;    /**< of the declaration in its file */

    uint32_t low_bit;    /**< first bit, counted from the start of the record */
    uint32_t low_width;  /**< bits, 1 to 64 */
    uint32_t high_bit;   /**< first bit of the upper part */
    uint32_t high_width; /**< bits of the upper part, 0 if there is none; both parts <= 64 */

    bool is_float;       /**< an IEEE double of 64 bits instead of an unsigned integer */
    uint32_t delta_bits; /**< differences are taken modulo 2^delta_bits; 0: has no difference */
    struct zeta_expr
        *rate; /**< what it counts in a second at most, u64 over symbols; NULL: unknown */

    /** Field whose bit valid_bit is 1 if this field was measured, or ZETA_FIELD_NONE. */
    uint32_t valid_field;
    uint32_t valid_bit; /**< counted from the lowest bit of valid_field */

    /** Field that this one is a part of (same bits, another view), or ZETA_FIELD_NONE. */
    uint32_t part_of;
};

/** Consecutive fields that expressions address as name[index]. */
struct zeta_bank {
    const char *name;
    uint32_t first_field; /**< index of counter 0 in the fields of the layout */
    uint32_t count;
};

/** A value of the header field `type` of event records, and its name. */
struct zeta_event_type {
    const char *name;
    uint32_t number; /**< 1 to ZETA_EVENT_MAX_TYPE */
};

/** The whole description. Owned by the catalog that loaded it, constant after linking. */
struct zeta_layout {
    const char *name;
    const char *file;
    uint32_t line;

    enum zeta_layout_kind kind;
    uint32_t record_bytes;

    struct zeta_field *fields; /**< header fields, then the banks */
    uint32_t field_count;
    uint32_t header_count; /**< the first header_count of fields are header fields */
    struct zeta_bank *banks;
    uint32_t bank_count;

    /** Fields that identify a record: equal in all of them means repeated. May be empty. */
    uint32_t *identity;
    uint32_t identity_count;

    /** Condition over one record: if true the record only sets the baseline. NULL: never. */
    struct zeta_expr *baseline;

    /** What the records of queries hold instead; of linked layouts, but not of events. */
    const struct zeta_layout *query_form;

    struct zeta_metric *info; /**< appended to each set of the layout */
    uint32_t info_count;

    /** Of layouts of kind event only: the types, and the header fields that every event has. */
    struct zeta_event_type *events;
    uint32_t event_count;
    uint32_t type_field;
    uint32_t ticks_field; /**< unmasked ticks of the metric timer */
    uint32_t tile_field;  /**< ZETA_FIELD_NONE: records have no tile */
};

/** Finds a header field; ZETA_FIELD_NONE if there is none of that name. */
uint32_t zeta_layout_find_field(const struct zeta_layout *layout, const char *name);

/**
 * The header field "timestamp" or "ticks": the clock of the layout, by which tiles are aligned and
 * queries begin and end. ZETA_FIELD_NONE if it has neither.
 */
uint32_t zeta_layout_clock(const struct zeta_layout *layout);

/** Finds a bank; NULL if there is none of that name. */
const struct zeta_bank *zeta_layout_find_bank(const struct zeta_layout *layout, const char *name);

/** Finds an event type by name; NULL if there is none. */
const struct zeta_event_type *zeta_layout_find_event(const struct zeta_layout *layout,
                                                     const char *name);

/** True for the types `enabled` and `disabled`, which a tracer writes about itself. */
bool zeta_event_is_about_tracer(const struct zeta_event_type *event);

/**
 * Reads a field of one record: the integer, or the bits of the double for a float field.
 *
 * @record  at least record_bytes of the field's layout; any alignment
 */
uint64_t zeta_field_read(const struct zeta_field *field, const void *record);

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
