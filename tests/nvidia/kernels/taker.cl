/* Takes from giver.cl. Where both use the same variables, load copies what store of that one stored. */

ulong scaled(ulong x);
ulong remembered(void);
extern global ulong total;

global ulong own = 5;

kernel void step(global ulong *sum, ulong value)
{
    *sum = scaled(*sum) + value;
}

kernel void load(global const ulong *source, global ulong *target)
{
    const size_t i = get_global_id(0);

    target[i] = total + remembered() - source[i];
}
