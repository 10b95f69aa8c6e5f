/* Vectors made of the components of one or two others. */
#include "builtin.h"

/* Only as many bits of an index count as there are components to choose from. */
#define SHUFFLE(T, M, n, m)                                                                        \
    T##n OVERLOAD shuffle(T##m x, M##n mask)                                                       \
    {                                                                                              \
        T##n result;                                                                               \
        for (uint i = 0; i < n; i++)                                                               \
            result[i] = x[mask[i] & (m - 1)];                                                      \
        return result;                                                                             \
    }                                                                                              \
    T##n OVERLOAD shuffle2(T##m x, T##m y, M##n mask)                                              \
    {                                                                                              \
        T##n result;                                                                               \
        for (uint i = 0; i < n; i++)                                                               \
            result[i] = mask[i] & m ? y[mask[i] & (m - 1)] : x[mask[i] & (m - 1)];                 \
        return result;                                                                             \
    }
#define SHUFFLES_OF(T, M, m)                                                                       \
    SHUFFLE(T, M, 2, m)                                                                            \
    SHUFFLE(T, M, 4, m)                                                                            \
    SHUFFLE(T, M, 8, m)                                                                            \
    SHUFFLE(T, M, 16, m)
#define SHUFFLES(T, M)                                                                             \
    SHUFFLES_OF(T, M, 2)                                                                           \
    SHUFFLES_OF(T, M, 4)                                                                           \
    SHUFFLES_OF(T, M, 8)                                                                           \
    SHUFFLES_OF(T, M, 16)

SHUFFLES(char, uchar)
SHUFFLES(uchar, uchar)
SHUFFLES(short, ushort)
SHUFFLES(ushort, ushort)
SHUFFLES(half, ushort)
SHUFFLES(int, uint)
SHUFFLES(uint, uint)
SHUFFLES(float, uint)
SHUFFLES(long, ulong)
SHUFFLES(ulong, ulong)
SHUFFLES(double, ulong)
