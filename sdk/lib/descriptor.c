/* Descriptors: beyond the standard streams, for conditions, and of files read as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/descriptor.h>
#include <zeta/file.h>
#include <zeta/notify.h>

int32_t zeta_descriptor_raise(int32_t descriptor)
{
    int32_t raised;
    int error;

    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    raised = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    error = errno;
    (void)close(descriptor);
    errno = error;
    return raised;
}

int zeta_notify_init(struct zeta_notify *notify)
{
    notify->raised = 0;
    notify->descriptor = zeta_descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return notify->descriptor < 0 ? errno : 0;
}

void zeta_notify_finish(struct zeta_notify *notify)
{
    if (notify->descriptor >= 0)
        close(notify->descriptor);
    notify->descriptor = -1;
}

void zeta_notify_set(struct zeta_notify *notify, uint32_t raised)
{
    eventfd_t value;

    if (notify->descriptor < 0 || (raised != 0) == (notify->raised != 0))
        return;
    /* Neither can fail in a way that matters: the counter is 0 or 1, and never blocks. */
    if (raised)
        (void)eventfd_write(notify->descriptor, 1);
    else
        (void)eventfd_read(notify->descriptor, &value);
    notify->raised = raised != 0;
}

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
