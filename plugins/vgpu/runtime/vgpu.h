#ifndef ZETA_PLUGINS_VGPU_RUNTIME_VGPU_H
#define ZETA_PLUGINS_VGPU_RUNTIME_VGPU_H

/*
 * Device runtime: what a kernel in C may use. Compiled for RV64 only.
 *
 *     #include "vgpu.h"
 *
 *     void scale(float *data, float factor)
 *     {
 *         data[vgpu_global_id(0)] *= factor;
 *     }
 *     VGPU_KERNEL(scale, ARG_GLOBAL, ARG_VALUE(float));
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "vgpu_abi.h"

/** A variable that each work-group has once: VGPU_LOCAL float tile[16][16]; */
#define VGPU_LOCAL static __attribute__((section(".bss.slm"), used))

/** What this work-item knows about itself. */
static inline const struct vgpu_thread *vgpu_thread(void)
{
    const struct vgpu_thread *thread;

    __asm__("mv %0, tp" : "=r"(thread));
    return thread;
}

/* Ids and sizes; d is the dimension, 0..2. */
#define VGPU_NUMBER(name)                                                                          \
    static inline size_t vgpu_##name(unsigned d)                                                   \
    {                                                                                              \
        return vgpu_thread()->name[d];                                                             \
    }

VGPU_NUMBER(local_id)
VGPU_NUMBER(group_id)
VGPU_NUMBER(local_size)
VGPU_NUMBER(group_count)
VGPU_NUMBER(global_size)
VGPU_NUMBER(global_offset)
#undef VGPU_NUMBER

static inline size_t vgpu_global_id(unsigned d)
{
    const struct vgpu_thread *thread = vgpu_thread();

    return thread->group_id[d] * thread->local_size[d] + thread->local_id[d] +
           thread->global_offset[d];
}

/** Waits for all work-items of the group; orders all memory. */
static inline void vgpu_barrier(void)
{
    register long flags __asm__("a0") = 0;
    register long number __asm__("a7") = VGPU_CALL_BARRIER;

    __asm__ volatile("ecall" : "+r"(flags) : "r"(number) : "memory");
}

/** Ends the launch with a fault that quotes @message. */
static inline void __attribute__((noreturn)) vgpu_abort(const char *message)
{
    register const char *text __asm__("a0") = message;
    register long number __asm__("a7") = VGPU_CALL_ABORT;

    __asm__ volatile("ecall" : : "r"(text), "r"(number) : "memory");
    __builtin_unreachable();
}

/** Prints on the owner of the device; returns the number of characters. */
int vgpu_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Atomics on global or shared local memory; all return the old value. */

static inline uint32_t vgpu_atomic_add(uint32_t *target, uint32_t value)
{
    return __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t vgpu_atomic_add64(uint64_t *target, uint64_t value)
{
    return __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t vgpu_atomic_exchange(uint32_t *target, uint32_t value)
{
    return __atomic_exchange_n(target, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t vgpu_atomic_compare_exchange(uint32_t *target, uint32_t expected,
                                                    uint32_t value)
{
    (void)__atomic_compare_exchange_n(target, &expected, value, 0, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST);
    return expected;
}

/* Extended math unit. */

static inline float vgpu_math(enum vgpu_math function, float first, float second)
{
    register float a __asm__("fa0") = first;
    register float b __asm__("fa1") = second;
    register long number __asm__("a7") = VGPU_CALL_MATH32 + (long)function;

    __asm__ volatile("ecall" : "+f"(a) : "f"(b), "r"(number));
    return a;
}

static inline double vgpu_math64(enum vgpu_math function, double first, double second)
{
    register double a __asm__("fa0") = first;
    register double b __asm__("fa1") = second;
    register long number __asm__("a7") = VGPU_CALL_MATH64 + (long)function;

    __asm__ volatile("ecall" : "+f"(a) : "f"(b), "r"(number));
    return a;
}

/*
 * Declaration of kernels: VGPU_KERNEL(name, arguments...) after the function, up to 12 arguments.
 * Makes the entry stub, which fetches the arguments from the block, and the record in .vgpu.info
 * by which the loader finds both. VGPU_KERNEL_SIZED also fixes the size of its groups.
 */
#define ARG_GLOBAL (VGPU_ARGUMENT_GLOBAL, void *)
#define ARG_LOCAL (VGPU_ARGUMENT_LOCAL, void *)
#define ARG_VALUE(type) (VGPU_ARGUMENT_VALUE, type)

#define VGPU_KERNEL(name, ...) VGPU_KERNEL_SIZED(name, 0, 0, 0, ##__VA_ARGS__)

/* Says, where there is debug information, that nothing called the entry stub. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define VGPU_END_BACKTRACES __asm__ volatile(".cfi_undefined ra")
#else
#define VGPU_END_BACKTRACES (void)0
#endif

#define VGPU_KERNEL_SIZED(name, x, y, z, ...)                                                      \
    struct vgpu_block_##name {                                                                     \
        VGPU_EACH(VGPU_MEMBER, name, ##__VA_ARGS__)                                                \
    };                                                                                             \
    void vgpu_entry_##name(const struct vgpu_block_##name *block);                                 \
    void vgpu_entry_##name(const struct vgpu_block_##name *block)                                  \
    {                                                                                              \
        (void)block;                                                                               \
        VGPU_END_BACKTRACES;                                                                       \
        name(VGPU_REST(0 VGPU_EACH(VGPU_PASS, name, ##__VA_ARGS__)));                              \
    }                                                                                              \
    static struct {                                                                                \
        struct vgpu_kernel_info info;                                                              \
        struct vgpu_argument_info arguments[VGPU_COUNT(0, ##__VA_ARGS__)];                         \
    } vgpu_info_##name __attribute__((section(".vgpu.info"), used, aligned(8))) = {                \
        {VGPU_INFO_MAGIC,                                                                          \
         sizeof(vgpu_info_##name),                                                                 \
         (uintptr_t) #name,                                                                        \
         (uintptr_t)vgpu_entry_##name,                                                             \
         {x, y, z},                                                                                \
         0,                                                                                        \
         VGPU_COUNT(0, ##__VA_ARGS__),                                                             \
         sizeof(struct vgpu_block_##name)},                                                        \
        {VGPU_EACH(VGPU_DESCRIBE, name, ##__VA_ARGS__)}}

/* Inside of the above: m(i, name, argument) for each argument. */
#define VGPU_TYPE(argument) VGPU_TYPE_ argument
#define VGPU_TYPE_(kind, type) type
#define VGPU_KIND(argument) VGPU_KIND_ argument
#define VGPU_KIND_(kind, type) kind
#define VGPU_MEMBER(i, name, argument) VGPU_TYPE(argument) a##i;
#define VGPU_PASS(i, name, argument) , block->a##i
#define VGPU_REST(...) VGPU_REST_(__VA_ARGS__)
#define VGPU_REST_(first, ...) __VA_ARGS__
#define VGPU_DESCRIBE(i, name, argument)                                                           \
    {VGPU_KIND(argument), sizeof(VGPU_TYPE(argument)), offsetof(struct vgpu_block_##name, a##i), 0},

#define VGPU_COUNT(...) VGPU_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define VGPU_COUNT_(zero, a, b, c, d, e, f, g, h, i, j, k, l, count, ...) count
#define VGPU_EACH(m, name, ...)                                                                    \
    VGPU_JOIN(VGPU_EACH_, VGPU_COUNT(0, ##__VA_ARGS__))(m, name, ##__VA_ARGS__)
#define VGPU_JOIN(left, right) VGPU_JOIN_(left, right)
#define VGPU_JOIN_(left, right) left##right
/* clang-format off */
#define VGPU_EACH_0(m, n)
#define VGPU_EACH_1(m, n, a) m(0, n, a)
#define VGPU_EACH_2(m, n, a, b) m(0, n, a) m(1, n, b)
#define VGPU_EACH_3(m, n, a, b, c) m(0, n, a) m(1, n, b) m(2, n, c)
#define VGPU_EACH_4(m, n, a, b, c, d) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d)
#define VGPU_EACH_5(m, n, a, b, c, d, e) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e)
#define VGPU_EACH_6(m, n, a, b, c, d, e, f) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f)
#define VGPU_EACH_7(m, n, a, b, c, d, e, f, g) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f) m(6, n, g)
#define VGPU_EACH_8(m, n, a, b, c, d, e, f, g, h) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f) m(6, n, g) m(7, n, h)
#define VGPU_EACH_9(m, n, a, b, c, d, e, f, g, h, i) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f) m(6, n, g) m(7, n, h) m(8, n, i)
#define VGPU_EACH_10(m, n, a, b, c, d, e, f, g, h, i, j) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f) m(6, n, g) m(7, n, h) m(8, n, i) m(9, n, j)
#define VGPU_EACH_11(m, n, a, b, c, d, e, f, g, h, i, j, k) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f) m(6, n, g) m(7, n, h) m(8, n, i) m(9, n, j) m(10, n, k)
#define VGPU_EACH_12(m, n, a, b, c, d, e, f, g, h, i, j, k, l) m(0, n, a) m(1, n, b) m(2, n, c) m(3, n, d) m(4, n, e) m(5, n, f) m(6, n, g) m(7, n, h) m(8, n, i) m(9, n, j) m(10, n, k) m(11, n, l)
/* clang-format on */

#endif
