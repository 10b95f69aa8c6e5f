/*
 * A host with a module, a queue and the kernels whose counts are known, for tests of the plugin.
 */
#ifndef ZETA_TESTS_VGPU_PLUGIN_BENCH_H
#define ZETA_TESTS_VGPU_PLUGIN_BENCH_H

#include "host.h"
#include "kernel_file.h"

struct bench {
    struct host host;
    struct zeta_plugin_module *module;
    struct zeta_plugin_queue *queue; /**< NULL: the test has destroyed it */
    struct zeta_plugin_kernel *matmul, *count;
    uint32_t *counter; /**< 4096 bytes, to which count adds */
    struct {
        void *left, *right, *product;
        uint32_t size, unused;
    } arguments; /**< of the last matmul */
};

/** Opens a host with these settings (NULL: none) and all that a bench has. */
void bench_open(struct bench *bench, const struct host_setting *settings);
void bench_close(struct bench *bench);

/** The same for cmocka, without settings; *state is the bench. */
int bench_setup(void **state);
int bench_teardown(void **state);

/** A product of matrices of size x size; one at a time. */
struct zeta_plugin_command bench_matmul(struct bench *bench, uint32_t size);

/** A launch whose groups x 16 work-items do one atomic addition each. */
struct zeta_plugin_command bench_count(struct bench *bench, uint32_t groups);

/** Runs commands on the queue, successfully, and waits for them. */
void bench_run(struct bench *bench, const struct zeta_plugin_command *commands, uint64_t number);

#endif
