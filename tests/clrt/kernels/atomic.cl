/*
 * Atomics. Work-items of one group meet at numbers in T: each kernel works on `in`, changes it, and
 * leaves what it got in `out`. A is the atomic type of T.
 */
/* Items add up, each gets a number that nobody else gets; then the other way of saying so. */
#define EVERYBODY(name, BEGIN, CALLS, END)                                                         \
    kernel void test_##name(global T *in, global T *out, uint n)                                   \
    {                                                                                              \
        size_t i = get_global_id(0), count = get_global_size(0);                                   \
        T mine = in[8 + i];                                                                        \
        BEGIN                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                       \
        CALLS                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                       \
        END                                                                                        \
    }
#define NOTHING
#define TO_LOCAL                                                                                   \
    local T p[8];                                                                                  \
    if (i < 8)                                                                                     \
        p[i] = in[i];
#define FROM_LOCAL                                                                                 \
    if (i < 8)                                                                                     \
        in[i] = p[i];

#ifndef REAL
#define CLASSIC(prefix)                                                                            \
    out[i] = prefix##_add(p, mine);                                                                \
    out[count + i] = prefix##_sub(p + 1, mine);                                                    \
    out[2 * count + i] = prefix##_and(p + 2, mine);                                                \
    out[3 * count + i] = prefix##_or(p + 3, mine);                                                 \
    out[4 * count + i] = prefix##_xor(p + 4, mine);                                                \
    out[5 * count + i] = prefix##_min(p + 5, mine);                                                \
    out[6 * count + i] = prefix##_max(p + 6, mine);                                                \
    out[7 * count + i] = i % 2 ? prefix##_inc(p + 7) : prefix##_dec(p + 7);
EVERYBODY(atom_global, volatile global T *p = in;, CLASSIC(atom), NOTHING)
EVERYBODY(atom_local, TO_LOCAL, CLASSIC(atom), FROM_LOCAL)
#ifdef WORD
EVERYBODY(atomic_global, volatile global T *p = in;, CLASSIC(atomic), NOTHING)
EVERYBODY(atomic_local, TO_LOCAL, CLASSIC(atomic), FROM_LOCAL)
#endif

#define FETCH(suffix, ...)                                                                         \
    out[i] = atomic_fetch_add##suffix(p, mine, ##__VA_ARGS__);                                     \
    out[count + i] = atomic_fetch_sub##suffix(p + 1, mine, ##__VA_ARGS__);                         \
    out[2 * count + i] = atomic_fetch_and##suffix(p + 2, mine, ##__VA_ARGS__);                     \
    out[3 * count + i] = atomic_fetch_or##suffix(p + 3, mine, ##__VA_ARGS__);                      \
    out[4 * count + i] = atomic_fetch_xor##suffix(p + 4, mine, ##__VA_ARGS__);                     \
    out[5 * count + i] = atomic_fetch_min##suffix(p + 5, mine, ##__VA_ARGS__);                     \
    out[6 * count + i] = atomic_fetch_max##suffix(p + 6, mine, ##__VA_ARGS__);                     \
    out[7 * count + i] = i % 2 ? atomic_fetch_add##suffix(p + 7, (T)1, ##__VA_ARGS__)                 \
                               : atomic_fetch_sub##suffix(p + 7, (T)1, ##__VA_ARGS__);
#define GENERIC volatile generic A *p = (volatile generic A *)in;
EVERYBODY(fetch, GENERIC, FETCH(), NOTHING)
EVERYBODY(fetch_order, GENERIC, FETCH(_explicit, memory_order_relaxed), NOTHING)
EVERYBODY(fetch_scope, GENERIC,
          FETCH(_explicit, memory_order_acq_rel, memory_scope_device), NOTHING)
#endif

#ifdef REAL
kernel void test_fetch_real(global T *in, global T *out, uint n)
{
    size_t i = get_global_id(0), count = get_global_size(0);
    volatile global A *p = (volatile global A *)in;
    T mine = in[8 + i];

    out[i] = atomic_fetch_add(p, mine);
    out[count + i] = atomic_fetch_sub(p + 1, mine);
    out[2 * count + i] = atomic_fetch_min(p + 2, mine);
    out[3 * count + i] = atomic_fetch_max(p + 3, mine);
    out[4 * count + i] = atomic_fetch_add_explicit(p + 4, mine, memory_order_relaxed);
    out[5 * count + i] =
        atomic_fetch_sub_explicit(p + 5, mine, memory_order_acq_rel, memory_scope_device);
}
#endif

/*
 * Exchanges: everybody puts its own number in and gets somebody else's, or the first. Then a loop
 * of compare-and-exchange adds up, in each of the ways to say it.
 */
#define ADD_UP(where, compare)                                                                     \
    for (T seen = atomic_load(p + where);;) {                                                      \
        T before = seen;                                                                           \
        if (compare) {                                                                             \
            if (seen != before)                                                                    \
                atomic_store(p + 7, (T)99);                                                        \
            break;                                                                                 \
        }                                                                                          \
    }
kernel void test_exchange(global T *in, global T *out, uint n)
{
    size_t i = get_global_id(0), count = get_global_size(0);
    volatile global A *p = (volatile global A *)in;
    T mine = in[8 + i];

    out[i] = atomic_exchange(p, mine);
    out[count + i] = atomic_exchange_explicit(p + 1, mine, memory_order_acq_rel);
    out[2 * count + i] =
        atomic_exchange_explicit(p + 2, mine, memory_order_seq_cst, memory_scope_work_group);
    ADD_UP(3, atomic_compare_exchange_strong(p + 3, &seen, seen + mine))
    ADD_UP(4, atomic_compare_exchange_weak(p + 4, &seen, seen + mine))
    ADD_UP(5, atomic_compare_exchange_strong_explicit(p + 5, &seen, seen + mine,
                                                      memory_order_seq_cst, memory_order_relaxed))
    ADD_UP(6, atomic_compare_exchange_weak_explicit(p + 6, &seen, seen + mine,
                                                    memory_order_acq_rel, memory_order_acquire,
                                                    memory_scope_device))
}

/* One item: loads and stores in each of the ways, and a comparison that fails. */
kernel void test_load_store(global T *in, global T *out, uint n)
{
    volatile global A *p = (volatile global A *)in;
    local A shared;
    T seen = (T)77;

    atomic_init(&shared, (T)5);
    out[0] = atomic_load(&shared);
    atomic_store(&shared, (T)6);
    out[1] = atomic_load_explicit(&shared, memory_order_relaxed);
    atomic_store_explicit(&shared, (T)7, memory_order_release);
    out[2] = atomic_load_explicit(&shared, memory_order_acquire, memory_scope_work_group);
    atomic_store_explicit(&shared, (T)8, memory_order_relaxed, memory_scope_device);
    out[3] = atomic_load(&shared);
    atomic_init(p, (T)9);
    out[4] = atomic_compare_exchange_strong(p, &seen, (T)1);
    out[5] = seen;
    out[6] = atomic_compare_exchange_strong(p, &seen, (T)2);
    out[7] = atomic_load(p);
}

#ifndef REAL
/* The old forms of exchange, and a flag that only one item finds clear. */
kernel void test_classic_exchange(global T *in, global T *out, uint n)
{
    size_t i = get_global_id(0), count = get_global_size(0);
    T mine = in[8 + i];

    out[i] = atom_xchg(in, mine);
    for (T seen = in[3], before = seen + 1; seen != before;) {
        before = seen;
        seen = atom_cmpxchg(in + 3, before, before + mine);
    }
#ifdef WORD
    out[count + i] = atomic_xchg(in + 1, mine);
    for (T seen = in[4], before = seen + 1; seen != before;) {
        before = seen;
        seen = atomic_cmpxchg(in + 4, before, before + mine);
    }
    {
        volatile global atomic_flag *flag = (volatile global atomic_flag *)in + 2;

        out[2 * count + i] = atomic_flag_test_and_set(flag);
        out[3 * count + i] = atomic_flag_test_and_set_explicit(flag + 3, memory_order_relaxed);
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (i == 0) {
            atomic_flag_clear(flag);
            atomic_flag_clear_explicit(flag + 3, memory_order_release, memory_scope_device);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        out[4 * count + i] = atomic_flag_test_and_set_explicit(flag, memory_order_acq_rel,
                                                               memory_scope_work_group);
    }
#endif
}
#endif
