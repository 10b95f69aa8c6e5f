/*
 * Who a work-item is, barriers, fences and address spaces. Compiled for nvptx64, whose registers say
 * it. The offset of a launch is an argument that zeta-nv-cc adds to the kernels that ask for it.
 */
#include "builtin.h"

#define AXIS(name, register)                                                                       \
    static uint name(uint d)                                                                       \
    {                                                                                              \
        return d == 0   ? (uint)__nvvm_read_ptx_sreg_##register##_x()                              \
               : d == 1 ? (uint)__nvvm_read_ptx_sreg_##register##_y()                              \
                        : (uint)__nvvm_read_ptx_sreg_##register##_z();                             \
    }
AXIS(local_id, tid)
AXIS(local_size, ntid)
AXIS(group_id, ctaid)
AXIS(group_count, nctaid)

/* An argument of the kernel: zeta-nv-cc replaces the call. */
__attribute__((const)) uint __zeta_global_offset(uint d);

/* Beyond three dimensions ids are 0 and sizes are 1. */
#define ID(name, value)                                                                            \
    size_t OVERLOAD name(uint d) { return d < 3 ? (size_t)(value) : 0; }
#define SIZE(name, value)                                                                          \
    size_t OVERLOAD name(uint d) { return d < 3 ? (size_t)(value) : 1; }

ID(get_global_id,
   (size_t)group_id(d) * local_size(d) + local_id(d) + __zeta_global_offset(d))
ID(get_local_id, local_id(d))
ID(get_group_id, group_id(d))
ID(get_global_offset, __zeta_global_offset(d))
SIZE(get_global_size, (size_t)group_count(d) * local_size(d))
SIZE(get_local_size, local_size(d))
SIZE(get_enqueued_local_size, local_size(d))
SIZE(get_num_groups, group_count(d))

/* A launch always has three dimensions: the last one with more than one item counts. */
uint OVERLOAD get_work_dim(void)
{
    return get_global_size(2) > 1 ? 3 : get_global_size(1) > 1 ? 2 : 1;
}

size_t OVERLOAD get_local_linear_id(void)
{
    return (local_id(2) * local_size(1) + local_id(1)) * local_size(0) + local_id(0);
}

size_t __zeta_group_items(void)
{
    return local_size(0) * local_size(1) * local_size(2);
}

size_t OVERLOAD get_global_linear_id(void)
{
    size_t id[3];

    for (uint d = 0; d < 3; d++)
        id[d] = (size_t)group_id(d) * local_size(d) + local_id(d);
    return (id[2] * get_global_size(1) + id[1]) * get_global_size(0) + id[0];
}

/* A barrier orders shared and global memory for the items of the group. */

void OVERLOAD barrier(cl_mem_fence_flags flags)
{
    __zeta_barrier();
}

void OVERLOAD work_group_barrier(cl_mem_fence_flags flags)
{
    __zeta_barrier();
}

/* Orders the memory of those in the scope; nothing is to be ordered for one item alone. */
static void fence(memory_scope scope)
{
    if (scope == memory_scope_all_svm_devices)
        __nvvm_membar_sys();
    else if (scope == memory_scope_device)
        __nvvm_membar_gl();
    else if (scope != memory_scope_work_item)
        __nvvm_membar_cta();
}

void OVERLOAD work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    if (scope == memory_scope_all_svm_devices || scope == memory_scope_device)
        fence(scope);
    __zeta_barrier();
}

void OVERLOAD mem_fence(cl_mem_fence_flags flags)
{
    __nvvm_membar_cta();
}

void OVERLOAD read_mem_fence(cl_mem_fence_flags flags)
{
    __nvvm_membar_cta();
}

void OVERLOAD write_mem_fence(cl_mem_fence_flags flags)
{
    __nvvm_membar_cta();
}

void OVERLOAD atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                     memory_scope scope)
{
    if (order != memory_order_relaxed)
        fence(scope);
}

/* What atomic.cl has before an operation that releases, and behind one that acquires. */

void __zeta_fence_before(memory_order order, memory_scope scope)
{
    if (order != memory_order_relaxed && order != memory_order_acquire)
        fence(scope);
}

void __zeta_fence_behind(memory_order order, memory_scope scope)
{
    if (order != memory_order_relaxed && order != memory_order_release)
        fence(scope);
}

/* Which memory a generic pointer points to (machine.c). */

int __zeta_is_global(ulong address), __zeta_is_local(ulong address);
int __zeta_is_private(ulong address);

global void *__to_global(generic void *p)
{
    return __zeta_is_global((ulong)p) ? (global void *)p : 0;
}

local void *__to_local(generic void *p)
{
    return __zeta_is_local((ulong)p) ? (local void *)p : 0;
}

private void *__to_private(generic void *p)
{
    return __zeta_is_private((ulong)p) ? (private void *)p : 0;
}

cl_mem_fence_flags OVERLOAD get_fence(const generic void *p)
{
    return __zeta_is_local((ulong)p) ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE;
}

cl_mem_fence_flags OVERLOAD get_fence(generic void *p)
{
    return get_fence((const generic void *)p);
}
