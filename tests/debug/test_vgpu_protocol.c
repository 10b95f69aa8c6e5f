/* The connection of a debugger with a process on the virtual GPU: frames, and a peer that is not
 * what it should be. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
static int peer;

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

/* Opens a session whose peer said this first. */
static uint32_t open_with(const struct zeta_vgpu_debug_header *header, const void *payload,
                          struct zeta_plugin_debug_session **out_session)
{
    int sockets[2];
    uint32_t result;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    peer = sockets[0];
    if (header)
        say(header, payload);
    result = zeta_vgpu_session_open(&vgpu, 42, sockets[1], -1, 0, out_session);
    if (result != ZETA_PLUGIN_SUCCESS) {
        close(sockets[0]);
        close(sockets[1]);
    }
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

/* Takes an event for which the session asks the process. */
static uint32_t next_answered(struct zeta_plugin_debug_session *session, const void *payload,
                              size_t bytes, struct zeta_plugin_debug_event *out_event)
{
    struct answer answer = {
        .header = {.kind = ZETA_VGPU_DEBUG_ANSWER, .bytes = (uint32_t)bytes, .arguments = {3}},
        .payload = payload};
    uint32_t result;

    assert_int_equal(pthread_create(&answer.thread, NULL, send_answer, &answer), 0);
    result = next(session, out_event);
    assert_int_equal(pthread_join(answer.thread, NULL), 0);
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
        {ZETA_VGPU_DEBUG_DEBUGGER, {.kind = ZETA_VGPU_DEBUG_REGISTERS_READ, .thread = 4000000000}},
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

SUITE(vgpu_protocol)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer__of_a_user__own_and_root_only),
        cmocka_unit_test(frame__byte_by_byte__taken_when_whole),
        cmocka_unit_test(frame__not_one_of_the_sender__ends_the_stream),
        cmocka_unit_test(greeting__not_the_right_one__refused_with_a_sentence),
        cmocka_unit_test(threads__changed__faults_then_masks_of_now),
        cmocka_unit_test(answer__that_is_none__session_has_ended),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
