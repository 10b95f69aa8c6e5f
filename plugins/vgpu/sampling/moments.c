#include <string.h>

#include "stream.h"

static bool takes(const struct zeta_plugin_stream *stream, uint32_t kind)
{
    return kind == ZETA_VGPU_MOMENT_SWITCH ? stream->program.switches
                                           : stream->unit < ZETA_VGPU_MARKER_UNITS;
}

static uint32_t log_of(const struct zeta_plugin_stream *stream, uint32_t kind)
{
    return kind == ZETA_VGPU_MOMENT_SWITCH ? ZETA_VGPU_LOG_SWITCHES
                                           : ZETA_VGPU_LOG_MARKERS + stream->unit;
}

bool zeta_vgpu_moments_possible(const struct zeta_plugin_stream *stream)
{
    return takes(stream, ZETA_VGPU_MOMENT_SWITCH) || takes(stream, ZETA_VGPU_MOMENT_MARKER);
}

/* Says that a marker has its report, so that its place in the log is free again. */
static void say_read(struct zeta_plugin_stream *stream, uint32_t tile)
{
    zeta_vgpu_instance_markers_read(stream->instance, stream->first_tile + tile, stream->unit,
                                    stream->moments[tile].cursors[ZETA_VGPU_MOMENT_MARKER]);
}

void zeta_vgpu_moments_begin(struct zeta_plugin_stream *stream)
{
    for (uint32_t t = 0; t < stream->tile_count; t++) {
        for (uint32_t kind = 0; kind < ZETA_VGPU_MOMENT_KINDS; kind++) {
            if (!takes(stream, kind))
                continue;
            stream->moments[t].cursors[kind] = zeta_vgpu_instance_log_head(
                stream->instance, stream->first_tile + t, log_of(stream, kind));
            if (kind == ZETA_VGPU_MOMENT_MARKER)
                say_read(stream, t);
        }
    }
}

bool zeta_vgpu_moments_wait(const struct zeta_plugin_stream *stream)
{
    bool wait = takes(stream, ZETA_VGPU_MOMENT_SWITCH);

    for (uint32_t t = 0; takes(stream, ZETA_VGPU_MOMENT_MARKER) && t < stream->tile_count; t++)
        wait |=
            zeta_vgpu_instance_markers_wait(stream->instance, stream->first_tile + t, stream->unit);
    return wait;
}

/* Copies the next moment of a log, if there is one. */
static void fetch(struct zeta_plugin_stream *stream, uint32_t tile, uint32_t kind)
{
    struct zeta_vgpu_moments *moments = &stream->moments[tile];
    uint64_t lost = 0;

    if (moments->has[kind] || !takes(stream, kind))
        return;
    moments->has[kind] = zeta_vgpu_instance_next_moment(
        stream->instance, stream->first_tile + tile, log_of(stream, kind), &moments->cursors[kind],
        &moments->next[kind], &lost);
    /* Switches are context; a marker is something that somebody said. */
    if (kind != ZETA_VGPU_MOMENT_MARKER || lost == 0)
        return;
    zeta_vgpu_ring_lose(&stream->ring, lost);
    if (!moments->has[kind])
        say_read(stream, tile);
}

const struct zeta_vgpu_moment *zeta_vgpu_moments_of_tile(struct zeta_plugin_stream *stream,
                                                         uint32_t tile, uint32_t *out_kind)
{
    const struct zeta_vgpu_moments *moments = &stream->moments[tile];
    const struct zeta_vgpu_moment *first = NULL;

    for (uint32_t kind = 0; kind < ZETA_VGPU_MOMENT_KINDS; kind++) {
        fetch(stream, tile, kind);
        if (moments->has[kind] && (!first || moments->next[kind].order < first->order)) {
            first = &moments->next[kind];
            *out_kind = kind;
        }
    }
    return first;
}

const struct zeta_vgpu_moment *zeta_vgpu_moments_first(struct zeta_plugin_stream *stream,
                                                       uint32_t *out_tile, uint32_t *out_kind)
{
    const struct zeta_vgpu_moment *first = NULL;

    for (uint32_t t = 0; t < stream->tile_count; t++) {
        uint32_t kind = 0;
        const struct zeta_vgpu_moment *moment = zeta_vgpu_moments_of_tile(stream, t, &kind);

        if (moment && (!first || moment->order < first->order)) {
            first = moment;
            *out_tile = t;
            *out_kind = kind;
        }
    }
    return first;
}

void zeta_vgpu_moments_done(struct zeta_plugin_stream *stream, uint32_t tile, uint32_t kind)
{
    stream->moments[tile].has[kind] = false;
    if (kind == ZETA_VGPU_MOMENT_MARKER)
        say_read(stream, tile);
}
