/*
 * Atomics. Compiled for a processor where they are instructions; for spir64 they would be calls.
 *
 * An operation is ordered or relaxed. Ordered ones are sequentially consistent, in the scope of the system. With
 * FENCES the device makes the order of fences before and behind, and the ordered operation is that for all devices.
 */
#include "builtin.h"

#define ORDERED memory_order_seq_cst, memory_scope_all_svm_devices
#define RELAXED memory_order_relaxed, memory_scope_all_svm_devices
#ifdef FENCES
#define IS_ORDERED(order, scope) ((scope) == memory_scope_all_svm_devices)
void __zeta_fence_before(memory_order order, memory_scope scope);
void __zeta_fence_behind(memory_order order, memory_scope scope);
#else
#define IS_ORDERED(order, scope) ((order) != memory_order_relaxed)
#define __zeta_fence_before(order, scope)
#define __zeta_fence_behind(order, scope)
#endif

#define EACH_SPACE(m, ...) m(global, ##__VA_ARGS__) m(local, ##__VA_ARGS__) m(generic, ##__VA_ARGS__)

/* OpenCL 1: atomic_ on 32 bits, atom_ on 32 and 64 bits, on pointers to plain numbers; no order. */

#define FETCH(prefix, space, T, name, operation)                                                   \
    T OVERLOAD prefix##_##name(volatile space T *p, T value)                                       \
    {                                                                                              \
        return __atomic_fetch_##operation(p, value, __ATOMIC_RELAXED);                             \
    }
#define CLASSIC(space, prefix, T)                                                                  \
    FETCH(prefix, space, T, add, add)                                                              \
    FETCH(prefix, space, T, sub, sub)                                                              \
    FETCH(prefix, space, T, and, and)                                                              \
    FETCH(prefix, space, T, or, or)                                                                \
    FETCH(prefix, space, T, xor, xor)                                                              \
    FETCH(prefix, space, T, min, min)                                                              \
    FETCH(prefix, space, T, max, max)                                                              \
    T OVERLOAD prefix##_inc(volatile space T *p)                                                   \
    {                                                                                              \
        return __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);                                         \
    }                                                                                              \
    T OVERLOAD prefix##_dec(volatile space T *p)                                                   \
    {                                                                                              \
        return __atomic_fetch_sub(p, 1, __ATOMIC_RELAXED);                                         \
    }                                                                                              \
    T OVERLOAD prefix##_xchg(volatile space T *p, T value)                                         \
    {                                                                                              \
        return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);                                    \
    }                                                                                              \
    T OVERLOAD prefix##_cmpxchg(volatile space T *p, T expected, T value)                          \
    {                                                                                              \
        (void)__atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED,            \
                                          __ATOMIC_RELAXED);                                       \
        return expected;                                                                           \
    }
EACH_SPACE(CLASSIC, atomic, int)
EACH_SPACE(CLASSIC, atomic, uint)
EACH_SPACE(CLASSIC, atom, int)
EACH_SPACE(CLASSIC, atom, uint)
EACH_SPACE(CLASSIC, atom, long)
EACH_SPACE(CLASSIC, atom, ulong)

#define EXCHANGE_FLOAT(space)                                                                      \
    float OVERLOAD atomic_xchg(volatile space float *p, float value)                               \
    {                                                                                              \
        return as_float(atomic_xchg((volatile space int *)p, as_int(value)));                      \
    }
EACH_SPACE(EXCHANGE_FLOAT)

/*
 * OpenCL 2: on atomic types, each without an order, with an order, and with order and scope; what is not said is
 * sequentially consistent, for the device. FORMS2 makes them from an operation that is ordered and one that is relaxed.
 */
#define FORMS2(R, function, name, P, T)                                                            \
    R OVERLOAD function##_explicit(P p, T value, memory_order order, memory_scope scope)           \
    {                                                                                              \
        R old;                                                                                     \
        __zeta_fence_before(order, scope);                                                         \
        old = IS_ORDERED(order, scope) ? ordered_##name(p, value) : relaxed_##name(p, value);      \
        __zeta_fence_behind(order, scope);                                                         \
        return old;                                                                                \
    }                                                                                              \
    R OVERLOAD function##_explicit(P p, T value, memory_order order)                               \
    {                                                                                              \
        return function##_explicit(p, value, order, memory_scope_device);                          \
    }                                                                                              \
    R OVERLOAD function(P p, T value)                                                              \
    {                                                                                              \
        return function##_explicit(p, value, memory_order_seq_cst, memory_scope_device);           \
    }

#define FETCH_ATOMIC(space, A, T, name, U)                                                         \
    static T OVERLOAD ordered_##name(volatile space A *p, U value)                                 \
    {                                                                                              \
        return (T)__opencl_atomic_fetch_##name(p, value, ORDERED);                                 \
    }                                                                                              \
    static T OVERLOAD relaxed_##name(volatile space A *p, U value)                                 \
    {                                                                                              \
        return (T)__opencl_atomic_fetch_##name(p, value, RELAXED);                                 \
    }                                                                                              \
    FORMS2(T, atomic_fetch_##name, name, volatile space A *, U)

#define LOAD_STORE(space, A, T)                                                                    \
    void OVERLOAD atomic_init(volatile space A *p, T value)                                        \
    {                                                                                              \
        __opencl_atomic_store(p, value, RELAXED);                                                  \
    }                                                                                              \
    void OVERLOAD atomic_store_explicit(volatile space A *p, T value, memory_order order,          \
                                        memory_scope scope)                                        \
    {                                                                                              \
        __zeta_fence_before(order, scope);                                                         \
        if (IS_ORDERED(order, scope))                                                              \
            __opencl_atomic_store(p, value, ORDERED);                                              \
        else                                                                                       \
            __opencl_atomic_store(p, value, RELAXED);                                              \
    }                                                                                              \
    void OVERLOAD atomic_store_explicit(volatile space A *p, T value, memory_order order)          \
    {                                                                                              \
        atomic_store_explicit(p, value, order, memory_scope_device);                               \
    }                                                                                              \
    void OVERLOAD atomic_store(volatile space A *p, T value)                                       \
    {                                                                                              \
        atomic_store_explicit(p, value, memory_order_seq_cst, memory_scope_device);                \
    }                                                                                              \
    T OVERLOAD atomic_load_explicit(volatile space A *p, memory_order order, memory_scope scope)   \
    {                                                                                              \
        T value;                                                                                   \
        __zeta_fence_before(order, scope);                                                         \
        value = IS_ORDERED(order, scope) ? __opencl_atomic_load(p, ORDERED)                        \
                                         : __opencl_atomic_load(p, RELAXED);                       \
        __zeta_fence_behind(order, scope);                                                         \
        return value;                                                                              \
    }                                                                                              \
    T OVERLOAD atomic_load_explicit(volatile space A *p, memory_order order)                       \
    {                                                                                              \
        return atomic_load_explicit(p, order, memory_scope_device);                                \
    }                                                                                              \
    T OVERLOAD atomic_load(volatile space A *p)                                                    \
    {                                                                                              \
        return atomic_load_explicit(p, memory_order_seq_cst, memory_scope_device);                 \
    }                                                                                              \
    static T OVERLOAD ordered_exchange(volatile space A *p, T value)                               \
    {                                                                                              \
        return __opencl_atomic_exchange(p, value, ORDERED);                                        \
    }                                                                                              \
    static T OVERLOAD relaxed_exchange(volatile space A *p, T value)                               \
    {                                                                                              \
        return __opencl_atomic_exchange(p, value, RELAXED);                                        \
    }                                                                                              \
    FORMS2(T, atomic_exchange, exchange, volatile space A *, T)

/* The number that was found is stored where the expected one was. */
#define COMPARE(space, other, A, T, strength)                                                      \
    bool OVERLOAD atomic_compare_exchange_##strength##_explicit(                                   \
        volatile space A *p, other T *expected, T value, memory_order success,                     \
        memory_order failure, memory_scope scope)                                                  \
    {                                                                                              \
        private T found = *expected;                                                               \
        bool done;                                                                                 \
        __zeta_fence_before(success, scope);                                                       \
        if (IS_ORDERED(success, scope))                                                            \
            done = __opencl_atomic_compare_exchange_strong(p, &found, value, memory_order_seq_cst, \
                                                           ORDERED);                               \
        else                                                                                       \
            done = __opencl_atomic_compare_exchange_strong(p, &found, value, memory_order_relaxed, \
                                                           RELAXED);                               \
        __zeta_fence_behind(success, scope);                                                       \
        if (!done)                                                                                 \
            *expected = found;                                                                     \
        return done;                                                                               \
    }                                                                                              \
    bool OVERLOAD atomic_compare_exchange_##strength##_explicit(                                   \
        volatile space A *p, other T *expected, T value, memory_order success,                     \
        memory_order failure)                                                                      \
    {                                                                                              \
        return atomic_compare_exchange_##strength##_explicit(p, expected, value, success, failure, \
                                                             memory_scope_device);                 \
    }                                                                                              \
    bool OVERLOAD atomic_compare_exchange_##strength(volatile space A *p, other T *expected,       \
                                                     T value)                                      \
    {                                                                                              \
        return atomic_compare_exchange_##strength##_explicit(                                      \
            p, expected, value, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);  \
    }
#define COMPARES(space, A, T)                                                                      \
    COMPARE(space, private, A, T, strong)                                                          \
    COMPARE(space, private, A, T, weak)                                                            \
    COMPARE(space, global, A, T, strong)                                                           \
    COMPARE(space, global, A, T, weak)                                                             \
    COMPARE(space, local, A, T, strong)                                                            \
    COMPARE(space, local, A, T, weak)                                                              \
    COMPARE(space, generic, A, T, strong)                                                          \
    COMPARE(space, generic, A, T, weak)

#define ATOMIC_TYPE(space, A, T)                                                                   \
    LOAD_STORE(space, A, T)                                                                        \
    COMPARES(space, A, T)
#define ATOMIC_INTEGER(space, A, T)                                                                \
    ATOMIC_TYPE(space, A, T)                                                                       \
    FETCH_ATOMIC(space, A, T, add, T)                                                              \
    FETCH_ATOMIC(space, A, T, sub, T)                                                              \
    FETCH_ATOMIC(space, A, T, and, T)                                                              \
    FETCH_ATOMIC(space, A, T, or, T)                                                               \
    FETCH_ATOMIC(space, A, T, xor, T)                                                              \
    FETCH_ATOMIC(space, A, T, min, T)                                                              \
    FETCH_ATOMIC(space, A, T, max, T)
/* Pointers as integers: the operand may be of the other signedness. */
#define ATOMIC_POINTER(space, A, T, U)                                                             \
    FETCH_ATOMIC(space, A, T, add, U)                                                              \
    FETCH_ATOMIC(space, A, T, sub, U)                                                              \
    FETCH_ATOMIC(space, A, T, and, U)                                                              \
    FETCH_ATOMIC(space, A, T, or, U)                                                               \
    FETCH_ATOMIC(space, A, T, xor, U)                                                              \
    FETCH_ATOMIC(space, A, T, min, U)                                                              \
    FETCH_ATOMIC(space, A, T, max, U)

/* Least and most of floating point: tried again until nobody came between. */
#define FETCH_REAL(space, A, T, name, expression)                                                  \
    static T OVERLOAD ordered_##name(volatile space A *p, T b)                                     \
    {                                                                                              \
        private T a = __opencl_atomic_load(p, RELAXED);                                            \
        while (!__opencl_atomic_compare_exchange_strong(p, &a, expression, memory_order_seq_cst,   \
                                                        ORDERED))                                  \
            ;                                                                                      \
        return a;                                                                                  \
    }                                                                                              \
    static T OVERLOAD relaxed_##name(volatile space A *p, T b)                                     \
    {                                                                                              \
        private T a = __opencl_atomic_load(p, RELAXED);                                            \
        while (!__opencl_atomic_compare_exchange_strong(p, &a, expression, memory_order_relaxed,   \
                                                        RELAXED))                                  \
            ;                                                                                      \
        return a;                                                                                  \
    }                                                                                              \
    FORMS2(T, atomic_fetch_##name, name, volatile space A *, T)
#define ATOMIC_REAL(space, A, T)                                                                   \
    ATOMIC_TYPE(space, A, T)                                                                       \
    FETCH_ATOMIC(space, A, T, add, T)                                                              \
    FETCH_ATOMIC(space, A, T, sub, T)                                                              \
    FETCH_REAL(space, A, T, min, __builtin_fmin(a, b))                                             \
    FETCH_REAL(space, A, T, max, __builtin_fmax(a, b))
EACH_SPACE(ATOMIC_INTEGER, atomic_int, int)
EACH_SPACE(ATOMIC_INTEGER, atomic_uint, uint)
EACH_SPACE(ATOMIC_INTEGER, atomic_long, long)
EACH_SPACE(ATOMIC_INTEGER, atomic_ulong, ulong)
EACH_SPACE(ATOMIC_POINTER, atomic_ulong, ulong, long)
EACH_SPACE(ATOMIC_POINTER, atomic_long, long, ulong)
EACH_SPACE(ATOMIC_REAL, atomic_float, float)
EACH_SPACE(ATOMIC_REAL, atomic_double, double)

/* A flag is an atomic_int: 0 or 1. */
#define FLAG(space)                                                                                \
    bool OVERLOAD atomic_flag_test_and_set_explicit(volatile space atomic_flag *p,                 \
                                                    memory_order order, memory_scope scope)        \
    {                                                                                              \
        bool was_set;                                                                              \
        __zeta_fence_before(order, scope);                                                         \
        was_set = IS_ORDERED(order, scope) ? __opencl_atomic_exchange(p, 1, ORDERED) != 0          \
                                           : __opencl_atomic_exchange(p, 1, RELAXED) != 0;         \
        __zeta_fence_behind(order, scope);                                                         \
        return was_set;                                                                            \
    }                                                                                              \
    bool OVERLOAD atomic_flag_test_and_set_explicit(volatile space atomic_flag *p,                 \
                                                    memory_order order)                            \
    {                                                                                              \
        return atomic_flag_test_and_set_explicit(p, order, memory_scope_device);                   \
    }                                                                                              \
    bool OVERLOAD atomic_flag_test_and_set(volatile space atomic_flag *p)                          \
    {                                                                                              \
        return atomic_flag_test_and_set_explicit(p, memory_order_seq_cst, memory_scope_device);    \
    }                                                                                              \
    void OVERLOAD atomic_flag_clear_explicit(volatile space atomic_flag *p, memory_order order,    \
                                             memory_scope scope)                                   \
    {                                                                                              \
        __zeta_fence_before(order, scope);                                                         \
        if (IS_ORDERED(order, scope))                                                              \
            __opencl_atomic_store(p, 0, ORDERED);                                                  \
        else                                                                                       \
            __opencl_atomic_store(p, 0, RELAXED);                                                  \
    }                                                                                              \
    void OVERLOAD atomic_flag_clear_explicit(volatile space atomic_flag *p, memory_order order)    \
    {                                                                                              \
        atomic_flag_clear_explicit(p, order, memory_scope_device);                                 \
    }                                                                                              \
    void OVERLOAD atomic_flag_clear(volatile space atomic_flag *p)                                 \
    {                                                                                              \
        atomic_flag_clear_explicit(p, memory_order_seq_cst, memory_scope_device);                  \
    }
EACH_SPACE(FLAG)
