#ifndef ZETA_PLUGINS_VGPU_INSTANCE_TRACE_H
#define ZETA_PLUGINS_VGPU_INSTANCE_TRACE_H

/*
 * What processes share about tracers: which events somebody wants, where the holder of a tracer
 * has its rings, and how many events there were.
 *
 * Processes that execute look at one word per tile. The rest is looked at when an event is to be
 * written. Nothing of it is trusted: who follows a place checks what is there.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct zeta_vgpu_instance;

/** Sources of events of a tile. Each is a unit that one tracer at a time has. */
enum zeta_vgpu_source {
    ZETA_VGPU_SOURCE_WORK,   /**< kernels and work-groups */
    ZETA_VGPU_SOURCE_DEVICE, /**< barriers, copies, markers, faults */
    ZETA_VGPU_SOURCES
};

/** Where the tracer of a source of a tile has its rings. */
struct zeta_vgpu_trace_place {
    uint64_t number;     /**< of the tracer among all that the instance had, not 0 */
    uint32_t pid;        /**< of its holder */
    uint32_t descriptor; /**< of its file, there */
    uint32_t index;      /**< of the rings for this tile and source in the file */
};

/** Events of a source of a tile. The first two never fall. */
struct zeta_vgpu_event_counts {
    uint64_t written;  /**< that tracers were to get */
    uint64_t lost;     /**< of these, lost on the way to a reader */
    uint64_t waiting;  /**< records in the ring of the tracer, from all its sources */
    uint64_t capacity; /**< of that ring; 0: no tracer */
};

/**
 * The word that says which sources of a tile have a tracer that is on: bits 1 << source. Anybody
 * may change it at any time; load it with memory_order_relaxed. Valid until the detach.
 */
const _Atomic uint32_t *zeta_vgpu_instance_watched(const struct zeta_vgpu_instance *instance,
                                                   uint32_t tile);

/** A number for a new tracer; 0 when the instance is damaged. */
uint64_t zeta_vgpu_instance_trace_number(struct zeta_vgpu_instance *instance);

/** Makes a place known. Only by who holds the unit of the source. */
void zeta_vgpu_instance_offer_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                    enum zeta_vgpu_source source,
                                    const struct zeta_vgpu_trace_place *place);

/** Asks for events of a source, or for none any more. Only by who offered a place. */
void zeta_vgpu_instance_watch(struct zeta_vgpu_instance *instance, uint32_t tile,
                              enum zeta_vgpu_source source, bool on);

/** Takes back watch and place. */
void zeta_vgpu_instance_end_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source);

/** Number of the tracer of a source, 0 if there is none. */
uint64_t zeta_vgpu_instance_trace(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source);

/** Reads the place of a tracer; false when it changed meanwhile or there is none. */
bool zeta_vgpu_instance_find_trace(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source,
                                   struct zeta_vgpu_trace_place *out_place);

/** Says that this process, in its slot, writes into the rings of the place from now on. */
void zeta_vgpu_instance_join_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source);

/** Slots of the processes that said so since the place was offered, as bits. */
uint64_t zeta_vgpu_instance_trace_writers(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          enum zeta_vgpu_source source);

/** True if the process that has a slot still lives. Slow. */
bool zeta_vgpu_instance_slot_alive(const struct zeta_vgpu_instance *instance, uint32_t slot);

/** Counts an event that could not be written anywhere. */
void zeta_vgpu_instance_miss_event(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source);

/** Events that could not be written anywhere, ever. */
uint64_t zeta_vgpu_instance_missed_events(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          enum zeta_vgpu_source source);

/** Adds what was written and lost, and sets the rest. Only by who offered the place. */
void zeta_vgpu_instance_count_events(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     enum zeta_vgpu_source source,
                                     const struct zeta_vgpu_event_counts *more);

/** Reads the counts. */
void zeta_vgpu_instance_event_counts(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     enum zeta_vgpu_source source,
                                     struct zeta_vgpu_event_counts *out_counts);

#endif
