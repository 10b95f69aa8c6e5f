#include <zeta/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads up to room bytes; how many there were, or -1. */
static ssize_t read_all(int file, char *bytes, size_t room)
{
    size_t filled = 0;
    ssize_t got;

    do {
        got = read(file, bytes + filled, room - filled);
        if (got > 0)
            filled += (size_t)got;
    } while ((got > 0 && filled < room) || (got < 0 && errno == EINTR));
    return got < 0 ? -1 : (ssize_t)filled;
}

static char *read_regular(int file, uint64_t most_bytes, uint64_t *out_bytes)
{
    struct stat status;
    ssize_t bytes;
    char *text;

    if (fstat(file, &status) != 0)
        return NULL;
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > most_bytes) {
        errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    text = malloc((size_t)status.st_size + 1);
    if (!text)
        return NULL;
    bytes = read_all(file, text, (size_t)status.st_size);
    if (bytes < 0) {
        free(text);
        return NULL;
    }
    text[bytes] = '\0';
    *out_bytes = (uint64_t)bytes;
    return text;
}

char *zeta_file_read(const char *path, uint64_t most_bytes, uint64_t *out_bytes)
{
    /* Whoever opens a pipe does not wait for its writer. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text;
    int error;

    if (file < 0)
        return NULL;
    text = read_regular(file, most_bytes, out_bytes);
    error = errno;
    (void)close(file);
    errno = error;
    return text;
}
