/* Modules that take functions and variables from each other. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/vgpu/rig.h"

static const char taker[] = "extern global int table[4];\n"
                            "int twice(int value);\n"
                            "extern global int *global where;\n"
                            "int own(int a) { return a + 1; }\n"
                            "kernel void k(global int *out)\n"
                            "{\n"
                            "    int i = (int)get_global_id(0);\n"
                            "    out[i] = own(twice(i)) + table[i];\n"
                            "    if (i == 0)\n"
                            "        where = &table[3];\n"
                            "}\n";

static const char giver[] = "global int table[4] = {100, 200, 300, 400};\n"
                            "global int *global where;\n"
                            "int twice(int value) { return value * 2; }\n"
                            "kernel void other(global int *out) { *out = *where; }\n";

static void compile(const char *name, const char *text, const char *target, const char *note)
{
    struct run_result result;

    if (CC(&result, run_file(name, text), "-o", run_path(target)) != 0)
        fail_msg("%s", result.messages);
    if (note ? !strstr(result.messages, note) : result.messages[0] != '\0')
        fail_msg("messages: %s", result.messages);
    run_finish(&result);
}

/* Two images and an engine on one space. */
struct pair {
    struct rig rig; /* with the giver's image */
    struct zeta_vgpu_image *taker;
};

static struct pair *open_pair(const char *first, const char *second)
{
    struct zeta_vgpu_engine_config config = rig_config(1);
    struct pair *pair = calloc(1, sizeof(*pair));
    struct zeta_vgpu_message message = {""};
    size_t size;
    void *file;

    assert_non_null(pair);
    rig_open_path(&pair->rig, run_path(second), &config);
    file = rig_read_file(run_path(first), &size);
    if (zeta_vgpu_image_create(pair->rig.space, file, size, &message, &pair->taker) != ZETA_VGPU_OK)
        fail_msg("%s", message.text);
    free(file);
    return pair;
}

static void close_pair(struct pair *pair)
{
    zeta_vgpu_image_destroy(pair->taker);
    rig_close(&pair->rig);
    free(pair);
}

static enum zeta_vgpu_result run_kernel(struct pair *pair, const struct zeta_vgpu_image *image,
                                        const char *name, uint32_t items)
{
    void *out = pair->rig.memory;
    struct zeta_vgpu_launch launch = {
        .image = image,
        .kernel = zeta_vgpu_image_find_kernel(image, name),
        .arguments = &out,
        .group_count = {1, 1, 1},
        .group_size = {items, 1, 1},
    };

    assert_non_null(launch.kernel);
    return zeta_vgpu_engine_launch(pair->rig.engine, &launch, &pair->rig.fault);
}

static bool is_among(const char *name, const char *const *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0)
            return true;
    }
    return false;
}

/* Rule 23.6. */
static void import__functions_and_variables__bound_by_a_link(void **state)
{
    struct zeta_vgpu_image *images[2];
    const char *const *imports;
    struct pair *pair;
    uint32_t count;
    int32_t *out;

    (void)state;
    compile("taker.cl", taker, "taker.elf", "note: twice is not defined");
    compile("giver.cl", giver, "giver.elf", NULL);
    pair = open_pair("taker.elf", "giver.elf");
    imports = zeta_vgpu_image_imports(pair->taker, &count);
    assert_int_equal(count, 3);
    assert_true(is_among("twice", imports, count));
    assert_true(is_among("table", imports, count));
    assert_true(is_among("where", imports, count));
    images[0] = pair->taker;
    images[1] = pair->rig.image;
    assert_int_equal(zeta_vgpu_image_link(images, 2, NULL, NULL), ZETA_VGPU_OK);
    if (run_kernel(pair, pair->taker, "k", 4) != ZETA_VGPU_OK)
        fail_msg("%s", pair->rig.fault.message.text);
    out = (int32_t *)pair->rig.memory;
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 2 * i + 1 + (i + 1) * 100);
    assert_int_equal(run_kernel(pair, pair->rig.image, "other", 1), ZETA_VGPU_OK);
    assert_int_equal(out[0], 400);
    close_pair(pair);
}

/* Rule 23.6. */
static void export__what_is_offered__no_runtime(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(1);
    struct rig *rig = calloc(1, sizeof(*rig));
    const struct zeta_vgpu_symbol *exports;
    struct zeta_vgpu_symbol kernel;
    const char *names[8] = {NULL};
    uint32_t count;

    (void)state;
    assert_non_null(rig);
    compile("much.cl",
            "float shape(float a) { return a; }\n"
            "static float hidden(float a) { return a; }\n"
            "kernel void k(global float *a) { a[0] = hidden(shape(fmod(sin(a[1]), a[2]))); }\n"
            "global int shared_number = 5;\n",
            "much.elf", NULL);
    rig_open_path(rig, run_path("much.elf"), &config);
    exports = zeta_vgpu_image_exports(rig->image, &count);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++)
        names[i] = exports[i].name;
    assert_true(is_among("shape", names, count));
    assert_true(is_among("shared_number", names, count));
    /* A kernel is not offered, and found all the same. */
    assert_true(zeta_vgpu_image_find_symbol(rig->image, "k", &kernel));
    assert_true(kernel.function);
    rig_close(rig);
    free(rig);
}

/* Calls of an own function must not go to one of the same name elsewhere. Rule 23.6. */
static void export__same_name_in_both__each_uses_its_own(void **state)
{
    struct zeta_vgpu_image *images[2];
    struct pair *pair;

    (void)state;
    compile("first.cl",
            "int far_away(int a);\nint number(void) { return 1; }\n"
            "kernel void k(global int *a) { a[0] = far_away(number()); }\n",
            "first.elf", "far_away");
    compile("second.cl",
            "int number(void) { return 2; }\nint far_away(int a) { return a * 10 + number(); }\n"
            "kernel void other(global int *a) { a[0] = number(); }\n",
            "second.elf", NULL);
    pair = open_pair("first.elf", "second.elf");
    images[0] = pair->taker;
    images[1] = pair->rig.image;
    assert_int_equal(zeta_vgpu_image_link(images, 2, NULL, NULL), ZETA_VGPU_OK);
    assert_int_equal(run_kernel(pair, pair->taker, "k", 1), ZETA_VGPU_OK);
    assert_int_equal(*(int32_t *)pair->rig.memory, 12);
    close_pair(pair);
}

SUITE(import)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import__functions_and_variables__bound_by_a_link),
        cmocka_unit_test(export__what_is_offered__no_runtime),
        cmocka_unit_test(export__same_name_in_both__each_uses_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, run_clean);
}
