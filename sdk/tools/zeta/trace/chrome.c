#include "sdk/tools/zeta/trace/writer.h"

static bool begin(struct zeta_trace_writer *writer)
{
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", writer->file);
    writer->state = NULL;
    return true;
}

static bool add(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    /* Not null from the second event on. */
    (void)fputs(writer->state ? ",\n" : "\n", writer->file);
    (void)fwrite(line->text.data, 1, line->text.size, writer->file);
    writer->state = writer;
    return true;
}

static bool end(struct zeta_trace_writer *writer)
{
    (void)fputs("\n]}\n", writer->file);
    return true;
}

const struct zeta_trace_format zeta_trace_chrome = {
    .suffix = ".json", .begin = begin, .add = add, .end = end};
