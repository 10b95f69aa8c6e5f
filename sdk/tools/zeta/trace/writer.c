/* The table of functions, merging traces, and Chrome's format. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/trace/line.h"

static void count_line(struct zeta_trace_accounts *accounts, const struct zeta_trace_line *line,
                       bool is_error)
{
    struct zeta_trace_account *account;
    uint32_t number = 0;

    if (zeta_name_table_get(&accounts->names, line->name, &number)) {
        accounts->accounts = zeta_reallocate(accounts->accounts, number + 1, sizeof(*account));
        accounts->accounts[number] = (struct zeta_trace_account){
            .name = accounts->names.names[number], .min_ns = UINT64_MAX};
    }
    account = &accounts->accounts[number];
    account->count++;
    account->total_ns += line->duration_ns;
    account->errors += is_error;
    if (line->duration_ns < account->min_ns)
        account->min_ns = line->duration_ns;
    if (line->duration_ns > account->max_ns)
        account->max_ns = line->duration_ns;
    accounts->count++;
    accounts->total_ns += line->duration_ns;
}

void zeta_trace_summary_add(struct zeta_trace_summary *summary, const struct zeta_trace_line *line)
{
    static const char error[] = "ZE_RESULT_ERROR_";

    if (line->phase == 'X') {
        const char *result = zeta_trace_line_argument(line, "result");

        if (strcmp(line->category, "device") == 0)
            count_line(&summary->work, line, false);
        else /* NOT_READY and warnings are answers, not errors. */
            count_line(&summary->calls, line, result && strncmp(result, error, strlen(error)) == 0);
    } else if (line->phase == 'B') {
        if (summary->open_call_count < ZETA_TRACE_OPEN_CALLS_MAX) {
            struct zeta_trace_open_call *call = &summary->open_calls[summary->open_call_count];

            (void)snprintf(call->name, sizeof(call->name), "%s", line->name);
            zeta_text_clean(call->name, strlen(call->name));
            call->pid = line->pid;
            call->tid = line->tid;
        }
        summary->open_call_count++;
    } else if (line->phase == 'M' && strcmp(line->name, "zeta_trace") == 0) {
        const char *lost = zeta_trace_line_argument(line, "lost");
        char pid[24];
        uint32_t number = 0;

        summary->lost += lost ? strtoull(lost, NULL, 10) : 0;
        /* A process that runs one program after the other has a trace for each. */
        (void)snprintf(pid, sizeof(pid), "%" PRIu64, line->pid);
        (void)zeta_name_table_get(&summary->processes, pid, &number);
    }
}

/* ---- printing ------------------------------------------------------------------------------ */

static int by_total(const void *a, const void *b)
{
    const struct zeta_trace_account *first = a;
    const struct zeta_trace_account *second = b;

    if (first->total_ns != second->total_ns)
        return first->total_ns < second->total_ns ? 1 : -1;
    return strcmp(first->name, second->name);
}

/* Always with three decimals, so that a column is easy to compare. */
static void set_time(struct zeta_table *table, uint32_t row, uint32_t column, uint64_t ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ns >= units[i].ns) {
            zeta_table_set(table, row, column, "%.3f %-2s", (double)ns / (double)units[i].ns,
                           units[i].name);
            return;
        }
    }
    zeta_table_set(table, row, column, "%" PRIu64 " ns", ns);
}

static void print_accounts(const struct zeta_trace_accounts *accounts, const char *count_title,
                           const char *name_title, bool has_errors, FILE *stream)
{
    enum { TOTAL, SHARE, MEAN, MIN, MAX, COUNT, ERRORS, NAME, COLUMN_COUNT };
    const struct zeta_table_column columns[COLUMN_COUNT] = {
        [TOTAL] = {.title = "Total", .least = 11, .is_right = true},
        [SHARE] = {.title = "%", .gap = 1, .least = 6, .is_right = true},
        [MEAN] = {.title = "Mean", .least = 11, .is_right = true},
        [MIN] = {.title = "Min", .least = 11, .is_right = true},
        [MAX] = {.title = "Max", .least = 11, .is_right = true},
        [COUNT] = {.title = count_title, .gap = 1, .least = 9, .is_right = true},
        [ERRORS] = {.title = "Errors", .gap = 1, .least = 7, .is_right = true},
        [NAME] = {.title = name_title, .gap = 2},
    };
    struct zeta_table table = {.columns = columns, .column_count = COLUMN_COUNT};
    const uint32_t count = accounts->names.count;
    struct zeta_trace_account *sorted = calloc(count + 1, sizeof(*sorted));

    if (!sorted || count == 0) {
        free(sorted);
        return;
    }
    memcpy(sorted, accounts->accounts, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_total);
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_trace_account *account = &sorted[i];

        set_time(&table, i, TOTAL, account->total_ns);
        zeta_table_set(&table, i, SHARE, "%.1f",
                       accounts->total_ns > 0
                           ? 100.0 * (double)account->total_ns / (double)accounts->total_ns
                           : 0.0);
        set_time(&table, i, MEAN, account->total_ns / account->count);
        set_time(&table, i, MIN, account->min_ns);
        set_time(&table, i, MAX, account->max_ns);
        zeta_table_set(&table, i, COUNT, "%" PRIu64, account->count);
        if (has_errors && account->errors > 0)
            zeta_table_set(&table, i, ERRORS, "%" PRIu64, account->errors);
        else if (has_errors)
            zeta_table_set(&table, i, ERRORS, "%s", "");
        zeta_table_set(&table, i, NAME, "%s", account->name);
    }
    zeta_table_finish(&table, stream);
    free(sorted);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void zeta_trace_summary_print(const struct zeta_trace_summary *summary, FILE *stream)
{
    (void)fprintf(stream, "\n%" PRIu64 " call%s in %" PRIu32 " process%s", summary->calls.count,
                  plural(summary->calls.count), summary->processes.count,
                  summary->processes.count == 1 ? "" : "es");
    if (summary->lost > 0)
        (void)fprintf(stream, "; %" PRIu64 " record%s LOST, in no figure below", summary->lost,
                      plural(summary->lost));
    (void)fputs("\n\n", stream);
    print_accounts(&summary->calls, "Calls", "Function", true, stream);
    if (summary->work.count > 0) {
        (void)fputs("\nOn the devices\n\n", stream);
        print_accounts(&summary->work, "Times", "Work", false, stream);
    }
    if (summary->open_call_count > 0)
        (void)fprintf(stream, "\n%" PRIu64 " call%s had not returned at the end:\n",
                      summary->open_call_count, plural(summary->open_call_count));
    for (uint64_t i = 0; i < summary->open_call_count && i < ZETA_TRACE_OPEN_CALLS_MAX; i++)
        (void)fprintf(stream, "  %s (process %" PRIu64 ", thread %" PRIu64 ")\n",
                      summary->open_calls[i].name, summary->open_calls[i].pid,
                      summary->open_calls[i].tid);
    if (summary->open_call_count > ZETA_TRACE_OPEN_CALLS_MAX)
        (void)fputs("  ...\n", stream);
    if (summary->damaged > 0)
        (void)fprintf(
            stream, "\n%" PRIu64 " line%s of the trace %s no whole JSON object and left out.\n",
            summary->damaged, plural(summary->damaged), summary->damaged == 1 ? "is" : "are");
}

void zeta_trace_summary_finish(struct zeta_trace_summary *summary)
{
    struct zeta_trace_accounts *const both[] = {&summary->calls, &summary->work};

    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
        zeta_name_table_finish(&both[i]->names);
        free(both[i]->accounts);
        both[i]->accounts = NULL;
    }
    zeta_name_table_finish(&summary->processes);
}

void zeta_trace_merge(struct zeta_trace_reader *reader, struct zeta_trace_writer *writer,
                      struct zeta_trace_summary *summary)
{
    const uint64_t lost_before = summary->lost;
    uint64_t pid = 0, last_ns = 0;
    bool has_end = false;
    struct zeta_trace_line line = {0};

    while (zeta_trace_reader_next(reader, &line)) {
        const bool is_end = strcmp(line.name, "zeta_trace_end") == 0;

        if (line.phase == 'M' && strcmp(line.name, "zeta_trace") == 0)
            pid = line.pid;
        has_end = has_end || (line.phase == 'M' && is_end);
        if (line.begin_ns + line.duration_ns > last_ns)
            last_ns = line.begin_ns + line.duration_ns;
        zeta_trace_summary_add(summary, &line);
        if (writer && !is_end)
            writer->format->add(writer, &line);
    }
    summary->damaged += reader->damaged;
    /* A process that ended by itself wrote in its last lines what was lost. */
    if (writer && !has_end && summary->lost > lost_before) {
        char text[256];
        const int size = snprintf(text, sizeof(text),
                                  "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"zeta\",\"name\":\"%" PRIu64
                                  " records lost\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
                                  ",\"ts\":%" PRIu64 ".%03u,\"args\":{}}",
                                  summary->lost - lost_before, pid, pid, last_ns / 1000,
                                  (unsigned)(last_ns % 1000));

        if (zeta_trace_line_read(text, (size_t)size, &line))
            writer->format->add(writer, &line);
    }
    zeta_trace_line_finish(&line);
}

/* ---- Chrome's JSON: the lines as they are ---------------------------------------------------- */

static void begin(struct zeta_trace_writer *writer)
{
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", writer->file);
    writer->state = NULL;
}

static void add(struct zeta_trace_writer *writer, const struct zeta_trace_line *line)
{
    /* Not null from the second event on. */
    (void)fputs(writer->state ? ",\n" : "\n", writer->file);
    (void)fwrite(line->text, 1, line->size, writer->file);
    writer->state = writer;
}

static void end(struct zeta_trace_writer *writer)
{
    (void)fputs("\n]}\n", writer->file);
}

const struct zeta_trace_format zeta_trace_chrome = {
    .suffix = ".json", .begin = begin, .add = add, .end = end};

#ifndef ZETA_HAS_PERFETTO
const struct zeta_trace_format *const zeta_trace_perfetto = NULL;
#endif
