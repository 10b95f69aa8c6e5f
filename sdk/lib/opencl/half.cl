/* Halves in memory: vload_half, vstore_half and their vector and aligned forms. */
#include "builtin.h"

#define LOADS(space)                                                                               \
    float OVERLOAD vload_half(size_t i, const space half *p)                                       \
    {                                                                                              \
        return __zeta_half_to_float(((const space ushort *)p)[i]);                                 \
    }                                                                                              \
    float OVERLOAD vloada_half(size_t i, const space half *p) { return vload_half(i, p); }         \
    LOAD(2, space, 2)                                                                              \
    LOAD(3, space, 4)                                                                              \
    LOAD(4, space, 4)                                                                              \
    LOAD(8, space, 8)                                                                              \
    LOAD(16, space, 16)

/* In the aligned form three halves take the room of four. */
#define LOAD(n, space, stride)                                                                     \
    float##n OVERLOAD vload_half##n(size_t i, const space half *p)                                 \
    {                                                                                              \
        float##n result;                                                                           \
        for (uint k = 0; k < n; k++)                                                               \
            result[k] = vload_half(i * n + k, p);                                                  \
        return result;                                                                             \
    }                                                                                              \
    float##n OVERLOAD vloada_half##n(size_t i, const space half *p)                                \
    {                                                                                              \
        float##n result;                                                                           \
        for (uint k = 0; k < n; k++)                                                               \
            result[k] = vload_half(i * stride + k, p);                                             \
        return result;                                                                             \
    }

#define STORES(T, space, mode, rounding)                                                           \
    void OVERLOAD vstore_half##mode(T x, size_t i, space half *p)                                  \
    {                                                                                              \
        ((space ushort *)p)[i] = __zeta_##T##_to_half##rounding(x);                                \
    }                                                                                              \
    void OVERLOAD vstorea_half##mode(T x, size_t i, space half *p)                                 \
    {                                                                                              \
        vstore_half##mode(x, i, p);                                                                \
    }                                                                                              \
    STORE(T, 2, space, mode, 2)                                                                    \
    STORE(T, 3, space, mode, 4)                                                                    \
    STORE(T, 4, space, mode, 4)                                                                    \
    STORE(T, 8, space, mode, 8)                                                                    \
    STORE(T, 16, space, mode, 16)
#define STORE(T, n, space, mode, stride)                                                           \
    void OVERLOAD vstore_half##n##mode(T##n x, size_t i, space half *p)                            \
    {                                                                                              \
        for (uint k = 0; k < n; k++)                                                               \
            vstore_half##mode(x[k], i * n + k, p);                                                 \
    }                                                                                              \
    void OVERLOAD vstorea_half##n##mode(T##n x, size_t i, space half *p)                           \
    {                                                                                              \
        for (uint k = 0; k < n; k++)                                                               \
            vstore_half##mode(x[k], i * stride + k, p);                                            \
    }
#define STORES_IN(space, T)                                                                        \
    STORES(T, space, , _rte)                                                                       \
    STORES(T, space, _rte, _rte)                                                                   \
    STORES(T, space, _rtz, _rtz)                                                                   \
    STORES(T, space, _rtp, _rtp)                                                                   \
    STORES(T, space, _rtn, _rtn)

LOADS(constant)
LOADS(private)
LOADS(global)
LOADS(local)
LOADS(generic)

#define STORES_OF(T)                                                                               \
    STORES_IN(private, T)                                                                          \
    STORES_IN(global, T)                                                                           \
    STORES_IN(local, T)                                                                            \
    STORES_IN(generic, T)
STORES_OF(float)
STORES_OF(double)
