/*
 * What kernels in OpenCL C call, in CUDA C: compare_nvcc.py gives nvcc the same text, with the
 * words of OpenCL C replaced, behind this header.
 */
#include <cstddef>

#define CLK_LOCAL_MEM_FENCE 0
#define barrier(flags) __syncthreads()

typedef unsigned int uint;

#define AXIS(vector, d) ((d) == 0 ? vector.x : (d) == 1 ? vector.y : vector.z)
#define get_local_id(d) ((size_t)AXIS(threadIdx, d))
#define get_group_id(d) ((size_t)AXIS(blockIdx, d))
#define get_local_size(d) ((size_t)AXIS(blockDim, d))
#define get_num_groups(d) ((size_t)AXIS(gridDim, d))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
