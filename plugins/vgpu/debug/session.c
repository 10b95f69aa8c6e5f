#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/descriptor.h>
#include <zeta/notify.h>

#include "control.h"
#include "plugins/vgpu/instance/instance.h"
#include "protocol.h"
#include "target.h"

/* Threads that did not stop by then are taken for threads that do not run. */
#define HALT_TIMEOUT_MS 5000u

/* How long a process that listens may take to greet. */
#define GREETING_MS 3000

/* A process that sends more while nobody takes its events is let go of. */
#define MOST_KEPT_BYTES (UINT64_C(256) << 20)

/* How long stacks count that other threads may write to meanwhile, so that who looks again and
 * again sees what they do. */
#define RECENT_NS 10000000u

/* A frame that came: an event that waits, or an answer. */
struct frame {
    STAILQ_ENTRY(frame) link;
    struct zeta_vgpu_debug_header header;
    uint8_t payload[];
};

struct zeta_plugin_debug_session {
    struct zeta_vgpu *vgpu;
    uint32_t pid, threads, words;
    int socket;
    int process;               /**< polls readable when it has ended; -1: the socket tells */
    int epoll;                 /**< over both, and notify */
    struct zeta_notify notify; /**< raised while an event waits here */
    struct zeta_vgpu_debug_buffer in, out;
    STAILQ_HEAD(, frame) events;
    uint64_t kept_bytes;  /**< of the events */
    struct frame *answer; /**< to the request that was sent last */
    bool is_asking;       /**< that one has no answer yet */
    bool has_ended;       /**< nothing comes any more */
    bool end_told;

    /* Of the threads: what becomes the next events. */
    bool has_changed;
    uint64_t *stopped, *excepted; /**< as of the event that is given; excepted adds up till then */

    /*
     * Registers of stopped threads stay as they are until somebody resumes them. Others may change,
     * while they run, what is on a thread's stack and whether it waits at its barrier: that is kept
     * if none runs, until something is done. Who looks at thousands of threads that came to a
     * breakpoint has their stacks for a moment nevertheless: until anything else is asked.
     */
    struct zeta_vgpu_debug_snapshot *snapshots; /**< by thread */
    uint64_t *known;  /**< mask: of these, the snapshot has the registers */
    uint64_t *fresh;  /**< mask: and the rest of it is true, too */
    uint64_t *recent; /**< mask: and its stack was so at recent_ns, with nothing asked since */
    uint64_t recent_ns;
    uint64_t *wanted; /**< mask, scratch */
    bool runs;        /**< some thread, when snapshots were taken last */
    struct zeta_vgpu_debug_fault *faults;
    size_t fault_count, faults_told;

    struct frame *unloaded; /**< the module whose unload was taken last, with its image */
};

static uint32_t fail_ended(const struct zeta_plugin_debug_session *session)
{
    return zeta_host_fail(&session->vgpu->self->host, ZETA_PLUGIN_DEVICE_LOST,
                          "process %u, which was debugged, has ended or let go of the device",
                          session->pid);
}

/* ---- what comes ----------------------------------------------------------------------------- */

/* Whether a process answers so that does what it is asked to. */
static bool is_result(uint32_t result)
{
    return result == ZETA_PLUGIN_SUCCESS || result == ZETA_PLUGIN_NOT_AVAILABLE ||
           result == ZETA_PLUGIN_INVALID_ARGUMENT || result == ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

/* Keeps a frame until somebody wants it; false for one that makes no sense, or without memory. */
static bool keep(struct zeta_plugin_debug_session *session,
                 const struct zeta_vgpu_debug_header *header, const void *payload)
{
    const bool is_answer = header->kind == ZETA_VGPU_DEBUG_ANSWER;
    const bool is_module = header->kind == ZETA_VGPU_DEBUG_MODULE_LOADED ||
                           header->kind == ZETA_VGPU_DEBUG_MODULE_UNLOADED;
    struct frame *frame;

    if (header->kind == ZETA_VGPU_DEBUG_GREETING ||
        (is_answer && (!session->is_asking || !is_result(header->result))) ||
        (is_module && header->arguments[0] > header->arguments[1]) ||
        session->kept_bytes > MOST_KEPT_BYTES)
        return false;
    frame = malloc(sizeof(*frame) + header->bytes);
    if (!frame)
        return false;
    frame->header = *header;
    memcpy(frame->payload, payload, header->bytes);
    if (is_answer) {
        session->answer = frame;
        session->is_asking = false;
    } else {
        STAILQ_INSERT_TAIL(&session->events, frame, link);
        session->kept_bytes += sizeof(*frame) + header->bytes;
    }
    return true;
}

/*
 * Takes what has come, without waiting. While events wait, more are taken only for the sake of what
 * is behind them: an answer, or the end.
 */
static void pump(struct zeta_plugin_debug_session *session)
{
    struct pollfd process = {.fd = session->process, .events = POLLIN};
    enum zeta_vgpu_debug_progress progress = ZETA_VGPU_DEBUG_SOME;
    /* A child of the process may have the socket still; what the process sent came before. */
    const bool is_dead = !session->has_ended && poll(&process, 1, 0) > 0;

    while (!session->has_ended && progress == ZETA_VGPU_DEBUG_SOME) {
        struct zeta_vgpu_debug_header header;
        const void *payload;

        progress = zeta_vgpu_debug_take(&session->in, ZETA_VGPU_DEBUG_DEBUGGEE, session->threads,
                                        &header, &payload);
        if (progress == ZETA_VGPU_DEBUG_SOME && !keep(session, &header, payload))
            progress = ZETA_VGPU_DEBUG_END;
        else if (progress == ZETA_VGPU_DEBUG_NONE &&
                 (session->is_asking || is_dead || STAILQ_EMPTY(&session->events)))
            progress = zeta_vgpu_debug_receive(session->socket, &session->in);
    }
    session->has_ended |= is_dead || progress == ZETA_VGPU_DEBUG_END;
    zeta_notify_set(&session->notify, !STAILQ_EMPTY(&session->events) || session->has_changed ||
                                          session->faults_told < session->fault_count ||
                                          (session->has_ended && !session->end_told));
}

/*
 * Sends a request and waits for its answer: as long as the process is alive, which may be stopped.
 * A result of the answer, without a sentence; the answer stays until the next call.
 */
static uint32_t call(struct zeta_plugin_debug_session *session,
                     const struct zeta_vgpu_debug_header *request, const void *payload)
{
    free(session->answer);
    session->answer = NULL;
    memset(session->recent, 0, session->words * sizeof(uint64_t));
    if (session->has_ended)
        return fail_ended(session);
    if (!zeta_vgpu_debug_put(&session->out, request, payload))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    session->is_asking = true;
    for (;;) {
        const enum zeta_vgpu_debug_progress sent =
            zeta_vgpu_debug_send(session->socket, &session->out);
        struct pollfd polled[] = {
            {.fd = session->socket,
             .events = (short)(POLLIN | (sent == ZETA_VGPU_DEBUG_SOME ? POLLOUT : 0))},
            {.fd = session->process, .events = POLLIN}};

        pump(session);
        if (session->answer)
            return session->answer->header.result;
        session->has_ended |= sent == ZETA_VGPU_DEBUG_END;
        if (session->has_ended)
            return fail_ended(session);
        (void)poll(polled, 2, -1);
    }
}

/* A failed call whose result comes from the other side has the sentence that is made here. */
static uint32_t explain(const struct zeta_plugin_debug_session *session, uint32_t result,
                        const char *what)
{
    if (result == ZETA_PLUGIN_SUCCESS || session->has_ended)
        return result;
    return zeta_host_fail(&session->vgpu->self->host, result, "process %u did not %s (0x%08x)",
                          session->pid, what, result);
}

/* An answer that says it succeeded without the bytes that were asked for ends the session. */
static uint32_t demand(struct zeta_plugin_debug_session *session, uint32_t result, uint64_t bytes)
{
    if (result != ZETA_PLUGIN_SUCCESS || session->answer->header.bytes == bytes)
        return result;
    session->has_ended = true;
    return fail_ended(session);
}

/* ---- attaching ------------------------------------------------------------------------------ */

static uint32_t describe(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         struct zeta_plugin_debug_properties *out_properties)
{
    const uint64_t room = out_properties->struct_size;
    const struct zeta_plugin_debug_properties properties = {
        .struct_size = room,
        .halt_timeout_ms = HALT_TIMEOUT_MS,
        .register_sets = {zeta_vgpu_register_sets, ZETA_VGPU_REGISTER_SETS,
                          sizeof(zeta_vgpu_register_sets[0])},
    };

    if (device->parent != UINT32_MAX)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s cannot be debugged by itself: the tiles of a device share code, "
                              "so a breakpoint is in all of them; attach to %s",
                              device->id, self->vgpu->description.id);
    memcpy(out_properties, &properties, room < sizeof(properties) ? room : sizeof(properties));
    return ZETA_PLUGIN_SUCCESS;
}

/* What a greeting says; the frame is the first one. */
static uint32_t read_greeting(const struct zeta_vgpu *vgpu, uint32_t pid,
                              const struct zeta_vgpu_debug_header *header, const void *payload)
{
    const struct zeta_vgpu_description *d = &vgpu->description;
    const struct zeta_vgpu_debug_greeting own = {
        .version = ZETA_VGPU_DEBUG_VERSION,
        .shape = {d->topology.slices * d->tiles, d->topology.subslices_per_slice,
                  d->topology.eus_per_subslice, d->topology.threads_per_eu}};
    const struct zeta_host *host = &vgpu->self->host;

    if (header->kind != ZETA_VGPU_DEBUG_GREETING)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "process %u does not speak as a debugged process does", pid);
    if (header->result == ZETA_PLUGIN_NOT_AVAILABLE && header->arguments[0] != 0)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "process %" PRIu64 " debugs %s of process %u already; detach there, "
                              "or end it",
                              header->arguments[0], d->id, pid);
    if (header->result == ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS)
        return zeta_host_fail(host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                              "process %u belongs to another user; attach as that user or as root",
                              pid);
    if (header->result != ZETA_PLUGIN_SUCCESS)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "process %u cannot make %s ready to be debugged (0x%08x); its log "
                              "says why (ZETA_LOG=warn)",
                              pid, d->id, header->result);
    if (header->bytes != sizeof(own) || memcmp(payload, &own, sizeof(own)) != 0)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "process %u uses %s of another version of the plugin, or with "
                              "another topology; start both with the same",
                              pid, d->id);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t no_answer(const struct zeta_vgpu *vgpu, uint32_t pid)
{
    return zeta_host_fail(&vgpu->self->host, ZETA_PLUGIN_NOT_READY,
                          "process %u does not answer, perhaps because it is stopped; let it go on "
                          "(kill -CONT %u) and try again",
                          pid, pid);
}

/* Waits for the greeting, but not for ever. */
static uint32_t await_greeting(struct zeta_plugin_debug_session *session, int wait_ms)
{
    const uint64_t end_ns = zeta_monotonic_ns() + (uint64_t)wait_ms * 1000000;
    const struct zeta_host *host = &session->vgpu->self->host;
    struct pollfd polled[] = {{.fd = session->socket, .events = POLLIN},
                              {.fd = session->process, .events = POLLIN}};
    enum zeta_vgpu_debug_progress progress;

    for (;;) {
        struct zeta_vgpu_debug_header header;
        const uint64_t now_ns = zeta_monotonic_ns();
        const void *payload;

        progress = zeta_vgpu_debug_take(&session->in, ZETA_VGPU_DEBUG_DEBUGGEE, session->threads,
                                        &header, &payload);
        if (progress == ZETA_VGPU_DEBUG_SOME)
            return read_greeting(session->vgpu, session->pid, &header, payload);
        if (progress == ZETA_VGPU_DEBUG_NONE)
            progress = zeta_vgpu_debug_receive(session->socket, &session->in);
        if (progress == ZETA_VGPU_DEBUG_END || polled[1].revents != 0)
            return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                                  "process %u ended, or let go of the device, while a debugger "
                                  "attached",
                                  session->pid);
        if (progress == ZETA_VGPU_DEBUG_SOME)
            continue;
        if (now_ns >= end_ns)
            return no_answer(session->vgpu, session->pid);
        (void)poll(polled, 2, (int)((end_ns - now_ns) / 1000000) + 1);
    }
}

/* Adds a descriptor to those of an epoll; -1 is none. */
static bool watch(int epoll, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN};

    return descriptor < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

uint32_t zeta_vgpu_session_open(struct zeta_vgpu *vgpu, uint32_t pid, int socket, int process,
                                int wait_ms, struct zeta_plugin_debug_session **out_session)
{
    struct zeta_plugin_debug_session *session = calloc(1, sizeof(*session));
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (!session)
        return result;
    session->vgpu = vgpu;
    session->pid = pid;
    session->threads = zeta_vgpu_control_threads(&vgpu->description);
    session->words = zeta_vgpu_debug_words(session->threads);
    session->socket = socket;
    session->process = process;
    session->notify.descriptor = -1;
    STAILQ_INIT(&session->events);
    session->stopped = calloc((size_t)session->words * 6, sizeof(uint64_t));
    session->snapshots = calloc(session->threads, sizeof(*session->snapshots));
    session->epoll = zeta_descriptor_raise(epoll_create1(EPOLL_CLOEXEC));
    if (session->stopped && session->snapshots && session->epoll >= 0 &&
        zeta_notify_init(&session->notify) == 0 &&
        watch(session->epoll, session->notify.descriptor) && watch(session->epoll, socket) &&
        watch(session->epoll, process))
        result = await_greeting(session, wait_ms);
    if (result == ZETA_PLUGIN_SUCCESS) {
        session->excepted = session->stopped + session->words;
        session->known = session->excepted + session->words;
        session->fresh = session->known + session->words;
        session->recent = session->fresh + session->words;
        session->wanted = session->recent + session->words;
        *out_session = session;
        return result;
    }
    session->socket = session->process = -1;
    zeta_vgpu_session_close(session);
    return result;
}

void zeta_vgpu_session_close(struct zeta_plugin_debug_session *session)
{
    while (!STAILQ_EMPTY(&session->events)) {
        struct frame *frame = STAILQ_FIRST(&session->events);

        STAILQ_REMOVE_HEAD(&session->events, link);
        free(frame);
    }
    if (session->socket >= 0) {
        /* A child of this process may have it too. */
        (void)shutdown(session->socket, SHUT_RDWR);
        close(session->socket);
    }
    if (session->process >= 0)
        close(session->process);
    if (session->epoll >= 0)
        close(session->epoll);
    zeta_notify_finish(&session->notify);
    zeta_vgpu_debug_buffer_finish(&session->in);
    zeta_vgpu_debug_buffer_finish(&session->out);
    free(session->answer);
    free(session->unloaded);
    free(session->faults);
    free(session->snapshots);
    free(session->stopped);
    free(session);
}

/* A variable as the program began with it. False, too, when nobody may know. */
static bool read_variable(uint32_t pid, const char *name, char *out_value, size_t capacity)
{
    const size_t length = strlen(name);
    char path[64], *line = NULL;
    size_t line_bytes = 0;
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%u/environ", pid);
    file = fopen(path, "re");
    while (file && !found && getdelim(&line, &line_bytes, '\0', file) >= 0)
        found = strncmp(line, name, length) == 0 && line[length] == '=';
    if (found)
        (void)snprintf(out_value, capacity, "%s", line + length + 1);
    free(line);
    if (file)
        (void)fclose(file);
    return found;
}

/*
 * Connects to a process: in the folder of this one, in the one that its environment names, or in
 * that of its user. Whoever listens there is told by the system, so a folder needs no trust.
 * -1 with errno; EAGAIN: the process listens, and accepts nobody.
 */
static int connect_to(const struct zeta_vgpu *vgpu, uint32_t pid)
{
    char folder[512], name[ZETA_VGPU_DEBUG_NAME_BYTES], path[64];
    struct zeta_vgpu_message message;
    struct stat status;
    int file = -1;

    errno = ENOENT;
    zeta_vgpu_debug_socket_name(name, pid, vgpu->description.id);
    if (zeta_vgpu_instance_folder(folder, sizeof(folder), &message))
        file = zeta_vgpu_debug_connect(folder, name);
    if (file < 0 && errno != EAGAIN &&
        read_variable(pid, "XDG_RUNTIME_DIR", folder, sizeof(folder)))
        file = zeta_vgpu_debug_connect(folder, name);
    (void)snprintf(path, sizeof(path), "/proc/%u", pid);
    if (file < 0 && errno != EAGAIN && stat(path, &status) == 0) {
        zeta_vgpu_instance_user_folder(folder, sizeof(folder), status.st_uid);
        file = zeta_vgpu_debug_connect(folder, name);
    }
    return file;
}

/* A process whose execve() has not returned yet has none, nor one that ends. True, too, when nobody
 * may know. */
static bool has_environment(uint32_t pid)
{
    char path[64];
    FILE *file;
    bool has = true;

    (void)snprintf(path, sizeof(path), "/proc/%u/environ", pid);
    file = fopen(path, "re");
    if (file) {
        has = getc(file) != EOF || ferror(file);
        (void)fclose(file);
    }
    return has;
}

/* Why nobody listens there. */
static uint32_t explain_absence(const struct zeta_vgpu *vgpu, uint32_t pid)
{
    const struct zeta_host *host = &vgpu->self->host;
    const char *device = vgpu->description.id;
    struct stat status;
    char path[64], value[8];

    (void)snprintf(path, sizeof(path), "/proc/%u", pid);
    if (geteuid() != 0 && stat(path, &status) == 0 && status.st_uid != geteuid())
        return zeta_host_fail(host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                              "process %u belongs to another user, or has more rights than this "
                              "one; attach as that user or as root",
                              pid);
    if (read_variable(pid, "ZET_ENABLE_PROGRAM_DEBUGGING", value, sizeof(value)) &&
        strtoul(value, NULL, 0) != 0)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_READY,
                              "process %u lets no debugger attach to %s yet, although it began "
                              "with ZET_ENABLE_PROGRAM_DEBUGGING=1: it has not initialised the "
                              "library; try again",
                              pid, device);
    /* Behind that: it may end meanwhile. */
    if (!has_environment(pid))
        return zeta_host_fail(
            host, ZETA_PLUGIN_NOT_READY,
            "process %u has no environment, and with it no "
            "ZET_ENABLE_PROGRAM_DEBUGGING=1: perhaps it has only begun, or just ends; try again",
            pid);
    return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "process %u lets no debugger attach to %s, and did not begin with "
                          "ZET_ENABLE_PROGRAM_DEBUGGING=1 as far as this one can see; start it so, "
                          "or try again once it has set the variable itself and initialised the "
                          "library",
                          pid, device);
}

static uint32_t no_process(const struct zeta_vgpu *vgpu, uint32_t pid)
{
    return zeta_host_fail(&vgpu->self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "there is no process %u, or it has ended", pid);
}

static uint32_t attach(struct zeta_plugin *self, struct zeta_plugin_device *device, uint32_t pid,
                       struct zeta_plugin_debug_session **out_session)
{
    const struct zeta_vgpu *vgpu = self->vgpu;
    struct zeta_plugin_debug_properties properties = {.struct_size = sizeof(properties)};
    uint32_t result = describe(self, device, &properties);
    struct pollfd process = {.fd = -1, .events = POLLIN};
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    int socket = -1;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))
        return no_process(vgpu, pid);
    process.fd = zeta_vgpu_debug_watch_process(pid);
    if (poll(&process, 1, 0) > 0) {
        result = no_process(vgpu, pid);
        goto fail;
    }
    socket = connect_to(vgpu, pid);
    if (socket < 0 && errno == EAGAIN) {
        result = no_answer(vgpu, pid);
        goto fail;
    }
    /* What a dead process with this id has left, or what another one listens at. */
    if (socket < 0 || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.pid != (pid_t)pid) {
        result = explain_absence(vgpu, pid);
        goto fail;
    }
    result = zeta_vgpu_session_open(self->vgpu, pid, socket, process.fd, GREETING_MS, out_session);
    if (result == ZETA_PLUGIN_SUCCESS)
        return result;

fail:
    if (socket >= 0)
        close(socket);
    if (process.fd >= 0)
        close(process.fd);
    return result;
}

static void detach(struct zeta_plugin *self, struct zeta_plugin_debug_session *session)
{
    (void)self;
    zeta_vgpu_session_close(session);
}

/* ---- events --------------------------------------------------------------------------------- */

static int32_t descriptor(struct zeta_plugin *self, struct zeta_plugin_debug_session *session)
{
    (void)self;
    return session->epoll;
}

/* What threads may change while they run is not known any more. */
static void expire(struct zeta_plugin_debug_session *session)
{
    memset(session->fresh, 0, session->words * sizeof(uint64_t));
}

/* Nothing is known of the threads of a mask any more. */
static void forget(struct zeta_plugin_debug_session *session, const uint64_t *threads)
{
    for (uint32_t i = 0; i < session->words; i++)
        session->known[i] &= ~threads[i];
    expire(session);
}

/* Asks which threads are stopped, now. What was newly excepted is added to what was before. */
static uint32_t ask_threads(struct zeta_plugin_debug_session *session, uint64_t *out_halt)
{
    const struct zeta_vgpu_debug_header request = {.kind = ZETA_VGPU_DEBUG_THREADS};
    const size_t masks = session->words * sizeof(uint64_t);
    uint32_t result = call(session, &request, NULL);
    struct zeta_vgpu_debug_fault *faults;
    size_t count;

    if (result != ZETA_PLUGIN_SUCCESS)
        return explain(session, result, "tell which threads are stopped");
    if (session->answer->header.bytes < 2 * masks)
        return demand(session, result, 2 * masks);
    count = (session->answer->header.bytes - 2 * masks) / sizeof(*faults);
    faults = realloc(session->faults, (session->fault_count + count + 1) * sizeof(*faults));
    if (!faults)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    session->faults = faults;
    memcpy(faults + session->fault_count, session->answer->payload + 2 * masks,
           count * sizeof(*faults));
    session->fault_count += count;
    memcpy(session->stopped, session->answer->payload, masks);
    if (session->threads % 64 != 0)
        session->stopped[session->words - 1] &= (UINT64_C(1) << session->threads % 64) - 1;
    for (uint32_t i = 0; i < session->words; i++) {
        uint64_t excepted;

        memcpy(&excepted, session->answer->payload + masks + i * sizeof(excepted),
               sizeof(excepted));
        session->excepted[i] = (session->excepted[i] | excepted) & session->stopped[i];
        session->known[i] &= session->stopped[i] & ~excepted;
    }
    expire(session);
    *out_halt = session->answer->header.arguments[0];
    return ZETA_PLUGIN_SUCCESS;
}

/* The next event about threads: faults, then who is stopped, asked for when it is given. */
static uint32_t next_of_threads(struct zeta_plugin_debug_session *session,
                                struct zeta_plugin_debug_event *event)
{
    uint64_t halt = 0;

    if (session->faults_told == session->fault_count) {
        /* Of the threads that the last event named, this process knows. */
        session->faults_told = session->fault_count = 0;
        const uint32_t result = ask_threads(session, &halt);

        if (result != ZETA_PLUGIN_SUCCESS) {
            session->has_changed = false;
            return result;
        }
    }
    if (session->faults_told < session->fault_count) {
        const struct zeta_vgpu_debug_fault *fault = &session->faults[session->faults_told++];

        event->kind = ZETA_PLUGIN_DEBUG_FAULT;
        event->u.fault = (struct zeta_plugin_debug_fault){
            .address = fault->address & ~UINT64_C(0xfff),
            .mask = ~UINT64_C(0xfff),
            .reason = fault->reason,
            .thread =
                fault->thread < session->threads ? fault->thread : ZETA_PLUGIN_DEBUG_NO_THREAD,
        };
        return ZETA_PLUGIN_SUCCESS;
    }
    session->has_changed = false;
    event->kind = ZETA_PLUGIN_DEBUG_THREADS;
    event->u.threads = (struct zeta_plugin_debug_threads){
        .stopped = session->stopped, .excepted = session->excepted, .halt = halt};
    return ZETA_PLUGIN_SUCCESS;
}

static struct zeta_plugin_debug_module module_of(const struct zeta_vgpu_debug_header *header)
{
    return (struct zeta_plugin_debug_module){.image_begin = header->arguments[0],
                                             .image_end = header->arguments[1],
                                             .load = header->arguments[2],
                                             .cookie = header->arguments[3]};
}

/* Takes the oldest frame: an event, or the news that those of the threads have changed. */
static bool take_frame(struct zeta_plugin_debug_session *session,
                       struct zeta_plugin_debug_event *event)
{
    struct frame *frame = STAILQ_FIRST(&session->events);
    const uint32_t kind = frame->header.kind;

    STAILQ_REMOVE_HEAD(&session->events, link);
    session->kept_bytes -= sizeof(*frame) + frame->header.bytes;
    switch (kind) {
    case ZETA_VGPU_DEBUG_QUEUE_CREATED:
        event->kind = ZETA_PLUGIN_DEBUG_QUEUE_CREATED;
        break;
    case ZETA_VGPU_DEBUG_QUEUE_DESTROYED:
        event->kind = ZETA_PLUGIN_DEBUG_QUEUE_DESTROYED;
        break;
    case ZETA_VGPU_DEBUG_MODULE_LOADED:
        event->kind = ZETA_PLUGIN_DEBUG_MODULE_LOADED;
        event->u.module = module_of(&frame->header);
        break;
    case ZETA_VGPU_DEBUG_MODULE_UNLOADED:
        event->kind = ZETA_PLUGIN_DEBUG_MODULE_UNLOADED;
        event->u.module = module_of(&frame->header);
        free(session->unloaded);
        session->unloaded = frame;
        return true;
    default:
        session->has_changed = true;
        memset(session->excepted, 0, session->words * sizeof(uint64_t));
        break;
    }
    free(frame);
    return kind != ZETA_VGPU_DEBUG_CHANGED;
}

static uint32_t next_event(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                           struct zeta_plugin_debug_event *out_event)
{
    const uint64_t room = out_event->struct_size;
    struct zeta_plugin_debug_event event = {.struct_size = room};
    uint32_t result = ZETA_PLUGIN_NOT_READY;

    (void)self;
    pump(session);
    while (result == ZETA_PLUGIN_NOT_READY) {
        if (session->has_changed && !session->has_ended)
            result = next_of_threads(session, &event);
        else if (!STAILQ_EMPTY(&session->events))
            result = take_frame(session, &event) ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_READY;
        else
            break;
        /* The process ended while it was asked: what it sent before comes first. */
        if (result == ZETA_PLUGIN_DEVICE_LOST)
            result = ZETA_PLUGIN_NOT_READY;
    }
    if (result == ZETA_PLUGIN_NOT_READY && session->has_ended) {
        if (session->end_told)
            return fail_ended(session);
        session->end_told = true;
        event.kind = ZETA_PLUGIN_DEBUG_ENDED;
        result = ZETA_PLUGIN_SUCCESS;
    }
    if (result == ZETA_PLUGIN_SUCCESS)
        memcpy(out_event, &event, room < sizeof(event) ? room : sizeof(event));
    pump(session);
    return result;
}

static uint32_t acknowledge(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                            uint64_t cookie)
{
    const struct zeta_vgpu_debug_header request = {.kind = ZETA_VGPU_DEBUG_ACKNOWLEDGE,
                                                   .arguments = {cookie}};

    (void)self;
    return explain(session, call(session, &request, NULL), "wait for this acknowledgement");
}

/* ---- threads, memory, registers ------------------------------------------------------------- */

static uint32_t halt(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                     const uint64_t *threads, uint64_t *out_number)
{
    const struct zeta_vgpu_debug_header request = {
        .kind = ZETA_VGPU_DEBUG_HALT, .bytes = session->words * (uint32_t)sizeof(uint64_t)};
    const uint32_t result = call(session, &request, threads);

    (void)self;
    forget(session, threads);
    if (result == ZETA_PLUGIN_SUCCESS)
        *out_number = session->answer->header.arguments[0];
    return explain(session, result, "halt threads");
}

static uint32_t resume(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                       const uint64_t *threads)
{
    const struct zeta_vgpu_debug_header request = {
        .kind = ZETA_VGPU_DEBUG_RESUME, .bytes = session->words * (uint32_t)sizeof(uint64_t)};

    (void)self;
    forget(session, threads);
    for (uint32_t i = 0; i < session->words; i++)
        session->stopped[i] &= ~threads[i];
    return explain(session, call(session, &request, threads), "resume threads");
}

/* The sentence of an access that failed. */
static uint32_t explain_access(const struct zeta_plugin_debug_session *session, uint32_t result,
                               const char *what, uint64_t address, uint64_t size_bytes)
{
    if (result == ZETA_PLUGIN_SUCCESS || session->has_ended || !session->answer)
        return result;
    return zeta_host_fail(&session->vgpu->self->host, result,
                          result == ZETA_PLUGIN_NOT_AVAILABLE
                              ? "%s of %" PRIu64 " bytes at 0x%" PRIx64
                                ": process %u has no such memory at 0x%" PRIx64
                              : "%s of %" PRIu64 " bytes at 0x%" PRIx64
                                " was refused by process %u (0x%" PRIx64 ")",
                          what, size_bytes, address, session->pid,
                          result == ZETA_PLUGIN_NOT_AVAILABLE ? session->answer->header.arguments[0]
                                                              : (uint64_t)result);
}

/* Spaces that the device has. */
static uint32_t check_space(const struct zeta_plugin *self, uint32_t space)
{
    return space <= ZETA_PLUGIN_SPACE_ELF
               ? ZETA_PLUGIN_SUCCESS
               : zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                                "%s has no memory of space %u; it has the default space, local "
                                "memory and images of modules",
                                self->vgpu->description.id, space);
}

/* The image of the module whose unload was taken last, when the bytes are in it. */
static const uint8_t *find_unloaded(const struct zeta_plugin_debug_session *session,
                                    uint64_t address, uint64_t size_bytes)
{
    const struct frame *frame = session->unloaded;

    if (!frame || address - frame->header.arguments[0] >= frame->header.bytes ||
        size_bytes > frame->header.bytes - (address - frame->header.arguments[0]))
        return NULL;
    return frame->payload + (address - frame->header.arguments[0]);
}

/* One request about memory; what is larger than a chunk is only checked. */
static uint32_t access_memory(struct zeta_plugin_debug_session *session, uint32_t kind,
                              uint32_t space, uint32_t thread, uint64_t address,
                              uint64_t size_bytes, const void *payload)
{
    const struct zeta_vgpu_debug_header request = {
        .kind = kind,
        .bytes = payload ? (uint32_t)size_bytes : 0,
        .thread = thread,
        .arguments = {space, address, size_bytes},
    };

    return demand(session, call(session, &request, payload),
                  kind == ZETA_VGPU_DEBUG_MEMORY_READ ? size_bytes : 0);
}

/* Moves in chunks, after all of it was found to be there. */
static uint32_t move_memory(struct zeta_plugin_debug_session *session, uint32_t space,
                            uint32_t thread, uint64_t address, uint64_t size_bytes, char *to,
                            const char *from)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    if (size_bytes > ZETA_VGPU_DEBUG_CHUNK)
        result = access_memory(session, ZETA_VGPU_DEBUG_MEMORY_CHECK, space, thread, address,
                               size_bytes, NULL);
    for (uint64_t done = 0; result == ZETA_PLUGIN_SUCCESS && done < size_bytes;) {
        const uint64_t left = size_bytes - done;
        const uint64_t bytes = left < ZETA_VGPU_DEBUG_CHUNK ? left : ZETA_VGPU_DEBUG_CHUNK;

        result = access_memory(session,
                               from ? ZETA_VGPU_DEBUG_MEMORY_WRITE : ZETA_VGPU_DEBUG_MEMORY_READ,
                               space, thread, address + done, bytes, from ? from + done : NULL);
        if (result == ZETA_PLUGIN_SUCCESS && to)
            memcpy(to + done, session->answer->payload, bytes);
        done += bytes;
    }
    return result;
}

static bool is_in(const uint64_t *mask, uint32_t thread)
{
    return (mask[thread / 64] >> thread % 64 & 1) != 0;
}

/* Reads bytes that came with the registers of the thread; false: some have to be asked for. */
static bool read_stack(const struct zeta_plugin_debug_session *session, uint32_t thread,
                       uint64_t address, uint64_t size_bytes, void *buffer)
{
    const struct zeta_vgpu_debug_snapshot *snapshot;

    if (thread >= session->threads ||
        (!is_in(session->fresh, thread) &&
         (!is_in(session->recent, thread) || zeta_monotonic_ns() - session->recent_ns > RECENT_NS)))
        return false;
    snapshot = &session->snapshots[thread];
    if (address - snapshot->stack_begin >= snapshot->stack_bytes ||
        size_bytes > snapshot->stack_bytes - (address - snapshot->stack_begin))
        return false;
    memcpy(buffer, snapshot->stack + (address - snapshot->stack_begin), size_bytes);
    return true;
}

static uint32_t memory_read(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                            uint32_t space, uint32_t thread, uint64_t address, uint64_t size_bytes,
                            void *buffer)
{
    uint32_t result = check_space(self, space);
    const uint8_t *kept = find_unloaded(session, address, size_bytes);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (space == ZETA_PLUGIN_SPACE_DEFAULT && !session->has_ended &&
        read_stack(session, thread, address, size_bytes, buffer))
        return ZETA_PLUGIN_SUCCESS;
    result = move_memory(session, space, thread, address, size_bytes, buffer, NULL);
    if (result == ZETA_PLUGIN_NOT_AVAILABLE && kept && space != ZETA_PLUGIN_SPACE_SLM) {
        memcpy(buffer, kept, size_bytes);
        return ZETA_PLUGIN_SUCCESS;
    }
    return explain_access(session, result, "reading", address, size_bytes);
}

static uint32_t memory_write(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                             uint32_t space, uint32_t thread, uint64_t address, uint64_t size_bytes,
                             const void *buffer)
{
    uint32_t result = check_space(self, space);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (space == ZETA_PLUGIN_SPACE_ELF)
        return zeta_host_fail(
            &self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
            "images of modules cannot be written; what is executed is the code at "
            "the load address, in the default space");
    expire(session);
    result = move_memory(session, space, thread, address, size_bytes, NULL, buffer);
    return explain_access(session, result, "writing", address, size_bytes);
}

/*
 * Takes the snapshot of a stopped thread unless it is in a mask, known or fresh. All stopped
 * threads that are not in it are asked for at once, as who looks at one thread will look at the
 * others; but not where all that could be kept is known.
 */
static uint32_t take_snapshot(struct zeta_plugin_debug_session *session, uint32_t thread,
                              const uint64_t *mask)
{
    const struct zeta_vgpu_debug_header request = {
        .kind = ZETA_VGPU_DEBUG_SNAPSHOTS, .bytes = session->words * (uint32_t)sizeof(uint64_t)};
    const uint64_t asked_ns = zeta_monotonic_ns();
    struct zeta_vgpu_debug_snapshot snapshot;
    uint32_t result, bytes;

    if (!session->has_ended && is_in(mask, thread))
        return ZETA_PLUGIN_SUCCESS;
    for (uint32_t i = 0; i < session->words; i++)
        session->wanted[i] = session->stopped[i] & ~(session->runs ? session->known[i] : mask[i]);
    session->wanted[thread / 64] |= UINT64_C(1) << thread % 64;
    result = call(session, &request, session->wanted);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    bytes = session->answer->header.bytes;
    session->runs = session->answer->header.arguments[0] == 0;
    session->recent_ns = asked_ns;
    for (uint32_t at = 0; bytes - at >= sizeof(snapshot); at += (uint32_t)sizeof(snapshot)) {
        memcpy(&snapshot, session->answer->payload + at, sizeof(snapshot));
        if (snapshot.thread >= session->threads || !is_in(session->wanted, snapshot.thread) ||
            snapshot.stack_bytes > sizeof(snapshot.stack))
            return demand(session, result, UINT64_MAX);
        session->snapshots[snapshot.thread] = snapshot;
        session->known[snapshot.thread / 64] |= UINT64_C(1) << snapshot.thread % 64;
        session->fresh[snapshot.thread / 64] |= (uint64_t)!session->runs << snapshot.thread % 64;
        session->recent[snapshot.thread / 64] |= UINT64_C(1) << snapshot.thread % 64;
        session->wanted[snapshot.thread / 64] &= ~(UINT64_C(1) << snapshot.thread % 64);
    }
    if (bytes % sizeof(snapshot) != 0)
        return demand(session, result, UINT64_MAX);
    return is_in(session->wanted, thread) ? ZETA_PLUGIN_NOT_AVAILABLE : ZETA_PLUGIN_SUCCESS;
}

/* Where registers are in a snapshot; the host has checked that there are such. */
static unsigned char *find_registers(struct zeta_plugin_debug_session *session, uint32_t thread,
                                     uint32_t type, uint32_t first, uint32_t count,
                                     uint32_t *out_bytes)
{
    unsigned char *at = session->snapshots[thread].registers;
    const struct zeta_plugin_register_set *set = zeta_vgpu_register_sets;

    for (; set->type != type; set++)
        at += (size_t)set->count * set->bytes;
    *out_bytes = count * set->bytes;
    return at + (size_t)first * set->bytes;
}

static uint32_t registers_read(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                               uint32_t thread, uint32_t type, uint32_t first, uint32_t count,
                               void *buffer)
{
    const uint32_t result = take_snapshot(
        session, thread, type == ZETA_VGPU_REGISTERS_ID ? session->fresh : session->known);
    const unsigned char *from;
    uint32_t bytes;

    (void)self;
    if (result != ZETA_PLUGIN_SUCCESS)
        return explain(session, result, "read registers of a thread that is not stopped");
    from = find_registers(session, thread, type, first, count, &bytes);
    memcpy(buffer, from, bytes);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t registers_write(struct zeta_plugin *self, struct zeta_plugin_debug_session *session,
                                uint32_t thread, uint32_t type, uint32_t first, uint32_t count,
                                const void *buffer)
{
    struct zeta_vgpu_debug_header request = {.kind = ZETA_VGPU_DEBUG_REGISTERS_WRITE,
                                             .thread = thread,
                                             .arguments = {type, first, count}};
    unsigned char *to = find_registers(session, thread, type, first, count, &request.bytes);
    const uint32_t result = call(session, &request, buffer);

    (void)self;
    if (result == ZETA_PLUGIN_SUCCESS)
        memcpy(to, buffer, request.bytes);
    return explain(session, result, "write registers of a thread that is not stopped");
}

static uint32_t enable(struct zeta_plugin *self)
{
    return zeta_vgpu_target_enable(self->vgpu->target);
}

const struct zeta_plugin_debug_ops zeta_vgpu_debug_ops = {
    .struct_size = sizeof(struct zeta_plugin_debug_ops),
    .properties = describe,
    .enable = enable,
    .attach = attach,
    .detach = detach,
    .descriptor = descriptor,
    .next_event = next_event,
    .acknowledge = acknowledge,
    .halt = halt,
    .resume = resume,
    .memory_read = memory_read,
    .memory_write = memory_write,
    .registers_read = registers_read,
    .registers_write = registers_write,
};
