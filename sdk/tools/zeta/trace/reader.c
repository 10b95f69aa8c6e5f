#include "sdk/tools/zeta/trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/tools/zeta/output/message.h"

/* Of a long trace no more than this is kept in memory; of whole pages. */
#define KEPT_BYTES ((size_t)32 << 20)

void zeta_trace_reader_init(struct zeta_trace_reader *reader, const char *data, size_t size)
{
    *reader = (struct zeta_trace_reader){.data = data, .size = size};
}

int zeta_trace_reader_open(struct zeta_trace_reader *reader, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    void *data = NULL;
    int error = 0;

    zeta_trace_reader_init(reader, "", 0);
    if (fd < 0)
        return zeta_print_failure("cannot read %s: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0)
        error = errno;
    else if (!S_ISREG(status.st_mode))
        error = EINVAL;
    if (!error && status.st_size > 0) {
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            error = errno;
    }
    (void)close(fd);
    if (error)
        return zeta_print_failure("cannot read %s: %s", path, strerror(error));
    if (data) {
        zeta_trace_reader_init(reader, data, (size_t)status.st_size);
        reader->is_mapped = true;
    }
    return ZETA_EXIT_OK;
}

/* Between the objects are blanks, commas and the brackets of the array; and zeros, where a process
 * ended before it had blanked its part. */
static bool is_between(char c)
{
    return c == ' ' || c == '\n' || c == ',' || c == '[' || c == ']' || c == '\0' || c == '\r' ||
           c == '\t';
}

static void drop_what_was_read(struct zeta_trace_reader *reader)
{
    (void)madvise((void *)(uintptr_t)(reader->data + reader->dropped), KEPT_BYTES, MADV_DONTNEED);
    reader->dropped += KEPT_BYTES;
}

bool zeta_trace_reader_next(struct zeta_trace_reader *reader, struct zeta_trace_line *out_line)
{
    if (reader->is_mapped && reader->at - reader->dropped > 2 * KEPT_BYTES)
        drop_what_was_read(reader);
    while (reader->at < reader->size) {
        const char *at = reader->data + reader->at;

        if (is_between(*at)) {
            reader->at++;
            continue;
        }
        if (zeta_trace_line_read(at, reader->size - reader->at, out_line)) {
            reader->at += out_line->text.size;
            return true;
        }
        /* A line that is cut: what follows it begins on a line of its own. */
        const char *end = memchr(at, '\n', reader->size - reader->at);

        reader->damaged++;
        reader->at = end ? (size_t)(end - reader->data) : reader->size;
    }
    return false;
}

void zeta_trace_reader_close(struct zeta_trace_reader *reader)
{
    if (reader->is_mapped)
        (void)munmap((void *)(uintptr_t)reader->data, reader->size);
    zeta_trace_reader_init(reader, "", 0);
}
