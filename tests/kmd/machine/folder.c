#include "tests/kmd/machine/folder.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"

#define PREFIX "kmd-"

/* A machine is hundreds of small files that live for a moment: in memory, where that is offered. */
static const char *base_folder(void)
{
    const char *base = getenv("TMPDIR");

    if (base && *base == '/')
        return base;
    return kmd_real()->access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

bool kmd_folder_make(char *out_path, size_t bytes)
{
    (void)snprintf(out_path, bytes, "%.3000s/" PREFIX "%d-XXXXXX", base_folder(), (int)getpid());
    if (mkdtemp(out_path))
        return true;
    (void)fprintf(stderr, "kmd: no folder %s: %s\n", out_path, strerror(errno));
    return false;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void kmd_folder_remove(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Whether a name is that of a machine whose process has ended; of a foreign one EPERM is told. */
static bool is_left_behind(const char *name)
{
    char *end;
    long pid;

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    pid = strtol(name + strlen(PREFIX), &end, 10);
    return *end == '-' && pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void kmd_folder_sweep(void)
{
    const char *base = base_folder();
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *directory = kmd_real()->opendir(base);

    if (!directory)
        return;
    while ((entry = kmd_real()->readdir(directory))) {
        if (!is_left_behind(entry->d_name))
            continue;
        (void)snprintf(path, sizeof(path), "%.3000s/%s", base, entry->d_name);
        kmd_folder_remove(path);
    }
    (void)closedir(directory);
}
