/* Fields of bits of T, with U and S its forms without and with a sign. */
#include "forms.h"

/* A field that fits, the same one for all of a work-item's numbers. */
#define FIELD c[0] % BITS, c[1] % (BITS + 1 - c[0] % BITS)

KERNEL(test_bitfield_insert, T, T, T, uint, bitfield_insert(x, y, FIELD))
KERNEL(test_bitfield_extract_signed, S, T, T, uint, bitfield_extract_signed(x, FIELD))
KERNEL(test_bitfield_extract_unsigned, U, T, T, uint, bitfield_extract_unsigned(x, FIELD))
UNARY(bit_reverse, T, T)

#ifdef DOT
kernel void test_dot(global const uint *in, global uint *out, uint n)
{
    size_t i = get_global_id(0);
    uint a = in[i], b = in[n + i], c = in[2 * n + i];

    out[i] = dot_4x8packed_uu_uint(a, b);
    out[n + i] = dot_4x8packed_ss_int(a, b);
    out[2 * n + i] = dot_4x8packed_us_int(a, b);
    out[3 * n + i] = dot_4x8packed_su_int(a, b);
    out[4 * n + i] = dot_acc_sat_4x8packed_uu_uint(a, b, c);
    out[5 * n + i] = dot_acc_sat_4x8packed_ss_int(a, b, (int)c);
    out[6 * n + i] = dot_acc_sat(as_uchar4(a), as_char4(b), (int)c);
    out[7 * n + i] = dot(as_char4(a), as_uchar4(b));
}
#endif
