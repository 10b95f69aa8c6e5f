/*
 * Calls of the functions that code generation makes calls of. In C, as there every one of them can
 * be provoked or named.
 */
#include "vgpu.h"

void *memcpy(void *restrict target, const void *restrict source, size_t length);
void *memmove(void *target, const void *source, size_t length);
void *memset(void *target, int value, size_t length);
int memcmp(const void *first, const void *second, size_t length);
float __extendhfsf2(uint16_t bits);
uint16_t __truncsfhf2(float value);
uint16_t __truncdfhf2(double value);

/* Each copies `length` bytes by `distance`, and fills and compares as many. */
void test_blocks(unsigned char *in, unsigned char *out, unsigned n)
{
    for (unsigned length = 0; length < 40; length++) {
        unsigned char *row = out + length * 256;

        (void)memcpy(row + n, in + 3, length);
        (void)memset(row + 64 + n, (int)length + 1, length);
        for (unsigned i = 0; i < 48; i++)
            row[128 + i] = row[192 + i] = (unsigned char)i;
        (void)memmove(row + 128 + n, row + 128, length);
        (void)memmove(row + 192, row + 192 + n, length);
        row[60] = (unsigned char)(memcmp(in + 3, row + n, length) == 0);
        row[61] = (unsigned char)(memcmp("abcd", "abce", 4) < 0);
        row[62] = (unsigned char)(memcmp("ab\xff", "ab\x01", 3) > 0);
    }
}
VGPU_KERNEL(test_blocks, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(unsigned));

typedef __int128 wide;
typedef unsigned __int128 uwide;

/* Pairs of numbers and shift counts; eleven results each. */
void test_wide(const wide *in, wide *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++, out += 12) {
        wide a = in[2 * i], b = in[2 * i + 1], product;
        int count = (int)((uwide)b & 127);
        int divides = b != 0 && (b != -1 || (uwide)a != (uwide)1 << 127);

        out[0] = a * b;
        out[1] = divides ? a / b : 0;
        out[2] = divides ? a % b : 0;
        out[3] = b == 0 ? 0 : (wide)((uwide)a / (uwide)b);
        out[4] = b == 0 ? 0 : (wide)((uwide)a % (uwide)b);
        out[5] = (wide)((uwide)a << count);
        out[6] = a >> count;
        out[7] = (wide)((uwide)a >> count);
        out[8] = __builtin_mul_overflow(a, b, &product);
        out[9] = product;
    }
}
VGPU_KERNEL(test_wide, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(unsigned));

void test_halves(const double *in, uint16_t *out, unsigned n)
{
    float *back = (float *)(out + 2 * n);

    for (unsigned i = 0; i < n; i++) {
        out[i] = __truncdfhf2(in[i]);
        out[n + i] = __truncsfhf2((float)in[i]);
        back[i] = __extendhfsf2(out[i]);
    }
}
VGPU_KERNEL(test_halves, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(unsigned));

#define EACH_REAL(X)                                                                               \
    X(ceil)                                                                                        \
    X(floor)                                                                                       \
    X(round)                                                                                       \
    X(trunc)                                                                                       \
    X(cos)                                                                                         \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(log)                                                                                         \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(sin)                                                                                         \
    X(rint)                                                                                        \
    X(nearbyint)                                                                                   \
    X(roundeven)
#define DECLARE(name)                                                                              \
    double name(double x);                                                                         \
    float name##f(float x);
EACH_REAL(DECLARE)
double fmod(double x, double y), pow(double x, double y);
float fmodf(float x, float y), powf(float x, float y);

/* Rows of doubles and of the floats of them. */
void test_reals(const double *in, double *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        double x = in[i], y = in[n - 1 - i], *row = out + i;

#define CALL(name)                                                                                 \
    *row = name(x), row += n;                                                                      \
    *row = name##f((float)x), row += n;
        EACH_REAL(CALL)
        *row = fmod(x, y), row += n;
        *row = fmodf((float)x, (float)y), row += n;
        *row = pow(x, y), row += n;
        *row = powf((float)x, (float)y);
    }
}
VGPU_KERNEL(test_reals, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(unsigned));
