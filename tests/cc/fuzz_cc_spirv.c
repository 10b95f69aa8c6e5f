/* Any words as SPIR-V: checked, and when they pass, given values for constants and lines. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta-cc/front_end/front_end.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct zeta_cc_constant constants[] = {{0, 4, 1}, {1, 8, 2}, {7, 1, 0}};
    uint32_t *words = malloc(size + 1);
    struct zeta_cc_buffer lined = {0};
    struct zeta_cc_buffer log = {0};
    size_t count = size / 4;

    if (!words)
        return 0;
    if (size > 0)
        memcpy(words, data, size);
    if (zeta_cc_spirv_check(words, count, &log)) {
        for (size_t i = 0; i < 3; i++)
            (void)zeta_cc_spirv_specialize(words, count, &constants[i], 1, &log);
        if (!zeta_cc_spirv_check(words, count, &log))
            abort();
        if (zeta_cc_spirv_add_lines(words, count, data, &lined) &&
            !zeta_cc_spirv_check((const uint32_t *)(const void *)lined.bytes, lined.size / 4, &log))
            abort();
    } else if (log.size == 0) {
        abort();
    }
    zeta_cc_buffer_finish(&lined);
    zeta_cc_buffer_finish(&log);
    free(words);
    return 0;
}
