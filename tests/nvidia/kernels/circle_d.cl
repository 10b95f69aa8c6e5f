/* As circle_a.cl, with a kernel whose name circle_b.cl has, too. */

ulong same(ulong x);

ulong one(void)
{
    return 1;
}

kernel void store(global ulong *target, ulong value)
{
    target[get_global_id(0)] = same(value);
}
