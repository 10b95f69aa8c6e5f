/* The same work under qemu-riscv64: prints seconds of processor time and result bits for each loop.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "work.h"

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void)
{
    static uint64_t memory[1024];
    static float floats[1024];
    double start = now();
    uint64_t integer = work_integer(memory, WORK_ROUNDS);
    double middle = now();
    float real;
    uint32_t bits;

    for (unsigned i = 0; i < 1024; i++)
        floats[i] = (float)i;
    real = work_float(floats, WORK_ROUNDS);
    memcpy(&bits, &real, sizeof(bits));
    (void)printf("%.6f %" PRIx64 " %.6f %" PRIx32 "\n", middle - start, integer, now() - middle,
                 bits);
    return 0;
}
