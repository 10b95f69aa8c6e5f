/*
 * Functions of the whole work-group. All its items call them together, so they meet at barriers.
 *
 * The items put their numbers into a row in shared local memory, which is as long as the largest
 * usual group; larger groups take turns. The first item makes the results there in the order of the
 * items, so that sums of floating point numbers are the same every time.
 */
#include "builtin.h"

enum form { REDUCE, INCLUSIVE, EXCLUSIVE };

/* The item that has the number is named by its local id. */
#define BROADCAST(T)                                                                               \
    static T OVERLOAD broadcast(T x, bool mine)                                                    \
    {                                                                                              \
        volatile private T *row = (volatile private T *)__zeta_group_row();                        \
        T result;                                                                                  \
                                                                                                   \
        if (mine)                                                                                  \
            row[0] = x;                                                                            \
        __zeta_barrier();                                                                          \
        result = row[0];                                                                           \
        __zeta_barrier();                                                                          \
        return result;                                                                             \
    }                                                                                              \
    T OVERLOAD work_group_broadcast(T x, size_t id0)                                               \
    {                                                                                              \
        return broadcast(x, get_local_id(0) == id0 && get_local_id(1) == 0 &&                      \
                                get_local_id(2) == 0);                                             \
    }                                                                                              \
    T OVERLOAD work_group_broadcast(T x, size_t id0, size_t id1)                                   \
    {                                                                                              \
        return broadcast(x, get_local_id(0) == id0 && get_local_id(1) == id1 &&                    \
                                get_local_id(2) == 0);                                             \
    }                                                                                              \
    T OVERLOAD work_group_broadcast(T x, size_t id0, size_t id1, size_t id2)                       \
    {                                                                                              \
        return broadcast(x, get_local_id(0) == id0 && get_local_id(1) == id1 &&                    \
                                get_local_id(2) == id2);                                           \
    }

#define COLLECT(T, name, identity, expression)                                                     \
    static T OVERLOAD collect_##name(T x, enum form form)                                          \
    {                                                                                              \
        volatile private T *row = (volatile private T *)__zeta_group_row();                        \
        size_t self = get_local_linear_id(), count = __zeta_group_items();                         \
        T a = identity, result = a;                                                                \
                                                                                                   \
        for (size_t begin = 0; begin < count; begin += ZETA_GROUP_ROW) {                           \
            size_t length = min(count - begin, (size_t)ZETA_GROUP_ROW);                            \
            if (self - begin < length)                                                             \
                row[self - begin] = x;                                                             \
            __zeta_barrier();                                                                      \
            for (size_t i = 0; self == 0 && i < length; i++) {                                     \
                T b = row[i], next = expression;                                                   \
                row[i] = form == INCLUSIVE ? next : a;                                             \
                a = next;                                                                          \
            }                                                                                      \
            __zeta_barrier();                                                                      \
            if (self - begin < length)                                                             \
                result = row[self - begin];                                                        \
            __zeta_barrier();                                                                      \
        }                                                                                          \
        return form == REDUCE ? broadcast(a, self == 0) : result;                                  \
    }                                                                                              \
    T OVERLOAD work_group_reduce_##name(T x) { return collect_##name(x, REDUCE); }                 \
    T OVERLOAD work_group_scan_inclusive_##name(T x) { return collect_##name(x, INCLUSIVE); }      \
    T OVERLOAD work_group_scan_exclusive_##name(T x) { return collect_##name(x, EXCLUSIVE); }

#define GROUP(T, lowest, highest)                                                                  \
    BROADCAST(T)                                                                                   \
    COLLECT(T, add, (T)0, a + b)                                                                   \
    COLLECT(T, min, (T)highest, b < a ? b : a)                                                     \
    COLLECT(T, max, (T)lowest, a < b ? b : a)
GROUP(int, INT_MIN, INT_MAX)
GROUP(uint, 0, UINT_MAX)
GROUP(long, LONG_MIN, LONG_MAX)
GROUP(ulong, 0, ULONG_MAX)
GROUP(half, -INFINITY, INFINITY)
GROUP(float, -INFINITY, INFINITY)
GROUP(double, -INFINITY, INFINITY)

int OVERLOAD work_group_all(int predicate)
{
    return work_group_reduce_min(predicate != 0);
}

int OVERLOAD work_group_any(int predicate)
{
    return work_group_reduce_max(predicate != 0);
}
