/* The emulated driver xe: which call is which. */

#include "xe_priv.h"

#include <errno.h>

static long observe(struct kmd_call *call, uint64_t argument)
{
    struct kmd_xe_observation_param param;
    if (kmd_copy_in(&param, argument, sizeof(param)))
        return -EFAULT;
    if (param.extensions)
        return -EINVAL;
    if (param.type == KMD_XE_TYPE_EU_STALL)
        return param.op == KMD_XE_OP_STREAM_OPEN ? kmd_xe_stall_open(call, param.param) : -EINVAL;
    if (param.type != KMD_XE_TYPE_OA)
        return -EINVAL;
    switch (param.op) {
    case KMD_XE_OP_STREAM_OPEN:
        return kmd_xe_oa_open(call, param.param);
    case KMD_XE_OP_ADD_CONFIG:
        return kmd_xe_config_add(call->gpu, param.param);
    case KMD_XE_OP_REMOVE_CONFIG:
        return kmd_xe_config_remove(call->gpu, param.param);
    default:
        return -EINVAL;
    }
}

static long xe_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    switch (request) {
    case KMD_XE_DEVICE_QUERY:
        return kmd_xe_device_query(call->gpu, argument);
    case KMD_XE_EXEC_QUEUE_CREATE:
        return kmd_xe_queue_create(call->gpu, argument);
    case KMD_XE_EXEC_QUEUE_DESTROY:
        return kmd_xe_queue_destroy(call->gpu, argument);
    case KMD_XE_OBSERVATION:
        return observe(call, argument);
    default:
        return -ENOTTY;
    }
}

static bool is_stall(const struct kmd_unit *unit)
{
    return unit->kind == KMD_UNIT_EU_STALL;
}

static long stream_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument)
{
    return is_stall(call->unit) ? kmd_xe_stall_ioctl(call, request, argument)
                                : kmd_xe_oa_ioctl(call, request, argument);
}

static ssize_t stream_read(struct kmd_call *call, uint64_t buffer, size_t bytes)
{
    return is_stall(call->unit) ? kmd_xe_stall_read(call, buffer, bytes)
                                : kmd_xe_oa_read(call, buffer, bytes);
}

static bool stream_look(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    return is_stall(unit) ? kmd_xe_stall_look(gpu, unit) : kmd_xe_oa_look(gpu, unit);
}

static int stream_mmap(struct kmd_call *call, void *address, size_t bytes, int protection,
                       int flags, int64_t offset, void **out_address)
{
    if (is_stall(call->unit))
        return -ENODEV;
    return kmd_xe_oa_mmap(call, address, bytes, protection, flags, offset, out_address);
}

const struct kmd_driver kmd_xe = {
    .name = "xe",
    .start = kmd_xe_start,
    .ioctl = xe_ioctl,
    .stream_ioctl = stream_ioctl,
    .stream_read = stream_read,
    .stream_look = stream_look,
    .stream_mmap = stream_mmap,
};
