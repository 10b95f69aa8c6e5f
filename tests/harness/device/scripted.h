/*
 * What scripted backends have in common: their devices, and answers to what they do not play. Part
 * of each backend, so nothing here has state. Answers to everything are SUCCESS or NOT_AVAILABLE.
 */
#ifndef ZETA_TESTS_HARNESS_SCRIPTED_H
#define ZETA_TESTS_HARNESS_SCRIPTED_H

#include <stdbool.h>
#include <stdint.h>

#include "zeta/plugin.h"

struct zeta_plugin_string scripted_text(const char *s);

bool scripted_is(struct zeta_plugin_string a, const char *b);

/** What devices of scripted backends differ in. */
struct scripted_device {
    const char *id;  /**< its name and uuid too; at most 16 characters */
    uint32_t parent; /**< number of the root, UINT32_MAX for a root */
    uint32_t tile;
    uint32_t vendor_id;
    uint64_t timer_hz;
    uint32_t timestamp_valid_bits;
};

/** Fills the properties of a GPU with one of everything. */
void scripted_describe(const struct scripted_device *device,
                       struct zeta_plugin_device_properties *out);

/* Operations for the tables of a backend. */
void scripted_finish(struct zeta_plugin *self);
uint32_t scripted_status(struct zeta_plugin *self, struct zeta_plugin_device *device);
uint32_t scripted_no_symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             struct zeta_plugin_array *out_symbols);
/** Functions of queues that make none: for manifests that promise queries and play none. */
extern const struct zeta_plugin_compute_ops scripted_no_queues;

/** 1 us to 1 ms for every unit. */
uint32_t scripted_limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits);
uint32_t scripted_no_stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 struct zeta_plugin_stream_desc *desc,
                                 struct zeta_plugin_stream **out_stream);
uint32_t scripted_no_stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                                 void *buffer, uint64_t capacity_bytes,
                                 struct zeta_plugin_read *out_read);
void scripted_no_stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream);
uint32_t scripted_no_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 const struct zeta_plugin_query_desc *desc,
                                 struct zeta_plugin_query_pool **out_pool);
void scripted_no_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
uint32_t scripted_no_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                 uint32_t index);
uint32_t scripted_no_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                   uint32_t index, void *records);

#endif
