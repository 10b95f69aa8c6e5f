#ifndef ZETA_TESTS_CUDA_MACHINE_MACHINE_H
#define ZETA_TESTS_CUDA_MACHINE_MACHINE_H

/* What the libraries share: the file `machine`, which all processes map. */

#include <pthread.h>
#include <stdatomic.h>

#include "tests/cuda/cuda.h"

enum {
    CUDA_GPUS = 8,
    CUDA_INSTANCES = 7, /* of MIG, on one GPU */
    CUDA_TEXT = 64,
    CUDA_WORKS = 1 << 16,
    CUDA_FAULTS = 32,
    CUDA_FUNCTIONS = 256,
    CUDA_TICK_NS = 32
};

/* Why a GPU has no counters; the members of cuptiProfilerDeviceSupported. */
enum cuda_mode {
    CUDA_MODE_NONE,
    CUDA_MODE_SLI,
    CUDA_MODE_VGPU,
    CUDA_MODE_CC,
    CUDA_MODE_CMP,
    CUDA_MODE_WSL
};

/* A GPU as it was described: presets are in chips.c, each member is a key of a description. */
struct cuda_chip {
    char chip[CUDA_TEXT]; /* as CUPTI names it */
    char name[CUDA_TEXT];
    char pci[CUDA_TEXT]; /* 0000:00:06.0 */
    uint64_t pci_id;     /* device << 16 | vendor */
    uint64_t cc_major, cc_minor;
    uint64_t sms, gpcs, channels, slices;
    uint64_t warps_per_sm, groups_per_sm, shared_per_sm, shared_opt_in;
    uint64_t sm_khz, memory_khz, system_khz, bus_bits;
    uint64_t l2_bytes, memory_bytes;
    uint64_t copy_engines;
    uint64_t compute_mode; /* 0 default, 2 prohibited, 3 exclusive */
    uint64_t instances;    /* of MIG; 0: MIG is off */
    uint64_t has_ecc, has_links, has_pm_sampling, has_ns_trigger, has_gpm;
    uint64_t mode; /* enum cuda_mode */
};

/* The machine as it was described. */
struct cuda_description {
    uint64_t driver;       /* cuDriverGetVersion */
    uint64_t cupti;        /* cuptiGetVersion */
    uint64_t growth;       /* bytes by which its parameter blocks are larger than those known */
    uint64_t permits;      /* counters are permitted to everybody */
    uint64_t is_manual;    /* time passes by cuda_advance() alone */
    uint64_t decode_ns;    /* processor time of a sample in a decode; 0: none but our own */
    uint64_t fills_images; /* initialising an image writes all of it, not what is read alone */
    uint32_t gpu_count;
    struct cuda_chip gpus[CUDA_GPUS];
};

/* A piece of work on a GPU: its counts pass evenly between begin and end. */
struct cuda_work {
    uint64_t begin, end; /* ns of the machine */
    uint64_t counts[CUDA_COUNTS];
};

struct cuda_gpu {
    pthread_mutex_t lock; /* over all below */
    uint64_t used_bytes;
    uint64_t work_count; /* works so far; the newest CUDA_WORKS are kept */
    uint64_t totals[CUDA_COUNTS];
    struct cuda_work works[CUDA_WORKS];
};

struct cuda_forced {
    char function[CUDA_TEXT]; /* a star at its end: all that begin so */
    int32_t result;
    uint32_t action; /* of fault.c */
    uint64_t value;
    double spoiled;
    uint64_t first; /* number of the call from 1 */
    bool for_ever;
    atomic_ullong calls;
};

struct cuda_called {
    char function[CUDA_TEXT];
    atomic_ullong calls;
};

struct cuda_shared {
    uint32_t magic, version;
    struct cuda_description description;
    atomic_bool has_ended;
    atomic_ullong manual_ns;
    pthread_mutex_t lock; /* over faults and functions */
    atomic_uint fault_count, function_count;
    struct cuda_forced faults[CUDA_FAULTS];
    struct cuda_called functions[CUDA_FUNCTIONS];
    struct cuda_gpu gpus[CUDA_GPUS];
};

/* The side that started a machine. */
struct cuda_machine {
    struct cuda_shared *shared;
    char folder[4000];
};

enum { CUDA_MAGIC = 0x6e766461, CUDA_VERSION = 1 };

/* Maps the file of a folder; NULL with errno. */
struct cuda_shared *cuda_map(const char *folder, bool create);

/* The machine of this process, which the variable names; NULL if there is none. */
struct cuda_shared *cuda_shared(void);

/* Its folder. */
const char *cuda_root(void);

/* Preset of a chip by its name in lower case, "gh100"; NULL if there is none. */
const struct cuda_chip *cuda_chip_find(const char *name);

/* The driver that CUDA's version came with: "580.159.04". */
const char *cuda_driver_text(const struct cuda_description *machine);

/* Names of the presets, NULL at the end. */
const char *const *cuda_chip_names(void);

/* Reads a description; false with a sentence on standard error. */
bool cuda_describe(const char *text, struct cuda_description *out);

/* Each function of the libraries asks first. True: it returns *out_result and does nothing else. */
bool cuda_enter(const char *function, int *out_result);

/* A value that the function gives which this thread has entered last, or what a fault makes of it.
 */
double cuda_value(double value);

/* Locks of GPUs survive the death of their holder. */
void cuda_lock(pthread_mutex_t *lock);
void cuda_unlock(pthread_mutex_t *lock);

/* Time. */
uint64_t cuda_time(const struct cuda_shared *shared);
/* Returns when that time has come; manual time jumps to it. */
void cuda_wait_until(struct cuda_shared *shared, uint64_t ns);
/* Cycles of a clock from the machine's zero to a time: differences of it add up. */
uint64_t cuda_cycles(uint64_t khz, uint64_t ns);

/* Appends work that begins now, or at not_before_ns if that is later; *out_begin, its end. */
uint64_t cuda_work(struct cuda_shared *shared, uint32_t gpu, uint64_t not_before_ns,
                   uint64_t duration_ns, const uint64_t counts[CUDA_COUNTS], uint64_t *out_begin);

/* What a piece of work has counted until a time. */
uint64_t cuda_counted(const struct cuda_work *work, enum cuda_count count, uint64_t ns);

/* What has one user at a time, until that process ends: counters, contexts in exclusive mode. */
enum cuda_unit { CUDA_PERFMON, CUDA_COMPUTE, CUDA_UNITS };

/* False if it is taken, also by this process. */
bool cuda_unit_take(enum cuda_unit unit, uint32_t gpu);
void cuda_unit_give(enum cuda_unit unit, uint32_t gpu);

#endif
