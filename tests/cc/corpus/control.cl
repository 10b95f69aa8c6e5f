/* Control flow and integer arithmetic. */

kernel void count_bits(global uint *out, global const uint *in)
{
    size_t i = get_global_id(0);
    uint value = in[i];
    uint count = 0;

    while (value) {
        value &= value - 1;
        count++;
    }
    out[i] = count;
}

kernel void collatz(global uint *out)
{
    uint value = (uint)get_global_id(0) + 1;
    uint steps = 0;

    for (; value != 1; steps++)
        value = value % 2 ? 3 * value + 1 : value / 2;
    out[get_global_id(0)] = steps;
}

kernel void choose(global int *out, global const int *in)
{
    size_t i = get_global_id(0);

    switch (in[i]) {
    case 0:
        out[i] = 100;
        break;
    case 1:
        out[i] = 200; /* and what follows */
    case 2:
        out[i] += 7;
        break;
    case 40 ... 50:
        out[i] = in[i] * 2;
        break;
    case -3:
        return;
    default:
        out[i] = -1;
    }
}

kernel void skip_and_stop(global int *out, int limit)
{
    int sum = 0;

    for (int i = 0; i < 1000; i++) {
        if (i % 3 == (int)(get_global_id(0) % 3))
            continue;
        if (i > limit)
            break;
        sum += i;
    }
    out[get_global_id(0)] = sum;
}

int gcd(int a, int b);
int gcd(int a, int b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* Not allowed by OpenCL C and not refused: it is a call like any other. */
kernel void recursion(global int *out, int a)
{
    out[get_global_id(0)] = gcd(a, (int)get_global_id(0) + 1);
}

kernel void division(global long *out, long a, long b, uint c, uint d)
{
    out[0] = a / b;
    out[1] = a % b;
    out[2] = c / d;
    out[3] = c % d;
    out[4] = a >> 3;
    out[5] = (long)((ulong)a >> 3);
    out[6] = (int)a * (int)b;
    out[7] = (long)mul_hi((ulong)a, (ulong)b);
}

kernel void narrow(global char *c, global uchar *uc, global short *s, global ushort *us, int value)
{
    size_t i = get_global_id(0);

    c[i] = (char)(value + i);
    uc[i] = (uchar)(value + i);
    s[i] = (short)(value * (int)i);
    us[i] = (ushort)(value * (int)i);
    c[i] = c[i] / 2;
    us[i] = us[i] / 3;
}

kernel void builtin_integers(global uint *out, global const uint *in)
{
    size_t i = get_global_id(0);
    uint x = in[i];

    out[i * 8 + 0] = popcount(x);
    out[i * 8 + 1] = clz(x);
    out[i * 8 + 2] = rotate(x, 5u);
    out[i * 8 + 3] = add_sat(x, 0x80000000u);
    out[i * 8 + 4] = hadd(x, 1u);
    out[i * 8 + 5] = (uint)abs_diff((int)x, 7);
    out[i * 8 + 6] = clamp(x, 10u, 1000u);
    out[i * 8 + 7] = mad24((uint)(x & 0xffff), 3u, 1u);
}

/* A jump into nested loops and out of them. */
kernel void primes(global uchar *out, int n)
{
    int i = (int)get_global_id(0);
    uchar is_prime = i >= 2;

    for (int d = 2; d * d <= i; d++) {
        if (i % d == 0) {
            is_prime = 0;
            goto done;
        }
    }
done:
    if (i < n)
        out[i] = is_prime;
}

kernel void bubble(global int *data, int n)
{
    global int *mine = data + get_global_id(0) * (size_t)n;
    bool changed;

    do {
        changed = false;
        for (int i = 0; i + 1 < n; i++) {
            if (mine[i] > mine[i + 1]) {
                int other = mine[i];

                mine[i] = mine[i + 1];
                mine[i + 1] = other;
                changed = true;
            }
        }
    } while (changed);
}

kernel void ids(global ulong *out)
{
    size_t at = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) *
                                                         get_global_id(2));
    global ulong *mine = out + at * 12;

    mine[0] = get_global_id(0);
    mine[1] = get_global_id(1);
    mine[2] = get_global_id(2);
    mine[3] = get_local_id(0);
    mine[4] = get_local_id(1);
    mine[5] = get_group_id(0);
    mine[6] = get_group_id(2);
    mine[7] = get_num_groups(1);
    mine[8] = get_local_size(0);
    mine[9] = get_work_dim();
    mine[10] = get_global_linear_id();
    mine[11] = get_local_linear_id();
}

/* More private memory than registers, indexed at run time. */
kernel void scratch(global int *out, int rounds)
{
    int table[64];

    for (int i = 0; i < 64; i++)
        table[i] = i + (int)get_global_id(0);
    for (int i = 0; i < rounds; i++)
        table[(i * 7) & 63] += table[(i * 13 + 5) & 63];
    out[get_global_id(0)] = table[11] + table[42];
}

__attribute__((noinline)) int weigh(int depth, int value)
{
    volatile int copy[4];

    copy[depth & 3] = value;
    return copy[depth & 3] + 1;
}

kernel void calls(global int *out)
{
    int sum = 0;

    for (int i = 0; i < 5; i++)
        sum += weigh(i, (int)get_global_id(0) * i);
    out[get_global_id(0)] = sum;
}
