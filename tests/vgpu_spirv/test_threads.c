/* Many threads make modules, link them and run their kernels at the same time. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "rig.h"
#include "tests/support/suite.h"

enum { THREADS = 8, ROUNDS = 4 };

struct worker {
    const struct rig *rig;
    struct rig_file files[3]; /* read before: reading fails the test, and that is for one thread */
    unsigned number;
    ze_module_handle_t giver; /* for all workers, or NULL */
    const char *failure;
};

static const char *const flags[] = {"", "-g"};

/* Leaves the function with the words of what failed. */
#define must(call)                                                                                 \
    do {                                                                                           \
        if ((call) != ZE_RESULT_SUCCESS)                                                           \
            return #call;                                                                          \
    } while (0)

static const char *run_kernel(const struct rig *rig, ze_kernel_handle_t kernel, int32_t *out)
{
    const ze_command_queue_desc_t desc = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_group_count_t groups = {2, 1, 1};
    ze_command_list_handle_t list = NULL;

    must(zeCommandListCreateImmediate(rig->context, rig->device, &desc, &list));
    must(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    must(zeKernelSetGroupSize(kernel, 16, 1, 1));
    must(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    must(zeCommandListDestroy(list));
    return NULL;
}

static const char *allocate(const struct rig *rig, int32_t **out)
{
    const ze_device_mem_alloc_desc_t device = {0};
    const ze_host_mem_alloc_desc_t host = {0};

    must(zeMemAllocShared(rig->context, &device, &host, 32 * sizeof(int32_t), 64, rig->device,
                          (void **)out));
    memset(*out, 0, 32 * sizeof(int32_t));
    return NULL;
}

static const char *use(const struct rig *rig, ze_module_handle_t module, const char *name,
                       int32_t wanted)
{
    const ze_kernel_desc_t desc = {.pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    const char *failure;
    int32_t *out = NULL;

    must(zeKernelCreate(module, &desc, &kernel));
    failure = allocate(rig, &out);
    if (!failure)
        failure = run_kernel(rig, kernel, out);
    if (!failure && out[31] != wanted)
        failure = name;
    must(zeKernelDestroy(kernel));
    must(zeMemFree(rig->context, out));
    return failure;
}

/* Builds and runs a module of its own, and one that takes from another. */
static const char *work_once(const struct worker *worker, unsigned round)
{
    const char *options = flags[(worker->number + round) % 2];
    ze_module_desc_t own = rig_desc(&worker->files[0], options);
    ze_module_desc_t taker = rig_desc(&worker->files[1], options);
    ze_module_desc_t giver = rig_desc(&worker->files[2], "");
    const struct rig *rig = worker->rig;
    ze_module_handle_t module = NULL, pair[2] = {NULL, worker->giver};
    const char *failure;

    must(zeModuleCreate(rig->context, rig->device, &own, &module, NULL));
    failure = use(rig, module, "shared_scalar", 77);
    must(zeModuleDestroy(module));
    if (failure)
        return failure;
    must(zeModuleCreate(rig->context, rig->device, &taker, &pair[0], NULL));
    if (!worker->giver)
        must(zeModuleCreate(rig->context, rig->device, &giver, &pair[1], NULL));
    must(zeModuleDynamicLink(2, pair, NULL));
    failure = use(rig, pair[0], "use_imports", 32 * 1000 + 707);
    if (!worker->giver)
        must(zeModuleDestroy(pair[1]));
    must(zeModuleDestroy(pair[0]));
    return failure;
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (unsigned round = 0; round < ROUNDS && !worker->failure; round++)
        worker->failure = work_once(worker, round);
    return NULL;
}

static void run_workers(const struct rig *rig, ze_module_handle_t giver)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    struct rig_file files[3] = {rig_spirv("traps"), rig_spirv("imports"), rig_spirv("exports")};

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.rig = rig, .number = i, .giver = giver};
        memcpy(workers[i].files, files, sizeof(files));
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (workers[i].failure)
            fail_msg("thread %u: %s", i, workers[i].failure);
    }
    for (unsigned i = 0; i < 3; i++)
        rig_file_free(&files[i]);
}

static void threads__own_modules__all_right(void **state)
{
    run_workers(*state, NULL);
}

/* All link with the same module, whose group grows and shrinks meanwhile. */
static void threads__one_giver__all_right(void **state)
{
    const struct rig *rig = *state;
    ze_module_handle_t pair[2] = {rig_module(rig, "imports", NULL),
                                  rig_module(rig, "exports", NULL)};

    assert_success(zeModuleDynamicLink(2, pair, NULL));
    run_workers(rig, pair[1]);
    assert_success(zeModuleDestroy(pair[0]));
    assert_success(zeModuleDestroy(pair[1]));
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads__own_modules__all_right),
        cmocka_unit_test(threads__one_giver__all_right),
    };

    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
