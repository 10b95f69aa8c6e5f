#ifndef ZETA_TESTS_KMD_KMD_H
#define ZETA_TESTS_KMD_KMD_H

/*
 * An emulated kernel with Intel GPUs, for programs that think they talk to i915 or xe.
 *
 * Two libraries of the same sources take the calls of libc that reach a kernel: `kmd` is linked
 * into test programs before libc, `libkmd-preload.so` is for programs that nobody instruments
 * (LD_PRELOAD). A machine is a folder: a tree of files that stands for /dev/dri, /sys and
 * /proc/sys, and a description. Paths below those places lead into the tree; everything else goes
 * to the real kernel. Without a machine nothing changes. A machine is shared by all processes that
 * have KMD_MACHINE in their environment, with configurations, units in use and time in common.
 *
 * Counters follow known functions of time, so every report can be foretold (kmd_counter()).
 * Written from public descriptions of the kernel's interface, apart from the plugin.
 */

#include <stdbool.h>
#include <stdint.h>

/** Variable with the folder of the machine. */
#define KMD_VARIABLE "KMD_MACHINE"

enum { KMD_DEVICES = 8, KMD_TILES = 2 };

/** One GPU. Zero in a member means the preset of the platform, unless stated otherwise. */
struct kmd_device {
    const char *
        platform; /**< a preset by name: "hsw-gt2", "tgl-gt2", "dg2-g10", "bmg" (kmd_platforms()) */
    const char *driver; /**< "i915" or "xe" */
    uint32_t pci_id, revision;
    uint32_t slices, subslices, eus; /**< fused: so many of each are there, from the first on */
    uint32_t tiles;
    uint32_t perf_revision;    /**< i915: 1 to 7 */
    uint32_t min_mhz, max_mhz; /**< range of the core clock; counters run at the maximum */
    uint64_t oa_hz, cs_hz;
    uint32_t xe_capabilities; /**< of OA units */
    bool has_no_oa;           /**< a guest: everything of OA answers as there */
    bool has_no_eu_stall;
    bool has_render_node_only;
    bool has_no_metrics_folder; /**< i915: /sys/class/drm/cardN/metrics is missing */
    bool is_flat_out;           /**< every counter runs as fast as hardware can make it */
    /** Selectors that programs may write besides those of the platform: a newer kernel's. */
    uint32_t mux_first, mux_last;
};

/** What the machine is. */
struct kmd_config {
    uint32_t device_count;
    struct kmd_device devices[KMD_DEVICES];
    bool is_paranoid;       /**< both sysctls are 1 */
    bool is_privileged;     /**< the process has CAP_PERFMON as far as the drivers are concerned */
    bool node_is_forbidden; /**< nodes in /dev/dri answer EACCES */
    uint32_t max_sample_rate; /**< sysctl oa_max_sample_rate, default 100000 */
    bool is_manual;           /**< time stands still but for kmd_advance() */
    uint64_t first_ticks;     /**< of every OA clock when the machine starts */
};

/**
 * Makes a machine in a new folder below TMPDIR (not set: /dev/shm, else /tmp) and sets KMD_MACHINE,
 * in this process and for those that it starts. NULL after a message on stderr. One at a time.
 * Removes the machines there whose processes have ended without kmd_stop().
 */
struct kmd_machine *kmd_start(const struct kmd_config *config);
/** Ends it and removes the folder. Descriptors of it that are still open are dead. */
void kmd_stop(struct kmd_machine *machine);
/** Folder of the machine. */
const char *kmd_folder(const struct kmd_machine *machine);

/** Names of the presets, ended by NULL. */
const char *const *kmd_platforms(void);

/** Lets time pass on a manual machine: reports come as if it had passed really. */
void kmd_advance(struct kmd_machine *machine, uint64_t ns);

/** With the errno of KMD_FAULT_READ_ERRNO: it is that of all reads that follow. */
#define KMD_LASTING 0x10000u

/** Misbehaviour, from now on, on one device; in every process. */
enum kmd_fault {
    KMD_FAULT_OPEN_ERRNO,     /**< opening a stream fails with errno = value; 0: no more */
    KMD_FAULT_READ_ERRNO,     /**< the next read of each stream fails with errno = value; all reads
                                   from now on do with errno = value | KMD_LASTING */
    KMD_FAULT_LOSE_REPORTS,   /**< the next value reports are lost, and the kernel says so */
    KMD_FAULT_LOSE_BUFFER,    /**< the buffer overflows, and the kernel says so; at least the next
                                   value reports are lost, however fast the reader makes room */
    KMD_FAULT_SHORT_READS,    /**< reads give at most value reports; 0: no more */
    KMD_FAULT_FALSE_POLL,     /**< value times poll says readable and there is nothing */
    KMD_FAULT_RESET,          /**< the GPU is reset: counters and time stamps start at 0 */
    KMD_FAULT_UNPLUG,         /**< the device is gone: ENODEV everywhere */
    KMD_FAULT_IDLE,           /**< value 1: the GPU sleeps (no reports); 0: it is awake */
    KMD_FAULT_CONTEXT_SWITCH, /**< the next value periods have a report of a context switch in the
                                 middle */
    KMD_FAULT_STATUS /**< xe: bits of STATUS (4 counter overflow, 8 trigger queue full) come up */
};
void kmd_fault(struct kmd_machine *machine, uint32_t device, enum kmd_fault fault, uint64_t value);

/** Banks of raw counters. */
enum kmd_bank { KMD_BANK_CLOCK, KMD_BANK_A, KMD_BANK_B, KMD_BANK_C, KMD_BANK_PEC };

/**
 * What a counter of a unit stands at, in full (not wrapped to its width), when the unit's clock
 * stands at oa_ticks (in full), with the metric set of this uuid configured: "" for none. With the
 * uuid of a TestOa set, B and C run as that set says.
 */
uint64_t kmd_counter(const struct kmd_machine *machine, uint32_t device, uint32_t unit,
                     const char *uuid, enum kmd_bank bank, uint32_t index, uint64_t oa_ticks);

/** A record of EU stall sampling, taken apart: how often a Xe core was seen at an instruction, and
 * why. */
struct kmd_stall {
    uint32_t ip; /**< in units of 8 bytes */
    uint32_t active, other, control, pipe, send, distance, scoreboard, sync, fetch;
    uint32_t tdr, exception; /**< not in records of Ponte Vecchio */
    bool is_end;             /**< likewise */
};

/** Sampling periods that a record of EU stalls counts. */
enum { KMD_STALL_PERIODS = 1024 };

/**
 * The record that the buffer of a Xe core took as number `index` since its stream was enabled. Each
 * core makes one in KMD_STALL_PERIODS sampling periods of the maximum clock; one that finds the
 * buffer full is dropped and has no number. Cores are numbered as the bits of GT_TOPOLOGY.
 */
struct kmd_stall kmd_stall_record(uint32_t gt, uint32_t core, uint64_t index);

/** How often something was asked of the drivers, in all processes: for tests of what a client does.
 */
enum kmd_statistic {
    KMD_STAT_CONFIGS_ADDED,
    KMD_STAT_CONFIGS_REMOVED,
    KMD_STAT_STREAMS_OPENED,
    KMD_STAT_STREAMS_OPEN, /**< now */
    KMD_STAT_REPORTS_MADE,
    KMD_STAT_REPORTS_LOST,
    KMD_STAT_REPORTS_WAITING, /**< now: in rings of OA units, for whoever reads them */
    KMD_STAT_BAD_CALLS,       /**< ioctls that answered EINVAL, EFAULT or ENOTTY */
    KMD_STAT_READ_NS          /**< processor time that the emulation spent in reads of streams */
};
uint64_t kmd_statistic(const struct kmd_machine *machine, uint32_t device,
                       enum kmd_statistic statistic);

#endif
