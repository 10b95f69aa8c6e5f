/* Kernels that spend their time in functions of their own, and in one that they share. */
__attribute__((noinline)) static ulong shared(ulong value, uint rounds)
{
    for (uint i = 0; i < rounds; i++)
        value = value / (i + 3) + 0x123456789abcdef;
    return value;
}

__attribute__((noinline)) static ulong of_first(ulong value, uint rounds)
{
    for (uint i = 0; i < rounds; i++)
        value = value / (i + 5) + 0x23456789abcdef1;
    return value;
}

__attribute__((noinline)) static ulong of_second(ulong value, uint rounds)
{
    for (uint i = 0; i < rounds; i++)
        value = value / (i + 7) + 0x3456789abcdef12;
    return value;
}

kernel void first(global ulong *out, uint rounds)
{
    out[get_global_id(0)] = shared(of_first(1, rounds), rounds / 16);
}

kernel void second(global ulong *out, uint rounds)
{
    out[get_global_id(0)] = shared(of_second(2, rounds), rounds / 16);
}

kernel void third(global ulong *out, uint rounds)
{
    ulong value = 3;

    for (uint i = 0; i < rounds; i++)
        value = value / (i + 9) + 0x456789abcdef123;
    out[get_global_id(0)] = value;
}
