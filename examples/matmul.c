/*
 * matmul: multiplies two matrices on the first device and checks the result.
 *
 * An ordinary Level Zero program: it asks for no metrics, so what a tool shows of it was seen
 * from outside.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "matrix.h"

enum { MAX_SIZE = 8192 };

struct arguments {
    const char *kernel_path; /* null: the installed one */
    uint32_t size;
};

static int refuse(void)
{
    (void)fprintf(stderr,
                  "usage: matmul [--kernel FILE] [SIZE]\n"
                  "SIZE is a multiple of %d up to %d, and 256 if it is not given.\n",
                  MATRIX_TILE, MAX_SIZE);
    return 2;
}

static int parse(int count, char **words, struct arguments *out_arguments)
{
    int next = 1;

    *out_arguments = (struct arguments){.size = 256};
    if (next + 1 < count && strcmp(words[next], "--kernel") == 0) {
        out_arguments->kernel_path = words[next + 1];
        next += 2;
    }
    if (next < count) {
        char *end = NULL;
        const long size = strtol(words[next], &end, 10);

        if (*end || size <= 0 || size > MAX_SIZE || size % MATRIX_TILE)
            return refuse();
        out_arguments->size = (uint32_t)size;
        next++;
    }
    return next == count ? 0 : refuse();
}

static float *new_matrix(uint32_t n)
{
    float *matrix = calloc((size_t)n * n, sizeof(*matrix));

    if (!matrix)
        example_fail("no memory for a matrix of %" PRIu32 " x %" PRIu32, n, n);
    return matrix;
}

int main(int count, char **words)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    struct arguments arguments;
    char *installed = NULL;
    uint64_t wrong = 0;
    uint32_t n = 0;

    if (parse(count, words, &arguments) != 0)
        return 2;
    n = arguments.size;
    float *a = new_matrix(n);
    float *b = new_matrix(n);
    float *c = new_matrix(n);
    matrix_fill(a, n, 1);
    matrix_fill(b, n, 5);

    example_find_computing_device(&driver, &device);
    example_check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    installed = example_kernel_path(device, "matmul");
    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    matrix_multiply(context, device, arguments.kernel_path ? arguments.kernel_path : installed, a,
                    b, c, n);
    example_check(zeContextDestroy(context), "zeContextDestroy");

    wrong = matrix_count_wrong(a, b, c, n);
    (void)printf("%s: product of two %" PRIu32 " x %" PRIu32 " matrices, %s\n", properties.name, n,
                 n, wrong ? "WRONG" : "result right");
    if (wrong)
        (void)fprintf(stderr, "matmul: %" PRIu64 " elements are wrong\n", wrong);
    free(installed);
    free(a);
    free(b);
    free(c);
    return wrong ? 1 : 0;
}
