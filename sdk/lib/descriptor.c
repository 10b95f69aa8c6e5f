#include <zeta/descriptor.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
