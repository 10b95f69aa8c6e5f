/* readlink and realpath: what they answer is outside the tree again. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kmd/interpose/interpose.h"
#include "tests/kmd/interpose/path.h"
#include "tests/kmd/interpose/real.h"
#include "tests/kmd/machine/machine.h"

/* The answer may name a file of the tree (as /proc/self/fd/N does): then whole, and cut after. */
static ssize_t read_link(int directory, const char *path, char *out_text, size_t bytes)
{
    char buffer[PATH_MAX];
    char text[PATH_MAX];
    const char *used = kmd_path(directory, path, buffer);
    size_t length;
    ssize_t result;

    if (!kmd_shared())
        return kmd_real()->readlinkat(directory, used, out_text, bytes);
    result = kmd_real()->readlinkat(directory, used, text, sizeof(text) - 1);
    if (result < 0)
        return result;
    if (bytes == 0) {
        errno = EINVAL;
        return -1;
    }
    length = (size_t)result;
    (void)kmd_path_outside(text, &length);
    if (length > bytes)
        length = bytes;
    memcpy(out_text, text, length);
    return (ssize_t)length;
}

KMD_EXPORT ssize_t readlink(const char *path, char *out_text, size_t bytes)
{
    return read_link(AT_FDCWD, path, out_text, bytes);
}

KMD_EXPORT ssize_t readlinkat(int directory, const char *path, char *out_text, size_t bytes)
{
    return read_link(directory, path, out_text, bytes);
}

ssize_t __readlink_chk(const char *path, char *out_text, size_t bytes, size_t room);
ssize_t __readlinkat_chk(int directory, const char *path, char *out_text, size_t bytes,
                         size_t room);

KMD_EXPORT ssize_t __readlink_chk(const char *path, char *out_text, size_t bytes, size_t room)
{
    if (bytes > room)
        abort();
    return read_link(AT_FDCWD, path, out_text, bytes);
}

KMD_EXPORT ssize_t __readlinkat_chk(int directory, const char *path, char *out_text, size_t bytes,
                                    size_t room)
{
    if (bytes > room)
        abort();
    return read_link(directory, path, out_text, bytes);
}

KMD_EXPORT char *realpath(const char *path, char *resolved)
{
    char buffer[PATH_MAX];
    char *real = kmd_real()->realpath(kmd_path(AT_FDCWD, path, buffer), resolved);

    if (real && kmd_shared()) {
        size_t length = strlen(real);

        (void)kmd_path_outside(real, &length);
    }
    return real;
}

char *__realpath_chk(const char *path, char *resolved, size_t room);

KMD_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
    if (room < PATH_MAX)
        abort();
    return realpath(path, resolved);
}

KMD_EXPORT char *canonicalize_file_name(const char *path)
{
    return realpath(path, NULL);
}
