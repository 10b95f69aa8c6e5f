/* Integers of 128 bits under the names that LLVM calls. */
#include <stdint.h>

typedef __int128 wide;
typedef unsigned __int128 uwide;

wide __multi3(wide a, wide b);
wide __ashlti3(wide x, int count);
wide __ashrti3(wide x, int count);
wide __lshrti3(wide x, int count);
uwide __udivti3(uwide a, uwide b);
uwide __umodti3(uwide a, uwide b);
wide __divti3(wide a, wide b);
wide __modti3(wide a, wide b);
wide __muloti4(wide a, wide b, int *overflow);

static uwide join(uint64_t high, uint64_t low)
{
    return (uwide)high << 64 | low;
}

static uint64_t high_of(uwide x)
{
    return (uint64_t)(x >> 64);
}

wide __multi3(wide a, wide b)
{
    uint64_t a_low = (uint64_t)a, b_low = (uint64_t)b;
    uint64_t high;

    /* The product of the lower halves, and what the upper ones add to its upper half. */
    __asm__("mulhu %0, %1, %2" : "=r"(high) : "r"(a_low), "r"(b_low));
    high += a_low * high_of((uwide)b) + b_low * high_of((uwide)a);
    return (wide)join(high, a_low * b_low);
}

wide __ashlti3(wide x, int count)
{
    uint64_t high = high_of((uwide)x), low = (uint64_t)x;

    if (count >= 64)
        return (wide)join(low << (count - 64), 0);
    return count == 0 ? x : (wide)join(high << count | low >> (64 - count), low << count);
}

wide __lshrti3(wide x, int count)
{
    uint64_t high = high_of((uwide)x), low = (uint64_t)x;

    if (count >= 64)
        return (wide)join(0, high >> (count - 64));
    return count == 0 ? x : (wide)join(high >> count, low >> count | high << (64 - count));
}

wide __ashrti3(wide x, int count)
{
    int64_t high = (int64_t)high_of((uwide)x);
    uint64_t low = (uint64_t)x;

    if (count >= 64)
        return (wide)join((uint64_t)(high >> 63), (uint64_t)(high >> (count - 64)));
    return count == 0 ? x
                      : (wide)join((uint64_t)(high >> count),
                                   low >> count | (uint64_t)high << (64 - count));
}

/* Bit by bit from the top: rare enough in kernels. */
static uwide divide(uwide a, uwide b, uwide *rest)
{
    uwide quotient = 0, part = 0;

    if (high_of(a) == 0 && high_of(b) == 0) {
        *rest = (uint64_t)a % (uint64_t)b;
        return (uint64_t)a / (uint64_t)b;
    }
    for (int bit = 127; bit >= 0; bit--) {
        uint64_t word = bit >= 64 ? high_of(a) : (uint64_t)a;

        part = join(high_of(part) << 1 | (uint64_t)part >> 63,
                    (uint64_t)part << 1 | (word >> (bit & 63) & 1));
        if (part < b)
            continue;
        part -= b;
        quotient |=
            join(bit >= 64 ? (uint64_t)1 << (bit - 64) : 0, bit >= 64 ? 0 : (uint64_t)1 << bit);
    }
    *rest = part;
    return quotient;
}

uwide __udivti3(uwide a, uwide b)
{
    uwide rest;

    return divide(a, b, &rest);
}

uwide __umodti3(uwide a, uwide b)
{
    uwide rest;

    (void)divide(a, b, &rest);
    return rest;
}

static uwide size_of(wide x)
{
    return x < 0 ? -(uwide)x : (uwide)x;
}

wide __divti3(wide a, wide b)
{
    uwide quotient = __udivti3(size_of(a), size_of(b));

    return (a < 0) != (b < 0) ? (wide)-quotient : (wide)quotient;
}

wide __modti3(wide a, wide b)
{
    uwide rest = __umodti3(size_of(a), size_of(b));

    return a < 0 ? (wide)-rest : (wide)rest;
}

wide __muloti4(wide a, wide b, int *overflow)
{
    wide product = __multi3(a, b);
    wide lowest = (wide)join((uint64_t)1 << 63, 0);

    *overflow = (a == lowest && b == -1) ||
                (b != 0 && !(b == -1 && product == lowest) && __divti3(product, b) != a);
    return product;
}
