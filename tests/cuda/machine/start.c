/* Machines: made and ended. */

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/machine/machine.h"
#include "tests/cuda/machine/tree.h"

#define PREFIX "cuda-"

static const char *base_folder(void)
{
    const char *base = getenv("TMPDIR");

    if (base && *base == '/')
        return base;
    return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_folder(const char *path)
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

static void sweep(const char *base)
{
    char path[PATH_MAX];
    DIR *directory = opendir(base);

    if (!directory)
        return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (!is_left_behind(entry->d_name))
            continue;
        (void)snprintf(path, sizeof(path), "%.3000s/%s", base, entry->d_name);
        remove_folder(path);
    }
    (void)closedir(directory);
}

static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;

    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    (void)pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    (void)pthread_mutex_init(lock, &kind);
    (void)pthread_mutexattr_destroy(&kind);
}

struct cuda_machine *cuda_start(const char *description)
{
    struct cuda_description described;
    struct cuda_machine *machine;

    if (!cuda_describe(description, &described))
        return NULL;
    machine = calloc(1, sizeof(*machine));
    if (!machine)
        return NULL;
    sweep(base_folder());
    (void)snprintf(machine->folder, sizeof(machine->folder), "%.3000s/" PREFIX "%d-XXXXXX",
                   base_folder(), (int)getpid());
    if (!mkdtemp(machine->folder)) {
        (void)fprintf(stderr, "cuda: no folder %s: %s\n", machine->folder, strerror(errno));
        goto no_folder;
    }
    machine->shared = cuda_map(machine->folder, true);
    if (!machine->shared || !cuda_tree_write(machine->folder, &described)) {
        (void)fprintf(stderr, "cuda: no files in %s: %s\n", machine->folder, strerror(errno));
        goto no_file;
    }
    machine->shared->description = described;
    init_lock(&machine->shared->lock);
    for (uint32_t i = 0; i < CUDA_GPUS; i++)
        init_lock(&machine->shared->gpus[i].lock);
    /* Not zero: a session's first sample begins before it. */
    atomic_store(&machine->shared->manual_ns, 1000000000000);
    machine->shared->version = CUDA_VERSION;
    machine->shared->magic = CUDA_MAGIC;
    (void)setenv(CUDA_MACHINE_VARIABLE, machine->folder, 1);
    return machine;

no_file:
    remove_folder(machine->folder);
no_folder:
    free(machine);
    return NULL;
}

/* The mapping stays: libraries of this process and others have the file too. */
void cuda_stop(struct cuda_machine *machine)
{
    if (!machine)
        return;
    atomic_store(&machine->shared->has_ended, true);
    (void)unsetenv(CUDA_MACHINE_VARIABLE);
    remove_folder(machine->folder);
    free(machine);
}

const char *cuda_folder(const struct cuda_machine *machine)
{
    return machine->folder;
}
