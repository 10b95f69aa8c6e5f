#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

int zeta_output_open(const char *path, FILE **out_file)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    *out_file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (*out_file)
        return ZETA_EXIT_OK;
    (void)zeta_say_failure("cannot write %s: %s", path, strerror(errno));
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
    const bool had_error = ferror(file) != 0;

    if (fclose(file) == 0 && !had_error)
        return ZETA_EXIT_OK;
    return zeta_say_failure("%s is not complete: %s", path, strerror(errno));
}

void zeta_output_write_json(FILE *file, struct json_object *document)
{
    const char *text =
        json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                     JSON_C_TO_STRING_NOSLASHESCAPE);

    (void)fputs(text, file);
    (void)fputc('\n', file);
}

int zeta_output_put_json(const char *path, struct json_object *document)
{
    FILE *file = stdout;
    int status = ZETA_EXIT_OK;

    if (!document)
        return zeta_say_failure("no memory for the JSON document");
    if (path && strcmp(path, "-") != 0)
        status = zeta_output_open(path, &file);
    if (status == ZETA_EXIT_OK) {
        if (file != stdout)
            zeta_output_begin(file);
        zeta_output_write_json(file, document);
    }
    if (status == ZETA_EXIT_OK && file != stdout)
        status = zeta_output_close(file, path);
    (void)json_object_put(document);
    return status;
}
