/*
 * Files of intel-gpu-tools as records, and as pieces of slots: the reports without their headers,
 * and control slots where the kernel reports that some were lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/slot.h>

#include "plugins/replay/igt/igt.h"
#include "plugins/replay/recording/source.h"

/* More than the largest record, whose size has 16 bits. */
#define BUFFER_BYTES ((size_t)1 << 18)

uint64_t zeta_igt_get(const unsigned char *at, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

bool zeta_igt_open(struct zeta_igt_file *file, const char *path, uint64_t offset,
                   struct zeta_replay_problem *problem)
{
    *file = (struct zeta_igt_file){.descriptor =
                                       open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (file->descriptor < 0)
        return zeta_replay_fail(problem, "it cannot be opened: %s", strerror(errno));
    file->offset = offset;
    file->buffer = malloc(BUFFER_BYTES);
    if (file->buffer)
        return true;
    zeta_igt_close(file);
    return zeta_replay_fail(problem, "there is no memory to read it");
}

void zeta_igt_close(struct zeta_igt_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    free(file->buffer);
    *file = (struct zeta_igt_file){.descriptor = -1};
}

/* True if so many bytes of the next record are in the buffer, perhaps after reading more. */
static bool have(struct zeta_igt_file *file, size_t bytes)
{
    while (file->filled - file->used < bytes) {
        const size_t rest = file->filled - file->used;
        ssize_t got;

        memmove(file->buffer, file->buffer + file->used, rest);
        file->offset += file->used;
        file->used = 0;
        file->filled = rest;
        do {
            got = pread(file->descriptor, file->buffer + rest, BUFFER_BYTES - rest,
                        (off_t)(file->offset + rest));
        } while (got < 0 && errno == EINTR);
        if (got <= 0)
            return false;
        file->filled += (size_t)got;
    }
    return true;
}

bool zeta_igt_next(struct zeta_igt_file *file, struct zeta_igt_record *out_record)
{
    const unsigned char *header;
    uint32_t size;

    if (file->damaged || !have(file, ZETA_IGT_HEADER_BYTES))
        return false;
    header = file->buffer + file->used;
    size = (uint32_t)zeta_igt_get(header + 6, 2);
    if (size < ZETA_IGT_HEADER_BYTES) {
        file->damaged = true;
        return false;
    }
    if (!have(file, size))
        return false;
    header = file->buffer + file->used;
    *out_record = (struct zeta_igt_record){
        .type = (uint32_t)zeta_igt_get(header, 4),
        .body_bytes = size - ZETA_IGT_HEADER_BYTES,
        .body = header + ZETA_IGT_HEADER_BYTES,
        .offset = file->offset + file->used,
    };
    file->used += size;
    return true;
}

/* ---- slots ---------------------------------------------------------------------------------- */

#define PIECE_SLOTS 1024u

/* The kernel reports a loss before it gives the reports around the gap, of which the recorder has
 * written the last when it takes the clocks next. */
enum loss { NO_LOSS, LOSS_REPORTED, LOSS_ENDS };

struct igt_pieces {
    struct zeta_igt_file file;
    unsigned char *slots;
    uint32_t report_bytes;
    bool has_time;
    uint64_t time;      /**< of the last report */
    uint64_t gap_ticks; /**< a report that is later by more follows a gap; 0: unknown */
    enum loss loss;
    bool loss_found;
};

/* One slot. */
static uint32_t put_break(const struct igt_pieces *igt, unsigned char *slot, uint32_t reason)
{
    const struct zeta_slot_control control = {.kind = ZETA_SLOT_BREAK, .value = reason};

    zeta_slot_write(&control, slot, igt->report_bytes);
    return 1;
}

static void keep_problem(struct zeta_replay_pieces *pieces, const char *what, uint64_t offset)
{
    if (pieces->problem.text[0] == '\0')
        (void)zeta_replay_fail(&pieces->problem, "%s at byte %llu", what,
                               (unsigned long long)offset);
}

/* True if a report does not continue the ones before: time goes back, or a loss ends here. */
static bool is_broken(struct zeta_replay_pieces *pieces, const struct zeta_replay_field *clock,
                      const struct zeta_igt_record *record)
{
    struct igt_pieces *igt = pieces->context;
    const uint64_t mask = zeta_replay_field_mask(clock);
    const uint64_t time = zeta_replay_field_read(clock, record->body);
    const uint64_t passed = (time - igt->time) & mask;
    const bool had_time = igt->has_time;
    bool is_gap, is_late;

    igt->time = time;
    igt->has_time = true;
    if (had_time && passed > mask / 2) {
        keep_problem(pieces, "time goes back", record->offset);
        return true;
    }
    is_gap = had_time && igt->loss != NO_LOSS && passed > igt->gap_ticks;
    is_late = igt->loss == LOSS_ENDS && !igt->loss_found;
    igt->loss_found |= is_gap;
    if (igt->loss == LOSS_ENDS)
        igt->loss = NO_LOSS;
    return is_gap || is_late;
}

/* Turns a record into at most two slots; returns how many. */
static uint32_t take(struct zeta_replay_pieces *pieces, const struct zeta_replay_field *clock,
                     const struct zeta_igt_record *record, unsigned char *slots)
{
    struct igt_pieces *igt = pieces->context;
    uint32_t count = 0;

    switch (record->type) {
    case ZETA_IGT_REPORT_LOST:
        if (igt->has_time && igt->gap_ticks > 0) {
            igt->loss = LOSS_REPORTED;
            igt->loss_found = false;
            return 0;
        }
        igt->has_time = false;
        return put_break(igt, slots, ZETA_PLUGIN_BREAK_LOST);
    case ZETA_IGT_BUFFER_LOST:
        igt->has_time = false;
        return put_break(igt, slots, ZETA_PLUGIN_BREAK_OVERFLOW);
    case ZETA_IGT_CORRELATION:
        if (igt->loss == LOSS_REPORTED)
            igt->loss = LOSS_ENDS;
        return 0;
    case ZETA_IGT_SAMPLE:
        break;
    default:
        return 0;
    }
    if (record->body_bytes != igt->report_bytes) {
        keep_problem(pieces, "a report has another size than its format", record->offset);
        return put_break(igt, slots, ZETA_PLUGIN_BREAK_LOST);
    }
    if (is_broken(pieces, clock, record))
        count = put_break(igt, slots, ZETA_PLUGIN_BREAK_LOST);
    memcpy(slots + (size_t)count * igt->report_bytes, record->body, igt->report_bytes);
    return count + 1;
}

static bool next_piece(struct zeta_replay_pieces *pieces, const struct zeta_replay_request *request,
                       struct zeta_replay_piece *out_piece)
{
    struct igt_pieces *igt = pieces->context;
    struct zeta_igt_record record;
    uint32_t count = 0;

    while (count < PIECE_SLOTS && zeta_igt_next(&igt->file, &record))
        count += take(pieces, &request->set->clock, &record,
                      igt->slots + (size_t)count * igt->report_bytes);
    if (igt->file.damaged)
        keep_problem(pieces, "a record has an impossible size", igt->file.offset + igt->file.used);
    *out_piece = (struct zeta_replay_piece){.data = igt->slots,
                                            .bytes = (size_t)count * igt->report_bytes,
                                            .stream = request->streams[0].number};
    return count > 0;
}

static void close_pieces(void *context)
{
    struct igt_pieces *igt = context;

    zeta_igt_close(&igt->file);
    free(igt->slots);
    free(igt);
}

bool zeta_replay_pieces_igt(const struct zeta_replay_recording *recording,
                            struct zeta_replay_pieces *out_pieces,
                            struct zeta_replay_problem *problem)
{
    const uint64_t period_ns = recording->stream_count > 0 ? recording->streams[0].period_ns : 0;
    struct igt_pieces *igt = calloc(1, sizeof(*igt));

    if (!igt)
        return zeta_replay_fail(problem, "there is no memory to read the recording");
    igt->file.descriptor = -1;
    igt->report_bytes = recording->igt_report_bytes;
    /* One and a half periods. */
    igt->gap_ticks =
        (uint64_t)((double)period_ns * 1.5 * (double)recording->devices[0].metric_hz / 1e9);
    igt->slots = malloc((size_t)(PIECE_SLOTS + 1) * igt->report_bytes);
    if (!igt->slots ||
        !zeta_igt_open(&igt->file, recording->path, recording->igt_data_offset, problem)) {
        if (!igt->slots)
            (void)zeta_replay_fail(problem, "there is no memory to read the recording");
        close_pieces(igt);
        return false;
    }
    *out_pieces =
        (struct zeta_replay_pieces){.context = igt, .next = next_piece, .close = close_pieces};
    return true;
}
