/*
 * What callers reach where a plugin has no function for metrics.
 */
#include "core/plugin/entry.h"
#include "core/util/cleanup.h"

/* Nothing to add to the set files of the manifest. */
static uint32_t no_get_sets(ZETA_UNUSED struct zeta_plugin *self,
                            ZETA_UNUSED struct zeta_plugin_device *device,
                            ZETA_UNUSED const struct zeta_plugin_text_sink *sink)
{
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t no_symbols(ZETA_UNUSED struct zeta_plugin *self,
                           ZETA_UNUSED struct zeta_plugin_device *device,
                           ZETA_UNUSED struct zeta_plugin_array *out_symbols)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_limits(ZETA_UNUSED struct zeta_plugin *self,
                          ZETA_UNUSED struct zeta_plugin_device *device,
                          ZETA_UNUSED struct zeta_plugin_string unit,
                          ZETA_UNUSED struct zeta_plugin_limits *out_limits)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_holder(ZETA_UNUSED struct zeta_plugin *self,
                          ZETA_UNUSED struct zeta_plugin_device *device,
                          ZETA_UNUSED struct zeta_plugin_string unit, ZETA_UNUSED uint32_t *out_pid)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_stream_open(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_device *device,
                               ZETA_UNUSED struct zeta_plugin_stream_desc *desc,
                               ZETA_UNUSED struct zeta_plugin_stream **out_stream)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_stream_read(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_stream *stream,
                               ZETA_UNUSED void *buffer, ZETA_UNUSED uint64_t capacity_bytes,
                               ZETA_UNUSED struct zeta_plugin_read *out_read)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint64_t no_stream_pending(ZETA_UNUSED struct zeta_plugin *self,
                                  ZETA_UNUSED struct zeta_plugin_stream *stream)
{
    return UINT64_MAX; /* unknown */
}

static int32_t no_stream_descriptor(ZETA_UNUSED struct zeta_plugin *self,
                                    ZETA_UNUSED struct zeta_plugin_stream *stream)
{
    return -1;
}

static void no_stream_end(ZETA_UNUSED struct zeta_plugin *self,
                          ZETA_UNUSED struct zeta_plugin_stream *stream)
{
}

static uint32_t no_query_pool_create(ZETA_UNUSED struct zeta_plugin *self,
                                     ZETA_UNUSED struct zeta_plugin_device *device,
                                     ZETA_UNUSED const struct zeta_plugin_query_desc *desc,
                                     ZETA_UNUSED struct zeta_plugin_query_pool **out_pool)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void no_query_pool_destroy(ZETA_UNUSED struct zeta_plugin *self,
                                  ZETA_UNUSED struct zeta_plugin_query_pool *pool)
{
}

static uint32_t no_query_reset(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_query_pool *pool,
                               ZETA_UNUSED uint32_t index)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_query_collect(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_query_pool *pool,
                                 ZETA_UNUSED uint32_t index, ZETA_UNUSED void *records)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

/* A plugin that does not know of any other rule has none. */
static uint32_t no_concurrent(ZETA_UNUSED struct zeta_plugin *self,
                              ZETA_UNUSED struct zeta_plugin_device *device,
                              ZETA_UNUSED const struct zeta_plugin_array *programs,
                              uint32_t *out_possible)
{
    *out_possible = 1;
    return ZETA_PLUGIN_SUCCESS;
}

/* What is measured goes on for ever. */
static uint32_t no_stream_ended(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_stream *stream)
{
    return 0;
}

const struct zeta_plugin_metric_ops zeta_stub_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .get_sets = no_get_sets,
    .symbols = no_symbols,
    .limits = no_limits,
    .holder = no_holder,
    .stream_open = no_stream_open,
    .stream_read = no_stream_read,
    .stream_pending = no_stream_pending,
    .stream_descriptor = no_stream_descriptor,
    .stream_stop = no_stream_end,
    .stream_close = no_stream_end,
    .query_pool_create = no_query_pool_create,
    .query_pool_destroy = no_query_pool_destroy,
    .query_reset = no_query_reset,
    .query_collect = no_query_collect,
    .concurrent = no_concurrent,
    .stream_ended = no_stream_ended,
};

static uint32_t no_tracer_open(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_device *device,
                               ZETA_UNUSED struct zeta_plugin_tracer_desc *desc,
                               ZETA_UNUSED struct zeta_plugin_tracer **out_tracer)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_tracer_change(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_tracer *tracer,
                                 ZETA_UNUSED uint32_t synchronous)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_tracer_state(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_tracer *tracer)
{
    return ZETA_PLUGIN_TRACER_OFF;
}

static uint32_t no_tracer_read(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_tracer *tracer,
                               ZETA_UNUSED void *buffer, ZETA_UNUSED uint64_t capacity_bytes,
                               ZETA_UNUSED struct zeta_plugin_read *out_read)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint64_t no_tracer_pending(ZETA_UNUSED struct zeta_plugin *self,
                                  ZETA_UNUSED struct zeta_plugin_tracer *tracer)
{
    return 0;
}

static int32_t no_tracer_descriptor(ZETA_UNUSED struct zeta_plugin *self,
                                    ZETA_UNUSED struct zeta_plugin_tracer *tracer)
{
    return -1;
}

static void no_tracer_close(ZETA_UNUSED struct zeta_plugin *self,
                            ZETA_UNUSED struct zeta_plugin_tracer *tracer)
{
}

static uint32_t no_tracer_ended(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_tracer *tracer)
{
    return 0;
}

const struct zeta_plugin_tracer_ops zeta_stub_tracer_ops = {
    .struct_size = sizeof(struct zeta_plugin_tracer_ops),
    .open = no_tracer_open,
    .enable = no_tracer_change,
    .disable = no_tracer_change,
    .state = no_tracer_state,
    .read = no_tracer_read,
    .pending = no_tracer_pending,
    .descriptor = no_tracer_descriptor,
    .close = no_tracer_close,
    .ended = no_tracer_ended,
};
