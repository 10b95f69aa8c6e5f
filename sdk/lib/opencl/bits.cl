/* Fields of bits, reversed bits, and products of bytes packed into words. */
#include "builtin.h"

/* The lowest bits of a number, at least one. */
#define LOW_BITS(U, count) ((U)((U)~(U)0 >> (sizeof(U) * 8 - (count))))

#define BIT_FIELDS(T, U, S)                                                                        \
    T OVERLOAD bitfield_insert(T base, T insert, uint offset, uint count)                          \
    {                                                                                              \
        U mask = count == 0 ? (U)0 : (U)((ulong)LOW_BITS(U, count) << offset);                     \
        return (T)((base & ~mask) | ((U)((ulong)(U)insert << offset) & mask));                     \
    }                                                                                              \
    U OVERLOAD bitfield_extract_unsigned(T base, uint offset, uint count)                          \
    {                                                                                              \
        return count == 0 ? (U)0 : (U)((U)base >> offset & LOW_BITS(U, count));                    \
    }                                                                                              \
    S OVERLOAD bitfield_extract_signed(T base, uint offset, uint count)                            \
    {                                                                                              \
        return count == 0 ? (S)0                                                                   \
                          : (S)((long)((ulong)(U)base << (64 - offset - count)) >> (64 - count));  \
    }                                                                                              \
    T OVERLOAD bit_reverse(T x)                                                                    \
    {                                                                                              \
        return (T)(U)(__builtin_bitreverse64((ulong)(U)x) >> (64 - sizeof(T) * 8));                \
    }                                                                                              \
    VECTOR1(bit_reverse, T, T)                                                                     \
    BIT_VECTOR(T##2, U##2, S##2)                                                                   \
    T##3 OVERLOAD bitfield_insert(T##3 a, T##3 b, uint offset, uint count)                         \
    {                                                                                              \
        return (T##3)(bitfield_insert(a.xy, b.xy, offset, count),                                  \
                      bitfield_insert(a.s2, b.s2, offset, count));                                 \
    }                                                                                              \
    U##3 OVERLOAD bitfield_extract_unsigned(T##3 a, uint offset, uint count)                       \
    {                                                                                              \
        return (U##3)(bitfield_extract_unsigned(a.xy, offset, count),                              \
                      bitfield_extract_unsigned(a.s2, offset, count));                             \
    }                                                                                              \
    S##3 OVERLOAD bitfield_extract_signed(T##3 a, uint offset, uint count)                         \
    {                                                                                              \
        return (S##3)(bitfield_extract_signed(a.xy, offset, count),                                \
                      bitfield_extract_signed(a.s2, offset, count));                               \
    }                                                                                              \
    BIT_VECTOR(T##4, U##4, S##4)                                                                   \
    BIT_VECTOR(T##8, U##8, S##8)                                                                   \
    BIT_VECTOR(T##16, U##16, S##16)
#define BIT_VECTOR(T, U, S)                                                                        \
    T OVERLOAD bitfield_insert(T a, T b, uint offset, uint count)                                  \
    {                                                                                              \
        return (T)(bitfield_insert(a.lo, b.lo, offset, count),                                     \
                   bitfield_insert(a.hi, b.hi, offset, count));                                    \
    }                                                                                              \
    U OVERLOAD bitfield_extract_unsigned(T a, uint offset, uint count)                             \
    {                                                                                              \
        return (U)(bitfield_extract_unsigned(a.lo, offset, count),                                 \
                   bitfield_extract_unsigned(a.hi, offset, count));                                \
    }                                                                                              \
    S OVERLOAD bitfield_extract_signed(T a, uint offset, uint count)                               \
    {                                                                                              \
        return (S)(bitfield_extract_signed(a.lo, offset, count),                                   \
                   bitfield_extract_signed(a.hi, offset, count));                                  \
    }
BIT_FIELDS(char, uchar, char)
BIT_FIELDS(uchar, uchar, char)
BIT_FIELDS(short, ushort, short)
BIT_FIELDS(ushort, ushort, short)
BIT_FIELDS(int, uint, int)
BIT_FIELDS(uint, uint, int)
BIT_FIELDS(long, ulong, long)
BIT_FIELDS(ulong, ulong, long)

/* Products of four bytes each, summed up, and added to a number that saturates. */
#define DOT(R, A, B, a_sign, b_sign)                                                               \
    R OVERLOAD dot(A a, B b)                                                                       \
    {                                                                                              \
        return (R)a.x * b.x + (R)a.y * b.y + (R)a.z * b.z + (R)a.w * b.w;                          \
    }                                                                                              \
    R OVERLOAD dot_acc_sat(A a, B b, R sum) { return add_sat(dot(a, b), sum); }                    \
    R OVERLOAD dot_4x8packed_##a_sign##b_sign##_##R(uint a, uint b)                                \
    {                                                                                              \
        return dot(as_##A(a), as_##B(b));                                                          \
    }                                                                                              \
    R OVERLOAD dot_acc_sat_4x8packed_##a_sign##b_sign##_##R(uint a, uint b, R sum)                 \
    {                                                                                              \
        return add_sat(dot(as_##A(a), as_##B(b)), sum);                                            \
    }
DOT(uint, uchar4, uchar4, u, u)
DOT(int, char4, char4, s, s)
DOT(int, uchar4, char4, u, s)
DOT(int, char4, uchar4, s, u)

/* What the SPIR-V translator calls for a product of signed and unsigned bytes. */

int OVERLOAD __spirv_SUDotKHR_Rint(char4 a, char4 b)
{
    return dot(a, as_uchar4(b));
}

int OVERLOAD __spirv_SUDotAccSatKHR_Rint(char4 a, char4 b, int sum)
{
    return dot_acc_sat(a, as_uchar4(b), sum);
}
