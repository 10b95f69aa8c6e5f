#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <zeta/descriptor.h>
#include <zeta/thread.h>

#include "control.h"
#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/instance/instance.h"
#include "protocol.h"

/* While the debugger does not read so much, no further request is answered. */
#define BACKLOG_BYTES (8u << 20)

/* A debugger that reads no events while there is so much for it is detached. */
#define MOST_BACKLOG_BYTES (UINT64_C(192) << 20)

/* How often a process looks whether the debugger has come that it waits for. */
#define WAIT_PERIOD_NS 1000000

struct zeta_vgpu_target {
    struct zeta_vgpu *vgpu;
    pthread_t thread;
    bool is_enabled; /**< the thread runs; guarded by enable_lock */
    pthread_mutex_t enable_lock;
    char folder[512]; /**< of the socket; do not change while the thread runs */
    char name[ZETA_VGPU_DEBUG_NAME_BYTES];
    LIST_ENTRY(zeta_vgpu_target) listening; /**< with a socket */
    pid_t owner;                            /**< of the socket; 0: there is none */

    int poke;            /**< eventfd: the thread has something to do */
    atomic_bool changed; /**< what an engine had to say */
    atomic_bool quit;
    atomic_bool was_attached; /**< some debugger, at some time */

    pthread_mutex_t lock;    /**< guards the lists and what is to be sent; a leaf */
    pthread_cond_t released; /**< a cookie was acknowledged, or who waited went on */
    TAILQ_HEAD(, zeta_vgpu_target_module) modules; /**< in the order of their creation */
    uint64_t queues;
    uint64_t cookies; /**< given out so far */
    uint32_t waiting; /**< threads that wait for an acknowledgement */
    bool is_attached;
    bool is_broken; /**< it did not get what it has to know, so it is detached */
    struct zeta_vgpu_debug_buffer out;

    /* Of the thread. */
    int listener;
    int connection; /**< to the debugger, -1: none */
    int debugger;   /**< its process */
    uint32_t debugger_pid;
    bool is_told;      /**< that something changed, and it has not asked since */
    uint32_t shape[4]; /**< of the device */
    struct zeta_vgpu_debug_buffer in;
    struct zeta_vgpu_control control;
    uint64_t *masks; /**< two of the root */
    uint8_t *chunk;  /**< ZETA_VGPU_DEBUG_CHUNK bytes */
};

/* ---- sockets -------------------------------------------------------------------------------- */

bool zeta_vgpu_debug_peer_allowed(uid_t peer, uid_t own)
{
    return peer == own || peer == 0;
}

void zeta_vgpu_debug_socket_name(char out_name[ZETA_VGPU_DEBUG_NAME_BYTES], uint32_t pid,
                                 const char *device)
{
    (void)snprintf(out_name, ZETA_VGPU_DEBUG_NAME_BYTES, "zeta-vgpu-debug-%u-%s", pid, device);
}

int zeta_vgpu_debug_watch_process(uint32_t pid)
{
    return zeta_descriptor_raise((int)syscall(SYS_pidfd_open, (pid_t)pid, 0u));
}

/* The address of a socket in an open folder: paths can be longer than addresses. */
static struct sockaddr_un address_in(int folder, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, name);
    return address;
}

static int open_folder(const char *path)
{
    return zeta_descriptor_raise(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static void close_one(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static int make_socket(int type)
{
    return zeta_descriptor_raise(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static int connect_as(int type, const char *folder, const char *name)
{
    int at = open_folder(folder), file = at < 0 ? -1 : make_socket(type);
    struct sockaddr_un address = address_in(at, name);
    int error = errno;

    if (file >= 0 && connect(file, (struct sockaddr *)&address, sizeof(address)) != 0) {
        error = errno;
        close_one(&file);
    }
    close_one(&at);
    errno = error;
    return file;
}

int zeta_vgpu_debug_connect(const char *folder, const char *name)
{
    return connect_as(SOCK_STREAM, folder, name);
}

/*
 * Removes the sockets of dead processes. Ids are those of this container, sockets of all: a live
 * one answers that it is none of datagrams, a dead one refuses.
 */
static void sweep(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing)) != NULL) {
        unsigned pid;
        int file;

        if (sscanf(entry->d_name, "zeta-vgpu-debug-%u-", &pid) != 1 || pid > INT32_MAX ||
            kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        file = connect_as(SOCK_DGRAM, folder, entry->d_name);
        if (file < 0 && errno == ECONNREFUSED)
            (void)unlinkat(dirfd(listing), entry->d_name, 0);
        close_one(&file);
    }
    if (listing)
        (void)closedir(listing);
}

/* Those whose sockets exit() removes; in a child of fork() those of its parent, too. */
static LIST_HEAD(, zeta_vgpu_target) listening = LIST_HEAD_INITIALIZER(listening);
static pthread_mutex_t listening_lock = PTHREAD_MUTEX_INITIALIZER;

static void remove_socket(const struct zeta_vgpu_target *target)
{
    char path[sizeof(target->folder) + sizeof(target->name) + 1];

    (void)snprintf(path, sizeof(path), "%s/%s", target->folder, target->name);
    if (target->owner == getpid())
        (void)unlink(path);
}

/* When the process exits, or the plugin is unloaded. */
static void remove_sockets(void)
{
    const struct zeta_vgpu_target *target;

    (void)pthread_mutex_lock(&listening_lock);
    LIST_FOREACH (target, &listening, listening)
        remove_socket(target);
    (void)pthread_mutex_unlock(&listening_lock);
}

static void list_socket(struct zeta_vgpu_target *target)
{
    static bool is_removed_at_exit;

    (void)pthread_mutex_lock(&listening_lock);
    target->owner = getpid();
    LIST_INSERT_HEAD(&listening, target, listening);
    is_removed_at_exit = is_removed_at_exit || atexit(remove_sockets) == 0;
    (void)pthread_mutex_unlock(&listening_lock);
}

static void unlist_socket(struct zeta_vgpu_target *target)
{
    (void)pthread_mutex_lock(&listening_lock);
    if (target->owner != 0)
        LIST_REMOVE(target, listening);
    target->owner = 0;
    (void)pthread_mutex_unlock(&listening_lock);
}

/* Listens in the folder, in place of what a dead process with our id has left. -1 with errno. */
static int listen_in(const char *folder, const char *name)
{
    int at = open_folder(folder), file = at < 0 ? -1 : make_socket(SOCK_STREAM);
    struct sockaddr_un address = address_in(at, name);
    int error = errno;

    if (file >= 0) {
        (void)unlinkat(at, name, 0);
        if (bind(file, (struct sockaddr *)&address, sizeof(address)) != 0 ||
            fchmodat(at, name, 0600, 0) != 0 || listen(file, 8) != 0) {
            error = errno;
            close_one(&file);
        }
    }
    close_one(&at);
    errno = error;
    return file;
}

/* ---- what the process does ------------------------------------------------------------------ */

static void poke(struct zeta_vgpu_target *target)
{
    const uint64_t one = 1;

    /* A full counter is raised already. */
    while (write(target->poke, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/*
 * Tells an attached debugger something, at once as far as its socket takes it, so that it learns
 * what was done before this process is killed. The thread sends the rest.
 */
static void tell_locked(struct zeta_vgpu_target *target,
                        const struct zeta_vgpu_debug_header *header, const void *payload)
{
    enum zeta_vgpu_debug_progress sent = ZETA_VGPU_DEBUG_END;

    if (!target->is_attached)
        return;
    if (zeta_vgpu_debug_put(&target->out, header, payload))
        sent = zeta_vgpu_debug_send(target->connection, &target->out);
    /* An answer may be larger, but there is one at a time. */
    target->is_broken |=
        sent == ZETA_VGPU_DEBUG_END || (header->kind != ZETA_VGPU_DEBUG_ANSWER &&
                                        target->out.end - target->out.begin > MOST_BACKLOG_BYTES);
    if (sent != ZETA_VGPU_DEBUG_NONE)
        poke(target);
}

static void tell(struct zeta_vgpu_target *target, const struct zeta_vgpu_debug_header *header,
                 const void *payload)
{
    (void)pthread_mutex_lock(&target->lock);
    tell_locked(target, header, payload);
    (void)pthread_mutex_unlock(&target->lock);
}

static struct zeta_vgpu_debug_header about_module(const struct zeta_vgpu_target_module *module,
                                                  enum zeta_vgpu_debug_kind kind,
                                                  const void **out_file)
{
    struct zeta_vgpu_debug_header header = {.kind = kind};
    uint64_t code_end;
    size_t size;

    *out_file = zeta_vgpu_image_file(module->image, &size);
    header.arguments[0] = (uintptr_t)*out_file;
    header.arguments[1] = (uintptr_t)*out_file + size;
    zeta_vgpu_image_text(module->image, &header.arguments[2], &code_end);
    return header;
}

void zeta_vgpu_target_queue_created(struct zeta_vgpu_target *target)
{
    const struct zeta_vgpu_debug_header header = {.kind = ZETA_VGPU_DEBUG_QUEUE_CREATED};

    (void)pthread_mutex_lock(&target->lock);
    target->queues++;
    tell_locked(target, &header, NULL);
    (void)pthread_mutex_unlock(&target->lock);
}

void zeta_vgpu_target_queue_destroyed(struct zeta_vgpu_target *target)
{
    const struct zeta_vgpu_debug_header header = {.kind = ZETA_VGPU_DEBUG_QUEUE_DESTROYED};

    (void)pthread_mutex_lock(&target->lock);
    target->queues--;
    tell_locked(target, &header, NULL);
    (void)pthread_mutex_unlock(&target->lock);
}

void zeta_vgpu_target_module_loaded(struct zeta_vgpu_target *target,
                                    struct zeta_vgpu_target_module *module,
                                    const struct zeta_vgpu_image *image)
{
    (void)pthread_mutex_lock(&target->lock);
    module->image = image;
    TAILQ_INSERT_TAIL(&target->modules, module, entry);
    if (target->is_attached) {
        const void *file;
        struct zeta_vgpu_debug_header header =
            about_module(module, ZETA_VGPU_DEBUG_MODULE_LOADED, &file);

        header.arguments[3] = module->cookie = ++target->cookies;
        tell_locked(target, &header, NULL);
    }
    target->waiting++;
    while (module->cookie != 0)
        (void)pthread_cond_wait(&target->released, &target->lock);
    target->waiting--;
    (void)pthread_cond_broadcast(&target->released);
    (void)pthread_mutex_unlock(&target->lock);
}

void zeta_vgpu_target_module_unloaded(struct zeta_vgpu_target *target,
                                      struct zeta_vgpu_target_module *module)
{
    if (!module->image)
        return;
    (void)pthread_mutex_lock(&target->lock);
    TAILQ_REMOVE(&target->modules, module, entry);
    if (target->is_attached) {
        const void *file;
        struct zeta_vgpu_debug_header header =
            about_module(module, ZETA_VGPU_DEBUG_MODULE_UNLOADED, &file);
        const uint64_t size = header.arguments[1] - header.arguments[0];

        header.bytes = size <= ZETA_VGPU_DEBUG_IMAGE_LIMIT &&
                               target->out.end - target->out.begin <= ZETA_VGPU_DEBUG_IMAGE_LIMIT
                           ? (uint32_t)size
                           : 0;
        tell_locked(target, &header, file);
    }
    (void)pthread_mutex_unlock(&target->lock);
    module->image = NULL;
}

const struct zeta_vgpu_target_module *zeta_vgpu_target_lock_modules(struct zeta_vgpu_target *target)
{
    (void)pthread_mutex_lock(&target->lock);
    return TAILQ_FIRST(&target->modules);
}

void zeta_vgpu_target_unlock_modules(struct zeta_vgpu_target *target)
{
    (void)pthread_mutex_unlock(&target->lock);
}

/* ---- attaching and detaching ---------------------------------------------------------------- */

/* Called on any thread: an engine has news. */
static void on_changed(void *user)
{
    struct zeta_vgpu_target *target = user;

    /* Once told, the debugger will ask: what comes until then wakes nobody. */
    if (!atomic_exchange(&target->changed, true))
        poke(target);
}

/* Lets all go on that wait for an acknowledgement. */
static void release_all_locked(struct zeta_vgpu_target *target)
{
    struct zeta_vgpu_target_module *module;

    TAILQ_FOREACH(module, &target->modules, entry)
    module->cookie = 0;
    (void)pthread_cond_broadcast(&target->released);
}

static void detach(struct zeta_vgpu_target *target)
{
    if (target->connection < 0)
        return;
    zeta_vgpu_control_end(&target->control);
    (void)pthread_mutex_lock(&target->lock);
    target->is_attached = false;
    target->is_broken = false;
    zeta_vgpu_debug_buffer_finish(&target->out);
    release_all_locked(target);
    (void)pthread_mutex_unlock(&target->lock);
    zeta_vgpu_debug_buffer_finish(&target->in);
    /* A child of this process may have it too. */
    (void)shutdown(target->connection, SHUT_RDWR);
    close_one(&target->connection);
    close_one(&target->debugger);
}

/* Greets a debugger that cannot attach, on its own socket; it is told why or finds out. */
static void refuse(int connection, uint32_t result, uint32_t pid)
{
    const struct zeta_vgpu_debug_header header = {
        .kind = ZETA_VGPU_DEBUG_GREETING, .result = result, .arguments = {pid}};

    (void)!send(connection, &header, sizeof(header), MSG_DONTWAIT | MSG_NOSIGNAL);
    close(connection);
}

/* What is there already comes before all that happens from now on. */
static bool greet_locked(struct zeta_vgpu_target *target)
{
    struct zeta_vgpu_debug_greeting greeting = {.version = ZETA_VGPU_DEBUG_VERSION};
    const struct zeta_vgpu_debug_header first = {.kind = ZETA_VGPU_DEBUG_GREETING,
                                                 .bytes = sizeof(greeting)};
    const struct zeta_vgpu_debug_header queue = {.kind = ZETA_VGPU_DEBUG_QUEUE_CREATED};
    const struct zeta_vgpu_target_module *module;
    bool good;

    memcpy(greeting.shape, target->shape, sizeof(greeting.shape));
    good = zeta_vgpu_debug_put(&target->out, &first, &greeting);
    for (uint64_t i = 0; good && i < target->queues; i++)
        good = zeta_vgpu_debug_put(&target->out, &queue, NULL);
    TAILQ_FOREACH(module, &target->modules, entry)
    {
        const void *file;
        const struct zeta_vgpu_debug_header header =
            about_module(module, ZETA_VGPU_DEBUG_MODULE_LOADED, &file);

        good = good && zeta_vgpu_debug_put(&target->out, &header, NULL);
    }
    return good;
}

/* Somebody connected. */
static void admit(struct zeta_vgpu_target *target)
{
    const int connection =
        zeta_descriptor_raise(accept4(target->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
    struct ucred peer;
    socklen_t size = sizeof(peer);
    uint32_t result;

    if (connection < 0)
        return;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        !zeta_vgpu_debug_peer_allowed(peer.uid, geteuid())) {
        refuse(connection, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS, 0);
        return;
    }
    if (target->connection >= 0) {
        refuse(connection, ZETA_PLUGIN_NOT_AVAILABLE, target->debugger_pid);
        return;
    }
    atomic_store(&target->changed, false);
    result = zeta_vgpu_control_begin(&target->control, target->vgpu, on_changed, target);
    if (result != ZETA_PLUGIN_SUCCESS) {
        zeta_host_log(&target->vgpu->self->host, ZETA_PLUGIN_LOG_WARN,
                      "process %d wanted to debug this one, whose device could not be made ready "
                      "for it (0x%08x)",
                      (int)peer.pid, (unsigned)result);
        refuse(connection, result, 0);
        return;
    }
    target->connection = connection;
    target->debugger_pid = (uint32_t)peer.pid;
    target->debugger = zeta_vgpu_debug_watch_process(target->debugger_pid);
    target->is_told = false;
    (void)pthread_mutex_lock(&target->lock);
    target->is_attached = true;
    target->is_broken = !greet_locked(target);
    (void)pthread_mutex_unlock(&target->lock);
    atomic_store(&target->was_attached, true);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* The answer is sent before who waits goes on, since that may end the process. */
static void acknowledge(struct zeta_vgpu_target *target, uint64_t cookie)
{
    struct zeta_vgpu_debug_header answer = {.kind = ZETA_VGPU_DEBUG_ANSWER,
                                            .result = ZETA_PLUGIN_INVALID_ARGUMENT};
    struct zeta_vgpu_target_module *module;

    (void)pthread_mutex_lock(&target->lock);
    TAILQ_FOREACH(module, &target->modules, entry)
    {
        if (cookie == 0 || module->cookie != cookie)
            continue;
        module->cookie = 0;
        (void)pthread_cond_broadcast(&target->released);
        answer.result = ZETA_PLUGIN_SUCCESS;
    }
    tell_locked(target, &answer, NULL);
    (void)pthread_mutex_unlock(&target->lock);
}

/* Appends to the answer which threads are stopped, and why memory failed them. */
static bool list_threads(struct zeta_vgpu_target *target, struct zeta_vgpu_debug_header *answer,
                         struct zeta_vgpu_debug_buffer *payload)
{
    const uint32_t words = zeta_vgpu_debug_words(target->control.threads);
    uint64_t *stopped = target->masks, *excepted = target->masks + words;
    bool good;

    memset(target->masks, 0, (size_t)words * 2 * sizeof(*target->masks));
    target->is_told = false;
    atomic_store(&target->changed, false);
    answer->arguments[0] = zeta_vgpu_control_poll(&target->control, stopped, excepted);
    good =
        zeta_vgpu_debug_append(payload, target->masks, (size_t)words * 2 * sizeof(*target->masks));
    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t left = excepted[i]; left != 0; left &= left - 1) {
            const uint32_t thread = i * 64 + (uint32_t)__builtin_ctzll(left);
            struct zeta_vgpu_debug_fault fault;

            if (zeta_vgpu_control_fault(&target->control, thread, &fault))
                good = good && zeta_vgpu_debug_append(payload, &fault, sizeof(fault));
        }
    }
    return good;
}

/* True when the bytes are those of images; the lock keeps these loaded. */
static bool is_image_locked(struct zeta_vgpu_target *target, uint64_t address, uint64_t size_bytes)
{
    const struct zeta_vgpu_target_module *module;

    TAILQ_FOREACH(module, &target->modules, entry)
    {
        size_t size;
        const uint64_t begin = (uintptr_t)zeta_vgpu_image_file(module->image, &size);

        if (address - begin < size && size_bytes <= size - (address - begin))
            return true;
    }
    return false;
}

/* Reads, writes what the payload has, or only checks that all could be read. */
static uint32_t handle_memory(struct zeta_vgpu_target *target,
                              const struct zeta_vgpu_debug_header *request, const void *payload,
                              uint64_t *out_missing)
{
    const uint64_t space = request->arguments[0], address = request->arguments[1];
    const uint64_t size_bytes = request->arguments[2];
    const bool write = request->kind == ZETA_VGPU_DEBUG_MEMORY_WRITE;
    const bool check = request->kind == ZETA_VGPU_DEBUG_MEMORY_CHECK;
    void *buffer = check ? NULL : target->chunk;
    uint32_t result = ZETA_PLUGIN_NOT_AVAILABLE;

    if (space > ZETA_PLUGIN_SPACE_ELF || size_bytes > UINT64_MAX - address ||
        (space == ZETA_PLUGIN_SPACE_SLM && request->thread == ZETA_PLUGIN_DEBUG_NO_THREAD) ||
        (write && size_bytes != request->bytes) || (!check && size_bytes > ZETA_VGPU_DEBUG_CHUNK))
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    if (write)
        memcpy(target->chunk, payload, size_bytes);
    if (space != ZETA_PLUGIN_SPACE_ELF)
        return zeta_vgpu_control_memory(&target->control, (uint32_t)space, request->thread, address,
                                        size_bytes, buffer, write, out_missing);
    *out_missing = address;
    (void)pthread_mutex_lock(&target->lock);
    if (!write && is_image_locked(target, address, size_bytes))
        result =
            zeta_vgpu_control_memory(&target->control, (uint32_t)space, ZETA_PLUGIN_DEBUG_NO_THREAD,
                                     address, size_bytes, buffer, false, out_missing);
    (void)pthread_mutex_unlock(&target->lock);
    return result;
}

static uint32_t write_registers(struct zeta_vgpu_target *target,
                                const struct zeta_vgpu_debug_header *request, const void *payload)
{
    memcpy(target->chunk, payload, request->bytes);
    return zeta_vgpu_control_registers_write(&target->control, request->thread,
                                             request->arguments[0], request->arguments[1],
                                             request->arguments[2], target->chunk, request->bytes);
}

/* Does what the debugger asks for and puts the answer into what is to be sent. */
static void handle(struct zeta_vgpu_target *target, const struct zeta_vgpu_debug_header *request,
                   const void *payload)
{
    struct zeta_vgpu_debug_header answer = {.kind = ZETA_VGPU_DEBUG_ANSWER};
    struct zeta_vgpu_debug_buffer listed = {0};
    const void *content = target->chunk;
    bool still;

    switch ((enum zeta_vgpu_debug_kind)request->kind) {
    case ZETA_VGPU_DEBUG_ACKNOWLEDGE:
        acknowledge(target, request->arguments[0]);
        return;
    case ZETA_VGPU_DEBUG_HALT:
        memcpy(target->masks, payload, request->bytes);
        answer.arguments[0] = zeta_vgpu_control_halt(&target->control, target->masks);
        /* It is done already. */
        on_changed(target);
        break;
    case ZETA_VGPU_DEBUG_RESUME:
        memcpy(target->masks, payload, request->bytes);
        /* Before they go on, since they may end the process; the next request finds that they do.
         */
        tell(target, &answer, NULL);
        zeta_vgpu_control_resume(&target->control, target->masks);
        return;
    case ZETA_VGPU_DEBUG_THREADS:
        if (!list_threads(target, &answer, &listed))
            answer.result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        break;
    case ZETA_VGPU_DEBUG_MEMORY_CHECK:
    case ZETA_VGPU_DEBUG_MEMORY_READ:
    case ZETA_VGPU_DEBUG_MEMORY_WRITE:
        answer.result = handle_memory(target, request, payload, &answer.arguments[0]);
        break;
    case ZETA_VGPU_DEBUG_SNAPSHOTS:
        memcpy(target->masks, payload, request->bytes);
        if (!zeta_vgpu_control_snapshots(&target->control, target->masks, &listed, &still))
            answer.result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        answer.arguments[0] = still;
        break;
    case ZETA_VGPU_DEBUG_REGISTERS_WRITE:
        answer.result = write_registers(target, request, payload);
        break;
    default:
        answer.result = ZETA_PLUGIN_INVALID_ARGUMENT;
        break;
    }
    if (request->kind == ZETA_VGPU_DEBUG_MEMORY_READ && answer.result == ZETA_PLUGIN_SUCCESS) {
        answer.bytes = (uint32_t)request->arguments[2];
    } else if (answer.result == ZETA_PLUGIN_SUCCESS) {
        content = listed.bytes;
        answer.bytes = (uint32_t)(listed.end - listed.begin);
    }
    tell(target, &answer, content);
    zeta_vgpu_debug_buffer_finish(&listed);
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* Bytes that the debugger has not taken yet; UINT64_MAX when it cannot be told what it has to
 * know. */
static uint64_t backlog(struct zeta_vgpu_target *target)
{
    uint64_t bytes;

    (void)pthread_mutex_lock(&target->lock);
    bytes = target->is_broken ? UINT64_MAX : target->out.end - target->out.begin;
    (void)pthread_mutex_unlock(&target->lock);
    return bytes;
}

/*
 * Moves what can be moved now, and handles requests; false when the debugger is gone. One that asks
 * without end has its turn as others have theirs: who wants to attach, and the end of the process.
 */
static bool converse(struct zeta_vgpu_target *target)
{
    const struct zeta_vgpu_debug_header changed = {.kind = ZETA_VGPU_DEBUG_CHANGED};
    enum zeta_vgpu_debug_progress taken = ZETA_VGPU_DEBUG_SOME, received = ZETA_VGPU_DEBUG_NONE;
    struct zeta_vgpu_debug_header request;
    const void *payload;

    if (atomic_load(&target->changed) && !target->is_told) {
        target->is_told = true;
        tell(target, &changed, NULL);
    }
    (void)pthread_mutex_lock(&target->lock);
    target->is_broken |=
        zeta_vgpu_debug_send(target->connection, &target->out) == ZETA_VGPU_DEBUG_END;
    (void)pthread_mutex_unlock(&target->lock);
    if (backlog(target) < BACKLOG_BYTES)
        received = zeta_vgpu_debug_receive(target->connection, &target->in);
    while (taken == ZETA_VGPU_DEBUG_SOME && backlog(target) < BACKLOG_BYTES) {
        taken = zeta_vgpu_debug_take(&target->in, ZETA_VGPU_DEBUG_DEBUGGER, target->control.threads,
                                     &request, &payload);
        if (taken == ZETA_VGPU_DEBUG_SOME)
            handle(target, &request, payload);
    }
    return received != ZETA_VGPU_DEBUG_END && taken != ZETA_VGPU_DEBUG_END &&
           backlog(target) != UINT64_MAX;
}

static void *serve(void *argument)
{
    struct zeta_vgpu_target *target = argument;

    while (!atomic_load(&target->quit)) {
        const uint64_t left = target->connection < 0 ? 0 : backlog(target);
        struct pollfd polled[] = {
            {.fd = target->poke, .events = POLLIN},
            {.fd = target->listener, .events = POLLIN},
            {.fd = target->connection,
             .events = (short)((left < BACKLOG_BYTES ? POLLIN : 0) | (left > 0 ? POLLOUT : 0))},
            {.fd = target->debugger, .events = POLLIN},
        };
        uint64_t pokes;

        if (poll(polled, 4, -1) < 0)
            continue;
        if (polled[0].revents != 0)
            (void)!read(target->poke, &pokes, sizeof(pokes));
        if (target->connection >= 0 && (!converse(target) || polled[3].revents != 0))
            detach(target);
        if (polled[1].revents != 0)
            admit(target);
    }
    detach(target);
    return NULL;
}

/* ---- life ----------------------------------------------------------------------------------- */

struct zeta_vgpu_target *zeta_vgpu_target_create(struct zeta_vgpu *vgpu)
{
    struct zeta_vgpu_target *target = calloc(1, sizeof(*target));

    if (!target)
        return NULL;
    target->vgpu = vgpu;
    target->poke = target->listener = target->connection = target->debugger = -1;
    TAILQ_INIT(&target->modules);
    (void)pthread_mutex_init(&target->lock, NULL);
    (void)pthread_mutex_init(&target->enable_lock, NULL);
    (void)pthread_cond_init(&target->released, NULL);
    return target;
}

/* Removes the socket and frees what enable() made; the thread does not run. */
static void disable(struct zeta_vgpu_target *target)
{
    remove_socket(target);
    unlist_socket(target);
    close_one(&target->listener);
    close_one(&target->poke);
    free(target->masks);
    free(target->chunk);
    target->masks = NULL;
    target->chunk = NULL;
}

void zeta_vgpu_target_end(struct zeta_vgpu_target *target)
{
    if (!target)
        return;
    if (target->is_enabled) {
        atomic_store(&target->quit, true);
        poke(target);
        (void)pthread_join(target->thread, NULL);
        target->is_enabled = false;
    }
    disable(target);
    (void)pthread_mutex_lock(&target->lock);
    while (target->waiting > 0)
        (void)pthread_cond_wait(&target->released, &target->lock);
    (void)pthread_mutex_unlock(&target->lock);
}

void zeta_vgpu_target_destroy(struct zeta_vgpu_target *target)
{
    if (!target)
        return;
    (void)pthread_cond_destroy(&target->released);
    (void)pthread_mutex_destroy(&target->enable_lock);
    (void)pthread_mutex_destroy(&target->lock);
    free(target);
}

void zeta_vgpu_target_abandon(struct zeta_vgpu_target *target)
{
    unlist_socket(target);
    close_one(&target->listener);
    close_one(&target->connection);
    close_one(&target->debugger);
    close_one(&target->poke);
}

/* Opens what the thread needs, and starts it. An errno value. */
static int start(struct zeta_vgpu_target *target)
{
    const struct zeta_vgpu_description *d = &target->vgpu->description;
    const uint32_t shape[4] = {d->topology.slices * d->tiles, d->topology.subslices_per_slice,
                               d->topology.eus_per_subslice, d->topology.threads_per_eu};
    const uint32_t words = zeta_vgpu_debug_words(zeta_vgpu_control_threads(d));

    memcpy(target->shape, shape, sizeof(shape));
    target->masks = calloc((size_t)words * 2, sizeof(*target->masks));
    target->chunk = malloc(ZETA_VGPU_DEBUG_CHUNK);
    if (!target->masks || !target->chunk)
        return ENOMEM;
    target->poke = zeta_descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (target->poke < 0)
        return errno;
    sweep(target->folder);
    zeta_vgpu_debug_socket_name(target->name, (uint32_t)getpid(), d->id);
    target->listener = listen_in(target->folder, target->name);
    if (target->listener < 0)
        return errno;
    list_socket(target);
    return zeta_thread_start(&target->thread, serve, target, "vgpu-debug");
}

/*
 * Waits for the debugger that started this process, if it says so with ZETA_DEBUG_WAIT=PID:DEVICE.
 * Processes that this one starts have the variable too, but another parent.
 */
static void await_debugger(struct zeta_vgpu_target *target)
{
    const struct timespec period = {.tv_nsec = WAIT_PERIOD_NS};
    const char *wanted = secure_getenv("ZETA_DEBUG_WAIT");
    char parent[sizeof("2147483647:") + ZETA_VGPU_ID_BYTES];

    do {
        (void)snprintf(parent, sizeof(parent), "%d:%s", (int)getppid(),
                       target->vgpu->description.id);
        if (!wanted || strcmp(wanted, parent) != 0 || atomic_load(&target->was_attached))
            return;
    } while (nanosleep(&period, NULL) == 0 || errno == EINTR);
}

uint32_t zeta_vgpu_target_enable(struct zeta_vgpu_target *target)
{
    const struct zeta_host *host = &target->vgpu->self->host;
    struct zeta_vgpu_message message = {""};
    int error = 0;

    if (getauxval(AT_SECURE) != 0)
        return zeta_host_fail(host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                              "a program with more rights than its caller (setuid, setcap) lets no "
                              "debugger attach; debug it without these");
    (void)pthread_mutex_lock(&target->enable_lock);
    if (!target->is_enabled &&
        zeta_vgpu_instance_folder(target->folder, sizeof(target->folder), &message)) {
        error = start(target);
        target->is_enabled = error == 0;
        if (error != 0)
            disable(target);
        if (error != 0)
            (void)snprintf(message.text, sizeof(message.text),
                           "no socket for debuggers of %s can be made in %.300s: %s",
                           target->vgpu->description.id, target->folder, strerror(error));
    }
    const bool is_enabled = target->is_enabled;
    (void)pthread_mutex_unlock(&target->enable_lock);
    if (!is_enabled)
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE, "%s", message.text);
    await_debugger(target);
    return ZETA_PLUGIN_SUCCESS;
}
