/*
 * Tracers for tests: opening, reading everything, and work whose events can be told in advance.
 */
#ifndef ZETA_TESTS_VGPU_TRACE_TRACE_BED_H
#define ZETA_TESTS_VGPU_TRACE_TRACE_BED_H

#include "plugins/vgpu/trace/trace.h"
#include "tests/vgpu_plugin/child.h"
#include "tests/vgpu_plugin/host.h"
#include "tests/vgpu_plugin/kernel_file.h"

/** Names of the sources; each ends a list. */
#define WORK "trace-work"
#define DEVICE "trace-device"

/** Opens a tracer of one or two sources (second may be NULL); gives the result. */
uint32_t bed_try_open(struct host *host, const char *first, const char *second,
                      uint64_t notify_bytes, struct zeta_plugin_tracer **out_tracer);

/** The same; fails the test if it does not work. */
struct zeta_plugin_tracer *bed_open(struct host *host, const char *first, const char *second);

const struct zeta_plugin_tracer_ops *bed_ops(const struct host *host);

/** Enables or disables, synchronously. */
void bed_enable(struct host *host, struct zeta_plugin_tracer *tracer);
void bed_disable(struct host *host, struct zeta_plugin_tracer *tracer);

/** All events that were read so far, and how many were lost. */
struct bed_events {
    struct zeta_vgpu_event *items;
    uint64_t count;
    uint64_t capacity;
    uint64_t lost;
};

/**
 * Reads until nothing is left. Fails the test if an event is older than the one before it, or is
 * not as an event has to be.
 */
void bed_read(struct host *host, struct zeta_plugin_tracer *tracer, struct bed_events *events);

void bed_forget(struct bed_events *events);

/** Number of events of a type. */
uint64_t bed_count(const struct bed_events *events, enum zeta_vgpu_event_type type);

/** The first event of a type; fails the test if there is none. */
const struct zeta_vgpu_event *bed_first(const struct bed_events *events,
                                        enum zeta_vgpu_event_type type);

/** The device clock, unmasked. */
uint64_t bed_ticks(struct host *host);

/** A queue with the kernels of the tests. */
struct bed_work {
    struct host *host;
    struct zeta_plugin_module *module;
    struct zeta_plugin_queue *queue;
    uint32_t *memory; /**< 256 KiB that kernels write to */
};

void bed_work_begin(struct bed_work *work, struct host *host);
void bed_work_end(struct bed_work *work);

/** Opens a host with these settings (NULL: none), a queue on it, and a tracer as bed_open(). */
struct zeta_plugin_tracer *bed_begin(struct host *host, const struct host_setting *settings,
                                     struct bed_work *work, const char *first, const char *second);

/** Closes all of that, and forgets the events (NULL: none were read). */
void bed_end(struct host *host, struct bed_work *work, struct zeta_plugin_tracer *tracer,
             struct bed_events *events);

/** Multiplies matrices of size x size, a multiple of 16, at most 128. */
void bed_matmul(struct bed_work *work, uint32_t size);

/** Groups of one work-item that add to a counter. */
void bed_tiny_groups(struct bed_work *work, uint32_t groups);

#endif
