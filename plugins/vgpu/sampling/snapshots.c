#include <string.h>

#include "stream.h"

static bool takes(const struct zeta_plugin_stream *stream, uint32_t kind)
{
    return kind == ZETA_VGPU_SNAPSHOT_SWITCH ? stream->program.switches
                                             : stream->unit < ZETA_VGPU_MARKER_UNITS;
}

static uint32_t log_of(const struct zeta_plugin_stream *stream, uint32_t kind)
{
    return kind == ZETA_VGPU_SNAPSHOT_SWITCH ? ZETA_VGPU_LOG_SWITCHES
                                             : ZETA_VGPU_LOG_MARKERS + stream->unit;
}

bool zeta_vgpu_snapshots_possible(const struct zeta_plugin_stream *stream)
{
    return takes(stream, ZETA_VGPU_SNAPSHOT_SWITCH) || takes(stream, ZETA_VGPU_SNAPSHOT_MARKER);
}

/* Publishes that a marker has its report, so that its place in the log is free again. */
static void publish_cursor(struct zeta_plugin_stream *stream, uint32_t tile)
{
    zeta_vgpu_instance_markers_read(stream->instance, stream->first_tile + tile, stream->unit,
                                    stream->snapshots[tile].cursors[ZETA_VGPU_SNAPSHOT_MARKER]);
}

void zeta_vgpu_snapshots_begin(struct zeta_plugin_stream *stream)
{
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        for (uint32_t kind = 0; kind < ZETA_VGPU_SNAPSHOT_KINDS; kind++) {
            if (!takes(stream, kind))
                continue;
            stream->snapshots[t].cursors[kind] = zeta_vgpu_instance_log_head(
                stream->instance, stream->first_tile + t, log_of(stream, kind));
            if (kind == ZETA_VGPU_SNAPSHOT_MARKER)
                publish_cursor(stream, t);
        }
    }
}

bool zeta_vgpu_snapshots_wait(const struct zeta_plugin_stream *stream)
{
    bool wait = takes(stream, ZETA_VGPU_SNAPSHOT_SWITCH);

    for (uint32_t t = 0; takes(stream, ZETA_VGPU_SNAPSHOT_MARKER) && t < stream->tile_count; t++)
        wait |=
            zeta_vgpu_instance_markers_wait(stream->instance, stream->first_tile + t, stream->unit);
    return wait;
}

/* Copies the next snapshot of a log, if there is one. */
static void fetch(struct zeta_plugin_stream *stream, uint32_t tile, uint32_t kind)
{
    struct zeta_vgpu_snapshots *snapshots = &stream->snapshots[tile];
    uint64_t lost = 0;

    if (snapshots->has[kind] || !takes(stream, kind))
        return;
    snapshots->has[kind] = zeta_vgpu_instance_next_snapshot(
        stream->instance, stream->first_tile + tile, log_of(stream, kind),
        &snapshots->cursors[kind], &snapshots->next[kind], &lost);
    /* Lost switches are only context; a lost marker is data. */
    if (kind != ZETA_VGPU_SNAPSHOT_MARKER || lost == 0)
        return;
    zeta_vgpu_ring_lose(&stream->ring, lost);
    if (!snapshots->has[kind])
        publish_cursor(stream, tile);
}

const struct zeta_vgpu_snapshot *zeta_vgpu_snapshots_of_tile(struct zeta_plugin_stream *stream,
                                                             uint32_t tile, uint32_t *out_kind)
{
    const struct zeta_vgpu_snapshots *snapshots = &stream->snapshots[tile];
    const struct zeta_vgpu_snapshot *first = NULL;

    for (uint32_t kind = 0; kind < ZETA_VGPU_SNAPSHOT_KINDS; kind++) {
        fetch(stream, tile, kind);
        if (snapshots->has[kind] && (!first || snapshots->next[kind].order < first->order)) {
            first = &snapshots->next[kind];
            *out_kind = kind;
        }
    }
    return first;
}

const struct zeta_vgpu_snapshot *zeta_vgpu_snapshots_first(struct zeta_plugin_stream *stream,
                                                           uint32_t *out_tile, uint32_t *out_kind)
{
    const struct zeta_vgpu_snapshot *first = NULL;

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        uint32_t kind = 0;
        const struct zeta_vgpu_snapshot *snapshot = zeta_vgpu_snapshots_of_tile(stream, t, &kind);

        if (snapshot && (!first || snapshot->order < first->order)) {
            first = snapshot;
            *out_tile = t;
            *out_kind = kind;
        }
    }
    return first;
}

void zeta_vgpu_snapshots_done(struct zeta_plugin_stream *stream, uint32_t tile, uint32_t kind)
{
    stream->snapshots[tile].has[kind] = false;
    if (kind == ZETA_VGPU_SNAPSHOT_MARKER)
        publish_cursor(stream, tile);
}
