/* Vectors in memory: vload and vstore, group copies and shuffles of T; M is the mask of shuffles. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define WIDTHS(m, ...)                                                                             \
    m(2, 0, ##__VA_ARGS__) m(3, 1, ##__VA_ARGS__) m(4, 2, ##__VA_ARGS__) m(8, 3, ##__VA_ARGS__)    \
    m(16, 4, ##__VA_ARGS__)

/* Planes of 64: a vector is moved to the next place but one, at the alignment of an element. */
#define MOVE(w, plane, from, to)                                                                   \
    for (uint k = 0; k < 48 / w; k++)                                                              \
        vstore##w(vload##w(k, from + 1), k, to + plane * 64 + 3);

kernel void test_global(global const T *in, global T *out, uint n)
{
    WIDTHS(MOVE, in, out)
}

kernel void test_generic(global const T *in, global T *out, uint n)
{
    const generic T *from = in;
    generic T *to = out;

    WIDTHS(MOVE, from, to)
}

#define THROUGH(space, in, out)                                                                    \
    space T from[64], to[5 * 64];                                                                  \
    for (uint i = 0; i < 5 * 64; i++)                                                              \
        to[i] = 0;                                                                                 \
    for (uint i = 0; i < 64; i++)                                                                  \
        from[i] = in[i];                                                                           \
    WIDTHS(MOVE, from, to)                                                                         \
    for (uint i = 0; i < 5 * 64; i++)                                                              \
        out[i] = to[i];

kernel void test_private(global const T *in, global T *out, uint n)
{
    THROUGH(private, in, out)
}

kernel void test_local(global const T *in, global T *out, uint n)
{
    THROUGH(local, in, out)
}

constant T table[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

kernel void test_constant(global const T *in, global T *out, uint n)
{
    WIDTHS(MOVE, table, out)
}

/*
 * 64 numbers as vectors of w go to local memory together, come back, and do both once more with a
 * stride of 2; each time one further. Vectors of three take the room of four.
 */
#define VECTOR_(T, w) T##w
#define VECTOR(T, w) VECTOR_(T, w)
#define COPY(w, stored, plane)                                                                     \
    {                                                                                              \
        local VECTOR(T, w) *buffer = (local VECTOR(T, w) *)storage;                                \
        global const VECTOR(T, w) *from = (global const VECTOR(T, w) *)in;                         \
        global VECTOR(T, w) *to = (global VECTOR(T, w) *)(out + plane * 128);                      \
        uint count = 64 / stored;                                                                  \
        event_t event = async_work_group_copy(buffer, from, count, 0);                             \
        prefetch(from, count);                                                                     \
        wait_group_events(1, &event);                                                              \
        event = async_work_group_copy(to, buffer, count, 0);                                       \
        wait_group_events(1, &event);                                                              \
        event = async_work_group_strided_copy(buffer, from, count / 2, 2, 0);                      \
        wait_group_events(1, &event);                                                              \
        event = async_work_group_strided_copy(to + count, buffer, count / 2, 2, 0);                \
        wait_group_events(1, &event);                                                              \
    }

kernel void test_copy(global const T *in, global T *out, uint n)
{
    local VECTOR(T, 16) storage[4];

    COPY(, 1, 0)
    COPY(2, 2, 1)
    COPY(3, 4, 2)
    COPY(4, 4, 3)
    COPY(8, 8, 4)
    COPY(16, 16, 5)
}

/* Of m components, and of two times m, n are chosen; each result has a plane of 16. */
#define SHUFFLE(m, n, plane)                                                                       \
    vstore##n(shuffle(vload##m(0, in), vload##n(0, mask)), 0, out + plane * 32);                   \
    vstore##n(shuffle2(vload##m(0, in), vload##m(0, in + 16), vload##n(0, mask)), 0,               \
              out + plane * 32 + 16);
#define SHUFFLES(m, plane)                                                                         \
    SHUFFLE(m, 2, plane)                                                                           \
    SHUFFLE(m, 4, (plane + 1))                                                                       \
    SHUFFLE(m, 8, (plane + 2))                                                                       \
    SHUFFLE(m, 16, (plane + 3))

kernel void test_shuffle(global const T *in, global T *out, uint n)
{
    global const M *mask = (global const M *)(in + 32);

    SHUFFLES(2, 0)
    SHUFFLES(4, 4)
    SHUFFLES(8, 8)
    SHUFFLES(16, 12)
}
