/*
 * Who a work-item is, barriers and fences. A sub-group is a single work-item.
 */
#include "builtin.h"

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

size_t __vgpu_group_items(void)
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
    __vgpu_barrier();
}

void OVERLOAD work_group_barrier(cl_mem_fence_flags flags)
{
    __vgpu_barrier();
}

void OVERLOAD work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __vgpu_barrier();
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

/* Sub-groups of one. */

uint OVERLOAD get_sub_group_size(void)
{
    return 1;
}

uint OVERLOAD get_max_sub_group_size(void)
{
    return 1;
}

uint OVERLOAD get_num_sub_groups(void)
{
    return (uint)__vgpu_group_items();
}

uint OVERLOAD get_enqueued_num_sub_groups(void)
{
    return get_num_sub_groups();
}

uint OVERLOAD get_sub_group_id(void)
{
    return (uint)get_local_linear_id();
}

uint OVERLOAD get_sub_group_local_id(void)
{
    return 0;
}

void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int OVERLOAD sub_group_all(int predicate)
{
    return predicate != 0;
}

int OVERLOAD sub_group_any(int predicate)
{
    return predicate != 0;
}

#define ALONE(T, lowest, highest)                                                                  \
    T OVERLOAD sub_group_broadcast(T x, uint lane) { return x; }                                   \
    T OVERLOAD sub_group_reduce_add(T x) { return x; }                                             \
    T OVERLOAD sub_group_reduce_min(T x) { return x; }                                             \
    T OVERLOAD sub_group_reduce_max(T x) { return x; }                                             \
    T OVERLOAD sub_group_scan_inclusive_add(T x) { return x; }                                     \
    T OVERLOAD sub_group_scan_inclusive_min(T x) { return x; }                                     \
    T OVERLOAD sub_group_scan_inclusive_max(T x) { return x; }                                     \
    T OVERLOAD sub_group_scan_exclusive_add(T x) { return 0; }                                     \
    T OVERLOAD sub_group_scan_exclusive_min(T x) { return highest; }                               \
    T OVERLOAD sub_group_scan_exclusive_max(T x) { return lowest; }

ALONE(int, INT_MIN, INT_MAX)
ALONE(uint, 0, UINT_MAX)
ALONE(long, LONG_MIN, LONG_MAX)
ALONE(ulong, 0, ULONG_MAX)
ALONE(half, -(half)INFINITY, (half)INFINITY)
ALONE(float, -INFINITY, INFINITY)
ALONE(double, -(double)INFINITY, (double)INFINITY)

/* A lane beyond the own one is that of the other value. */
#define SHUFFLE(T)                                                                                 \
    T OVERLOAD intel_sub_group_shuffle(T x, uint lane) { return x; }                               \
    T OVERLOAD intel_sub_group_shuffle_xor(T x, uint mask) { return x; }                           \
    T OVERLOAD intel_sub_group_shuffle_down(T x, T next, uint delta)                               \
    {                                                                                              \
        return delta == 0 ? x : next;                                                              \
    }                                                                                              \
    T OVERLOAD intel_sub_group_shuffle_up(T previous, T x, uint delta)                             \
    {                                                                                              \
        return delta == 0 ? x : previous;                                                          \
    }

EACH_WIDTH(SHUFFLE, int)
EACH_WIDTH(SHUFFLE, uint)
EACH_WIDTH(SHUFFLE, float)
SHUFFLE(long)
SHUFFLE(ulong)
SHUFFLE(half)
SHUFFLE(double)

#define BLOCK(suffix)                                                                              \
    uint OVERLOAD intel_sub_group_block_read##suffix(const global uint *p) { return p[0]; }        \
    uint2 OVERLOAD intel_sub_group_block_read##suffix##2(const global uint *p)                     \
    {                                                                                              \
        return vload2(0, p);                                                                       \
    }                                                                                              \
    uint4 OVERLOAD intel_sub_group_block_read##suffix##4(const global uint *p)                     \
    {                                                                                              \
        return vload4(0, p);                                                                       \
    }                                                                                              \
    uint8 OVERLOAD intel_sub_group_block_read##suffix##8(const global uint *p)                     \
    {                                                                                              \
        return vload8(0, p);                                                                       \
    }                                                                                              \
    void OVERLOAD intel_sub_group_block_write##suffix(global uint *p, uint x) { p[0] = x; }        \
    void OVERLOAD intel_sub_group_block_write##suffix##2(global uint *p, uint2 x)                  \
    {                                                                                              \
        vstore2(x, 0, p);                                                                          \
    }                                                                                              \
    void OVERLOAD intel_sub_group_block_write##suffix##4(global uint *p, uint4 x)                  \
    {                                                                                              \
        vstore4(x, 0, p);                                                                          \
    }                                                                                              \
    void OVERLOAD intel_sub_group_block_write##suffix##8(global uint *p, uint8 x)                  \
    {                                                                                              \
        vstore8(x, 0, p);                                                                          \
    }

BLOCK()
