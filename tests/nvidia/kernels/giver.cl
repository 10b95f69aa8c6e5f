/* What taker.cl takes: two functions and a variable; and a variable that only its functions know. */

global ulong total = 7;
static global ulong hidden;

ulong scaled(ulong x)
{
    return x * 3;
}

ulong remembered(void)
{
    return hidden;
}

kernel void store(global ulong *target, ulong value)
{
    total = value;
    hidden = value;
    target[get_global_id(0)] = value;
}
