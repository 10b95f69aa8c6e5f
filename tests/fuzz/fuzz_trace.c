/* Any bytes as a trace of libzeta: read, counted and written in each format. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sdk/tools/zeta/trace/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void merge(const uint8_t *data, size_t size, const struct zeta_trace_format *format)
{
    struct zeta_trace_summary summary = {0};
    struct zeta_trace_reader reader;
    struct zeta_trace_writer writer = {.format = format, .file = fopen("/dev/null", "w")};

    if (!writer.file)
        abort();
    zeta_trace_reader_init(&reader, (const char *)data, size);
    format->begin(&writer);
    zeta_trace_merge(&reader, &writer, &summary);
    format->end(&writer);
    zeta_trace_summary_print(&summary, writer.file);
    zeta_trace_summary_finish(&summary);
    (void)fclose(writer.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    merge(data, size, &zeta_trace_chrome);
    if (zeta_trace_perfetto)
        merge(data, size, zeta_trace_perfetto);
    return 0;
}
