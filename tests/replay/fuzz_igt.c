/* Any bytes behind the first record of a file of intel-gpu-tools. Rule 17.12. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/replay/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char first[16] = {0, 0, 1, 0, 0, 0, 16, 0, 1};
    FILE *file = fopen(fuzz_path(), "w");

    if (!file || fwrite(first, 1, sizeof(first), file) != sizeof(first) ||
        fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    fuzz_play();
    return 0;
}
