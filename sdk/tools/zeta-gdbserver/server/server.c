#include "sdk/tools/zeta-gdbserver/server/server.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long events are waited for while nothing comes from GDB: the API has no descriptor to wait
 * for both. */
#define EVENT_TIMEOUT_MS 10

/* Bytes of memory that fit into one answer. */
#define MEMORY_MAX_BYTES (ZETA_GDB_PACKET_BYTES / 2 - 16)

/* GDB's numbers of signals. */
enum { SIGNAL_NONE = 0, SIGNAL_INT = 2, SIGNAL_ILL = 4, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };

static void answer_ok(struct zeta_gdb_server *server, bool succeeded)
{
    (void)fputs(succeeded ? "OK" : "E01", server->answer);
}

static bool send_answer(struct zeta_gdb_server *server)
{
    return fflush(server->answer) == 0 && !ferror(server->answer) &&
           zeta_gdb_link_send(&server->link, server->answer_text, server->answer_size);
}

/* Threads -------------------------------------------------------------------------------------- */

static bool thread_is_there(const struct zeta_gdb_server *server, uint32_t thread)
{
    return thread == ZETA_GDB_CONTROL_THREAD ||
           (thread < server->process->thread_count && server->process->threads[thread].is_stopped);
}

/* The one thread that GDB names; any is the one that it chose before. */
static bool find_thread(const struct zeta_gdb_server *server, struct zeta_gdb_thread_id id,
                        uint32_t *out_thread)
{
    uint32_t thread = server->selected;

    if (id.process > 1)
        return false;
    if (id.thread == 1)
        thread = ZETA_GDB_CONTROL_THREAD;
    else if (id.thread > 1)
        thread = (uint32_t)id.thread - 2;
    if (!thread_is_there(server, thread))
        return false;
    *out_thread = thread;
    return true;
}

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
    server->selected = server->reported = thread;
}

/* How GDB calls the watchpoint that an access met. */
static const char *watch_name(const struct zeta_gdb_process *process, uint64_t address)
{
    for (uint32_t i = 0; i < ZETA_GDB_WATCHPOINTS; i++) {
        const struct zeta_gdb_watchpoint *const watch = &process->watchpoints[i];

        if (watch->kind && address - watch->address < watch->bytes)
            return watch->kind == ZETA_GDB_WATCH_WRITE  ? "watch"
                   : watch->kind == ZETA_GDB_WATCH_READ ? "rwatch"
                                                        : "awatch";
    }
    return "watch";
}

static void answer_thread_stop(struct zeta_gdb_server *server, uint32_t number)
{
    struct zeta_gdb_thread *const thread = &server->process->threads[number];
    char reason[40] = "";
    int signal = SIGNAL_TRAP;

    if (thread->cause & ZETA_GDB_CAUSE_FAULT)
        signal = SIGNAL_SEGV;
    else if (thread->cause & ZETA_GDB_CAUSE_ILLEGAL)
        signal = SIGNAL_ILL;
    else if (thread->cause & ZETA_GDB_CAUSE_WATCH)
        (void)snprintf(reason, sizeof(reason), "%s:%" PRIx64 ";",
                       watch_name(server->process, thread->address), thread->address);
    else if (thread->is_break && server->has_swbreak)
        (void)snprintf(reason, sizeof(reason), "swbreak:;");
    thread->has_stop = false;
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

        if (process->threads[thread].has_stop &&
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

static void answer_exit(struct zeta_gdb_server *server)
{
    unsigned code = 0;
    char kind = 'W';

    if (server->child && waitpid(server->child, &server->wait_status, 0) == server->child) {
        kind = WIFSIGNALED(server->wait_status) ? 'X' : 'W';
        code = (unsigned)(WIFSIGNALED(server->wait_status) ? WTERMSIG(server->wait_status)
                                                           : WEXITSTATUS(server->wait_status));
    }
    server->child = 0;
    server->end = ZETA_GDB_END_EXITED;
    rewind(server->answer);
    (void)fprintf(server->answer, "%c%02x;process:1", kind, code);
}

/* Something for the person, while the process runs. */
static void tell(struct zeta_gdb_server *server, const char *sentence)
{
    rewind(server->answer);
    (void)putc('O', server->answer);
    zeta_gdb_put_bytes(server->answer, sentence, strlen(sentence));
    (void)send_answer(server);
}

/* Stops what runs, and says why in the answer: the most urgent of all reasons, signal without any.
 */
static void stop(struct zeta_gdb_server *server, int signal)
{
    struct zeta_gdb_process *const process = server->process;
    uint32_t thread = ZETA_GDB_CONTROL_THREAD;

    zeta_gdb_process_stop_all(process);
    server->is_running = false;
    if (process->has_ended) {
        answer_exit(server);
        return;
    }
    if (process->has_fault) {
        char sentence[80];

        (void)snprintf(sentence, sizeof(sentence),
                       "zeta-gdbserver: an access at 0x%" PRIx64 " failed\n",
                       process->fault_address);
        tell(server, sentence);
    }
    if (process->modules_changed && server->control_runs) {
        process->modules_changed = false;
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_TRAP, "library:;");
    } else if (find_stop(server, &thread)) {
        process->has_fault = false;
        answer_thread_stop(server, thread);
    } else if (process->has_fault) {
        process->has_fault = false;
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_SEGV, "");
    } else {
        answer_stop(server, find_any(process), signal, "");
    }
}

/* Lets threads go on that made a step and are still within its range, or stopped for nothing. */
static void pass_over(struct zeta_gdb_process *process)
{
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct zeta_gdb_thread *const thread = &process->threads[i];

        if (!thread->is_stopped || thread->action == ZETA_GDB_ACTION_STAY)
            continue;
        if (!thread->has_stop || (thread->is_step && thread->address - thread->range_begin <
                                                         thread->range_end - thread->range_begin))
            zeta_gdb_process_resume_one(process, i);
    }
}

/* Waits a moment for something to happen while threads run. */
static void watch_process(struct zeta_gdb_server *server)
{
    struct zeta_gdb_process *const process = server->process;
    uint32_t thread;

    if (!zeta_gdb_process_take_event(process, EVENT_TIMEOUT_MS) && !process->has_ended)
        return;
    pass_over(process);
    if (!process->has_ended && !process->has_fault && !find_stop(server, &thread) &&
        !(process->modules_changed && server->control_runs))
        return;
    stop(server, SIGNAL_NONE);
    if (!send_answer(server))
        server->end = ZETA_GDB_END_CLOSED;
}

/* Resume --------------------------------------------------------------------------------------- */

struct action {
    enum zeta_gdb_action action;
    uint64_t begin, end;
    struct zeta_gdb_thread_id thread;
};

enum { ACTIONS = 64 };

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

/* What GDB asked of a thread: the first action that names it. */
static struct action choose_action(const struct action *actions, uint32_t count, uint32_t thread)
{
    for (uint32_t i = 0; i < count; i++)
        if (actions[i].thread.thread <= 0 ||
            actions[i].thread.thread == zeta_gdb_thread_tid(thread))
            return actions[i];
    return (struct action){.action = ZETA_GDB_ACTION_STAY};
}

/* Whether a thread is to go on that stopped already for a reason that GDB does not know. */
static bool find_resumed_stop(struct zeta_gdb_process *process)
{
    bool found = false;

    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct zeta_gdb_thread *const thread = &process->threads[i];

        /* A breakpoint that was removed meanwhile, or a step that nobody waits for any more. */
        if ((thread->is_break && !zeta_gdb_breakpoint_is_at(process, thread->address)) ||
            (thread->is_step && thread->action == ZETA_GDB_ACTION_CONTINUE))
            thread->has_stop = false;
        found |= thread->has_stop && thread->action != ZETA_GDB_ACTION_STAY;
    }
    return found;
}

/* vCont: what follows the name is ";ACTION[:THREAD]", once or more. */
static bool resume(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_process *const process = server->process;
    struct action actions[ACTIONS], control;
    uint32_t count = 0;

    (void)zeta_gdb_take(text, ";");
    while (text->at < text->end && count < ACTIONS) {
        struct zeta_gdb_text one = zeta_gdb_take_field(text, ';');

        if (!take_action(&one, &actions[count++])) {
            answer_ok(server, false);
            return true;
        }
    }
    for (uint32_t i = 0; i < process->thread_count; i++) {
        const struct action action = choose_action(actions, count, i);

        process->threads[i].action = action.action;
        process->threads[i].range_begin = action.begin;
        process->threads[i].range_end = action.end;
    }
    control = choose_action(actions, count, ZETA_GDB_CONTROL_THREAD);
    if (control.action == ZETA_GDB_ACTION_STEP) {
        /* It has no instructions. */
        answer_stop(server, ZETA_GDB_CONTROL_THREAD, SIGNAL_TRAP, "");
        return true;
    }
    server->control_runs = control.action == ZETA_GDB_ACTION_CONTINUE;
    if (process->has_ended || (process->modules_changed && server->control_runs) ||
        find_resumed_stop(process)) {
        stop(server, SIGNAL_NONE);
        return true;
    }
    zeta_gdb_process_resume(process, server->control_runs);
    server->is_running = true;
    return false;
}

/* Packets. Each function gets what follows the packet's name and writes the answer; none is the
 * empty one. False: the answer comes later. ------------------------------------------------------
 */

static bool answer_supported(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    while (text->at < text->end) {
        struct zeta_gdb_text feature = zeta_gdb_take_field(text, ';');

        if (zeta_gdb_take(&feature, "swbreak+"))
            server->has_swbreak = true;
    }
    (void)fprintf(server->answer,
                  "PacketSize=%x;qXfer:features:read+;qXfer:threads:read+;qXfer:libraries:read+;"
                  "%svContSupported+;QStartNoAckMode+;multiprocess+",
                  ZETA_GDB_PACKET_BYTES, server->has_swbreak ? "swbreak+;" : "");
    return true;
}

static bool answer_no_acks(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs("OK", server->answer);
    if (!send_answer(server))
        server->end = ZETA_GDB_END_CLOSED;
    server->link.has_acks = false;
    return false;
}

static bool answer_why(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_process *const process = server->process;
    const bool modules_changed = process->modules_changed;
    uint32_t thread;

    (void)text;
    zeta_gdb_process_stop_all(process);
    /* GDB reads the list now, and the symbols of it only when it is told of a change. */
    process->modules_changed |= modules_changed || process->module_count > 0;
    if (process->has_ended)
        answer_exit(server);
    else if (find_stop(server, &thread))
        answer_thread_stop(server, thread);
    else
        answer_stop(server, find_any(process), SIGNAL_NONE, "");
    return true;
}

static bool answer_attached(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs(server->child ? "0" : "1", server->answer);
    return true;
}

static bool answer_current(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fprintf(server->answer, "QCp1.%x", zeta_gdb_thread_tid(server->selected));
    return true;
}

static bool answer_document(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    zeta_gdb_document_answer(server, text);
    return true;
}

static bool answer_file(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    zeta_gdb_file_answer(server, text);
    return true;
}

static bool answer_symbol(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs("OK", server->answer);
    return true;
}

static bool answer_select(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    const bool is_for_access = zeta_gdb_take(text, "g");
    struct zeta_gdb_thread_id id;
    uint32_t thread;
    bool found;

    found = (is_for_access || zeta_gdb_take(text, "c")) && zeta_gdb_take_thread(text, &id) &&
            find_thread(server, id, &thread);
    if (found && is_for_access)
        server->selected = thread;
    answer_ok(server, found);
    return true;
}

static bool answer_alive(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_thread_id id;
    uint32_t thread;

    answer_ok(server, zeta_gdb_take_thread(text, &id) && find_thread(server, id, &thread));
    return true;
}

static bool answer_registers(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t values[ZETA_GDB_GENERAL_REGISTERS];

    (void)text;
    if (zeta_gdb_general_get(server->process, server->selected, values))
        zeta_gdb_put_bytes(server->answer, values, sizeof(values));
    else
        answer_ok(server, false);
    return true;
}

static bool answer_set_registers(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t values[ZETA_GDB_GENERAL_REGISTERS];

    answer_ok(server, zeta_gdb_take_bytes(text, values, sizeof(values)) &&
                          zeta_gdb_general_set(server->process, server->selected, values));
    return true;
}

static bool answer_register(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t number, value;

    if (zeta_gdb_take_number(text, &number) && number < UINT32_MAX &&
        zeta_gdb_register_get(server->process, server->selected, (uint32_t)number, &value))
        zeta_gdb_put_bytes(server->answer, &value,
                           zeta_gdb_register_bytes(server->process, (uint32_t)number));
    else
        answer_ok(server, false);
    return true;
}

static bool answer_set_register(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t number, value = 0;

    answer_ok(
        server,
        zeta_gdb_take_number(text, &number) && number < UINT32_MAX && zeta_gdb_take(text, "=") &&
            zeta_gdb_take_bytes(text, &value,
                                zeta_gdb_register_bytes(server->process, (uint32_t)number)) &&
            zeta_gdb_register_set(server->process, server->selected, (uint32_t)number, value));
    return true;
}

/* "ADDRESS,SIZE" */
static bool take_range(struct zeta_gdb_text *text, uint64_t *out_address, uint64_t *out_size)
{
    return zeta_gdb_take_number(text, out_address) && zeta_gdb_take(text, ",") &&
           zeta_gdb_take_number(text, out_size);
}

static bool answer_memory(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    static uint8_t bytes[MEMORY_MAX_BYTES];
    uint64_t address, size;

    if (!take_range(text, &address, &size)) {
        answer_ok(server, false);
        return true;
    }
    if (size > sizeof(bytes))
        size = sizeof(bytes);
    if (size > 0 &&
        zeta_gdb_memory_read(server->process, server->selected, address, (size_t)size, bytes))
        zeta_gdb_put_bytes(server->answer, bytes, (size_t)size);
    else
        (void)fputs("E0e", server->answer);
    return true;
}

static bool write_memory(struct zeta_gdb_server *server, uint64_t address, uint64_t size,
                         const uint8_t *bytes)
{
    if (size == 0 ||
        zeta_gdb_memory_write(server->process, server->selected, address, (size_t)size, bytes))
        (void)fputs("OK", server->answer);
    else
        (void)fputs("E0e", server->answer);
    return true;
}

static bool answer_write_memory(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    static uint8_t bytes[MEMORY_MAX_BYTES];
    uint64_t address, size;

    if (take_range(text, &address, &size) && zeta_gdb_take(text, ":") && size <= sizeof(bytes) &&
        zeta_gdb_take_bytes(text, bytes, (size_t)size))
        return write_memory(server, address, size, bytes);
    answer_ok(server, false);
    return true;
}

static bool answer_write_binary(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t address, size;

    if (take_range(text, &address, &size) && zeta_gdb_take(text, ":") &&
        size == (uint64_t)(text->end - text->at))
        return write_memory(server, address, size, (const uint8_t *)text->at);
    answer_ok(server, false);
    return true;
}

/* "KIND,ADDRESS,SIZE" of Z and z. */
static bool answer_point(struct zeta_gdb_server *server, struct zeta_gdb_text *text, bool inserts)
{
    struct zeta_gdb_process *const process = server->process;
    uint64_t kind, address, size;

    if (!zeta_gdb_take_number(text, &kind) || !zeta_gdb_take(text, ",") ||
        !take_range(text, &address, &size)) {
        answer_ok(server, false);
    } else if (kind == 0 && inserts) {
        answer_ok(server,
                  size <= 4 && zeta_gdb_breakpoint_insert(process, address, (uint32_t)size));
    } else if (kind == 0) {
        answer_ok(server, zeta_gdb_breakpoint_remove(process, address));
    } else if (kind >= ZETA_GDB_WATCH_WRITE && kind <= ZETA_GDB_WATCH_ACCESS) {
        answer_ok(server, inserts ? zeta_gdb_watchpoint_insert(process, (enum zeta_gdb_watch)kind,
                                                               address, size)
                                  : zeta_gdb_watchpoint_remove(process, (enum zeta_gdb_watch)kind,
                                                               address, size));
    }
    return true;
}

static bool answer_insert(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    return answer_point(server, text, true);
}

static bool answer_remove(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    return answer_point(server, text, false);
}

static bool answer_actions(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs("vCont;c;C;s;S;t;r", server->answer);
    return true;
}

static bool answer_detach(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    zeta_gdb_process_detach(server->process);
    server->end = ZETA_GDB_END_DETACHED;
    answer_ok(server, true);
    return true;
}

static bool answer_kill(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    server->end = ZETA_GDB_END_KILLED;
    answer_ok(server, true);
    return true;
}

static bool answer_old_kill(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    server->end = ZETA_GDB_END_KILLED;
    return false;
}

/* The first whose name begins the packet; a longer name stands before its beginning. */
static const struct {
    const char *name;
    bool (*answer)(struct zeta_gdb_server *server, struct zeta_gdb_text *text);
} packets[] = {
    {"qSupported", answer_supported},
    {"QStartNoAckMode", answer_no_acks},
    {"qXfer:", answer_document},
    {"qAttached", answer_attached},
    {"qSymbol:", answer_symbol},
    {"vCont?", answer_actions},
    {"vCont", resume},
    {"vFile:", answer_file},
    {"vKill", answer_kill},
    {"?", answer_why},
    {"H", answer_select},
    {"T", answer_alive},
    {"g", answer_registers},
    {"G", answer_set_registers},
    {"p", answer_register},
    {"P", answer_set_register},
    {"m", answer_memory},
    {"M", answer_write_memory},
    {"X", answer_write_binary},
    {"Z", answer_insert},
    {"z", answer_remove},
    {"D", answer_detach},
    {"k", answer_old_kill},
};

static void take_packet(struct zeta_gdb_server *server)
{
    struct zeta_gdb_text text = {server->link.payload, server->link.payload + server->link.size};
    bool answers = true;

    rewind(server->answer);
    if (strcmp(server->link.payload, "qC") == 0) {
        answers = answer_current(server, &text);
    } else {
        for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
            if (zeta_gdb_take(&text, packets[i].name)) {
                answers = packets[i].answer(server, &text);
                break;
            }
    }
    if (answers && !send_answer(server))
        server->end = ZETA_GDB_END_CLOSED;
}

/* Connection ----------------------------------------------------------------------------------- */

static void take_bytes(struct zeta_gdb_server *server, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size && server->end == ZETA_GDB_END_NONE;) {
        enum zeta_gdb_input input;

        at += zeta_gdb_link_take(&server->link, bytes + at, size - at, &input);
        if (input == ZETA_GDB_INPUT_PACKET) {
            take_packet(server);
        } else if (input == ZETA_GDB_INPUT_TOO_LONG) {
            if (!zeta_gdb_link_send(&server->link, "E01", 3))
                server->end = ZETA_GDB_END_CLOSED;
        } else if (input == ZETA_GDB_INPUT_INTERRUPT && server->is_running) {
            stop(server, SIGNAL_INT);
            if (!send_answer(server))
                server->end = ZETA_GDB_END_CLOSED;
        }
    }
}

static bool write_whole(void *to, const void *bytes, size_t size)
{
    const struct zeta_gdb_server *const server = to;
    const uint8_t *at = bytes;

    while (size > 0) {
        const ssize_t written = write(server->out, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

enum zeta_gdb_end zeta_gdb_server_run(struct zeta_gdb_server *server)
{
    static uint8_t bytes[65536];

    server->selected = server->reported = ZETA_GDB_CONTROL_THREAD;
    server->answer = open_memstream(&server->answer_text, &server->answer_size);
    if (!server->answer || !zeta_gdb_link_init(&server->link, write_whole, server)) {
        if (server->answer)
            (void)fclose(server->answer);
        free(server->answer_text);
        return ZETA_GDB_END_CLOSED;
    }
    zeta_gdb_points_clear(server->process); /* this client knows nothing of those before */
    while (server->end == ZETA_GDB_END_NONE) {
        struct pollfd input = {.fd = server->in, .events = POLLIN};
        const int ready = poll(&input, 1, server->is_running ? 0 : -1);

        if (ready > 0) {
            const ssize_t size = read(server->in, bytes, sizeof(bytes));

            if (size > 0)
                take_bytes(server, bytes, (size_t)size);
            else if (size == 0 || errno != EINTR)
                server->end = ZETA_GDB_END_CLOSED;
        } else if (ready < 0 && errno != EINTR) {
            server->end = ZETA_GDB_END_CLOSED;
        } else if (server->is_running) {
            watch_process(server);
        }
    }
    zeta_gdb_link_finish(&server->link);
    (void)fclose(server->answer);
    free(server->answer_text);
    free(server->document);
    return server->end;
}
