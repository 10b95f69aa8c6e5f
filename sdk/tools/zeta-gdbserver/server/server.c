#include "sdk/tools/zeta-gdbserver/server/server.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of memory that fit into one answer. */
#define MEMORY_MAX_BYTES (ZETA_GDB_PACKET_BYTES / 2 - 16)

void zeta_gdb_answer_ok(struct zeta_gdb_server *server, bool succeeded)
{
    (void)fputs(succeeded ? "OK" : "E01", server->answer);
}

void zeta_gdb_close(struct zeta_gdb_server *server)
{
    if (server->end == ZETA_GDB_END_NONE)
        server->end = server->is_exit_told ? ZETA_GDB_END_EXITED : ZETA_GDB_END_CLOSED;
}

void zeta_gdb_send_answer(struct zeta_gdb_server *server)
{
    if (fflush(server->answer) != 0 || ferror(server->answer) ||
        !zeta_gdb_link_send(&server->link, server->answer_text, server->answer_size))
        zeta_gdb_close(server);
}

/* Threads -------------------------------------------------------------------------------------- */

static bool thread_is_there(const struct zeta_gdb_server *server, uint32_t thread)
{
    return thread == ZETA_GDB_CONTROL_THREAD ||
           (thread < server->process->thread_count && server->process->threads[thread].is_there);
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

/* Packets. Each function gets what follows the packet's name and writes the answer; none is the
 * empty one. ------------------------------------------------------------------------------------
 */

static void answer_supported(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)zeta_gdb_take(text, ":");
    while (text->at < text->end) {
        struct zeta_gdb_text feature = zeta_gdb_take_field(text, ';');

        if (zeta_gdb_take(&feature, "swbreak+"))
            server->has_swbreak = true;
    }
    (void)fprintf(server->answer,
                  "PacketSize=%x;qXfer:features:read+;qXfer:threads:read+;qXfer:libraries:read+;"
                  "%s%svContSupported+;QStartNoAckMode+;QNonStop+;multiprocess+",
                  ZETA_GDB_PACKET_BYTES, server->has_swbreak ? "swbreak+;" : "",
                  server->process->breakpoint_registers > 0 ? "ConditionalBreakpoints+;" : "");
}

static void answer_no_acks(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    server->link.has_acks = false;
    zeta_gdb_answer_ok(server, true);
}

static void answer_non_stop(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    server->is_non_stop = zeta_gdb_take(text, "1");
    server->is_running = server->is_notified = false; /* "?" comes next */
    zeta_gdb_answer_ok(server, server->is_non_stop || zeta_gdb_take(text, "0"));
}

static void answer_attached(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs(server->child ? "0" : "1", server->answer);
}

static void answer_current(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fprintf(server->answer, "QCp1.%x", zeta_gdb_thread_tid(server->selected));
}

static void answer_symbol(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs("OK", server->answer);
}

static void answer_select(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    const bool is_for_access = zeta_gdb_take(text, "g");
    struct zeta_gdb_thread_id id;
    uint32_t thread;
    bool found;

    found = (is_for_access || zeta_gdb_take(text, "c")) && zeta_gdb_take_thread(text, &id) &&
            find_thread(server, id, &thread);
    if (found && is_for_access)
        server->selected = thread;
    zeta_gdb_answer_ok(server, found);
}

static void answer_alive(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    struct zeta_gdb_thread_id id;
    uint32_t thread;

    zeta_gdb_answer_ok(server, zeta_gdb_take_thread(text, &id) && find_thread(server, id, &thread));
}

static void answer_registers(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t values[ZETA_GDB_GENERAL_REGISTERS];

    (void)text;
    if (zeta_gdb_general_get(server->process, server->selected, values))
        zeta_gdb_put_bytes(server->answer, values, sizeof(values));
    else
        zeta_gdb_answer_ok(server, false);
}

static void answer_set_registers(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t values[ZETA_GDB_GENERAL_REGISTERS];

    zeta_gdb_answer_ok(server, zeta_gdb_take_bytes(text, values, sizeof(values)) &&
                                   zeta_gdb_general_set(server->process, server->selected, values));
}

static void answer_register(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t number, value;

    if (zeta_gdb_take_number(text, &number) && number < UINT32_MAX &&
        zeta_gdb_register_get(server->process, server->selected, (uint32_t)number, &value))
        zeta_gdb_put_bytes(server->answer, &value,
                           zeta_gdb_register_bytes(server->process, (uint32_t)number));
    else
        zeta_gdb_answer_ok(server, false);
}

static void answer_set_register(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t number, value = 0;

    zeta_gdb_answer_ok(
        server,
        zeta_gdb_take_number(text, &number) && number < UINT32_MAX && zeta_gdb_take(text, "=") &&
            zeta_gdb_take_bytes(text, &value,
                                zeta_gdb_register_bytes(server->process, (uint32_t)number)) &&
            zeta_gdb_register_set(server->process, server->selected, (uint32_t)number, value));
}

/* "ADDRESS,SIZE" */
static bool take_range(struct zeta_gdb_text *text, uint64_t *out_address, uint64_t *out_size)
{
    return zeta_gdb_take_number(text, out_address) && zeta_gdb_take(text, ",") &&
           zeta_gdb_take_number(text, out_size);
}

static void answer_memory(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    static uint8_t bytes[MEMORY_MAX_BYTES];
    uint64_t address, size;

    if (!take_range(text, &address, &size)) {
        zeta_gdb_answer_ok(server, false);
        return;
    }
    if (size > sizeof(bytes))
        size = sizeof(bytes);
    if (size > 0 &&
        zeta_gdb_memory_read(server->process, server->selected, address, (size_t)size, bytes))
        zeta_gdb_put_bytes(server->answer, bytes, (size_t)size);
    else
        (void)fputs("E0e", server->answer);
}

static void write_memory(struct zeta_gdb_server *server, uint64_t address, uint64_t size,
                         const uint8_t *bytes)
{
    if (size == 0 ||
        zeta_gdb_memory_write(server->process, server->selected, address, (size_t)size, bytes))
        (void)fputs("OK", server->answer);
    else
        (void)fputs("E0e", server->answer);
}

static void answer_write_memory(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    static uint8_t bytes[MEMORY_MAX_BYTES];
    uint64_t address, size;

    if (take_range(text, &address, &size) && zeta_gdb_take(text, ":") && size <= sizeof(bytes) &&
        zeta_gdb_take_bytes(text, bytes, (size_t)size))
        write_memory(server, address, size, bytes);
    else
        zeta_gdb_answer_ok(server, false);
}

static void answer_write_binary(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    uint64_t address, size;

    if (take_range(text, &address, &size) && zeta_gdb_take(text, ":") &&
        size == (uint64_t)(text->end - text->at))
        write_memory(server, address, size, (const uint8_t *)text->at);
    else
        zeta_gdb_answer_ok(server, false);
}

/* "KIND,ADDRESS,SIZE" of Z and z, behind which Z0 may have conditions. */
static void answer_point(struct zeta_gdb_server *server, struct zeta_gdb_text *text, bool inserts)
{
    struct zeta_gdb_process *const process = server->process;
    struct zeta_gdb_condition *conditions;
    uint64_t kind, address, size;

    if (!zeta_gdb_take_number(text, &kind) || !zeta_gdb_take(text, ",") ||
        !take_range(text, &address, &size)) {
        zeta_gdb_answer_ok(server, false);
    } else if (kind == 0 && inserts) {
        zeta_gdb_answer_ok(
            server, size <= 4 && zeta_gdb_conditions_take(text, &conditions) &&
                        zeta_gdb_breakpoint_insert(process, address, (uint32_t)size, conditions));
    } else if (kind == 0) {
        zeta_gdb_answer_ok(server, zeta_gdb_breakpoint_remove(process, address));
    } else if (kind >= ZETA_GDB_WATCH_WRITE && kind <= ZETA_GDB_WATCH_ACCESS) {
        zeta_gdb_answer_ok(
            server,
            inserts
                ? zeta_gdb_watchpoint_insert(process, (enum zeta_gdb_watch)kind, address, size)
                : zeta_gdb_watchpoint_remove(process, (enum zeta_gdb_watch)kind, address, size));
    }
}

static void answer_insert(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    answer_point(server, text, true);
}

static void answer_remove(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    answer_point(server, text, false);
}

static void answer_actions(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    (void)fputs("vCont;c;C;s;S;t;r", server->answer);
}

static void answer_detach(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    zeta_gdb_process_detach(server->process);
    server->end = ZETA_GDB_END_DETACHED;
    zeta_gdb_answer_ok(server, true);
}

static void answer_kill(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    server->end = ZETA_GDB_END_KILLED;
    zeta_gdb_answer_ok(server, true);
}

static void answer_old_kill(struct zeta_gdb_server *server, struct zeta_gdb_text *text)
{
    (void)text;
    server->end = ZETA_GDB_END_KILLED;
    server->answers_later = true; /* never */
}

/* The first whose name begins the packet; a longer name stands before its beginning. */
static const struct {
    const char *name;
    void (*answer)(struct zeta_gdb_server *server, struct zeta_gdb_text *text);
} packets[] = {
    {"qSupported", answer_supported},
    {"QStartNoAckMode", answer_no_acks},
    {"QNonStop:", answer_non_stop},
    {"qXfer:", zeta_gdb_document_answer},
    {"qAttached", answer_attached},
    {"qSymbol:", answer_symbol},
    {"vCont?", answer_actions},
    {"vCont", zeta_gdb_answer_resume},
    {"vStopped", zeta_gdb_answer_stopped},
    {"vCtrlC", zeta_gdb_answer_break},
    {"vFile:", zeta_gdb_file_answer},
    {"vKill", answer_kill},
    {"?", zeta_gdb_answer_why},
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

    rewind(server->answer);
    server->answers_later = false;
    if (strcmp(server->link.payload, "qC") == 0) {
        answer_current(server, &text);
    } else {
        for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
            if (zeta_gdb_take(&text, packets[i].name)) {
                packets[i].answer(server, &text);
                break;
            }
    }
    if (!server->answers_later)
        zeta_gdb_send_answer(server);
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
                zeta_gdb_close(server);
        } else if (input == ZETA_GDB_INPUT_INTERRUPT) {
            zeta_gdb_interrupt(server);
        }
    }
}

/* A client that does not read is waited for, but not once the connection is to end. */
static bool write_whole(void *to, const void *bytes, size_t size)
{
    const struct zeta_gdb_server *const server = to;
    struct pollfd polled[] = {{.fd = server->out, .events = POLLOUT},
                              {.fd = server->stop, .events = POLLIN}};
    const uint8_t *at = bytes;

    while (size > 0) {
        /* So many do not block where any can be written. */
        const size_t some = size < PIPE_BUF ? size : PIPE_BUF;
        const int ready = poll(polled, 2, -1);
        ssize_t written = -1;

        if (ready > 0 && polled[1].revents != 0)
            return false;
        if (ready > 0)
            written = write(server->out, at, some);
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
    /* This client knows of no thread that is to stay, and has no file open. */
    for (uint32_t i = 0; i < server->process->module_count; i++) {
        server->process->modules[i].opens = 0;
        zeta_gdb_module_trim(&server->process->modules[i]);
    }
    for (uint32_t i = 0; i < server->process->thread_count; i++)
        server->process->threads[i].action = ZETA_GDB_ACTION_CONTINUE;
    while (server->end == ZETA_GDB_END_NONE) {
        struct pollfd polled[] = {{.fd = server->in, .events = POLLIN},
                                  {.fd = server->stop, .events = POLLIN}};
        /* Looking for events waits, but not where there will be none. */
        const bool waits = server->is_non_stop || server->process->has_ended;
        const int wait_ms = !server->is_running ? -1 : waits ? ZETA_GDB_WAIT_MS : 0;
        const int ready = poll(polled, 2, wait_ms);

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0 || polled[1].revents != 0) {
            zeta_gdb_close(server);
        } else if (polled[0].revents != 0) {
            const ssize_t size = read(server->in, bytes, sizeof(bytes));

            if (size > 0)
                take_bytes(server, bytes, (size_t)size);
            else if (size == 0 || errno != EINTR)
                zeta_gdb_close(server);
        }
        if (server->end == ZETA_GDB_END_NONE && server->is_running &&
            (ready == 0 || server->is_non_stop))
            zeta_gdb_watch(server);
    }
    /* The next client knows nothing of its breakpoints, and may never come. */
    if (server->end == ZETA_GDB_END_CLOSED)
        zeta_gdb_points_clear(server->process);
    zeta_gdb_link_finish(&server->link);
    (void)fclose(server->answer);
    free(server->answer_text);
    free(server->document);
    return server->end;
}
