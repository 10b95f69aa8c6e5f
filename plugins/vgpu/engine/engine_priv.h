#ifndef ZETA_PLUGINS_VGPU_ENGINE_ENGINE_PRIV_H
#define ZETA_PLUGINS_VGPU_ENGINE_ENGINE_PRIV_H

/*
 * Inside of the engine, shared by the files of this folder.
 *
 *   engine.c  create and destroy, worker threads, launches
 *   group.c   one subslice: dispatch of groups, quanta, barriers, faults, in which code a hart is
 *   call.c    ecalls: extended math and printf
 *   model.c   epochs: shared cache, cycle model, publishing, events for the owner
 *   sample.c  samples of instruction pointers
 *   image.c   loading, and names that images offer each other
 *   debug.c   what a debugger does with threads, code and memory
 *
 * Who touches what: a subslice belongs to one worker during a launch, so everything in struct
 * subslice is used by one thread at a time without a lock. Results go to the model as epoch
 * records under the model's lock. A debugger's call holds the space, so that each worker is between
 * two quanta, or sleeps: what it writes then, workers see behind zeta_vgpu_space_enter().
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <zeta/vgpu_debug.h>

#include "engine.h"
#include "plugins/vgpu/machine/cache.h"
#include "plugins/vgpu/machine/elf.h"
#include "plugins/vgpu/machine/rv64.h"

enum {
    ZETA_VGPU_MAX_EUS = 64,
    ZETA_VGPU_MAX_SUBSLICES = 64,
    /** Unused addresses below each stack. */
    ZETA_VGPU_STACK_GUARD_BYTES = 4096,
    /** Records that a subslice may be ahead of the slowest one; these are not counted yet. */
    ZETA_VGPU_LARGEST_LEAD = 2,
    /** Epochs whose length is known: the last replayed one, and those that may have begun. */
    ZETA_VGPU_KNOWN_EPOCHS = 4
};

struct zeta_vgpu_image {
    struct zeta_vgpu_space *space;
    struct zeta_vgpu_elf elf; /* its bytes are @file */
    unsigned char *file;      /* mapped copy of the ELF file */
    size_t file_map_bytes;
    unsigned char *memory; /* reserved from the image's begin to the end of its SLM window */
    size_t memory_bytes;
    uint64_t base; /* where elf.low was loaded */
    struct zeta_rv64_code code;
    struct zeta_vgpu_kernel *kernels;
    uint32_t kernel_count;
    uint32_t ranges_added; /* segments registered in the space so far */
    bool file_added;
    struct zeta_vgpu_symbol *exports; /* sorted by name; names are in @file */
    uint32_t export_count;
    const char **imports; /* that must be found; names are in @file */
    uint32_t import_count;
    bool bound; /* nothing is missing any more */
};

/** Address of the window of shared local memory. */
static inline uint64_t zeta_vgpu_image_slm(const struct zeta_vgpu_image *image)
{
    return image->elf.slm_begin - image->elf.low + image->base;
}

enum hart_state {
    HART_IDLE, /* slot is free */
    HART_READY,
    HART_STEP,    /* executes one instruction, and then a debugger has it again */
    HART_STOPPED, /* would be ready, but a debugger has it */
    HART_BARRIER, /* waits for the rest of its group */
    HART_ENDED    /* slot is taken until the whole group has ended */
};

/*
 * One hardware thread. Its registers lie apart, so that what is looked at for all threads in turn
 * stays in the host's first cache.
 */
struct hart {
    enum hart_state state;
    uint32_t slot; /* thread * EUs + eu */
    struct zeta_rv64_hart *cpu;
    struct group *group;
    struct hart *next;    /* in its group, in order of local ids */
    uint64_t stack_begin; /* lowest address of its private memory */
    uint64_t cost;        /* modelled cycles since its group's last barrier */
    uint64_t epoch_cost;  /* of the slot, since the begin of the epoch */
    bool ran;             /* in this epoch */
    bool stopped;         /* a debugger has it, also while it waits at a barrier */
    bool halted;          /* as somebody asked for it */
    bool steps;           /* it goes to a debugger when it leaves its barrier */
    bool passes;          /* it executes its next instruction in spite of a breakpoint register */
    bool untold;          /* it stopped by itself, which nobody asked about yet */
};

/* A resident work-group. */
struct group {
    struct group *next_free;
    struct hart *harts;
    uint32_t id[3];
    uint32_t live;    /* harts that have not ended */
    uint32_t waiting; /* of those, at the barrier */
    uint32_t slm_slot;
};

/* Code that harts of a subslice came to in a launch; the first is that of its image. */
struct known_code {
    const struct zeta_rv64_code *code;
    uint32_t icache_first;
};

/* What a run of a hart cost, in modelled cycles, by what the hart did meanwhile. */
struct costs {
    uint64_t fetch, issue, pipe, memory, control;
};

/* A sample before the epoch is replayed. */
struct sample {
    uint64_t address;
    uint32_t count;
    uint8_t stall;
    bool missed; /* the L1: what L3 misses cost belongs to it */
};

struct sample_log {
    struct sample *entries;
    uint32_t count;
    uint32_t room;
    uint64_t lost; /* for which there was no room */
};

/* Sampling of a subslice's threads; see sample.c. */
struct sampler {
    uint64_t session;
    uint64_t interval; /* clocks of a thread between samples, 0: nobody wants any */
    uint64_t stride;   /* of so many quanta one is stepped */
    uint64_t spacing;  /* clocks of stepped quanta between samples */
    uint64_t quantum;  /* in the session */
    uint64_t chosen;   /* quantum that is stepped next */
    uint64_t clock;    /* of stepped quanta in the session */
    uint64_t due;      /* when the next sample is taken on that clock */
    uint64_t waited;   /* at barriers since the last sample there */
    struct sample_log log;
};

/* An event whose time follows from its place in an epoch. */
struct timed_event {
    struct zeta_vgpu_engine_event event;
    uint32_t order;    /* of those with the same time */
    uint64_t position; /* instructions that its subslice had retired in the epoch */
};

struct event_list {
    struct timed_event *items;
    uint32_t count;
    uint32_t capacity;
    bool failed; /* no memory for one */
};

/* What a subslice did in an epoch; replayed through L3 and the cycle model. */
struct epoch {
    STAILQ_ENTRY(epoch) link;
    uint64_t counters[ZETA_VGPU_COUNTER_COUNT]; /* at its end, without what the model adds */
    uint64_t issue[ZETA_VGPU_MAX_EUS];          /* instructions per EU */
    uint64_t span[ZETA_VGPU_MAX_EUS];           /* longest thread per EU, in cycles */
    uint32_t threads[ZETA_VGPU_MAX_EUS];        /* resident per EU */
    uint32_t ran[ZETA_VGPU_MAX_EUS];            /* of these, had a quantum */
    uint32_t runnable[ZETA_VGPU_MAX_EUS];       /* had one or wait for theirs */
    uint32_t stopped;                           /* a debugger has them at its end */
    uint64_t cost[ZETA_VGPU_MAX_EUS];           /* cycles of all threads per EU */
    struct zeta_vgpu_miss_log log;
    struct event_list events;
    uint64_t instructions; /* retired in it */
    uint64_t sample_session;
    uint64_t sample_interval; /* 0: no samples */
    struct sample_log samples;
};

/* Stalls that are known when an epoch is replayed and became no sample yet, in thread clocks. */
struct owed {
    uint64_t session;
    uint64_t memory, issue, stopped;
};

struct subslice {
    struct zeta_vgpu_engine *engine;
    uint32_t index;
    /* Hardware */
    struct hart *harts;
    struct zeta_rv64_hart *cpus; /* of the harts */
    uint32_t hart_count;
    unsigned char *slm; /* slm_bytes of the topology */
    struct zeta_vgpu_l1 l1;
    struct zeta_vgpu_icache icache;
    struct zeta_rv64_memory memory;
    struct zeta_rv64_context context;
    uint32_t reader;           /* its worker's number in the space */
    uint64_t space_generation; /* under which memory's pages and other code were found */
    struct known_code *codes;  /* of this launch */
    uint32_t code_count;
    uint32_t icache_used; /* instructions that have a place in the instruction cache */
    /* Work of the launch */
    uint64_t next_group; /* linear index of the next group to dispatch */
    struct group *groups;
    struct group *free_groups;
    uint32_t *free_slm; /* stack of buffer numbers */
    uint32_t free_slm_count;
    uint32_t free_harts;
    uint32_t used_slots;  /* no hart at or above this slot was used in the launch */
    uint32_t used_groups; /* no group at or above this place was */
    uint32_t next_slot;   /* where the round goes on; 0: a new one begins */
    bool finished;        /* of this launch */
    /* Counts */
    uint64_t counters[ZETA_VGPU_COUNTER_COUNT];
    /* Per EU. Written by the worker, modelled ones under the model's lock. */
    _Atomic uint64_t (*eu_counters)[ZETA_VGPU_COUNTER_COUNT];
    uint64_t issue[ZETA_VGPU_MAX_EUS]; /* since the begin of the epoch */
    uint64_t epoch_instructions;
    struct event_list events; /* of the epoch, when their time follows from it */
    struct sampler sampler;
    /* The epoch */
    uint64_t epoch_number; /* in the launch */
    uint32_t epoch_length; /* in instructions, after which it ends */
    uint32_t slice;        /* instructions of a quantum in it */
};

/* Replay of epochs; everything under its lock unless noted. */
struct model {
    pthread_mutex_t lock;
    pthread_cond_t progress; /* an epoch was replayed */
    struct zeta_vgpu_l3 l3;
    STAILQ_HEAD(, epoch) epochs[ZETA_VGPU_MAX_SUBSLICES]; /* handed in, not replayed */
    atomic_uint queued[ZETA_VGPU_MAX_SUBSLICES];          /* written under the lock */
    bool finished[ZETA_VGPU_MAX_SUBSLICES];
    /*
     * A debugger has all threads that could run. Such a subslice takes no part until it gives some
     * back: it hands in no records, and its worker leaves it alone. Read by that without the lock.
     */
    bool held[ZETA_VGPU_MAX_SUBSLICES];
    struct epoch standing; /* filled for a held subslice while the others' records are replayed */
    STAILQ_HEAD(, epoch) spare; /* records to be used again */
    struct event_list events;   /* of the records that are replayed now */
    uint64_t snapshot[ZETA_VGPU_MAX_SUBSLICES][ZETA_VGPU_COUNTER_COUNT];
    /* Modelled part of the counters; written under the lock, read without by the owner. */
    atomic_uint_least64_t added[ZETA_VGPU_MAX_SUBSLICES][ZETA_VGPU_COUNTER_COUNT];
    struct owed owed[ZETA_VGPU_MAX_SUBSLICES];
    bool out_of_memory;
    /* Pace: epochs of a number are equally long on all subslices. */
    uint64_t replayed;                       /* epochs of the launch */
    uint32_t grains[ZETA_VGPU_KNOWN_EPOCHS]; /* by number: how long they are */
    uint64_t begin_ns;                       /* host time from which the next epoch counts */
    uint64_t took_ns;                        /* the execution of the last one */
    uint64_t slice_ns;                       /* how often to publish while it lasts */
    atomic_uint_least64_t resume_ns;         /* it lasts until then; 0: all of it was published */
    uint64_t lasts_ns;                       /* since when it lasts */
    uint64_t base[ZETA_VGPU_MAX_SUBSLICES][ZETA_VGPU_COUNTER_COUNT]; /* totals at its begin */
};

struct worker {
    struct zeta_vgpu_engine *engine;
    pthread_t thread;
    uint32_t index;
    uint32_t reader; /* number in the space */
    bool has_reader;
    uint64_t seen_launch; /* number of the last launch that it has seen */
};

/* What a debugger knows of a thread that it has. */
struct stop {
    uint32_t control[4]; /* the register set CR */
    uint32_t fcsr;
    struct zeta_vgpu_fault fault; /* of a fault or illegal instruction, else no reason */
};

/* Run control; changed while the space is held, except for @stopped. */
struct run_control {
    bool attached;
    void (*changed)(void *user);
    void *user;
    struct stop *stops;  /* by number of the thread */
    atomic_uint stopped; /* threads; falls while the space is held only */
    uint32_t halted;     /* of these, those that a halt was for: nothing begins meanwhile */
    uint32_t watch_count;
    struct zeta_rv64_watch watches[ZETA_RV64_WATCHES];
    uint64_t breakpoints[ZETA_VGPU_BREAKPOINTS]; /* 0: none */
};

struct zeta_vgpu_engine {
    struct zeta_vgpu_engine_config config;
    struct zeta_vgpu_space *space;
    uint32_t subslice_count;
    struct subslice *subslices;
    struct model model;
    unsigned char *stacks; /* private memory of all harts, with guards */
    size_t stacks_bytes;
    unsigned char *arguments; /* argument block of the running launch */
    pthread_mutex_t print_lock;

    /* Launches, one at a time in order of arrival */
    pthread_mutex_t lock;
    pthread_cond_t released;
    pthread_cond_t start;
    pthread_cond_t done;
    uint64_t next_ticket;
    uint64_t serving;
    uint64_t launch_number; /* workers run each number once */
    uint32_t busy_workers;
    struct worker *workers; /* the first is whoever launches; threads of the others start late */
    uint32_t started_workers;
    bool quit;

    /* The running launch */
    const struct zeta_vgpu_launch *launch;
    uint32_t active_subslices; /* that get a group; the first ones */
    uint32_t active_workers;   /* that have one of them */
    uint64_t group_total;
    uint32_t group_items;
    uint32_t group_slm_bytes; /* per group, rounded */
    uint32_t work_dimensions;
    atomic_bool stop;     /* after a fault */
    atomic_uint eu_users; /* who wants counters of EUs */
    atomic_bool interrupted;
    struct zeta_vgpu_fault *fault; /* of the caller; written once, under lock */
    struct run_control control;
};

/* group.c */

/** Makes the hardware of a subslice; false when memory is short. */
bool zeta_vgpu_subslice_init(struct subslice *subslice, struct zeta_vgpu_engine *engine,
                             uint32_t index);
void zeta_vgpu_subslice_finish(struct subslice *subslice);

/** Prepares a subslice for the engine's launch; false when memory is short. */
bool zeta_vgpu_subslice_begin(struct subslice *subslice);

/**
 * Goes on with a round, which dispatches what fits and runs each ready hart for one slice, until
 * its end or that of an epoch. At the end of the work the subslice is finished. False when nothing
 * can run while a debugger has threads.
 */
bool zeta_vgpu_subslice_round(struct subslice *subslice);

/**
 * Runs one instruction of the running hart and books it; that of memory if the hart passes
 * breakpoint registers. @out_block_end: the last of its block.
 */
enum zeta_rv64_stop zeta_vgpu_step(struct subslice *subslice, struct hart *hart,
                                   struct costs *out_costs, bool *out_block_end);

/** A hart arrives at its barrier; the last one of the group lets all go on. */
void zeta_vgpu_barrier(struct subslice *subslice, struct hart *hart);

/** Books what a run did; @l1_misses is the L1's total before it. */
void zeta_vgpu_account(struct subslice *subslice, struct hart *hart, uint64_t l1_misses,
                       struct costs *out_costs);

/**
 * A hart cannot execute the instruction at @pc: a debugger gets it, else the launch stops, and its
 * first fault is recorded.
 */
void zeta_vgpu_fault_raise(struct subslice *subslice, struct hart *hart,
                           enum zeta_vgpu_fault_reason reason, uint64_t pc, uint64_t address);

/** Id of the hart's work-item, from the engine's books: the thread's block can be overwritten. */
void zeta_vgpu_hart_local_id(const struct zeta_vgpu_engine *engine, const struct hart *hart,
                             uint32_t out_id[3]);

/** Fills in a fault of the running hart, with its sentence. */
void zeta_vgpu_fault_describe(const struct subslice *subslice, const struct hart *hart,
                              enum zeta_vgpu_fault_reason reason, uint64_t pc, uint64_t address,
                              struct zeta_vgpu_fault *out_fault);

/* sample.c */

/** Asks whether samples are wanted, and begins anew when somebody else wants them. */
void zeta_vgpu_sampler_update(struct subslice *subslice);

/** A quantum of a hart begins; true when it shall be stepped. Only while samples are wanted. */
bool zeta_vgpu_sampler_quantum(struct subslice *subslice);

/**
 * Runs one instruction of a hart, books it and takes the samples that are due in it.
 * @out_block_end: it was the last of its block.
 */
enum zeta_rv64_stop zeta_vgpu_sampler_step(struct subslice *subslice, struct hart *hart,
                                           bool *out_block_end);

/** A hart waited at the barrier that it called before its pc. Only while samples are wanted. */
void zeta_vgpu_sampler_wait(struct subslice *subslice, const struct hart *hart, uint64_t cycles);

/** Notes where the threads are that a debugger has; how often they were seen is known later. */
void zeta_vgpu_sampler_note_stops(const struct subslice *subslice, struct sample_log *log);

/**
 * Hands the samples of an epoch to the owner, with what was found in its replay: clocks that
 * threads waited for @memory beyond L3, for others to @issue, and for a debugger. With the model's
 * lock.
 */
void zeta_vgpu_sampler_deliver(struct zeta_vgpu_engine *engine, uint32_t subslice,
                               struct epoch *epoch, uint64_t memory, uint64_t issue,
                               uint64_t stopped);

/** True if counters of EUs are wanted. */
static inline bool zeta_vgpu_counts_eus(const struct zeta_vgpu_engine *engine)
{
    return atomic_load_explicit(&engine->eu_users, memory_order_relaxed) > 0;
}

/** Adds to a counter of an EU, which has one writer. */
static inline void zeta_vgpu_eu_add(struct subslice *subslice, uint32_t eu,
                                    enum zeta_vgpu_counter counter, uint64_t value)
{
    _Atomic uint64_t *at = &subslice->eu_counters[eu][counter];

    atomic_store_explicit(at, atomic_load_explicit(at, memory_order_relaxed) + value,
                          memory_order_relaxed);
}

/** Points the context at the code that holds @pc; at that of the launch when there is none. */
void zeta_vgpu_code_enter(struct subslice *subslice, uint64_t pc);

/* model.c */

bool zeta_vgpu_model_init(struct model *model, const struct zeta_vgpu_topology *topology);
void zeta_vgpu_model_finish(struct model *model);

/** Before a launch: only subslices that get no group have finished. */
void zeta_vgpu_model_begin(struct zeta_vgpu_engine *engine);

/** The subslice begins an epoch; number 0 before a launch, after the model's begin. */
void zeta_vgpu_model_begin_epoch(struct subslice *subslice, uint64_t number);

/**
 * Hands in what the subslice did since its last epoch, and replays what is complete.
 * @held: and a debugger has all of its threads that could run
 */
void zeta_vgpu_model_submit(struct subslice *subslice, bool held);

/** A debugger gave threads back: all subslices take part again. The space is held. */
void zeta_vgpu_model_rejoin(struct zeta_vgpu_engine *engine);

/**
 * Publishes what is due of an epoch that lasts longer than it was executed. Returns when to check
 * again, and before which nothing is executed; 0: it is over.
 */
uint64_t zeta_vgpu_model_rest(struct zeta_vgpu_engine *engine);

/** True when a subslice is so far ahead of the others that it has to wait. */
bool zeta_vgpu_model_ahead(struct zeta_vgpu_engine *engine, uint32_t subslice);

/**
 * Waits until one of the subslices worker @index owns may go on, all have finished, or the launch
 * has to end while a debugger has threads.
 */
void zeta_vgpu_model_wait(struct zeta_vgpu_engine *engine, uint32_t worker);

/**
 * Report an event of a group (items as in struct zeta_vgpu_engine_event), and one of the running
 * launch, if the owner wants events of that sort now.
 */
void zeta_vgpu_event_of_group(struct subslice *subslice, enum zeta_vgpu_engine_event_kind kind,
                              const struct group *group, uint32_t items);
void zeta_vgpu_event_of_launch(struct zeta_vgpu_engine *engine,
                               enum zeta_vgpu_engine_event_kind kind);

/* call.c */

/** Executes an ecall. False when the hart does not go on: at a barrier, or after a fault. */
bool zeta_vgpu_call(struct subslice *subslice, struct hart *hart);

/* debug.c */

/**
 * A debugger gets a hart, on the worker's thread: for causes ZETA_VGPU_CAUSE_* that are about
 * @address.
 */
void zeta_vgpu_debug_stop(struct subslice *subslice, struct hart *hart, uint32_t causes,
                          uint64_t address);

/** The same for a fault at the hart's pc. */
void zeta_vgpu_debug_stop_fault(struct subslice *subslice, struct hart *hart,
                                enum zeta_vgpu_fault_reason reason, uint64_t address);

/** True when a launch has to end early. */
static inline bool zeta_vgpu_stopping(struct zeta_vgpu_engine *engine)
{
    if (atomic_load_explicit(&engine->stop, memory_order_relaxed))
        return true;
    if (!engine->launch->interrupt ||
        !atomic_load_explicit(engine->launch->interrupt, memory_order_relaxed))
        return false;
    atomic_store(&engine->interrupted, true);
    return true;
}

#endif
