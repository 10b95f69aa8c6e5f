#include "tests/oa/oa_import.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *oa_import_notes(void)
{
    static char path[256];

    if (!path[0])
        (void)snprintf(path, sizeof(path), "%s/tests/oa-import.%d", ZETA_BUILD_DIR, (int)getpid());
    return path;
}

static void remove_notes(void)
{
    (void)unlink(oa_import_notes());
}

/** Everything that a stream gives. */
static char *read_all(FILE *stream)
{
    size_t room = 1 << 16;
    size_t used = 0;
    char *text = malloc(room);

    while (text) {
        size_t got = fread(text + used, 1, room - used - 1, stream);
        char *grown;

        used += got;
        if (got == 0) {
            text[used] = '\0';
            break;
        }
        if (room - used > 1)
            continue;
        room *= 2;
        grown = realloc(text, room);
        if (!grown)
            free(text);
        text = grown;
    }
    return text;
}

/** Starts the importer; reads what it prints. *out_status is that of pclose(). */
static char *run(const char *path, const char *options, int *out_status)
{
    static int registered;
    char command[2048];
    FILE *stream;
    char *text;

    if (!registered++)
        (void)atexit(remove_notes);
    (void)snprintf(command, sizeof(command), "'%s' '%s/bin/zeta-import-oa' %s '%s' 2>'%s'",
                   ZETA_TEST_PYTHON, ZETA_BUILD_DIR, options, path, oa_import_notes());
    stream = popen(command, "r");
    if (!stream)
        return NULL;
    text = read_all(stream);
    *out_status = pclose(stream);
    return text;
}

char *oa_import(const char *path, const char *options)
{
    int status = -1;
    char *text = run(path, options, &status);
    char command[512];

    if (status == 0)
        return text;
    free(text);
    (void)snprintf(command, sizeof(command), "cat '%s' >&2", oa_import_notes());
    (void)!system(command);
    return NULL;
}

int oa_import_fails(const char *path, const char *options)
{
    int status = -1;
    char *text = run(path, options, &status);
    bool silent = text && text[0] == '\0';

    free(text);
    return silent && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
