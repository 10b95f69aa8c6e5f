/* Debug information: lines, names and places survive both ways, and nothing that gdb cannot read.
 */
#include "run.h"
#include "tests/support/suite.h"
#include "tests/vgpu/rig.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both ways to a kernel file: from OpenCL C, and through SPIR-V. */
static const char *const ways[] = {"memory.o0", "memory.spv"};
static const char *const literals[] = {"data.o0", "data.spv"};

enum { WAYS = HAS_SPIRV ? 2 : 1 };

/* What llvm-dwarfdump says of a kernel file; to be freed. */
static char *dump(const char *file, const char *option)
{
    static char program[] = DWARFDUMP;
    char path[512], word[64];
    char *const words[] = {program, word, path, NULL};
    struct run_result result;
    char *text;

    (void)snprintf(path, sizeof(path), "%s/%s.elf", KERNEL_DIR, file);
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

        (void)snprintf(path, sizeof(path), "%s/%s.elf", KERNEL_DIR, literals[i]);
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

/* ---- SPIR-V that has no debug information ---- */

#if HAS_SPIRV

enum { COMMENT_LINES = 5, LINES_MAX = 65536 };

/* By line of the disassembly: what stands there. */
struct spirv_lines {
    unsigned char is_code[LINES_MAX];    /* an instruction of a function's body */
    unsigned char is_certain[LINES_MAX]; /* a store, which always becomes code */
    unsigned last;
    char name[64];
};

static void read_lines(struct spirv_lines *lines)
{
    enum { FUNCTION = 54, FUNCTION_END = 56, STORE = 62, LABEL = 248 };
    char digest[SHA256_DIGEST_STRING_LENGTH];
    size_t size = 0;
    uint32_t *words = rig_read_file(KERNEL_DIR "/bare.spv", &size);
    unsigned in_body = 0;

    assert_non_null(SHA256Data((const uint8_t *)words, size, digest));
    (void)snprintf(lines->name, sizeof(lines->name), "\"%.16s.spvasm\"", digest);
    lines->last = COMMENT_LINES;
    for (size_t at = 5; at < size / 4; at += words[at] >> 16) {
        const uint32_t opcode = words[at] & 0xffff;

        assert_int_not_equal(words[at] >> 16, 0);
        lines->last++;
        assert_true(lines->last < LINES_MAX);
        if (opcode == FUNCTION || opcode == FUNCTION_END)
            in_body = 0;
        lines->is_code[lines->last] = (unsigned char)(in_body || opcode == FUNCTION);
        lines->is_certain[lines->last] = (unsigned char)(in_body && opcode == STORE);
        if (opcode == LABEL)
            in_body = 1;
    }
    free(words);
}

/* Rule 23.14. */
static void lines__of_bare_spirv__are_those_of_its_disassembly(void **state)
{
    static struct spirv_lines lines;
    char *text = dump("bare.spv", "--debug-line");
    unsigned certain = 0;

    (void)state;
    read_lines(&lines);
    assert_has(text, lines.name);
    for (const char *at = text; (at = strstr(at, "\n0x")) != NULL; at++) {
        unsigned line = 0;

        assert_int_equal(sscanf(at, "\n0x%*x %u", &line), 1);
        if (line == 0)
            continue; /* of no instruction in particular */
        assert_true(line <= lines.last);
        if (!lines.is_code[line])
            fail_msg("line %u is no instruction of a function", line);
        certain += lines.is_certain[line];
        lines.is_certain[line] = 0;
    }
    for (unsigned i = 0; i <= lines.last; i++) {
        if (lines.is_certain[i])
            fail_msg("line %u has no code", i);
    }
    assert_true(certain > 10);
    free(text);
}

/* That will be instrumented, and is optimised. Rule 23.14. */
static void lines__of_bare_spirv_with_profile_flags__are_of_its_functions(void **state)
{
    static struct spirv_lines lines;
    char *text = dump("bare.profile", "--debug-line");
    unsigned found = 0;

    (void)state;
    read_lines(&lines);
    assert_has(text, lines.name);
    for (const char *at = text; (at = strstr(at, "\n0x")) != NULL; at++) {
        unsigned line = 0;

        assert_int_equal(sscanf(at, "\n0x%*x %u", &line), 1);
        assert_true(line <= lines.last);
        if (line > 0 && !lines.is_code[line])
            fail_msg("line %u is no instruction of a function", line);
        found++;
    }
    assert_true(found > 100);
    free(text);
}

static void information__of_bare_spirv__verifies(void **state)
{
    static const char *const files[] = {"bare.spv", "bare.profile"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text = dump(files[i], "--verify");

        assert_has(text, "No errors");
        free(text);
    }
}

/* Functions have their names, and no variable was made up. */
static void information__of_bare_spirv__names_functions(void **state)
{
    char *text = dump("bare.spv", "--debug-info");

    (void)state;
    assert_has(text, "DW_AT_name\t(\"sum_group\")");
    assert_null(strstr(text, "DW_TAG_variable"));
    free(text);
}
#endif

SUITE(debug)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information__both_ways__verifies),
        cmocka_unit_test(information__both_ways__version_4),
        cmocka_unit_test(variables__both_ways__found_at_plain_places),
        cmocka_unit_test(variables__string_literals__have_no_entry),
        cmocka_unit_test(lines__both_ways__of_the_source),
#if HAS_SPIRV
        cmocka_unit_test(lines__of_bare_spirv__are_those_of_its_disassembly),
        cmocka_unit_test(lines__of_bare_spirv_with_profile_flags__are_of_its_functions),
        cmocka_unit_test(information__of_bare_spirv__verifies),
        cmocka_unit_test(information__of_bare_spirv__names_functions),
#endif
    };

    if (!strstr(DWARFDUMP, "dwarfdump")) {
        print_message("skipped: no llvm-dwarfdump-15 (package llvm-15)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
