#include "tests/oa/oa_sequence.h"

#include <string.h>

#include "tests/metric/support.h"

static void number(const struct oa_format *format, unsigned char *reports, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        reports[(size_t)i * format->report_bytes] = (unsigned char)(i + 1);
}

void oa_sequence_random(const struct oa_format *format, unsigned char *reports, uint32_t count,
                        uint64_t *seed)
{
    for (size_t i = 0; i < (size_t)count * format->report_bytes; i++)
        reports[i] = (unsigned char)(next_random(seed) >> 32);
    number(format, reports, count);
}

void oa_sequence_advancing(const struct oa_format *format, unsigned char *reports, uint32_t count,
                           uint64_t *seed)
{
    memset(reports, 0, (size_t)count * format->report_bytes);
    for (uint32_t r = 0; r < format->run_count; r++) {
        const struct oa_run *run = &format->runs[r];

        for (uint32_t index = 0; index < run->count; index++) {
            uint64_t value = next_random(seed);

            for (uint32_t i = 0; i < count; i++) {
                oa_report_set(run, index, reports + (size_t)i * format->report_bytes, value);
                value += next_random(seed) >> (44 + i % 20);
            }
        }
    }
    number(format, reports, count);
}

void oa_sequence_edges(const struct oa_format *format, unsigned char *reports, uint32_t count,
                       uint64_t *seed)
{
    static const uint64_t edges[] = {0, 0, 1, 0, UINT64_MAX, UINT64_MAX, 0, UINT64_C(1) << 31};

    (void)seed;
    memset(reports, 0, (size_t)count * format->report_bytes);
    for (uint32_t r = 0; r < format->run_count; r++) {
        const struct oa_run *run = &format->runs[r];
        const uint32_t slow = run->bank == OA_GPU_TIME || run->bank == OA_GPU_CLOCK ? 8 : count + 1;

        for (uint32_t index = 0; index < run->count; index++) {
            for (uint32_t i = 0; i < count; i++)
                oa_report_set(run, index, reports + (size_t)i * format->report_bytes,
                              edges[(i / slow + i) % 8]);
        }
    }
    number(format, reports, count);
}
