/*
 * main() of a program of suites. Included by the file that tests.cmake writes for each program,
 * which defines SUITES as X(name) for each of them.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define X(name) int suite_##name(int argc, char **argv);
SUITES
#undef X

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } suites[] = {
#define X(name) {#name, suite_##name},
        SUITES
#undef X
    };

    for (size_t i = 0; argc >= 2 && i < sizeof(suites) / sizeof(suites[0]); i++) {
        if (strcmp(suites[i].name, argv[1]) == 0)
            return suites[i].run(argc - 1, argv + 1);
    }
    (void)fprintf(stderr, "usage: %s SUITE [CASES, a pattern as *fork*]; suites:", argv[0]);
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        (void)fprintf(stderr, " %s", suites[i].name);
    (void)fprintf(stderr, "\n");
    return 2;
}
