/* The machine as a process finds it, and who has the counting unit of a GPU. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cuda/machine/machine.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cuda_shared *current;
static char root[PATH_MAX - 64];

struct cuda_shared *cuda_map(const char *folder, bool create)
{
    char path[PATH_MAX];
    struct cuda_shared *shared = MAP_FAILED;
    int fd;

    (void)snprintf(path, sizeof(path), "%.4000s/machine", folder);
    fd = open(path, create ? O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    if (!create || ftruncate(fd, sizeof(*shared)) == 0)
        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    return shared == MAP_FAILED ? NULL : shared;
}

static void attach(void)
{
    const char *folder = getenv(CUDA_MACHINE_VARIABLE);
    struct cuda_shared *shared;

    if (!folder || !*folder || strlen(folder) >= sizeof(root))
        return;
    shared = cuda_map(folder, false);
    if (!shared || shared->magic != CUDA_MAGIC || shared->version != CUDA_VERSION) {
        (void)fprintf(stderr, "cuda: %s=%s is no machine of this version\n", CUDA_MACHINE_VARIABLE,
                      folder);
        return;
    }
    (void)strcpy(root, folder);
    current = shared;
}

struct cuda_shared *cuda_shared(void)
{
    (void)pthread_once(&once, attach);
    return current && !atomic_load(&current->has_ended) ? current : NULL;
}

const char *cuda_root(void)
{
    return root;
}

void cuda_lock(pthread_mutex_t *lock)
{
    /* What a dead process left is whole: counts are added before the work is shown. */
    if (pthread_mutex_lock(lock) == EOWNERDEAD)
        (void)pthread_mutex_consistent(lock);
}

void cuda_unlock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
}

/* A lock of the kernel on a file: it is not inherited, and goes with the process. */
static struct {
    pthread_mutex_t lock;
    int fd[CUDA_UNITS][CUDA_GPUS];
    pid_t holder[CUDA_UNITS][CUDA_GPUS]; /* this process, or one that was forked from it */
} units = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool cuda_unit_take(enum cuda_unit unit, uint32_t gpu)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[PATH_MAX];
    bool is_taken = false;

    (void)pthread_mutex_lock(&units.lock);
    if (units.holder[unit][gpu] != getpid()) {
        (void)snprintf(path, sizeof(path), "%s/unit-%d-%u", root, (int)unit, gpu);
        units.fd[unit][gpu] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        is_taken = units.fd[unit][gpu] >= 0 && fcntl(units.fd[unit][gpu], F_SETLK, &whole) == 0;
        if (is_taken)
            units.holder[unit][gpu] = getpid();
        else if (units.fd[unit][gpu] >= 0)
            (void)close(units.fd[unit][gpu]);
    }
    (void)pthread_mutex_unlock(&units.lock);
    return is_taken;
}

void cuda_unit_give(enum cuda_unit unit, uint32_t gpu)
{
    (void)pthread_mutex_lock(&units.lock);
    if (units.holder[unit][gpu] == getpid()) {
        units.holder[unit][gpu] = 0;
        (void)close(units.fd[unit][gpu]);
    }
    (void)pthread_mutex_unlock(&units.lock);
}
