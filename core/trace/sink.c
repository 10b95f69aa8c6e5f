#include "core/trace/sink.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/trace/describe.h"
#include "core/trace/render.h"
#include "core/trace/sink_path.h"
#include "core/trace/text.h"
#include "core/trace/trace.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"
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

static struct zeta_fork_root controls;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* ---- threads ------------------------------------------------------------------------------- */

static void add_thread_name(const struct thread_state *thread, struct zeta_trace_slot *slot)
{
    char line[256];
    char name[16] = "";
    struct zeta_trace_text text = {.data = line, .size_bytes = sizeof(line)};

    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    zeta_trace_text_add(&text, thread->prefix, thread->prefix_bytes);
    line[PHASE_AT] = 'M';
    zeta_trace_text_put(&text, "0,\"name\":\"thread_name\",\"args\":{\"name\":");
    zeta_trace_text_string(&text, name, strlen(name));
    zeta_trace_text_put(&text, OPEN_END);
    if (!text.is_cut)
        zeta_trace_slot_write(slot, line, text.used_bytes, false);
}

static void enter_thread(struct thread_state *thread, uint32_t generation)
{
    struct zeta_trace_text text = {.data = thread->prefix, .size_bytes = sizeof(thread->prefix)};

    thread->hint = atomic_fetch_add(&thread_count, 1);
    thread->generation = generation;
    zeta_trace_text_put(&text, "{\"ph\":\"B\",\"pid\":");
    zeta_trace_text_unsigned(&text, (uint64_t)getpid());
    zeta_trace_text_put(&text, ",\"tid\":");
    zeta_trace_text_unsigned(&text, (uint64_t)gettid());
    zeta_trace_text_put(&text, ",\"ts\":");
    thread->prefix_bytes = text.used_bytes;
}

static struct zeta_trace_slot *slot_for(struct thread_state *thread)
{
    const uint32_t generation = zeta_trace_file_generation();
    const bool is_new = thread->generation != generation;
    struct zeta_trace_slot *slot;

    if (is_new)
        enter_thread(thread, generation);
    slot = zeta_trace_slot_take(&thread->hint);
    if (slot && is_new)
        add_thread_name(thread, slot);
    else if (is_new)
        thread->generation = generation - 1; /* the name is still to be written */
    return slot;
}

struct zeta_trace_slot *zeta_sink_slot(void)
{
    /* Beside that of the calls: the record may come from inside one, whose slot is taken. */
    uint32_t hint = this_thread.hint + 1;

    return zeta_trace_slot_take(&hint);
}

/* ---- calls --------------------------------------------------------------------------------- */

static bool wants(const struct zeta_trace_listener *listener ZETA_UNUSED,
                  enum zeta_function function)
{
    const char *name = zeta_function_descriptions[function].name;
    const struct control *control = zeta_fork_state_peek(&controls);

    return !control->filter || zeta_sink_filter_accepts(control->filter, name);
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
    zeta_trace_render_before(&text, function, arguments);
    text.size_bytes = sizeof(line);
    zeta_trace_text_end_cut(&text);
    zeta_trace_text_put(&text, OPEN_END);

    struct zeta_trace_note *note = zeta_trace_slot_note(slot);
    note->errors = zeta_error_count();
    note->begin_ns = zeta_monotonic_ns();
    fill_time(line + thread->prefix_bytes, note->begin_ns);
    zeta_trace_slot_show(slot, line, text.used_bytes);
    *where = (void *)(uintptr_t)zeta_trace_slot_ticket(slot);
}

static bool has_outputs(ze_result_t result)
{
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA ||
           result == ZE_RESULT_WARNING_ACTION_REQUIRED;
}

static void add_result(struct zeta_trace_text *text, ze_result_t result, uint64_t errors_before)
{
    zeta_trace_text_comma(text);
    zeta_trace_text_put(text, "\"result\":\"");
    zeta_trace_text_put(text, zeta_string_ze_result((uint32_t)result));
    zeta_trace_text_put(text, "\"");
    /* The sentence that the call left, not that of an earlier one. */
    if (result != ZE_RESULT_SUCCESS && zeta_error_count() != errors_before) {
        const char *sentence = zeta_error_describe();

        zeta_trace_text_put(text, ",\"error\":");
        zeta_trace_text_string(text, sentence, strnlen(sentence, SENTENCE_BYTES));
    }
}

static void end(struct zeta_trace_listener *listener ZETA_UNUSED, enum zeta_function function,
                void *arguments, ze_result_t result, void **where)
{
    const uint64_t now_ns = zeta_monotonic_ns();
    const uint64_t ticket = (uint64_t)(uintptr_t)*where;
    struct zeta_trace_slot *slot = ticket ? zeta_trace_slot_of(ticket) : NULL;
    char line[ZETA_TRACE_LINE_BYTES];
    struct zeta_trace_text text = {.data = line, .size_bytes = sizeof(line) - RESULT_BYTES};
    uint32_t shown_bytes;

    if (!slot)
        return;

    const struct zeta_trace_note *note = zeta_trace_slot_note(slot);
    const char *shown = zeta_trace_slot_shown(slot, &shown_bytes);

    zeta_trace_text_add(&text, shown, shown_bytes - (sizeof(OPEN_END) - 1));
    line[PHASE_AT] = 'X';
    if (has_outputs(result))
        zeta_trace_render_after(&text, function, arguments);
    text.size_bytes = sizeof(line);
    zeta_trace_text_end_cut(&text);
    add_result(&text, result, note->errors);
    zeta_trace_text_put(&text, "},\"dur\":");
    zeta_trace_text_time(&text, now_ns - note->begin_ns);
    zeta_trace_text_put(&text, "},\n");
    zeta_trace_slot_write(slot, line, text.used_bytes, true);
    zeta_trace_slot_give(slot);
}

static struct zeta_trace_listener listener = {.wants = wants, .begin = begin, .end = end};

/* ---- start and stop ------------------------------------------------------------------------ */

static void start_anew_in_child(void)
{
    zeta_trace_forget();
    zeta_trace_file_forget();
    zeta_fork_state_leave(&controls);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, start_anew_in_child);
}

/* Threads of other processes go on after the end of this one; it only completes its file. */
ZETA_AT_UNLOAD static void complete_file(void)
{
    zeta_trace_file_close();
}

static ze_result_t add_listener_locked(struct control *control)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!control->is_added)
        result = zeta_trace_add(&listener);
    control->is_added = result == ZE_RESULT_SUCCESS;
    if (result != ZE_RESULT_SUCCESS)
        zeta_trace_file_close();
    return result;
}

ze_result_t zeta_sink_start(const char *path, const char *filter, uint64_t limit_bytes)
{
    const bool has_filter = filter && *filter;
    struct control *control;
    ze_result_t result;
    char *copy;

    if (zeta_sink_path_is_foreign(path))
        return zeta_error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "The library writes Chrome's JSON only, not %s; name a .json file, or let "
            "'zeta trace -o FILE.pftrace -- PROGRAM' run the program.",
            path);
    (void)pthread_once(&fork_once, watch_forks);
    control = zeta_fork_state_get(&controls, sizeof(*control));
    copy = has_filter ? strdup(filter) : NULL;
    if (!control || (has_filter && !copy)) {
        free(copy);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "No memory to begin a trace.");
    }
    (void)pthread_mutex_lock(&control->fork.lock);
    result = zeta_trace_file_open(path, limit_bytes ? limit_bytes : DEFAULT_LIMIT_BYTES);
    if (result == ZE_RESULT_SUCCESS) {
        free(control->filter);
        control->filter = ZETA_TAKE(copy);
        result = add_listener_locked(control);
    }
    (void)pthread_mutex_unlock(&control->fork.lock);
    free(copy);
    return result;
}

static bool stop_locked(struct control *control)
{
    if (!zeta_trace_file_is_open())
        return false;
    zeta_trace_remove(&listener);
    control->is_added = false;
    zeta_trace_file_close();
    return true;
}

ze_result_t zeta_sink_stop(void)
{
    struct control *control = zeta_fork_state_peek(&controls);
    bool has_stopped = false;

    if (control) {
        (void)pthread_mutex_lock(&control->fork.lock);
        has_stopped = stop_locked(control);
        (void)pthread_mutex_unlock(&control->fork.lock);
    }
    return has_stopped ? ZE_RESULT_SUCCESS
                       : zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE, "No trace is being written.");
}
