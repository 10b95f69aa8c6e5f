/* The index of module images: what is read, and what is passed over. */
#include "sdk/tools/zeta/profile/profile.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Rule 20.11. */
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
        "load\t1\t1000\t2000\t%2e%2e\n",
        "load\t1\t1000\t2000\t%2ea.elf\n",
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
    assert_int_equal(zeta_module_index_read(&index, "/nowhere/at/all", NULL), 0);
    assert_int_equal(index.count, 0);
    assert_null(zeta_module_index_find(&index, 0));
    zeta_module_index_finish(&index);
}

static void add_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");

    assert_non_null(file);
    assert_cmp(fputs(text, file), >=, 0);
    assert_int_equal(fclose(file), 0);
}

static uint32_t count_new(const char *folder, uint64_t *io_offset)
{
    struct zeta_module_index index;
    uint32_t count;

    assert_int_equal(zeta_module_index_read(&index, folder, io_offset), 0);
    assert_int_equal(index.bad_lines, 0);
    count = index.count;
    zeta_module_index_finish(&index);
    return count;
}

static void index__that_grows__gives_each_module_once(void **state)
{
    char folder[] = "/tmp/zeta-index-XXXXXX";
    char path[64];
    uint64_t offset = 0;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/index", folder);
    assert_int_equal(count_new(folder, &offset), 0);
    assert_int_equal(offset, 0);
    add_text(path, "load\t1\t1000\t2000\ta.elf\nload\t1\t3000\t4000\tb.elf\nload\t2");
    assert_int_equal(count_new(folder, &offset), 2);
    assert_int_equal(count_new(folder, &offset), 0);
    /* The line that was being written is there now. */
    add_text(path, "\t1000\t2000\tc.elf\n");
    assert_int_equal(count_new(folder, &offset), 1);
    assert_int_equal(count_new(folder, &offset), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

SUITE(module_index)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line__of_a_module__has_all_of_it),
        cmocka_unit_test(find__addresses_used_again__is_who_lies_there_now),
        cmocka_unit_test(lines__that_mean_nothing__are_passed_over_and_counted),
        cmocka_unit_test(index__without_a_folder__is_empty),
        cmocka_unit_test(index__that_grows__gives_each_module_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
