/* Why threads stopped, and what vCont asks of them. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "sdk/tools/zeta-gdbserver/server/server.h"

/* GDB's numbers of signals. */
enum { SIGNAL_NONE = 0, SIGNAL_INT = 2, SIGNAL_ILL = 4, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };

/* Stops ---------------------------------------------------------------------------------------- */

static void put_register(struct zeta_gdb_server *server, uint32_t thread, uint32_t number)
{
    uint64_t value;

    if (!zeta_gdb_register_get(server->process, thread, number, &value))
        return;
    (void)fprintf(server->answer, "%02x:", number);
    zeta_gdb_put_bytes(server->answer, &value, sizeof(value));
    (void)putc(';', server->answer);
}

static void answer_stop(struct zeta_gdb_server *server, uint32_t thread, int signal,
                        const char *reason)
{
    rewind(server->answer);
    (void)fprintf(server->answer, "T%02xthread:p1.%x;", (unsigned)signal,
                  zeta_gdb_thread_tid(thread));
    put_register(server, thread, ZETA_GDB_REGISTER_PC);
    put_register(server, thread, ZETA_GDB_REGISTER_SP);
    put_register(server, thread, ZETA_GDB_REGISTER_FP);
    (void)fputs(reason, server->answer);
    server->reported = thread;
    if (!server->is_non_stop)
        server->selected = thread;
    if (thread == ZETA_GDB_CONTROL_THREAD)
        server->control_runs = server->control_halts = false;
}

/* Tells the person, before the stop that it caused, what a signal does not say. */
static void tell_fault(struct zeta_gdb_server *server, uint64_t address)
{
    char sentence[80];

    if (server->is_non_stop) /* GDB takes no text then */
        return;
    (void)snprintf(sentence, sizeof(sentence),
                   "zeta-gdbserver: an access at 0x%" PRIx64 " failed\n", address);
    rewind(server->answer);
    (void)putc('O', server->answer);
    zeta_gdb_put_bytes(server->answer, sentence, strlen(sentence));
    zeta_gdb_send_answer(server);
}

/* How GDB calls the watchpoint that an access met. The device does not say which of several kinds
 * at its address that was: GDB compares values. */
static const char *watch_name(const struct zeta_gdb_process *process, uint64_t address)
{
    static const char *const names[] = {[ZETA_GDB_WATCH_WRITE] = "watch",
                                        [ZETA_GDB_WATCH_READ] = "rwatch",
                                        [ZETA_GDB_WATCH_ACCESS] = "awatch"};
    enum zeta_gdb_watch met = 0;

    for (uint32_t i = 0; i < ZETA_GDB_WATCHPOINTS; i++) {
        const struct zeta_gdb_watchpoint *const watch = &process->watchpoints[i];

        if (watch->kind && address - watch->address < watch->bytes)
            met = met == 0 || met == watch->kind ? watch->kind : ZETA_GDB_WATCH_ACCESS;
    }
    return met ? names[met] : "watch";
}

static void answer_thread_stop(struct zeta_gdb_server *server, uint32_t number)
{
    struct zeta_gdb_thread *const thread = &server->process->threads[number];
    char reason[40] = "";
    int signal = SIGNAL_TRAP;

    if (thread->is_gone) {
        thread->is_gone = false;
        rewind(server->answer);
        (void)fprintf(server->answer, "w00;p1.%x", zeta_gdb_thread_tid(number));
        return;
    }
    if (thread->cause == ZETA_GDB_CAUSE_HALT) {
        signal = SIGNAL_NONE;
    } else if (thread->cause & ZETA_GDB_CAUSE_FAULT) {
        signal = SIGNAL_SEGV;
        tell_fault(server, thread->address);
    } else if (thread->cause & ZETA_GDB_CAUSE_ILLEGAL) {
        signal = SIGNAL_ILL;
    } else if (thread->cause & ZETA_GDB_CAUSE_WATCH) {
        (void)snprintf(reason, sizeof(reason), "%s:%" PRIx64 ";",
                       watch_name(server->process, thread->address), thread->address);
    } else if (thread->is_break && server->has_swbreak) {
        (void)snprintf(reason, sizeof(reason), "swbreak:;");
    }
    thread->has_stop = false;
    if (server->is_non_stop)
        thread->action = ZETA_GDB_ACTION_STAY; /* until GDB lets this one go on */
    answer_stop(server, number, signal, reason);
}

/* The next thread behind the last that was reported which has a stop; each has its turn. GDB fails
 * when a thread stops that it did not let go on. */
static bool find_stop(const struct zeta_gdb_server *server, uint32_t *out_thread)
{
    const struct zeta_gdb_process *const process = server->process;
    const uint32_t first = server->reported == ZETA_GDB_CONTROL_THREAD ? 0 : server->reported + 1;

    for (uint32_t i = 0; i < process->thread_count; i++) {
        const uint32_t thread = (first + i) % process->thread_count;

        if ((process->threads[thread].has_stop || process->threads[thread].is_gone) &&
            process->threads[thread].action != ZETA_GDB_ACTION_STAY) {
            *out_thread = thread;
            return true;
        }
    }
    return false;
}

/* Any thread that runs kernels, for a person to see where; else the control thread. */
static uint32_t find_any(const struct zeta_gdb_process *process)
{
    for (uint32_t i = 0; i < process->thread_count; i++)
        if (process->threads[i].is_stopped && process->threads[i].action != ZETA_GDB_ACTION_STAY)
            return i;
    return ZETA_GDB_CONTROL_THREAD;
}

/* GDB's number of a signal of this system. */
static int signal_of_gdb(int signal)
{
    switch (signal) {
    case SIGBUS:
        return 10;
    case SIGSYS:
        return 12;
    case SIGUSR1:
        return 30;
    case SIGUSR2:
        return 31;
    default:
        return signal; /* of those that usually end programs the others are the same */
    }
}

/*
 * Whether the process has ended, of which out_about tells if it was started here. It lets go of the
 * device before that, and may take its time then.
 */
static bool has_exited(const struct zeta_gdb_server *server, siginfo_t *out_about)
{
    *out_about = (siginfo_t){0};
    return server->process->has_ended &&
           (server->child == 0 ||
            waitid(P_PID, (id_t)server->child, out_about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            out_about->si_pid == server->child);
}

static void answer_exit(struct zeta_gdb_server *server, const siginfo_t *about)
{
    const bool is_signal = about->si_code == CLD_KILLED || about->si_code == CLD_DUMPED;

    server->is_exit_told = true;
    server->is_running = false;
    if (!server->is_non_stop)
        server->end = ZETA_GDB_END_EXITED;
    rewind(server->answer);
    (void)fprintf(server->answer, "%c%02x;process:1", is_signal ? 'X' : 'W',
                  (unsigned)(is_signal ? signal_of_gdb(about->si_status) : about->si_status));
}

/* Writes why threads stopped, the most urgent of all reasons; false when there is none. */
static bool answer_next(struct zeta_gdb_server *server)
{
    struct zeta_gdb_process *const process = server->process;
    siginfo_t about;
    uint32_t thread;

    if (has_exited(server, &about)) {
        answer_exit(server, &about);
    } else if (process->modules_changed && server->control_runs) {
        process->modules_changed = false;
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_TRAP, "library:;");
    } else if (find_stop(server, &thread)) {
        process->has_fault = false;
        answer_thread_stop(server, thread);
    } else if (process->has_fault && (server->control_runs || !server->is_non_stop)) {
        process->has_fault = false;
        tell_fault(server, process->fault_address);
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_SEGV, "");
    } else if (server->control_halts) {
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_NONE, "");
    } else {
        return false;
    }
    return true;
}

/* Stops what runs, and says why in the answer, signal without a reason. */
static void stop(struct zeta_gdb_server *server, int signal)
{
    zeta_gdb_process_stop_all(server->process);
    server->is_running = false;
    if (!answer_next(server))
        answer_stop(server, find_any(server->process), signal, "");
}

/* Tells GDB of one stop while the others run; it asks for the next with vStopped. */
static void notify(struct zeta_gdb_server *server)
{
    char text[256];

    if (server->is_notified || !answer_next(server))
        return;
    (void)fflush(server->answer);
    (void)snprintf(text, sizeof(text), "Stop:%.*s", (int)server->answer_size, server->answer_text);
    server->is_notified = true;
    if (!zeta_gdb_link_notify(&server->link, text, strlen(text)))
        zeta_gdb_close(server);
}

void zeta_gdb_answer_stopped(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    if (!server->is_non_stop)
        return;
    /* Behind the end GDB may have to finish a command, and closes the connection then. */
    if (!server->is_exit_told && !server->is_first && answer_next(server))
        return;
    server->is_notified = server->is_first = false;
    zeta_gdb_answer_ok(server, true);
}

/* A step that is still within its range is no stop. */
static void drop_steps_in_range(struct zeta_gdb_process *process)
{
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct zeta_gdb_thread *const thread = &process->threads[i];

        if (thread->has_stop && thread->is_step &&
            thread->address - thread->range_begin < thread->range_end - thread->range_begin)
            thread->has_stop = false;
    }
}

void zeta_gdb_watch(struct zeta_gdb_server *server)
{
    struct zeta_gdb_process *const process = server->process;
    siginfo_t about;
    uint32_t thread;

    if (!zeta_gdb_process_take_event(process, server->is_non_stop ? 0 : ZETA_GDB_WAIT_MS) &&
        !process->has_ended && !server->is_non_stop)
        return;
    /* All that has happened is looked at together: thousands of threads may have come to a
     * breakpoint, and all may go on. */
    zeta_gdb_process_take_events(process);
    drop_steps_in_range(process);
    if (server->is_non_stop) {
        zeta_gdb_process_resume(process, false);
        notify(server);
        return;
    }
    if (!has_exited(server, &about) && !process->has_fault && !find_stop(server, &thread) &&
        !(process->modules_changed && server->control_runs)) {
        zeta_gdb_process_resume(process, false);
        return;
    }
    stop(server, SIGNAL_NONE);
    zeta_gdb_send_answer(server);
}

void zeta_gdb_interrupt(struct zeta_gdb_server *server)
{
    if (!server->is_running || server->is_non_stop)
        return;
    stop(server, SIGNAL_INT);
    zeta_gdb_send_answer(server);
}

/* Resume --------------------------------------------------------------------------------------- */

struct action {
    enum zeta_gdb_action action;
    uint64_t begin, end;
    struct zeta_gdb_thread_id thread;
};

static bool take_action(struct zeta_gdb_text *text, struct action *out)
{
    uint64_t ignored;

    *out =
        (struct action){.action = ZETA_GDB_ACTION_CONTINUE, .thread = {ZETA_GDB_ANY, ZETA_GDB_ALL}};
    if (zeta_gdb_take(text, "r")) {
        out->action = ZETA_GDB_ACTION_STEP;
        if (!zeta_gdb_take_number(text, &out->begin) || !zeta_gdb_take(text, ",") ||
            !zeta_gdb_take_number(text, &out->end))
            return false;
    } else if (zeta_gdb_take(text, "s")) {
        out->action = ZETA_GDB_ACTION_STEP;
    } else if (zeta_gdb_take(text, "S")) {
        out->action = ZETA_GDB_ACTION_STEP;
        if (!zeta_gdb_take_number(text, &ignored))
            return false;
    } else if (zeta_gdb_take(text, "C")) {
        if (!zeta_gdb_take_number(text, &ignored))
            return false;
    } else if (zeta_gdb_take(text, "t")) {
        out->action = ZETA_GDB_ACTION_STAY;
    } else if (!zeta_gdb_take(text, "c")) {
        return false;
    }
    if (zeta_gdb_take(text, ":") && !zeta_gdb_take_thread(text, &out->thread))
        return false;
    return text->at == text->end;
}

/* What GDB asked of a thread: the first action that names it; null: nothing. */
static const struct action *find_action(const struct action *actions, uint32_t count,
                                        uint32_t thread)
{
    for (uint32_t i = 0; i < count; i++)
        if (actions[i].thread.thread <= 0 ||
            actions[i].thread.thread == zeta_gdb_thread_tid(thread))
            return &actions[i];
    return NULL;
}

/* Whether a thread is to go on that stopped already for a reason that GDB does not know. */
static bool find_resumed_stop(struct zeta_gdb_process *process)
{
    bool found = false;

    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct zeta_gdb_thread *const thread = &process->threads[i];

        if (thread->action == ZETA_GDB_ACTION_STAY)
            continue;
        /* A breakpoint that was removed meanwhile, or a step that nobody waits for any more. */
        if ((thread->is_break && !zeta_gdb_breakpoint_at(process, thread->address)) ||
            (thread->is_step && thread->action == ZETA_GDB_ACTION_CONTINUE))
            thread->has_stop = false;
        found |= thread->has_stop;
    }
    return found;
}

static void set_action(struct zeta_gdb_thread *thread, const struct action *action)
{
    thread->action = action->action;
    thread->range_begin = action->begin;
    thread->range_end = action->end;
}

/* All-stop: who is not named stays, and the next stop is the answer. */
static void resume_named(struct zeta_gdb_server *server, const struct action *actions,
                         uint32_t count)
{
    static const struct action stay = {.action = ZETA_GDB_ACTION_STAY};
    struct zeta_gdb_process *const process = server->process;
    const struct action *control = find_action(actions, count, ZETA_GDB_CONTROL_THREAD);
    siginfo_t about;

    for (uint32_t i = 0; i < process->thread_count; i++) {
        const struct action *const action = find_action(actions, count, i);

        set_action(&process->threads[i], action ? action : &stay);
    }
    if (control && control->action == ZETA_GDB_ACTION_STEP) {
        /* It has no instructions. */
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_TRAP, "");
        return;
    }
    server->control_runs = control && control->action == ZETA_GDB_ACTION_CONTINUE;
    if (has_exited(server, &about) || process->has_fault ||
        (process->modules_changed && server->control_runs) || find_resumed_stop(process)) {
        stop(server, SIGNAL_NONE);
        return;
    }
    zeta_gdb_process_resume(process, server->control_runs);
    server->is_running = server->answers_later = true;
}

/* GDB waits for the stop of a thread, also of one that has ended meanwhile. */
static void halt(struct zeta_gdb_process *process, uint32_t number, bool is_named)
{
    struct zeta_gdb_thread *const thread = &process->threads[number];

    if (is_named)
        zeta_gdb_process_stop(process, number);
    thread->is_gone |= !thread->is_there && is_named;
    if (!thread->is_there || thread->has_stop || thread->action == ZETA_GDB_ACTION_STAY)
        return;
    thread->has_stop = true;
    thread->cause = ZETA_GDB_CAUSE_HALT;
    thread->is_break = thread->is_step = false;
}

/* Whether GDB was told of a thread's stop and has not said that it knows: what it asks of all
 * threads is not meant for this one. */
static bool is_unknown_stop(const struct zeta_gdb_server *server, uint32_t thread)
{
    return server->is_notified && server->reported == thread;
}

/* Non-stop: who is not named does what it did. Where all are to stop they are stopped together: it
 * is not known which of them run. */
static void change_named(struct zeta_gdb_server *server, const struct action *actions,
                         uint32_t count)
{
    struct zeta_gdb_process *const process = server->process;
    const struct action *control = find_action(actions, count, ZETA_GDB_CONTROL_THREAD);
    bool release = false;

    if (is_unknown_stop(server, ZETA_GDB_CONTROL_THREAD))
        control = NULL;

    for (uint32_t i = 0; i < count; i++)
        if (actions[i].action == ZETA_GDB_ACTION_STAY && actions[i].thread.thread <= 0) {
            zeta_gdb_process_stop_all(process);
            break;
        }
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct zeta_gdb_thread *const thread = &process->threads[i];
        const struct action *const action = find_action(actions, count, i);

        if (action && action->action == ZETA_GDB_ACTION_STAY)
            halt(process, i, action->thread.thread > 0);
        else if (action && thread->action == ZETA_GDB_ACTION_STAY && !is_unknown_stop(server, i))
            set_action(thread, action);
    }
    if (control && control->action == ZETA_GDB_ACTION_CONTINUE) {
        server->control_runs = true;
        release = !process->modules_changed;
    } else if (control) { /* it has no instructions to step */
        server->control_halts = server->control_runs || control->action == ZETA_GDB_ACTION_STEP;
    }
    zeta_gdb_process_resume(process, release);
    zeta_gdb_answer_ok(server, true);
}

void zeta_gdb_answer_break(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_process *const process = server->process;
    uint32_t thread;

    (void)text;
    if (!server->is_non_stop)
        return;
    zeta_gdb_process_stop_all(process);
    thread = find_any(process);
    if (thread == ZETA_GDB_CONTROL_THREAD)
        server->control_halts = true;
    else
        halt(process, thread, true);
    zeta_gdb_process_resume(process, false);
    zeta_gdb_answer_ok(server, true);
}

void zeta_gdb_answer_resume(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct action *actions;
    uint32_t count = 0;
    bool good;

    (void)zeta_gdb_take(text, ";");
    /* Each has a letter and, but the last, a semicolon. */
    actions = calloc((size_t)(text->end - text->at) / 2 + 1, sizeof(*actions));
    good = actions != NULL && text->at < text->end;
    while (good && text->at < text->end) {
        struct zeta_gdb_text one = zeta_gdb_take_field(text, ';');

        good = take_action(&one, &actions[count++]);
    }
    if (!good)
        zeta_gdb_answer_ok(server, false);
    else if (server->is_non_stop)
        change_named(server, actions, count);
    else
        resume_named(server, actions, count);
    free(actions);
}

void zeta_gdb_answer_why(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_process *const process = server->process;
    const bool modules_changed = process->modules_changed;
    siginfo_t about;
    uint32_t thread;

    (void)text;
    if (server->is_non_stop) {
        /* Others that are stopped are told later: GDB fails when there are several here. */
        process->modules_changed |= process->module_count > 0;
        server->is_running = server->is_notified = server->is_first = true;
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_NONE, "");
        return;
    }
    zeta_gdb_process_stop_all(process);
    server->is_running = false;
    /* GDB reads the list now, and the symbols of it only when it is told of a change. */
    process->modules_changed |= modules_changed || process->module_count > 0;
    if (has_exited(server, &about))
        answer_exit(server, &about);
    else if (find_stop(server, &thread))
        answer_thread_stop(server, thread);
    else
        answer_stop(server, find_any(process), SIGNAL_NONE, "");
    process->has_fault = false;
}
