#include "core/event/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "core/util/error.h"

#define MAGIC UINT64_C(0x327665617465615a) /* "Zetaev2", as bytes of a file */
#define TOKEN_BYTES 16u
#define START_FIELD 22 /* of /proc/<pid>/stat, counted from 1; the state is the third */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* At the beginning of the memory. */
struct share_header {
    uint64_t magic;
    uint32_t kind;
    uint32_t count;
    uint32_t flags;
    uint32_t reserved;
    uint64_t maker;
    unsigned char token[TOKEN_BYTES];
};

/* What a handle is made of. */
struct share_handle {
    int32_t descriptor; /* first, because programs replace it by one that they received */
    uint32_t kind;
    uint64_t magic;
    uint64_t maker;
    uint64_t device;
    uint64_t inode;
    unsigned char token[TOKEN_BYTES];
    uint64_t reserved; /* 0 */
};

_Static_assert(sizeof(struct share_handle) == ZE_MAX_IPC_HANDLE_SIZE, "a handle has 64 bytes");
_Static_assert(sizeof(struct share_header) <= ZETA_SHARE_AT, "the content begins behind it");

/* ---------------------------------------------------------------- processes */

/* State letter and start time of a process from /proc/<pid>/stat; false if there is none. */
static bool read_process(uint32_t pid, char *out_state, uint32_t *out_start)
{
    ZETA_CLEANUP(zeta_closep) int fd = -1;
    char path[64];
    char text[1024];

    (void)snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* The name of the program may hold anything, blanks and parentheses too. */
    const char *field = strrchr(text, ')');
    if (!field || field[1] != ' ')
        return false;
    *out_state = field[2];
    for (int i = 3; i <= START_FIELD && field; i++)
        field = strchr(field + 1, ' ');
    if (!field)
        return false;
    *out_start = (uint32_t)strtoull(field, NULL, 10);
    return true;
}

uint64_t zeta_process_self(void)
{
    static _Atomic uint64_t known;
    uint32_t pid = (uint32_t)getpid();
    uint64_t self = atomic_load(&known);
    uint32_t start = 0;
    char state;

    /* A child of fork() has another id. */
    if (zeta_process_id(self) == pid)
        return self;
    (void)read_process(pid, &state, &start);
    self = (uint64_t)pid << 32 | start;
    atomic_store(&known, self);
    return self;
}

bool zeta_process_is_alive(uint64_t process)
{
    uint32_t start = 0;
    char state = 'Z';

    if (!read_process(zeta_process_id(process), &state, &start))
        return false;
    return start == (uint32_t)process && state != 'Z' && state != 'X';
}

/* ---------------------------------------------------------------- memory */

static size_t share_bytes(enum zeta_share_kind kind, uint32_t count)
{
    size_t content = kind == ZETA_SHARE_POOL ? (size_t)count * sizeof(struct zeta_event_cell)
                                             : sizeof(struct zeta_counter_memory);

    return ZETA_SHARE_AT + content;
}

static ze_result_t no_memory(const char *what)
{
    return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                      "%s of events that other processes can use failed: %s", what,
                      strerror(errno));
}

static ze_result_t map_file(struct zeta_share *share, int descriptor)
{
    void *memory = mmap(NULL, share->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

    if (memory == MAP_FAILED)
        return no_memory("mapping the memory");
    share->memory = memory;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_share_create(enum zeta_share_kind kind, uint32_t count, uint32_t flags,
                              struct zeta_share **out_share)
{
    struct zeta_share *share;
    struct stat status;
    ze_result_t result;

    if (count > ZETA_SHARE_MAX_EVENTS)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "a pool whose events other processes can use has at most %u of them, not "
                          "%u; make several pools",
                          ZETA_SHARE_MAX_EVENTS, count);
    share = calloc(1, sizeof(*share));
    if (!share)
        return no_memory("making the memory");
    share->bytes = share_bytes(kind, count);
    share->count = count;
    share->flags = flags;
    share->maker = zeta_process_self();
    share->descriptor =
        zeta_descriptor_raise(memfd_create("zeta-events", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (share->descriptor < 0) {
        result = no_memory("making the memory");
        goto failed;
    }
    if (fchmod(share->descriptor, S_IRUSR | S_IWUSR) != 0 ||
        ftruncate(share->descriptor, (off_t)share->bytes) != 0 ||
        fcntl(share->descriptor, F_ADD_SEALS, SEALS) != 0) {
        result = no_memory("sizing the memory");
        goto failed;
    }
    result = map_file(share, share->descriptor);
    if (result != ZE_RESULT_SUCCESS)
        goto failed;
    struct share_handle made = {
        .descriptor = share->descriptor, .kind = kind, .magic = MAGIC, .maker = share->maker};
    if (getrandom(made.token, sizeof(made.token), 0) != (ssize_t)sizeof(made.token) ||
        fstat(share->descriptor, &status) != 0) {
        result = no_memory("naming the memory");
        goto failed;
    }
    made.device = status.st_dev;
    made.inode = status.st_ino;
    memcpy(share->handle, &made, sizeof(share->handle));
    struct share_header *header = share->memory;
    *header = (struct share_header){
        .magic = MAGIC, .kind = kind, .count = count, .flags = flags, .maker = share->maker};
    memcpy(header->token, made.token, sizeof(header->token));
    for (uint32_t i = 0; kind == ZETA_SHARE_POOL && i < count; i++)
        atomic_store(&zeta_share_cell(share, i)->signal.shared, 1);
    if (kind == ZETA_SHARE_COUNTER)
        atomic_store(&zeta_share_counter(share)->core.signal.shared, 1);
    *out_share = share;
    return ZE_RESULT_SUCCESS;

failed:
    zeta_share_destroy(share);
    return result;
}

void zeta_share_destroy(struct zeta_share *share)
{
    if (!share)
        return;
    if (share->memory)
        (void)munmap(share->memory, share->bytes);
    if (share->descriptor >= 0)
        (void)close(share->descriptor);
    free(share);
}

struct zeta_event_cell *zeta_share_cell(const struct zeta_share *share, uint32_t index)
{
    return (struct zeta_event_cell *)(void *)((char *)share->memory + ZETA_SHARE_AT) + index;
}

struct zeta_counter_memory *zeta_share_counter(const struct zeta_share *share)
{
    return (struct zeta_counter_memory *)(void *)((char *)share->memory + ZETA_SHARE_AT);
}

/* ---------------------------------------------------------------- handles */

ze_result_t zeta_share_check_handle(enum zeta_share_kind kind, const void *handle)
{
    struct share_handle wanted;

    memcpy(&wanted, handle, sizeof(wanted));
    if (wanted.magic != MAGIC || wanted.reserved != 0 || wanted.descriptor < 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the 64 bytes are no IPC handle of events that Zeta made");
    if (wanted.kind != (uint32_t)kind)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the IPC handle is that of %s, which another function opens",
                          kind == ZETA_SHARE_POOL ? "a counter based event" : "an event pool");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t out_of_date(const struct share_handle *wanted)
{
    return zeta_error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "the IPC handle is out of date: descriptor %d of process %u is something else "
        "now",
        wanted->descriptor, zeta_process_id(wanted->maker));
}

static ze_result_t open_file(struct zeta_share *share, const struct share_handle *wanted)
{
    uint32_t pid = zeta_process_id(wanted->maker);
    ZETA_CLEANUP(zeta_closep)
    int fd = zeta_descriptor_open_of((int)pid, wanted->descriptor, wanted->device, wanted->inode);
    struct stat status;

    if (fd < 0 && errno == ESTALE)
        return out_of_date(wanted);
    if (fd < 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "process %u, which made the IPC handle, cannot be reached (descriptor "
                          "%d: %s); it has to run, as the same user and with the same process ids",
                          pid, wanted->descriptor, strerror(errno));
    /* Ours, and of a size that cannot change. */
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &status) != 0 || status.st_uid != geteuid() || seals < 0 ||
        (seals & SEALS) != SEALS || status.st_size < (off_t)ZETA_SHARE_AT)
        return out_of_date(wanted);
    share->bytes = (size_t)status.st_size;
    ze_result_t result = map_file(share, fd);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    const struct share_header *header = share->memory;
    uint32_t count = header->count; /* read once: others can write it */
    if (header->magic != MAGIC || header->kind != wanted->kind || header->maker != wanted->maker ||
        memcmp(header->token, wanted->token, sizeof(wanted->token)) != 0 || count == 0 ||
        count > ZETA_SHARE_MAX_EVENTS ||
        share_bytes((enum zeta_share_kind)wanted->kind, count) != share->bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the IPC handle leads to memory of process %u that holds other events",
                          pid);
    share->count = count;
    share->flags = header->flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_share_open(enum zeta_share_kind kind, const void *handle,
                            struct zeta_share **out_share)
{
    struct share_handle wanted;
    ze_result_t result = zeta_share_check_handle(kind, handle);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_share *share = calloc(1, sizeof(*share));
    if (!share)
        return no_memory("opening the memory");
    memcpy(&wanted, handle, sizeof(wanted));
    memcpy(share->handle, handle, sizeof(share->handle));
    share->descriptor = -1;
    share->is_opened = true;
    share->maker = wanted.maker;
    result = open_file(share, &wanted);
    if (result == ZE_RESULT_SUCCESS)
        *out_share = share;
    else
        zeta_share_destroy(share);
    return result;
}
