/*
 * What kernels link: printf, and the functions of OpenCL C under the names that compilers give
 * them. The rest of the runtime is inline in vgpu.h.
 */
#include "vgpu.h"

int printf(const char *format, ...)
{
    register const char *text __asm__("a0") = format;
    register void *slots __asm__("a1");
    register long number __asm__("a7") = VGPU_CALL_PRINTF;
    register long length __asm__("a0");
    va_list arguments;

    va_start(arguments, format);
    /* Variable arguments are 8-byte slots in memory, and a va_list is the address of the next. */
    slots = *(void **)&arguments;
    __asm__ volatile("ecall" : "=r"(length) : "r"(text), "r"(slots), "r"(number) : "memory");
    va_end(arguments);
    return (int)length;
}

int vgpu_printf(const char *format, ...) __attribute__((alias("printf")));

/* Compilers make calls of these two on their own. */

void *memcpy(void *target, const void *source, size_t length)
{
    char *to = target;
    const char *from = source;

    while (length-- > 0)
        *to++ = *from++;
    return target;
}

void *memset(void *target, int value, size_t length)
{
    char *to = target;

    while (length-- > 0)
        *to++ = (char)value;
    return target;
}

/* Of dimensions beyond the last one, ids and offsets are 0 and sizes are 1. */
#define OPENCL_SIZE(mangled, function, beyond)                                                     \
    size_t opencl_##function(unsigned d) __asm__(mangled);                                         \
    size_t opencl_##function(unsigned d)                                                           \
    {                                                                                              \
        return d < 3 ? vgpu_##function(d) : beyond;                                                \
    }

OPENCL_SIZE("_Z13get_global_idj", global_id, 0)
OPENCL_SIZE("_Z12get_local_idj", local_id, 0)
OPENCL_SIZE("_Z12get_group_idj", group_id, 0)
OPENCL_SIZE("_Z17get_global_offsetj", global_offset, 0)
OPENCL_SIZE("_Z15get_global_sizej", global_size, 1)
OPENCL_SIZE("_Z14get_local_sizej", local_size, 1)
OPENCL_SIZE("_Z14get_num_groupsj", group_count, 1)

unsigned opencl_work_dim(void) __asm__("_Z12get_work_dimv");
unsigned opencl_work_dim(void)
{
    return vgpu_thread()->work_dimensions;
}

#define OPENCL_BARRIER(mangled, name)                                                              \
    void opencl_##name(unsigned flags) __asm__(mangled);                                           \
    void opencl_##name(unsigned flags)                                                             \
    {                                                                                              \
        (void)flags;                                                                               \
        vgpu_barrier();                                                                            \
    }

OPENCL_BARRIER("_Z7barrierj", barrier)
OPENCL_BARRIER("_Z18work_group_barrierj", work_group_barrier)

int opencl_atomic_add(int *target, int value) __asm__("_Z10atomic_addPU8CLglobalVii");
int opencl_atomic_add(int *target, int value)
{
    return __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);
}

int opencl_atomic_inc(int *target) __asm__("_Z10atomic_incPU8CLglobalVi");
int opencl_atomic_inc(int *target)
{
    return __atomic_fetch_add(target, 1, __ATOMIC_SEQ_CST);
}

#define OPENCL_MATH1(mangled, name, function)                                                      \
    float opencl_##name(float a) __asm__(mangled "f");                                             \
    float opencl_##name(float a)                                                                   \
    {                                                                                              \
        return vgpu_math(function, a, 0);                                                          \
    }                                                                                              \
    double opencl_##name##64(double a) __asm__(mangled "d");                                       \
    double opencl_##name##64(double a)                                                             \
    {                                                                                              \
        return vgpu_math64(function, a, 0);                                                        \
    }

#define OPENCL_MATH2(mangled, name, function)                                                      \
    float opencl_##name(float a, float b) __asm__(mangled "ff");                                   \
    float opencl_##name(float a, float b)                                                          \
    {                                                                                              \
        return vgpu_math(function, a, b);                                                          \
    }                                                                                              \
    double opencl_##name##64(double a, double b) __asm__(mangled "dd");                            \
    double opencl_##name##64(double a, double b)                                                   \
    {                                                                                              \
        return vgpu_math64(function, a, b);                                                        \
    }

OPENCL_MATH1("_Z3exp", exp, VGPU_MATH_EXP)
OPENCL_MATH1("_Z4exp2", exp2, VGPU_MATH_EXP2)
OPENCL_MATH1("_Z3log", log, VGPU_MATH_LOG)
OPENCL_MATH1("_Z4log2", log2, VGPU_MATH_LOG2)
OPENCL_MATH1("_Z5log10", log10, VGPU_MATH_LOG10)
OPENCL_MATH1("_Z3sin", sin, VGPU_MATH_SIN)
OPENCL_MATH1("_Z3cos", cos, VGPU_MATH_COS)
OPENCL_MATH1("_Z3tan", tan, VGPU_MATH_TAN)
OPENCL_MATH1("_Z4asin", asin, VGPU_MATH_ASIN)
OPENCL_MATH1("_Z4acos", acos, VGPU_MATH_ACOS)
OPENCL_MATH1("_Z4atan", atan, VGPU_MATH_ATAN)
OPENCL_MATH1("_Z5floor", floor, VGPU_MATH_FLOOR)
OPENCL_MATH1("_Z4ceil", ceil, VGPU_MATH_CEIL)
OPENCL_MATH1("_Z5round", round, VGPU_MATH_ROUND)
OPENCL_MATH1("_Z5trunc", trunc, VGPU_MATH_TRUNC)
OPENCL_MATH2("_Z5atan2", atan2, VGPU_MATH_ATAN2)
OPENCL_MATH2("_Z3pow", pow, VGPU_MATH_POW)
OPENCL_MATH2("_Z4fmod", fmod, VGPU_MATH_FMOD)

float opencl_sqrt(float a) __asm__("_Z4sqrtf");
float opencl_sqrt(float a)
{
    return __builtin_sqrtf(a);
}

float opencl_fabs(float a) __asm__("_Z4fabsf");
float opencl_fabs(float a)
{
    return __builtin_fabsf(a);
}
