/*
 * The small parts: arenas, lists, growing text, threads, trust.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util/descriptor.h"
#include "core/util/list.h"
#include "core/util/trust.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include <zeta/arena.h>
#include <zeta/thread.h>

static void list__many_items__keeps_their_order(void **state)
{
    struct zeta_list list = {0};
    static char items[1000];

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        assert_true(zeta_list_add(&list, &items[i]));
    assert_int_equal(list.count, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_ptr_equal(list.items[i], &items[i]);
    zeta_list_finish(&list);
    assert_int_equal(list.count, 0);
}

static void text__added_pieces__are_joined(void **state)
{
    struct zeta_text text = {0};

    (void)state;
    assert_string_equal(zeta_text_get(&text), "");
    for (int i = 0; i < 100; i++)
        zeta_text_add(&text, "%d,", i);
    zeta_text_append(&text, "end", 3);
    assert_false(text.failed);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 3);
    assert_memory_equal(zeta_text_get(&text), "0,1,2,", 6);
    assert_string_equal(zeta_text_get(&text) + text.length - 6, "99,end");
    zeta_text_finish(&text);
}

static void text__impossible_length__is_remembered_as_failure(void **state)
{
    struct zeta_text text = {0};

    (void)state;
    zeta_text_add(&text, "kept");
    zeta_text_append(&text, "x", SIZE_MAX / 2);
    assert_true(text.failed);
    zeta_text_add(&text, "more");
    assert_string_equal(zeta_text_get(&text), "kept");
    zeta_text_finish(&text);
}

static void *look_at_thread(void *context)
{
    char *name = context;
    sigset_t mask;

    (void)pthread_getname_np(pthread_self(), name, 16);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1)
               ? context
               : NULL;
}

static void thread__started__blocks_signals_and_leaves_ours(void **state)
{
    char name[16] = "";
    pthread_t thread;
    sigset_t mask;
    void *result = NULL;

    (void)state;
    assert_int_equal(zeta_thread_start(&thread, look_at_thread, name, "zeta-test"), 0);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, name);
}

static void clock__conversions__are_exact(void **state)
{
    struct timespec time = zeta_clock_timespec(UINT64_C(3000000007));
    uint64_t first_ns = zeta_monotonic_ns();

    (void)state;
    assert_int_equal(time.tv_sec, 3);
    assert_int_equal(time.tv_nsec, 7);
    assert_cmp(zeta_monotonic_ns(), >=, first_ns);
    assert_cmp(zeta_clock_raw_ns(), >, 0);
}

/* Opens a fresh file below a directory with the modes, and asks for trust. */
static bool trusted(mode_t folder_mode, mode_t file_mode, uid_t owner, enum zeta_trust level,
                    bool named, char *reason, size_t reason_bytes)
{
    char folder[] = "/tmp/zeta-trust-XXXXXX";
    char path[64];
    bool answer;
    int fd;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/file", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_cmp(fd, >=, 0);
    assert_int_equal(fchmod(fd, file_mode), 0);
    if (owner != 0)
        assert_int_equal(fchown(fd, owner, (gid_t)-1), 0);
    assert_int_equal(chmod(folder, folder_mode), 0);
    answer = zeta_trust_check(fd, level, named, reason, reason_bytes);
    (void)close(fd);
    (void)unlink(path);
    (void)rmdir(folder);
    return answer;
}

static void trust__modes__decide_by_level(void **state)
{
    char reason[512] = "";

    (void)state;
    assert_true(trusted(0777, 0666, 0, ZETA_TRUST_USER, false, reason, sizeof(reason)));
    assert_true(trusted(0755, 0664, 0, ZETA_TRUST_ROOT, false, reason, sizeof(reason)));
    assert_false(trusted(0755, 0666, 0, ZETA_TRUST_ROOT, true, reason, sizeof(reason)));
    assert_non_null(strstr(reason, "/file is writable by everybody"));
    assert_false(trusted(0777, 0644, 0, ZETA_TRUST_ROOT, true, reason, sizeof(reason)));
    assert_non_null(strstr(reason, "chmod o-w"));
    assert_true(trusted(01777, 0644, 0, ZETA_TRUST_PRIVILEGED, false, reason, sizeof(reason)));
    assert_false(trusted(0755, 0664, 0, ZETA_TRUST_PRIVILEGED, true, reason, sizeof(reason)));
    assert_non_null(strstr(reason, "by its group"));
    assert_false(trusted(0775, 0644, 0, ZETA_TRUST_PRIVILEGED, true, reason, sizeof(reason)));
}

static void trust__other_owner__only_where_root_named_the_path(void **state)
{
    char reason[512] = "";

    (void)state;
    if (geteuid() != 0) {
        print_message("needs root to make files of another owner\n");
        skip();
    }
    assert_true(trusted(0755, 0644, 12345, ZETA_TRUST_ROOT, true, reason, sizeof(reason)));
    assert_false(trusted(0755, 0644, 12345, ZETA_TRUST_ROOT, false, reason, sizeof(reason)));
    assert_non_null(strstr(reason, "belongs to user 12345"));
    assert_false(trusted(0755, 0644, 12345, ZETA_TRUST_PRIVILEGED, true, reason, sizeof(reason)));
    assert_true(trusted(0755, 0644, 12345, ZETA_TRUST_USER, false, reason, sizeof(reason)));
}

/* Parts of many sizes, some larger than what an arena takes at a time. */
enum { PARTS = 300 };

static void fill_arena(struct zeta_arena *arena, unsigned char **parts)
{
    for (size_t i = 0; i < PARTS; i++) {
        size_t bytes = i % 50 == 49 ? 40000 : i;

        parts[i] = zeta_arena_alloc(arena, bytes);
        assert_non_null(parts[i]);
        for (size_t b = 0; b < bytes; b++)
            assert_int_equal(parts[i][b], 0);
        memset(parts[i], (int)(i % 251) + 1, bytes);
    }
}

static void arena__cloned__has_copies_that_can_be_found(void **state)
{
    struct zeta_arena arena = {0};
    struct zeta_arena copy = {0};
    unsigned char *parts[PARTS];
    int elsewhere = 0;

    (void)state;
    fill_arena(&arena, parts);
    assert_true(zeta_arena_clone(&arena, &copy));
    for (size_t i = 1; i < PARTS; i++) {
        unsigned char *moved = zeta_arena_moved(&arena, &copy, parts[i]);

        assert_ptr_not_equal(moved, parts[i]);
        assert_int_equal(*moved, i % 251 + 1);
    }
    assert_ptr_equal(zeta_arena_moved(&arena, &copy, &elsewhere), &elsewhere);
    assert_null(zeta_arena_moved(&arena, &copy, NULL));
    zeta_arena_finish(&arena);
    assert_non_null(zeta_arena_alloc(&copy, 100));
    zeta_arena_finish(&copy);
}

static void arena__rewound_or_absorbed__gives_zeroed_memory_again(void **state)
{
    struct zeta_arena arena = {0};
    struct zeta_arena other = {0};
    unsigned char *parts[PARTS];
    unsigned char *kept[PARTS];

    (void)state;
    for (int round = 0; round < 3; round++) {
        fill_arena(&arena, parts);
        zeta_arena_rewind(&arena);
    }
    fill_arena(&arena, kept);
    fill_arena(&other, parts);
    zeta_arena_absorb(&arena, &other);
    assert_null(other.chunks);
    for (size_t i = 1; i < PARTS; i++) {
        assert_int_equal(*parts[i], i % 251 + 1);
        assert_int_equal(*kept[i], i % 251 + 1);
    }
    zeta_arena_absorb(&other, &arena);
    fill_arena(&other, kept);
    assert_int_equal(*parts[1], 2);
    zeta_arena_finish(&other);
    zeta_arena_rewind(&arena);
}

static void descriptor__of_a_process__is_opened_if_it_is_that_file(void **state)
{
    int fd = memfd_create("parts", MFD_CLOEXEC);
    struct stat status;
    int ends[2];

    (void)state;
    assert_cmp(fd, >=, 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(write(fd, "here", 4), 4);
    int other = zeta_descriptor_open_of(getpid(), fd, status.st_dev, status.st_ino);
    char text[4] = "";
    assert_cmp(other, >, STDERR_FILENO);
    assert_cmp(other, !=, fd);
    assert_int_equal(pread(other, text, sizeof(text), 0), 4);
    assert_memory_equal(text, "here", 4);
    assert_int_equal(close(other), 0);

    assert_int_equal(zeta_descriptor_open_of(getpid(), fd, status.st_dev, status.st_ino + 1), -1);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(zeta_descriptor_pipe(ends, O_CLOEXEC), 0);
    assert_int_equal(zeta_descriptor_open_of(getpid(), ends[0], status.st_dev, status.st_ino), -1);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(zeta_descriptor_open_of(getpid(), fd, status.st_dev, status.st_ino), -1);
    assert_int_equal(errno, ENOENT);
}

SUITE(parts)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena__cloned__has_copies_that_can_be_found),
        cmocka_unit_test(arena__rewound_or_absorbed__gives_zeroed_memory_again),
        cmocka_unit_test(list__many_items__keeps_their_order),
        cmocka_unit_test(text__added_pieces__are_joined),
        cmocka_unit_test(text__impossible_length__is_remembered_as_failure),
        cmocka_unit_test(thread__started__blocks_signals_and_leaves_ours),
        cmocka_unit_test(clock__conversions__are_exact),
        cmocka_unit_test(trust__modes__decide_by_level),
        cmocka_unit_test(descriptor__of_a_process__is_opened_if_it_is_that_file),
        cmocka_unit_test(trust__other_owner__only_where_root_named_the_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
