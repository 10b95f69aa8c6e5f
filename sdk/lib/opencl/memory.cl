/* vload and vstore, copies by a whole work-group, prefetch. */
#include "builtin.h"

/*
 * The pointer needs the alignment of an element only. Three components are loaded one by one: a
 * vector of three is as long as one of four.
 */
#define LOAD(T, n, space)                                                                          \
    T##n OVERLOAD vload##n(size_t i, const space T *p)                                             \
    {                                                                                              \
        typedef T unaligned __attribute__((ext_vector_type(n), aligned(sizeof(T))));               \
        return *(const space unaligned *)(p + i * n);                                              \
    }
#define LOADS(T, space)                                                                            \
    LOAD(T, 2, space)                                                                              \
    LOAD(T, 4, space)                                                                              \
    LOAD(T, 8, space)                                                                              \
    LOAD(T, 16, space)                                                                             \
    T##3 OVERLOAD vload3(size_t i, const space T *p)                                               \
    {                                                                                              \
        return (T##3)(p[i * 3], p[i * 3 + 1], p[i * 3 + 2]);                                       \
    }

#define STORE(T, n, space)                                                                         \
    void OVERLOAD vstore##n(T##n x, size_t i, space T *p)                                          \
    {                                                                                              \
        typedef T unaligned __attribute__((ext_vector_type(n), aligned(sizeof(T))));               \
        *(space unaligned *)(p + i * n) = x;                                                       \
    }
#define STORES(T, space)                                                                           \
    STORE(T, 2, space)                                                                             \
    STORE(T, 4, space)                                                                             \
    STORE(T, 8, space)                                                                             \
    STORE(T, 16, space)                                                                            \
    void OVERLOAD vstore3(T##3 x, size_t i, space T *p)                                            \
    {                                                                                              \
        p[i * 3] = x.s0;                                                                           \
        p[i * 3 + 1] = x.s1;                                                                       \
        p[i * 3 + 2] = x.s2;                                                                       \
    }

#define MEMORY(T)                                                                                  \
    LOADS(T, constant)                                                                             \
    LOADS(T, private)                                                                              \
    LOADS(T, global)                                                                               \
    LOADS(T, local)                                                                                \
    LOADS(T, generic)                                                                              \
    STORES(T, private)                                                                             \
    STORES(T, global)                                                                              \
    STORES(T, local)                                                                               \
    STORES(T, generic)
EACH_TYPE(MEMORY)

/*
 * The items of the group share a copy; it is complete for all of them behind the barrier that
 * waiting for the event is. Events carry nothing.
 */

#define COPY(T, target, source, name, to_stride, from_stride, ...)                                 \
    event_t OVERLOAD name(target T *to, const source T *from, size_t count, ##__VA_ARGS__,         \
                          event_t event)                                                           \
    {                                                                                              \
        size_t step = __zeta_group_items();                                                        \
        for (size_t i = get_local_linear_id(); i < count; i += step)                               \
            to[i * (to_stride)] = from[i * (from_stride)];                                         \
        return event;                                                                              \
    }
#define COPIES(T)                                                                                  \
    COPY(T, local, global, async_work_group_copy, 1, 1)                                            \
    COPY(T, global, local, async_work_group_copy, 1, 1)                                            \
    COPY(T, local, global, async_work_group_strided_copy, 1, stride, size_t stride)                \
    COPY(T, global, local, async_work_group_strided_copy, stride, 1, size_t stride)                \
    void OVERLOAD prefetch(const global T *p, size_t count) {}
#define EACH_COPY(T) EACH_WIDTH(COPIES, T)
EACH_TYPE(EACH_COPY)

#define WAIT(space)                                                                                \
    void OVERLOAD wait_group_events(int count, space event_t *events)                              \
    {                                                                                              \
        __zeta_barrier();                                                                          \
    }
WAIT(private)
WAIT(global)
WAIT(local)
WAIT(generic)
