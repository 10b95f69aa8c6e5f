/*
 * The product of matmul.c in OpenCL C, for programs that bring SPIR-V: the same tiles, barriers and
 * accesses, so the same figures.
 */
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul(global const float *a, global const float *b, global float *c, int n)
{
    local float a_tile[TILE][TILE];
    local float b_tile[TILE][TILE];
    size_t x = get_local_id(0);
    size_t y = get_local_id(1);
    size_t column = get_global_id(0);
    size_t row = get_global_id(1);
    float sum = 0;

    for (size_t tile = 0; tile < n; tile += TILE) {
        a_tile[y][x] = a[row * n + tile + x];
        b_tile[y][x] = b[(tile + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
