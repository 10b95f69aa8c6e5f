#include "instance_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#define MAGIC UINT64_C(0x6e692d757067767a) /* "zvgpu-in" */
#define PLACES 64u

/* Where a process has the memory. */
struct place {
    uint32_t pid, descriptor;
    uint64_t start_time; /* distinguishes it from a later process with that id */
};

struct content {
    uint64_t magic;
    uint64_t device, inode; /* of the memory */
    struct place places[PLACES];
};

/* ---- where ---------------------------------------------------------------------------------- */

static bool is_ours(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() &&
           (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A folder of ours, made if it is not there; no link. */
static bool make_folder(const char *path)
{
    struct stat status;

    (void)mkdir(path, 0700);
    return lstat(path, &status) == 0 && is_ours(&status);
}

static bool make_in_home(char *out_path, size_t path_bytes)
{
    const char *home = secure_getenv("HOME");
    int length;

    if (!home || home[0] != '/')
        return false;
    length = snprintf(out_path, path_bytes, "%s/.cache", home);
    if (length < 0 || (size_t)length + sizeof("/zeta") > path_bytes)
        return false;
    (void)mkdir(out_path, 0700);
    memcpy(out_path + length, "/zeta", sizeof("/zeta"));
    return make_folder(out_path);
}

void zeta_vgpu_instance_user_folder(char *out_path, size_t path_bytes, uint32_t user)
{
    snprintf(out_path, path_bytes, "/dev/shm/zeta-vgpu-%u", user);
}

bool zeta_vgpu_instance_folder(char *out_path, size_t path_bytes,
                               struct zeta_vgpu_message *out_message)
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    char path[64];
    struct stat status;

    if (runtime && runtime[0] == '/' && strlen(runtime) < path_bytes &&
        stat(runtime, &status) == 0 && is_ours(&status)) {
        snprintf(out_path, path_bytes, "%s", runtime);
        return true;
    }
    zeta_vgpu_instance_user_folder(path, sizeof(path), geteuid());
    snprintf(out_path, path_bytes, "%s", path);
    if (make_folder(path) || make_in_home(out_path, path_bytes))
        return true;
    snprintf(out_message->text, sizeof(out_message->text),
             "there is no folder where processes can meet on a virtual GPU: %s cannot be made, or "
             "is not of this user alone. Set XDG_RUNTIME_DIR to a folder that nobody else can "
             "write to, such as 'mktemp -d' makes",
             path);
    return false;
}

bool zeta_vgpu_instance_file_is_ours(int file)
{
    struct stat status;

    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 077) == 0;
}

void zeta_vgpu_instance_sweep(const char *folder, const char *kept)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    char prefix[48];
    size_t length;

    if (!listing)
        return;
    length = (size_t)snprintf(prefix, sizeof(prefix), "zeta-vgpu-%u-", (unsigned)geteuid());
    while ((entry = readdir(listing)) != NULL) {
        int file;

        if (strncmp(entry->d_name, prefix, length) != 0 || strcmp(entry->d_name, kept) == 0)
            continue;
        file = openat(dirfd(listing), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0)
            continue;
        if (zeta_vgpu_instance_file_is_ours(file) && flock(file, LOCK_EX | LOCK_NB) == 0)
            (void)unlinkat(dirfd(listing), entry->d_name, 0);
        close(file);
    }
    closedir(listing);
}

/* ---- what ----------------------------------------------------------------------------------- */

static bool is_meant(int memory, uint64_t size_bytes, const struct content *content)
{
    struct stat status;

    return memory >= 0 && fstat(memory, &status) == 0 && status.st_dev == content->device &&
           status.st_ino == content->inode && (uint64_t)status.st_size == size_bytes;
}

static bool read_content(int file, struct content *out_content)
{
    return pread(file, out_content, sizeof(*out_content), 0) == (ssize_t)sizeof(*out_content) &&
           out_content->magic == MAGIC;
}

int zeta_vgpu_instance_file_begin(int file, int memory)
{
    struct content content = {.magic = MAGIC};
    struct stat status;
    ssize_t written;

    if (fstat(memory, &status) != 0 || ftruncate(file, 0) != 0)
        return errno;
    content.device = status.st_dev;
    content.inode = status.st_ino;
    content.places[0] = (struct place){.pid = (uint32_t)getpid(), .descriptor = (uint32_t)memory};
    (void)zeta_vgpu_process_start(getpid(), &content.places[0].start_time);
    written = pwrite(file, &content, sizeof(content), 0);
    if (written == (ssize_t)sizeof(content))
        return 0;
    return written < 0 ? errno : ENOSPC;
}

bool zeta_vgpu_instance_file_find(int file, uint64_t size_bytes, int *io_memory)
{
    struct content content;
    const bool is_read = read_content(file, &content);
    int memory = *io_memory;

    if (is_read && is_meant(memory, size_bytes, &content))
        return true;
    if (memory >= 0)
        close(memory);
    *io_memory = -1;
    for (uint32_t i = 0; is_read && i < PLACES; i++) {
        const struct place *place = &content.places[i];

        if (place->pid == 0)
            continue;
        memory =
            zeta_vgpu_shared_file_open(place->pid, place->descriptor, ZETA_VGPU_INSTANCE_MEMORY);
        if (is_meant(memory, size_bytes, &content)) {
            *io_memory = memory;
            return true;
        }
        if (memory >= 0)
            close(memory);
    }
    return false;
}

void zeta_vgpu_instance_file_join(int file, int memory, uint64_t start_time)
{
    const struct place own = {
        .pid = (uint32_t)getpid(), .descriptor = (uint32_t)memory, .start_time = start_time};
    struct content content;
    uint32_t i = 0;

    if (!read_content(file, &content))
        return;
    while (i < PLACES && content.places[i].pid != own.pid)
        i++;
    if (i < PLACES && memcmp(&content.places[i], &own, sizeof(own)) == 0)
        return;
    if (i == PLACES) {
        i = 0;
        while (i < PLACES &&
               zeta_vgpu_process_alive(content.places[i].pid, content.places[i].start_time))
            i++;
    }
    /* Without room, or where it was overwritten, others can still be found. */
    if (i < PLACES && pwrite(file, &own, sizeof(own),
                             (off_t)(offsetof(struct content, places) + i * sizeof(own))) < 0)
        return;
}

/* ---- files in memory ------------------------------------------------------------------------ */

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int zeta_vgpu_shared_file_create(const char *name, uint64_t size_bytes)
{
    const int descriptor =
        zeta_descriptor_raise(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    struct rlimit limit;
    int error;

    if (descriptor < 0)
        return -1;
    /* A file larger than the limit would end the process with SIGXFSZ. */
    errno = EFBIG;
    if ((getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size_bytes) &&
        fchmod(descriptor, 0600) == 0 && ftruncate(descriptor, (off_t)size_bytes) == 0 &&
        fcntl(descriptor, F_ADD_SEALS, SEALS) == 0)
        return descriptor;
    error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int zeta_vgpu_shared_file_open(uint32_t pid, uint32_t descriptor, const char *name)
{
    char path[64], target[128], expected[128];
    struct stat status;
    ssize_t length;
    int file;

    /* Where the links in /proc of such a file point. */
    snprintf(expected, sizeof(expected), "/memfd:%.80s (deleted)", name);
    snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, descriptor);
    length = readlink(path, target, sizeof(target));
    if (length != (ssize_t)strlen(expected) || memcmp(target, expected, (size_t)length) != 0)
        return -1;
    file = zeta_descriptor_raise(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid() && (fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}
