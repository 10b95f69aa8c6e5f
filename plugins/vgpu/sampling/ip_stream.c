#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/thread.h>

#include "plugins/vgpu/instance/instance.h"

/* In wall time records sum up a period, but no less than this: shorter ones add nothing. */
#define SHORTEST_NS UINT64_C(1000000)

/* How often a stream checks for processes that died. */
#define REAP_NS UINT64_C(100000000)

/* Rows that are summed up at once; with more a period gets several records per instruction. */
#define MAX_ROWS 65536u

/* Samples of an instruction in a process, all doing the same. */
struct row {
    uint64_t address;
    uint32_t pid;
    uint32_t stall;
    uint64_t count;
};

struct zeta_vgpu_ip {
    uint64_t cursors[ZETA_VGPU_MAX_TILES];
    struct row *rows;
    uint32_t row_count;
    uint32_t begun; /* tiles that sample for us */
    uint64_t reap_ns;
};

struct zeta_vgpu_ip *zeta_vgpu_ip_create(void)
{
    struct zeta_vgpu_ip *ip = calloc(1, sizeof(*ip));

    if (!ip)
        return NULL;
    ip->rows = malloc(MAX_ROWS * sizeof(*ip->rows));
    if (ip->rows)
        return ip;
    free(ip);
    return NULL;
}

void zeta_vgpu_ip_destroy(struct zeta_vgpu_ip *ip)
{
    if (!ip)
        return;
    free(ip->rows);
    free(ip);
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return 0;
}

static void put(uint8_t *record, size_t at, uint64_t value)
{
    memcpy(record + at, &value, sizeof(value));
}

static void push_record(struct zeta_plugin_stream *stream, const struct row *first,
                        const uint64_t counts[ZETA_VGPU_STALL_COUNT], uint64_t ticks)
{
    const uint64_t lost_every = stream->vgpu->description.faults.lost_reports;
    uint8_t record[ZETA_VGPU_IP_RECORD_BYTES] = {0};

    stream->number++;
    if (lost_every != 0 && stream->number % lost_every == 0) {
        zeta_vgpu_ring_lose(&stream->ring, 1);
        return;
    }
    put(record, 0, first->address);
    put(record, 8, first->pid);
    for (uint32_t i = 0; i < ZETA_VGPU_STALL_COUNT; i++)
        put(record, 16 + 8 * (size_t)i, counts[i]);
    put(record, 88, ticks);
    zeta_vgpu_ring_push(&stream->ring, record);
}

/* Sums the rows up by instruction. */
static void write_rows(struct zeta_plugin_stream *stream, uint64_t ticks)
{
    struct zeta_vgpu_ip *ip = stream->ip;
    uint32_t i = 0;

    qsort(ip->rows, ip->row_count, sizeof(*ip->rows), compare_rows);
    while (i < ip->row_count) {
        uint64_t counts[ZETA_VGPU_STALL_COUNT] = {0};
        const struct row *first = &ip->rows[i];

        while (i < ip->row_count && compare_rows(first, &ip->rows[i]) == 0) {
            counts[ip->rows[i].stall] += ip->rows[i].count;
            i++;
        }
        push_record(stream, first, counts, ticks);
    }
    ip->row_count = 0;
}

static void add_row(struct zeta_plugin_stream *stream, const struct zeta_vgpu_ip_event *event,
                    uint64_t ticks)
{
    struct zeta_vgpu_ip *ip = stream->ip;

    if (stream->is_virtual && event->pid != (uint32_t)getpid())
        return;
    if (ip->row_count == MAX_ROWS)
        write_rows(stream, ticks);
    ip->rows[ip->row_count++] = (struct row){
        .address = event->address,
        .pid = stream->is_virtual ? 0 : event->pid,
        .stall = event->stall,
        .count = event->count,
    };
}

/* Writes what was sampled since last time; losses come before it. */
static void write_records(struct zeta_plugin_stream *stream, uint64_t ticks)
{
    struct zeta_vgpu_ip *ip = stream->ip;
    struct zeta_vgpu_ip_event event;
    uint64_t lost = 0;

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        while (zeta_vgpu_instance_ip_next(stream->instance, stream->first_tile + t, &ip->cursors[t],
                                          &event, &lost))
            add_row(stream, &event, ticks);
    }
    if (lost > 0)
        zeta_vgpu_ring_lose(&stream->ring, lost);
    write_rows(stream, ticks);
}

static uint64_t stream_ticks(const struct zeta_plugin_stream *stream)
{
    return zeta_vgpu_ticks(stream->vgpu, stream->first_tile);
}

static void write_now(struct zeta_plugin_stream *stream)
{
    pthread_mutex_lock(&stream->state_lock);
    write_records(stream, stream_ticks(stream));
    pthread_mutex_unlock(&stream->state_lock);
}

void zeta_vgpu_ip_catch_up(struct zeta_plugin_stream *stream)
{
    if (!stream->is_virtual && stream->running)
        write_now(stream);
}

void zeta_vgpu_ip_advance(struct zeta_plugin_stream *stream, uint64_t now_ticks)
{
    if (now_ticks < stream->next_ticks)
        return;
    write_records(stream, now_ticks / stream->period_ticks * stream->period_ticks);
    stream->next_ticks = (now_ticks / stream->period_ticks + 1) * stream->period_ticks;
}

static void *stream_main(void *argument)
{
    struct zeta_plugin_stream *stream = argument;
    const uint64_t period_ns = stream->period_ticks * ZETA_VGPU_TICK_NS;
    const uint64_t step_ns = period_ns > SHORTEST_NS ? period_ns : SHORTEST_NS;
    uint64_t next_ns = zeta_monotonic_ns() + step_ns;

    while (zeta_vgpu_stream_wait(stream, next_ns)) {
        const uint64_t now = zeta_monotonic_ns();

        write_now(stream);
        next_ns += (now - next_ns) / step_ns * step_ns + step_ns;
        if (now - stream->ip->reap_ns >= REAP_NS) {
            zeta_vgpu_instance_reap(stream->instance);
            zeta_vgpu_report_damage(stream->vgpu);
            stream->ip->reap_ns = now;
        }
    }
    return NULL;
}

static void end_tiles(struct zeta_plugin_stream *stream)
{
    while (stream->ip->begun > 0) {
        stream->ip->begun--;
        zeta_vgpu_instance_ip_end(stream->instance, stream->first_tile + stream->ip->begun);
    }
}

static bool begin_tiles(struct zeta_plugin_stream *stream)
{
    struct zeta_vgpu_ip *ip = stream->ip;
    bool begun = true;

    while (begun && ip->begun < stream->tile_count) {
        begun = zeta_vgpu_instance_ip_begin(stream->instance, stream->first_tile + ip->begun,
                                            stream->period_ticks, &ip->cursors[ip->begun]);
        ip->begun += begun;
    }
    if (!begun)
        end_tiles(stream);
    return begun;
}

/* This process drives the stream: it is in the list of its first tile. */
static void enter_tile(struct zeta_plugin_stream *stream)
{
    struct zeta_vgpu_tile *tile = &stream->vgpu->tiles[stream->first_tile];

    pthread_mutex_lock(&tile->streams_lock);
    stream->next_ticks = (stream_ticks(stream) / stream->period_ticks + 1) * stream->period_ticks;
    LIST_INSERT_HEAD(&tile->streams, stream, tile_entry);
    stream->running = true;
    pthread_mutex_unlock(&tile->streams_lock);
}

bool zeta_vgpu_ip_start(struct zeta_plugin_stream *stream)
{
    if (!begin_tiles(stream))
        return false;
    if (stream->is_virtual)
        enter_tile(stream);
    else if (!(stream->running =
                   zeta_thread_start(&stream->thread, stream_main, stream, "vgpu-ip") == 0))
        end_tiles(stream);
    return stream->running;
}

void zeta_vgpu_ip_stop(struct zeta_plugin_stream *stream)
{
    if (!stream->running)
        return;
    zeta_vgpu_stream_end(stream);
    end_tiles(stream);
    write_records(stream, stream_ticks(stream));
}
