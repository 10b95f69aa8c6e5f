#include "core/trace/sink.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/zeta.h>

#include "core/settings/settings.h"
#include "core/trace/describe.h"
#include "core/trace/text.h"
#include "core/trace/trace.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"
#include "core/util/log.h"
#include "core/util/own_struct.h"
#include "zeta_strings.h"

/*
 * {"ph":"B","pid":1,"tid":2,"ts":       123456.789,"cat":"ze","name":"zeFoo","args":{ ... }},
 *
 * The line of a call under way becomes that of a finished one: "X" takes the place of "B", and
 * results and a duration are added. The time is padded with blanks, because it is filled in last.
 */
#define PHASE_AT 7
#define TIME_DIGITS 20
#define OPEN_END "}},\n"

/* Room that is kept for the result and the duration. */
#define RESULT_BYTES 1024
#define SENTENCE_BYTES 320

#define DEFAULT_LIMIT_BYTES (UINT64_C(4) << 30)

/* Names that are tried when the file exists; a process that execs itself needs a few. */
#define NAMES_MAX 1000

/* What a thread has of its own; valid for one file. */
struct thread_state {
    uint32_t generation;
    uint32_t hint; /* slot that it used last */
    uint32_t prefix_bytes;
    char prefix[64]; /* of its lines, up to the time */
};

static _Thread_local struct thread_state this_thread;
static _Atomic uint32_t thread_count;

/* Starting and stopping, in this process. */
struct control {
    struct zeta_fork_state fork;
    bool is_added; /* the listener */
    char *filter;  /* globs, separated by commas; null: everything */
};

static struct zeta_fork_root controls = {.in_child = zeta_trace_file_forget};

/* 0, or the process that has looked at its environment. */
static _Atomic pid_t prepared;

/* ---- threads ---- */

static struct zeta_trace_slot *slot_for(struct thread_state *thread)
{
    const uint32_t generation = zeta_trace_file_generation();
    const bool is_new = thread->generation != generation;
    struct zeta_trace_slot *slot;
    char line[256];
    char name[16] = "";
    struct zeta_trace_text text = {.data = thread->prefix, .size_bytes = sizeof(thread->prefix)};

    if (is_new) {
        thread->hint = atomic_fetch_add(&thread_count, 1);
        thread->generation = generation;
        zeta_trace_text_put(&text, "{\"ph\":\"B\",\"pid\":");
        zeta_trace_text_unsigned(&text, (uint64_t)getpid());
        zeta_trace_text_put(&text, ",\"tid\":");
        zeta_trace_text_unsigned(&text, (uint64_t)gettid());
        zeta_trace_text_put(&text, ",\"ts\":");
        thread->prefix_bytes = text.used_bytes;
    }
    slot = zeta_trace_slot_take(&thread->hint);
    if (!is_new)
        return slot;
    if (!slot) {
        thread->generation = generation - 1; /* the name is still to be written */
        return NULL;
    }
    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    text = (struct zeta_trace_text){.data = line, .size_bytes = sizeof(line)};
    zeta_trace_text_add(&text, thread->prefix, thread->prefix_bytes);
    line[PHASE_AT] = 'M';
    zeta_trace_text_put(&text, "0,\"name\":\"thread_name\",\"args\":{\"name\":");
    zeta_trace_text_string(&text, name, strlen(name));
    zeta_trace_text_put(&text, OPEN_END);
    if (!text.is_cut)
        zeta_trace_slot_write(slot, line, text.used_bytes, false);
    return slot;
}

struct zeta_trace_slot *zeta_sink_slot(void)
{
    /* Beside that of the calls: the record may come from inside one, whose slot is taken. */
    uint32_t hint = this_thread.hint + 1;

    return zeta_trace_slot_take(&hint);
}

/* ---- calls ---- */

static bool wants(const struct zeta_trace_listener *listener ZETA_UNUSED,
                  enum zeta_function function)
{
    const char *name = zeta_function_descriptions[function].name;
    const struct control *control = zeta_fork_state_peek(&controls);

    return !control->filter || zeta_settings_has(control->filter, name);
}

/* Time in the room that was left for it: ten blanks and digits, a point, three digits. */
static void fill_time(char *room, uint64_t ns)
{
    uint64_t us = ns / 1000;
    size_t at = TIME_DIGITS - 4;

    room[at] = '.';
    room[at + 1] = (char)('0' + ns / 100 % 10);
    room[at + 2] = (char)('0' + ns / 10 % 10);
    room[at + 3] = (char)('0' + ns % 10);
    do {
        room[--at] = (char)('0' + us % 10);
        us /= 10;
    } while (us > 0);
}

static void begin(struct zeta_trace_listener *listener ZETA_UNUSED, enum zeta_function function,
                  void *arguments, void **where)
{
    const struct zeta_function_description *description = &zeta_function_descriptions[function];
    struct thread_state *thread = &this_thread;
    struct zeta_trace_slot *slot = slot_for(thread);
    char line[ZETA_TRACE_OPEN_BYTES];
    struct zeta_trace_text text = {.data = line,
                                   .size_bytes = sizeof(line) - sizeof(OPEN_END "\"...\":\"\",")};

    if (!slot)
        return;
    zeta_trace_text_add(&text, thread->prefix, thread->prefix_bytes);
    zeta_trace_text_put(&text, "                    ");
    zeta_trace_text_add(&text, description->opening, description->opening_bytes);
    zeta_trace_render(&text, function, arguments, false);
    text.size_bytes = sizeof(line);
    zeta_trace_text_end_cut(&text);
    zeta_trace_text_put(&text, OPEN_END);

    slot->errors = zeta_error_count();
    slot->begin_ns = zeta_monotonic_ns();
    fill_time(line + thread->prefix_bytes, slot->begin_ns);
    zeta_trace_slot_show(slot, line, text.used_bytes);
    *where = (void *)(uintptr_t)zeta_trace_slot_ticket(slot);
}

static void end(struct zeta_trace_listener *listener ZETA_UNUSED, enum zeta_function function,
                void *arguments, ze_result_t result, void **where)
{
    const uint64_t now_ns = zeta_monotonic_ns();
    const uint64_t ticket = (uint64_t)(uintptr_t)*where;
    struct zeta_trace_slot *slot = ticket ? zeta_trace_slot_of(ticket) : NULL;
    char line[ZETA_TRACE_LINE_BYTES];
    struct zeta_trace_text text = {.data = line, .size_bytes = sizeof(line) - RESULT_BYTES};

    if (!slot)
        return;
    zeta_trace_text_add(&text, slot->chunk, slot->shown_bytes - (sizeof(OPEN_END) - 1));
    line[PHASE_AT] = 'X';
    if (result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA ||
        result == ZE_RESULT_WARNING_ACTION_REQUIRED)
        zeta_trace_render(&text, function, arguments, true);
    text.size_bytes = sizeof(line);
    zeta_trace_text_end_cut(&text);
    zeta_trace_text_comma(&text);
    zeta_trace_text_put(&text, "\"result\":\"");
    zeta_trace_text_put(&text, zeta_string_ze_result((uint32_t)result));
    zeta_trace_text_put(&text, "\"");
    /* The sentence that the call left, not that of an earlier one. */
    if (result != ZE_RESULT_SUCCESS && zeta_error_count() != slot->errors) {
        const char *sentence = zeta_error_describe();

        zeta_trace_text_put(&text, ",\"error\":");
        zeta_trace_text_string(&text, sentence, strnlen(sentence, SENTENCE_BYTES));
    }
    zeta_trace_text_put(&text, "},\"dur\":");
    zeta_trace_text_time(&text, now_ns - slot->begin_ns);
    zeta_trace_text_put(&text, "},\n");
    zeta_trace_slot_write(slot, line, text.used_bytes, true);
    zeta_trace_slot_give(slot);
}

static struct zeta_trace_listener listener = {.wants = wants, .begin = begin, .end = end};

/* ---- start and stop ---- */

/* Threads of other processes go on after the end of this one; it only completes its file. */
ZETA_AT_UNLOAD static void complete_file(void)
{
    zeta_trace_file_close();
}

/* path: of a file that does not exist; filter may be null; limit_bytes 0: the usual limit. */
static ze_result_t start(const char *path, const char *filter, uint64_t limit_bytes)
{
    static const char foreign[] = ".pftrace";
    const size_t length = strlen(path);
    const bool has_filter = filter && *filter;
    struct control *control;
    ze_result_t result;

    if (length >= sizeof(foreign) - 1 &&
        strcmp(path + length - (sizeof(foreign) - 1), foreign) == 0)
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "The library writes Chrome's JSON only, not %s; name a .json file, or let "
            "'zeta trace -o FILE.pftrace -- PROGRAM' run the program.",
            path);
    control = zeta_fork_state_get(&controls, sizeof(*control));
    ZETA_CLEANUP(zeta_freep) char *copy = has_filter ? strdup(filter) : NULL;
    if (!control || (has_filter && !copy))
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "No memory to begin a trace.");
    (void)pthread_mutex_lock(&control->fork.lock);
    result = zeta_trace_file_open(path, limit_bytes ? limit_bytes : DEFAULT_LIMIT_BYTES);
    if (result == ZE_RESULT_SUCCESS) {
        free(control->filter);
        control->filter = ZETA_TAKE(copy);
        if (!control->is_added)
            result = zeta_trace_add(&listener);
        control->is_added = result == ZE_RESULT_SUCCESS;
        if (result != ZE_RESULT_SUCCESS)
            zeta_trace_file_close();
    }
    (void)pthread_mutex_unlock(&control->fork.lock);
    return result;
}

bool zeta_sink_path(const char *pattern, pid_t pid, unsigned attempt, char *out_path,
                    size_t size_bytes)
{
    const char *place = strstr(pattern, "%p");
    char name[32] = "";
    char number[32] = "";
    int bytes;

    (void)snprintf(name, sizeof(name), "%ld", (long)pid);
    if (place) {
        if (attempt > 0)
            (void)snprintf(number, sizeof(number), ".%u", attempt + 1);
        bytes = snprintf(out_path, size_bytes, "%.*s%s%s%s", (int)(place - pattern), pattern, name,
                         place + 2, number);
    } else {
        if (attempt > 1)
            (void)snprintf(number, sizeof(number), ".%u", attempt);
        bytes = snprintf(out_path, size_bytes, "%s%s%s%s", pattern, attempt > 0 ? "." : "",
                         attempt > 0 ? name : "", number);
    }
    return bytes > 0 && (size_t)bytes < size_bytes;
}

bool zeta_sink_limit(const char *text, uint64_t *out_bytes)
{
    static const char units[] = "KMG";
    uint64_t value = 0;
    const char *at = text;
    const char *unit;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (at == text)
        return false;
    if (*at == '\0') {
        *out_bytes = value;
        return true;
    }
    unit = strchr(units, *at);
    if (!unit || at[1] != '\0')
        return false;
    *out_bytes = value << (10 * (unit - units + 1));
    return true;
}

/* The environment, which nobody may have set for a process that has more rights than its user. */
static ze_result_t start_as_asked(const char *pattern)
{
    const char *filter = secure_getenv("ZETA_TRACE_FILTER");
    const char *limit = secure_getenv("ZETA_TRACE_LIMIT");
    uint64_t limit_bytes = 0;
    char path[4096];
    ze_result_t result = ZE_RESULT_ERROR_NOT_AVAILABLE;

    if (limit && *limit && !zeta_sink_limit(limit, &limit_bytes))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "ZETA_TRACE_LIMIT is '%s'; it has to be a number of bytes such as 64M.",
                          limit);
    for (unsigned attempt = 0; attempt < NAMES_MAX; attempt++) {
        if (!zeta_sink_path(pattern, getpid(), attempt, path, sizeof(path)))
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "The name in ZETA_TRACE is too long.");
        errno = 0;
        result = start(path, filter, limit_bytes);
        if (result == ZE_RESULT_SUCCESS || errno != EEXIST)
            break;
    }
    if (result == ZE_RESULT_SUCCESS && strcmp(path, pattern) != 0 && !strstr(pattern, "%p"))
        zeta_log(ZETA_LOG_WARN, "trace", "%s exists; calls of process %ld are recorded in %s",
                 pattern, (long)getpid(), path);
    return result;
}

void zeta_sink_prepare(void)
{
    const char *pattern;
    ze_result_t result;

    if (atomic_load_explicit(&prepared, memory_order_relaxed) == getpid() ||
        atomic_exchange(&prepared, getpid()) == getpid())
        return;
    pattern = secure_getenv("ZETA_TRACE");
    if (!pattern || !*pattern)
        return;
    result = start_as_asked(pattern);
    if (result != ZE_RESULT_SUCCESS)
        zeta_log(ZETA_LOG_ERROR, "trace", "ZETA_TRACE: nothing is recorded. %s",
                 zeta_error_describe());
    zeta_error_clear();
}

/* ---- zeta/zeta.h ---- */

ze_result_t zetaTraceStart(const struct zeta_trace_desc *desc)
{
    struct zeta_trace_desc full = {0};

    if (!desc)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "zetaTraceStart: desc is null");
    if (desc->struct_size < offsetof(struct zeta_trace_desc, filter))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "zetaTraceStart: desc->struct_size is %zu; set it to sizeof(struct "
                          "zeta_trace_desc)",
                          desc->struct_size);
    memcpy(&full, desc, desc->struct_size < sizeof(full) ? desc->struct_size : sizeof(full));
    if (!full.path)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "zetaTraceStart: desc->path is null");
    return start(full.path, full.filter, full.limit_bytes);
}

ze_result_t zetaTraceStop(void)
{
    struct control *control = zeta_fork_state_peek(&controls);
    bool has_stopped = false;

    if (control) {
        (void)pthread_mutex_lock(&control->fork.lock);
        if (zeta_trace_file_is_open()) {
            zeta_trace_remove(&listener);
            control->is_added = false;
            zeta_trace_file_close();
            has_stopped = true;
        }
        (void)pthread_mutex_unlock(&control->fork.lock);
    }
    return has_stopped ? ZE_RESULT_SUCCESS
                       : zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE, "No trace is being written.");
}

ze_result_t zetaTraceGetInfo(struct zeta_trace_info *info)
{
    struct zeta_trace_counts counts;

    ze_result_t result = zeta_own_struct_check("zetaTraceGetInfo", info);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_trace_file_counts(&counts);

    const struct zeta_trace_info full = {
        .path = zeta_trace_file_path(),
        .records = counts.records,
        .lost = counts.lost,
        .bytes = counts.bytes,
        .is_on = zeta_trace_file_is_open(),
    };
    zeta_own_struct_copy(info, info->struct_size, &full, sizeof(full));
    return ZE_RESULT_SUCCESS;
}
