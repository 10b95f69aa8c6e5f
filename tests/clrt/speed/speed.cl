/* Kernels whose code is compared with that of nvcc, beside those of examples/kernels. */
#define TILE 16
#define ITEMS 256

/* The sum of what each group reads: local memory, barriers and a tree. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reduce(global const float *in, global float *out, uint count)
{
    local float sums[ITEMS];
    uint item = get_local_id(0);
    float sum = 0;

    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        sum += in[i];
    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint left = ITEMS / 2; left > 0; left /= 2) {
        if (item < left)
            sums[item] += sums[item + left];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        out[get_group_id(0)] = sums[0];
}

/* Four chains of fused multiplications and additions. */
kernel void chains(global float *out, uint turns, float factor)
{
    size_t i = get_global_id(0);
    float a = i, b = a + 1, c = a + 2, d = a + 3;

    for (uint turn = 0; turn < turns; turn++) {
        a = fma(a, factor, 1.0f);
        b = fma(b, factor, 1.0f);
        c = fma(c, factor, 1.0f);
        d = fma(d, factor, 1.0f);
    }
    out[i] = a + b + c + d;
}

/* Each number and its four neighbours; numbers at the border stay. */
kernel void stencil(global const float *restrict in, global float *restrict out, int width,
                    int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    int at = y * width + x;

    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        out[at] = 0.5f * in[at] +
                  0.125f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
    else if (x < width && y < height)
        out[at] = in[at];
}

/* Tiles through local memory, whose rows have one place more than they need. */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
transpose(global const float *in, global float *out, int width, int height)
{
    local float tile[TILE][TILE + 1];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;

    if (left + x < width && top + y < height)
        tile[y][x] = in[(top + y) * width + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left + y < width && top + x < height)
        out[(left + y) * height + top + x] = tile[x][y];
}
