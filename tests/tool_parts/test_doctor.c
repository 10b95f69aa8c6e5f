/*
 * How zeta doctor reads a program's file, and what it knows of variables. Seeds of the fuzz target
 * are small programs; the command is a real one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "tests/support/suite.h"

#define ZETA_COMMAND ZETA_BUILD_DIR "/bin/zeta"
#define SEEDS ZETA_SOURCE_DIR "/tests/fuzz/seeds/program/"

static enum zeta_doctor_link link_of(const char *path, size_t cut)
{
    static unsigned char bytes[4096];
    FILE *file = fopen(path, "rb");
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    return zeta_doctor_read_link(bytes, size - (cut < size ? cut : size));
}

/* Rule 20.17. */
static void link__of_small_programs__is_read(void **state)
{
    (void)state;
#if defined(__x86_64__)
    assert_int_equal(link_of(SEEDS "loader", 0), ZETA_DOCTOR_LINK_LOADER);
    assert_int_equal(link_of(SEEDS "zeta", 0), ZETA_DOCTOR_LINK_ZETA);
    assert_int_equal(link_of(SEEDS "neither", 0), ZETA_DOCTOR_LINK_UNKNOWN);
    assert_int_equal(link_of(SEEDS "strings_outside", 0), ZETA_DOCTOR_LINK_UNKNOWN);
    assert_int_equal(link_of(SEEDS "static", 0), ZETA_DOCTOR_LINK_STATIC);
#endif
    assert_int_equal(link_of(SEEDS "script", 0), ZETA_DOCTOR_LINK_SCRIPT);
    assert_int_equal(link_of(SEEDS "text", 0), ZETA_DOCTOR_LINK_FOREIGN);
    assert_int_equal(zeta_doctor_read_link(NULL, 0), ZETA_DOCTOR_LINK_FOREIGN);
}

/* The names are the last bytes, so each byte that is missing may be one that is wanted. */
static void link__of_a_cut_program__is_an_answer(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 400; cut++)
        assert_in_range(link_of(SEEDS "zeta", cut), ZETA_DOCTOR_LINK_UNKNOWN,
                        ZETA_DOCTOR_LINK_FOREIGN);
}

/* Rule 20.17. */
static void program__zeta__is_linked_to_libzeta(void **state)
{
    struct zeta_doctor_program program = {0};

    (void)state;
    zeta_doctor_check_program(&program, ZETA_COMMAND);
    assert_string_equal(program.path, ZETA_COMMAND);
    assert_int_equal(program.link, ZETA_DOCTOR_LINK_ZETA);
    assert_false(program.is_privileged);
    free(program.path);
}

static void program__along_path__is_found(void **state)
{
    struct zeta_doctor_program program = {0};

    (void)state;
    zeta_doctor_check_program(&program, "sh");
    assert_non_null(program.path);
    assert_int_equal(program.link, ZETA_DOCTOR_LINK_UNKNOWN);
    free(program.path);
    program = (struct zeta_doctor_program){0};
    zeta_doctor_check_program(&program, "no-such-program-of-ours");
    assert_null(program.path);
    zeta_doctor_check_program(&program, "/etc");
    assert_null(program.path);
}

static const struct zeta_doctor_variable *variable(const struct zeta_doctor *doctor,
                                                   const char *text)
{
    for (size_t i = 0; i < doctor->variable_count; i++) {
        if (strcmp(doctor->variables[i].text, text) == 0)
            return &doctor->variables[i];
    }
    return NULL;
}

static void variables__of_level_zero__are_listed_with_their_meaning(void **state)
{
    struct zeta_doctor doctor = {0};

    (void)state;
    assert_int_equal(setenv("ZE_AFFINITY_MASK", "0", 1), 0);
    assert_int_equal(setenv("ZETA_PLUGIN_VGPU_NAME", "x", 1), 0);
    assert_int_equal(setenv("ZETA_TRACEX", "1", 1), 0);
    assert_int_equal(setenv("ZENITH", "1", 1), 0);
    zeta_doctor_list_variables(&doctor);
    assert_non_null(variable(&doctor, "ZE_AFFINITY_MASK=0")->meaning);
    assert_string_equal(variable(&doctor, "ZETA_PLUGIN_VGPU_NAME=x")->meaning,
                        "a setting of a plugin");
    /* Longer than a name that is known. */
    assert_null(variable(&doctor, "ZETA_TRACEX=1")->meaning);
    assert_null(variable(&doctor, "ZENITH=1"));
    free(doctor.variables);
}

SUITE(doctor)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link__of_small_programs__is_read),
        cmocka_unit_test(link__of_a_cut_program__is_an_answer),
        cmocka_unit_test(program__zeta__is_linked_to_libzeta),
        cmocka_unit_test(program__along_path__is_found),
        cmocka_unit_test(variables__of_level_zero__are_listed_with_their_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
