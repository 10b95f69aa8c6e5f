/*
 * Functions of sub-groups for T where all items call them, and where only some do: in both branches
 * of an if, in nested ones, and in a loop that items leave one after the other. Results are planes
 * as long as the launch. `n` has a bit for each item of a sub-group that takes the first branch.
 */
#include "../lists.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define OVERLOAD __attribute__((overloadable))
T OVERLOAD intel_sub_group_shuffle(T x, uint lane);
T OVERLOAD intel_sub_group_shuffle_xor(T x, uint mask);
T OVERLOAD intel_sub_group_shuffle_down(T x, T next, uint delta);
T OVERLOAD intel_sub_group_shuffle_up(T previous, T x, uint delta);

#define PUT(value) out[plane++ * count] = (T)(value)

/* An item that is not there gives no number. */
#define IF_THERE(lane, value) ((lane) < 32 && sub_group_ballot_bit_extract(here, lane) ? (value) : (T)0)

#ifdef LOGIC
#define BITS                                                                                       \
    PUT(sub_group_non_uniform_reduce_and(x));                                                      \
    PUT(sub_group_non_uniform_scan_inclusive_or(x));                                               \
    PUT(sub_group_non_uniform_scan_exclusive_xor(x));
#else
#define BITS plane += 3;
#endif

/* Items of one sub-group that are at this place together. */
#define TOGETHER                                                                                   \
    {                                                                                              \
        const uint4 here = sub_group_ballot(1);                                                    \
        const T other = sub_group_shuffle_xor(x, 1), up = sub_group_shuffle_up(x, 1);              \
        const T down = sub_group_shuffle_down(x, 2);                                               \
        PUT(sub_group_ballot_bit_count(here));                                                     \
        PUT(sub_group_non_uniform_reduce_add(x));                                                  \
        PUT(sub_group_non_uniform_scan_inclusive_add(x));                                          \
        PUT(sub_group_non_uniform_scan_exclusive_add(x));                                          \
        PUT(sub_group_non_uniform_reduce_min(x));                                                  \
        PUT(sub_group_non_uniform_scan_inclusive_max(x));                                          \
        PUT(sub_group_non_uniform_reduce_mul(y));                                                  \
        PUT(sub_group_clustered_reduce_add(x, LANES_CLUSTER));                                           \
        PUT(sub_group_broadcast_first(x));                                                         \
        PUT(sub_group_shuffle(x, sub_group_ballot_find_msb(here)));                                \
        PUT(IF_THERE(lane ^ 1, other));                                                            \
        PUT(IF_THERE(lane - 1, up));                                                               \
        PUT(IF_THERE(lane + 2, down));                                                             \
        PUT(sub_group_non_uniform_all(x > (T)1));                                                  \
        PUT(sub_group_non_uniform_any(x > (T)5));                                                  \
        PUT(sub_group_non_uniform_all_equal(y));                                                   \
        PUT(sub_group_elect());                                                                    \
        PUT(sub_group_ballot_bit_count(sub_group_ballot(x > (T)3)));                               \
        PUT(sub_group_ballot_inclusive_scan(sub_group_ballot(x > (T)3)));                          \
        PUT(sub_group_ballot_exclusive_scan(sub_group_ballot(x > (T)3)));                          \
        PUT(sub_group_inverse_ballot(sub_group_ballot(x > (T)3)));                                 \
        BITS                                                                                       \
    }

/* What all items of a sub-group call. */
#define ALL_OF_THEM                                                                                \
    {                                                                                              \
        const uint most = get_max_sub_group_size(), size = get_sub_group_size();                   \
        const T after = intel_sub_group_shuffle_down(x, y, 3 % most);                              \
        const T before = intel_sub_group_shuffle_up(y, x, 3 % most);                               \
        const T across = intel_sub_group_shuffle_xor(x, 2);                                        \
        const uint to = lane + 3 % most, from = lane + most - 3 % most;                            \
        PUT(size);                                                                                 \
        PUT(sub_group_reduce_add(x));                                                              \
        PUT(sub_group_scan_inclusive_add(x));                                                      \
        PUT(sub_group_scan_exclusive_add(x));                                                      \
        PUT(sub_group_reduce_min(x));                                                              \
        PUT(sub_group_reduce_max(x));                                                              \
        PUT(sub_group_broadcast(x, size / 2));                                                     \
        PUT(intel_sub_group_shuffle(x, size - 1 - lane));                                          \
        PUT((lane ^ 2) < size ? across : (T)0);                                                    \
        PUT((to < most ? to : to - most) < size ? after : (T)0);                                   \
        PUT((from < most ? from : from - most) < size ? before : (T)0);                            \
        PUT(sub_group_all(x > (T)1));                                                              \
        PUT(sub_group_any(x > (T)5));                                                              \
    }

kernel void test_lanes(global const T *in, global T *out, uint n)
{
    const size_t count = get_global_size(0), id = get_global_id(0);
    const uint lane = get_sub_group_local_id();
    const T x = in[id], y = in[count + id];
    size_t plane = 0;

    out += id;
    ALL_OF_THEM
    TOGETHER
    if (n >> lane & 1) {
        TOGETHER
        if (x > (T)2) {
            TOGETHER
        } else {
            plane += LANES_TOGETHER;
            TOGETHER
        }
    } else {
        plane += 3 * LANES_TOGETHER;
        TOGETHER
    }
    for (uint turn = 0; turn <= lane % 3; turn++) {
        plane = LANES_ALL + 5 * LANES_TOGETHER;
        TOGETHER
    }
}
