#include "sdk/tools/zeta/trace/writer.h"

#include <inttypes.h>
#include <string.h>

/* What is needed of a trace to end it where its process did not. */
struct source {
    uint64_t pid;
    uint64_t lost_before; /* in the summary */
    uint64_t last_ns;
    bool has_end;
};

/* A process that ended by itself wrote in its last lines what was lost. */
static bool add_loss(const struct source *source, uint64_t lost, struct zeta_trace_writer *writer)
{
    char text[256];
    struct zeta_trace_line line = {0};
    const int size = snprintf(text, sizeof(text),
                              "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"zeta\",\"name\":\"%" PRIu64
                              " records lost\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
                              ",\"ts\":%" PRIu64 ".%03u,\"args\":{}}",
                              lost, source->pid, source->pid, source->last_ns / 1000,
                              (unsigned)(source->last_ns % 1000));

    const bool is_good =
        !zeta_trace_line_read(text, (size_t)size, &line) || writer->format->add(writer, &line);

    zeta_trace_line_finish(&line);
    return is_good;
}

static void follow(struct source *source, const struct zeta_trace_line *line)
{
    const uint64_t end_ns = line->begin_ns + line->duration_ns;

    if (line->phase == 'M' && strcmp(line->name, "zeta_trace") == 0)
        source->pid = line->pid;
    if (line->phase == 'M' && strcmp(line->name, "zeta_trace_end") == 0)
        source->has_end = true;
    if (end_ns > source->last_ns)
        source->last_ns = end_ns;
}

bool zeta_trace_merge(struct zeta_trace_reader *reader, struct zeta_trace_writer *writer,
                      struct zeta_trace_summary *summary)
{
    struct source source = {.lost_before = summary->lost};
    struct zeta_trace_line line = {0};
    bool is_good = true;

    while (is_good && zeta_trace_reader_next(reader, &line)) {
        follow(&source, &line);
        is_good = zeta_trace_summary_add(summary, &line);
        if (is_good && writer && strcmp(line.name, "zeta_trace_end") != 0)
            is_good = writer->format->add(writer, &line);
    }
    zeta_trace_line_finish(&line);
    summary->damaged += reader->damaged;
    if (is_good && writer && !source.has_end && summary->lost > source.lost_before)
        is_good = add_loss(&source, summary->lost - source.lost_before, writer);
    return is_good;
}

/* ---- Chrome's JSON: the lines as they are ---------------------------------------------------- */

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
    (void)fwrite(line->text, 1, line->size, writer->file);
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

#ifndef ZETA_HAS_PERFETTO
const struct zeta_trace_format *const zeta_trace_perfetto = NULL;
#endif
