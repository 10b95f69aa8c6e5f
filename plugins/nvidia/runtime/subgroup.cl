/*
 * Sub-groups: warps, of 32 items in the order of the linear local id; the last one of a group may have
 * fewer, the first ones of a warp. What all items of a sub-group call together takes the whole warp;
 * functions with non_uniform in their name, and elections and ballots, take the items that are there.
 */
#include "builtin.h"

uint __zeta_lane(void), __zeta_active(void);
uint __zeta_shuffle(uint mask, uint value, uint lane);
uint __zeta_ballot(uint mask, uint predicate);
void __zeta_warp_barrier(uint mask);

#define WARP 32u
#define ALL 0xffffffffu

uint OVERLOAD get_max_sub_group_size(void)
{
    return min((uint)__zeta_group_items(), WARP);
}

uint OVERLOAD get_num_sub_groups(void)
{
    return ((uint)__zeta_group_items() + WARP - 1) / WARP;
}

uint OVERLOAD get_enqueued_num_sub_groups(void)
{
    return get_num_sub_groups();
}

uint OVERLOAD get_sub_group_id(void)
{
    return (uint)get_local_linear_id() / WARP;
}

uint OVERLOAD get_sub_group_local_id(void)
{
    return __zeta_lane();
}

uint OVERLOAD get_sub_group_size(void)
{
    return min((uint)__zeta_group_items() - get_sub_group_id() * WARP, WARP);
}

void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags)
{
    __zeta_warp_barrier(ALL);
}

void OVERLOAD sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    atomic_work_item_fence(flags, memory_order_acq_rel, scope);
    __zeta_warp_barrier(ALL);
}

int OVERLOAD sub_group_all(int predicate)
{
    return __zeta_ballot(ALL, predicate == 0) == 0;
}

int OVERLOAD sub_group_any(int predicate)
{
    return __zeta_ballot(ALL, predicate != 0) != 0;
}

int OVERLOAD sub_group_non_uniform_all(int predicate)
{
    return __zeta_ballot(__zeta_active(), predicate == 0) == 0;
}

int OVERLOAD sub_group_non_uniform_any(int predicate)
{
    return __zeta_ballot(__zeta_active(), predicate != 0) != 0;
}

/* A number of any type of another lane, by its words. */

#define TAKE_INTEGER(T)                                                                            \
    static T OVERLOAD take(uint mask, T x, uint lane) { return (T)__zeta_shuffle(mask, (uint)x, lane); }
TAKE_INTEGER(char)
TAKE_INTEGER(uchar)
TAKE_INTEGER(short)
TAKE_INTEGER(ushort)
TAKE_INTEGER(int)
TAKE_INTEGER(uint)

static ulong OVERLOAD take(uint mask, ulong x, uint lane)
{
    const uint low = __zeta_shuffle(mask, (uint)x, lane);

    return (ulong)__zeta_shuffle(mask, (uint)(x >> 32), lane) << 32 | low;
}

static long OVERLOAD take(uint mask, long x, uint lane)
{
    return (long)take(mask, (ulong)x, lane);
}

static half OVERLOAD take(uint mask, half x, uint lane)
{
    return as_half(take(mask, as_ushort(x), lane));
}

static float OVERLOAD take(uint mask, float x, uint lane)
{
    return as_float(take(mask, as_uint(x), lane));
}

static double OVERLOAD take(uint mask, double x, uint lane)
{
    return as_double(take(mask, as_ulong(x), lane));
}

/*
 * Scans. Over a whole sub-group in five steps, in which each item takes from one that is below it and
 * therefore there; the reduction is what the last item has. Over the items that are there, and over
 * clusters, one by one in their order, so both give the same sums every time.
 */

enum form { REDUCE, INCLUSIVE, EXCLUSIVE };

#define SCAN(T, name, identity, expression)                                                     \
    static T OVERLOAD uniform_##name(T x, enum form form)                                          \
    {                                                                                              \
        const uint lane = __zeta_lane();                                                           \
        T b = x;                                                                                   \
                                                                                                   \
        for (uint step = 1; step < WARP; step *= 2) {                                              \
            const T a = take(ALL, b, lane - step & WARP - 1);                                      \
            if (lane >= step)                                                                      \
                b = (T)(expression);                                                               \
        }                                                                                          \
        if (form == REDUCE)                                                                        \
            return take(ALL, b, get_sub_group_size() - 1);                                         \
        if (form == INCLUSIVE)                                                                     \
            return b;                                                                              \
        b = take(ALL, b, lane - 1 & WARP - 1);                                                     \
        return lane == 0 ? (T)(identity) : b;                                                      \
    }

#define GATHER(T, name, identity, expression)                                                      \
    static T OVERLOAD gather_##name(T x, uint mask, uint wanted)                                   \
    {                                                                                              \
        T a = (T)(identity);                                                                       \
                                                                                                   \
        for (uint left = mask; left != 0; left &= left - 1) {                                      \
            const uint lane = ctz(left);                                                           \
            const T b = take(mask, x, lane);                                                       \
            if (wanted >> lane & 1)                                                                \
                a = (T)(expression);                                                               \
        }                                                                                          \
        return a;                                                                                  \
    }

static uint below(uint lane)
{
    return (1u << lane) - 1;
}

/* The lanes of the cluster of this item. */
static uint cluster(uint size)
{
    const uint first = __zeta_lane() & ~(size - 1);

    return size >= WARP ? ALL : ((1u << size) - 1) << first;
}

#define REDUCTIONS(T, name, identity, expression)                                                  \
    GATHER(T, name, identity, expression)                                                          \
    T OVERLOAD sub_group_non_uniform_reduce_##name(T x)                                            \
    {                                                                                              \
        return gather_##name(x, __zeta_active(), ALL);                                             \
    }                                                                                              \
    T OVERLOAD sub_group_non_uniform_scan_inclusive_##name(T x)                                    \
    {                                                                                              \
        const uint lane = __zeta_lane();                                                           \
        return gather_##name(x, __zeta_active(), below(lane) | 1u << lane);                        \
    }                                                                                              \
    T OVERLOAD sub_group_non_uniform_scan_exclusive_##name(T x)                                    \
    {                                                                                              \
        return gather_##name(x, __zeta_active(), below(__zeta_lane()));                            \
    }                                                                                              \
    T OVERLOAD sub_group_clustered_reduce_##name(T x, uint size)                                   \
    {                                                                                              \
        return gather_##name(x, __zeta_active(), cluster(size));                                   \
    }
#define UNIFORM(T, name, identity, expression)                                                     \
    REDUCTIONS(T, name, identity, expression)                                                      \
    SCAN(T, name, identity, expression)                                                            \
    T OVERLOAD sub_group_reduce_##name(T x) { return uniform_##name(x, REDUCE); }                  \
    T OVERLOAD sub_group_scan_inclusive_##name(T x) { return uniform_##name(x, INCLUSIVE); }       \
    T OVERLOAD sub_group_scan_exclusive_##name(T x) { return uniform_##name(x, EXCLUSIVE); }

#define ARITHMETIC(T, lowest, highest)                                                             \
    UNIFORM(T, add, 0, a + b)                                                                      \
    UNIFORM(T, min, highest, b < a ? b : a)                                                        \
    UNIFORM(T, max, lowest, a < b ? b : a)                                                         \
    REDUCTIONS(T, mul, 1, a * b)                                                                   \
    T OVERLOAD sub_group_broadcast_first(T x)                                                      \
    {                                                                                              \
        const uint mask = __zeta_active();                                                         \
        return take(mask, x, ctz(mask));                                                           \
    }                                                                                              \
    int OVERLOAD sub_group_non_uniform_all_equal(T x)                                              \
    {                                                                                              \
        const uint mask = __zeta_active();                                                         \
        return __zeta_ballot(mask, take(mask, x, ctz(mask)) != x) == 0;                            \
    }                                                                                              \
    T OVERLOAD sub_group_rotate(T x, int delta)                                                    \
    {                                                                                              \
        return take(ALL, x, __zeta_lane() + (uint)delta & WARP - 1);                               \
    }                                                                                              \
    T OVERLOAD sub_group_clustered_rotate(T x, int delta, uint size)                               \
    {                                                                                              \
        const uint lane = __zeta_lane();                                                           \
        return take(ALL, x, (lane & ~(size - 1)) | (lane + (uint)delta & size - 1));               \
    }
ARITHMETIC(char, CHAR_MIN, CHAR_MAX)
ARITHMETIC(uchar, 0, UCHAR_MAX)
ARITHMETIC(short, SHRT_MIN, SHRT_MAX)
ARITHMETIC(ushort, 0, USHRT_MAX)
ARITHMETIC(int, INT_MIN, INT_MAX)
ARITHMETIC(uint, 0, UINT_MAX)
ARITHMETIC(long, LONG_MIN, LONG_MAX)
ARITHMETIC(ulong, 0, ULONG_MAX)
ARITHMETIC(half, -INFINITY, INFINITY)
ARITHMETIC(float, -INFINITY, INFINITY)
ARITHMETIC(double, -INFINITY, INFINITY)

#define LOGIC(T)                                                                                   \
    REDUCTIONS(T, and, ~(T)0, a & b)                                                               \
    REDUCTIONS(T, or, 0, a | b)                                                                    \
    REDUCTIONS(T, xor, 0, a ^ b)
EACH_INTEGER(LOGIC)

#define LOGICAL(name)                                                                              \
    int OVERLOAD sub_group_non_uniform_reduce_logical_##name(int x)                                \
    {                                                                                              \
        return sub_group_non_uniform_reduce_##name((int)(x != 0)) & 1;                             \
    }                                                                                              \
    int OVERLOAD sub_group_non_uniform_scan_inclusive_logical_##name(int x)                        \
    {                                                                                              \
        return sub_group_non_uniform_scan_inclusive_##name((int)(x != 0)) & 1;                     \
    }                                                                                              \
    int OVERLOAD sub_group_non_uniform_scan_exclusive_logical_##name(int x)                        \
    {                                                                                              \
        return sub_group_non_uniform_scan_exclusive_##name((int)(x != 0)) & 1;                     \
    }                                                                                              \
    int OVERLOAD sub_group_clustered_reduce_logical_##name(int x, uint size)                       \
    {                                                                                              \
        return sub_group_clustered_reduce_##name((int)(x != 0), size) & 1;                         \
    }
LOGICAL(and)
LOGICAL(or)
LOGICAL(xor)

/* What moves numbers between items, on scalars and by components. */
#define MOVE1(T, name, mask, lane_of)                                                              \
    static uint OVERLOAD name##_lane(T unused, uint lane, uint i) { return (lane_of) & WARP - 1; }          \
    T OVERLOAD name(T x, uint i) { return take(mask, x, name##_lane(x, __zeta_lane(), i)); }
#define HALVES(T, name)                                                                            \
    T OVERLOAD name(T x, uint i) { return (T)(name(x.lo, i), name(x.hi, i)); }
#define MOVE(T, name, mask, lane_of)                                                               \
    MOVE1(T, name, mask, lane_of)                                                                  \
    HALVES(T##2, name)                                                                             \
    T##3 OVERLOAD name(T##3 x, uint i)                                                             \
    {                                                                                              \
        return (T##3)(name(x.s0, i), name(x.s1, i), name(x.s2, i));                                \
    }                                                                                              \
    HALVES(T##4, name)                                                                             \
    HALVES(T##8, name)                                                                             \
    HALVES(T##16, name)
#define MOVES(T)                                                                                   \
    MOVE(T, sub_group_broadcast, ALL, i)                                                           \
    MOVE(T, sub_group_non_uniform_broadcast, __zeta_active(), i)                                   \
    MOVE1(T, sub_group_shuffle, __zeta_active(), i)                                                \
    MOVE1(T, sub_group_shuffle_xor, __zeta_active(), lane ^ i)                                     \
    MOVE1(T, sub_group_shuffle_up, __zeta_active(), lane - i)                                      \
    MOVE1(T, sub_group_shuffle_down, __zeta_active(), lane + i)                                    \
    MOVE(T, intel_sub_group_shuffle, __zeta_active(), i)                                           \
    MOVE(T, intel_sub_group_shuffle_xor, __zeta_active(), lane ^ i)
EACH_TYPE(MOVES)

/* Intel's shuffles: a lane beyond the last, or before the first, is one of the other value. */
#define SHUFFLE(T)                                                                                 \
    T OVERLOAD intel_sub_group_shuffle_down(T x, T next, uint delta)                               \
    {                                                                                              \
        const uint lane = __zeta_lane() + delta, size = get_max_sub_group_size();                  \
        const T near = intel_sub_group_shuffle(x, lane);                                           \
        const T far = intel_sub_group_shuffle(next, lane - size);                                  \
        return lane < size ? near : far;                                                           \
    }                                                                                              \
    T OVERLOAD intel_sub_group_shuffle_up(T previous, T x, uint delta)                             \
    {                                                                                              \
        const uint lane = __zeta_lane(), size = get_max_sub_group_size();                          \
        const T near = intel_sub_group_shuffle(x, lane - delta);                                   \
        const T far = intel_sub_group_shuffle(previous, lane + size - delta);                      \
        return lane >= delta ? near : far;                                                         \
    }
#define SHUFFLES(T) EACH_WIDTH(SHUFFLE, T)
EACH_TYPE(SHUFFLES)

int OVERLOAD sub_group_elect(void)
{
    return __zeta_lane() == ctz(__zeta_active());
}

/* Ballots: a bit for each item in the first component. */

uint4 OVERLOAD sub_group_ballot(int predicate)
{
    return (uint4)(__zeta_ballot(__zeta_active(), predicate != 0), 0, 0, 0);
}

int OVERLOAD sub_group_inverse_ballot(uint4 ballot)
{
    return ballot.x >> __zeta_lane() & 1;
}

int OVERLOAD sub_group_ballot_bit_extract(uint4 ballot, uint lane)
{
    return ballot[lane >> 5 & 3] >> (lane & 31) & 1;
}

uint OVERLOAD sub_group_ballot_bit_count(uint4 ballot)
{
    return popcount(ballot.x);
}

uint OVERLOAD sub_group_ballot_inclusive_scan(uint4 ballot)
{
    const uint lane = __zeta_lane();

    return popcount(ballot.x & (below(lane) | 1u << lane));
}

uint OVERLOAD sub_group_ballot_exclusive_scan(uint4 ballot)
{
    return popcount(ballot.x & below(__zeta_lane()));
}

uint OVERLOAD sub_group_ballot_find_lsb(uint4 ballot)
{
    return ctz(ballot.x);
}

uint OVERLOAD sub_group_ballot_find_msb(uint4 ballot)
{
    return 31 - clz(ballot.x);
}

#define MASK(name, bits)                                                                           \
    uint4 OVERLOAD get_sub_group_##name##_mask(void)                                               \
    {                                                                                              \
        const uint lane = __zeta_lane(), there = ALL >> (WARP - get_max_sub_group_size());         \
        return (uint4)((bits) & there, 0, 0, 0);                                                   \
    }
MASK(eq, 1u << lane)
MASK(ge, ~below(lane))
MASK(gt, ~below(lane) & ~(1u << lane))
MASK(le, below(lane) | 1u << lane)
MASK(lt, below(lane))

/* Blocks are rows of numbers, one per item; a component is a row. */
#define BLOCK_WIDTH(T, suffix, n)                                                                  \
    T##n OVERLOAD intel_sub_group_block_read##suffix##n(const global T *p)                         \
    {                                                                                              \
        const uint lane = __zeta_lane(), size = get_max_sub_group_size();                          \
        T##n x;                                                                                    \
        for (uint i = 0; i < n; i++)                                                               \
            x[i] = p[i * size + lane];                                                             \
        return x;                                                                                  \
    }                                                                                              \
    void OVERLOAD intel_sub_group_block_write##suffix##n(global T *p, T##n x)                      \
    {                                                                                              \
        const uint lane = __zeta_lane(), size = get_max_sub_group_size();                          \
        for (uint i = 0; i < n; i++)                                                               \
            p[i * size + lane] = x[i];                                                             \
    }
#define BLOCK(T, suffix)                                                                           \
    T OVERLOAD intel_sub_group_block_read##suffix(const global T *p) { return p[__zeta_lane()]; }  \
    void OVERLOAD intel_sub_group_block_write##suffix(global T *p, T x) { p[__zeta_lane()] = x; }  \
    BLOCK_WIDTH(T, suffix, 2)                                                                      \
    BLOCK_WIDTH(T, suffix, 4)                                                                      \
    BLOCK_WIDTH(T, suffix, 8)
BLOCK(uint, )
BLOCK(uint, _ui)
BLOCK(ushort, _us)
BLOCK(uchar, _uc)
BLOCK(ulong, _ul)
