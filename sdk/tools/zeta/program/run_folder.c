#include "sdk/tools/zeta/program/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/tools/zeta/output/message.h"

#define SUFFIX "XXXXXX"

/* Tries of somebody who meets others that remove what looks left behind. */
enum { TRIES = 100 };

const char *zeta_run_folder_place(void)
{
    const char *place = getenv("XDG_RUNTIME_DIR");

    if (!place || !*place)
        place = getenv("TMPDIR");
    return place && *place ? place : "/tmp";
}

/* A folder of this user alone, locked; -1 if it is none, or somebody has the lock. */
static int lock_folder(int parent, const char *name)
{
    const int folder =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat about;

    if (folder >= 0 && fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
        (about.st_mode & 077) == 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
        return folder;
    if (folder >= 0)
        (void)close(folder);
    return -1;
}

/* The folders hold nothing but files. */
static void remove_files(int folder)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again >= 0 ? fdopendir(again) : NULL;
    const struct dirent *entry;

    while (listing && (entry = readdir(listing)) != NULL)
        (void)unlinkat(folder, entry->d_name, 0);
    if (listing)
        (void)closedir(listing);
    else if (again >= 0)
        (void)close(again);
}

/* True for a name that mkdtemp made of ours. */
static bool is_such(const char *name, const char *kind)
{
    const size_t length = strlen(kind);

    return strncmp(name, "zeta-", 5) == 0 && strncmp(name + 5, kind, length) == 0 &&
           name[5 + length] == '-' && strlen(name + 6 + length) == strlen(SUFFIX);
}

static void sweep(const char *parent, const char *kind)
{
    DIR *listing = opendir(parent);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing)) != NULL) {
        int folder = is_such(entry->d_name, kind) ? lock_folder(dirfd(listing), entry->d_name) : -1;

        if (folder < 0)
            continue;
        remove_files(folder);
        (void)unlinkat(dirfd(listing), entry->d_name, AT_REMOVEDIR);
        (void)close(folder);
    }
    if (listing)
        (void)closedir(listing);
}

/* Until it has its lock a new folder looks like one that was left. */
static int make_locked(struct zeta_run_folder *folder, const char *parent, const char *kind)
{
    struct stat about;

    for (int i = 0; i < TRIES; i++) {
        if (asprintf(&folder->path, "%s/zeta-%s-" SUFFIX, parent, kind) < 0) {
            folder->path = NULL;
            return zeta_print_failure("no memory for the name of a folder");
        }
        folder->lock = -1;
        if (!mkdtemp(folder->path))
            break;
        folder->lock = lock_folder(AT_FDCWD, folder->path);
        if (folder->lock >= 0 && stat(folder->path, &about) == 0)
            return ZETA_EXIT_OK;
        errno = EAGAIN;
        zeta_run_folder_finish(folder);
    }
    (void)zeta_print_failure("cannot make a folder in %s: %s", parent, strerror(errno));
    zeta_run_folder_finish(folder);
    return ZETA_EXIT_FAILED;
}

int zeta_run_folder_make(struct zeta_run_folder *folder, const char *parent, const char *kind)
{
    *folder = (struct zeta_run_folder){0};
    sweep(parent, kind);
    return make_locked(folder, parent, kind);
}

void zeta_run_folder_keep(struct zeta_run_folder *folder)
{
    char *kept = NULL;
    char *slash = strrchr(folder->path, '/');

    if (asprintf(&kept, "%.*s/zeta-kept-%s", (int)(slash - folder->path), folder->path,
                 folder->path + strlen(folder->path) - strlen(SUFFIX)) < 0)
        return;
    if (rename(folder->path, kept) == 0) {
        free(folder->path);
        folder->path = kept;
    } else {
        free(kept);
    }
}

void zeta_run_folder_remove(struct zeta_run_folder *folder)
{
    if (folder->path && folder->lock >= 0) {
        remove_files(folder->lock);
        (void)rmdir(folder->path);
    }
    zeta_run_folder_finish(folder);
}

void zeta_run_folder_finish(struct zeta_run_folder *folder)
{
    if (folder->path && folder->lock >= 0)
        (void)close(folder->lock);
    free(folder->path);
    *folder = (struct zeta_run_folder){0};
}
