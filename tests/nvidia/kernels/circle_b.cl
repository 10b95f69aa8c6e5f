/* Needs circle_a.cl, which needs this one. */

ulong one(void);

static global ulong last;

ulong same(ulong x)
{
    last = x;
    return last * one();
}

kernel void store(global ulong *target, ulong value)
{
    target[get_global_id(0)] = same(value);
}
