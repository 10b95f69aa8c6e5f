/*
 * How the calls of a test reach the library: directly, or through a loader that is preloaded.
 *
 * The same test program runs in every mode (tests/harness/variants.cmake); the variable
 * HARNESS_MODE says which. A case that cannot hold in a mode says so in its first line:
 *
 *   skip_in(HARNESS_VALIDATION, "the layer refuses flags that are newer than it");
 */
#ifndef ZETA_TESTS_HARNESS_MODE_H
#define ZETA_TESTS_HARNESS_MODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** Modes as bits; HARNESS_DIRECT when no other one is set. */
enum harness_mode {
    HARNESS_DIRECT = 1u << 0,
    HARNESS_LOADER = 1u << 1, /**< the installed loader; functions newer than it stay direct */
    HARNESS_VALIDATION =
        1u << 2,                 /**< its validation layer checks arguments (with HARNESS_LOADER) */
    HARNESS_NEWLOADER = 1u << 3, /**< the stand-in for the newest loader, one driver, direct mode */
    HARNESS_WRAPPED = 1u << 4,   /**< the stand-in wraps every handle (with HARNESS_NEWLOADER) */
    HARNESS_DDI = 1u << 5,       /**< it dispatches through handles (with HARNESS_NEWLOADER) */
};

/** Any loader between the test and the library. */
#define HARNESS_ANY_LOADER (HARNESS_LOADER | HARNESS_NEWLOADER)

/** A loader that reads the memory behind every handle, so a bad one ends the process. */
#define HARNESS_READS_HANDLES (HARNESS_WRAPPED | HARNESS_DDI)

/** The bits of this process, from HARNESS_MODE: words separated by colons. */
static inline unsigned harness_mode(void)
{
    static const struct {
        const char *word;
        unsigned bit;
    } words[] = {{"loader", HARNESS_LOADER},
                 {"validation", HARNESS_VALIDATION},
                 {"newloader", HARNESS_NEWLOADER},
                 {"wrapped", HARNESS_WRAPPED},
                 {"ddi", HARNESS_DDI}};
    const char *text = getenv("HARNESS_MODE");
    unsigned mode = 0;

    while (text && *text) {
        size_t length = strcspn(text, ":");

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            if (strlen(words[i].word) == length && memcmp(text, words[i].word, length) == 0)
                mode |= words[i].bit;
        }
        text += text[length] ? length + 1 : length;
    }
    return mode ? mode : (unsigned)HARNESS_DIRECT;
}

/** Skips the cmocka case in these modes and prints the reason. */
#define skip_in(modes, reason)                                                                     \
    do {                                                                                           \
        if (harness_mode() & (unsigned)(modes)) {                                                  \
            print_message("skipped in mode %s: %s\n", getenv("HARNESS_MODE"), (reason));           \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

#endif
