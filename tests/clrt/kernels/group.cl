/* Functions of the work-group and of sub-groups of one item, for T. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#ifdef GROUP
/* Each item's number is in `in`; results are planes as long as the group. */
#define REDUCE(name, plane)                                                                        \
    out[(plane) * size + id] = work_group_reduce_##name(x);                                        \
    out[(plane + 1) * size + id] = work_group_scan_inclusive_##name(x);                            \
    out[(plane + 2) * size + id] = work_group_scan_exclusive_##name(x);

kernel void test_group(global const T *in, global T *out, uint n)
{
    size_t id = get_local_linear_id();
    size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2);
    T x = in[id];

    REDUCE(add, 0)
    REDUCE(min, 3)
    REDUCE(max, 6)
    out[9 * size + id] = work_group_all(x > (T)1);
    out[10 * size + id] = work_group_all(x > (T)-1);
    out[11 * size + id] = work_group_any(x > (T)90);
    out[12 * size + id] = work_group_any(x > (T)2);
    out[13 * size + id] = work_group_broadcast(x, get_local_size(0) - 1);
    out[14 * size + id] = work_group_broadcast(x, 1, get_local_size(1) - 1);
    out[15 * size + id] = work_group_broadcast(x, 0, 1, get_local_size(2) - 1);
}
#endif

#ifdef INTEL
/* The compiler knows these by its large header only. */
#define OVERLOAD __attribute__((overloadable))
T OVERLOAD intel_sub_group_shuffle(T x, uint lane);
T OVERLOAD intel_sub_group_shuffle_xor(T x, uint mask);
T OVERLOAD intel_sub_group_shuffle_down(T x, T next, uint delta);
T OVERLOAD intel_sub_group_shuffle_up(T previous, T x, uint delta);
#endif
#ifdef BLOCKS
T OVERLOAD intel_sub_group_block_read(const global T *p);
VECTOR4 OVERLOAD intel_sub_group_block_read4(const global T *p);
void OVERLOAD intel_sub_group_block_write(global T *p, T x);
void OVERLOAD intel_sub_group_block_write4(global T *p, VECTOR4 x);
#endif

/* A lone item gets its own number, and from exclusive scans what changes nothing. */
#define CHECK(expression, expected) out[i++] = (expression) == (T)(expected);
#define ARITHMETIC(prefix, name, identity)                                                         \
    CHECK(prefix##reduce_##name(x), x)                                                             \
    CHECK(prefix##scan_inclusive_##name(x), x)                                                     \
    CHECK(prefix##scan_exclusive_##name(x), identity)

kernel void test_sub_group(global const T *in, global T *out, uint n)
{
    T x = in[0], y = in[1];
    uint i = 0;

    ARITHMETIC(sub_group_, add, 0)
    ARITHMETIC(sub_group_, min, HIGHEST)
    ARITHMETIC(sub_group_, max, LOWEST)
    CHECK(sub_group_broadcast(x, 0), x)
#ifdef EXTENDED
    ARITHMETIC(sub_group_non_uniform_, add, 0)
    ARITHMETIC(sub_group_non_uniform_, mul, 1)
    ARITHMETIC(sub_group_non_uniform_, min, HIGHEST)
    ARITHMETIC(sub_group_non_uniform_, max, LOWEST)
    CHECK(sub_group_clustered_reduce_add(x, 1), x)
    CHECK(sub_group_clustered_reduce_mul(x, 1), x)
    CHECK(sub_group_clustered_reduce_min(x, 1), x)
    CHECK(sub_group_clustered_reduce_max(x, 1), x)
    CHECK(sub_group_shuffle(x, 0), x)
    CHECK(sub_group_shuffle_xor(x, 0), x)
    CHECK(sub_group_shuffle_up(x, 0), x)
    CHECK(sub_group_shuffle_down(x, 0), x)
    CHECK(sub_group_broadcast_first(x), x)
    CHECK(sub_group_non_uniform_broadcast(x, 0), x)
    CHECK(sub_group_non_uniform_all_equal(x), 1)
#ifdef LOGIC
    ARITHMETIC(sub_group_non_uniform_, and, (T)~(T)0)
    ARITHMETIC(sub_group_non_uniform_, or, 0)
    ARITHMETIC(sub_group_non_uniform_, xor, 0)
#endif
    CHECK(sub_group_elect(), 1)
    CHECK(sub_group_non_uniform_all(2), 1)
    CHECK(sub_group_non_uniform_any(0), 0)
    CHECK(sub_group_ballot(3).x, 1)
    CHECK(sub_group_ballot(0).x, 0)
    CHECK(sub_group_inverse_ballot((uint4)(1, 0, 0, 0)), 1)
    CHECK(sub_group_ballot_bit_count((uint4)(1, 0, 0, 0)), 1)
    CHECK(sub_group_ballot_inclusive_scan((uint4)(1, 0, 0, 0)), 1)
    CHECK(sub_group_ballot_exclusive_scan((uint4)(1, 0, 0, 0)), 0)
    CHECK(get_sub_group_eq_mask().x + get_sub_group_ge_mask().x + get_sub_group_le_mask().x, 3)
    CHECK(get_sub_group_gt_mask().x + get_sub_group_lt_mask().x, 0)
#endif
    CHECK(sub_group_all(5), 1)
    CHECK(sub_group_any(0), 0)
#ifdef INTEL
    CHECK(intel_sub_group_shuffle(x, 0), x)
    CHECK(intel_sub_group_shuffle_xor(x, 0), x)
    CHECK(intel_sub_group_shuffle_down(x, y, 0), x)
    CHECK(intel_sub_group_shuffle_down(x, y, 1), y)
    CHECK(intel_sub_group_shuffle_up(y, x, 0), x)
    CHECK(intel_sub_group_shuffle_up(y, x, 1), y)
#endif
#ifdef BLOCKS
    intel_sub_group_block_write4(out + 100, intel_sub_group_block_read4(in));
    intel_sub_group_block_write(out + 104, intel_sub_group_block_read(in + 4));
#endif
    out[i] = (T)42;
}
