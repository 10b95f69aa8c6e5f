#ifndef ZETA_TESTS_VGPU_DEBUG_BENCH_H
#define ZETA_TESTS_VGPU_DEBUG_BENCH_H

/*
 * A debugger of an engine, and a launch on a thread of its own. Sets of threads are masks; where
 * one thread is wanted, it is the lowest of its mask. Failures end the test.
 */

#include "rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "plugins/vgpu/engine/debug.h"

enum {
    THREADS = 16, /* of the small device: 4 subslices of 2 EUs with 2 threads each */
    ALL = 0xffff,
    FIRST_SUBSLICE = 0xf,
    EBREAK = 0x00100073,
    NOP = 0x00000013,
    T0 = 4 /* x5 in the set X */
};

/** A debugger, and the launch that it looks at. */
struct bench {
    struct rig rig;
    struct zeta_vgpu_launch launch;
    const char *kernel;
    pthread_t thread;
    bool is_launched;
    enum zeta_vgpu_result result;
    atomic_bool interrupt;
    uint64_t samples[ZETA_VGPU_STALL_COUNT]; /**< under the engine's lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t changes;
};

/**
 * Set-ups with the kernels debug, or faults, and so many workers. Without samples quanta are
 * executed at full speed: that is bench_open_fast().
 */
int bench_open_one(void **state);
int bench_open_three(void **state);
int bench_open_fast(void **state);
int bench_open_faults(void **state);
int bench_close(void **state);

/** A test with one worker, and with three. */
#define BENCH_TEST(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, bench_open_one, bench_close),                            \
        cmocka_unit_test_setup_teardown(test, bench_open_three, bench_close)

/** Begins to debug; set-ups do that. */
void bench_attach(struct bench *bench);

/** Launches on a thread of its own. @local_bytes as in the launch. */
void bench_launch_local(struct bench *bench, const char *kernel, const void *arguments,
                        const uint32_t *local_bytes, uint32_t groups, uint32_t group_size);
void bench_launch(struct bench *bench, const char *kernel, const void *arguments, uint32_t groups,
                  uint32_t group_size);

/** Waits for the end of the launch. */
enum zeta_vgpu_result bench_finish(struct bench *bench);

/** The threads that are stopped. */
uint64_t bench_stopped(struct bench *bench);

/** Waits until so many threads are stopped; returns which. */
uint64_t bench_wait_stopped(struct bench *bench, int count);

uint64_t bench_lowest(uint64_t threads);
void bench_resume(struct bench *bench, uint64_t threads);
void bench_halt(struct bench *bench, uint64_t threads);

/** What a debugger does that goes on: its causes are consumed. */
void bench_go_on(struct bench *bench, uint64_t threads);

/** Resumes for one instruction; does not wait. */
void bench_begin_step(struct bench *bench, uint64_t threads);

/** Launches one thread, and stops it at the first instruction. */
void bench_stop_at_entry(struct bench *bench, const char *kernel, const void *arguments);

/** A register of a thread that is stopped. */
uint64_t bench_get(struct bench *bench, uint64_t thread, uint32_t set, uint32_t index);
void bench_put(struct bench *bench, uint64_t thread, uint32_t set, uint32_t index, uint64_t value);
uint64_t bench_pc(struct bench *bench, uint64_t thread);
uint32_t bench_causes(struct bench *bench, uint64_t thread);

/** Address of a symbol. */
uint64_t bench_place(struct bench *bench, const char *symbol);

/** Writes an instruction; returns what was there. */
uint32_t bench_write_code(struct bench *bench, uint64_t address, uint32_t word);

#endif
