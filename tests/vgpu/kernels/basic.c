/* Kernels that do what they should. */
#include "vgpu.h"

void fill(uint32_t *out, uint32_t value);
void vector_add(const float *a, const float *b, float *c);
void count(uint32_t *counter);
void ping_pong(uint32_t *out, uint32_t rounds);
void ids(uint64_t *out);
void reverse(uint32_t *data, uint32_t *scratch);
void doubles(double *data);
void say(uint32_t number, double real);
void math(float *data);
void many(uint8_t *out, uint8_t a, uint64_t b, uint16_t c, float d, double e);
void nothing(void);
void spin(volatile uint32_t *flag);
void table(uint32_t *out);
void mixed(uint32_t *out);
void near(uint32_t *out);
void through(uint32_t *out, uint32_t which);

void fill(uint32_t *out, uint32_t value)
{
    out[vgpu_global_id(0)] = value;
}
VGPU_KERNEL(fill, ARG_GLOBAL, ARG_VALUE(uint32_t));

void vector_add(const float *a, const float *b, float *c)
{
    size_t i = vgpu_global_id(0);

    c[i] = a[i] + b[i];
}
VGPU_KERNEL(vector_add, ARG_GLOBAL, ARG_GLOBAL, ARG_GLOBAL);

void count(uint32_t *counter)
{
    vgpu_atomic_add(counter, 1);
}
VGPU_KERNEL(count, ARG_GLOBAL);

/* Item 0 and the last item hand a number to each other; every round needs both barriers. */
void ping_pong(uint32_t *out, uint32_t rounds)
{
    VGPU_LOCAL uint32_t ball;
    size_t me = vgpu_local_id(0);
    size_t last = vgpu_local_size(0) - 1;

    for (uint32_t i = 0; i < rounds; i++) {
        if (me == 0)
            ball = ball + 1;
        vgpu_barrier();
        if (me == last)
            ball = ball * 3;
        vgpu_barrier();
    }
    out[vgpu_global_id(0)] = ball;
}
VGPU_KERNEL(ping_pong, ARG_GLOBAL, ARG_VALUE(uint32_t));

/* Everything a work-item knows, 20 numbers each. */
void ids(uint64_t *out)
{
    size_t width = vgpu_global_size(0);
    size_t height = vgpu_global_size(1);
    size_t x = vgpu_global_id(0) - vgpu_global_offset(0);
    size_t y = vgpu_global_id(1) - vgpu_global_offset(1);
    size_t z = vgpu_global_id(2) - vgpu_global_offset(2);

    out += ((z * height + y) * width + x) * 20;
    for (unsigned d = 0; d < 3; d++) {
        out[d] = vgpu_global_id(d);
        out[3 + d] = vgpu_group_id(d);
        out[6 + d] = vgpu_local_id(d);
        out[9 + d] = vgpu_group_count(d);
        out[12 + d] = vgpu_local_size(d);
        out[15 + d] = vgpu_global_size(d);
    }
    out[18] = vgpu_thread()->work_dimensions;
    out[19] = vgpu_thread()->hardware_thread;
}
VGPU_KERNEL(ids, ARG_GLOBAL);

/* Each group reverses its part through local memory given as an argument. */
void reverse(uint32_t *data, uint32_t *scratch)
{
    size_t me = vgpu_local_id(0);

    scratch[me] = data[vgpu_global_id(0)];
    vgpu_barrier();
    data[vgpu_global_id(0)] = scratch[vgpu_local_size(0) - 1 - me];
}
VGPU_KERNEL(reverse, ARG_GLOBAL, ARG_LOCAL);

void doubles(double *data)
{
    size_t i = vgpu_global_id(0);

    data[i] = data[i] * data[i] + 0.5;
}
VGPU_KERNEL(doubles, ARG_GLOBAL);

void say(uint32_t number, double real)
{
    vgpu_printf("%s %u %-4d| %.3f %c 0x%llx %5.1e %%\n", "item", number, -(int)number, real, 'x',
                0x123456789abcULL, real * 1000);
}
VGPU_KERNEL(say, ARG_VALUE(uint32_t), ARG_VALUE(double));

void math(float *data)
{
    data[0] = vgpu_math(VGPU_MATH_EXP, data[0], 0);
    data[1] = vgpu_math(VGPU_MATH_POW, data[1], 3);
    data[2] = (float)vgpu_math64(VGPU_MATH_ATAN2, (double)data[2], 1);
}
VGPU_KERNEL(math, ARG_GLOBAL);

/* Arguments of all sizes, each at its natural alignment. */
void many(uint8_t *out, uint8_t a, uint64_t b, uint16_t c, float d, double e)
{
    *(uint64_t *)out = a + b + c + (uint64_t)d + (uint64_t)e;
}
VGPU_KERNEL(many, ARG_GLOBAL, ARG_VALUE(uint8_t), ARG_VALUE(uint64_t), ARG_VALUE(uint16_t),
            ARG_VALUE(float), ARG_VALUE(double));

void nothing(void)
{
}
VGPU_KERNEL_SIZED(nothing, 4, 2, 1);

/* Ends when the host sets the flag. */
void spin(volatile uint32_t *flag)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
        continue;
}
VGPU_KERNEL(spin, ARG_GLOBAL);

uint32_t global_table[4] = {11, 22, 33, 44};
const uint32_t *const global_pointer = &global_table[2];

void table(uint32_t *out)
{
    out[0] = global_table[vgpu_local_id(0)];
    out[1] = *global_pointer;
}
VGPU_KERNEL(table, ARG_GLOBAL);

/* Work of every kind that counters tell apart, different for each item. */
void mixed(uint32_t *out)
{
    VGPU_LOCAL uint32_t shared[64];
    size_t me = vgpu_local_id(0);
    size_t id = vgpu_global_id(0);
    volatile uint32_t stack[8];
    float real = 1;

    for (unsigned i = 0; i < 20 + id % 37; i++) {
        stack[i % 8] = (uint32_t)i;
        shared[me] += stack[(i + 3) % 8] % (me + 1);
        real = real * 1.5f + 1.0f / (real + (float)i);
        if (i % 8 == 0)
            vgpu_atomic_add(&out[id * 97 % 4096], shared[me]);
    }
    vgpu_barrier();
    out[4096 + id] = shared[(me + 1) % vgpu_local_size(0)] + (uint32_t)real % 7;
}
VGPU_KERNEL(mixed, ARG_GLOBAL);

/* Named registers: the one of a function that is called, and one that stands behind the end. */
static __attribute__((noinline)) void use_t4(uint32_t *out)
{
    __asm__ volatile("li t4, 7\n\tsw t4, 0(%0)" : : "r"(out) : "t4", "memory");
}

void near(uint32_t *out)
{
    __asm__ volatile("fmv.w.x fs7, zero" : : : "fs7");
    use_t4(out);
}
VGPU_KERNEL(near, ARG_GLOBAL);

/* Only its execution tells what it calls. */
static __attribute__((noinline)) void use_t5(uint32_t *out)
{
    __asm__ volatile("li t5, 8\n\tsw t5, 0(%0)" : : "r"(out) : "t5", "memory");
}

void through(uint32_t *out, uint32_t which)
{
    void (*volatile function)(uint32_t *) = which & 1 ? use_t5 : use_t4;

    function(out);
}
VGPU_KERNEL(through, ARG_GLOBAL, ARG_VALUE(uint32_t));
