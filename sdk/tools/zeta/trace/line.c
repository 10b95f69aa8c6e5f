/* Names, and lines as json-c reads them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/line.h"

bool zeta_name_table_get(struct zeta_name_table *table, const char *name, uint32_t *out_number)
{
    void *number = NULL;

    if (!table->numbers)
        table->numbers = lh_kchar_table_new(64, NULL);
    zeta_need_memory(table->numbers != NULL);
    if (lh_table_lookup_ex(table->numbers, name, &number)) {
        *out_number = (uint32_t)(uintptr_t)number;
        return false;
    }
    /* Full at every power of two. */
    if ((table->count & (table->count - 1)) == 0)
        table->names =
            zeta_reallocate(table->names, 2 * (size_t)table->count, sizeof(*table->names));
    table->names[table->count] = zeta_format("%s", name);
    zeta_need_memory(lh_table_insert(table->numbers, table->names[table->count],
                                     (void *)(uintptr_t)table->count) == 0);
    *out_number = table->count++;
    return true;
}

void zeta_name_table_finish(struct zeta_name_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->names[i]);
    free(table->names);
    if (table->numbers)
        lh_table_free(table->numbers);
    *table = (struct zeta_name_table){0};
}

/* Deeper than anything that libzeta writes. */
enum { MOST_LEVELS = 16 };

/* A number that is not negative, else 0. */
static uint64_t get_number(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0
               ? json_object_get_uint64(value)
               : 0;
}

/* Microseconds with decimals: from the digits as they were read, for a double has too few. */
static uint64_t get_ns(struct json_object *value)
{
    const char *at;
    uint64_t ns = 0;
    uint64_t unit = 100;

    if (json_object_is_type(value, json_type_int))
        return get_number(value) < UINT64_MAX / 1000 ? get_number(value) * 1000 : 0;
    if (!json_object_is_type(value, json_type_double))
        return 0;
    for (at = json_object_get_userdata(value); at && *at >= '0' && *at <= '9'; at++) {
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

/*
 * Also when it is strict, json-c takes control characters in strings, names between single quotes,
 * NaN and Infinity.
 */
static bool is_strict(const char *text, size_t size)
{
    bool is_string = false;

    for (size_t i = 0; i < size; i++) {
        if (((unsigned char)text[i] < ' ' && text[i] != '\t' && text[i] != '\r') ||
            (!is_string && (text[i] == '\'' || text[i] == 'N' || text[i] == 'I')))
            return false;
        if (text[i] == '"')
            is_string = !is_string;
        else if (text[i] == '\\')
            i++;
    }
    return true;
}

bool zeta_trace_line_read(const char *text, size_t size, struct zeta_trace_line *line)
{
    const char *end = size > 0 && text[0] == '{' ? memchr(text, '\n', size) : text;
    struct json_tokener *tokener = line->tokener;

    (void)json_object_put(line->object);
    if (!tokener) {
        tokener = json_tokener_new_ex(MOST_LEVELS);
        if (tokener)
            json_tokener_set_flags(tokener,
                                   JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    }
    *line = (struct zeta_trace_line){.text = text, .category = "", .name = "", .tokener = tokener};
    if (end)
        size = (size_t)(end - text);
    if (!tokener || end == text || size > INT_MAX)
        return false;
    json_tokener_reset(tokener);
    line->object = json_tokener_parse_ex(tokener, text, (int)size);
    line->size = json_tokener_get_parse_end(tokener);
    if (!line->object || !is_strict(text, line->size))
        return false;
    json_object_object_foreach(line->object, key, value)
    {
        const bool is_text = json_object_is_type(value, json_type_string);

        if (strcmp(key, "ph") == 0)
            line->phase = is_text ? json_object_get_string(value)[0] : '\0';
        else if (strcmp(key, "pid") == 0)
            line->pid = get_number(value);
        else if (strcmp(key, "tid") == 0)
            line->tid = get_number(value);
        else if (strcmp(key, "ts") == 0)
            line->begin_ns = get_ns(value);
        else if (strcmp(key, "dur") == 0)
            line->duration_ns = get_ns(value);
        else if (strcmp(key, "cat") == 0 && is_text)
            line->category = json_object_get_string(value);
        else if (strcmp(key, "name") == 0 && is_text)
            line->name = json_object_get_string(value);
        else if (strcmp(key, "args") == 0 && json_object_is_type(value, json_type_object))
            line->arguments = value;
    }
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
    void *data;
    int error = 0;

    zeta_trace_reader_init(reader, "", 0);
    if (fd < 0 || fstat(fd, &status) != 0) {
        error = errno;
    } else if (!S_ISREG(status.st_mode)) {
        error = EINVAL;
    } else if (status.st_size > 0) {
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            error = errno;
        else
            *reader = (struct zeta_trace_reader){
                .data = data, .size = (size_t)status.st_size, .is_mapped = true};
    }
    if (fd >= 0)
        (void)close(fd);
    return error ? zeta_print_failure("cannot read %s: %s", path, strerror(error)) : ZETA_EXIT_OK;
}

bool zeta_trace_reader_next(struct zeta_trace_reader *reader, struct zeta_trace_line *line)
{
    if (reader->is_mapped && reader->at - reader->dropped > 2 * KEPT_BYTES) {
        (void)madvise((void *)(uintptr_t)(reader->data + reader->dropped), KEPT_BYTES,
                      MADV_DONTNEED);
        reader->dropped += KEPT_BYTES;
    }
    while (reader->at < reader->size) {
        const char *at = reader->data + reader->at;

        /* Between the objects are blanks, commas and the brackets of the array; and zeros, where a
         * process ended before it had blanked its part. */
        if (strchr(" \n\r\t,[]}", *at)) {
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
