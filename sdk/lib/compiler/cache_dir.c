/*
 * Files are written under another name and renamed, and hold the digest of their content, so no
 * moment of a crash leaves a wrong one. Who stores something afterwards scans the whole folder
 * and removes the oldest: two that do so at once choose the same files.
 */
#include <zeta/compiler/cache_dir.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sha2.h>
#include <zeta/descriptor.h>

#define NAME_BYTES (2 * ZETA_CACHE_KEY_BYTES + 1)
#define TEMPORARY_PREFIX ".new-"

/* Half-written files of dead processes are older than that. */
enum { TEMPORARY_SECONDS = 3600 };

/* Before the content of each file. */
struct header {
    char magic[8];
    uint8_t key[ZETA_CACHE_KEY_BYTES]; /* a file under another name is of no use */
    uint8_t digest[32];                /* of the content */
};

static const char magic[8] = {'Z', 'V', 'G', 'P', 'U', 'C', '1', '\n'};

void zeta_cache_dir_default(bool secure, const char *name, const char *xdg, const char *home,
                            char out_path[ZETA_CACHE_PATH_BYTES])
{
    int length = -1;

    if (!secure && xdg && xdg[0] == '/')
        length = snprintf(out_path, ZETA_CACHE_PATH_BYTES, "%s/zeta/%s", xdg, name);
    else if (!secure && home && home[0] == '/')
        length = snprintf(out_path, ZETA_CACHE_PATH_BYTES, "%s/.cache/zeta/%s", home, name);
    if (length < 0 || length >= ZETA_CACHE_PATH_BYTES)
        out_path[0] = '\0';
}

static void name_of(const uint8_t key[ZETA_CACHE_KEY_BYTES], char out_name[NAME_BYTES])
{
    for (unsigned i = 0; i < ZETA_CACHE_KEY_BYTES; i++)
        (void)snprintf(out_name + 2 * (size_t)i, 3, "%02x", key[i]);
}

/* The folder, if it is ours and no other user can put files into it; else -1. */
static int open_folder(const struct zeta_cache_dir *cache, bool create)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    char part[ZETA_CACHE_PATH_BYTES];
    struct stat status;
    int folder;

    if (cache->path[0] != '/' || cache->limit_bytes == 0)
        return -1;
    folder = open(cache->path, flags);
    if (folder < 0 && errno == ENOENT && create) {
        for (size_t i = 1; cache->path[i - 1] != '\0'; i++) {
            if (cache->path[i] != '/' && cache->path[i] != '\0')
                continue;
            (void)snprintf(part, i + 1, "%s", cache->path);
            (void)mkdir(part, 0700);
        }
        folder = open(cache->path, flags);
    }
    folder = zeta_descriptor_raise(folder);
    if (folder >= 0 && (fstat(folder, &status) != 0 || status.st_uid != geteuid() ||
                        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        (void)close(folder);
        folder = -1;
    }
    return folder;
}

static bool read_all(int file, void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = read(file, (char *)bytes + at, size - at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t put = write(file, (const char *)bytes + at, size - at);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += (size_t)put;
    }
    return true;
}

static void digest_of(const void *bytes, size_t size, uint8_t out_digest[32])
{
    SHA2_CTX digest;

    SHA256Init(&digest);
    SHA256Update(&digest, bytes, size);
    SHA256Final(out_digest, &digest);
}

/* The content of a file that was checked, or NULL. */
static void *read_content(int file, const uint8_t key[ZETA_CACHE_KEY_BYTES], uint64_t limit_bytes,
                          size_t *out_size)
{
    struct header header;
    struct stat status;
    uint8_t digest[32];
    size_t size;
    void *bytes;

    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (uint64_t)status.st_size < sizeof(header) || (uint64_t)status.st_size > limit_bytes ||
        !read_all(file, &header, sizeof(header)) ||
        memcmp(header.magic, magic, sizeof(magic)) != 0 ||
        memcmp(header.key, key, sizeof(header.key)) != 0)
        return NULL;
    size = (size_t)status.st_size - sizeof(header);
    bytes = malloc(size + 1);
    if (!bytes)
        return NULL;
    if (read_all(file, bytes, size)) {
        digest_of(bytes, size, digest);
        if (memcmp(digest, header.digest, sizeof(digest)) == 0) {
            *out_size = size;
            return bytes;
        }
    }
    free(bytes);
    return NULL;
}

bool zeta_cache_dir_load(const struct zeta_cache_dir *cache,
                         const uint8_t key[ZETA_CACHE_KEY_BYTES], void **out_bytes,
                         size_t *out_size)
{
    int folder = open_folder(cache, false);
    char name[NAME_BYTES];
    void *bytes = NULL;
    int file;

    if (folder < 0)
        return false;
    name_of(key, name);
    file =
        zeta_descriptor_raise(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file >= 0) {
        bytes = read_content(file, key, cache->limit_bytes, out_size);
        if (bytes)
            (void)futimens(file, NULL);
        else
            (void)unlinkat(folder, name, 0);
        (void)close(file);
    }
    (void)close(folder);
    if (bytes)
        *out_bytes = bytes;
    return bytes != NULL;
}

/*
 * Writing beyond a limit of the process sends it a signal that ends programs which do not expect
 * it. It is for the thread that writes, which holds it back and takes it away.
 */
static bool write_file(int folder, const char *name, const struct header *header, const void *bytes,
                       size_t size)
{
    const struct timespec now = {0};
    sigset_t too_large, pending, before;
    bool was_pending, written;
    int file;

    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    sigemptyset(&pending);
    if (pthread_sigmask(SIG_BLOCK, &too_large, &before) != 0)
        return false;
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGXFSZ) == 1;
    file = zeta_descriptor_raise(
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    written = file >= 0 && write_all(file, header, sizeof(*header)) && write_all(file, bytes, size);
    if (file >= 0)
        written &= close(file) == 0;
    if (!written && !was_pending) {
        while (sigtimedwait(&too_large, NULL, &now) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written;
}

/* A file of the folder. */
struct entry {
    char name[NAME_BYTES];
    uint64_t bytes;
    struct timespec used;
};

struct listing {
    struct entry *entries;
    size_t count;
    size_t room;
    uint64_t bytes; /* of all files, also those that are being written */
};

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct entry *)left)->used;
    const struct timespec *b = &((const struct entry *)right)->used;

    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Lists one file of the folder; what a crash left behind is removed. */
static void list_file(struct listing *listing, int folder, const char *name)
{
    struct stat status;
    struct entry *grown;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return;
    if (strncmp(name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0) {
        if (time(NULL) - status.st_mtime > TEMPORARY_SECONDS)
            (void)unlinkat(folder, name, 0);
        else
            listing->bytes += (uint64_t)status.st_size;
        return;
    }
    /* Files of others in this folder are none of ours, and do not count. */
    if (strlen(name) != NAME_BYTES - 1 || strspn(name, "0123456789abcdef") != NAME_BYTES - 1)
        return;
    if (listing->count == listing->room) {
        listing->room = listing->room ? listing->room * 2 : 64;
        grown = realloc(listing->entries, listing->room * sizeof(*grown));
        if (!grown) {
            listing->room = listing->count;
            return;
        }
        listing->entries = grown;
    }
    listing->entries[listing->count] =
        (struct entry){.bytes = (uint64_t)status.st_size, .used = status.st_mtim};
    memcpy(listing->entries[listing->count++].name, name, NAME_BYTES);
    listing->bytes += (uint64_t)status.st_size;
}

static void keep_limit(int folder, uint64_t limit_bytes)
{
    int copy = zeta_descriptor_raise(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    struct listing listing = {0};
    const struct dirent *file;

    if (!files) {
        if (copy >= 0)
            (void)close(copy);
        return;
    }
    while ((file = readdir(files)) != NULL)
        list_file(&listing, folder, file->d_name);
    (void)closedir(files);
    if (listing.bytes > limit_bytes && listing.count > 1)
        qsort(listing.entries, listing.count, sizeof(*listing.entries), by_use);
    for (size_t i = 0; i < listing.count && listing.bytes > limit_bytes; i++) {
        (void)unlinkat(folder, listing.entries[i].name, 0);
        listing.bytes -= listing.entries[i].bytes;
    }
    free(listing.entries);
}

void zeta_cache_dir_store(const struct zeta_cache_dir *cache,
                          const uint8_t key[ZETA_CACHE_KEY_BYTES], const void *bytes, size_t size)
{
    static atomic_uint counter;
    char name[NAME_BYTES], temporary[64];
    struct header header;
    struct timespec now;
    int folder;

    if (cache->limit_bytes < sizeof(header) || size > cache->limit_bytes - sizeof(header))
        return;
    folder = open_folder(cache, true);
    if (folder < 0)
        return;
    memcpy(header.magic, magic, sizeof(magic));
    memcpy(header.key, key, sizeof(header.key));
    digest_of(bytes, size, header.digest);
    name_of(key, name);
    /* A name that no other thread or process uses. */
    clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(temporary, sizeof(temporary), TEMPORARY_PREFIX "%ld-%u-%lld", (long)getpid(),
                   atomic_fetch_add(&counter, 1), (long long)now.tv_nsec);
    if (!write_file(folder, temporary, &header, bytes, size) ||
        renameat(folder, temporary, folder, name) != 0)
        (void)unlinkat(folder, temporary, 0);
    keep_limit(folder, cache->limit_bytes);
    (void)close(folder);
}
