#include "world.h"

#include <time.h>

static uint8_t *read_kernels(size_t *out_bytes)
{
    FILE *file = fopen(TEST_KERNELS, "rb");
    uint8_t *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *out_bytes = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*out_bytes);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *out_bytes, file), *out_bytes);
    (void)fclose(file);
    return bytes;
}

static void make_kernel(struct world *world)
{
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .pBuildFlags = "-zet-profile-flags 0x1"};
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "work"};
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const uint32_t rounds = 2000;
    uint8_t *image = read_kernels(&module.inputSize);

    module.pInputModule = image;
    assert_success(zeModuleCreate(world->context, world->device, &module, &world->module, NULL));
    free(image);
    assert_success(zeKernelCreate(world->module, &kernel, &world->kernel));
    assert_success(zeKernelSetGroupSize(world->kernel, 16, 1, 1));
    assert_success(zeMemAllocDevice(world->context, &memory, WORLD_GROUPS * 16 * sizeof(uint32_t),
                                    64, world->device, &world->sums));
    assert_success(zeKernelSetArgumentValue(world->kernel, 0, sizeof(world->sums), &world->sums));
    assert_success(zeKernelSetArgumentValue(world->kernel, 1, sizeof(rounds), &rounds));
    world->groups = (ze_group_count_t){WORLD_GROUPS, 1, 1};
}

int world_open(void **state)
{
    static struct world opened;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    struct world *world = &opened;
    uint32_t count = 1;

    assert_success(zeInit(0));
    assert_success(zeDriverGet(&count, &world->driver));
    count = 1;
    assert_success(zeDeviceGet(world->driver, &count, &world->device));
    assert_success(zeContextCreate(world->driver, &context, &world->context));
    assert_success(zeCommandQueueCreate(world->context, world->device, &queue, &world->queue));
    assert_success(zeCommandListCreate(world->context, world->device, &list, &world->list));
    make_kernel(world);
    *state = world;
    return 0;
}

int world_close(void **state)
{
    struct world *world = *state;

    assert_success(zeCommandListDestroy(world->list));
    assert_success(zeCommandQueueDestroy(world->queue));
    assert_success(zeKernelDestroy(world->kernel));
    assert_success(zeModuleDestroy(world->module));
    assert_success(zeMemFree(world->context, world->sums));
    assert_success(zeContextDestroy(world->context));
    return 0;
}

void *world_room(size_t bytes)
{
    void *room = malloc(bytes > 0 ? bytes : 1);

    assert_true(bytes > 0);
    assert_non_null(room);
    return room;
}

void world_execute(struct world *world)
{
    assert_success(zeCommandListClose(world->list));
    assert_success(zeCommandQueueExecuteCommandLists(world->queue, 1, &world->list, NULL));
    assert_success(zeCommandQueueSynchronize(world->queue, UINT64_MAX));
    assert_success(zeCommandListReset(world->list));
}

static uint64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void world_work(struct world *world, unsigned duration_ms)
{
    const uint64_t end_ms = now_ms() + duration_ms;

    do {
        assert_success(zeCommandListAppendLaunchKernel(world->list, world->kernel, &world->groups,
                                                       NULL, 0, NULL));
        world_execute(world);
    } while (now_ms() < end_ms);
}
