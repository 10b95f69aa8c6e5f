#include "core/trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/trace/text.h"
#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "core/util/error.h"

#define SLOT_COUNT 256
#define CHUNK_BYTES ZETA_TRACE_CHUNK_BYTES
/* The first part ends its line, so that a call in flight that was cut takes no other line along. */
#define LINES_AT (ZETA_TRACE_OPEN_BYTES + 1)
#define LINE_ROOM (2 * ZETA_TRACE_LINE_BYTES)

#define HEAD_BYTES 4096
#define TAIL_BYTES 512
#define COMMAND_BYTES 512

/* The number is padded with blanks, and first, so that its place is always the same. */
#define LOST_START "[\n{\"ph\":\"M\",\"name\":\"zeta_trace\",\"args\":{\"lost\":"
#define LOST_AT (sizeof(LOST_START) - 1)
#define LOST_DIGITS 20

/* How long threads are waited for that are just making a chunk: they need microseconds. */
#define PATIENCE_NS (100 * UINT64_C(1000000))

/* What is not atomic is written while no file is open. */
static struct {
    _Atomic uint32_t generation;
    _Atomic uint32_t forks; /* grows with each fork */
    atomic_bool is_open;
    atomic_bool is_full;
    atomic_uint users; /* threads that use the descriptor or the head */
    _Atomic uint64_t next_bytes;
    _Atomic uint64_t lost;
    atomic_bool is_counting; /* somebody writes the number of lost records into the head */
    atomic_int fd;           /* atomic, as head, for forks alone */
    dev_t device;
    ino_t inode;
    uint64_t limit_bytes;
    char *_Atomic head;
    char *path;
    char blanks[CHUNK_BYTES]; /* what a new part of the file holds */
} file = {.fd = -1};

static struct zeta_trace_slot slots[SLOT_COUNT];

bool zeta_trace_file_is_open(void)
{
    return atomic_load_explicit(&file.is_open, memory_order_acquire);
}

const char *zeta_trace_file_path(void)
{
    return file.path ? file.path : "";
}

uint32_t zeta_trace_file_generation(void)
{
    return atomic_load_explicit(&file.generation, memory_order_acquire);
}

/* Between enter() and leave() the descriptor and the head stay. */
static bool enter(void)
{
    atomic_fetch_add(&file.users, 1);
    if (atomic_load(&file.is_open))
        return true;
    atomic_fetch_sub(&file.users, 1);
    return false;
}

static void leave(void)
{
    atomic_fetch_sub(&file.users, 1);
}

/* ---- the first and the last line: the process, and what was lost ---- */

static void add_ids(struct zeta_trace_text *text)
{
    zeta_trace_text_put(text, ",\"pid\":");
    zeta_trace_text_unsigned(text, (uint64_t)getpid());
    zeta_trace_text_put(text, ",\"tid\":");
    zeta_trace_text_unsigned(text, (uint64_t)getpid());
}

/* Words of the command line, with blanks between them. */
static void add_command(struct zeta_trace_text *text)
{
    ZETA_CLEANUP(zeta_closep)
    int fd = zeta_descriptor_raise(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
    char command[COMMAND_BYTES];
    ssize_t bytes = fd >= 0 ? read(fd, command, sizeof(command)) : 0;

    while (bytes > 0 && command[bytes - 1] == '\0')
        bytes--;
    for (ssize_t i = 0; i < bytes; i++) {
        if (command[i] == '\0')
            command[i] = ' ';
    }
    zeta_trace_text_string(text, command, bytes > 0 ? (size_t)bytes : 0);
}

static void add_clock(struct zeta_trace_text *text, const char *name, clockid_t clock)
{
    zeta_trace_text_put(text, ",\"");
    zeta_trace_text_put(text, name);
    zeta_trace_text_put(text, "\":\"");
    zeta_trace_text_unsigned(text, zeta_clock_ns(clock));
    zeta_trace_text_put(text, "\"");
}

/* The head: name and command of the process, clocks. */
static void write_head(char *head)
{
    struct zeta_trace_text text = {.data = head, .size_bytes = HEAD_BYTES - 1};
    const char *name = program_invocation_short_name;

    zeta_trace_text_put(&text, LOST_START "                   0,\"command\":");
    add_command(&text);
    add_clock(&text, "monotonic_ns", CLOCK_MONOTONIC);
    add_clock(&text, "boottime_ns", CLOCK_BOOTTIME);
    add_clock(&text, "realtime_ns", CLOCK_REALTIME);
    zeta_trace_text_put(&text, "}");
    add_ids(&text);
    zeta_trace_text_put(&text, "},\n{\"ph\":\"M\",\"name\":\"process_name\"");
    add_ids(&text);
    zeta_trace_text_put(&text, ",\"args\":{\"name\":");
    zeta_trace_text_string(&text, name, strnlen(name, 128));
    zeta_trace_text_put(&text, "}},\n");
}

/* Makes the tail that ends the array; gives its size. */
static size_t make_tail(uint64_t lost, char tail[TAIL_BYTES])
{
    struct zeta_trace_text text = {.data = tail, .size_bytes = TAIL_BYTES};

    if (lost > 0) {
        zeta_trace_text_put(&text, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"zeta\",\"name\":\"");
        zeta_trace_text_unsigned(&text, lost);
        zeta_trace_text_put(&text, " records lost\"");
        add_ids(&text);
        zeta_trace_text_put(&text, ",\"ts\":");
        zeta_trace_text_time(&text, zeta_monotonic_ns());
        zeta_trace_text_put(&text, "},\n");
    }
    zeta_trace_text_put(&text, "{\"ph\":\"M\",\"name\":\"zeta_trace_end\"");
    add_ids(&text);
    zeta_trace_text_put(&text, ",\"args\":{\"lost\":");
    zeta_trace_text_number(&text, lost);
    zeta_trace_text_put(&text, "}}\n]\n");
    return text.used_bytes;
}

/* ---- the file ---- */

/* Programs that become daemons close all descriptors, and then the number is somebody else's. */
static bool is_ours(void)
{
    struct stat status;

    return fstat(file.fd, &status) == 0 && status.st_dev == file.device &&
           status.st_ino == file.inode;
}

/*
 * Blank room in the file that is really there: a store to a hole of a full disk would be a SIGBUS.
 * Written pages cost a fraction of allocated ones, and touching them here spares as many faults.
 */
static char *map_part(uint64_t at_bytes, size_t size_bytes)
{
    const char *blanks = file.blanks;
    char *part;

    for (size_t done = 0; done < size_bytes;) {
        const ssize_t written =
            pwrite(file.fd, blanks, size_bytes - done, (off_t)(at_bytes + done));

        if (written < 0 && errno != EINTR)
            return NULL;
        done += written > 0 ? (size_t)written : 0;
    }
    part = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, (off_t)at_bytes);
    if (part == MAP_FAILED)
        return NULL;
#ifdef MADV_POPULATE_WRITE
    (void)madvise(part, size_bytes, MADV_POPULATE_WRITE); /* only a gain; kernels before 5.14 */
#endif
    part[size_bytes - 1] = '\n';
    return part;
}

static void drop_descriptor(void)
{
    if (file.fd >= 0)
        (void)close(file.fd);
    file.fd = -1;
    if (file.head)
        (void)munmap(file.head, HEAD_BYTES);
    file.head = NULL;
}

/* False: somebody is stuck inside, for example the thread whose signal handler ends the process. */
static bool wait_for_users(void)
{
    const uint64_t end_ns = zeta_monotonic_ns() + PATIENCE_NS;

    while (atomic_load(&file.users) != 0) {
        if (zeta_monotonic_ns() > end_ns)
            return false;
        (void)sched_yield();
    }
    return true;
}

ze_result_t zeta_trace_file_open(const char *path, uint64_t limit_bytes)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    const char *what;
    struct stat status;
    char *copy;
    int error;

    if (zeta_trace_file_is_open())
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "A trace is being written to %s; one at a time.", file.path);
    if (!wait_for_users())
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE,
                          "The trace %s has ended, but a thread that writes to its disk does not "
                          "come back; try again later.",
                          file.path);
    /* Left by a file that was closed before its threads had come out, or whose descriptor is not
     * ours any more. */
    if (file.fd >= 0 && !is_ours())
        file.fd = -1;
    drop_descriptor();
    /* The file cannot grow beyond what the process may write: the system would send SIGXFSZ. */
    file.limit_bytes = limit_bytes;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < limit_bytes)
        file.limit_bytes = limit.rlim_cur;
    memset(file.blanks, ' ', sizeof(file.blanks));

    what = "named";
    copy = strdup(path);
    if (!copy)
        goto refused;
    free(file.path);
    file.path = copy;
    what = "created";
    file.fd = zeta_descriptor_raise(
        open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    if (file.fd < 0)
        goto refused;
    what = "looked at";
    if (fstat(file.fd, &status) != 0)
        goto refused;
    file.device = status.st_dev;
    file.inode = status.st_ino;
    what = "written";
    file.head = map_part(0, HEAD_BYTES);
    if (!file.head)
        goto refused;
    write_head(file.head);
    atomic_store(&file.next_bytes, HEAD_BYTES);
    atomic_store(&file.lost, 0);
    atomic_store(&file.is_full, false);
    atomic_fetch_add(&file.generation, 1);
    atomic_store(&file.is_open, true);
    return ZE_RESULT_SUCCESS;

refused:
    error = errno;
    (void)zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE, "The trace %s cannot be %s (%s).", path, what,
                     strerrordesc_np(error));
    drop_descriptor();
    errno = error;
    return ZE_RESULT_ERROR_NOT_AVAILABLE;
}

static void unmap_chunk(struct zeta_trace_slot *slot)
{
    if (slot->chunk)
        (void)munmap(slot->chunk, CHUNK_BYTES);
    slot->chunk = NULL;
    slot->used_bytes = 0;
}

void zeta_trace_file_close(void)
{
    char tail[TAIL_BYTES];

    if (!atomic_exchange(&file.is_open, false))
        return;
    const bool is_quiet = wait_for_users();
    if (is_ours()) {
        const size_t bytes = make_tail(atomic_load(&file.lost), tail);

        (void)!pwrite(file.fd, tail, bytes, (off_t)atomic_load(&file.next_bytes));
        if (is_quiet)
            drop_descriptor();
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        if (!atomic_exchange(&slots[i].is_taken, true)) {
            unmap_chunk(&slots[i]);
            atomic_store(&slots[i].is_taken, false);
        }
    }
}

void zeta_trace_file_forget(void)
{
    /* Exchanges: behind all that threads of the parent did, also those that ended unwatched. */
    (void)atomic_exchange(&file.is_open, false);
    (void)atomic_exchange(&file.users, 0);
    (void)atomic_exchange(&file.is_counting, false);
    atomic_fetch_add(&file.generation, 1);
    atomic_fetch_add(&file.forks, 1);
    const int fd = atomic_exchange(&file.fd, -1);
    if (fd >= 0)
        (void)close(fd);
    (void)atomic_exchange(&file.head, NULL);
    /* Chunks stay mapped until the slot is used again: other threads are gone, this one may be
     * inside a call. */
    for (size_t i = 0; i < SLOT_COUNT; i++)
        atomic_store(&slots[i].is_taken, false);
}

/* ---- counts ---- */

void zeta_trace_file_counts(struct zeta_trace_counts *out_counts)
{
    const uint32_t generation = zeta_trace_file_generation();

    *out_counts = (struct zeta_trace_counts){.lost = atomic_load(&file.lost),
                                             .bytes = atomic_load(&file.next_bytes)};
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        const uint64_t records = atomic_load(&slots[i].records);

        /* The number and the generation that it belongs to are one word. */
        if (records >> 48 == (generation & 0xffff))
            out_counts->records += records & ((UINT64_C(1) << 48) - 1);
    }
}

void zeta_trace_file_lose(void)
{
    uint64_t written;

    atomic_fetch_add(&file.lost, 1);
    if (!enter())
        return;
    do {
        written = atomic_load(&file.lost);
        if (atomic_exchange(&file.is_counting, true))
            break; /* whoever is there looks again */
        uint64_t left = written;
        char digits[LOST_DIGITS];
        for (size_t i = LOST_DIGITS; i-- > 0; left /= 10)
            digits[i] = left > 0 || i == LOST_DIGITS - 1 ? (char)('0' + left % 10) : ' ';
        memcpy(file.head + LOST_AT, digits, LOST_DIGITS);
        atomic_store(&file.is_counting, false);
    } while (written != atomic_load(&file.lost));
    leave();
}

/* ---- slots ---- */

static char *make_chunk(void)
{
    char *chunk = NULL;
    bool has_place;
    uint64_t at;

    if (!enter())
        return NULL;
    at = atomic_load(&file.next_bytes);
    do
        has_place = !atomic_load(&file.is_full) && at + CHUNK_BYTES <= file.limit_bytes;
    while (has_place && !atomic_compare_exchange_weak(&file.next_bytes, &at, at + CHUNK_BYTES));
    if (has_place && is_ours())
        chunk = map_part(at, CHUNK_BYTES);
    if (chunk)
        chunk[LINES_AT - 1] = '\n';
    if (has_place && !chunk) {
        uint64_t end = at + CHUNK_BYTES;

        /* A disk that is full: one attempt is enough. */
        atomic_store(&file.is_full, true);
        (void)atomic_compare_exchange_strong(&file.next_bytes, &end, at);
    }
    leave();
    return chunk;
}

static bool has_room(struct zeta_trace_slot *slot)
{
    const uint32_t generation = zeta_trace_file_generation();

    if (slot->generation != generation) {
        unmap_chunk(slot);
        slot->generation = generation;
        atomic_store_explicit(&slot->records, (uint64_t)(generation & 0xffff) << 48,
                              memory_order_relaxed);
    }
    if (slot->chunk && CHUNK_BYTES - slot->used_bytes >= LINE_ROOM)
        return true;
    unmap_chunk(slot);
    slot->chunk = make_chunk();
    slot->used_bytes = LINES_AT;
    return slot->chunk != NULL;
}

struct zeta_trace_slot *zeta_trace_slot_take(uint32_t *hint)
{
    if (!zeta_trace_file_is_open())
        return NULL;
    for (uint32_t i = 0; i < SLOT_COUNT; i++) {
        struct zeta_trace_slot *slot = &slots[(*hint + i) % SLOT_COUNT];

        if (atomic_load_explicit(&slot->is_taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&slot->is_taken, true, memory_order_acquire))
            continue;
        *hint = (*hint + i) % SLOT_COUNT;
        slot->shown_bytes = 0;
        if (has_room(slot))
            return slot;
        atomic_store_explicit(&slot->is_taken, false, memory_order_release);
        break;
    }
    if (zeta_trace_file_is_open())
        zeta_trace_file_lose();
    return NULL;
}

void zeta_trace_slot_give(struct zeta_trace_slot *slot)
{
    if (slot->generation != zeta_trace_file_generation() || !zeta_trace_file_is_open())
        unmap_chunk(slot); /* what is shown stays shown: the call was not over in time */
    else
        memset(slot->chunk, ' ', slot->shown_bytes);
    slot->shown_bytes = 0;
    atomic_store_explicit(&slot->is_taken, false, memory_order_release);
}

uint64_t zeta_trace_slot_ticket(const struct zeta_trace_slot *slot)
{
    return (uint64_t)atomic_load_explicit(&file.forks, memory_order_relaxed) << 32 |
           (uint64_t)(slot - slots + 1);
}

struct zeta_trace_slot *zeta_trace_slot_of(uint64_t ticket)
{
    const uint32_t forks = atomic_load_explicit(&file.forks, memory_order_relaxed);

    return ticket >> 32 == forks ? &slots[(uint32_t)ticket - 1] : NULL;
}

void zeta_trace_slot_show(struct zeta_trace_slot *slot, const char *line, uint32_t size_bytes)
{
    memcpy(slot->chunk, line, size_bytes);
    slot->shown_bytes = size_bytes;
}

void zeta_trace_slot_write(struct zeta_trace_slot *slot, const char *line, uint32_t size_bytes,
                           bool is_record)
{
    memcpy(slot->chunk + slot->used_bytes, line, size_bytes);
    slot->used_bytes += size_bytes;
    if (is_record)
        atomic_store_explicit(&slot->records,
                              atomic_load_explicit(&slot->records, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}
