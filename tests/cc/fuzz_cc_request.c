/* Any bytes as a request: read and walked through, or refused with a reason; options in it too. */
#include <stdint.h>
#include <stdlib.h>

#include "sdk/tools/zeta-cc/request/options.h"
#include "sdk/tools/zeta-cc/request/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct zeta_cc_request_image *image)
{
    struct zeta_cc_options options = {0};
    struct zeta_cc_buffer log = {0};
    size_t zeros = 0;

    zeta_cc_options_read(&options, image->options, image->options_bytes, &log);
    for (uint32_t i = 0; i < image->constant_count; i++) {
        struct zeta_compile_constant constant;

        if (!zeta_cc_request_constant(image, i, &constant))
            abort();
    }
    for (size_t i = 0; i < image->size; i++)
        zeros += image->bytes[i] == 0;
    if (zeta_cc_options_level(&options) > 3 || zeros > image->size)
        abort();
    zeta_cc_options_finish(&options);
    zeta_cc_buffer_finish(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zeta_cc_request request;
    const char *reason = NULL;

    if (zeta_cc_request_read(data, size, &request, &reason)) {
        for (uint32_t i = 0; i < request.image_count; i++)
            walk(&request.images[i]);
    } else if (!reason) {
        abort();
    }
    return 0;
}
