/* Common and geometric functions. */
#include "builtin.h"

/* Where a literal stands in for a type, it is exact in all of them. */
#define COMMON(T, to_degrees, to_radians)                                                          \
    T OVERLOAD min(T x, T y) { return y < x ? y : x; }                                             \
    T OVERLOAD max(T x, T y) { return x < y ? y : x; }                                             \
    T OVERLOAD clamp(T x, T low, T high) { return fmin(fmax(x, low), high); }                      \
    T OVERLOAD degrees(T x) { return (T)(to_degrees * x); }                                        \
    T OVERLOAD radians(T x) { return (T)(to_radians * x); }                                        \
    T OVERLOAD mix(T x, T y, T a) { return fma(y - x, a, x); }                                     \
    T OVERLOAD step(T edge, T x) { return x < edge ? (T)0 : (T)1; }                                \
    T OVERLOAD smoothstep(T low, T high, T x)                                                      \
    {                                                                                              \
        T t = clamp((x - low) / (high - low), (T)0, (T)1);                                         \
        return t * t * ((T)3 - (T)2 * t);                                                          \
    }                                                                                              \
    T OVERLOAD sign(T x)                                                                           \
    {                                                                                              \
        return isnan(x) ? (T)0 : x == (T)0 ? x : copysign((T)1, x);                                \
    }

#define VECTORS(T)                                                                                 \
    VECTOR1(degrees, T, T)                                                                         \
    VECTOR1(radians, T, T)                                                                         \
    VECTOR1(sign, T, T)                                                                            \
    VECTOR2(min, T, T, T)                                                                          \
    VECTOR2(max, T, T, T)                                                                          \
    VECTOR2(step, T, T, T)                                                                         \
    VECTOR3(clamp, T, T, T, T)                                                                     \
    VECTOR3(mix, T, T, T, T)                                                                       \
    VECTOR3(smoothstep, T, T, T, T)                                                                \
    EACH_VECTOR(SPREAD, T, T)
#define SPREAD(V, T)                                                                               \
    SPREAD_LAST(min, V, V, T)                                                                      \
    SPREAD_LAST(max, V, V, T)                                                                      \
    SPREAD_FIRST(step, V, V, T)                                                                    \
    V OVERLOAD clamp(V x, T low, T high) { return clamp(x, (V)(low), (V)(high)); }                 \
    V OVERLOAD mix(V x, V y, T a) { return mix(x, y, (V)(a)); }                                    \
    V OVERLOAD smoothstep(T low, T high, V x) { return smoothstep((V)(low), (V)(high), x); }

COMMON(float, 57.29577951308232f, 0.017453292519943295f)
COMMON(double, 57.29577951308232, 0.017453292519943295)
COMMON(half, 57.29577951308232f, 0.017453292519943295f)
VECTORS(float)
VECTORS(double)
VECTORS(half)

/*
 * Geometry. Sums are made in W: singles in double, so that a length neither overflows nor loses
 * small components.
 */

#define SUM2(a, b, W) ((W)(a).x * (W)(b).x + (W)(a).y * (W)(b).y)
#define SUM3(a, b, W) (SUM2(a, b, W) + (W)(a).z * (W)(b).z)
#define SUM4(a, b, W) (SUM3(a, b, W) + (W)(a).w * (W)(b).w)

#define GEOMETRY_WIDE(T, V, W, sum)                                                                \
    T OVERLOAD dot(V a, V b) { return (T)sum(a, b, W); }                                           \
    T OVERLOAD length(V a) { return (T)sqrt(sum(a, a, W)); }                                       \
    V OVERLOAD normalize(V a)                                                                      \
    {                                                                                              \
        W size = sqrt(sum(a, a, W));                                                               \
        if (size == 0)                                                                             \
            return a;                                                                              \
        if (isinf(size))                                                                           \
            return normalize(select(copysign((V)(0), a), copysign((V)(1), a), isinf(a)));          \
        return SCALE_##V(a, 1 / size, T, W);                                                       \
    }
#define SCALE2(a, f, T, W) (T)((W)a.x * f), (T)((W)a.y * f)
#define SCALE_float2(a, f, T, W) (float2)(SCALE2(a, f, T, W))
#define SCALE_float3(a, f, T, W) (float3)(SCALE2(a, f, T, W), (T)((W)a.z * f))
#define SCALE_float4(a, f, T, W) (float4)(SCALE2(a, f, T, W), (T)((W)a.z * f), (T)((W)a.w * f))
#define SCALE_half2(a, f, T, W) (half2)(SCALE2(a, f, T, W))
#define SCALE_half3(a, f, T, W) (half3)(SCALE2(a, f, T, W), (T)((W)a.z * f))
#define SCALE_half4(a, f, T, W) (half4)(SCALE2(a, f, T, W), (T)((W)a.z * f), (T)((W)a.w * f))

GEOMETRY_WIDE(float, float2, double, SUM2)
GEOMETRY_WIDE(float, float3, double, SUM3)
GEOMETRY_WIDE(float, float4, double, SUM4)
GEOMETRY_WIDE(half, half2, float, SUM2)
GEOMETRY_WIDE(half, half3, float, SUM3)
GEOMETRY_WIDE(half, half4, float, SUM4)

/* Doubles have nothing wider: the operands are brought near 1 by a power of two first. */
#define MAX2(a) fmax(fabs((a).x), fabs((a).y))
#define MAX3(a) fmax(MAX2(a), fabs((a).z))
#define MAX4(a) fmax(MAX3(a), fabs((a).w))

#define GEOMETRY_SCALED(V, sum, largest)                                                           \
    double OVERLOAD dot(V a, V b) { return sum(a, b, double); }                                    \
    double OVERLOAD length(V a)                                                                    \
    {                                                                                              \
        double most = largest(a);                                                                  \
        int exponent = ilogb(most);                                                                \
        if (any(isinf(a)))                                                                         \
            return INFINITY;                                                                       \
        if (most == 0 || isnan(most))                                                              \
            return most;                                                                           \
        a = ldexp(a, -exponent);                                                                   \
        return ldexp(sqrt(sum(a, a, double)), exponent);                                           \
    }                                                                                              \
    V OVERLOAD normalize(V a)                                                                      \
    {                                                                                              \
        double most = largest(a);                                                                  \
        if (any(isinf(a)))                                                                         \
            return normalize(select(copysign((V)(0), a), copysign((V)(1), a), isinf(a)));          \
        if (most == 0 || isnan(most))                                                              \
            return a;                                                                              \
        a = ldexp(a, -ilogb(most));                                                                \
        return a / sqrt(sum(a, a, double));                                                        \
    }
GEOMETRY_SCALED(double2, SUM2, MAX2)
GEOMETRY_SCALED(double3, SUM3, MAX3)
GEOMETRY_SCALED(double4, SUM4, MAX4)

#define DISTANCE(V, T)                                                                             \
    T OVERLOAD distance(V a, V b) { return length(a - b); }
#define GEOMETRY(T)                                                                                \
    T OVERLOAD dot(T a, T b) { return a * b; }                                                     \
    T OVERLOAD length(T a) { return fabs(a); }                                                     \
    T OVERLOAD normalize(T a) { return isnan(a) || a == (T)0 ? a : copysign((T)1, a); }            \
    DISTANCE(T, T)                                                                                 \
    DISTANCE(T##2, T)                                                                              \
    DISTANCE(T##3, T)                                                                              \
    DISTANCE(T##4, T)                                                                              \
    T##3 OVERLOAD cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }                  \
    T##4 OVERLOAD cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), 0); }
EACH_REAL(GEOMETRY)

#define FAST(V)                                                                                    \
    float OVERLOAD fast_length(V a) { return length(a); }                                          \
    float OVERLOAD fast_distance(V a, V b) { return distance(a, b); }                              \
    V OVERLOAD fast_normalize(V a) { return normalize(a); }
FAST(float)
FAST(float2)
FAST(float3)
FAST(float4)
