/*
 * Kernels that call a function in all its widths. Inputs are arrays of n numbers, one behind the
 * other; a work-item takes 16 of each. Results are planes of n numbers: scalar, 2, 3, 4, 8, 16. Of
 * 16 numbers the plane of width 3 has 15.
 *
 * CALL is what is done with the operands x, y and z of any width.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define WIDTH(R, A, B, C, w, plane, CALL)                                                          \
    for (uint k = 0; k < 16 / w; k++) {                                                            \
        A##w x = vload##w(k, a);                                                                   \
        B##w y = vload##w(k, b);                                                                   \
        C##w z = vload##w(k, c);                                                                   \
        vstore##w(CALL, k, out + plane * n);                                                       \
    }
#define VECTORS(R, A, B, C, CALL)                                                                  \
    WIDTH(R, A, B, C, 2, 1, CALL)                                                                  \
    WIDTH(R, A, B, C, 3, 2, CALL)                                                                  \
    WIDTH(R, A, B, C, 4, 3, CALL)                                                                  \
    WIDTH(R, A, B, C, 8, 4, CALL)                                                                  \
    WIDTH(R, A, B, C, 16, 5, CALL)

#define KERNEL(name, R, A, B, C, CALL)                                                             \
    kernel void name(global const A *in, global R *out, uint n)                                    \
    {                                                                                              \
        uint i = get_global_id(0) * 16;                                                            \
        global const A *a = in + i;                                                                \
        global const B *b = (global const B *)(in + n) + i;                                        \
        global const C *c = (global const C *)((global const B *)(in + n) + n) + i;                \
        out += i;                                                                                  \
        for (uint k = 0; k < 16; k++) {                                                            \
            A x = a[k];                                                                            \
            B y = b[k];                                                                            \
            C z = c[k];                                                                            \
            out[k] = CALL;                                                                         \
        }                                                                                          \
        VECTORS(R, A, B, C, CALL)                                                                  \
    }
#define UNARY(name, R, A) KERNEL(test_##name, R, A, A, A, name(x))
#define BINARY(name, R, A, B) KERNEL(test_##name, R, A, B, A, name(x, y))
#define TERNARY(name, R, A, B, C) KERNEL(test_##name, R, A, B, C, name(x, y, z))

/* Functions that store a second result of type P: its planes follow those of the first. */
#define POINTER_WIDTH(R, P, w, plane, CALL)                                                        \
    for (uint k = 0; k < 16 / w; k++) {                                                            \
        R##w x = vload##w(k, a), y = vload##w(k, b);                                               \
        P##w second;                                                                               \
        vstore##w(CALL, k, out + plane * n);                                                       \
        vstore##w(second, k, seconds + plane * n);                                                 \
    }
#define POINTER(name, R, P, CALL)                                                                  \
    kernel void test_##name(global const R *in, global R *out, uint n)                             \
    {                                                                                              \
        uint i = get_global_id(0) * 16;                                                            \
        global const R *a = in + i, *b = in + n + i;                                               \
        global P *seconds = (global P *)(out + 6 * n) + i;                                         \
        out += i;                                                                                  \
        for (uint k = 0; k < 16; k++) {                                                            \
            R x = a[k], y = b[k];                                                                  \
            P second;                                                                              \
            out[k] = CALL;                                                                         \
            seconds[k] = second;                                                                   \
        }                                                                                          \
        POINTER_WIDTH(R, P, 2, 1, CALL)                                                            \
        POINTER_WIDTH(R, P, 3, 2, CALL)                                                            \
        POINTER_WIDTH(R, P, 4, 3, CALL)                                                            \
        POINTER_WIDTH(R, P, 8, 4, CALL)                                                            \
        POINTER_WIDTH(R, P, 16, 5, CALL)                                                           \
    }
