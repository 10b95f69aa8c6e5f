/* Numbers of pieces of a GPU's time, and the images that hold them. */

#include <string.h>

#include "tests/cuda/cupti/cupti.h"

/* The GPU's clock is slower than the host's by 11.6 millionths. */
enum { SLOWER_PER_1E7 = 116, IMAGE_FIRST = 18500, IMAGE_MORE = 1800 };

uint64_t image_bytes(uint64_t capacity, const uint64_t metrics[METRIC_WORDS], uint64_t *out_stride)
{
    uint64_t count = 0;

    for (int i = 0; i < METRIC_WORDS; i++)
        count += (uint64_t)__builtin_popcountll(metrics[i]);
    *out_stride = (IMAGE_FIRST + (count - 1) * IMAGE_MORE) / 8 * 8;
    return sizeof(struct data_image) + capacity * *out_stride;
}

void interval_add(struct interval *interval, const struct cuda_gpu *gpu, uint64_t first_work,
                  uint64_t begin, uint64_t end)
{
    for (uint64_t i = first_work; i < gpu->work_count; i++) {
        const struct cuda_work *work = &gpu->works[i % CUDA_WORKS];

        if (work->end <= begin || work->begin >= end)
            continue;
        for (int k = 0; k < CUDA_COUNTS; k++)
            interval->counts[k] += cuda_counted(work, (enum cuda_count)k, end) -
                                   cuda_counted(work, (enum cuda_count)k, begin);
    }
}

void interval_clocks(struct interval *interval, const struct cuda_chip *chip)
{
    const uint64_t start = interval->start, end = interval->end;

    interval->duration =
        end - end / 10000000 * SLOWER_PER_1E7 - (start - start / 10000000 * SLOWER_PER_1E7);
    interval->gpc = cuda_cycles(chip->sm_khz, end) - cuda_cycles(chip->sm_khz, start);
    interval->sys = cuda_cycles(chip->system_khz, end) - cuda_cycles(chip->system_khz, start);
    interval->dram = cuda_cycles(chip->memory_khz, end) - cuda_cycles(chip->memory_khz, start);
}
