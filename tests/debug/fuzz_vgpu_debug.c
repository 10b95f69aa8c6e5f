/*
 * Any bytes on the connection between a debugger and a process on the virtual GPU. The first byte
 * says who sends the rest: 0 the process, which has greeted, to a session that works with what
 * comes; 1 the process in place of a greeting; else the debugger.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugins/vgpu/debug/control.h"
#include "plugins/vgpu/debug/protocol.h"
#include "plugins/vgpu/debug/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What fits into a socket that nobody reads. */
#define MOST_BYTES 32768u

static void ignore(struct zeta_plugin_host *host, uint32_t result, struct zeta_plugin_string text)
{
    (void)host;
    (void)result;
    (void)text;
}

/* Each call has an answer, if there is one that fits, or ends the session. */
static void use(struct zeta_plugin *self, struct zeta_plugin_debug_session *session)
{
    const struct zeta_plugin_debug_ops *ops = &zeta_vgpu_debug_ops;
    struct zeta_plugin_debug_event event;
    uint64_t mask[32] = {0}, number;
    uint8_t bytes[512];

    for (unsigned i = 0; i < 1000; i++) {
        event = (struct zeta_plugin_debug_event){.struct_size = sizeof(event)};
        if (ops->next_event(self, session, &event) == ZETA_PLUGIN_DEVICE_LOST)
            return;
        if (event.kind == ZETA_PLUGIN_DEBUG_THREADS) {
            for (unsigned w = 0; w < 32; w++) {
                if ((event.u.threads.excepted[w] & ~event.u.threads.stopped[w]) != 0)
                    abort();
            }
        }
        switch (i % 6) {
        case 0:
            (void)ops->acknowledge(self, session, 1);
            break;
        case 1:
            (void)ops->halt(self, session, mask, &number);
            break;
        case 2:
            (void)ops->memory_read(self, session, ZETA_PLUGIN_SPACE_ELF,
                                   ZETA_PLUGIN_DEBUG_NO_THREAD, 0x1000, 16, bytes);
            break;
        case 3:
            (void)ops->registers_read(self, session, 5, zeta_vgpu_register_sets[0].type, 0, 31,
                                      bytes);
            break;
        case 4:
            (void)ops->memory_write(self, session, 0, 7, 0x2000, sizeof(bytes), bytes);
            break;
        default:
            (void)ops->resume(self, session, mask);
            break;
        }
    }
}

/* The process: a thread, since an answer that nobody has asked for would end the session. */
struct process {
    const uint8_t *data;
    size_t size;
    int socket;
};

static void *play(void *argument)
{
    const struct process *process = argument;

    for (size_t at = 0; at < process->size;) {
        struct zeta_vgpu_debug_header header = {0};
        uint8_t request[4096];
        size_t bytes = process->size - at;

        memcpy(&header, process->data + at, bytes < sizeof(header) ? bytes : sizeof(header));
        if (bytes > sizeof(header) && bytes - sizeof(header) > header.bytes)
            bytes = sizeof(header) + header.bytes;
        if (header.kind == ZETA_VGPU_DEBUG_ANSWER &&
            recv(process->socket, request, sizeof(request), 0) <= 0)
            break;
        if (send(process->socket, process->data + at, bytes, MSG_NOSIGNAL) < 0)
            break;
        at += bytes;
    }
    (void)shutdown(process->socket, SHUT_WR);
    return NULL;
}

static bool greet(const struct zeta_vgpu_topology *t, int socket)
{
    const struct {
        struct zeta_vgpu_debug_header header;
        struct zeta_vgpu_debug_greeting greeting;
    } frame = {
        {.kind = ZETA_VGPU_DEBUG_GREETING, .bytes = sizeof(frame.greeting)},
        {.version = ZETA_VGPU_DEBUG_VERSION,
         .shape = {t->slices, t->subslices_per_slice, t->eus_per_subslice, t->threads_per_eu}}};
    const size_t bytes = sizeof(frame.header) + sizeof(frame.greeting);

    return send(socket, &frame, bytes, 0) == (ssize_t)bytes;
}

static void be_debugger(const uint8_t *data, size_t size, bool is_greeted)
{
    static const struct zeta_plugin_host_ops host_ops = {.fail = ignore};
    static struct zeta_vgpu vgpu;
    static struct zeta_plugin self = {.host = {.ops = &host_ops}, .vgpu = &vgpu};
    struct zeta_plugin_debug_session *session;
    struct process process = {data, size, -1};
    pthread_t thread;
    int sockets[2];

    vgpu.self = &self;
    zeta_vgpu_description_default(&vgpu.description);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        abort();
    process.socket = sockets[0];
    if (is_greeted) {
        if (!greet(&vgpu.description.topology, process.socket))
            abort();
    } else {
        if (send(process.socket, data, size, 0) != (ssize_t)size)
            abort();
        process.size = 0;
    }
    if (pthread_create(&thread, NULL, play, &process) != 0)
        abort();
    if (zeta_vgpu_session_open(&vgpu, 1, sockets[1], -1, 0, &session) == ZETA_PLUGIN_SUCCESS) {
        use(&self, session);
        zeta_vgpu_session_close(session);
    } else {
        close(sockets[1]);
    }
    if (pthread_join(thread, NULL) != 0)
        abort();
    close(sockets[0]);
}

/* What was taken is what a device of so many threads can handle. */
static void be_debuggee(const uint8_t *data, size_t size)
{
    const uint32_t threads = 96;
    struct zeta_vgpu_debug_buffer buffer = {0};
    struct zeta_vgpu_debug_header header;
    const void *payload;

    if (!zeta_vgpu_debug_append(&buffer, data, size))
        abort();
    while (zeta_vgpu_debug_take(&buffer, ZETA_VGPU_DEBUG_DEBUGGER, threads, &header, &payload) ==
           ZETA_VGPU_DEBUG_SOME) {
        uint8_t sum = 0;

        for (uint32_t i = 0; i < header.bytes; i++)
            sum ^= ((const uint8_t *)payload)[i];
        if (header.kind < ZETA_VGPU_DEBUG_ACKNOWLEDGE || header.kind >= ZETA_VGPU_DEBUG_KINDS ||
            header.bytes > ZETA_VGPU_DEBUG_CHUNK ||
            (header.kind == ZETA_VGPU_DEBUG_HALT && header.bytes != 16) ||
            (header.kind >= ZETA_VGPU_DEBUG_MEMORY_CHECK && header.thread >= threads &&
             header.thread != ZETA_PLUGIN_DEBUG_NO_THREAD &&
             header.kind != ZETA_VGPU_DEBUG_SNAPSHOTS) ||
            (sum == 1 && header.bytes == 0))
            abort();
    }
    zeta_vgpu_debug_buffer_finish(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST_BYTES)
        return 0;
    if (data[0] <= 1)
        be_debugger(data + 1, size - 1, data[0] == 0);
    else
        be_debuggee(data + 1, size - 1);
    return 0;
}
