/* Common and geometric functions for REAL. */
#include "../lists.h"
#include "forms.h"

#define X(name, ...) UNARY(name, REAL, REAL)
COMMON1(X)
#undef X
#define X(name, ...) BINARY(name, REAL, REAL, REAL)
COMMON2(X)
#undef X
TERNARY(clamp, REAL, REAL, REAL, REAL)
TERNARY(mix, REAL, REAL, REAL, REAL)
TERNARY(smoothstep, REAL, REAL, REAL, REAL)

/* Scalar operands: the same one for all of a work-item's numbers. */
KERNEL(test_min_scalar, REAL, REAL, REAL, REAL, min(x, b[0]))
KERNEL(test_max_scalar, REAL, REAL, REAL, REAL, max(x, b[0]))
KERNEL(test_fmin_scalar, REAL, REAL, REAL, REAL, fmin(x, b[0]))
KERNEL(test_fmax_scalar, REAL, REAL, REAL, REAL, fmax(x, b[0]))
KERNEL(test_step_scalar, REAL, REAL, REAL, REAL, step(b[0], x))
KERNEL(test_ldexp_scalar, REAL, REAL, int, REAL, ldexp(x, b[0]))
KERNEL(test_clamp_scalar, REAL, REAL, REAL, REAL, clamp(x, b[0], c[0]))
KERNEL(test_mix_scalar, REAL, REAL, REAL, REAL, mix(x, y, c[0]))
KERNEL(test_smoothstep_scalar, REAL, REAL, REAL, REAL, smoothstep(b[0], c[0], x))

/* Vectors of type V, whose results follow each other in planes of n or, for vectors, 4 n. */
#define GEOMETRY(w, V, LOAD, STORE)                                                                \
    kernel void test_geometry##w(global const REAL *in, global REAL *out, uint n)                  \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        V a = LOAD(i, in), b = LOAD(i, in + 4 * n);                                                \
        out[i] = dot(a, b);                                                                        \
        out[n + i] = length(a);                                                                    \
        out[2 * n + i] = distance(a, b);                                                           \
        STORE(normalize(a), i, out + 3 * n);                                                       \
        FAST(a, b, STORE)                                                                          \
    }
#ifdef HAS_FAST
#define FAST(a, b, STORE)                                                                          \
    out[7 * n + i] = fast_length(a);                                                               \
    out[8 * n + i] = fast_distance(a, b);                                                          \
    STORE(fast_normalize(a), i, out + 9 * n);
#else
#define FAST(a, b, STORE)
#endif
#define LOAD1(i, p) (p)[i]
#define STORE1(x, i, p) (p)[i] = x
#define VECTOR_(T, w) T##w
#define VECTOR(T, w) VECTOR_(T, w)
GEOMETRY(1, REAL, LOAD1, STORE1)
GEOMETRY(2, VECTOR(REAL, 2), vload2, vstore2)
GEOMETRY(3, VECTOR(REAL, 3), vload3, vstore3)
GEOMETRY(4, VECTOR(REAL, 4), vload4, vstore4)

kernel void test_cross(global const REAL *in, global REAL *out, uint n)
{
    size_t i = get_global_id(0);

    vstore4(cross(vload4(i, in), vload4(i, in + 4 * n)), i, out);
    vstore3(cross(vload3(i, in), vload3(i, in + 4 * n)), i, out + 4 * n);
}
