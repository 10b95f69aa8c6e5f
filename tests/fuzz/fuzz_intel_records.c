/* Any bytes as what read() of a stream of i915 gave: reports come out of them, and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "plugins/intel/kmd/i915.h"

enum { REPORT_BYTES = 64, ROOM = 5 * REPORT_BYTES + 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_intel_i915_records records = {
        .at = data, .bytes = size, .report_bytes = REPORT_BYTES};
    uint8_t reports[ROOM];
    bool good = true;

    while (good) {
        struct zeta_plugin_read read = {.struct_size = sizeof(read)};
        const size_t before = records.bytes;

        good = zeta_intel_i915_records_take(&records, reports, sizeof(reports), &read);
        if (read.bytes % REPORT_BYTES != 0 || read.bytes > sizeof(reports) ||
            records.bytes > before || (read.broken != 0) != (read.reason != 0))
            abort();
        /* Each report was somewhere in the input, behind a header. */
        if (read.bytes > 0 && !memmem(data, size, reports, REPORT_BYTES))
            abort();
        if (records.bytes == before)
            break;
    }
    return 0;
}
