#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void bench_open(struct bench *bench, const struct host_setting *settings)
{
    host_open(&bench->host, settings);
    bench->module = kernel_file_load(&bench->host);
    bench->queue = host_queue(&bench->host, 0);
    bench->matmul = kernel_create(&bench->host, bench->module, "matmul");
    bench->count = kernel_create(&bench->host, bench->module, "count");
    bench->counter = host_allocate(&bench->host, 4096);
}

void bench_close(struct bench *bench)
{
    if (bench->queue)
        bench->host.compute->queue_destroy(bench->host.self, bench->queue);
    bench->host.compute->kernel_destroy(bench->host.self, bench->matmul);
    bench->host.compute->kernel_destroy(bench->host.self, bench->count);
    bench->host.compute->module_destroy(bench->host.self, bench->module);
    host_close(&bench->host);
}

int bench_setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    if (!bench)
        return -1;
    bench_open(bench, NULL);
    *state = bench;
    return 0;
}

int bench_teardown(void **state)
{
    bench_close(*state);
    free(*state);
    return 0;
}

struct zeta_plugin_command bench_matmul(struct bench *bench, uint32_t size)
{
    struct zeta_plugin_command command;
    float *memory = host_allocate(&bench->host, 3 * size * size * sizeof(float));

    bench->arguments.left = memory;
    bench->arguments.right = memory + size * size;
    bench->arguments.product = memory + 2 * size * size;
    bench->arguments.size = size;
    command = kernel_launch(bench->matmul, &bench->arguments, size / 16, 16);
    command.u.launch.group_count[1] = size / 16;
    command.u.launch.group_size[1] = 16;
    return command;
}

struct zeta_plugin_command bench_count(struct bench *bench, uint32_t groups)
{
    return kernel_launch(bench->count, &bench->counter, groups, 16);
}

void bench_run(struct bench *bench, const struct zeta_plugin_command *commands, uint64_t number)
{
    assert_int_equal(host_run(&bench->host, bench->queue, commands, number), ZETA_PLUGIN_SUCCESS);
}
