/*
 * Pieces of a file of intel-gpu-tools: the reports without their headers, and control slots where
 * the kernel says that reports were lost.
 */
#include <stdlib.h>
#include <string.h>

#include <zeta/slot.h>

#include "plugins/replay/igt/igt.h"
#include "plugins/replay/recording/source.h"

#define PIECE_SLOTS 1024u

/* The kernel reports a loss before it gives the reports around the gap, of which the recorder has
 * written the last when it takes the clocks next. */
enum loss { NO_LOSS, LOSS_TOLD, LOSS_ENDS };

struct igt_pieces {
    struct zeta_igt_file file;
    struct zeta_replay_pieces *pieces;
    unsigned char *slots;
    uint32_t report_bytes;
    bool has_time;
    uint64_t time;      /**< of the last report */
    uint64_t gap_ticks; /**< a report that is later by more follows a gap; 0: nobody knows */
    enum loss loss;
    bool loss_found;
};

static void put_break(const struct igt_pieces *igt, unsigned char *slot, uint32_t reason)
{
    const struct zeta_slot_control control = {.kind = ZETA_SLOT_BREAK, .value = reason};

    zeta_slot_write(&control, slot, igt->report_bytes);
}

static void keep_problem(struct zeta_replay_pieces *pieces, const char *what, uint64_t offset)
{
    if (pieces->problem.text[0] == '\0')
        (void)zeta_replay_fail(&pieces->problem, "%s at byte %llu", what,
                               (unsigned long long)offset);
}

/* Whether reports are missing before one that is so much later than the last. */
static bool ends_loss(struct igt_pieces *igt, uint64_t passed)
{
    const bool is_gap = igt->has_time && igt->loss != NO_LOSS && passed > igt->gap_ticks;
    const bool is_late = igt->loss == LOSS_ENDS && !igt->loss_found;

    igt->loss_found |= is_gap;
    if (igt->loss == LOSS_ENDS)
        igt->loss = NO_LOSS;
    return is_gap || is_late;
}

/* True if a report does not continue the ones before. */
static bool is_broken(struct igt_pieces *igt, const struct zeta_replay_field *clock,
                      const struct zeta_igt_record *record)
{
    const uint64_t mask = zeta_replay_field_mask(clock);
    const uint64_t time = zeta_replay_field_read(clock, record->body);
    const uint64_t passed = (time - igt->time) & mask;
    const bool back = igt->has_time && passed > mask / 2;

    if (back)
        keep_problem(igt->pieces, "time goes back", record->offset);
    const bool is_lost = !back && ends_loss(igt, passed);
    igt->time = time;
    igt->has_time = true;
    return back || is_lost;
}

/* Takes notice of a loss; whether there is a break right here. */
static bool is_break(struct igt_pieces *igt, uint32_t type)
{
    if (type == ZETA_IGT_REPORT_LOST && igt->has_time && igt->gap_ticks > 0) {
        igt->loss = LOSS_TOLD;
        igt->loss_found = false;
        return false;
    }
    if (type == ZETA_IGT_CORRELATION && igt->loss == LOSS_TOLD)
        igt->loss = LOSS_ENDS;
    return type == ZETA_IGT_REPORT_LOST || type == ZETA_IGT_BUFFER_LOST;
}

/* Turns a record into at most two slots; returns how many. */
static uint32_t take(struct igt_pieces *igt, const struct zeta_replay_field *clock,
                     const struct zeta_igt_record *record, unsigned char *slots)
{
    uint32_t count = 0;

    if (is_break(igt, record->type)) {
        put_break(igt, slots,
                  record->type == ZETA_IGT_REPORT_LOST ? ZETA_PLUGIN_BREAK_LOST
                                                       : ZETA_PLUGIN_BREAK_OVERFLOW);
        igt->has_time = false;
        return 1;
    }
    if (record->type != ZETA_IGT_SAMPLE)
        return 0;
    if (record->body_bytes != igt->report_bytes) {
        keep_problem(igt->pieces, "a report has another size than its format", record->offset);
        put_break(igt, slots, ZETA_PLUGIN_BREAK_LOST);
        return 1;
    }
    if (is_broken(igt, clock, record)) {
        put_break(igt, slots, ZETA_PLUGIN_BREAK_LOST);
        count = 1;
    }
    memcpy(slots + (size_t)count * igt->report_bytes, record->body, igt->report_bytes);
    return count + 1;
}

static bool next_piece(void *context, const struct zeta_replay_request *request,
                       const unsigned char **out_data, size_t *out_bytes, uint32_t *out_stream,
                       bool *out_damaged)
{
    struct igt_pieces *igt = context;
    struct zeta_igt_record record;
    uint32_t count = 0;

    while (count < PIECE_SLOTS && zeta_igt_next(&igt->file, &record))
        count += take(igt, &request->set->clock, &record,
                      igt->slots + (size_t)count * igt->report_bytes);
    if (igt->file.damaged)
        keep_problem(igt->pieces, "a record has an impossible size",
                     igt->file.offset + igt->file.used);
    *out_data = igt->slots;
    *out_bytes = (size_t)count * igt->report_bytes;
    *out_stream = request->streams[0].number;
    *out_damaged = false;
    return count > 0;
}

static void close_pieces(void *context)
{
    struct igt_pieces *igt = context;

    zeta_igt_close(&igt->file);
    free(igt->slots);
    free(igt);
}

/* One and a half periods. */
static uint64_t gap_ticks(const struct zeta_replay_recording *recording)
{
    const uint64_t period_ns = recording->stream_count > 0 ? recording->streams[0].period_ns : 0;

    return (uint64_t)((double)period_ns * 1.5 * (double)recording->devices[0].metric_hz / 1e9);
}

bool zeta_replay_pieces_igt(const struct zeta_replay_recording *recording,
                            struct zeta_replay_pieces *out_pieces,
                            struct zeta_replay_problem *problem)
{
    struct igt_pieces *igt = calloc(1, sizeof(*igt));

    if (!igt)
        return zeta_replay_fail(problem, "there is no memory to read the recording");
    igt->file.descriptor = -1;
    igt->report_bytes = recording->igt.report_bytes;
    igt->gap_ticks = gap_ticks(recording);
    igt->slots = malloc((size_t)(PIECE_SLOTS + 1) * igt->report_bytes);
    if (!igt->slots ||
        !zeta_igt_open(&igt->file, recording->path, recording->igt.data_offset, problem)) {
        if (!igt->slots)
            (void)zeta_replay_fail(problem, "there is no memory to read the recording");
        close_pieces(igt);
        return false;
    }
    igt->pieces = out_pieces;
    *out_pieces =
        (struct zeta_replay_pieces){.context = igt, .next = next_piece, .close = close_pieces};
    return true;
}
