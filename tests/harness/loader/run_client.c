#include "run_client.h"
#include "tests/support/compare.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIBZETA ZETA_BUILD_DIR "/lib/libzeta.so.0"
#define COPY ZETA_BUILD_DIR "/lib/libzeta-copy.so"
#define GENERATED ZETA_BUILD_DIR "/tests/harness/loader/"

const char libzeta[] = LIBZETA;
const char libzeta_and_copy[] = LIBZETA "," COPY;
const char libzeta_and_nothing[] = LIBZETA ", " COPY;
const char other_driver[] = GENERATED "libze_other.so";
const char other_driver_and_libzeta[] = GENERATED "libze_other.so," LIBZETA;
const char standin[] = GENERATED "libze_standin.so";

/* Never returns. */
static void become(const char *program, const char *argument, const char *const *variables,
                   FILE *out, FILE *err)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/tests/%s", ZETA_BUILD_DIR, program);
    for (; variables[0]; variables += 2)
        (void)setenv(variables[0], variables[1], 1);
    (void)dup2(fileno(out), STDOUT_FILENO);
    (void)dup2(fileno(err), STDERR_FILENO);
    (void)execl(path, program, argument, (char *)NULL);
    (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

/* Prints what a program wrote; gives the number of bytes. */
static long show(const char *what, FILE *file, int always)
{
    char text[8192];
    size_t length;
    long size;

    (void)fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    if (length > 0 && always)
        print_error("%s: %s\n", what, text);
    (void)fclose(file);
    return size;
}

void run_client(const char *program, const char *argument, const char *const *variables)
{
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    int status = 0;
    pid_t child;
    long written;

    assert_non_null(out);
    assert_non_null(err);
    child = fork();
    assert_cmp(child, >=, 0);
    if (child == 0)
        become(program, argument, variables, out, err);
    assert_int_equal(waitpid(child, &status, 0), child);
    written = show("standard output", out, 1);
    (void)show("standard error", err, status != 0);
    if (status != 0)
        fail_msg("%s %s: wait status 0x%x", program, argument, (unsigned)status);
    if (written != 0)
        fail_msg("%s %s wrote %ld bytes to standard output", program, argument, written);
}
