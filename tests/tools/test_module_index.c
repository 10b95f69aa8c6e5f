/* The index of module images: what is read, and what is passed over. */
#include "module_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parse(struct zeta_module_index *index, const char *text)
{
    assert_true(zeta_module_index_parse(index, text, strlen(text)));
}

static void line__of_a_module__has_all_of_it(void **state)
{
    struct zeta_module_index index;
    const struct zeta_module_entry *entry;

    (void)state;
    parse(&index, "load\t42\t1000\t2abc\t42-0.elf\tone=1000\ttwo%20%3d%25=1f00\n");
    assert_int_equal(index.bad_lines, 0);
    assert_int_equal(index.count, 1);
    entry = &index.entries[0];
    assert_int_equal(entry->pid, 42);
    assert_int_equal(entry->begin, 0x1000);
    assert_int_equal(entry->end, 0x2abc);
    assert_string_equal(entry->file, "42-0.elf");
    assert_int_equal(entry->kernel_count, 2);
    assert_string_equal(entry->kernels[1].name, "two =%");
    assert_int_equal(entry->kernels[1].address, 0x1f00);
    assert_false(entry->is_unloaded);
    assert_string_equal(zeta_module_entry_kernel(entry, 0x1004)->name, "one");
    assert_string_equal(zeta_module_entry_kernel(entry, 0x1f00)->name, "two =%");
    assert_null(zeta_module_entry_kernel(entry, 0xfff));
    zeta_module_index_finish(&index);
}

static void find__addresses_used_again__is_who_lies_there_now(void **state)
{
    struct zeta_module_index index;

    (void)state;
    parse(&index, "load\t1\t1000\t2000\ta.elf\n"
                  "unload\t1\t1000\n"
                  "load\t1\t1800\t2800\tb.elf\n"
                  "load\t2\t5000\t6000\tc.elf\n"
                  "unload\t2\t5000\n"
                  "load\t3\t5000\t6000\td.elf\n"
                  "unload\t3\t5000\n");
    assert_int_equal(index.bad_lines, 0);
    assert_int_equal(index.count, 4);
    assert_null(zeta_module_index_find(&index, 0xfff));
    assert_string_equal(zeta_module_index_find(&index, 0x1000)->file, "a.elf");
    assert_string_equal(zeta_module_index_find(&index, 0x1900)->file, "b.elf");
    assert_null(zeta_module_index_find(&index, 0x2800));
    /* Of those that are gone, the last. */
    assert_string_equal(zeta_module_index_find(&index, 0x5000)->file, "d.elf");
    zeta_module_index_finish(&index);
}

static void lines__that_mean_nothing__are_passed_over_and_counted(void **state)
{
    static const char *const bad[] = {
        "\n",
        "load\n",
        "load\t1\t1000\t2000\n",
        "load\t1\t1000\t1000\ta.elf\n",
        "load\t1\tx\t2000\ta.elf\n",
        "load\t1\t\t2000\ta.elf\n",
        "load\t4294967296\t1000\t2000\ta.elf\n",
        "load\t1\t1000\t10000000000000000\ta.elf\n",
        "load\t1\t1000\t2000\t../a.elf\n",
        "load\t1\t1000\t2000\ta%2fb\n",
        "load\t1\t1000\t2000\t.a.elf\n",
        "load\t1\t1000\t2000\ta.elf\tkernel\n",
        "load\t1\t1000\t2000\ta.elf\tkernel=\n",
        "load\t1\t1000\t2000\ta.elf\tkernel=xyz\n",
        "load\t1\t1000\t2000\ta.elf",
        "unload\t1\t1000\n",
        "unload\t1\t1000\tmore\n",
        "other\t1\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct zeta_module_index index;

        parse(&index, bad[i]);
        assert_int_equal(index.count, 0);
        assert_int_equal(index.bad_lines, 1);
        zeta_module_index_finish(&index);
    }
}

static void index__without_a_folder__is_empty(void **state)
{
    struct zeta_module_index index;

    (void)state;
    assert_int_equal(zeta_module_index_read(&index, "/nowhere/at/all"), 0);
    assert_int_equal(index.count, 0);
    assert_null(zeta_module_index_find(&index, 0));
    zeta_module_index_finish(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line__of_a_module__has_all_of_it),
        cmocka_unit_test(find__addresses_used_again__is_who_lies_there_now),
        cmocka_unit_test(lines__that_mean_nothing__are_passed_over_and_counted),
        cmocka_unit_test(index__without_a_folder__is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
