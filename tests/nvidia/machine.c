/*
 * For API tests of other folders: a machine with an H100 that does not exist, from before the first
 * call to the end of the program. With ZETA_TEST_NVIDIA=device it is the machine itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/cuda.h"

static struct cuda_machine *machine;
static pid_t owner; /* a child of fork() leaves it alone */

__attribute__((constructor)) static void start(void)
{
    const char *wanted = getenv("ZETA_TEST_NVIDIA");
    char root[4096];

    if (wanted && strcmp(wanted, "device") == 0)
        return;
    machine = cuda_start("gh100");
    if (!machine)
        abort();
    owner = getpid();
    (void)snprintf(root, sizeof(root), "%.3000s/root", cuda_folder(machine));
    (void)setenv("ZETA_PLUGIN_NVIDIA_ROOT", root, 1);
    (void)setenv("ZETA_PLUGIN_NVIDIA_LIBCUDA", CUDA_LIBRARIES, 1);
}

__attribute__((destructor)) static void stop(void)
{
    if (machine && getpid() == owner)
        cuda_stop(machine);
}
