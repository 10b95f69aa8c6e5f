#include "sdk/tools/zeta/trace/merge.h"

#include <inttypes.h>
#include <stdio.h>

/* What is needed of a trace to end it where its process did not. */
struct source {
    uint64_t pid;
    uint64_t lost_before; /* in the summary */
    uint64_t last_ns;
    bool has_end;
};

/* A process that ended by itself has said in its last lines what was lost. */
static bool add_loss(const struct source *source, uint64_t lost, struct zeta_trace_writer *writer)
{
    char text[256];
    struct zeta_trace_line line;
    const int size = snprintf(text, sizeof(text),
                              "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"zeta\",\"name\":\"%" PRIu64
                              " records lost\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
                              ",\"ts\":%" PRIu64 ".%03u,\"args\":{}}",
                              lost, source->pid, source->pid, source->last_ns / 1000,
                              (unsigned)(source->last_ns % 1000));

    return !zeta_trace_line_read(text, (size_t)size, &line) || writer->format->add(writer, &line);
}

static void follow(struct source *source, const struct zeta_trace_line *line)
{
    const uint64_t end_ns = line->begin_ns + line->duration_ns;

    if (line->phase == 'M' && zeta_slice_is(line->name, "zeta_trace"))
        source->pid = line->pid;
    if (line->phase == 'M' && zeta_slice_is(line->name, "zeta_trace_end"))
        source->has_end = true;
    if (end_ns > source->last_ns)
        source->last_ns = end_ns;
}

bool zeta_trace_merge(struct zeta_trace_reader *reader, struct zeta_trace_writer *writer,
                      struct zeta_trace_summary *summary)
{
    struct source source = {.lost_before = summary->lost};
    struct zeta_trace_line line;
    bool is_good = true;

    while (is_good && zeta_trace_reader_next(reader, &line)) {
        follow(&source, &line);
        is_good = zeta_trace_summary_add(summary, &line);
        if (is_good && writer && !zeta_slice_is(line.name, "zeta_trace_end"))
            is_good = writer->format->add(writer, &line);
    }
    summary->damaged += reader->damaged;
    if (is_good && writer && !source.has_end && summary->lost > source.lost_before)
        is_good = add_loss(&source, summary->lost - source.lost_before, writer);
    return is_good;
}
