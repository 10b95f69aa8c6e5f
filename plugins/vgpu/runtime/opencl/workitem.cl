/* Who a work-item is, barriers, fences and address spaces. */
#include "builtin.h"

#include "../vgpu_abi.h"

const private struct vgpu_thread *__vgpu_thread(void);

/* Beyond the dimensions of a launch ids are 0 and sizes are 1. */
#define ID(name, value)                                                                            \
    size_t OVERLOAD name(uint d)                                                                   \
    {                                                                                              \
        const private struct vgpu_thread *thread = __vgpu_thread();                                \
        return d < 3 ? (value) : 0;                                                                \
    }
#define SIZE(name, value)                                                                          \
    size_t OVERLOAD name(uint d)                                                                   \
    {                                                                                              \
        const private struct vgpu_thread *thread = __vgpu_thread();                                \
        return d < 3 ? (value) : 1;                                                                \
    }

ID(get_global_id,
   thread->group_id[d] * thread->local_size[d] + thread->local_id[d] + thread->global_offset[d])
ID(get_local_id, thread->local_id[d])
ID(get_group_id, thread->group_id[d])
ID(get_global_offset, thread->global_offset[d])
SIZE(get_global_size, thread->global_size[d])
SIZE(get_local_size, thread->local_size[d])
SIZE(get_enqueued_local_size, thread->local_size[d])
SIZE(get_num_groups, thread->group_count[d])

uint OVERLOAD get_work_dim(void)
{
    return __vgpu_thread()->work_dimensions;
}

size_t OVERLOAD get_local_linear_id(void)
{
    const private struct vgpu_thread *thread = __vgpu_thread();

    return (thread->local_id[2] * thread->local_size[1] + thread->local_id[1]) *
               thread->local_size[0] +
           thread->local_id[0];
}

size_t __zeta_group_items(void)
{
    const private struct vgpu_thread *thread = __vgpu_thread();

    return thread->local_size[0] * thread->local_size[1] * thread->local_size[2];
}

size_t OVERLOAD get_global_linear_id(void)
{
    const private struct vgpu_thread *thread = __vgpu_thread();
    size_t id[3];

    for (uint d = 0; d < 3; d++)
        id[d] = thread->group_id[d] * thread->local_size[d] + thread->local_id[d];
    return (id[2] * thread->global_size[1] + id[1]) * thread->global_size[0] + id[0];
}

/* A barrier orders all memory for everyone. */

void OVERLOAD barrier(cl_mem_fence_flags flags)
{
    __zeta_barrier();
}

void OVERLOAD work_group_barrier(cl_mem_fence_flags flags)
{
    __zeta_barrier();
}

void OVERLOAD work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __zeta_barrier();
}

void OVERLOAD mem_fence(cl_mem_fence_flags flags)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void OVERLOAD read_mem_fence(cl_mem_fence_flags flags)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

void OVERLOAD write_mem_fence(cl_mem_fence_flags flags)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

void OVERLOAD atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                     memory_scope scope)
{
    if (order != memory_order_relaxed)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * Which memory a generic pointer points to: local and private memory are windows whose bounds are
 * in the thread block, all else is global.
 */
static bool is_local(ulong address)
{
    const private struct vgpu_thread *thread = __vgpu_thread();

    return address - thread->local_begin < thread->local_bytes;
}

static bool is_private(ulong address)
{
    const private struct vgpu_thread *thread = __vgpu_thread();

    return address - thread->private_begin < thread->private_bytes;
}

global void *__to_global(generic void *p)
{
    return is_local((ulong)p) || is_private((ulong)p) ? 0 : (global void *)p;
}

local void *__to_local(generic void *p)
{
    return is_local((ulong)p) ? (local void *)p : 0;
}

private void *__to_private(generic void *p)
{
    return is_private((ulong)p) ? (private void *)p : 0;
}

cl_mem_fence_flags OVERLOAD get_fence(const generic void *p)
{
    return is_local((ulong)p) ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE;
}

cl_mem_fence_flags OVERLOAD get_fence(generic void *p)
{
    return get_fence((const generic void *)p);
}
