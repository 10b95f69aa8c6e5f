/* The connection of a debugger with a process on the virtual GPU: frames, and a peer that is not
 * what it should be. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <zeta/vgpu_debug.h>

#include "plugins/vgpu/debug/control.h"
#include "plugins/vgpu/debug/protocol.h"
#include "plugins/vgpu/debug/session.h"
#include "plugins/vgpu/debug/target.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char sentence[ZETA_HOST_TEXT_BYTES];

static void keep(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text)
{
    (void)host;
    (void)result;
    memcpy(sentence, text.data, text.size);
    sentence[text.size] = '\0';
}

static const struct zeta_plugin_host_ops host_ops = {.fail = keep};
static struct zeta_vgpu vgpu;
static struct zeta_plugin self = {.host = {.ops = &host_ops}, .vgpu = &vgpu};
static const struct zeta_plugin_debug_ops *const ops = &zeta_vgpu_debug_ops;

/* One side is the session's, the test plays the other. */
static int own, peer;

static int set_up(void **state)
{
    (void)state;
    vgpu.self = &self;
    zeta_vgpu_description_default(&vgpu.description);
    return 0;
}

static void say(const struct zeta_vgpu_debug_header *header, const void *payload)
{
    assert_int_equal(send(peer, header, sizeof(*header), 0), sizeof(*header));
    if (header->bytes > 0)
        assert_int_equal(send(peer, payload, header->bytes, 0), header->bytes);
}

static void say_kind(enum zeta_vgpu_debug_kind kind)
{
    const struct zeta_vgpu_debug_header header = {.kind = kind};

    say(&header, NULL);
}

static struct zeta_vgpu_debug_greeting right_greeting(void)
{
    const struct zeta_vgpu_topology *t = &vgpu.description.topology;

    return (struct zeta_vgpu_debug_greeting){
        .version = ZETA_VGPU_DEBUG_VERSION,
        .shape = {t->slices, t->subslices_per_slice, t->eus_per_subslice, t->threads_per_eu}};
}

static void connect_sides(void)
{
    int sockets[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    peer = sockets[0];
    own = sockets[1];
}

static void close_sides(void)
{
    close(peer);
    close(own);
}

/* Opens a session whose peer said this first. */
static uint32_t open_with(const struct zeta_vgpu_debug_header *header, const void *payload,
                          struct zeta_plugin_debug_session **out_session)
{
    uint32_t result;

    connect_sides();
    if (header)
        say(header, payload);
    result = zeta_vgpu_session_open(&vgpu, 42, own, -1, 0, out_session);
    if (result != ZETA_PLUGIN_SUCCESS)
        close_sides();
    return result;
}

static struct zeta_plugin_debug_session *open_session(void)
{
    const struct zeta_vgpu_debug_greeting greeting = right_greeting();
    const struct zeta_vgpu_debug_header header = {.kind = ZETA_VGPU_DEBUG_GREETING,
                                                  .bytes = sizeof(greeting)};
    struct zeta_plugin_debug_session *session = NULL;

    assert_int_equal(open_with(&header, &greeting, &session), ZETA_PLUGIN_SUCCESS);
    return session;
}

static void close_session(struct zeta_plugin_debug_session *session)
{
    ops->detach(&self, session);
    close(peer);
}

static uint32_t next(struct zeta_plugin_debug_session *session,
                     struct zeta_plugin_debug_event *out_event)
{
    *out_event = (struct zeta_plugin_debug_event){.struct_size = sizeof(*out_event)};
    return ops->next_event(&self, session, out_event);
}

/* An answer that is sent when a request was read. */
struct answer {
    struct zeta_vgpu_debug_header header;
    const void *payload;
    pthread_t thread;
};

static void *send_answer(void *argument)
{
    const struct answer *answer = argument;
    struct zeta_vgpu_debug_header request;

    assert_int_equal(recv(peer, &request, sizeof(request), MSG_WAITALL), sizeof(request));
    say(&answer->header, answer->payload);
    return NULL;
}

/* The next request has this answer; its call is made before the end of this is awaited. */
static void begin_answer(struct answer *answer)
{
    answer->header.kind = ZETA_VGPU_DEBUG_ANSWER;
    assert_int_equal(pthread_create(&answer->thread, NULL, send_answer, answer), 0);
}

static void end_answer(struct answer *answer)
{
    assert_int_equal(pthread_join(answer->thread, NULL), 0);
}

/* Takes an event for which the session asks the process. */
static uint32_t next_answered(struct zeta_plugin_debug_session *session, const void *payload,
                              size_t bytes, struct zeta_plugin_debug_event *out_event)
{
    struct answer answer = {.header = {.bytes = (uint32_t)bytes, .arguments = {3}},
                            .payload = payload};
    uint32_t result;

    begin_answer(&answer);
    result = next(session, out_event);
    end_answer(&answer);
    return result;
}

/* Rule 27.16. */
static void peer__of_a_user__own_and_root_only(void **state)
{
    (void)state;
    assert_true(zeta_vgpu_debug_peer_allowed(1000, 1000));
    assert_true(zeta_vgpu_debug_peer_allowed(0, 1000));
    assert_false(zeta_vgpu_debug_peer_allowed(1001, 1000));
    assert_false(zeta_vgpu_debug_peer_allowed(1000, 0));
}

static void frame__byte_by_byte__taken_when_whole(void **state)
{
    const struct zeta_vgpu_debug_header sent = {
        .kind = ZETA_VGPU_DEBUG_MEMORY_WRITE, .bytes = 3, .thread = 9, .arguments = {1, 2, 3, 4}};
    struct zeta_vgpu_debug_buffer whole = {0}, part = {0};
    struct zeta_vgpu_debug_header header;
    const void *payload;

    (void)state;
    assert_true(zeta_vgpu_debug_put(&whole, &sent, "abc"));
    for (size_t i = whole.begin; i < whole.end; i++) {
        assert_int_equal(
            zeta_vgpu_debug_take(&part, ZETA_VGPU_DEBUG_DEBUGGER, 10, &header, &payload),
            ZETA_VGPU_DEBUG_NONE);
        assert_true(zeta_vgpu_debug_append(&part, whole.bytes + i, 1));
    }
    assert_int_equal(zeta_vgpu_debug_take(&part, ZETA_VGPU_DEBUG_DEBUGGER, 10, &header, &payload),
                     ZETA_VGPU_DEBUG_SOME);
    assert_memory_equal(&header, &sent, sizeof(sent));
    assert_memory_equal(payload, "abc", 3);
    zeta_vgpu_debug_buffer_finish(&whole);
    zeta_vgpu_debug_buffer_finish(&part);
}

static void frame__not_one_of_the_sender__ends_the_stream(void **state)
{
    const struct {
        enum zeta_vgpu_debug_sender sender;
        struct zeta_vgpu_debug_header header;
    } cases[] = {
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = 0}},
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_KINDS}},
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_CHANGED}},
        {ZETA_VGPU_DEBUG_DEBUGGEE, {.kind = ZETA_VGPU_DEBUG_RESUME, .bytes = 16}},
        {ZETA_VGPU_DEBUG_DEBUGGEE, {.kind = ZETA_VGPU_DEBUG_CHANGED, .bytes = 1}},
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_HALT, .bytes = 8}},
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_HALT, .bytes = 24}},
        {ZETA_VGPU_DEBUG_DEBUGGER,
         {.kind = ZETA_VGPU_DEBUG_MEMORY_WRITE, .bytes = ZETA_VGPU_DEBUG_CHUNK + 1}},
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_MEMORY_READ, .thread = 96}},
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_SNAPSHOTS, .bytes = 8}},
        {ZETA_VGPU_DEBUG_DEBUGGER,
         {.kind = ZETA_VGPU_DEBUG_REGISTERS_WRITE, .bytes = 8, .thread = 4000000000}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_vgpu_debug_buffer buffer = {0};
        struct zeta_vgpu_debug_header header;
        const void *payload;

        assert_true(zeta_vgpu_debug_append(&buffer, &cases[i].header, sizeof(header)));
        assert_int_equal(zeta_vgpu_debug_take(&buffer, cases[i].sender, 96, &header, &payload),
                         ZETA_VGPU_DEBUG_END);
        zeta_vgpu_debug_buffer_finish(&buffer);
    }
}

static void greeting__not_the_right_one__refused_with_a_sentence(void **state)
{
    struct zeta_vgpu_debug_greeting greeting = right_greeting();
    struct zeta_vgpu_debug_header header = {.kind = ZETA_VGPU_DEBUG_GREETING,
                                            .bytes = sizeof(greeting)};
    struct zeta_plugin_debug_session *session;

    (void)state;
    greeting.version++;
    assert_int_equal(open_with(&header, &greeting, &session), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(sentence, "another version"));
    greeting = right_greeting();
    greeting.shape[3]++;
    assert_int_equal(open_with(&header, &greeting, &session), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(sentence, "topology"));
    header = (struct zeta_vgpu_debug_header){
        .kind = ZETA_VGPU_DEBUG_GREETING, .result = ZETA_PLUGIN_NOT_AVAILABLE, .arguments = {4711}};
    assert_int_equal(open_with(&header, NULL, &session), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(sentence, "process 4711 debugs"));
    header.result = ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS;
    assert_int_equal(open_with(&header, NULL, &session), ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS);
    header.kind = ZETA_VGPU_DEBUG_CHANGED;
    assert_int_equal(open_with(&header, NULL, &session), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(open_with(NULL, NULL, &session), ZETA_PLUGIN_NOT_READY);
    assert_non_null(strstr(sentence, "CONT"));
}

/* Faults come before the stop of their threads, and the masks are those of the time they are
 * given. */
static void threads__changed__faults_then_masks_of_now(void **state)
{
    const uint32_t words = zeta_vgpu_debug_words(zeta_vgpu_control_threads(&vgpu.description));
    const size_t masks = 2 * words * sizeof(uint64_t);
    struct zeta_plugin_debug_session *session = open_session();
    const struct zeta_vgpu_debug_fault fault = {.address = 0x12345678, .reason = 2, .thread = 1};
    struct zeta_plugin_debug_event event;
    uint8_t *payload = calloc(1, masks + sizeof(fault));
    uint64_t *stopped = (uint64_t *)payload, *excepted = stopped + words;

    (void)state;
    say_kind(ZETA_VGPU_DEBUG_QUEUE_CREATED);
    say_kind(ZETA_VGPU_DEBUG_CHANGED);
    assert_int_equal(next(session, &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_QUEUE_CREATED);

    stopped[0] = 6;
    excepted[0] = 2;
    memcpy(payload + masks, &fault, sizeof(fault));
    assert_int_equal(next_answered(session, payload, masks + sizeof(fault), &event),
                     ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_FAULT);
    assert_int_equal(event.u.fault.address, 0x12345000);
    assert_int_equal(event.u.fault.reason, 2);
    assert_int_equal(event.u.fault.thread, 1);

    /* Thread 2 went on meanwhile, thread 0 stopped by itself. */
    stopped[0] = 3;
    excepted[0] = 1;
    assert_int_equal(next_answered(session, payload, masks, &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_THREADS);
    assert_int_equal(event.u.threads.stopped[0], 3);
    assert_int_equal(event.u.threads.excepted[0], 3);
    assert_int_equal(event.u.threads.halt, 3);

    /* What an event has said is not said again. */
    excepted[0] = 0;
    say_kind(ZETA_VGPU_DEBUG_CHANGED);
    assert_int_equal(next_answered(session, payload, masks, &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.u.threads.excepted[0], 0);
    assert_int_equal(next(session, &event), ZETA_PLUGIN_NOT_READY);

    /* Fewer masks than the device has. */
    say_kind(ZETA_VGPU_DEBUG_CHANGED);
    assert_int_equal(next_answered(session, payload, masks - 8, &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_ENDED);
    free(payload);
    close_session(session);
}

/* An answer to nothing, or of another size, ends the session and nothing else. */
static void answer__that_is_none__session_has_ended(void **state)
{
    struct zeta_plugin_debug_session *session = open_session();
    const struct zeta_vgpu_debug_header answer = {.kind = ZETA_VGPU_DEBUG_ANSWER, .bytes = 3};
    struct zeta_plugin_debug_event event;
    char bytes[4] = "old";

    (void)state;
    say(&answer, "new");
    assert_int_equal(next(session, &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_ENDED);
    assert_int_equal(ops->acknowledge(&self, session, 1), ZETA_PLUGIN_DEVICE_LOST);
    close_session(session);

    session = open_session();
    assert_int_equal(shutdown(peer, SHUT_WR), 0);
    assert_int_equal(ops->memory_read(&self, session, 0, ZETA_PLUGIN_DEBUG_NO_THREAD, 0, 4, bytes),
                     ZETA_PLUGIN_DEVICE_LOST);
    assert_string_equal(bytes, "old");
    close_session(session);
}

enum { SNAPSHOT = sizeof(struct zeta_vgpu_debug_snapshot) };

/* Half a snapshot is none, nor is one of a thread that nobody asked about, or with more stack than
 * it has room for; and there are results that no call has. */
static void registers__answer_that_is_none__session_has_ended(void **state)
{
    const struct {
        struct zeta_vgpu_debug_header header;
        struct zeta_vgpu_debug_snapshot snapshot;
    } lies[] = {
        {{.bytes = 16}, {.thread = 0}},
        {{.bytes = SNAPSHOT + 8}, {.thread = 0}},
        {{.bytes = SNAPSHOT}, {.thread = 1}},
        {{.bytes = SNAPSHOT}, {.thread = UINT32_MAX}},
        {{.bytes = SNAPSHOT}, {.stack_bytes = ZETA_VGPU_SNAPSHOT_STACK_BYTES + 1}},
        {{.result = ZETA_PLUGIN_NOT_READY}, {.thread = 0}},
        {{.result = 4711}, {.thread = 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct zeta_plugin_debug_session *session = open_session();
        const struct zeta_vgpu_debug_snapshot payload[2] = {lies[i].snapshot};
        struct answer answer = {.header = lies[i].header, .payload = payload};
        uint64_t pc = 77;

        begin_answer(&answer);
        assert_int_equal(ops->registers_read(&self, session, 0, ZETA_VGPU_REGISTERS_PC, 0, 1, &pc),
                         ZETA_PLUGIN_DEVICE_LOST);
        end_answer(&answer);
        assert_int_equal(pc, 77);
        close_session(session);
    }
}

/* What a thread that ran may have is asked for again, other registers are known. */
static void registers__known__asked_for_when_they_may_have_changed(void **state)
{
    struct zeta_plugin_debug_session *session = open_session();
    struct zeta_vgpu_debug_snapshot snapshot = {
        .thread = 1, .stack_begin = 0x1000, .stack_bytes = 16, .stack = {1, 2, 3}};
    struct answer snapshots = {.header = {.bytes = SNAPSHOT, .arguments = {1}},
                               .payload = &snapshot};
    struct answer done = {.header = {.bytes = 0}};
    uint64_t masks[64] = {0}, number;
    struct zeta_plugin_debug_event event;
    uint8_t bytes[80];

    (void)state;
    masks[0] = 2;
    masks[zeta_vgpu_debug_words(zeta_vgpu_control_threads(&vgpu.description))] = 2;
    say_kind(ZETA_VGPU_DEBUG_CHANGED);
    assert_int_equal(
        next_answered(session, masks,
                      2 * sizeof(uint64_t) *
                          zeta_vgpu_debug_words(zeta_vgpu_control_threads(&vgpu.description)),
                      &event),
        ZETA_PLUGIN_SUCCESS);
    for (unsigned round = 0; round < 3; round++) {
        snapshot.registers[0] = (unsigned char)(round + 1);
        snapshot.stack[1] = (unsigned char)(round + 10);
        begin_answer(&snapshots);
        assert_int_equal(ops->registers_read(&self, session, 1, ZETA_VGPU_REGISTERS_X, 0, 1, bytes),
                         0);
        end_answer(&snapshots);
        assert_int_equal(bytes[0], round + 1);
        /* These need no answer. */
        assert_int_equal(
            ops->registers_read(&self, session, 1, ZETA_VGPU_REGISTERS_ID, 0, 10, bytes), 0);
        assert_int_equal(
            ops->memory_read(&self, session, ZETA_PLUGIN_SPACE_DEFAULT, 1, 0x1001, 15, bytes), 0);
        assert_int_equal(bytes[0], round + 10);
        /* Somebody wrote somewhere. */
        begin_answer(&done);
        assert_int_equal(ops->memory_write(&self, session, ZETA_PLUGIN_SPACE_DEFAULT,
                                           ZETA_PLUGIN_DEBUG_NO_THREAD, 0x9000, 4, bytes),
                         0);
        end_answer(&done);
        assert_int_equal(ops->registers_read(&self, session, 1, ZETA_VGPU_REGISTERS_F, 0, 1, bytes),
                         0);
        snapshot.registers[248 + 256 + 8 + 4 + 16] = 99;
        begin_answer(&snapshots);
        assert_int_equal(
            ops->registers_read(&self, session, 1, ZETA_VGPU_REGISTERS_ID, 0, 1, bytes), 0);
        end_answer(&snapshots);
        assert_int_equal(bytes[0], 99);
        /* And it ran. */
        begin_answer(&done);
        if (round == 0)
            assert_int_equal(ops->resume(&self, session, masks), 0);
        else
            assert_int_equal(ops->halt(&self, session, masks, &number), 0);
        end_answer(&done);
    }
    close_session(session);
}

/* While threads run, the stack that came with registers is asked for again when anything else was
 * asked meanwhile, or after a moment. */
static void stack__others_run__asked_for_when_it_may_have_changed(void **state)
{
    struct zeta_plugin_debug_session *session = open_session();
    const struct zeta_vgpu_debug_snapshot snapshot = {
        .thread = 1, .stack_begin = 0x1000, .stack_bytes = 16, .stack = {1, 2, 3}};
    const uint8_t now[] = {7, 8};
    struct answer snapshots = {.header = {.bytes = SNAPSHOT}, .payload = &snapshot};
    struct answer read = {.header = {.bytes = 2}, .payload = now};
    uint8_t bytes[8];

    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        begin_answer(&snapshots);
        assert_int_equal(
            ops->registers_read(&self, session, 1, ZETA_VGPU_REGISTERS_ID, 0, 1, bytes), 0);
        end_answer(&snapshots);
        if (round == 0) {
            begin_answer(&read);
            assert_int_equal(
                ops->memory_read(&self, session, ZETA_PLUGIN_SPACE_DEFAULT, 1, 0x9000, 2, bytes),
                0);
            end_answer(&read);
        } else {
            (void)usleep(11000);
        }
        begin_answer(&read);
        assert_int_equal(
            ops->memory_read(&self, session, ZETA_PLUGIN_SPACE_DEFAULT, 1, 0x1001, 2, bytes), 0);
        end_answer(&read);
        assert_memory_equal(bytes, now, 2);
    }
    close_session(session);
}

/* Threads that the device does not have are not stopped. */
static void threads__beyond_the_device__left_out(void **state)
{
    const struct zeta_vgpu_topology before = vgpu.description.topology;
    const uint64_t masks[2] = {UINT64_MAX, UINT64_MAX};
    struct zeta_plugin_debug_session *session;
    struct zeta_plugin_debug_event event;

    (void)state;
    vgpu.description.topology.slices = vgpu.description.topology.subslices_per_slice = 1;
    vgpu.description.topology.eus_per_subslice = 3;
    vgpu.description.topology.threads_per_eu = 2;
    session = open_session();
    say_kind(ZETA_VGPU_DEBUG_CHANGED);
    assert_int_equal(next_answered(session, masks, sizeof(masks), &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_THREADS);
    assert_int_equal(event.u.threads.stopped[0], 0x3f);
    assert_int_equal(event.u.threads.excepted[0], 0x3f);
    close_session(session);
    vgpu.description.topology = before;
}

static void module__ends_before_it_begins__session_has_ended(void **state)
{
    const struct zeta_vgpu_debug_header module = {.kind = ZETA_VGPU_DEBUG_MODULE_LOADED,
                                                  .arguments = {0x2000, 0x1000}};
    struct zeta_plugin_debug_session *session = open_session();
    struct zeta_plugin_debug_event event;

    (void)state;
    say(&module, NULL);
    assert_int_equal(next(session, &event), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_ENDED);
    close_session(session);
}

/* A child of the process has its socket still, so that alone does not tell of its end. */
static void greeting__process_ends_before_it__not_available(void **state)
{
    struct zeta_plugin_debug_session *session;
    const int ended = eventfd(1, EFD_CLOEXEC);

    (void)state;
    assert_true(ended >= 0);
    connect_sides();
    assert_int_equal(zeta_vgpu_session_open(&vgpu, 42, own, ended, 2000, &session),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(sentence, "ended"));
    close_sides();
    close(ended);
}

/* A child of the debugger has its socket still. */
static void detach__socket_is_inherited__process_learns_of_it(void **state)
{
    struct zeta_plugin_debug_session *session = open_session();
    const int inherited = dup(own);
    char byte;

    (void)state;
    ops->detach(&self, session);
    assert_int_equal(recv(peer, &byte, 1, MSG_DONTWAIT), 0);
    close(inherited);
    close(peer);
}

/* Says the same until the socket is full; gives the bytes. */
static size_t fill(enum zeta_vgpu_debug_kind kind)
{
    struct zeta_vgpu_debug_header headers[64] = {{.kind = kind}};
    size_t sum = 0;
    ssize_t sent;

    for (size_t i = 1; i < sizeof(headers) / sizeof(headers[0]); i++)
        headers[i] = headers[0];
    /* What was cut goes on, since all frames are equal. */
    while ((sent = send(peer, (char *)headers + sum % sizeof(headers[0]),
                        sizeof(headers) - sizeof(headers[0]), MSG_DONTWAIT)) > 0)
        sum += (size_t)sent;
    return sum;
}

/* A process that never stops to send is read as fast as its events are taken. */
static void events__without_end__taken_as_they_are_wanted(void **state)
{
    struct zeta_plugin_debug_session *session = open_session();
    const size_t first = fill(ZETA_VGPU_DEBUG_QUEUE_CREATED);
    struct zeta_plugin_debug_event event;
    size_t more = 0;

    (void)state;
    assert_true(first > 0);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(next(session, &event), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(event.kind, ZETA_PLUGIN_DEBUG_QUEUE_CREATED);
        more += fill(ZETA_VGPU_DEBUG_QUEUE_CREATED);
    }
    assert_true(more <= 2 * first);
    close_session(session);
}

/* Sends images of modules in place of the answer, as long as somebody reads. */
static void *send_images(void *argument)
{
    static uint8_t image[1 << 20];
    const struct zeta_vgpu_debug_header header = {.kind = ZETA_VGPU_DEBUG_MODULE_UNLOADED,
                                                  .bytes = sizeof(image),
                                                  .arguments = {0, sizeof(image)}};

    (void)argument;
    while (send(peer, &header, sizeof(header), MSG_NOSIGNAL) > 0 &&
           send(peer, image, sizeof(image), MSG_NOSIGNAL) > 0)
        ;
    return NULL;
}

static void events__in_place_of_an_answer__session_ends(void **state)
{
    struct zeta_plugin_debug_session *session = open_session();
    pthread_t sender;

    (void)state;
    assert_int_equal(pthread_create(&sender, NULL, send_images, NULL), 0);
    assert_int_equal(ops->acknowledge(&self, session, 1), ZETA_PLUGIN_DEVICE_LOST);
    ops->detach(&self, session);
    assert_int_equal(pthread_join(sender, NULL), 0);
    close(peer);
}

SUITE(vgpu_protocol)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer__of_a_user__own_and_root_only),
        cmocka_unit_test(frame__byte_by_byte__taken_when_whole),
        cmocka_unit_test(frame__not_one_of_the_sender__ends_the_stream),
        cmocka_unit_test(greeting__not_the_right_one__refused_with_a_sentence),
        cmocka_unit_test(threads__changed__faults_then_masks_of_now),
        cmocka_unit_test(answer__that_is_none__session_has_ended),
        cmocka_unit_test(registers__answer_that_is_none__session_has_ended),
        cmocka_unit_test(registers__known__asked_for_when_they_may_have_changed),
        cmocka_unit_test(stack__others_run__asked_for_when_it_may_have_changed),
        cmocka_unit_test(threads__beyond_the_device__left_out),
        cmocka_unit_test(module__ends_before_it_begins__session_has_ended),
        cmocka_unit_test(greeting__process_ends_before_it__not_available),
        cmocka_unit_test(detach__socket_is_inherited__process_learns_of_it),
        cmocka_unit_test(events__without_end__taken_as_they_are_wanted),
        cmocka_unit_test(events__in_place_of_an_answer__session_ends),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
