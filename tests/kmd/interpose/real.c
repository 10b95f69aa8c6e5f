#include "tests/kmd/interpose/real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct kmd_real functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void *out_function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    memcpy(out_function, &symbol, sizeof(symbol));
}

static void find_all(void)
{
    struct kmd_real *f = &functions;

    find(&f->open, "open");
    find(&f->openat, "openat");
    find(&f->fopen, "fopen");
    find(&f->opendir, "opendir");
    find(&f->readdir, "readdir");
    find(&f->scandir, "scandir");
    find(&f->ioctl, "ioctl");
    find(&f->read, "read");
    find(&f->readv, "readv");
    find(&f->mmap, "mmap");
    find(&f->stat, "stat");
    find(&f->lstat, "lstat");
    find(&f->fstat, "fstat");
    find(&f->fstatat, "fstatat");
    find(&f->statx, "statx");
    find(&f->statfs, "statfs");
    find(&f->fstatfs, "fstatfs");
    find(&f->access, "access");
    find(&f->faccessat, "faccessat");
    find(&f->readlink, "readlink");
    find(&f->readlinkat, "readlinkat");
    find(&f->realpath, "realpath");
    find(&f->glob, "glob");
}

static bool is_ready;

/* Before any constructor without a number, and after the runtime of a sanitizer has started. */
__attribute__((constructor(101))) static void begin(void)
{
    is_ready = true;
}

bool kmd_real_is_ready(void)
{
    return is_ready;
}

const struct kmd_real *kmd_real(void)
{
    (void)pthread_once(&once, find_all);
    return &functions;
}
