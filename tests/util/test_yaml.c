/* The YAML reader: what it builds, and what it refuses where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/yaml.h>

#include "core/util/diagnostic.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static struct zeta_yaml_document *parse(const char *text)
{
    struct zeta_yaml_error error;
    struct zeta_yaml_document *document =
        zeta_yaml_parse(text, strlen(text), "t.yaml", NULL, &error);

    if (!document)
        fail_msg("%s", error.text);
    return document;
}

/** Checks that a text is refused with an error that starts with expected ("t.yaml:2:3: ..."). */
static void refuse_bytes(const char *text, size_t length, const struct zeta_yaml_limits *limits,
                         const char *expected)
{
    struct zeta_diagnostics sink = {0};
    struct zeta_yaml_error error;

    assert_null(zeta_yaml_parse(text, length, "t.yaml", limits, &error));
    assert_int_equal(zeta_diagnose_yaml(&sink, "t.yaml", &error), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 1);
    if (strncmp(sink.first_error, expected, strlen(expected)) != 0)
        fail_msg("expected \"%s\", got \"%s\"", expected, sink.first_error);
}

static void refuse(const char *text, const char *expected)
{
    refuse_bytes(text, strlen(text), NULL, expected);
}

static void parse__nested_file__tree_with_positions(void **state)
{
    (void)state;
    struct zeta_yaml_document *document = parse("# comment\n"
                                                "name: abc\n"
                                                "list:\n"
                                                "  - 1\n"
                                                "  - {at: 0x10, 'quoted': \"2\"}\n");
    const struct zeta_yaml_node *root = zeta_yaml_root(document);
    const struct zeta_yaml_node *list = zeta_yaml_member(root, "list");
    const struct zeta_yaml_node *map = list->first_child->next;
    const struct zeta_yaml_node *at = zeta_yaml_member(map, "at");

    assert_int_equal(root->kind, ZETA_YAML_MAPPING);
    assert_int_equal(root->child_count, 2);
    assert_string_equal(zeta_yaml_member(root, "name")->text, "abc");
    assert_int_equal(zeta_yaml_member(root, "name")->column, 7);
    assert_int_equal(list->kind, ZETA_YAML_SEQUENCE);
    assert_int_equal(list->child_count, 2);
    assert_int_equal(list->key_line, 3);
    assert_int_equal(map->line, 5);
    assert_int_equal(map->column, 5);
    assert_int_equal(at->key_column, 6);
    assert_int_equal(at->column, 10);
    assert_true(at->plain);
    assert_false(zeta_yaml_member(map, "quoted")->plain);
    assert_null(zeta_yaml_member(map, "nothing"));
    assert_null(zeta_yaml_member(list, "at"));
    assert_string_equal(zeta_yaml_name(document), "t.yaml");
    zeta_yaml_free(document);
}

static void parse__nothing__no_root(void **state)
{
    (void)state;
    struct zeta_yaml_document *document = parse("# only this\n\n");

    assert_null(zeta_yaml_root(document));
    zeta_yaml_free(document);
    document = parse("");
    assert_null(zeta_yaml_root(document));
    zeta_yaml_free(document);
}

static void parse__broken_text__position_of_the_mistake(void **state)
{
    (void)state;
    refuse("a: 1\nb: [1, 2\nc: 3\n", "t.yaml:3:");
    refuse("a: 1\n b: 2\n", "t.yaml:2:3: YAML syntax");
    refuse("a: 'x\n", "t.yaml:2:1: YAML syntax");
    refuse("a: 1\n\tb: 2\n", "t.yaml:2:1: YAML syntax");
    refuse("x: 1\ny: \xff\n", "t.yaml:2:4: not valid UTF-8");
    refuse("x: \xc3\xa4\nz\xc3\xa4: \xc0\x80", "t.yaml:2:5: not valid UTF-8");
}

static void parse__not_in_the_subset__refused_with_position(void **state)
{
    (void)state;
    refuse("a: &x 1\nb: *x\n", "t.yaml:1:4: anchors and tags are not allowed");
    refuse("a: 1\nb: *x\n", "t.yaml:2:4: aliases are not allowed");
    refuse("a: !!int 1\n", "t.yaml:1:4: anchors and tags are not allowed");
    refuse("a: !mine [1]\n", "t.yaml:1:4: anchors and tags are not allowed");
    refuse("a: &x {b: 1}\n", "t.yaml:1:4: anchors and tags are not allowed");
    refuse("a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document starts here");
    refuse("? [a, b]\n: 1\n", "t.yaml:1:3: a key must be plain text, not a sequence");
    refuse("? {a: b}\n: 1\n", "t.yaml:1:3: a key must be plain text, not a mapping");
    refuse("'': 1\n", "t.yaml:1:1: a key must not be empty");
    refuse("a: \"x\\0y\"\n", "t.yaml:1:4: text with a zero byte");
}

static void parse__duplicate_key__names_both_lines(void **state)
{
    char text[1024] = "";
    size_t used = 0;

    (void)state;
    refuse("a: 1\nb: 2\na: 3\n", "t.yaml:3:1: key 'a' appears twice; the first one is in line 1");
    refuse("m:\n  - {x: 1, y: 2, x: 3}\n", "t.yaml:2:18: key 'x' appears twice");
    for (int i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "key%d: 0\n", i);
    (void)snprintf(text + used, sizeof(text) - used, "key17: 0\n");
    refuse(text, "t.yaml:41:1: key 'key17' appears twice; the first one is in line 18");
}

static void parse__beyond_limits__refused(void **state)
{
    const struct zeta_yaml_limits small = {.max_bytes = 20, .max_depth = 2, .max_nodes = 5};
    const struct zeta_yaml_limits few = {.max_nodes = 5};
    char deep[80] = "";

    (void)state;
    refuse_bytes("aaaaaaaaaaaaaaaaaaaaa", 21, &small, "t.yaml: larger than 20 bytes");
    refuse_bytes("[[[1]]]", 7, &small, "t.yaml:1:3: nested deeper than 2 levels");
    refuse_bytes("[1, 2,\n3, 4,\n 5]", 16, &few, "t.yaml:3:2: more than 5 values");
    memset(deep, '[', 33);
    refuse(deep, "t.yaml:1:33: nested deeper than 32 levels");
}

static void scalars__conversions__only_exact_forms(void **state)
{
    (void)state;
    struct zeta_yaml_document *document =
        parse("[18446744073709551615, 18446744073709551616, 0xFFff, 0x, -5, 1.5e3, '7', true, "
              "yes, ~, null, '', 9223372036854775808, 1e999, 0x1G, 12a]");
    const struct zeta_yaml_node *n[16] = {NULL};
    uint64_t u64 = 77;
    double f64 = 77;
    bool flag = false;
    unsigned count = 0;

    for (const struct zeta_yaml_node *i = zeta_yaml_root(document)->first_child; i; i = i->next)
        n[count++] = i;
    assert_int_equal(count, 16);

    assert_true(zeta_yaml_u64(n[0], &u64));
    assert_cmp(u64, ==, UINT64_MAX);
    assert_false(zeta_yaml_u64(n[1], &u64));
    assert_true(zeta_yaml_u64(n[2], &u64));
    assert_int_equal(u64, 0xffff);
    assert_false(zeta_yaml_u64(n[3], &u64));
    assert_false(zeta_yaml_u64(n[4], &u64));
    assert_false(zeta_yaml_u64(n[6], &u64));
    assert_false(zeta_yaml_u64(n[14], &u64));
    assert_false(zeta_yaml_u64(n[15], &u64));
    assert_int_equal(u64, 0xffff);
    assert_true(zeta_yaml_double(n[5], &f64));
    assert_cmp(f64, ==, 1500.0);
    assert_false(zeta_yaml_double(n[13], &f64));
    assert_true(zeta_yaml_bool(n[7], &flag));
    assert_true(flag);
    assert_false(zeta_yaml_bool(n[8], &flag));
    assert_true(zeta_yaml_is_null(n[9]));
    assert_true(zeta_yaml_is_null(n[10]));
    assert_false(zeta_yaml_is_null(n[11]));
    zeta_yaml_free(document);
}

static void read_file__not_a_file__says_why(void **state)
{
    struct zeta_yaml_error error;
    char path[] = "/tmp/zeta-yaml-XXXXXX";
    char fifo[64];

    (void)state;
    assert_non_null(mkdtemp(path));
    assert_null(zeta_yaml_read_file(path, NULL, &error));
    assert_non_null(strstr(error.text, "not a regular file"));
    (void)snprintf(fifo, sizeof(fifo), "%s/fifo", path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_null(zeta_yaml_read_file(fifo, NULL, &error));
    assert_non_null(strstr(error.text, "not a regular file"));
    assert_int_equal(unlink(fifo), 0);
    assert_null(zeta_yaml_read_file(fifo, NULL, &error));
    assert_false(error.no_memory);
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(rmdir(path), 0);
}

static void read_file__regular__same_as_text(void **state)
{
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;
    char path[] = "/tmp/zeta-yaml-XXXXXX";
    int fd = mkstemp(path);
    uint64_t value = 0;

    (void)state;
    assert_cmp(fd, >=, 0);
    assert_int_equal(write(fd, "a: 42\n", 6), 6);
    assert_int_equal(close(fd), 0);
    document = zeta_yaml_read_file(path, NULL, &error);
    assert_non_null(document);
    assert_true(zeta_yaml_u64(zeta_yaml_member(zeta_yaml_root(document), "a"), &value));
    assert_int_equal(value, 42);
    assert_string_equal(zeta_yaml_name(document), path);
    zeta_yaml_free(document);
    assert_int_equal(unlink(path), 0);
}

/* Compares two trees, but for their positions. */
static void assert_same(const struct zeta_yaml_node *a, const struct zeta_yaml_node *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->child_count, b->child_count);
    assert_int_equal(a->flow, b->flow);
    if (a->key)
        assert_string_equal(a->key, b->key);
    if (a->kind == ZETA_YAML_SCALAR) {
        assert_string_equal(a->text, b->text);
        assert_int_equal(a->plain, b->plain);
    }
    b = b->first_child;
    for (a = a->first_child; a; a = a->next, b = b->next)
        assert_same(a, b);
}

static void write_node__everything__same_tree(void **state)
{
    struct zeta_yaml_document *document =
        parse("plain: 12\nquoted: \"12\"\nodd: \"a: {b} #\\\"\\n- \\u0085\"\n"
              "\"a key: #\": ~\nlist:\n- [x, {y: z}]\n- deep:\n    deeper: []\n- {}\n");
    struct zeta_yaml_writer *writer = zeta_yaml_writer_create();
    struct zeta_yaml_document *again;
    size_t length = 0;
    char *text;

    (void)state;
    assert_non_null(writer);
    zeta_yaml_write_node(writer, zeta_yaml_root(document));
    text = zeta_yaml_writer_finish(writer, &length);
    assert_non_null(text);
    assert_int_equal(length, strlen(text));
    again = parse(text);
    assert_same(zeta_yaml_root(document), zeta_yaml_root(again));
    assert_string_equal(zeta_yaml_text(zeta_yaml_root(again), "plain"), "12");
    assert_null(zeta_yaml_text(zeta_yaml_root(again), "list"));
    free(text);
    zeta_yaml_free(again);
    zeta_yaml_free(document);
}

static void writer__value_without_end__no_text(void **state)
{
    struct zeta_yaml_writer *writer = zeta_yaml_writer_create();
    size_t length;

    (void)state;
    assert_non_null(writer);
    zeta_yaml_write_start(writer, ZETA_YAML_MAPPING, false);
    zeta_yaml_write_end(writer, ZETA_YAML_SEQUENCE);
    zeta_yaml_write_text(writer, "more", true);
    assert_null(zeta_yaml_writer_finish(writer, &length));
}

SUITE(yaml)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse__nested_file__tree_with_positions),
        cmocka_unit_test(parse__nothing__no_root),
        cmocka_unit_test(parse__broken_text__position_of_the_mistake),
        cmocka_unit_test(parse__not_in_the_subset__refused_with_position),
        cmocka_unit_test(parse__duplicate_key__names_both_lines),
        cmocka_unit_test(parse__beyond_limits__refused),
        cmocka_unit_test(scalars__conversions__only_exact_forms),
        cmocka_unit_test(read_file__not_a_file__says_why),
        cmocka_unit_test(read_file__regular__same_as_text),
        cmocka_unit_test(write_node__everything__same_tree),
        cmocka_unit_test(writer__value_without_end__no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
