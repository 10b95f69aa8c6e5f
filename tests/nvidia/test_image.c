/* Images of modules: what they are, and the kernels that they tell. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/plugin_host.h>

#include "plugins/nvidia/compute/image.h"
#include "tests/support/suite.h"

static enum nvidia_image_kind kind_of(const void *bytes, size_t size)
{
    const char *problem = NULL;
    const enum nvidia_image_kind kind = nvidia_image_kind(bytes, size, &problem);

    if (kind == NVIDIA_IMAGE_UNKNOWN)
        assert_non_null(problem);
    return kind;
}

static void kind__of_texts__is_ptx_if_they_begin_like_it(void **state)
{
    static const char text[] = "// begins with a comment\n/* or\n two */ .version 7.0";

    (void)state;
    assert_int_equal(kind_of(text, sizeof(text) - 1), NVIDIA_IMAGE_PTX);
    assert_int_equal(kind_of(text, sizeof(text)), NVIDIA_IMAGE_PTX); /* with its terminator */
    assert_int_equal(kind_of("\n\t.version", 10), NVIDIA_IMAGE_PTX);
    assert_int_equal(kind_of(".versions", 9), NVIDIA_IMAGE_UNKNOWN);
    assert_int_equal(kind_of("/* no end .version", 18), NVIDIA_IMAGE_UNKNOWN);
    assert_int_equal(kind_of(".version\0 7.0", 13), NVIDIA_IMAGE_UNKNOWN);
    assert_int_equal(kind_of("", 0), NVIDIA_IMAGE_UNKNOWN);
    assert_int_equal(kind_of("\0\0\0\0", 4), NVIDIA_IMAGE_UNKNOWN);
}

static void check_entry(const struct nvidia_image *image, const char *name, uint32_t count,
                        const struct nvidia_parameter *parameters)
{
    const struct nvidia_entry *entry = nvidia_image_find(image, name, strlen(name));

    assert_non_null(entry);
    assert_true(entry->is_told);
    assert_int_equal(entry->parameter_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(entry->parameters[i].offset_bytes, parameters[i].offset_bytes);
        assert_int_equal(entry->parameters[i].size_bytes, parameters[i].size_bytes);
    }
}

static void ptx__parameters_of_any_form__have_their_places(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n"
        "// .visible .entry commented(.param .u64 no)\n"
        ".visible .entry mixed(\n\t.param .u8 a, .param .u64 b,\n"
        "\t.param .align 8 .b8 box[20],\n\t.param .u16 c, .param .f64 d\n)\n.maxntid 64\n{ ret; }\n"
        ".weak .entry hints(.param .u64 .ptr .global .align 4 p, .param .s32 n) { ret; }\n"
        ".entry none() { ret; }\n.entry bare { ret; }\n"
        ".entry strange(.param .pred p) { ret; }";
    static const struct nvidia_parameter mixed[] = {{0, 1}, {8, 8}, {16, 20}, {36, 2}, {40, 8}};
    static const struct nvidia_parameter hints[] = {{0, 8}, {8, 4}};
    struct nvidia_image *image =
        nvidia_image_read(NVIDIA_IMAGE_PTX, (const uint8_t *)text, sizeof(text) - 1);

    (void)state;
    assert_non_null(image);
    assert_int_equal(image->count, 5);
    check_entry(image, "mixed", 5, mixed);
    check_entry(image, "hints", 2, hints);
    check_entry(image, "none", 0, NULL);
    check_entry(image, "bare", 0, NULL);
    assert_false(nvidia_image_find(image, "strange", 7)->is_told);
    assert_null(nvidia_image_find(image, "commented", 9));
    assert_null(nvidia_image_find(image, "mix", 3));
    nvidia_image_free(image);
}

static uint8_t *read_file(const char *path, size_t *out_bytes)
{
    uint8_t *bytes = malloc(1 << 20);
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_non_null(bytes);
    *out_bytes = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

/* What the vendor's assembler makes of PTX has the kernels and arguments of the text. */
/* Reads PTX of a kernel k with three parameters, of 8, 8 and 4 bytes, behind lines. */
static struct nvidia_image *read_noted(const char *lines)
{
    static const char entry[] = ".version 7.0\n.target sm_70\n"
                                ".entry k(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n";
    char text[1024];
    const int size = snprintf(text, sizeof(text), "%s%s", lines, entry);

    assert_in_range(size, 1, sizeof(text) - 1);
    assert_int_equal(kind_of(text, (size_t)size), NVIDIA_IMAGE_PTX);
    return nvidia_image_read(NVIDIA_IMAGE_PTX, (const uint8_t *)text, (size_t)size);
}

static void notes__of_modules_that_are_linked__tell_symbols(void **state)
{
    struct nvidia_image *image = read_noted("//zeta import a$b\n//zeta import\n//zeta export c\n"
                                            "//zeta variable 2 my.x my_x$2 w\n"
                                            "//zeta variable 2 y\n//zeta variable 0 y y c\n"
                                            "//zeta else k\n//zeta kernel k arguments ppv\n");
    const struct nvidia_variable *variable = nvidia_image_variable(image, 2, zeta_string("my.x"));

    (void)state;
    assert_int_equal(image->count, 1);
    assert_non_null(image->entries[0].letters);
    assert_int_equal(image->imports.count, 1);
    assert_true(nvidia_names_have(&image->imports, zeta_string("a$b")));
    assert_false(nvidia_names_have(&image->imports, zeta_string("a")));
    assert_int_equal(image->exports.count, 1);
    assert_int_equal(image->variable_count, 2);
    assert_string_equal(variable->own, "my_x$2");
    assert_true(variable->is_writable);
    assert_null(nvidia_image_variable(image, 0, zeta_string("my.x")));
    assert_false(nvidia_image_variable(image, 0, zeta_string("y"))->is_writable);
    nvidia_image_free(image);
}

static void source__at_the_end__is_found_if_it_is_whole(void **state)
{
    struct nvidia_image_end end = {.magic = NVIDIA_IMAGE_END, .source_bytes = 5}, found;
    uint8_t bytes[8 + sizeof(end)] = "PTXabcde";
    const uint8_t *source = NULL;

    (void)state;
    memcpy(bytes + 8, &end, sizeof(end));
    assert_int_equal(nvidia_image_body(bytes, sizeof(bytes), &source, &found), 3);
    assert_ptr_equal(source, bytes + 3);
    assert_int_equal(found.source_bytes, 5);
    source = NULL;
    assert_int_equal(nvidia_image_body(bytes, sizeof(bytes) - 1, &source, &found),
                     sizeof(bytes) - 1);
    assert_int_equal(nvidia_image_body(bytes, 5, &source, &found), 5);
    end.source_bytes = 9;
    memcpy(bytes + 8, &end, sizeof(end));
    assert_int_equal(nvidia_image_body(bytes, sizeof(bytes), &source, &found), sizeof(bytes));
    assert_null(source);
}

static void notes__before_ptx__tell_its_kernels(void **state)
{
    struct nvidia_image *image = read_noted(
        "//zeta kernel k arguments plv group 8,4,2 attributes vec_type_hint(int) b(1,2)\n"
        "//zeta kernel other arguments -\n//\n");
    const struct nvidia_entry *entry = nvidia_image_find(image, "k", 1);

    (void)state;
    assert_non_null(entry);
    assert_string_equal(entry->letters, "plv");
    assert_string_equal(entry->attributes, "vec_type_hint(int) b(1,2)");
    assert_int_equal(entry->group_size[0], 8);
    assert_int_equal(entry->group_size[1], 4);
    assert_int_equal(entry->group_size[2], 2);
    entry = nvidia_image_find(image, "other", 5);
    assert_non_null(entry);
    assert_string_equal(entry->letters, "");
    assert_null(entry->attributes);
    assert_int_equal(entry->group_size[0], 0);
    nvidia_image_free(image);
}

static void notes__that_do_not_fit__are_comments(void **state)
{
    static const char *const wrong[] = {"//zeta kernel k arguments pp\n",
                                        "//zeta kernel k arguments pppp\n",
                                        "//zeta kernel k arguments ppp\n",
                                        "//zeta kernel k arguments pvl\n",
                                        "//zeta kernel k arguments ovv\n",
                                        "//zeta kernel k arguments pvo\n",
                                        "//zeta kernel k arguments pbv\n",
                                        "//zeta kernel k arguments bbb\n",
                                        "//zeta kernel k arguments p x\n",
                                        "//zeta kernel k arguments\n",
                                        "//zeta kernel k argument pvv\n",
                                        "//zeta kernel k\n",
                                        "//zeta kernel \n",
                                        "//zeta kernels k arguments pvv\n",
                                        "// zeta kernel k arguments pvv\n",
                                        "\n//zeta kernel k arguments pvv\n",
                                        "//zeta kernel kk arguments pvv\n",
                                        "//zeta kernel k arguments pv\303\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct nvidia_image *image = read_noted(wrong[i]);
        const struct nvidia_entry *entry = nvidia_image_find(image, "k", 1);

        assert_non_null(entry);
        if (entry->letters)
            fail_msg("%s was taken", wrong[i]);
        nvidia_image_free(image);
    }
}

static void notes__with_sizes_that_are_none__have_no_sizes(void **state)
{
    static const char *const wrong[] = {"8,4",   "8,4,2,1", "8,,2", "0,1,1",
                                        "a,b,c", "8 4 2",   "8,4,"};
    char line[128];

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        (void)snprintf(line, sizeof(line), "//zeta kernel k arguments plv group %s\n", wrong[i]);
        struct nvidia_image *image = read_noted(line);
        const struct nvidia_entry *entry = nvidia_image_find(image, "k", 1);

        assert_non_null(entry);
        assert_string_equal(entry->letters, "plv");
        assert_int_equal(entry->group_size[0] | entry->group_size[1] | entry->group_size[2], 0);
        nvidia_image_free(image);
    }
}

static void cubin__of_ptxas__tells_what_its_ptx_does(void **state)
{
    static const char source[] = ZETA_SOURCE_DIR "/tests/cuda/kernels/api.ptx";
    char path[] = "/tmp/zeta-cubin-XXXXXX", command[4096];
    struct nvidia_image *texts, *codes;
    uint8_t *text, *code;
    size_t text_bytes, code_bytes;
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    (void)close(file);
    (void)snprintf(command, sizeof(command), "ptxas -arch=sm_90 -o %s %s 2>/dev/null", path,
                   source);
    if (system(command) != 0) {
        (void)unlink(path);
        print_message("skipped: ptxas of a CUDA toolkit is not installed\n");
        skip();
    }
    text = read_file(source, &text_bytes);
    code = read_file(path, &code_bytes);
    (void)unlink(path);
    assert_int_equal(kind_of(code, code_bytes), NVIDIA_IMAGE_CUBIN);
    texts = nvidia_image_read(NVIDIA_IMAGE_PTX, text, text_bytes);
    codes = nvidia_image_read(NVIDIA_IMAGE_CUBIN, code, code_bytes);
    assert_int_equal(codes->count, texts->count);
    for (uint32_t i = 0; i < texts->count; i++)
        check_entry(codes, texts->entries[i].name, texts->entries[i].parameter_count,
                    texts->entries[i].parameters);
    nvidia_image_free(codes);
    nvidia_image_free(texts);
    /* Cut anywhere it is no cubin, or has no sections yet. */
    for (size_t size = 0; size < code_bytes; size += 97) {
        uint8_t *cut = malloc(size + 1);

        memcpy(cut, code, size);
        assert_int_equal(kind_of(cut, size), NVIDIA_IMAGE_UNKNOWN);
        codes = nvidia_image_read(NVIDIA_IMAGE_CUBIN, cut, size);
        assert_int_equal(codes->count, 0);
        nvidia_image_free(codes);
        free(cut);
    }
    free(code);
    free(text);
}

static void fatbin__of_the_toolkit__is_one_as_long_as_it_is_whole(void **state)
{
    static const char command[] =
        "d=$(mktemp -d) && ptxas -arch=sm_90 -o $d/cubin " ZETA_SOURCE_DIR
        "/tests/cuda/kernels/api.ptx 2>/dev/null && fatbinary -64 --create=$d/fatbin "
        "--image3=kind=elf,sm=90,file=$d/cubin >/dev/null 2>&1 && cat $d/fatbin; rm -r $d";
    uint8_t *bytes = malloc(1 << 20);
    FILE *pipe = popen(command, "r");
    size_t size;

    (void)state;
    assert_non_null(bytes);
    assert_non_null(pipe);
    size = fread(bytes, 1, 1 << 20, pipe);
    (void)pclose(pipe);
    if (size > 0)
        assert_int_equal(kind_of(bytes, size), NVIDIA_IMAGE_FATBIN);
    for (size_t cut = 0; cut < size; cut += 97)
        assert_int_equal(kind_of(bytes, cut), NVIDIA_IMAGE_UNKNOWN);
    free(bytes);
    if (size == 0) {
        print_message("skipped: fatbinary of a CUDA toolkit is not installed\n");
        skip();
    }
}

SUITE(image)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind__of_texts__is_ptx_if_they_begin_like_it),
        cmocka_unit_test(ptx__parameters_of_any_form__have_their_places),
        cmocka_unit_test(notes__before_ptx__tell_its_kernels),
        cmocka_unit_test(notes__of_modules_that_are_linked__tell_symbols),
        cmocka_unit_test(source__at_the_end__is_found_if_it_is_whole),
        cmocka_unit_test(notes__that_do_not_fit__are_comments),
        cmocka_unit_test(notes__with_sizes_that_are_none__have_no_sizes),
        cmocka_unit_test(cubin__of_ptxas__tells_what_its_ptx_does),
        cmocka_unit_test(fatbin__of_the_toolkit__is_one_as_long_as_it_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
