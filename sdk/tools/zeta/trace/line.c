#include "sdk/tools/zeta/trace/line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/tools/zeta/output/message.h"

/* Deeper than anything that libzeta writes. */
enum { MOST_LEVELS = 16 };

/* A number that is not negative, else 0. */
static uint64_t get_number(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0
               ? json_object_get_uint64(value)
               : 0;
}

/* Microseconds with decimals: from the digits, as a double does not have that many. */
static uint64_t get_ns(struct json_object *value)
{
    const char *at;
    uint64_t ns = 0;
    uint64_t unit = 100;

    if (json_object_is_type(value, json_type_int))
        return get_number(value) < UINT64_MAX / 1000 ? get_number(value) * 1000 : 0;
    if (!json_object_is_type(value, json_type_double))
        return 0;
    for (at = json_object_get_string(value); at && *at >= '0' && *at <= '9'; at++) {
        if (ns > UINT64_MAX / 10000 - 1)
            return 0;
        ns = ns * 10 + (uint64_t)(*at - '0');
    }
    ns *= 1000;
    if (at && *at == '.') {
        for (at++; *at >= '0' && *at <= '9' && unit > 0; at++, unit /= 10)
            ns += unit * (uint64_t)(*at - '0');
    }
    return ns;
}

static const char *get_text(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

/* json-c takes line feeds and other control characters in strings, and is right to do so. */
static bool has_control_characters(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ' && text[i] != '\t' && text[i] != '\r')
            return true;
    }
    return false;
}

bool zeta_trace_line_read(const char *text, size_t size, struct zeta_trace_line *line)
{
    const char *end = size > 0 && text[0] == '{' ? memchr(text, '\n', size) : text;
    struct json_object *object;
    struct json_tokener *tokener = line->tokener;

    (void)json_object_put(line->object);
    if (!tokener) {
        tokener = json_tokener_new_ex(MOST_LEVELS);
        if (tokener)
            json_tokener_set_flags(tokener,
                                   JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    }
    *line = (struct zeta_trace_line){.text = text, .category = "", .name = "", .tokener = tokener};
    if (!tokener || end == text)
        return false;
    if (end)
        size = (size_t)(end - text);
    if (size > INT_MAX)
        return false;
    json_tokener_reset(tokener);
    line->object = object = json_tokener_parse_ex(tokener, text, (int)size);
    if (!object)
        return false;
    line->size = json_tokener_get_parse_end(tokener);
    if (has_control_characters(text, line->size))
        return false;
    line->phase = get_text(json_object_object_get(object, "ph"))[0];
    line->pid = get_number(json_object_object_get(object, "pid"));
    line->tid = get_number(json_object_object_get(object, "tid"));
    line->begin_ns = get_ns(json_object_object_get(object, "ts"));
    line->duration_ns = get_ns(json_object_object_get(object, "dur"));
    line->category = get_text(json_object_object_get(object, "cat"));
    line->name = get_text(json_object_object_get(object, "name"));
    line->arguments = json_object_object_get(object, "args");
    if (!json_object_is_type(line->arguments, json_type_object))
        line->arguments = NULL;
    return true;
}

const char *zeta_trace_line_argument(const struct zeta_trace_line *line, const char *name)
{
    return json_object_get_string(json_object_object_get(line->arguments, name));
}

void zeta_trace_line_finish(struct zeta_trace_line *line)
{
    (void)json_object_put(line->object);
    if (line->tokener)
        json_tokener_free(line->tokener);
    *line = (struct zeta_trace_line){0};
}

/* ---- the reader ---------------------------------------------------------------------------- */

#define CHROME_HEAD "{\"displayTimeUnit\""

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
    return c == ' ' || c == '\n' || c == ',' || c == '[' || c == ']' || c == '}' || c == '\0' ||
           c == '\r' || c == '\t';
}

static void drop_what_was_read(struct zeta_trace_reader *reader)
{
    (void)madvise((void *)(uintptr_t)(reader->data + reader->dropped), KEPT_BYTES, MADV_DONTNEED);
    reader->dropped += KEPT_BYTES;
}

bool zeta_trace_reader_next(struct zeta_trace_reader *reader, struct zeta_trace_line *line)
{
    if (reader->is_mapped && reader->at - reader->dropped > 2 * KEPT_BYTES)
        drop_what_was_read(reader);
    while (reader->at < reader->size) {
        const char *at = reader->data + reader->at;

        if (is_between(*at)) {
            reader->at++;
            continue;
        }
        if (zeta_trace_line_read(at, reader->size - reader->at, line)) {
            reader->at += line->size;
            reader->lines++;
            return true;
        }
        /* A line that is cut: what follows it begins on a line of its own. */
        const char *end = memchr(at, '\n', reader->size - reader->at);

        /* What zeta trace -o FILE.json puts in front of the lines is no damage. */
        reader->damaged += reader->size - reader->at < strlen(CHROME_HEAD) ||
                           memcmp(at, CHROME_HEAD, strlen(CHROME_HEAD)) != 0;
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
