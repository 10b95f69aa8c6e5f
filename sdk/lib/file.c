#include <zeta/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *zeta_file_read(const char *path, uint64_t most_bytes, uint64_t *out_bytes)
{
    /* Whoever opens a pipe does not wait for its writer. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    char *text = NULL;
    size_t filled = 0;
    ssize_t got;
    int error;

    if (file < 0)
        return NULL;
    if (fstat(file, &status) != 0)
        goto failed;
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > most_bytes) {
        errno = S_ISREG(status.st_mode) ? EFBIG : EINVAL;
        goto failed;
    }
    text = malloc((size_t)status.st_size + 1);
    if (!text)
        goto failed;
    do {
        got = read(file, text + filled, (size_t)status.st_size - filled);
        if (got > 0)
            filled += (size_t)got;
    } while ((got > 0 && filled < (size_t)status.st_size) || (got < 0 && errno == EINTR));
    if (got < 0)
        goto failed;
    (void)close(file);
    text[filled] = '\0';
    *out_bytes = filled;
    return text;

failed:
    error = errno;
    free(text);
    (void)close(file);
    errno = error;
    return NULL;
}
