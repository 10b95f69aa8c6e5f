/*
 * Exec queues, as far as streams refer to them: on which engines one runs. They live in the GPU, so
 * a client that ends without destroying its own leaves them there.
 */

#include "xe_priv.h"

#include <errno.h>

/* A queue is one word: in use, class, GT, width. */
static uint64_t pack(const struct kmd_xe_queue *queue)
{
    return UINT64_C(1) << 63 | (uint64_t)queue->width << 32 | (uint64_t)queue->gt << 16 |
           queue->engine_class;
}

/* The engines it may run on: all of one class on one GT. */
static int read_engines(const struct kmd_gpu *gpu, const struct kmd_xe_exec_queue_create *create,
                        struct kmd_xe_queue *out_queue)
{
    uint32_t count = (uint32_t)create->width * create->num_placements;
    for (uint32_t i = 0; i < count; i++) {
        struct kmd_xe_engine engine;
        if (kmd_copy_in(&engine, create->instances + i * sizeof(engine), sizeof(engine)))
            return -EFAULT;
        if (engine.pad || !kmd_xe_engine(gpu, engine.engine_class, engine.instance, engine.gt_id))
            return -EINVAL;
        if (i > 0 &&
            (engine.engine_class != out_queue->engine_class || engine.gt_id != out_queue->gt))
            return -EINVAL;
        out_queue->engine_class = engine.engine_class;
        out_queue->gt = engine.gt_id;
    }
    return 0;
}

long kmd_xe_queue_create(struct kmd_gpu *gpu, uint64_t argument)
{
    struct kmd_xe_exec_queue_create create;
    if (kmd_copy_in(&create, argument, sizeof(create)))
        return -EFAULT;
    if (create.flags || create.extensions || create.reserved[0] || create.reserved[1])
        return -EINVAL;
    if (create.width == 0 || create.num_placements == 0 ||
        (uint32_t)create.width * create.num_placements > KMD_ENGINES)
        return -EINVAL;
    struct kmd_xe_queue queue = {.width = create.width};
    int status = read_engines(gpu, &create, &queue);
    if (status)
        return status;
    for (uint32_t i = 0; i < KMD_PRIVATE; i++) {
        if (gpu->driver[i])
            continue;
        create.exec_queue_id = i + 1;
        if (kmd_copy_out(argument, &create, sizeof(create)))
            return -EFAULT;
        gpu->driver[i] = pack(&queue);
        return 0;
    }
    return -ENOMEM;
}

long kmd_xe_queue_destroy(struct kmd_gpu *gpu, uint64_t argument)
{
    struct kmd_xe_destroy destroy;
    if (kmd_copy_in(&destroy, argument, sizeof(destroy)))
        return -EFAULT;
    if (destroy.pad || destroy.reserved[0] || destroy.reserved[1])
        return -EINVAL;
    struct kmd_xe_queue queue;
    if (!kmd_xe_queue(gpu, destroy.id, &queue))
        return -ENOENT;
    gpu->driver[destroy.id - 1] = 0;
    return 0;
}

bool kmd_xe_queue(const struct kmd_gpu *gpu, uint64_t id, struct kmd_xe_queue *out_queue)
{
    if (id == 0 || id > KMD_PRIVATE || !gpu->driver[id - 1])
        return false;
    uint64_t word = gpu->driver[id - 1];
    *out_queue = (struct kmd_xe_queue){.engine_class = (uint16_t)word,
                                       .gt = (uint16_t)(word >> 16),
                                       .width = (uint32_t)(word >> 32) & 0xffff};
    return true;
}
