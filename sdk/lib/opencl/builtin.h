/*
 * What the sources of the OpenCL C library share: short words for overloads, the functions of
 * the device, and macros that make the vector forms of a function from its scalar form.
 *
 * Vector forms work on halves down to scalars; once inlined nothing of that is left. Width 3 has no
 * halves and is written out.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define OVERLOAD __attribute__((overloadable))

/*
 * What a device provides in a form of its own, beside the functions of work-items and sub-groups.
 * Conversions to integers take what is out of range as they like.
 */
void __zeta_barrier(void);
long __zeta_multiply_high(long a, long b);
ulong __zeta_multiply_high_unsigned(ulong a, ulong b);
long __zeta_float_to_long_rte(float x), __zeta_float_to_long_rtz(float x);
long __zeta_float_to_long_rtp(float x), __zeta_float_to_long_rtn(float x);
long __zeta_double_to_long_rte(double x), __zeta_double_to_long_rtz(double x);
long __zeta_double_to_long_rtp(double x), __zeta_double_to_long_rtn(double x);
ulong __zeta_float_to_ulong_rte(float x), __zeta_float_to_ulong_rtz(float x);
ulong __zeta_float_to_ulong_rtp(float x), __zeta_float_to_ulong_rtn(float x);
ulong __zeta_double_to_ulong_rte(double x), __zeta_double_to_ulong_rtz(double x);
ulong __zeta_double_to_ulong_rtp(double x), __zeta_double_to_ulong_rtn(double x);
float __zeta_long_to_float_rtz(long x), __zeta_long_to_float_rtp(long x);
float __zeta_long_to_float_rtn(long x);
float __zeta_ulong_to_float_rtz(ulong x), __zeta_ulong_to_float_rtp(ulong x);
float __zeta_ulong_to_float_rtn(ulong x);
double __zeta_long_to_double_rtz(long x), __zeta_long_to_double_rtp(long x);
double __zeta_long_to_double_rtn(long x);
double __zeta_ulong_to_double_rtz(ulong x), __zeta_ulong_to_double_rtp(ulong x);
double __zeta_ulong_to_double_rtn(ulong x);
float __zeta_double_to_float_rtz(double x), __zeta_double_to_float_rtp(double x);
float __zeta_double_to_float_rtn(double x);

/* A row in shared local memory for group.cl; elements of up to 8 bytes. */
#define ZETA_GROUP_ROW 512
__private ulong *__zeta_group_row(void);

/* Items of the work-group. */
size_t __zeta_group_items(void);

/* Bits of a half from a number, and back: half_bits.cl, or instructions of the device. */
ushort __zeta_double_to_half_rte(double x), __zeta_double_to_half_rtz(double x);
ushort __zeta_double_to_half_rtp(double x), __zeta_double_to_half_rtn(double x);
ushort __zeta_float_to_half_rte(float x), __zeta_float_to_half_rtz(float x);
ushort __zeta_float_to_half_rtp(float x), __zeta_float_to_half_rtn(float x);
float __zeta_half_to_float(ushort bits);

/* m(type, ...) for each type of a family. */
#define EACH_SIGNED(m, ...)                                                                        \
    m(char, ##__VA_ARGS__) m(short, ##__VA_ARGS__) m(int, ##__VA_ARGS__) m(long, ##__VA_ARGS__)
#define EACH_UNSIGNED(m, ...)                                                                      \
    m(uchar, ##__VA_ARGS__) m(ushort, ##__VA_ARGS__) m(uint, ##__VA_ARGS__) m(ulong, ##__VA_ARGS__)
#define EACH_INTEGER(m, ...) EACH_SIGNED(m, ##__VA_ARGS__) EACH_UNSIGNED(m, ##__VA_ARGS__)
#define EACH_REAL(m, ...) m(float, ##__VA_ARGS__) m(double, ##__VA_ARGS__) m(half, ##__VA_ARGS__)
#define EACH_TYPE(m, ...) EACH_INTEGER(m, ##__VA_ARGS__) EACH_REAL(m, ##__VA_ARGS__)

/* The type, and its vectors: m(type, ...) */
#define EACH_VECTOR(m, T, ...)                                                                     \
    m(T##2, ##__VA_ARGS__) m(T##3, ##__VA_ARGS__) m(T##4, ##__VA_ARGS__) m(T##8, ##__VA_ARGS__)    \
        m(T##16, ##__VA_ARGS__)
#define EACH_WIDTH(m, T, ...) m(T, ##__VA_ARGS__) EACH_VECTOR(m, T, ##__VA_ARGS__)

/*
 * Vector forms of R name(A), R name(A, B) and R name(A, B, C). The scalar form is declared, as a
 * definition hides what the compiler knows about the name.
 */
#define VECTOR1_HALVES(name, R, A)                                                                 \
    R OVERLOAD name(A a)                                                                           \
    {                                                                                              \
        return (R)(name(a.lo), name(a.hi));                                                        \
    }
#define VECTOR1(name, R, A)                                                                        \
    R OVERLOAD name(A a);                                                                          \
    VECTOR1_HALVES(name, R##2, A##2)                                                               \
    R##3 OVERLOAD name(A##3 a)                                                                     \
    {                                                                                              \
        return (R##3)(name(a.s0), name(a.s1), name(a.s2));                                         \
    }                                                                                              \
    VECTOR1_HALVES(name, R##4, A##4)                                                               \
    VECTOR1_HALVES(name, R##8, A##8)                                                               \
    VECTOR1_HALVES(name, R##16, A##16)

#define VECTOR2_HALVES(name, R, A, B)                                                              \
    R OVERLOAD name(A a, B b)                                                                      \
    {                                                                                              \
        return (R)(name(a.lo, b.lo), name(a.hi, b.hi));                                            \
    }
#define VECTOR2(name, R, A, B)                                                                     \
    R OVERLOAD name(A a, B b);                                                                     \
    VECTOR2_HALVES(name, R##2, A##2, B##2)                                                         \
    R##3 OVERLOAD name(A##3 a, B##3 b)                                                             \
    {                                                                                              \
        return (R##3)(name(a.s0, b.s0), name(a.s1, b.s1), name(a.s2, b.s2));                       \
    }                                                                                              \
    VECTOR2_HALVES(name, R##4, A##4, B##4)                                                         \
    VECTOR2_HALVES(name, R##8, A##8, B##8)                                                         \
    VECTOR2_HALVES(name, R##16, A##16, B##16)

#define VECTOR3_HALVES(name, R, A, B, C)                                                           \
    R OVERLOAD name(A a, B b, C c)                                                                 \
    {                                                                                              \
        return (R)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi));                                \
    }
#define VECTOR3(name, R, A, B, C)                                                                  \
    R OVERLOAD name(A a, B b, C c);                                                                \
    VECTOR3_HALVES(name, R##2, A##2, B##2, C##2)                                                   \
    R##3 OVERLOAD name(A##3 a, B##3 b, C##3 c)                                                     \
    {                                                                                              \
        return (R##3)(name(a.s0, b.s0, c.s0), name(a.s1, b.s1, c.s1), name(a.s2, b.s2, c.s2));     \
    }                                                                                              \
    VECTOR3_HALVES(name, R##4, A##4, B##4, C##4)                                                   \
    VECTOR3_HALVES(name, R##8, A##8, B##8, C##8)                                                   \
    VECTOR3_HALVES(name, R##16, A##16, B##16, C##16)

/* Forms whose last, or first, operand is one scalar for all components. */
#define SPREAD_LAST(name, A, B, scalar)                                                            \
    A OVERLOAD name(A a, scalar b)                                                                 \
    {                                                                                              \
        return name(a, (B)(b));                                                                    \
    }
#define SPREAD_FIRST(name, A, B, scalar)                                                           \
    B OVERLOAD name(scalar a, B b)                                                                 \
    {                                                                                              \
        return name((A)(a), b);                                                                    \
    }
