/*
 * What the parts of the scripted device have in common: descriptions of devices, rings of records,
 * and answers to what a part does not play. Nothing here has state. Answers to everything are
 * SUCCESS or NOT_AVAILABLE.
 */
#ifndef ZETA_TESTS_HARNESS_DEVICE_SCRIPTED_H
#define ZETA_TESTS_HARNESS_DEVICE_SCRIPTED_H

#include <stdbool.h>
#include <stdint.h>

#include "zeta/plugin.h"

struct zeta_plugin_string scripted_text(const char *s);

bool scripted_is(struct zeta_plugin_string a, const char *b);

/* The parts, chosen by the id of the manifest (plugin.c): each fills self and ops. */
void scripted_compute(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer);
void scripted_bare(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer);
void scripted_streams(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer);
void scripted_tracers(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer);
void scripted_debug(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer);

/** What is missing before a record. */
struct scripted_break {
    bool broken;
    uint32_t reason;
    uint64_t lost;
};

/** Records that wait for the library. The caller's lock protects it; no function takes one. */
struct scripted_ring {
    uint8_t *records;
    struct scripted_break *breaks; /**< before each record */
    uint32_t record_bytes, capacity, head, count;
    uint32_t notify_records; /**< the descriptor is readable from so many on */
    int fd;
};

/** Makes an empty ring. False: no memory. */
bool scripted_ring_open(struct scripted_ring *ring, uint32_t record_bytes, uint64_t capacity,
                        uint64_t notify_records);
void scripted_ring_close(struct scripted_ring *ring);
/** Adds a copy of the record; a full ring loses its oldest. */
void scripted_ring_add(struct scripted_ring *ring, const void *record,
                       struct scripted_break before);
/** Takes records up to the next break. */
void scripted_ring_read(struct scripted_ring *ring, void *target, uint64_t capacity_bytes,
                        struct zeta_plugin_read *out_read);
/** Makes the descriptor readable, or not, as the count demands. */
void scripted_ring_show(struct scripted_ring *ring);

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
