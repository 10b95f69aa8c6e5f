/*
 * One group while it is sampled: its rows as they are calculated, summed up.
 */
#ifndef ZETA_TOOLS_SAMPLING_SAMPLED_GROUP_H
#define ZETA_TOOLS_SAMPLING_SAMPLED_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/zeta.h>

#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/text.h"

/**
 * The first piece begins at 0. When a row lies behind the last, neighbours are joined and each
 * piece is twice as wide. All zero bytes but most is an empty line.
 */
struct zeta_sum_line {
    uint32_t most;                   /**< pieces at most; even */
    struct zeta_metric_sum **pieces; /**< null: without rows */
    uint32_t used;                   /**< up to the last with rows */
    uint64_t width;                  /**< of a piece */
};

/**
 * Adds a row at a place. like: a sum of the same group. width: of the pieces before any are joined,
 * above 0; only that of the first row counts. False without memory.
 */
bool zeta_sum_line_add(struct zeta_sum_line *line, const struct zeta_metric_sum *like, uint64_t at,
                       uint64_t width, const struct zeta_metric_row *row);

/** Joins neighbours: half as many pieces, each twice as wide. */
void zeta_sum_line_join(struct zeta_sum_line *line);

void zeta_sum_line_finish(struct zeta_sum_line *line);

enum {
    ZETA_SPARKLINE_VALUES = 64,
    /** Lines of 64, 32, 16, 8 and 4 values. */
    ZETA_SPARKLINE_LEVELS = 5,
    /** Longest text: three bytes per column and the terminator. */
    ZETA_SPARKLINE_TEXT_BYTES = 3 * ZETA_SPARKLINE_VALUES + 1
};

/**
 * The same time at several widths: each level has half as many values as the one before. All zero
 * is an empty line.
 */
struct zeta_sparkline {
    uint32_t counts[ZETA_SPARKLINE_LEVELS]; /**< values that are used; 0: no such level */
    double values[ZETA_SPARKLINE_LEVELS][ZETA_SPARKLINE_VALUES]; /**< NaN where nothing is known */
};

/**
 * Draws the longest level of at most columns characters, scaled from 0 to the largest value, a
 * blank where nothing is known. out_text has ZETA_SPARKLINE_TEXT_BYTES bytes. Gives the number of
 * columns drawn.
 */
unsigned zeta_sparkline_draw(const struct zeta_sparkline *line, unsigned columns, char *out_text);

/** Where the rows of a tile have arrived. */
struct zeta_sampled_tile {
    bool started;
    uint64_t end_ns; /**< end of the last row: QueryBeginTime is that of the report that ends it */
};

/** What is missing. */
struct zeta_sampled_losses {
    uint64_t counted;   /**< reports, in breaks that have a count */
    uint64_t uncounted; /**< breaks without a count */
    uint64_t estimated; /**< reports, from the time between rows */
    uint64_t lost_ns;   /**< that time: no row covers it */
    uint64_t breaks;    /**< interruptions, also those of unknown time: resets */
};

struct zeta_sampled_group {
    const struct zeta_group_entry *entry; /**< with its metrics */
    struct zeta_account *accounts;        /**< one per metric, filled by _settle */
    struct zeta_metric_sum *sum;          /**< of all rows; made by the caller */
    struct zeta_sum_line line;            /**< the same over time */
    bool has_no_memory;                   /**< the line is incomplete */
    struct zeta_sampled_tile *tiles;
    uint32_t tile_count;
    int32_t time_index; /**< metric GpuTime, -1 if the group has none */
    int32_t end_index;  /**< metric QueryBeginTime, -1 if the group has none */
    uint64_t wrap_ns;   /**< QueryBeginTime starts again from 0 here; 0: never */
    uint64_t period_ns; /**< in use */
    bool is_profile;    /**< rows are records that count samples, by reason */
    uint64_t rows;
    uint64_t samples; /**< the same, or what their records counted */
    struct zeta_sampled_losses losses;
};

/**
 * Prepares for rows of an entry with its metrics, which outlives the group, of so many tiles that
 * report apart (at least 1). zeta_sampled_group_finish ends it.
 */
void zeta_sampled_group_init(struct zeta_sampled_group *group, const struct zeta_group_entry *entry,
                             uint32_t tile_count);

void zeta_sampled_group_finish(struct zeta_sampled_group *group);

/** Follows the time of a row. What is missing before it counts, the row itself does not. */
void zeta_sampled_group_pass_row(struct zeta_sampled_group *group,
                                 const struct zeta_metric_row *row);

/** The same for a row that is added to the sum. */
void zeta_sampled_group_add_row(struct zeta_sampled_group *group,
                                const struct zeta_metric_row *row);

/** Calculates what is shown, once all rows are there. On failure prints why. */
int zeta_sampled_group_settle(struct zeta_sampled_group *group);

/**
 * Takes notice of the breaks in raw data of slots of record_bytes. Gives how many records it has.
 */
uint64_t zeta_sampled_group_take_slots(struct zeta_sampled_group *group, const uint8_t *raw,
                                       size_t bytes, size_t record_bytes);

/**
 * No row comes any more: the time from the last one of each tile to an instant of the device clock,
 * that of QueryBeginTime modulo its wrap, is lost.
 */
void zeta_sampled_group_end_at(struct zeta_sampled_group *group, uint64_t instant_ns);

/**
 * How many reports are missing, at least: 0 if none is. Breaks count them. Where one does
 * not, the time between rows is used, and an interruption of which neither is known counts as one.
 */
uint64_t zeta_sampled_group_lost(const struct zeta_sampled_group *group);

/** Forgets what is missing and where rows have arrived, because they will come once more. */
void zeta_sampled_group_forget_losses(struct zeta_sampled_group *group);

/** Whether the rows of every tile reach so long before such an instant. */
bool zeta_sampled_group_reaches(const struct zeta_sampled_group *group, uint64_t instant_ns,
                                uint64_t before_ns);

/**
 * From one instant to another on a clock that starts again from 0 at wrap_ns (0: never); more than
 * half of that is taken as a step back.
 */
int64_t zeta_elapsed_ns(uint64_t wrap_ns, uint64_t from_ns, uint64_t to_ns);

/** What the value of many rows is. */
enum zeta_account_kind {
    ZETA_ACCOUNT_TOTAL, /**< amounts: they add up */
    ZETA_ACCOUNT_RATE,  /**< ratios and rates: the formula over all counts */
    ZETA_ACCOUNT_LAST   /**< states and points in time: the latest */
};

struct zeta_account {
    enum zeta_account_kind kind;
    uint64_t rows; /**< rows that have a value; what follows is none without */
    struct zeta_number value;
    struct zeta_number min;
    struct zeta_number max;
    struct zeta_number last;
    struct zeta_sparkline line;
};

/**
 * The kind that fits a metric. Amounts that are averages or percentages have that in the
 * first words of their description ("Average ...", "Percentage ..."), as other tools expect.
 */
enum zeta_account_kind zeta_account_kind_of(zet_metric_type_t type, const char *description);

/** Takes over what the library found; the kind stays. */
void zeta_account_set(struct zeta_account *account, const struct zeta_metric_value *value);

/** The value of an amount; none of others, which do not add up. */
struct zeta_number zeta_account_total(const struct zeta_account *account);

/** How a table calls the value: "total", "last", or "" for what needs no word. */
const char *zeta_account_kind_name(enum zeta_account_kind kind);

/**
 * Records that are missing in raw data of slots of record_bytes, at least: a break without a count
 * is one.
 */
uint64_t zeta_slots_lost(const uint8_t *raw, size_t bytes, size_t record_bytes);

struct json_object;

/** Room for what zeta_losses_format() writes. */
enum { ZETA_LOSSES_BYTES = 96 };

/**
 * Writes what of a group is missing, "none lost" or more, in the same words everywhere; no full
 * stop. has_figures: a table follows, and its figures leave that time out.
 */
void zeta_losses_format(const struct zeta_sampled_group *group, bool has_figures,
                        char out_text[ZETA_LOSSES_BYTES]);

/** Prints on the standard error what of a group is missing, if anything is: for rows as CSV. */
void zeta_losses_print(const struct zeta_sampled_group *group);

/** The same of events, of which only the number that is missing is known. */
void zeta_lost_events_format(uint64_t lost, bool has_figures, char out_text[ZETA_LOSSES_BYTES]);

/**
 * Puts three numbers of what is missing into an object: "lost" reports, 0 only if none is (see
 * zeta_sampled_group_lost()), "breaks", which counts interruptions, and "lost_time_ns" between
 * rows.
 */
void zeta_losses_put_json(struct json_object *object, const struct zeta_sampled_group *group);

#endif
