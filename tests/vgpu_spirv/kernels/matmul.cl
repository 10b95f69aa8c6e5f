/* Product of square matrices in tiles of 16 x 16, in shared local memory. */
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul(global const float *a, global const float *b, global float *c, int n)
{
    local float a_tile[TILE][TILE];
    local float b_tile[TILE][TILE];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    for (int t = 0; t < n / TILE; t++) {
        a_tile[y][x] = a[row * (size_t)n + (size_t)t * TILE + x];
        b_tile[y][x] = b[((size_t)t * TILE + y) * (size_t)n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * (size_t)n + column] = sum;
}
