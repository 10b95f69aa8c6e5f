/*
 * Sub-groups. Each is a single work-item, so what all of them do together one does alone: a number
 * reduces to itself, and the scan before the first item gives what changes nothing.
 */
#include "builtin.h"


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
    return (uint)__zeta_group_items();
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

/* Functions with and without non_uniform in their name are the same. */

#define REDUCTIONS(T, name, identity)                                                              \
    T OVERLOAD sub_group_non_uniform_reduce_##name(T x) { return x; }                              \
    T OVERLOAD sub_group_non_uniform_scan_inclusive_##name(T x) { return x; }                      \
    T OVERLOAD sub_group_non_uniform_scan_exclusive_##name(T x) { return identity; }               \
    T OVERLOAD sub_group_clustered_reduce_##name(T x, uint size) { return x; }
#define UNIFORM(T, name, identity)                                                                 \
    REDUCTIONS(T, name, identity)                                                                  \
    T OVERLOAD sub_group_reduce_##name(T x) { return x; }                                          \
    T OVERLOAD sub_group_scan_inclusive_##name(T x) { return x; }                                  \
    T OVERLOAD sub_group_scan_exclusive_##name(T x) { return identity; }

#define ARITHMETIC(T, lowest, highest)                                                             \
    UNIFORM(T, add, (T)0)                                                                          \
    UNIFORM(T, min, (T)highest)                                                                    \
    UNIFORM(T, max, (T)lowest)                                                                     \
    REDUCTIONS(T, mul, (T)1)                                                                       \
    int OVERLOAD sub_group_non_uniform_all_equal(T x) { return 1; }                                \
    T OVERLOAD sub_group_broadcast_first(T x) { return x; }                                        \
    T OVERLOAD sub_group_shuffle(T x, uint lane) { return x; }                                     \
    T OVERLOAD sub_group_shuffle_xor(T x, uint mask) { return x; }                                 \
    T OVERLOAD sub_group_shuffle_up(T x, uint delta) { return x; }                                 \
    T OVERLOAD sub_group_shuffle_down(T x, uint delta) { return x; }                               \
    T OVERLOAD sub_group_rotate(T x, int delta) { return x; }                                      \
    T OVERLOAD sub_group_clustered_rotate(T x, int delta, uint size) { return x; }
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
    REDUCTIONS(T, and, (T)~(T)0)                                                                   \
    REDUCTIONS(T, or, (T)0)                                                                        \
    REDUCTIONS(T, xor, (T)0)
EACH_INTEGER(LOGIC)

#define LOGICAL(name, identity)                                                                    \
    int OVERLOAD sub_group_non_uniform_reduce_logical_##name(int x) { return x != 0; }             \
    int OVERLOAD sub_group_non_uniform_scan_inclusive_logical_##name(int x) { return x != 0; }     \
    int OVERLOAD sub_group_non_uniform_scan_exclusive_logical_##name(int x) { return identity; }   \
    int OVERLOAD sub_group_clustered_reduce_logical_##name(int x, uint size) { return x != 0; }
LOGICAL(and, 1)
LOGICAL(or, 0)
LOGICAL(xor, 0)

#define BROADCAST(T)                                                                               \
    T OVERLOAD sub_group_broadcast(T x, uint lane) { return x; }                                   \
    T OVERLOAD sub_group_non_uniform_broadcast(T x, uint lane) { return x; }
#define BROADCASTS(T) EACH_WIDTH(BROADCAST, T)
EACH_TYPE(BROADCASTS)

int OVERLOAD sub_group_elect(void)
{
    return 1;
}

int OVERLOAD sub_group_non_uniform_all(int predicate)
{
    return predicate != 0;
}

int OVERLOAD sub_group_non_uniform_any(int predicate)
{
    return predicate != 0;
}

/* Ballots: bit 0 is that of the only item. */

uint4 OVERLOAD sub_group_ballot(int predicate)
{
    return (uint4)(predicate != 0, 0, 0, 0);
}

int OVERLOAD sub_group_inverse_ballot(uint4 ballot)
{
    return ballot.x & 1;
}

int OVERLOAD sub_group_ballot_bit_extract(uint4 ballot, uint lane)
{
    return ballot[lane >> 5 & 3] >> (lane & 31) & 1;
}

uint OVERLOAD sub_group_ballot_bit_count(uint4 ballot)
{
    return ballot.x & 1;
}

uint OVERLOAD sub_group_ballot_inclusive_scan(uint4 ballot)
{
    return ballot.x & 1;
}

uint OVERLOAD sub_group_ballot_exclusive_scan(uint4 ballot)
{
    return 0;
}

uint OVERLOAD sub_group_ballot_find_lsb(uint4 ballot)
{
    return 0;
}

uint OVERLOAD sub_group_ballot_find_msb(uint4 ballot)
{
    return 0;
}

#define MASK(name, bit)                                                                            \
    uint4 OVERLOAD get_sub_group_##name##_mask(void) { return (uint4)(bit, 0, 0, 0); }
MASK(eq, 1)
MASK(ge, 1)
MASK(gt, 0)
MASK(le, 1)
MASK(lt, 0)

/* Intel's shuffles: a lane beyond the own one is that of the other value. */
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

#define SHUFFLES(T) EACH_WIDTH(SHUFFLE, T)
EACH_TYPE(SHUFFLES)

/* Blocks are rows of numbers, one per item and component. */
#define BLOCK_WIDTH(T, suffix, n)                                                                  \
    T##n OVERLOAD intel_sub_group_block_read##suffix##n(const global T *p)                         \
    {                                                                                              \
        return vload##n(0, p);                                                                     \
    }                                                                                              \
    void OVERLOAD intel_sub_group_block_write##suffix##n(global T *p, T##n x)                      \
    {                                                                                              \
        vstore##n(x, 0, p);                                                                        \
    }
#define BLOCK(T, suffix)                                                                           \
    T OVERLOAD intel_sub_group_block_read##suffix(const global T *p) { return p[0]; }              \
    void OVERLOAD intel_sub_group_block_write##suffix(global T *p, T x) { p[0] = x; }              \
    BLOCK_WIDTH(T, suffix, 2)                                                                      \
    BLOCK_WIDTH(T, suffix, 4)                                                                      \
    BLOCK_WIDTH(T, suffix, 8)
BLOCK(uint, )
BLOCK(uint, _ui)
BLOCK(ushort, _us)
BLOCK(uchar, _uc)
BLOCK(ulong, _ul)
