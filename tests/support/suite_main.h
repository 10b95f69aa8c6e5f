/*
 * main() of a program of suites. Included by the file that tests.cmake writes for each program,
 * which defines SUITES as X(name) for each of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define X(name) int suite_##name(void);
SUITES
#undef X

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } suites[] = {
#define X(name) {#name, suite_##name},
        SUITES
#undef X
    };

    for (size_t i = 0; argc >= 2 && i < sizeof(suites) / sizeof(suites[0]); i++) {
        if (strcmp(suites[i].name, argv[1]) == 0) {
            if (argc > 2)
                cmocka_set_test_filter(argv[2]);
            return suites[i].run();
        }
    }
    (void)fprintf(stderr, "usage: %s SUITE [CASES, a pattern as *fork*]; suites:", argv[0]);
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        (void)fprintf(stderr, " %s", suites[i].name);
    (void)fprintf(stderr, "\n");
    return 2;
}
