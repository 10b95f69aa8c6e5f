/*
 * Drivers, devices and contexts.
 *
 * A driver has the devices of one compute provider; one more, named "Zeta", holds the
 * devices that nobody computes on. Drivers and devices are made once by the first initialisation
 * and stay until the process ends, so their handles are stable; only a fork makes new ones.
 */
#ifndef ZETA_CORE_DEVICE_DEVICE_H
#define ZETA_CORE_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/object/object.h"
#include "core/util/own_struct.h"

struct zeta_backend;
struct zeta_backend_device;
struct zeta_context;
struct zeta_device;
struct zeta_device_metrics;
struct zeta_memory_table;
struct zeta_provider;
struct zeta_queue;
struct zeta_virtual_table;

/** Devices that share memory, because one plugin computes on them. */
struct zeta_driver {
    struct zeta_object object;
    const char *name;                     /**< id of the compute plugin, or "Zeta" */
    uint32_t index;                       /**< position among the drivers */
    struct zeta_backend *compute;         /**< NULL for the driver of devices without compute */
    struct zeta_backend **queue_backends; /**< who run queues of its devices, each once */
    uint32_t queue_backend_count;
    char *requirements_key;       /**< "ZETA.<id>", NULL without compute */
    uint32_t device_count;        /**< what zeDeviceGet gives: root devices, or tiles (init.h) */
    struct zeta_device **devices; /**< in its order */
    _Atomic(struct zeta_context *) default_context; /**< made when first asked for */
    pthread_mutex_t links_lock; /**< of module_link.c: groups of modules; serialises links */
};

/** The sentence about the last loss of a device. */
struct zeta_device_fault {
    pthread_mutex_t lock;
    char sentence[512];
};

/** A root device or a tile of one. */
struct zeta_device {
    struct zeta_object object;
    struct zeta_driver *driver;
    const char *name;                          /**< terminated */
    const struct zeta_backend_device *backend; /**< who provides what; core/plugin/host.h */
    struct zeta_device *parent;                /**< the root of a tile, NULL for a root */
    struct zeta_device **tiles;                /**< of a root, in order of their number */
    uint32_t tile_count;                       /**< 0 for a device without tiles, and for a tile */
    uint32_t tile;                             /**< number on the root, 0 for a root */
    bool alone;   /**< a tile that this process sees as a device without a root (init.h) */
    bool is_part; /**< a root of which this process sees some tiles only, at least two */
    struct zeta_device_fault *last_fault;          /**< the sentence of the last loss */
    _Atomic(struct zeta_device_metrics *) metrics; /**< owned by core/metric; NULL until used */
    _Atomic(const char *)
        metric_note; /**< of core/metric: what keeps metrics away; NULL: nothing */
};

/** What an application groups its objects by. */
struct zeta_context {
    struct zeta_object object;
    struct zeta_driver *driver;
    struct zeta_device **devices; /**< the devices it was made for; all of the driver's roots
                                       and their tiles when device_count is 0 */
    uint32_t device_count;
    pthread_mutex_t queues_lock; /**< before the locks of queues; nothing is called while held */
    struct zeta_queue *queues;   /**< all of them, guarded by queues_lock */
    uint64_t newest_queue;       /**< number of the one that was made last; as above */
    struct zeta_memory_table *memory;          /**< allocations, freed when the context goes */
    struct zeta_virtual_table *virtual_memory; /**< reserved addresses and physical memory */
};

/** State of the library in this process; starts anew in a child of fork(). */
enum zeta_core_state {
    ZETA_CORE_NEVER,  /**< not initialised yet */
    ZETA_CORE_FORKED, /**< child of a process that was initialised; zeDriverGet starts it anew */
    ZETA_CORE_READY,
    ZETA_CORE_DEAD /**< the library is being unloaded */
};

extern _Atomic uint32_t zeta_core_state_word;

/** True after a successful zeInit, zeInitDrivers or (in a forked child) zeDriverGet. Lock-free. */
static inline bool zeta_core_is_initialised(void)
{
    return atomic_load_explicit(&zeta_core_state_word, memory_order_acquire) == ZETA_CORE_READY;
}

/**
 * Initialises the library of this process unless that was done: settings, plugins, drivers and
 * devices. Errors: UNINITIALIZED while the library is being unloaded, OUT_OF_HOST_MEMORY, a
 * critical plugin that is not active. Any thread; a second caller waits for the first.
 */
ze_result_t zeta_core_init(void);

/** True if ZET_ENABLE_METRICS was on at any zeInit, zeInitDrivers or zeDriverGet. Any thread. */
bool zeta_core_metrics_wanted(void);

/** The root of a tile, or the device itself. */
static inline struct zeta_device *zeta_device_root(struct zeta_device *device)
{
    return device->parent ? device->parent : device;
}

/** Who computes for a device: of a root that is seen in part the first tile that is seen. */
static inline const struct zeta_backend_device *zeta_device_worker(const struct zeta_device *device)
{
    return device->is_part ? device->tiles[0]->backend : device->backend;
}

/**
 * Who runs the queues of a device: who computes on it, else who has its queries. The backend is
 * NULL when nobody does.
 */
const struct zeta_provider *zeta_device_queue_provider(const struct zeta_device *device);

/** Notifies all backends with queues of the driver that an event changed. Any thread, cheap. */
void zeta_driver_wake(const struct zeta_driver *driver);

/**
 * Device and host clocks read together: ticks that are not masked, and CLOCK_MONOTONIC_RAW.
 * Errors: those of the backend, DEVICE_LOST for example. Any thread.
 */
ze_result_t zeta_device_clock(struct zeta_device *device, uint64_t *out_ticks,
                              uint64_t *out_host_ns);

/** SUCCESS, or DEVICE_LOST while the device cannot work. Cheap, any thread. */
ze_result_t zeta_device_status(struct zeta_device *device);

/** Keeps the sentence that a plugin left when work of the device was lost. Any thread. */
void zeta_device_note_fault(struct zeta_device *device, const char *sentence);

/** result, with the sentence of the last loss. Any thread. */
ze_result_t zeta_device_fault(struct zeta_device *device, ze_result_t result);

/** Kinds of descriptors by which memory can go out and come in. */
#define ZETA_EXTERNAL_MEMORY_TYPES ((uint32_t)ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD)

/** True if some queue group of the device runs cooperative kernels. */
bool zeta_device_is_cooperative(const struct zeta_device *device);

/** What the commands of a list can be changed in; for device properties too. */
#define ZETA_MUTABLE_FLAGS                                                                         \
    (ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS | ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT |      \
     ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE | ZE_MUTABLE_COMMAND_EXP_FLAG_GLOBAL_OFFSET |          \
     ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT | ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS |          \
     ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION)

/** The lowest `bits` bits set; all of them from 64 on. For timestamps that wrap. */
static inline uint64_t zeta_valid_mask(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/**
 * INVALID_ARGUMENT, with a sentence, unless the context was made for the device, for its root, or
 * for all devices of its driver.
 */
ze_result_t zeta_context_check_device(const struct zeta_context *context,
                                      const struct zeta_device *device);

#endif
