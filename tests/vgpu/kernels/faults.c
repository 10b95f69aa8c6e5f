/* Kernels that do what they should not. */
#include "vgpu.h"

void endless(void);
void illegal(void);
void store_low(void);
void load_wild(uint64_t address);
void store_constant(void);
void store_code(void);
void jump_wild(void);
void jump_odd(void);
void overflow(uint32_t *out);
void breakpoint(void);
void misaligned_atomic(uint8_t *data);
void unknown_call(void);
void give_up(void);
void print_wild(void);
void past_end(uint32_t *data, uint64_t index);
void beyond_local(uint32_t *scratch, uint32_t index);
void only_one(uint32_t *data, uint32_t item);
void stray_rounding(void);

/* A number that the compiler knows nothing about. */
static inline uint64_t hidden(uint64_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

void endless(void)
{
    for (;;)
        __asm__ volatile("");
}
VGPU_KERNEL(endless);

void illegal(void)
{
    __asm__ volatile(".word 0xffffffff");
}
VGPU_KERNEL(illegal);

void store_low(void)
{
    *(volatile uint32_t *)hidden(16) = 1;
}
VGPU_KERNEL(store_low);

void load_wild(uint64_t address)
{
    (void)*(volatile uint8_t *)address;
}
VGPU_KERNEL(load_wild, ARG_VALUE(uint64_t));

static const uint32_t constant = 5;

void store_constant(void)
{
    *(volatile uint32_t *)&constant = 1;
}
VGPU_KERNEL(store_constant);

void store_code(void)
{
    *(volatile uint32_t *)(uintptr_t)store_code = 1;
}
VGPU_KERNEL(store_code);

void jump_wild(void)
{
    ((void (*)(void))hidden(0x1000))();
}
VGPU_KERNEL(jump_wild);

void jump_odd(void)
{
    ((void (*)(void))hidden((uintptr_t)jump_odd + 2))();
}
VGPU_KERNEL(jump_odd);

/* Recursion that the compiler cannot turn into a loop. */
static uint32_t __attribute__((noinline)) recurse(volatile uint32_t *out, uint32_t depth)
{
    volatile uint32_t frame[64];

    frame[depth % 64] = depth;
    *out = depth;
    if (depth == hidden(UINT32_MAX))
        return depth;
    return recurse(out, depth + 1) + frame[(depth + 1) % 64];
}

void overflow(uint32_t *out)
{
    *out = recurse(out, 0);
}
VGPU_KERNEL(overflow, ARG_GLOBAL);

void breakpoint(void)
{
    __asm__ volatile("ebreak");
}
VGPU_KERNEL(breakpoint);

void misaligned_atomic(uint8_t *data)
{
    vgpu_atomic_add((uint32_t *)(data + 1), 1);
}
VGPU_KERNEL(misaligned_atomic, ARG_GLOBAL);

void unknown_call(void)
{
    register long number __asm__("a7") = 12345;

    __asm__ volatile("ecall" : : "r"(number));
}
VGPU_KERNEL(unknown_call);

void give_up(void)
{
    vgpu_abort("no more");
}
VGPU_KERNEL(give_up);

void print_wild(void)
{
    vgpu_printf("%s", (const char *)hidden(24));
}
VGPU_KERNEL(print_wild);

void past_end(uint32_t *data, uint64_t index)
{
    data[index] = 1;
}
VGPU_KERNEL(past_end, ARG_GLOBAL, ARG_VALUE(uint64_t));

void beyond_local(uint32_t *scratch, uint32_t index)
{
    scratch[index] = 1;
}
VGPU_KERNEL(beyond_local, ARG_LOCAL, ARG_VALUE(uint32_t));

/* Exactly one item goes wrong, the others go on. */
void only_one(uint32_t *data, uint32_t item)
{
    if (vgpu_global_id(0) == item)
        *(volatile uint64_t *)hidden(0x40) = 1;
    data[vgpu_global_id(0)] = 1;
}
VGPU_KERNEL(only_one, ARG_GLOBAL, ARG_VALUE(uint32_t));

/* A rounding mode that does not exist makes the next operation illegal. */
void stray_rounding(void)
{
    volatile float value = 1;

    __asm__ volatile("fsrmi 6");
    value = value + value;
}
VGPU_KERNEL(stray_rounding);
