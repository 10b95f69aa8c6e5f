/* c = a + b, one element for each work-item; the last group may have some too many. */
kernel void vector_add(global const float *a, global const float *b, global float *c, uint count)
{
    size_t i = get_global_id(0);

    if (i < count)
        c[i] = a[i] + b[i];
}
