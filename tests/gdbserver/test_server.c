/*
 * The server with a scripted process: each packet that GDB sends, and its answer.
 */
#include "sdk/tools/zeta-gdbserver/server/server.h"
#include "tests/gdbserver/frames.h"
#include "tests/harness/control.h"
#include "tests/harness/device/debug_control.h"
#include "tests/metric_api/harness.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What instructions are; the first two do nothing. */
#define NOP 0x00000013u
#define SPIN 0x0000006fu

struct connection {
    const struct debug_control *control;
    struct zeta_gdb_process process;
    struct zeta_gdb_server server;
    pthread_t thread;
    int socket;
    struct frames received;
    size_t at; /* of what was not read yet */
    char answer[65536];
    size_t answer_size;
};

static void *serve(void *of)
{
    struct connection *const connection = of;

    (void)zeta_gdb_server_run(&connection->server);
    (void)shutdown(connection->server.in, SHUT_RDWR);
    return NULL;
}

static void put_code(struct connection *connection, uint32_t index, uint32_t instruction)
{
    memcpy(connection->control->code() + 4 * (size_t)index, &instruction, 4);
}

static int connect_gdb(void **state)
{
    struct connection *const connection = calloc(1, sizeof(*connection));
    int pair[2];

    assert_non_null(connection);
    EXPECT_OK(zeInit(0));
    connection->control = harness_control("debug_control");
    connection->control->reset();
    for (uint32_t i = 0; i < DEBUG_CODE_BYTES / 4; i++)
        put_code(connection, i, NOP);
    EXPECT_OK(zeta_gdb_process_attach(&connection->process, find_device("debug3"), DEBUG_PID));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    connection->socket = pair[0];
    connection->server.process = &connection->process;
    connection->server.in = connection->server.out = pair[1];
    connection->server.stop = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(pthread_create(&connection->thread, NULL, serve, connection), 0);
    *state = connection;
    return 0;
}

static int disconnect_gdb(void **state)
{
    struct connection *const connection = *state;

    (void)close(connection->socket);
    (void)pthread_join(connection->thread, NULL);
    (void)close(connection->server.in);
    (void)close(connection->server.stop);
    zeta_gdb_process_detach(&connection->process);
    frames_clear(&connection->received);
    free(connection);
    return 0;
}

static void send_packet(struct connection *connection, const char *payload, size_t size)
{
    char frame[8192];
    uint8_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + (uint8_t)payload[i]);
    frame[0] = '$';
    memcpy(frame + 1, payload, size);
    (void)snprintf(frame + 1 + size, 4, "#%02x", sum);
    assert_int_equal(write(connection->socket, frame, size + 4), size + 4);
}

/* Waits for a packet, and passes over acknowledgements. */
static const char *receive(struct connection *connection)
{
    char bytes[4096], lead;

    for (;;) {
        struct frames *const all = &connection->received;
        ssize_t size;

        while (connection->at < all->size && all->bytes[connection->at] == '+')
            connection->at++;
        if (connection->at < all->size) {
            const size_t taken =
                frames_read(all, connection->at, &lead, (uint8_t *)connection->answer,
                            sizeof(connection->answer) - 1, &connection->answer_size);

            connection->at += taken;
            if (taken > 0) {
                connection->answer[connection->answer_size] = '\0';
                return connection->answer;
            }
        }
        size = read(connection->socket, bytes, sizeof(bytes));
        assert_true(size > 0);
        (void)frames_write(all, bytes, (size_t)size);
    }
}

static const char *ask(struct connection *connection, const char *packet)
{
    send_packet(connection, packet, strlen(packet));
    return receive(connection);
}

static void expect(struct connection *connection, const char *packet, const char *answer)
{
    assert_string_equal(ask(connection, packet), answer);
}

static void expect_begins(const char *text, const char *beginning)
{
    if (strncmp(text, beginning, strlen(beginning)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", text, beginning);
}

static void expect_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" has no \"%s\"", text, part);
}

/* As GDB does when it connects. */
static void shake_hands(struct connection *connection)
{
    expect_has(ask(connection, "qSupported:multiprocess+;swbreak+;xmlRegisters=i386"),
               "PacketSize=20000;qXfer:features:read+;qXfer:threads:read+;qXfer:libraries:read+;"
               "swbreak+;");
    expect(connection, "vMustReplyEmpty", "");
    expect(connection, "QStartNoAckMode", "OK");
    expect(connection, "Hgp0.0", "OK");
    expect_begins(ask(connection, "?"), "T00thread:p1.");
}

static void load_image(struct connection *connection, uint32_t kind, uint64_t cookie, uint64_t size)
{
    const struct zeta_plugin_debug_event event = {.struct_size = sizeof(event),
                                                  .kind = kind,
                                                  .u.module = {.image_begin = DEBUG_IMAGE,
                                                               .image_end = DEBUG_IMAGE + size,
                                                               .load = DEBUG_CODE,
                                                               .cookie = cookie}};

    connection->control->push(&event);
}

static void load_module(struct connection *connection, uint32_t kind, uint64_t cookie)
{
    load_image(connection, kind, cookie, 5000);
}

static void connect__no_kernel__control_thread_alone(void **state)
{
    struct connection *const connection = *state;

    shake_hands(connection);
    expect(connection, "qC", "QCp1.1");
    expect(connection, "qAttached:1", "1");
    expect(connection, "Hc-1", "OK");
    expect(connection, "qOffsets", "");
    expect(connection, "qSymbol::", "OK");
    expect(connection, "vCont?", "vCont;c;C;s;S;t;r");
    expect(connection, "qXfer:threads:read::0,1000",
           "l<?xml version=\"1.0\"?><threads><thread id=\"p1.1\" name=\"control\"/></threads>");
    expect(connection, "qXfer:libraries:read::0,1000", "l<library-list></library-list>");
    assert_int_equal(strlen(ask(connection, "g")), 33 * 16);
    assert_int_equal(strspn(connection->answer, "0"), 33 * 16);
}

/* Threads that cannot be stopped are as if they were not there. */
static void connect__threads_do_not_halt__answered_without_them(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    connection->control->hold_halts(true);
    shake_hands(connection);
    expect_begins(connection->answer, "T00thread:p1.1;");
    connection->control->hold_halts(false);
}

static void description__slices__are_of_one_document(void **state)
{
    struct connection *const connection = *state;
    char whole[32768] = "", slice[64];

    shake_hands(connection);
    for (size_t at = 0;; at += 100) {
        (void)snprintf(slice, sizeof(slice), "qXfer:features:read:target.xml:%zx,64", at);
        (void)ask(connection, slice);
        (void)strncat(whole, connection->answer + 1, 100);
        if (connection->answer[0] == 'l')
            break;
        assert_int_equal(connection->answer_size, 101);
    }
    expect_has(whole, "<architecture>riscv:rv64</architecture><osabi>none</osabi>");
    expect_has(whole, "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"32\" ");
    expect_has(whole, "<reg name=\"local_z\"");
    expect_has(whole, "</target>");
    expect(connection, "qXfer:features:read:other.xml:0,64", "E00");
    expect(connection, "qXfer:features:read:target.xml:x", "E00");
    expect(connection, "qXfer:auxv:read::0,64", "");
}

static void attach__threads_run__are_stopped_and_named(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    connection->control->launch(70, 1, DEBUG_CODE);
    shake_hands(connection);
    expect_begins(connection->answer, "T00thread:p1.2;20:0000004000000000;");
    assert_true(connection->control->is_stopped(70));
    expect_has(ask(connection, "qXfer:threads:read::0,1000"),
               "<thread id=\"p1.48\" name=\"1.1.1.7 group 8,0,0 local 70,0,0\"/>");
    expect(connection, "Tp1.48", "OK");
    expect(connection, "Tp1.47", "E01");
    expect(connection, "Hgp1.48", "OK");
    expect(connection, "p20", "0000004000000000");
    expect(connection, "P5=0807060504030201", "OK");
    expect(connection, "p5", "0807060504030201");
    expect(connection, "p21", "0000000000000000");
    expect(connection, "P43=ff000000", "OK");
    expect(connection, "p41", "1f000000");
    expect(connection, "p42", "07000000");
    expect(connection, "p4a", "0000000000000000"); /* local_z */
    expect(connection, "p4b", "0100000000000000"); /* at_barrier */
    expect(connection, "p4c", "0300000000000000"); /* launch */
    expect(connection, "p4d", "00000040");         /* cause: halted */
    expect(connection, "P4e=8877665544332211", "OK");
    expect(connection, "P4d=00000100", "OK");
    expect(connection, "p4e", "8877665544332211"); /* cause_address */
    expect(connection, "p4d", "00000100");
    expect(connection, "p4f", "E01");
    expect(connection, "P4b=0000000000000000", "E01");
    expect(connection, "P0=0000000000000000", "OK");
    /* tid, pc, tp, ten ids, cause and address, ra. */
    expect(connection, "qXfer:work-items:read::0,1000",
           "l2 40000000 0 0 0 0 0 0 0 0 0 0 3 40000000 0 0\n"
           "48 40000000 0 8 0 0 46 0 0 46 0 1 3 10000 1122334455667788 0\n");
    expect(connection, "qXfer:work-items:read::4,6", "m000000");
    expect(connection, "qXfer:work-items:read:x:0,10", "E00");
}

static void breakpoint__hit__stops_all_and_names_the_reason(void **state)
{
    struct connection *const connection = *state;
    uint32_t there;

    put_code(connection, 0, SPIN);
    connection->control->launch(1, 1, DEBUG_CODE);
    connection->control->launch(3, 1, DEBUG_CODE);
    shake_hands(connection);
    expect(connection, "Z0,40000010,4", "OK");
    memcpy(&there, connection->control->code() + 16, 4);
    assert_int_equal(there, 0x00100073);
    expect(connection, "m4000000e,6", "000013000000");
    expect(connection, "Hgp1.5", "OK");
    expect(connection, "P20=0400004000000000", "OK");
    expect_begins(ask(connection, "vCont;c:p1.-1"), "T05thread:p1.5;20:1000004000000000;");
    expect_has(connection->answer, "swbreak:;");
    expect(connection, "p4d", "00000080");
    assert_true(connection->control->is_stopped(1));
    expect(connection, "z0,40000010,4", "OK");
    memcpy(&there, connection->control->code() + 16, 4);
    assert_int_equal(there, NOP);
    expect_begins(ask(connection, "vCont;s:p1.5"), "T05thread:p1.5;20:1400004000000000;");
    assert_null(strstr(connection->answer, "swbreak"));
    expect_begins(ask(connection, "vCont;r40000014,40000020:p1.5;c:p1.-1"),
                  "T05thread:p1.5;20:2000004000000000;");
}

/* A device without breakpoint registers: GDB is not told that conditions are evaluated here, and
 * the stop is told whatever they say. */
static void breakpoint__conditions__only_where_threads_pass_breakpoints(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(1, 1, DEBUG_CODE);
    assert_null(strstr(ask(connection, "qSupported:swbreak+"), "ConditionalBreakpoints"));
    expect_has(connection->answer, ";swbreak+;");
    shake_hands(connection);
    expect(connection, "Z0,40000010,4;X3,220027X3,220027;cmds:0,X3,220027", "OK");
    expect(connection, "Z0,40000010,4;X3,220027", "OK");
    expect(connection, "Hgp1.3", "OK");
    expect(connection, "P20=0400004000000000", "OK");
    expect_begins(ask(connection, "vCont;c:p1.-1"), "T05thread:p1.3;20:1000004000000000;");
}

static void breakpoint__two_hits__one_after_the_other(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 2, DEBUG_CODE);
    shake_hands(connection);
    expect(connection, "Z0,40000010,2", "OK");
    expect(connection, "Hgp1.2", "OK");
    expect(connection, "P20=0400004000000000", "OK");
    expect(connection, "Hgp1.3", "OK");
    expect(connection, "P20=0400004000000000", "OK");
    /* The turn is that of the thread behind the one that GDB knows. */
    expect_begins(ask(connection, "vCont;c"), "T05thread:p1.3;");
    expect_begins(ask(connection, "vCont;c"), "T05thread:p1.2;");
    /* Both are told: the breakpoint is left as it is, and is hit at once. */
    expect_begins(ask(connection, "vCont;c"), "T05thread:p1.3;");
    expect(connection, "z0,40000010,2", "OK");
    /* The other hit is of a breakpoint that is not there any more. */
    send_packet(connection, "vCont;c", 7);
    connection->control->end();
    assert_string_equal(receive(connection), "W00;process:1");
}

/* As GDB does when it connects in non-stop. */
static void shake_hands_non_stop(struct connection *connection)
{
    expect_has(ask(connection, "qSupported:multiprocess+;swbreak+"), ";QNonStop+;");
    expect(connection, "QStartNoAckMode", "OK");
    expect(connection, "QNonStop:1", "OK");
    expect_begins(ask(connection, "?"), "T00thread:p1.1;");
    expect(connection, "vStopped", "OK");
}

static uint64_t pc_of(struct connection *connection, unsigned tid)
{
    char packet[32];
    uint64_t pc = 0;

    (void)snprintf(packet, sizeof(packet), "Hgp1.%x", tid);
    expect(connection, packet, "OK");
    assert_int_equal(sscanf(ask(connection, "p20"), "%16lx", &pc), 1);
    return __builtin_bswap64(pc);
}

static void non_stop__breakpoint__one_stops_and_others_run(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    put_code(connection, 1, SPIN);
    connection->control->launch(0, 2, DEBUG_CODE);
    connection->control->launch(4, 1, DEBUG_CODE + 4);
    shake_hands_non_stop(connection);
    assert_false(connection->control->is_stopped(0));
    /* Three run; GDB stops two and sends one of them to the breakpoint. */
    expect_has(ask(connection, "qXfer:threads:read::0,1000"), "<thread id=\"p1.6\"");
    expect(connection, "vCont;t:p1.2", "OK");
    expect_begins(receive(connection), "Stop:T00thread:p1.2;20:0000004000000000;");
    expect(connection, "vStopped", "OK");
    expect(connection, "vCont;t:p1.3", "OK");
    expect_begins(receive(connection), "Stop:T00thread:p1.3;");
    expect(connection, "vStopped", "OK");
    assert_true(connection->control->is_stopped(0) && connection->control->is_stopped(1));
    assert_false(connection->control->is_stopped(4));
    expect(connection, "Z0,40000010,4", "OK");
    expect(connection, "Hgp1.2", "OK");
    expect(connection, "P20=0800004000000000", "OK");
    expect(connection, "vCont;c:p1.2", "OK");
    expect_begins(receive(connection), "Stop:T05thread:p1.2;20:1000004000000000;");
    expect_has(connection->answer, "swbreak:;");
    expect(connection, "vStopped", "OK");
    /* GDB steps it off, with the breakpoint out; the rest is as it was. */
    expect(connection, "z0,40000010,4", "OK");
    expect(connection, "vCont;s:p1.2", "OK");
    expect_begins(receive(connection), "Stop:T05thread:p1.2;20:1400004000000000;");
    expect(connection, "vStopped", "OK");
    assert_true(pc_of(connection, 3) == DEBUG_CODE);
    assert_false(connection->control->is_stopped(4));
    /* What runs has no registers; memory can be read. */
    expect(connection, "Hgp1.6", "OK");
    expect(connection, "g", "E01");
    expect(connection, "m40000000,4", "6f000000");
    expect(connection, "vCont;s:p1.2;c", "OK");
    expect_begins(receive(connection), "Stop:T05thread:p1.2;20:1800004000000000;");
    expect(connection, "vStopped", "OK");
    assert_false(connection->control->is_stopped(1));
    expect(connection, "D;1", "OK");
}

static void non_stop__several_stops__each_is_asked_for(void **state)
{
    struct connection *const connection = *state;
    unsigned told = 0;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 3, DEBUG_CODE);
    shake_hands_non_stop(connection);
    expect(connection, "vCont;c:p1.1", "OK");
    expect(connection, "vCont;t", "OK");
    expect_begins(receive(connection), "Stop:T00thread:p1.");
    for (const char *answer = connection->answer + 5; *answer == 'T';
         answer = ask(connection, "vStopped"))
        told |= 1u << strtoul(strstr(answer, "p1.") + 3, NULL, 16);
    assert_string_equal(connection->answer, "OK");
    assert_int_equal(told, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
    /* Nothing to stop any more, and one that has never been. */
    expect(connection, "vCont;t", "OK");
    expect(connection, "vCont;t:p1.20", "OK");
    assert_string_equal(receive(connection), "Stop:w00;p1.20");
    expect(connection, "vStopped", "OK");
    expect(connection, "vCont;c:p1.-1", "OK");
    expect(connection, "vCtrlC", "OK");
    expect_begins(receive(connection), "Stop:T00thread:p1.");
    expect(connection, "vStopped", "OK");
    connection->control->end();
    assert_string_equal(receive(connection), "Stop:W00;process:1");
    expect(connection, "vStopped", "OK");
    /* GDB may be within a command still. */
    expect(connection, "m40000000,4", "E0e");
    expect(connection, "vCont;t", "OK");
}

/* GDB stops each by its name, and asks for the list at each stop: neither looks at all threads. */
static void non_stop__each_is_named__costs_one_thread(void **state)
{
    enum { THREADS = 64 };
    struct connection *const connection = *state;
    struct debug_counts before, after;
    char packet[32];

    put_code(connection, 0, SPIN);
    connection->control->launch(0, THREADS, DEBUG_CODE);
    shake_hands_non_stop(connection);
    before = connection->control->counts();
    for (unsigned tid = 2; tid < 2 + THREADS; tid++) {
        (void)snprintf(packet, sizeof(packet), "vCont;t:p1.%x", tid);
        expect(connection, packet, "OK");
        (void)snprintf(packet, sizeof(packet), "Stop:T00thread:p1.%x;", tid);
        expect_begins(receive(connection), packet);
        expect(connection, "vStopped", "OK");
    }
    for (unsigned i = 0; i < THREADS; i++)
        expect_has(ask(connection, "qXfer:threads:read::0,8000"),
                   "<thread id=\"p1.11\" name=\"0.0.1.6 group 1,0,0 local 15,0,0\"/>");
    after = connection->control->counts();
    assert_int_equal(after.resumes, before.resumes);
    assert_true(after.register_reads - before.register_reads < 10 * THREADS);
    /* They are named anew when they have run. */
    expect(connection, "vCont;c:p1.-1", "OK");
    assert_false(connection->control->is_stopped(0));
    expect_has(ask(connection, "qXfer:threads:read::0,8000"), "<thread id=\"p1.11\" name=");
    assert_true(connection->control->counts().register_reads - after.register_reads >= THREADS);
    expect(connection, "D;1", "OK");
}

/* GDB lets all go on while it is being told of a stop: that thread waits until it is known. */
static void non_stop__continue_crosses_stop__thread_stays(void **state)
{
    struct connection *const connection = *state;

    memset(connection->control->image(), 'e', 5000);
    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    shake_hands_non_stop(connection);
    connection->control->stop(0);
    expect_begins(receive(connection), "Stop:T05thread:p1.2;");
    expect(connection, "vCont;c", "OK");
    assert_true(connection->control->is_stopped(0));
    expect(connection, "vStopped", "OK");
    expect(connection, "vCont;c", "OK");
    assert_false(connection->control->is_stopped(0));
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 7);
    expect_begins(receive(connection), "Stop:T05thread:p1.1;");
    expect(connection, "vCont;c", "OK");
    assert_int_equal(connection->control->counts().acknowledges, 0);
    expect(connection, "vStopped", "OK");
    expect(connection, "vCont;c", "OK");
    assert_int_equal(connection->control->counts().acknowledges, 1);
}

static void non_stop__module__waits_for_the_control_thread(void **state)
{
    struct connection *const connection = *state;

    memset(connection->control->image(), 'e', 5000);
    shake_hands_non_stop(connection);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 7);
    expect(connection, "vCont;c:p1.-1", "OK");
    expect_begins(receive(connection), "Stop:T05thread:p1.1;");
    expect_has(connection->answer, "library:;");
    expect_has(ask(connection, "qXfer:libraries:read::0,1000"), "0x40000000");
    expect(connection, "vStopped", "OK");
    assert_int_equal(connection->control->counts().acknowledges, 0);
    expect(connection, "vCont;c:p1.1", "OK");
    assert_int_equal(connection->control->counts().acknowledges, 1);
    expect(connection, "vCont;t:p1.1", "OK");
    expect_begins(receive(connection), "Stop:T00thread:p1.1;");
    expect(connection, "vStopped", "OK");
}

/* GDB names each thread where it cannot name all: none of them may be left as it was. */
static void resume__hundred_actions__all_count(void **state)
{
    struct connection *const connection = *state;
    char packet[2048] = "vCont";

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    shake_hands(connection);
    for (unsigned i = 0; i < 100; i++)
        (void)strcat(packet, ";c:p1.20");
    (void)strcat(packet, ";s:p1.2");
    expect(connection, "Hgp1.2", "OK");
    expect(connection, "P20=0400004000000000", "OK");
    expect_begins(ask(connection, packet), "T05thread:p1.2;20:0800004000000000;");
}

static void interrupt__spinning__is_told_as_its_signal(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    shake_hands(connection);
    send_packet(connection, "vCont;c:p1.-1", 13);
    while (connection->control->is_stopped(0))
        (void)usleep(100);
    assert_int_equal(write(connection->socket, "\x03", 1), 1);
    expect_begins(receive(connection), "T02thread:p1.2;");
}

static void module__load_waits__until_continued(void **state)
{
    struct connection *const connection = *state;
    char name[4096] = "", packet[8300];
    const char *quote;

    memset(connection->control->image(), 'e', 5000);
    shake_hands(connection);
    send_packet(connection, "vCont;c:p1.-1", 13);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 7);
    expect_begins(receive(connection), "T05thread:p1.1;");
    expect_has(connection->answer, "library:;");
    assert_int_equal(connection->control->counts().acknowledges, 0);
    expect_has(ask(connection, "qXfer:libraries:read::0,1000"),
               "\"><segment address=\"0x40000000\"/></library></library-list>");
    quote = strchr(connection->answer, '"') + 1;
    (void)snprintf(name, sizeof(name), "%.*s", (int)(strchr(quote, '"') - quote), quote);
    assert_int_equal(access(name, R_OK), 0);

    expect(connection, "vFile:setfs:0", "F0");
    expect(connection, "vFile:open:6a7573742070726f62696e67,0,1c0", "F-1,2");
    expect(connection, "vFile:open:2f6574632f706173737764,0,0", "F-1,2");
    (void)snprintf(packet, sizeof(packet), "vFile:open:");
    for (size_t i = 0; name[i]; i++)
        (void)snprintf(packet + strlen(packet), 3, "%02x", (unsigned char)name[i]);
    (void)strcat(packet, ",0,0");
    expect(connection, packet, "F0");
    expect(connection, packet, "F0");
    expect(connection, "vFile:close:0", "F0");
    expect_begins(ask(connection, "vFile:fstat:0"), "F40;");
    assert_memory_equal(connection->answer + 4 + 28, "\0\0\0\0\0\0\x13\x88", 8);
    expect(connection, "vFile:pread:0,4,0", "F4;eeee");
    expect(connection, "vFile:pread:0,20,1386", "F2;ee");
    expect(connection, "vFile:pread:0,20,ffffffffffffffff", "F-1,16");
    expect(connection, "vFile:pread:1,4,0", "F-1,9");
    expect(connection, "vFile:unlink:00", "");

    expect(connection, "Z0,40000020,4", "OK");
    send_packet(connection, "vCont;c:p1.-1", 13);
    while (connection->control->counts().acknowledges == 0)
        (void)usleep(100);
    assert_int_equal(connection->control->counts().cookies[0], 7);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_UNLOADED, 0);
    expect_has(receive(connection), "library:;");
    expect(connection, "qXfer:libraries:read::0,1000", "l<library-list></library-list>");
    expect(connection, "m40000020,4", "73001000"); /* forgotten, and not written to */
    /* GDB reads the file of code that is gone until it closes it, and it takes no room then. */
    expect(connection, "vFile:pread:0,4,0", "F4;eeee");
    expect(connection, "vFile:close:0", "F0");
    expect(connection, "vFile:pread:0,4,0", "F-1,9");
    assert_int_not_equal(access(name, F_OK), 0);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_UNLOADED, 0);
    expect_has(ask(connection, "vCont;c:p1.-1"), "library:;");
    expect(connection, "vFile:fstat:1", "F-1,9");
}

/* The program goes on while its threads are stopped, and loads other code where some was. */
static void module__another_in_its_place__keeps_its_code(void **state)
{
    struct connection *const connection = *state;
    const uint32_t other = SPIN;

    shake_hands(connection);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0);
    expect_has(ask(connection, "vCont;c:p1.-1"), "library:;");
    expect(connection, "Z0,40000010,4", "OK");
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_UNLOADED, 0);
    put_code(connection, 4, other);
    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 0);
    expect(connection, "z0,40000010,4", "OK");
    expect(connection, "m40000010,4", "6f000000");
}

static void fault__found_before_it_goes_on__is_told(void **state)
{
    struct connection *const connection = *state;
    const struct zeta_plugin_debug_event event = {
        .struct_size = sizeof(event),
        .kind = ZETA_PLUGIN_DEBUG_FAULT,
        .u.fault = {.address = 0x66000000, .thread = ZETA_PLUGIN_DEBUG_NO_THREAD}};

    shake_hands(connection);
    connection->control->push(&event);
    expect(connection, "Z0,40000010,4", "OK");
    expect_begins(ask(connection, "vCont;c:p1.-1"), "O");
    expect_begins(receive(connection), "T0bthread:p1.1;");
}

static void module__loaded_before__is_told_when_continued(void **state)
{
    struct connection *const connection = *state;

    load_module(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 7);
    shake_hands(connection);
    expect_has(ask(connection, "qXfer:libraries:read::0,1000"), "0x40000000");
    expect_has(ask(connection, "vCont;c:p1.-1"), "library:;");
    assert_int_equal(connection->control->counts().acknowledges, 0);
}

/* The module is there without a file, and the person learns why GDB does not know it. */
static void module__image_unusable__is_told_why(void **state)
{
    static const struct {
        uint64_t size;
        const char *sentence;
    } images[] = {{DEBUG_CODE_BYTES + 1, "could not be read: The plugin"},
                  {UINT64_C(1) << 40, "could not be read: it has more than 1 GiB"},
                  {(uint64_t)-8, "could not be read: it has more than 1 GiB"},
                  {5000, "could not be written: No such file or directory"}};
    struct connection *const connection = *state;
    const int errors = dup(STDERR_FILENO);
    FILE *const file = tmpfile();
    char line[512];

    assert_true(errors >= 0 && file);
    shake_hands(connection);
    connection->process.folder = strdup("/nonexistent");
    assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
    load_image(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 7, 0); /* it has none */
    expect_has(ask(connection, "vCont;c:p1.-1"), "library:;");
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        load_image(connection, ZETA_PLUGIN_DEBUG_MODULE_LOADED, 8 + i, images[i].size);
        expect_has(ask(connection, "vCont;c:p1.-1"), "library:;");
        expect(connection, "qXfer:libraries:read::0,1000", "l<library-list></library-list>");
    }
    assert_int_equal(dup2(errors, STDERR_FILENO), STDERR_FILENO);
    (void)close(errors);
    rewind(file);
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        assert_non_null(fgets(line, sizeof(line), file));
        expect_has(line, images[i].sentence);
        expect_has(line, "GDB will not know the functions of a module");
    }
    assert_null(fgets(line, sizeof(line), file));
    (void)fclose(file);
}

static void memory__writes__keep_breakpoints(void **state)
{
    struct connection *const connection = *state;

    shake_hands(connection);
    expect(connection, "M10000,3:010203", "OK");
    send_packet(connection, "X10003,2:ab", 11);
    assert_string_equal(receive(connection), "OK");
    expect(connection, "m10000,5", "0102036162");
    expect(connection, "X10000,0:", "OK");
    expect(connection, "Z0,40000010,4", "OK");
    expect(connection, "M4000000e,4:aabbccdd", "OK");
    expect(connection, "m4000000e,6", "aabbccdd0000");
    assert_int_equal(connection->control->code()[16], 0x73);
    expect(connection, "z0,40000010,4", "OK");
    assert_int_equal(connection->control->code()[16], 0xcc);
    expect(connection, "m66000000,4", "E0e");
    expect(connection, "m10000,8000000000000000", "E0e");
    expect(connection, "mffffffffffffffff,ffffffffffffffff", "E0e");
    expect(connection, "M66000000,1:00", "E0e");
    expect(connection, "Z0,66000000,4", "E01");
    expect(connection, "Z0,40000010,3", "E01");
}

static void watchpoints__sixteen__are_where_the_device_has_them(void **state)
{
    struct connection *const connection = *state;
    const uint64_t *const entries = connection->control->watchpoints();
    char packet[64];

    shake_hands(connection);
    for (unsigned i = 0; i < ZETA_GDB_WATCHPOINTS; i++) {
        (void)snprintf(packet, sizeof(packet), "Z%u,%x,8", 2 + i % 3, 0x1000 + 8 * i);
        expect(connection, packet, "OK");
    }
    expect(connection, "Z2,2000,8", "E01");
    assert_int_equal(entries[4], 0x1008);
    assert_int_equal(entries[5], 8);
    assert_int_equal(entries[6], 2);
    expect(connection, "z3,1008,8", "OK");
    assert_int_equal(entries[6], 0);
    expect(connection, "z3,1008,8", "E01");
    expect(connection, "Z2,2000,8", "OK");
}

/* Which of them an access met is not known where there are several at its address. */
static void watchpoints__two_kinds_at_an_address__is_an_access(void **state)
{
    static const struct {
        uint64_t address;
        const char *reason;
    } accesses[] = {{0x1008, "awatch:1008;"}, {0x1000, "rwatch:1000;"}, {0x100c, "watch:100c;"}};
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    shake_hands(connection);
    expect(connection, "Z3,1000,c", "OK");
    expect(connection, "Z2,1008,8", "OK");
    for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
        send_packet(connection, "vCont;c", 7);
        while (connection->control->is_stopped(0))
            (void)usleep(100);
        connection->control->meet_watchpoint(0, accesses[i].address);
        expect_begins(receive(connection), "T05thread:p1.2;");
        expect_has(connection->answer, accesses[i].reason);
    }
}

static void detach__breakpoints_left__program_is_as_before(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    shake_hands(connection);
    expect(connection, "Z0,40000010,4", "OK");
    expect(connection, "Z2,10000,4", "OK");
    expect(connection, "D;1", "OK");
    assert_int_equal(connection->control->code()[16], 0x13);
    assert_int_equal(connection->control->watchpoints()[2], 0);
    assert_false(connection->control->is_stopped(0));
    assert_int_equal(connection->control->counts().detaches, 1);
}

static void nonsense__any__is_refused(void **state)
{
    static const char *const refused[] = {"Hg",
                                          "Hgx",
                                          "Hg99",
                                          "Hgp2.1",
                                          "Hx0",
                                          "T",
                                          "Tp1.x",
                                          "p",
                                          "pffffffff",
                                          "pffffffffffffffff",
                                          "P",
                                          "P5",
                                          "P5=",
                                          "P5=00",
                                          "P0=00",
                                          "Pffff=00",
                                          "G00",
                                          "m",
                                          "m1",
                                          "m1,",
                                          "M1,1",
                                          "M1,2:00",
                                          "X1,4:ab",
                                          "Z0",
                                          "Z0,1",
                                          "Z0,,4",
                                          "Z0,40000010,4,",
                                          "Z0,40000010,4;Y",
                                          "Z0,40000010,4;X",
                                          "Z0,40000010,4;X3",
                                          "Z0,40000010,4;X3,2201",
                                          "Z0,40000010,4;X3,22012g",
                                          "Z0,40000010,4;X3,220127,",
                                          "Z0,40000010,4;Xffffffffffffffff,22",
                                          "vCont",
                                          "vCont;",
                                          "vCont;x",
                                          "vCont;c:",
                                          "QNonStop:x",
                                          "vCont;r1:p1.1",
                                          "vCont;C"};
    struct connection *const connection = *state;

    shake_hands(connection);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        expect(connection, refused[i], "E01");
    expect(connection, "", "");
    expect(connection, "Z9,1,1", "");
    expect(connection, "vAttach;1", "");
    expect(connection, "vStopped", "");
    expect(connection, "vCtrlC", "");
    expect(connection, "vFile:pread:", "F-1,9");
}

/* How a connection ends whose client sent these packets and is gone, or only sends no more. */
static enum zeta_gdb_end serve_gone(struct zeta_gdb_process *process, const char *packets,
                                    bool is_closed)
{
    struct zeta_gdb_server server = {.process = process, .stop = -1};
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(write(pair[0], packets, strlen(packets)), strlen(packets));
    if (is_closed)
        (void)close(pair[0]);
    else
        (void)shutdown(pair[0], SHUT_WR);
    server.in = server.out = pair[1];
    (void)zeta_gdb_server_run(&server);
    (void)close(pair[1]);
    if (!is_closed)
        (void)close(pair[0]);
    return server.end;
}

static void hang_up__before_the_answer__ends_as_asked(void **state)
{
    const struct debug_control *const control = harness_control("debug_control");
    struct zeta_gdb_process process;

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    EXPECT_OK(zeInit(0));
    control->reset();
    EXPECT_OK(zeta_gdb_process_attach(&process, find_device("debug3"), DEBUG_PID));
    assert_int_equal(serve_gone(&process, "$?#3f", true), ZETA_GDB_END_CLOSED);
    assert_int_equal(serve_gone(&process, "$k#6b", true), ZETA_GDB_END_KILLED);
    assert_int_equal(serve_gone(&process, "$vKill;1#6e", true), ZETA_GDB_END_KILLED);
    assert_int_equal(serve_gone(&process, "$D;1#b0", true), ZETA_GDB_END_DETACHED);
    EXPECT_OK(zeta_gdb_process_attach(&process, find_device("debug3"), DEBUG_PID));
    control->end();
    while (!process.has_ended)
        (void)zeta_gdb_process_take_event(&process, UINT64_MAX);
    assert_int_equal(serve_gone(&process, "$?#3f", true), ZETA_GDB_END_EXITED);
    /* Non-stop: GDB was told, and did not ask for more. */
    assert_int_equal(serve_gone(&process, "$QNonStop:1#8d$?#3f$vStopped#55", false),
                     ZETA_GDB_END_EXITED);
    zeta_gdb_process_detach(&process);
}

/* A client that asks and does not read fills what is between it and the server. */
static void stop__client_does_not_read__ends(void **state)
{
    struct connection *const connection = *state;
    const uint64_t one = 1;

    while (send(connection->socket, "$m40000000,8000#ba", 18, MSG_DONTWAIT) == 18)
        ;
    assert_int_equal(write(connection->server.stop, &one, sizeof(one)), sizeof(one));
    while (read(connection->socket, connection->answer, sizeof(connection->answer)) > 0)
        ;
}

/* The program lets go of the device, and ends when it is told to. */
static void exit__long_after_the_device__is_told_with_its_code(void **state)
{
    struct connection *const connection = *state;
    int tell[2];
    pid_t child;
    char byte;

    assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
        (void)close(tell[1]);
        (void)!read(tell[0], &byte, 1);
        _exit(7);
    }
    assert_true(child > 0);
    connection->server.child = child;
    shake_hands(connection);
    send_packet(connection, "vCont;c", 7);
    connection->control->end();
    assert_int_equal(write(connection->socket, "\x03", 1), 1);
    expect_begins(receive(connection), "T02thread:p1.1;");
    send_packet(connection, "vCont;c", 7);
    (void)close(tell[1]);
    assert_string_equal(receive(connection), "W07;process:1");
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(tell[0]);
}

/* The program runs on without breakpoints of a client that is gone. */
static void hang_up__breakpoints_left__program_runs_without(void **state)
{
    struct connection *const connection = *state;

    put_code(connection, 0, SPIN);
    connection->control->launch(0, 1, DEBUG_CODE);
    shake_hands(connection);
    expect(connection, "Z0,40000010,4", "OK");
    expect(connection, "Z2,10000,4", "OK");
    send_packet(connection, "vCont;c", 7);
    (void)shutdown(connection->socket, SHUT_WR);
    while (read(connection->socket, connection->answer, sizeof(connection->answer)) > 0)
        ;
    assert_false(connection->control->is_stopped(0));
    assert_int_equal(connection->control->code()[16], 0x13);
    assert_int_equal(connection->control->watchpoints()[2], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_gdb, disconnect_gdb)

SUITE(server)
{
    const struct CMUnitTest tests[] = {
        TEST(connect__no_kernel__control_thread_alone),
        TEST(connect__threads_do_not_halt__answered_without_them),
        TEST(description__slices__are_of_one_document),
        TEST(attach__threads_run__are_stopped_and_named),
        TEST(breakpoint__hit__stops_all_and_names_the_reason),
        TEST(breakpoint__conditions__only_where_threads_pass_breakpoints),
        TEST(breakpoint__two_hits__one_after_the_other),
        TEST(non_stop__breakpoint__one_stops_and_others_run),
        TEST(non_stop__several_stops__each_is_asked_for),
        TEST(non_stop__each_is_named__costs_one_thread),
        TEST(non_stop__continue_crosses_stop__thread_stays),
        TEST(non_stop__module__waits_for_the_control_thread),
        TEST(resume__hundred_actions__all_count),
        TEST(interrupt__spinning__is_told_as_its_signal),
        TEST(module__load_waits__until_continued),
        TEST(module__another_in_its_place__keeps_its_code),
        TEST(fault__found_before_it_goes_on__is_told),
        TEST(module__loaded_before__is_told_when_continued),
        TEST(module__image_unusable__is_told_why),
        TEST(memory__writes__keep_breakpoints),
        TEST(watchpoints__sixteen__are_where_the_device_has_them),
        TEST(watchpoints__two_kinds_at_an_address__is_an_access),
        TEST(detach__breakpoints_left__program_is_as_before),
        TEST(nonsense__any__is_refused),
        TEST(hang_up__breakpoints_left__program_runs_without),
        TEST(stop__client_does_not_read__ends),
        TEST(exit__long_after_the_device__is_told_with_its_code),
        cmocka_unit_test(hang_up__before_the_answer__ends_as_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
