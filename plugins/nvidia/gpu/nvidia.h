#ifndef ZETA_PLUGINS_NVIDIA_GPU_NVIDIA_H
#define ZETA_PLUGINS_NVIDIA_GPU_NVIDIA_H

/*
 * What the files of the plugin share: the plugin object and its devices.
 */

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/record_ring.h>

#include "plugins/nvidia/library/cupti.h"
#include "plugins/nvidia/library/driver.h"
#include "plugins/nvidia/library/nvml.h"

/** PCI vendor of all GPUs here. */
#define NVIDIA_VENDOR 0x10deu

/** What NVML has of a device for streams of GPM (gpm/), found out when it is asked for first. */
struct nvidia_gpm_unit {
    bool was_asked;     /**< behind the lock of struct nvidia, as the next ones */
    void *handle;       /**< of the GPU; NULL: there is no GPM */
    unsigned instance;  /**< of MIG; 0: the whole GPU */
    char problem[320];  /**< why there is none: the end of a sentence */
    atomic_bool in_use; /**< by a stream of this process */
};

/** The tracer of a device in this process (activity/), and what it did. */
struct nvidia_activity_unit {
    atomic_bool in_use, status_in_use;
    atomic_ullong written, lost;       /**< events, by all tracers so far */
    struct zeta_plugin_tracer *tracer; /**< NULL: none; behind the lock of struct nvidia */
};

/** Queries of a device in this process (query/). */
struct nvidia_query_unit {
    /** For pools, their queries and the session; that of struct nvidia comes behind it. */
    pthread_mutex_t lock;
    struct nvidia_counting *counting; /**< the session; NULL: none */
    struct zeta_plugin_query_pool *pools;
};

/** In how many passes the GPU counts programs: the newest answers of CUPTI. */
enum { NVIDIA_ANSWERS = 256 };
struct nvidia_question {
    uint8_t hash[16]; /**< of what was asked */
};
struct nvidia_answers {
    struct nvidia_question questions[NVIDIA_ANSWERS];
    uint32_t passes[NVIDIA_ANSWERS]; /**< at least 1; 0: no answer */
    uint32_t next;
};

/** A GPU, or an instance of MIG, as CUDA shows it to this process. */
struct zeta_plugin_device {
    struct nvidia *nvidia;
    int ordinal;      /**< of CUDA, and deviceIndex of CUPTI */
    int cuda;         /**< CUdevice */
    bool is_instance; /**< of MIG: some units are shared with other instances */
    char id[64];      /**< "0000:06:00.0"; an instance "0000:06:00.0.MIG-<uuid>" */
    char address[16]; /**< of the GPU, "0000:06:00.0" */
    char name[128];
    uint8_t uuid[16]; /**< as CUDA, NVML and nvidia-smi know it */
    uint32_t pci_domain, pci_bus, pci_device;
    uint32_t pci_id, pci_revision; /**< 0: sysfs does not tell */
    uint32_t cc_major, cc_minor;   /**< compute capability */
    uint32_t sms, sm_khz, memory_khz, bus_bits, l2_bytes, threads_per_sm, copy_engines;
    uint32_t max_group_threads, max_group_size[3], max_group_count[3];
    uint32_t group_shared_bytes; /**< with opt-in where there is one */
    uint32_t compute_mode;       /**< 0 default, 2 prohibited, 3 exclusive process */
    bool is_integrated, has_ecc, has_cooperative, has_pageable;
    uint64_t memory_bytes;

    struct zeta_plugin_queue_group queue_groups[2]; /**< compute, and copies alone */
    uint32_t queue_group_count;
    struct zeta_plugin_memory memory;
    struct zeta_plugin_cache cache;

    char chip[16];         /**< "GH100", once it was asked for; guarded by the lock */
    char perfmon_user[96]; /**< what of this process has the counters: "a stream of ComputeBasic";
                                guarded by the lock */
    struct zeta_plugin_symbol symbols[2]; /**< of metric sets, once they were asked for */
    bool has_symbols;                     /**< guarded by the lock */
    struct nvidia_answers answers;        /**< guarded by the lock */
    struct nvidia_context *context;       /**< of compute */

    struct nvidia_gpm_unit gpm;
    struct nvidia_activity_unit activity;
    struct nvidia_query_unit queries;

    char lost[512]; /**< why it is lost; written before is_lost */
    atomic_bool is_lost;
};

/** The state of an initialised plugin object. */
struct nvidia {
    struct zeta_plugin *self;
    const struct zeta_host *host;       /**< of self */
    char root[PATH_MAX - 256];          /**< before /dev, /proc, /sys and /usr; "": the machine's */
    struct nvidia_driver driver;        /**< of an initialised plugin always there */
    int driver_version;                 /**< of CUDA: 13000 for 13.0 */
    struct zeta_plugin_device *devices; /**< by PCI address, then uuid */
    uint32_t device_count;
    pthread_mutex_t lock; /**< of what is opened when it is needed first; before tracers' locks */
    struct zeta_compiler *compiler; /**< of SPIR-V */
    struct nvidia_compute *compute;
    uint32_t print_bytes; /**< of a buffer for printf */
    bool nvml_was_tried;
    struct nvidia_nvml nvml;
    bool cupti_was_tried;
    struct nvidia_cupti cupti;
};

/** A stream of any unit: a ring, and what fills it. First in the struct of whoever does that. */
struct zeta_plugin_stream {
    struct zeta_record_ring *ring;
    /** SUCCESS, or why no record will come any more, with a sentence. */
    uint32_t (*status)(struct zeta_plugin_stream *stream);
    /** Stops, hands out what is left and gives up the unit. Again: nothing. */
    void (*stop)(struct zeta_plugin_stream *stream);
    void (*close)(struct zeta_plugin_stream *stream);
};

struct zeta_plugin {
    struct zeta_host host;
    struct nvidia *nvidia; /**< NULL: not initialised */
};

/* Operations of the plugin object (state.c), as zeta/plugin.h has them. */
uint32_t nvidia_init(struct zeta_plugin *self);
void nvidia_finish(struct zeta_plugin *self);
uint32_t nvidia_child_after_fork(struct zeta_plugin *self);

/** A setting that is a number; one that is none is logged. */
uint64_t nvidia_setting_number(const struct nvidia *nvidia, const char *name, uint64_t otherwise);

/* ---- discovery (discover.c) --------------------------------------------------------------- */

/**
 * Opens the driver, starts CUDA and lists the devices. A sentence is left with every failure, and
 * as a note where something is missing that the devices can do without.
 */
uint32_t nvidia_discover(struct nvidia *nvidia);

/* ---- sentences for users (explain.c) ------------------------------------------------------ */

/** Sentences, one behind another; what is longer is cut. All zero: none. */
struct nvidia_sentences {
    char text[ZETA_HOST_TEXT_BYTES];
};

/** Adds a sentence. */
void nvidia_say(struct nvidia_sentences *sentences, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * The version of the kernel module in the first line of /proc/driver/nvidia/version: its first word
 * of digits and dots. False, and nothing written, if there is none that fits.
 */
bool nvidia_parse_module_version(const char *line, char *out_text, size_t capacity_bytes);

/** Why there is no libcuda, and what kernel module there is. */
void nvidia_explain_no_driver(const struct nvidia *nvidia, struct nvidia_sentences *out);

/** Why cuInit gave a result: cause, current value, command. */
void nvidia_explain_cuda(const struct nvidia *nvidia, int result, struct nvidia_sentences *out);

/** Why not every process can compute on a device: its compute mode. False: it does not keep any. */
bool nvidia_explain_mode(const struct zeta_plugin_device *device, struct nvidia_sentences *out);

/**
 * What users of the devices should know: GPUs that are hidden, compute modes, MIG, no counters, no
 * compiler.
 */
void nvidia_explain_devices(const struct nvidia *nvidia, struct nvidia_sentences *out);

/* ---- devices (device.c) ------------------------------------------------------------------- */

/**
 * Fills a device from what CUDA and sysfs tell of it; what its queues and memories are follows.
 * Returns a result of CUDA.
 */
int nvidia_device_read(struct nvidia *nvidia, int ordinal, struct zeta_plugin_device *out_device);

/**
 * Says that a device is lost until the process ends, because a context of CUDA does not recover.
 * The first sentence stays. Any thread.
 */
void nvidia_device_lose(struct zeta_plugin_device *device, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * NVML, opened when it is asked for first. NULL with a sentence for zeta_host_fail() where it
 * cannot be used. Lives until finish().
 */
const struct nvidia_nvml *nvidia_nvml_get(struct nvidia *nvidia, const char **out_problem);

/**
 * CUPTI, opened when it is asked for first, with the clock of clock.c for its times. NULL with a
 * sentence for zeta_host_fail() where it cannot be used. Lives until finish().
 */
const struct nvidia_cupti *nvidia_cupti_get(struct nvidia *nvidia, const char **out_problem);

/* ---- counters (counters.c) ---------------------------------------------------------------- */

/** The chip as CUPTI names it, "GH100"; "": it cannot tell. After nvidia_cupti_get(). */
const char *nvidia_device_chip(struct zeta_plugin_device *device);

/** Room for what messages call a device. */
struct nvidia_label {
    char text[224];
};

/** "NVIDIA H100 80GB HBM3 (0000:06:00.0)". */
struct nvidia_label nvidia_device_label(const struct zeta_plugin_device *device);

/**
 * Takes the counters of a device for one stream or the queries of this process. False: they are
 * taken.
 *
 * @user  what takes them: "a stream of ComputeBasic"
 */
bool nvidia_perfmon_take(struct zeta_plugin_device *device, const char *user);
void nvidia_perfmon_give(struct zeta_plugin_device *device);

/** What of this process has the counters. False: nothing. */
bool nvidia_perfmon_user(struct zeta_plugin_device *device, char *out_user, size_t capacity_bytes);

/* ---- clock (clock.c) ---------------------------------------------------------------------- */

/**
 * The clock of host and devices: CLOCK_MONOTONIC_RAW in ns. CUPTI gets it as its timestamp
 * callback, so that samples and records have times of it. Any thread.
 */
uint64_t nvidia_clock_ns(void);

extern const struct zeta_plugin_device_ops nvidia_device_ops;
extern const struct zeta_plugin_metric_ops nvidia_metric_ops; /* metric.c */
/** Only says why programs cannot be debugged. */
extern const struct zeta_plugin_debug_ops nvidia_debug_ops;

#endif
