/*
 * zeta calc: metric values from a file of exported data or a recording, without a device.
 */
#ifndef ZETA_TOOLS_CALC_CALC_H
#define ZETA_TOOLS_CALC_CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"

/** What is calculated of a file. */
struct zeta_calc_choice {
    bool is_maximum; /**< the greatest possible values instead of the measured ones */
    uint32_t skip;   /**< reports to leave out at the start of each stream */
    int64_t tile;    /**< only rows of this tile; -1: of all */
    /** Only streams of the group of this name; null: all. */
    const char *group;
    FILE *rows; /**< every row is written here as CSV; null: rows are only summed up */
    /** Sees every row of the tile; one that gives false is left out. Null: all are kept. */
    bool (*keep)(void *user, const struct zeta_metric_row *row);
    void *keep_user;
};

/** One stream of a file. */
struct zeta_calc_stream {
    uint32_t number;
    struct zeta_device_entry device; /**< as far as the file describes it */
    char device_id[64];
    char device_class[16];
    struct zeta_group_entry entry;
    struct zeta_sampled_group group;
    uint32_t record_bytes;
    uint32_t skip_left;
    bool is_open; /**< the file had data of it, so the rest is filled */
};

/** Exported data, with the raw data that it was made of. */
struct zeta_calc_piece {
    const uint8_t *data;
    size_t size;
    const uint8_t *raw;
    size_t raw_bytes;
};

/** Room for exported data, used again for each piece. All zero bytes: none. */
struct zeta_calc_room {
    uint8_t *data;
    size_t size;
};

/** Makes exported data of the chunk that was read last. On failure prints why. */
int zeta_calc_piece_read(struct zeta_calc_room *room, struct zeta_recording_reader *reader,
                         const struct zeta_recording_chunk *chunk, const char *path,
                         struct zeta_calc_piece *out_piece);

/**
 * Reads the group and the metrics of a stream from its first piece. On failure prints why.
 *
 * @is_maximum  its values are the greatest possible ones
 */
int zeta_calc_stream_open(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                          bool is_maximum);

/** Calculates a piece and adds its rows. On failure prints why. */
int zeta_calc_stream_add(struct zeta_calc_stream *stream, const struct zeta_calc_piece *piece,
                         const struct zeta_calc_choice *choice);

/** Writes the first line of a stream's rows. */
void zeta_calc_stream_write_head(const struct zeta_calc_stream *stream, FILE *rows);

void zeta_calc_stream_finish(struct zeta_calc_stream *stream);

#endif
