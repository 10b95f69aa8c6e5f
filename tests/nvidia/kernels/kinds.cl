/* printf with all that it takes; printed.h has what it prints. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma clang diagnostic ignored "-Wformat"
#pragma clang diagnostic ignored "-Wformat-extra-args"
#pragma clang diagnostic ignored "-Wformat-invalid-specifier"

constant char word[] = "word";

void nested(int depth)
{
    printf("%d deep\n", depth);
}

kernel void kinds(int zero, float real)
{
    const half h = (half)(real * 2);
    const float4 f = (float4)(real, -real, INFINITY, 0);
    const char3 c = (char3)(1, -2, 3) + (char)zero;
    const short8 s = (short8)(1, 2, 3, 4, 5, 6, 7, -8) + (short)zero;
    const uchar16 b = (uchar16)(7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 255) + (uchar)zero;
    const long2 l = (long2)(LONG_MIN, 5) + zero;
    const double2 d = (double2)(0.1, 1e20) + zero;
    int results = 0;

    results |= printf("nothing to say%%\n");
    results |= printf("%d|%i|%5d|%-5d|%05d|%+d|% d|%.3d\n", -42, 42, 42, 42, 42, 42, 42, zero + 7);
    results |= printf("%u|%x|%X|%#x|%o|%#o\n", 4000000000u, 0xbeef, 0xbeef, 0xbeef, 8, 8);
    results |= printf("%hhd|%hd|%ld|%hhu|%hu|%lu\n", 0x1ff, 0x1ffff, LONG_MIN + zero, 0x1ff, 0x1ffff, ULONG_MAX);
    results |= printf("%f|%.2f|%8.3f|%-8.1f|%e|%E|%g|%G|%a\n", real, real, real, real, real, 1e-10, 1e20, 1e-5, 1.0);
    results |= printf("%f|%lf|%f|%f\n", h, 2.5, -INFINITY, (float)zero);
    results |= printf("%c%c|%s|%10s|%-6s|%.2s|\n", 'o', 'k', word, "right", "left", "cut");
    results |= printf("%v4hlf|%.1v4hlf|%v3hhd|%v8hd|%v16hhu|%v2ld|%v2lx\n", f, f, c, s, b, l, l);
    results |= printf("%v2lf|%v2lg|%v2hla\n", d, d, (float2)(1, 0.5f));
    results |= printf("%*d|%-*d|%.*f|%*.*f\n", 5, 42, 5, 42, 2, real, 8, 1, real);
    results |= printf("%p|%s\n", (global int *)0, zero ? "set" : "zero");
    nested(zero + 3);
    for (int i = 0; i < 3; i++)
        printf("%d:%d ", i, printf(""));
    printf("results %d\n", results);
}

/* Counts and conversions that do not fit. */
kernel void wrong(int zero)
{
    printf("%d %d %s.\n", zero + 1);
    printf("%d.\n", zero + 1, 2, 3);
    printf("%n %y %v5d %v2s %", zero + 1);
    printf("\n");
}
