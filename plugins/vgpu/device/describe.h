#ifndef ZETA_PLUGINS_VGPU_DEVICE_DESCRIBE_H
#define ZETA_PLUGINS_VGPU_DEVICE_DESCRIBE_H

/*
 * What the virtual device is: read from a YAML file, changed by settings of the manifest.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/vgpu/engine/engine.h"

/** Bounds of texts, with terminator. */
#define ZETA_VGPU_NAME_BYTES 256u
#define ZETA_VGPU_VENDOR_BYTES 64u
#define ZETA_VGPU_ID_BYTES 32u
#define ZETA_VGPU_INSTANCE_BYTES 65u
#define ZETA_VGPU_FOLDER_BYTES 256u

/** Most tiles of a device. */
#define ZETA_VGPU_MAX_TILES 4u

/**
 * The device timer (device.yaml gives the reason): a tick is 40 ns, and reports and time stamps
 * hold its lowest 34 bits.
 */
#define ZETA_VGPU_TIMER_HZ 25000000u
#define ZETA_VGPU_TICK_NS 40u
#define ZETA_VGPU_TIMESTAMP_BITS 34u
#define ZETA_VGPU_TIMESTAMP_MASK ((UINT64_C(1) << ZETA_VGPU_TIMESTAMP_BITS) - 1)

/** Where the device timer comes from. */
enum zeta_vgpu_clock_mode {
    ZETA_VGPU_CLOCK_WALL,   /**< CLOCK_MONOTONIC */
    ZETA_VGPU_CLOCK_VIRTUAL /**< modelled clocks of the executed work: repeats exactly */
};

/** Faults that were asked for; 0 means none. */
struct zeta_vgpu_faults {
    uint64_t lost_reports; /**< every n-th report is lost */
    uint64_t full_ring;    /**< rings hold only this many reports */
    uint64_t permission;   /**< 1: streams cannot be opened */
    uint64_t device_lost;  /**< the device is lost at the n-th launch */
    uint64_t wrap_soon;    /**< the time stamps wrap after this many seconds */
};

/** The device. Texts are terminated. */
struct zeta_vgpu_description {
    char name[ZETA_VGPU_NAME_BYTES];
    char vendor[ZETA_VGPU_VENDOR_BYTES];
    char id[ZETA_VGPU_ID_BYTES];
    char instance[ZETA_VGPU_INSTANCE_BYTES]; /**< name in shared memory */
    uint32_t vendor_id, device_id, revision;
    bool has_uuid; /**< false: made of the ids, the instance and the index */
    uint8_t uuid[16];
    bool has_pci;
    uint32_t pci_domain, pci_bus, pci_device, pci_function;

    uint32_t tiles;                     /**< 1..ZETA_VGPU_MAX_TILES */
    struct zeta_vgpu_topology topology; /**< of each tile */
    uint32_t core_clock_mhz;            /**< nominal */
    uint64_t memory_bytes;              /**< device memory */
    uint32_t workers;                   /**< 0: number of CPUs */
    enum zeta_vgpu_clock_mode clock;
    struct zeta_vgpu_faults faults;
    char core_dir[ZETA_VGPU_FOLDER_BYTES]; /**< of core dumps; "off": there are none */
    uint64_t core_size_bytes;              /**< most of one */
};

/** Records that a ring may have where it has most without the fault full_ring. */
static inline uint64_t zeta_vgpu_ring_most(const struct zeta_vgpu_description *description,
                                           uint64_t most)
{
    const uint64_t full_ring = description->faults.full_ring;

    return full_ring != 0 && full_ring < most ? full_ring : most;
}

/** Core clocks that fit into some ticks of the device timer at the nominal frequency. */
static inline uint64_t zeta_vgpu_clocks_in(const struct zeta_vgpu_description *description,
                                           uint64_t ticks)
{
    return ticks * ZETA_VGPU_TICK_NS * description->core_clock_mhz / 1000;
}

/** The ticks that some core clocks need. */
static inline uint64_t zeta_vgpu_ticks_for(const struct zeta_vgpu_description *description,
                                           uint64_t clocks)
{
    const uint64_t divisor = (uint64_t)ZETA_VGPU_TICK_NS * description->core_clock_mhz;

    return (clocks * 1000 + divisor - 1) / divisor;
}

/** Fills the built-in device: the same as the installed device.yaml. */
void zeta_vgpu_description_default(struct zeta_vgpu_description *out_description);

/**
 * Sets one value by its name in YAML ("name", "topology.slices", "fault.wrap_soon" ...).
 * Errors: INVALID_ARGUMENT with the reason; *out_known is false when there is no such name.
 */
enum zeta_vgpu_result zeta_vgpu_description_set(struct zeta_vgpu_description *description,
                                                const char *name, const char *value,
                                                bool *out_known,
                                                struct zeta_vgpu_message *out_message);

/** Names that zeta_vgpu_description_set() knows, in order; NULL behind the last. */
const char *zeta_vgpu_description_key(uint32_t index);

/** Called for each unknown key. */
typedef void (*zeta_vgpu_unknown_key_fn)(void *context, const char *path, unsigned line,
                                         const char *key);

/**
 * Apply a YAML text or file of at most 64 KiB: a mapping of names to values, one level of sections.
 *
 * @name         of the text in messages
 * @out_message  name, line, column and reason
 * Errors: OUT_OF_MEMORY; INVALID_ARGUMENT when it cannot be read, is malformed or has a bad value.
 */
enum zeta_vgpu_result zeta_vgpu_description_parse(struct zeta_vgpu_description *description,
                                                  const char *text, size_t length, const char *name,
                                                  zeta_vgpu_unknown_key_fn unknown, void *context,
                                                  struct zeta_vgpu_message *out_message);
enum zeta_vgpu_result zeta_vgpu_description_load(struct zeta_vgpu_description *description,
                                                 const char *path, zeta_vgpu_unknown_key_fn unknown,
                                                 void *context,
                                                 struct zeta_vgpu_message *out_message);

#endif
