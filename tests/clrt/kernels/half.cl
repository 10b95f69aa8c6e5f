/* Halves in memory, from and to float, and from double. */

#define OVERLOAD __attribute__((overloadable))
#define WIDTHS(m, ...)                                                                             \
    m(2, 1, 2, ##__VA_ARGS__) m(3, 2, 4, ##__VA_ARGS__) m(4, 3, 4, ##__VA_ARGS__)                  \
    m(8, 4, 8, ##__VA_ARGS__) m(16, 5, 16, ##__VA_ARGS__)

/* Planes of n as elsewhere; then those of the aligned forms, with gaps in width 3. */
#define LOAD(w, plane, room, p, out)                                                               \
    for (uint k = 0; k < 16 / w; k++)                                                              \
        vstore##w(vload_half##w(k, p), k, out + plane * n);                                        \
    for (uint k = 0; k < 16 / room; k++)                                                           \
        vstore##w(vloada_half##w(k, p), 0, out + (6 + plane) * n + k * room);
#define LOADS(p, out)                                                                              \
    for (uint k = 0; k < 16; k++) {                                                                \
        (out)[k] = vload_half(k, p);                                                               \
        (out)[6 * n + k] = vload_half(k, p);                                                       \
    }                                                                                              \
    WIDTHS(LOAD, p, (out))

kernel void test_load_global(global const half *in, global float *out, uint n)
{
    size_t i = get_global_id(0) * 16;

    LOADS(in + i, out + i)
}

kernel void test_load_generic(global const half *in, global float *out, uint n)
{
    size_t i = get_global_id(0) * 16;
    const generic half *from = in + i;

    LOADS(from, out + i)
}

/* The bits move as integers: declaring halves needs an extension that this must work without. */
kernel void test_load_private(global const ushort *in, global float *out, uint n)
{
    size_t i = get_global_id(0) * 16;
    ushort bits[16];
    const private half *from = (const private half *)bits;

    vstore16(vload16(0, in + i), 0, bits);
    LOADS(from, out + i)
}

kernel void test_load_local(global const ushort *in, global float *out, uint n)
{
    size_t i = get_global_id(0) * 16;
    local ushort bits[16];
    const local half *from = (const local half *)bits;

    vstore16(vload16(0, in + i), 0, bits);
    LOADS(from, out + i)
}

constant ushort table[16] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                             0x3555, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x4248, 0x1400};

kernel void test_load_constant(global const ushort *in, global float *out, uint n)
{
    size_t i = get_global_id(0) * 16;
    constant half *from = (constant half *)table;

    LOADS(from, out + i)
}

#define STORE(w, plane, room, mode, T, a, p)                                                       \
    for (uint k = 0; k < 16 / w; k++)                                                              \
        vstore_half##w##mode(vload##w(k, a), k, p + plane * n);                                    \
    for (uint k = 0; k < 16 / room; k++)                                                           \
        vstorea_half##w##mode(vload##w(0, a + k * room), k, p + (6 + plane) * n);
#define STORES(mode, T, a, p)                                                                      \
    for (uint k = 0; k < 16; k++) {                                                                \
        vstore_half##mode((a)[k], k, p);                                                           \
        vstore_half##mode((a)[k], k, p + 6 * n);                                                   \
    }                                                                                              \
    WIDTHS(STORE, mode, T, (a), (p))

#define STORE_KERNEL(T, mode)                                                                      \
    kernel void test_store_##T##mode(global const T *in, global half *out, uint n)                 \
    {                                                                                              \
        size_t i = get_global_id(0) * 16;                                                          \
        STORES(mode, T, in + i, out + i)                                                           \
    }
#define STORE_KERNELS(T)                                                                           \
    STORE_KERNEL(T, )                                                                              \
    STORE_KERNEL(T, _rte)                                                                          \
    STORE_KERNEL(T, _rtz)                                                                          \
    STORE_KERNEL(T, _rtp)                                                                          \
    STORE_KERNEL(T, _rtn)
STORE_KERNELS(float)
STORE_KERNELS(double)

kernel void test_store_generic(global const float *in, global half *out, uint n)
{
    size_t i = get_global_id(0) * 16;
    generic half *to = out + i;

    STORES(, float, in + i, to)
}

/* The planes of one work-item at a time. */
#define THROUGH(space)                                                                             \
    kernel void test_store_##space(global const float *in, global ushort *out, uint count)         \
    {                                                                                              \
        size_t i = get_global_id(0) * 16;                                                          \
        const uint n = 16;                                                                         \
        space ushort bits[12 * 16];                                                                \
        space half *to = (space half *)bits;                                                       \
        for (uint k = 0; k < 12 * 16; k++)                                                         \
            bits[k] = 0;                                                                           \
        STORES(, float, in + i, to)                                                                \
        for (uint k = 0; k < 12 * 16; k++)                                                         \
            out[k / 16 * count + i + k % 16] = bits[k];                                            \
    }
THROUGH(private)
THROUGH(local)
