/* Modules, kernels, launches, faults, and the way back to a usable device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host.h"
#include "kernel_file.h"
#include "tests/forked.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct fixture {
    struct host host;
    struct zeta_plugin_module *module;
    struct zeta_plugin_queue *queue;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    host_open(&f->host, NULL);
    f->module = kernel_file_load(&f->host);
    f->queue = host_queue(&f->host, 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    f->host.compute->queue_destroy(f->host.self, f->queue);
    f->host.compute->module_destroy(f->host.self, f->module);
    host_close(&f->host);
    free(f);
    return 0;
}

static void matmul__whole_numbers__exact_product(void **state)
{
    enum { SIZE = 64 };
    struct fixture *f = *state;
    float *left = host_allocate(&f->host, SIZE * SIZE * sizeof(float));
    float *right = host_allocate(&f->host, SIZE * SIZE * sizeof(float));
    float *product = host_allocate(&f->host, SIZE * SIZE * sizeof(float));
    struct zeta_plugin_kernel *kernel = kernel_create(&f->host, f->module, "matmul");
    struct {
        void *left, *right, *product;
        uint32_t size, unused;
    } arguments = {left, right, product, SIZE, 0};
    struct zeta_plugin_command command = kernel_launch(kernel, &arguments, SIZE / 16, 16);

    command.u.launch.group_count[1] = SIZE / 16;
    command.u.launch.group_size[1] = 16;
    for (unsigned i = 0; i < SIZE * SIZE; i++) {
        left[i] = (float)(i % 7);
        right[i] = (float)(i % 5) - 2;
    }
    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    for (unsigned y = 0; y < SIZE; y++) {
        for (unsigned x = 0; x < SIZE; x++) {
            float sum = 0;

            for (unsigned k = 0; k < SIZE; k++)
                sum += left[y * SIZE + k] * right[k * SIZE + x];
            assert_cmp(product[y * SIZE + x], ==, sum);
        }
    }
    f->host.compute->kernel_destroy(f->host.self, kernel);
}

static void module__kernel_table__names_arguments_and_sizes(void **state)
{
    struct fixture *f = *state;
    const struct zeta_plugin_compute_ops *compute = f->host.compute;
    struct zeta_plugin_kernel *kernel = kernel_create(&f->host, f->module, "matmul");
    struct zeta_plugin_kernel_properties p = {.struct_size = sizeof(p)};
    struct zeta_plugin_array array;
    const struct zeta_plugin_argument *arguments;
    bool found = false;

    assert_int_equal(compute->module_kernel_names(f->host.self, f->module, &array), 0);
    for (uint64_t i = 0; i < array.count; i++) {
        const struct zeta_plugin_string *name =
            (const void *)((const char *)array.data + i * array.stride);

        found |= name->size == 6 && memcmp(name->data, "matmul", 6) == 0;
    }
    assert_true(found);
    assert_int_equal(compute->kernel_properties(f->host.self, kernel, &p), 0);
    assert_int_equal(p.required_group_size[0], 16);
    assert_int_equal(p.required_group_size[1], 16);
    assert_int_equal(p.local_bytes, 2 * 16 * 16 * 4);
    assert_int_equal(p.max_group_size, 512);
    assert_int_equal(p.arguments.count, 4);
    arguments = p.arguments.data;
    assert_int_equal(arguments[2].kind, ZETA_PLUGIN_ARG_GLOBAL);
    assert_int_equal(arguments[3].kind, ZETA_PLUGIN_ARG_VALUE);
    assert_int_equal(arguments[3].size_bytes, 4);
    assert_int_equal(arguments[3].offset_bytes, 24);
    compute->kernel_destroy(f->host.self, kernel);
    assert_int_equal(compute->kernel_create(f->host.self, f->module, host_string("no"), &kernel),
                     ZETA_PLUGIN_INVALID_KERNEL_NAME);
    assert_non_null(strstr(host_error(&f->host), "'no'"));
}

static void module__global_variable__changes_what_kernels_read(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_kernel *kernel = kernel_create(&f->host, f->module, "print");
    uint32_t number[2] = {7, 0};
    struct zeta_plugin_command command = kernel_launch(kernel, number, 1, 1);
    void *address;
    uint64_t bytes;

    assert_int_equal(f->host.compute->module_global(f->host.self, f->module, host_string("answer"),
                                                    &address, &bytes),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(bytes, 4);
    *(uint32_t *)address = 43;
    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    assert_string_equal(host_output(&f->host), "number 7 of group 0, answer 43\n");
    assert_int_equal(f->host.compute->module_global(f->host.self, f->module, host_string("none"),
                                                    &address, &bytes),
                     ZETA_PLUGIN_INVALID_GLOBAL_NAME);
    f->host.compute->kernel_destroy(f->host.self, kernel);
}

struct log {
    char text[1024];
};

static void write_log(void *context, struct zeta_plugin_string text)
{
    struct log *log = context;

    strncat(log->text, text.data, text.size);
}

static void module__bad_images__refused_with_a_log(void **state)
{
    struct fixture *f = *state;
    static const uint8_t spirv[] = {3, 2, 0x23, 7, 0, 0, 1, 0};
    const struct {
        uint32_t format;
        const void *image;
        uint64_t bytes;
        uint32_t result;
        const char *word;
    } bad[] = {
        {ZETA_PLUGIN_MODULE_IL_SPIRV, spirv, 8, ZETA_PLUGIN_MODULE_BUILD_FAILURE, "SPIR-V"},
        {ZETA_PLUGIN_MODULE_NATIVE, "hello", 5, ZETA_PLUGIN_INVALID_NATIVE_BINARY, ""},
        {99, "hello", 5, ZETA_PLUGIN_INVALID_ARGUMENT, "format"},
    };

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct log log = {""};
        const struct zeta_plugin_log_sink sink = {&log, write_log};
        const struct zeta_plugin_module_desc desc = {.struct_size = sizeof(desc),
                                                     .format = bad[i].format,
                                                     .image = bad[i].image,
                                                     .image_bytes = bad[i].bytes};
        struct zeta_plugin_module *module;

        assert_int_equal(
            f->host.compute->module_create(f->host.self, f->host.device, &desc, &sink, &module),
            bad[i].result);
        assert_cmp(strlen(log.text), >, 0);
        assert_non_null(strstr(log.text, bad[i].word));
    }
}

static void module__native_image__loads_again(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_module_desc desc = {.struct_size = sizeof(desc),
                                           .format = ZETA_PLUGIN_MODULE_NATIVE};
    struct zeta_plugin_module *second;
    struct zeta_plugin_array image;

    assert_int_equal(f->host.compute->module_native_image(f->host.self, f->module, &image), 0);
    desc.image = image.data;
    desc.image_bytes = image.count;
    assert_int_equal(
        f->host.compute->module_create(f->host.self, f->host.device, &desc, NULL, &second), 0);
    f->host.compute->module_destroy(f->host.self, second);
}

static void launch__local_argument__gets_its_memory(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_kernel *kernel = kernel_create(&f->host, f->module, "reverse");
    uint32_t *numbers = host_allocate(&f->host, 4 * 64 * sizeof(uint32_t));
    struct {
        void *numbers;
        uint64_t local_bytes;
    } arguments = {numbers, 64 * sizeof(uint32_t)};
    struct zeta_plugin_command command = kernel_launch(kernel, &arguments, 4, 64);

    for (uint32_t i = 0; i < 256; i++)
        numbers[i] = i;
    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(numbers[i], i / 64 * 64 + 63 - i % 64);
    /* More local memory than there is: the submission fails, the queue lives on. */
    arguments.local_bytes = UINT64_MAX;
    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    arguments.local_bytes = 256;
    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    f->host.compute->kernel_destroy(f->host.self, kernel);
}

static void launch__indirect_and_empty__counts_from_memory(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_kernel *kernel = kernel_create(&f->host, f->module, "count");
    uint32_t *counter = host_allocate(&f->host, 64);
    uint32_t *counts = host_allocate(&f->host, 64);
    struct zeta_plugin_command command = kernel_launch(kernel, &counter, 0, 8);

    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(*counter, 0);
    command.flags = ZETA_PLUGIN_COMMAND_INDIRECT;
    command.u.launch.indirect_counts = counts;
    counts[0] = 5;
    counts[1] = 3;
    counts[2] = 1;
    assert_int_equal(host_run(&f->host, f->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(*counter, 5 * 3 * 8);
    f->host.compute->kernel_destroy(f->host.self, kernel);
}

static void launch__from_copy_queue__refused(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_kernel *kernel = kernel_create(&f->host, f->module, "count");
    struct zeta_plugin_queue *copies = host_queue(&f->host, 1);
    uint32_t *counter = host_allocate(&f->host, 64);
    struct zeta_plugin_command command = kernel_launch(kernel, &counter, 1, 8);

    assert_int_equal(host_run(&f->host, copies, &command, 1), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(*counter, 0);
    f->host.compute->queue_destroy(f->host.self, copies);
    f->host.compute->kernel_destroy(f->host.self, kernel);
}

/* The heap of the application is no memory of the device for kernels. */
static void launch__wild_store__fault_names_it_and_device_recovers(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_kernel *wild = kernel_create(&f->host, f->module, "wild");
    struct zeta_plugin_kernel *count = kernel_create(&f->host, f->module, "count");
    uint32_t *counter = host_allocate(&f->host, 64);
    struct zeta_plugin_command commands[2] = {kernel_launch(wild, NULL, 1, 1),
                                              kernel_launch(count, &counter, 4, 16)};
    struct zeta_plugin_event never = {0};

    commands[1].signal_event = &never;
    assert_int_equal(host_run(&f->host, f->queue, commands, 2), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(*counter, 0);
    assert_int_equal(never.signalled, 0);
    assert_int_equal(host_run(&f->host, f->queue, &commands[1], 1), ZETA_PLUGIN_DEVICE_LOST);
    assert_non_null(strstr(host_error(&f->host), "wild"));
    assert_non_null(strstr(host_error(&f->host), "0x10"));
    assert_non_null(strstr(host_error(&f->host), "thread"));
    assert_int_equal(f->host.device_ops->status(f->host.self, f->host.device),
                     ZETA_PLUGIN_DEVICE_LOST);

    f->host.compute->queue_destroy(f->host.self, f->queue);
    f->queue = host_queue(&f->host, 0);
    assert_int_equal(f->host.device_ops->status(f->host.self, f->host.device), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host_run(&f->host, f->queue, &commands[1], 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(*counter, 64);
    assert_int_equal(never.signalled, 1);
    f->host.compute->kernel_destroy(f->host.self, wild);
    f->host.compute->kernel_destroy(f->host.self, count);
}

static void launch__endless__interrupted_by_destroy(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_kernel *endless = kernel_create(&f->host, f->module, "endless");
    struct zeta_plugin_kernel *count = kernel_create(&f->host, f->module, "count");
    _Atomic uint32_t *memory = host_allocate(&f->host, 64);
    uint32_t *counter = host_allocate(&f->host, 64);
    struct zeta_plugin_command first = kernel_launch(endless, &memory, 4, 16);
    struct zeta_plugin_command second = kernel_launch(count, &counter, 1, 1);
    struct zeta_plugin_queue *others[2] = {host_queue(&f->host, 0), host_queue(&f->host, 0)};
    struct host_work work, waiting[2];

    assert_int_equal(host_submit(&f->host, f->queue, &first, 1, &work), ZETA_PLUGIN_SUCCESS);
    kernel_wait_for(memory);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(host_submit(&f->host, others[i], &second, 1, &waiting[i]), 0);
    host_sleep_ms(10);
    /* A queue whose launch waits for another can be destroyed; then the one that blocks it. */
    f->host.compute->queue_destroy(f->host.self, others[0]);
    assert_int_equal(waiting[0].result, ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(work.done, 0);
    f->host.compute->queue_destroy(f->host.self, f->queue);
    assert_int_equal(work.result, ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(host_wait(&waiting[1]), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(*counter, 1);
    f->queue = others[1];
    f->host.compute->kernel_destroy(f->host.self, endless);
    f->host.compute->kernel_destroy(f->host.self, count);
}

/* Rule 7.12. */
static void process__exits_with_an_endless_kernel__ends(void **state)
{
    const pid_t child = fork_child();
    int status;

    (void)state;
    assert_cmp(child, >=, 0);
    if (child == 0) {
        struct host host;
        struct zeta_plugin_command command;
        struct host_work work;
        _Atomic uint32_t *flag;

        alarm(600);
        host_open(&host, NULL);
        flag = host_allocate(&host, 64);
        command =
            kernel_launch(kernel_create(&host, kernel_file_load(&host), "endless"), &flag, 1, 1);
        if (host_submit(&host, host_queue(&host, 0), &command, 1, &work) != 0)
            _exit(1);
        kernel_wait_for(flag);
        exit(7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void fault_device_lost__at_the_nth_launch__stays_lost(void **state)
{
    static const struct host_setting settings[] = {{"fault.device_lost", "2"}, {NULL, NULL}};
    struct host host;
    struct zeta_plugin_module *module;
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_queue *queue;
    struct zeta_plugin_command command;
    uint32_t *counter;

    (void)state;
    host_open(&host, settings);
    module = kernel_file_load(&host);
    kernel = kernel_create(&host, module, "count");
    queue = host_queue(&host, 0);
    counter = host_allocate(&host, 64);
    command = kernel_launch(kernel, &counter, 1, 3);
    assert_int_equal(host_run(&host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(host_run(&host, queue, &command, 1), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(host.compute->queue_status(host.self, queue), ZETA_PLUGIN_DEVICE_LOST);
    assert_non_null(strstr(host_error(&host), "fault.device_lost"));
    host.compute->queue_destroy(host.self, queue);
    queue = host_queue(&host, 0);
    assert_int_equal(host_run(&host, queue, &command, 1), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(host.device_ops->status(host.self, host.device), ZETA_PLUGIN_DEVICE_LOST);
    assert_int_equal(*counter, 3);
    host.compute->queue_destroy(host.self, queue);
    host.compute->kernel_destroy(host.self, kernel);
    host.compute->module_destroy(host.self, module);
    host_close(&host);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

SUITE(kernel)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process__exits_with_an_endless_kernel__ends),
        WITH(matmul__whole_numbers__exact_product),
        WITH(module__kernel_table__names_arguments_and_sizes),
        WITH(module__global_variable__changes_what_kernels_read),
        WITH(module__bad_images__refused_with_a_log),
        WITH(module__native_image__loads_again),
        WITH(launch__local_argument__gets_its_memory),
        WITH(launch__indirect_and_empty__counts_from_memory),
        WITH(launch__from_copy_queue__refused),
        WITH(launch__wild_store__fault_names_it_and_device_recovers),
        WITH(launch__endless__interrupted_by_destroy),
        cmocka_unit_test(fault_device_lost__at_the_nth_launch__stays_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
