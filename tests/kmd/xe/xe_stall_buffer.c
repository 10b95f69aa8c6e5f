/*
 * EU stall sampling in the hardware: a buffer for each Xe core, filled as time passes. A full
 * buffer drops what comes, until somebody takes from it.
 */

#include "xe_priv.h"

#include <string.h>

enum { BUFFER_RECORDS = KMD_XE_STALL_BUFFER_BYTES / KMD_XE_STALL_RECORD_BYTES };

/* A buffer is one word: records that it ever took, and how many of them it still holds. */
enum { HELD_BITS = 16 };

_Static_assert(BUFFER_RECORDS < 1 << HELD_BITS, "a buffer's count fits its bits");

struct kmd_stall kmd_stall_record(uint32_t gt, uint32_t core, uint64_t index)
{
    uint32_t n = (uint32_t)index;
    uint32_t seed = n + 17 * core + 101 * gt;
    return (struct kmd_stall){
        .ip = (0x1000 * (core + 1) + 0x100000 * gt + 2 * (n % 1024)) & 0x1fffffff,
        .active = (3 * seed + 1) & 0xff,
        .other = (5 * seed + 29) & 0xff,
        .control = (7 * seed + 58) & 0xff,
        .pipe = (11 * seed + 87) & 0xff,
        .send = (13 * seed + 116) & 0xff,
        .distance = (17 * seed + 145) & 0xff,
        .scoreboard = (19 * seed + 174) & 0xff,
        .sync = (23 * seed + 203) & 0xff,
        .fetch = (29 * seed + 232) & 0xff,
        .tdr = (31 * seed + 5) & 0xff,
        .exception = seed & 7,
        .is_end = n % 16 == 15,
    };
}

/* Puts bits into a record: `width` of them from bit `at` on. */
static void put_bits(uint8_t *record, uint32_t at, uint32_t width, uint32_t value)
{
    for (uint32_t i = 0; i < width; i++)
        record[(at + i) / 8] = (uint8_t)(record[(at + i) / 8] | (value >> i & 1) << (at + i) % 8);
}

/* Packs a record as the generation does. */
static void pack(uint32_t graphics, const struct kmd_stall *stall,
                 uint8_t out_record[KMD_XE_STALL_RECORD_BYTES])
{
    bool is_pvc = graphics < 2000;
    const uint32_t reasons[] = {stall->other,    stall->control,    stall->pipe, stall->send,
                                stall->distance, stall->scoreboard, stall->sync, stall->fetch};
    memset(out_record, 0, KMD_XE_STALL_RECORD_BYTES);
    put_bits(out_record, 0, 29, stall->ip);
    put_bits(out_record, 29, 8, is_pvc ? stall->active : stall->tdr);
    for (uint32_t i = 0; i < 8; i++)
        put_bits(out_record, 37 + 8 * i, 8, reasons[i]);
    if (is_pvc)
        return;
    put_bits(out_record, 101, 8, stall->active);
    put_bits(out_record, 109, 3, stall->exception);
    put_bits(out_record, 112, 1, stall->is_end);
}

static uint32_t held(uint64_t buffer)
{
    return buffer & ((1 << HELD_BITS) - 1);
}

/* Numbers of the cores that are there; buffer n of a stream is that of the nth. */
static uint32_t list_cores(const struct kmd_gpu *gpu, uint8_t out_cores[KMD_XE_CORES])
{
    uint8_t mask[KMD_XE_CORE_BYTES];
    kmd_xe_cores(gpu, mask);
    uint32_t count = 0;
    for (uint32_t core = 0; core < KMD_XE_CORES; core++)
        if (mask[core / 8] >> core % 8 & 1 && count < KMD_PRIVATE - KMD_XE_STALL_BUFFERS)
            out_cores[count++] = (uint8_t)core;
    return count;
}

void kmd_xe_stall_start(struct kmd_unit *unit)
{
    uint64_t *words = unit->stream.driver;
    memset(&words[KMD_XE_STALL_BUFFERS], 0,
           (KMD_PRIVATE - KMD_XE_STALL_BUFFERS) * sizeof(words[0]));
    words[KMD_XE_STALL_SEEN_NS] = kmd_now_ns();
    words[KMD_XE_STALL_REST] = 0;
    words[KMD_XE_STALL_DROP] = KMD_XE_DROP_NONE;
}

/* Time between two instants that the GPU did not sleep. */
static uint64_t awake_ns(const struct kmd_gpu *gpu, uint64_t from, uint64_t to)
{
    uint64_t awake = to - from;
    for (uint32_t i = 0; i < gpu->idle_count; i++) {
        uint64_t first = gpu->idles[i].from_ns > from ? gpu->idles[i].from_ns : from;
        uint64_t last = gpu->idles[i].to_ns < to ? gpu->idles[i].to_ns : to;
        if (last > first)
            awake -= last - first;
    }
    return awake;
}

/* Records that each core made since the last look. */
static uint64_t made(const struct kmd_gpu *gpu, struct kmd_stream *stream)
{
    uint64_t now = kmd_now_ns();
    uint64_t passed = awake_ns(gpu, stream->driver[KMD_XE_STALL_SEEN_NS], now);
    /* Thousandths of cycles: ns x MHz. */
    uint64_t cycles = stream->driver[KMD_XE_STALL_REST] + passed * gpu->max_mhz;
    uint64_t of_record = stream->driver[KMD_XE_STALL_PERIOD] * KMD_STALL_PERIODS * 1000;
    stream->driver[KMD_XE_STALL_SEEN_NS] = now;
    stream->driver[KMD_XE_STALL_REST] = cycles % of_record;
    return cycles / of_record;
}

/* Puts records into one buffer; how many found no room. */
static uint64_t fill(uint64_t *buffer, uint64_t records)
{
    uint64_t room = BUFFER_RECORDS - held(*buffer);
    uint64_t fits = records < room ? records : room;
    *buffer += fits << HELD_BITS | fits;
    return records - fits;
}

void kmd_xe_stall_update(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    uint8_t cores[KMD_XE_CORES];
    uint32_t count = list_cores(gpu, cores);
    uint64_t records = made(gpu, stream);
    uint64_t dropped = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint64_t *buffer = &stream->driver[KMD_XE_STALL_BUFFERS + n];
        if (stream->losses & KMD_LOST_BUFFER) { /* a fault: all that is held is gone */
            dropped += held(*buffer);
            *buffer -= held(*buffer);
        }
        uint64_t lost = stream->lose < records ? stream->lose : records;
        stream->lose -= lost;
        dropped += lost + fill(buffer, records - lost);
    }
    kmd_count(gpu, KMD_STAT_REPORTS_MADE, records * count);
    kmd_count(gpu, KMD_STAT_REPORTS_LOST, dropped);
    if ((dropped || stream->losses) && stream->driver[KMD_XE_STALL_DROP] == KMD_XE_DROP_NONE)
        stream->driver[KMD_XE_STALL_DROP] = KMD_XE_DROP_NEW;
    stream->losses = 0;
}

uint64_t kmd_xe_stall_available(const struct kmd_unit *unit)
{
    uint64_t records = 0;
    for (uint32_t n = KMD_XE_STALL_BUFFERS; n < KMD_PRIVATE; n++)
        records += held(unit->stream.driver[n]);
    return records;
}

uint32_t kmd_xe_stall_take(struct kmd_gpu *gpu, struct kmd_unit *unit, uint8_t *out, uint32_t max)
{
    uint32_t graphics = kmd_gpu_platform(gpu)->graphics;
    uint8_t cores[KMD_XE_CORES];
    uint32_t count = list_cores(gpu, cores);
    uint32_t done = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint64_t *buffer = &unit->stream.driver[KMD_XE_STALL_BUFFERS + n];
        for (; held(*buffer) && done < max; done++) {
            uint64_t index = (*buffer >> HELD_BITS) - held(*buffer);
            struct kmd_stall stall = kmd_stall_record(unit->gt, cores[n], index);
            pack(graphics, &stall, out + (size_t)done * KMD_XE_STALL_RECORD_BYTES);
            *buffer -= 1;
        }
    }
    return done;
}
