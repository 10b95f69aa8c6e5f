#include "core/util/trust.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic int pretended = -1;

enum zeta_trust zeta_trust_level(void)
{
    int level = atomic_load_explicit(&pretended, memory_order_relaxed);

    if (level >= 0)
        return (enum zeta_trust)level;
    if (getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid())
        return ZETA_TRUST_PRIVILEGED;
    return geteuid() == 0 ? ZETA_TRUST_ROOT : ZETA_TRUST_USER;
}

void zeta_trust_pretend(int level)
{
    atomic_store_explicit(&pretended, level, memory_order_relaxed);
}

static bool check_one(const char *path, const struct stat *status, enum zeta_trust level,
                      bool named, char *reason, size_t reason_bytes)
{
    bool sticky = S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX);

    if ((level == ZETA_TRUST_PRIVILEGED || !named) && status->st_uid != 0 &&
        status->st_uid != geteuid()) {
        (void)snprintf(reason, reason_bytes, "%s belongs to user %u; change the owner to root",
                       path, (unsigned int)status->st_uid);
        return false;
    }
    if ((status->st_mode & S_IWOTH) && !sticky) {
        (void)snprintf(reason, reason_bytes, "%s is writable by everybody; run chmod o-w %s", path,
                       path);
        return false;
    }
    if (level == ZETA_TRUST_PRIVILEGED && (status->st_mode & S_IWGRP) && !sticky) {
        (void)snprintf(reason, reason_bytes, "%s is writable by its group; run chmod g-w %s", path,
                       path);
        return false;
    }
    return true;
}

bool zeta_trust_check(int fd, enum zeta_trust level, bool named, char *reason, size_t reason_bytes)
{
    char link[64];
    char path[PATH_MAX];
    struct stat status;
    ssize_t length;
    char *slash;

    if (level == ZETA_TRUST_USER)
        return true;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0 || path[0] != '/' || fstat(fd, &status) != 0) {
        (void)snprintf(reason, reason_bytes, "its path cannot be resolved through %s", link);
        return false;
    }
    path[length] = '\0';
    if (!check_one(path, &status, level, named, reason, reason_bytes))
        return false;
    while ((slash = strrchr(path, '/')) != NULL) {
        const char *parent = slash == path ? "/" : path;

        *slash = '\0';
        if (stat(parent, &status) != 0) {
            (void)snprintf(reason, reason_bytes, "%s cannot be examined", parent);
            return false;
        }
        if (!check_one(parent, &status, level, named, reason, reason_bytes))
            return false;
    }
    return true;
}
