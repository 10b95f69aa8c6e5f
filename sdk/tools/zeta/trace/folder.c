#include "sdk/tools/zeta/trace/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/trace/line.h"

#define FILTER_VARIABLE "ZETA_TRACE_FILTER"
#define LIMIT_VARIABLE "ZETA_TRACE_LIMIT"

int zeta_trace_folder_make(struct zeta_trace_folder *folder, const char *output_path)
{
    const char *temporary = getenv("TMPDIR");
    const char *slash = output_path ? strrchr(output_path, '/') : NULL;
    const char *place = output_path ? "." : temporary && *temporary ? temporary : "/tmp";
    char *parent = slash ? zeta_format("%.*s", (int)(slash - output_path) + 1, output_path)
                         : zeta_format("%s", place);
    char *absolute = realpath(parent, NULL);
    int status;

    if (!absolute || strstr(absolute, "%p"))
        status = zeta_print_failure("cannot keep files in %s: %s", parent,
                                    absolute ? "its path contains %p" : strerror(errno));
    else
        status = zeta_run_folder_make(&folder->place, absolute, "trace");
    free(parent);
    free(absolute);
    return status;
}

void zeta_trace_folder_build(struct zeta_trace_folder *folder, char **before, const char *filter,
                             const char *limit)
{
    static const char *const dropped[] = {ZETA_TRACE_VARIABLE, FILTER_VARIABLE, LIMIT_VARIABLE,
                                          NULL};

    folder->own[0] = zeta_format(ZETA_TRACE_VARIABLE "=%s/%%p.json", folder->place.path);
    if (filter)
        folder->own[1] = zeta_format(FILTER_VARIABLE "=%s", filter);
    if (limit)
        folder->own[2] = zeta_format(LIMIT_VARIABLE "=%s", limit);
    folder->variables = zeta_environment_copy(before, dropped, folder->own, ZETA_TRACE_VARIABLES);
}

void zeta_trace_folder_finish(struct zeta_trace_folder *folder)
{
    zeta_run_folder_finish(&folder->place);
    for (size_t i = 0; i < ZETA_TRACE_VARIABLES; i++)
        free(folder->own[i]);
    free(folder->variables);
    *folder = (struct zeta_trace_folder){0};
}

/*
 * The file: a head, then parts. A part begins with the call that is under way; finished lines
 * follow it, one behind the other, and then blanks. A part with less room than this is full.
 */
enum { HEAD_BYTES = 4096, PART_BYTES = 64 * 1024, OPEN_BYTES = 2049, FULL_BYTES = 8192 };

struct reading {
    struct zeta_trace_tail *tail;
    int fd;
    const char *name;
    bool is_last;
    zeta_trace_tail_take take;
    void *user;
    struct zeta_trace_line line;
};

/* Bytes behind a line that end it, 0 if it is not finished: a comma and a line feed, or at the end
 * of the whole trace only the line feed. */
static size_t ending(const char *text, size_t size)
{
    if (size > 0 && text[0] == '\n')
        return 1;
    return size > 1 && text[0] == ',' && text[1] == '\n' ? 2 : 0;
}

/*
 * Moves the whole lines of a text to its beginning, each with ",\n" behind it, and stops at a line
 * that is not finished. There is room for one byte behind the text. Gives the bytes of the lines;
 * *out_used is where it stopped.
 */
static size_t gather(struct reading *reading, char *text, size_t size, size_t *out_used)
{
    size_t at = 0;
    size_t end = 0;

    *out_used = 0;
    while (at < size) {
        struct zeta_trace_line *line = &reading->line;
        size_t rest;

        /* Between the lines are blanks, brackets of the array and zeros. */
        if (strchr(" \n\r\t[]", text[at])) {
            at++;
            continue;
        }
        rest = zeta_trace_line_read(text + at, size - at, line)
                   ? ending(text + at + line->size, size - at - line->size)
                   : 0;
        if (rest == 0) {
            reading->tail->broken += reading->is_last;
            break;
        }
        memmove(text + end, text + at, line->size);
        at += line->size + rest;
        end += line->size;
        text[end++] = ',';
        text[end++] = '\n';
        *out_used = at;
        reading->tail->lines++;
    }
    return end;
}

static int read_range(struct reading *reading, uint64_t offset, size_t size, size_t *out_used)
{
    char *buffer = reading->tail->buffer;
    const ssize_t got = pread(reading->fd, buffer, size, (off_t)offset);
    size_t lines;

    *out_used = 0;
    if (got < 0)
        return zeta_print_failure("cannot read the trace %s: %s", reading->name, strerror(errno));
    lines = gather(reading, buffer, (size_t)got, out_used);
    return lines > 0 ? reading->take(reading->user, buffer, lines) : ZETA_EXIT_OK;
}

/* What came into the parts of an open file. */
static int read_file(struct reading *reading, struct zeta_trace_tail_file *file)
{
    struct stat status = {0};
    uint32_t count;
    size_t used = 0;
    int result = ZETA_EXIT_OK;

    if (fstat(reading->fd, &status) != 0)
        return zeta_print_failure("cannot read the trace %s: %s", reading->name, strerror(errno));
    if (status.st_size < HEAD_BYTES)
        return ZETA_EXIT_OK;
    count = (uint32_t)(((uint64_t)status.st_size - HEAD_BYTES + PART_BYTES - 1) / PART_BYTES);
    if (count > file->part_count) {
        uint32_t *grown = realloc(file->used, count * sizeof(*grown));

        if (!grown)
            return zeta_print_failure("no memory to follow the trace %s", reading->name);
        file->used = grown;
        while (file->part_count < count)
            file->used[file->part_count++] = OPEN_BYTES;
    }
    /* The head also counts what was lost, so it is taken again at the end. */
    if (!file->has_head || reading->is_last)
        result = read_range(reading, 0, HEAD_BYTES, &used);
    file->has_head = file->has_head || used > 0;
    for (uint32_t i = 0; i < file->part_count && result == ZETA_EXIT_OK; i++) {
        const uint64_t begin = HEAD_BYTES + (uint64_t)i * PART_BYTES;
        const uint32_t before = file->used[i];

        if (reading->is_last)
            result = read_range(reading, begin, OPEN_BYTES, &used);
        if (result != ZETA_EXIT_OK || PART_BYTES - before < FULL_BYTES)
            continue;
        result = read_range(reading, begin + before, PART_BYTES - before, &used);
        file->used[i] += (uint32_t)used;
    }
    return result;
}

static int read_entry(struct reading *reading, int folder, const char *name)
{
    struct zeta_trace_tail *tail = reading->tail;
    uint32_t at = 0;
    int status;

    while (at < tail->file_count && strcmp(tail->files[at].name, name) != 0)
        at++;
    if (at == tail->file_count) {
        struct zeta_trace_tail_file *files = realloc(tail->files, (at + 1) * sizeof(*files));
        char *copy = strdup(name);

        if (files)
            tail->files = files;
        if (!files || !copy) {
            free(copy);
            return zeta_print_failure("no memory to follow the trace %s", name);
        }
        files[tail->file_count++] = (struct zeta_trace_tail_file){.name = copy};
    }
    reading->name = name;
    reading->fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (reading->fd < 0)
        return zeta_print_failure("cannot read the trace %s: %s", name, strerror(errno));
    status = read_file(reading, &tail->files[at]);
    (void)close(reading->fd);
    return status;
}

int zeta_trace_tail_read(struct zeta_trace_tail *tail, const char *folder, bool is_last,
                         zeta_trace_tail_take take, void *user)
{
    struct reading reading = {.tail = tail, .is_last = is_last, .take = take, .user = user};
    const struct dirent *entry;
    DIR *directory;
    int status = ZETA_EXIT_OK;

    if (!tail->buffer)
        tail->buffer = malloc(PART_BYTES + 1);
    if (!tail->buffer)
        return zeta_print_failure("no memory to follow traces");
    directory = opendir(folder);
    if (!directory)
        return zeta_print_failure("cannot read %s: %s", folder, strerror(errno));
    while (status == ZETA_EXIT_OK && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            status = read_entry(&reading, dirfd(directory), entry->d_name);
    }
    (void)closedir(directory);
    zeta_trace_line_finish(&reading.line);
    return status;
}

void zeta_trace_tail_finish(struct zeta_trace_tail *tail)
{
    for (uint32_t i = 0; i < tail->file_count; i++) {
        free(tail->files[i].name);
        free(tail->files[i].used);
    }
    free(tail->files);
    free(tail->buffer);
    *tail = (struct zeta_trace_tail){0};
}
