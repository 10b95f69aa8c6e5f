/* Debug information: lines, names and places survive both ways, and nothing that gdb cannot read.
 */
#include "run.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ways[] = {"o0", "spv"};

enum { WAYS = HAS_SPIRV ? 2 : 1 };

/* What llvm-dwarfdump says of corpus/memory; to be freed. */
static char *dump(const char *way, const char *option)
{
    static char program[] = DWARFDUMP;
    char path[512], word[64];
    char *const words[] = {program, word, path, NULL};
    struct run_result result;
    char *text;

    (void)snprintf(path, sizeof(path), "%s/memory.%s.elf", KERNEL_DIR, way);
    (void)snprintf(word, sizeof(word), "%s", option);
    run_program(&result, words, NULL, 0);
    if (run_exit(&result) != 0)
        fail_msg("%s %s: %s%s", option, path, result.output, result.messages);
    text = strdup(result.output);
    run_finish(&result);
    assert_non_null(text);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("there is no %s", part);
}

static void information__both_ways__verifies(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        char *text = dump(ways[i], "--verify");

        assert_has(text, "No errors");
        free(text);
    }
}

static void information__both_ways__version_4(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        char *text = dump(ways[i], "--debug-info");

        assert_has(text, "version = 0x0004");
        assert_null(strstr(text, "version = 0x0005"));
        free(text);
    }
}

/* Rule 23.9. */
static void variables__both_ways__found_at_plain_places(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        char *text = dump(ways[i], "--debug-info");
        const char *parts = strstr(text, "DW_AT_name\t(\"parts\")");

        /* A local array at its address in the window, behind 512 MiB. */
        assert_non_null(parts);
        parts = strstr(parts, "DW_AT_location");
        assert_non_null(parts);
        assert_memory_equal(strchr(parts, '(') + 1, "DW_OP_addr 0x2000", 17);
        assert_has(text, "DW_AT_name\t(\"sum_group\")");
        assert_has(text, "DW_AT_name\t(\"step\")");
        assert_null(strstr(text, "xderef"));
        assert_null(strstr(text, "DW_OP_swap"));
        free(text);
    }
}

/* String literals are variables without a name behind SPIR-V; a debugger crashes over them. */
static void variables__string_literals__have_no_entry(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        static char program[] = DWARFDUMP;
        char path[512], word[] = "--debug-info";
        char *const words[] = {program, word, path, NULL};
        struct run_result result;
        const char *at;

        (void)snprintf(path, sizeof(path), "%s/data.%s.elf", KERNEL_DIR, ways[i]);
        run_program(&result, words, NULL, 0);
        assert_int_equal(run_exit(&result), 0);
        at = result.output;
        while (i == 1 && (at = strstr(at, "DW_TAG_variable\n")) != NULL) {
            at += strlen("DW_TAG_variable\n");
            while (*at == ' ')
                at++;
            /* One that names another entry has its name there. */
            if (strncmp(at, "DW_AT_name", 10) != 0 && strncmp(at, "DW_AT_location", 14) != 0 &&
                strncmp(at, "DW_AT_abstract_origin", 21) != 0)
                fail_msg("a variable without a name: %.80s", at);
        }
        run_finish(&result);
    }
}

static void lines__both_ways__of_the_source(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        char *text = dump(ways[i], "--debug-line");

        assert_has(text, "memory.cl");
        assert_has(text, "is_stmt");
        free(text);
    }
}

SUITE(debug)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information__both_ways__verifies),
        cmocka_unit_test(information__both_ways__version_4),
        cmocka_unit_test(variables__both_ways__found_at_plain_places),
        cmocka_unit_test(variables__string_literals__have_no_entry),
        cmocka_unit_test(lines__both_ways__of_the_source),
    };

    if (!strstr(DWARFDUMP, "dwarfdump")) {
        print_message("skipped: no llvm-dwarfdump-15 (package llvm-15)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
