#include "sdk/tools/zeta/output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/container.h>

#include "sdk/tools/zeta/output/message.h"

struct json_object *zeta_json_new_document(const char *schema)
{
    struct json_object *document = json_object_new_object();

    zeta_need_memory(document != NULL);
    zeta_json_put_text(document, "schema", schema);
    return document;
}

void zeta_json_put_text(struct json_object *object, const char *key, const char *text)
{
    (void)json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

void zeta_json_put_u64(struct json_object *object, const char *key, uint64_t value)
{
    (void)json_object_object_add(object, key, json_object_new_uint64(value));
}

void zeta_json_put_i64(struct json_object *object, const char *key, int64_t value)
{
    (void)json_object_object_add(object, key, json_object_new_int64(value));
}

void zeta_json_put_bool(struct json_object *object, const char *key, bool value)
{
    (void)json_object_object_add(object, key, json_object_new_boolean(value));
}

void zeta_json_put_number(struct json_object *object, const char *key, struct zeta_number number)
{
    struct json_object *value = NULL;
    char text[ZETA_NUMBER_TEXT_BYTES];

    if (number.kind == ZETA_NUMBER_U64)
        value = json_object_new_uint64(number.u64);
    else if (number.kind == ZETA_NUMBER_F64 && isfinite(number.f64)) {
        zeta_number_format_exact(number, text);
        value = json_object_new_double_s(number.f64, text);
    }
    (void)json_object_object_add(object, key, value);
}

struct json_object *zeta_json_put_object(struct json_object *object, const char *key)
{
    struct json_object *member = json_object_new_object();

    (void)json_object_object_add(object, key, member);
    return member;
}

struct json_object *zeta_json_put_array(struct json_object *object, const char *key)
{
    struct json_object *array = json_object_new_array();

    (void)json_object_object_add(object, key, array);
    return array;
}

struct json_object *zeta_json_append_array(struct json_object *array)
{
    struct json_object *member = json_object_new_array();

    (void)json_object_array_add(array, member);
    return member;
}

void zeta_json_append_text(struct json_object *array, const char *text)
{
    (void)json_object_array_add(array, json_object_new_string(text));
}

void zeta_json_append_u64(struct json_object *array, uint64_t value)
{
    (void)json_object_array_add(array, json_object_new_uint64(value));
}

struct json_object *zeta_json_append_object(struct json_object *array)
{
    struct json_object *object = json_object_new_object();

    (void)json_object_array_add(array, object);
    return object;
}

void zeta_json_write(struct json_object *document, FILE *file)
{
    const char *text =
        json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                     JSON_C_TO_STRING_NOSLASHESCAPE);

    (void)fputs(text, file);
    (void)fputc('\n', file);
}

void zeta_json_write_html(struct json_object *document, FILE *file)
{
    const char *text = json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN |
                                                                    JSON_C_TO_STRING_NOSLASHESCAPE);

    for (; *text; text++) {
        if (strchr("<>&'", *text))
            (void)fprintf(file, "\\u%04x", (unsigned char)*text);
        else
            (void)fputc(*text, file);
    }
    (void)fputc('\n', file);
}

/* Regular files of this command, under whatever names: what it reads, and the outputs so far. */
static struct taken {
    dev_t device;
    ino_t inode;
    bool is_input;
} * taken;
static size_t taken_count;

static const struct taken *find_taken(const struct stat *about)
{
    for (size_t i = 0; i < taken_count; i++) {
        if (taken[i].device == about->st_dev && taken[i].inode == about->st_ino)
            return &taken[i];
    }
    return NULL;
}

static int take(const struct stat *about, bool is_input)
{
    taken = zeta_reallocate(taken, taken_count + 1, sizeof(*taken));
    taken[taken_count++] = (struct taken){about->st_dev, about->st_ino, is_input};
    return ZETA_EXIT_OK;
}

int zeta_output_protect(const char *path)
{
    struct stat about;
    struct stat standard;

    /* The reader reports what is wrong with it. */
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return ZETA_EXIT_OK;
    if (fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == about.st_dev &&
        standard.st_ino == about.st_ino)
        return zeta_print_failure("cannot write the standard output to %s: this command reads that "
                                  "file; send the output elsewhere",
                                  path);
    return take(&about, true);
}

static int refuse_input(const char *path)
{
    return zeta_print_failure(
        "cannot write %s: this command reads it; name another file for the output", path);
}

int zeta_output_check_input(const char *path)
{
    const struct taken *found;
    struct stat about;

    if (stat(path, &about) != 0)
        return ZETA_EXIT_OK;
    found = find_taken(&about);
    return found && found->is_input ? refuse_input(path) : ZETA_EXIT_OK;
}

static bool is_recording(const char *path)
{
    struct zeta_container_problem problem;
    struct zeta_container_reader *reader = NULL;
    enum zeta_container_result result = zeta_container_open_file(path, &problem, &reader);

    zeta_container_reader_destroy(reader);
    return result == ZETA_CONTAINER_OK || result == ZETA_CONTAINER_DAMAGED ||
           result == ZETA_CONTAINER_NEWER;
}

/* Whether results may go into a file that was opened; else prints why not. */
static int claim(int fd, const char *path)
{
    const struct taken *found;
    struct stat about;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return ZETA_EXIT_OK;
    found = find_taken(&about);
    if (found)
        return found->is_input ? refuse_input(path)
                               : zeta_print_failure(
                                     "cannot write two outputs to %s; name a file for each", path);
    if (about.st_size > 0 && is_recording(path))
        return zeta_print_failure("cannot write %s: it has a recording or exported data; remove "
                                  "it, or name another file for the output",
                                  path);
    return take(&about, false);
}

int zeta_output_open(const char *path, FILE **out_file)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool is_claimed = fd >= 0 && claim(fd, path) == ZETA_EXIT_OK;

    *out_file = is_claimed ? fdopen(fd, "w") : NULL;
    if (*out_file)
        return ZETA_EXIT_OK;
    if (fd < 0 || is_claimed)
        (void)zeta_print_failure("cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return ZETA_EXIT_FAILED;
}

void zeta_output_begin(FILE *file)
{
    if (ftruncate(fileno(file), 0) != 0)
        return;
}

int zeta_output_close(FILE *file, const char *path)
{
    const bool had_error = file && ferror(file) != 0;

    if (!file || (fclose(file) == 0 && !had_error))
        return ZETA_EXIT_OK;
    return zeta_print_failure("cannot write all of %s: %s", path, strerror(errno));
}

int zeta_output_put_json(const char *path, struct json_object *document)
{
    const bool has_path = path && strcmp(path, "-") != 0;
    FILE *file = stdout;
    int status = has_path ? zeta_output_open(path, &file) : ZETA_EXIT_OK;

    if (status == ZETA_EXIT_OK) {
        if (has_path)
            zeta_output_begin(file);
        zeta_json_write(document, file);
        if (has_path)
            status = zeta_output_close(file, path);
    }
    (void)json_object_put(document);
    return status;
}
