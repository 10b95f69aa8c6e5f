/* What a device may say that it has: halves, atomics of floating point, arguments, printf. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

/* With the pointer behind it all the bytes of arguments that there can be. */
struct large {
    int values[1022];
};

kernel void large_argument(struct large large, global int *out)
{
    out[get_global_id(0)] = large.values[1021 - get_global_id(0)];
}

kernel void halves(global half *values)
{
    size_t i = get_global_id(0);

    values[i] = fma(values[i], 2.0h, 1.0h);
}

#define ATOMICS(type)                                                                              \
    kernel void atomics_##type(global atomic_##type *out)                                          \
    {                                                                                              \
        local atomic_##type sum, least, most;                                                      \
        type mine = get_local_id(0);                                                               \
                                                                                                   \
        if (get_local_id(0) == 0) {                                                                \
            atomic_init(&sum, 0);                                                                  \
            atomic_init(&least, 1000);                                                             \
            atomic_init(&most, -1000);                                                             \
        }                                                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        atomic_fetch_add(&sum, mine);                                                              \
        atomic_fetch_min(&least, mine);                                                            \
        atomic_fetch_max(&most, mine);                                                             \
        atomic_fetch_add(&out[0], mine);                                                           \
        atomic_fetch_min(&out[1], mine - 5);                                                       \
        atomic_fetch_max(&out[2], mine + 5);                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (get_local_id(0) == 0) {                                                                \
            atomic_store(&out[3], atomic_load(&sum));                                              \
            atomic_store(&out[4], atomic_load(&least));                                            \
            atomic_store(&out[5], atomic_load(&most));                                             \
        }                                                                                          \
    }

ATOMICS(float)
ATOMICS(double)

kernel void print(int value)
{
    printf("the value is %d\n", value);
}
