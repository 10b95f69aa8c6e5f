/* The cache: what is read is what was written, whatever happens to files, disks and processes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include <zeta/compiler/cache_dir.h>

/* What files have before their content. */
enum { HEADER_BYTES = 72 };

static char root[64];
static struct zeta_cache_dir cache;

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/zeta-test-cache-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(cache.path, sizeof(cache.path), "%s/zeta/vgpu", root);
    cache.limit_bytes = 1 << 20;
    return 0;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static void key_for(uint32_t number, uint8_t out_key[ZETA_CACHE_KEY_BYTES])
{
    memset(out_key, 0xab, ZETA_CACHE_KEY_BYTES);
    memcpy(out_key, &number, sizeof(number));
}

static void path_of(uint32_t number, char *out_path, size_t size)
{
    uint8_t key[ZETA_CACHE_KEY_BYTES];
    char name[2 * ZETA_CACHE_KEY_BYTES + 1];

    key_for(number, key);
    for (unsigned i = 0; i < ZETA_CACHE_KEY_BYTES; i++)
        snprintf(name + 2 * (size_t)i, 3, "%02x", key[i]);
    snprintf(out_path, size, "%s/%s", cache.path, name);
}

/* Content that tells which key it belongs to. */
static void store(uint32_t number, size_t size)
{
    uint8_t key[ZETA_CACHE_KEY_BYTES];
    uint8_t *bytes = malloc(size);

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number + i * 7);
    key_for(number, key);
    zeta_cache_dir_store(&cache, key, bytes, size);
    free(bytes);
}

/* -1 when it is not there, 0 when it is wrong, 1 when it is right. */
static int check(uint32_t number, size_t size)
{
    uint8_t key[ZETA_CACHE_KEY_BYTES];
    void *bytes = NULL;
    size_t found = 0;
    int right;

    key_for(number, key);
    if (!zeta_cache_dir_load(&cache, key, &bytes, &found))
        return -1;
    right = found == size;
    for (size_t i = 0; i < found && right; i++)
        right = ((uint8_t *)bytes)[i] == (uint8_t)(number + i * 7);
    free(bytes);
    return right;
}

/* Bytes of all files in the cache; gives their number. */
static unsigned measure(uint64_t *out_bytes)
{
    DIR *files = opendir(cache.path);
    const struct dirent *file;
    unsigned count = 0;

    *out_bytes = 0;
    if (!files)
        return 0;
    while ((file = readdir(files)) != NULL) {
        struct stat status;

        if (fstatat(dirfd(files), file->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)) {
            *out_bytes += (uint64_t)status.st_size;
            count++;
        }
    }
    closedir(files);
    return count;
}

static void stored__loaded__same_bytes(void **state)
{
    (void)state;
    assert_int_equal(check(1, 1000), -1);
    store(1, 1000);
    store(2, 0);
    store(3, 300000);
    assert_int_equal(check(1, 1000), 1);
    assert_int_equal(check(2, 0), 1);
    assert_int_equal(check(3, 300000), 1);
    assert_int_equal(check(4, 1), -1);
    store(1, 2000);
    assert_int_equal(check(1, 2000), 1);
}

static void folder__made__is_closed_to_others(void **state)
{
    char path[ZETA_CACHE_PATH_BYTES + 80];
    struct stat status;

    (void)state;
    store(1, 10);
    assert_int_equal(stat(cache.path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    path_of(1, path, sizeof(path));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void change_byte(const char *path, off_t at)
{
    int file = open(path, O_RDWR);
    uint8_t byte;

    assert_cmp(file, >=, 0);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

/* Rule 6.6. */
static void file__any_byte_changed__is_not_used_and_goes(void **state)
{
    char path[ZETA_CACHE_PATH_BYTES + 80];

    (void)state;
    path_of(1, path, sizeof(path));
    for (off_t at = 0; at < HEADER_BYTES + 50; at++) {
        store(1, 50);
        change_byte(path, at);
        assert_int_equal(check(1, 50), -1);
        assert_int_equal(access(path, F_OK), -1);
    }
}

static void file__any_length__is_not_used(void **state)
{
    char path[ZETA_CACHE_PATH_BYTES + 80];

    (void)state;
    path_of(1, path, sizeof(path));
    for (off_t length = 0; length < HEADER_BYTES + 60; length++) {
        store(1, 50);
        assert_int_equal(truncate(path, length), 0);
        assert_int_equal(check(1, 50), length == HEADER_BYTES + 50 ? 1 : -1);
    }
}

static void file__under_another_name__is_not_used(void **state)
{
    char from[ZETA_CACHE_PATH_BYTES + 80], to[ZETA_CACHE_PATH_BYTES + 80];

    (void)state;
    store(1, 50);
    path_of(1, from, sizeof(from));
    path_of(2, to, sizeof(to));
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(check(2, 50), -1);
}

static void file__link_pipe_or_folder__is_not_followed(void **state)
{
    char path[ZETA_CACHE_PATH_BYTES + 80], other[128];

    (void)state;
    store(1, 50);
    store(2, 50);
    path_of(1, path, sizeof(path));
    snprintf(other, sizeof(other), "%s/elsewhere", root);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(check(1, 50), -1);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(check(1, 50), -1);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(check(1, 50), -1);
    store(1, 50);
    assert_int_equal(check(1, 50), -1);
    assert_int_equal(check(2, 50), 1);
}

/* Rule 6.7. */
static void folder__of_others_or_open__is_not_used(void **state)
{
    uint64_t bytes;

    (void)state;
    store(1, 50);
    assert_int_equal(chmod(cache.path, 0770), 0);
    assert_int_equal(check(1, 50), -1);
    store(2, 50);
    assert_int_equal(measure(&bytes), 1);
    assert_int_equal(chmod(cache.path, 0700), 0);
    assert_int_equal(check(1, 50), 1);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(cache.path, 1, 1), 0);
    assert_int_equal(check(1, 50), -1);
    store(2, 50);
    assert_int_equal(measure(&bytes), 1);
}

/* Rule 6.6. */
static void limit__many_files__least_recently_used_go(void **state)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    uint64_t bytes;

    (void)state;
    cache.limit_bytes = 10 * (HEADER_BYTES + 1000);
    for (uint32_t i = 0; i < 10; i++) {
        store(i, 1000);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(measure(&bytes), 10);
    assert_int_equal(check(0, 1000), 1); /* used, so 1 is the oldest now */
    nanosleep(&pause, NULL);
    store(10, 1000);
    assert_int_equal(check(0, 1000), 1);
    assert_int_equal(check(1, 1000), -1);
    assert_int_equal(check(2, 1000), 1);
    for (uint32_t i = 100; i < 140; i++) {
        store(i, 700 + 10 * i);
        measure(&bytes);
        assert_cmp(bytes, <=, cache.limit_bytes);
    }
    store(500, 20 * 1000);
    assert_int_equal(check(500, 20 * 1000), -1);
    assert_int_equal(check(139, 700 + 1390), 1);
}

static void limit__zero_or_no_path__is_no_cache(void **state)
{
    uint64_t bytes;

    (void)state;
    cache.limit_bytes = 0;
    store(1, 10);
    assert_int_equal(measure(&bytes), 0);
    assert_int_equal(check(1, 10), -1);
    cache.limit_bytes = 1000;
    cache.path[0] = '\0';
    store(1, 10);
    assert_int_equal(check(1, 10), -1);
}

static void files__of_others_in_the_folder__are_left_alone(void **state)
{
    char path[ZETA_CACHE_PATH_BYTES + 80];
    FILE *file;

    (void)state;
    store(1, 10);
    snprintf(path, sizeof(path), "%s/README", cache.path);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 5000; i++)
        fputs("not a file of the cache", file);
    fclose(file);
    cache.limit_bytes = 4096;
    for (uint32_t i = 0; i < 100; i++)
        store(i, 100);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(check(99, 100), 1);
}

static void half_written_files__of_the_dead__are_removed(void **state)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char old[ZETA_CACHE_PATH_BYTES + 80], new[ZETA_CACHE_PATH_BYTES + 80];

    (void)state;
    store(1, 10);
    snprintf(old, sizeof(old), "%s/.new-1-2-3", cache.path);
    snprintf(new, sizeof(new), "%s/.new-4-5-6", cache.path);
    close(open(old, O_CREAT | O_WRONLY, 0600));
    close(open(new, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    store(2, 10);
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(access(new, F_OK), 0);
}

static int store_beyond_limit(void)
{
    const struct rlimit small = {4096, 4096};

    /* The default action of the signal about it would end this process. */
    if (setrlimit(RLIMIT_FSIZE, &small) != 0)
        return 77;
    store(7, 100000);
    store(8, 1000);
    return check(7, 100000) == -1 && check(8, 1000) == 1 ? 0 : 1;
}

static int run_in_child(int (*function)(void))
{
    pid_t child = fork();
    int status = 0;

    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(function());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("the child was ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Rule 6.6. */
static void process__may_not_write_so_much__goes_on(void **state)
{
    uint64_t bytes;

    (void)state;
    store(1, 10);
    assert_int_equal(run_in_child(store_beyond_limit), 0);
    assert_int_equal(measure(&bytes), 2);
    assert_int_equal(check(8, 1000), 1);
}

static int store_without_room(void)
{
    uint64_t bytes;

    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", root, "tmpfs", 0, "size=32k,mode=700") != 0)
        return 77;
    store(1, 1000);
    store(2, 100000);
    if (check(1, 1000) != 1 || check(2, 100000) != -1)
        return 1;
    /* Nothing half-written is left, and there is room for what fits. */
    if (measure(&bytes) != 1)
        return 2;
    store(3, 5000);
    return check(3, 5000) == 1 ? 0 : 3;
}

/* Rule 6.6. */
static void disk__full__goes_on_without(void **state)
{
    int result = run_in_child(store_without_room);

    (void)state;
    if (result == 77) {
        print_message("skipped: only root can mount a small file system\n");
        skip();
    }
    assert_int_equal(result, 0);
}

/* Stores and loads until it is killed. */
static void churn(uint32_t seed)
{
    for (uint32_t i = seed;; i++) {
        uint32_t number = i % 37;

        store(number, 2000 + number * 500);
        if (check((number * 5) % 37, 2000 + ((number * 5) % 37) * 500) == 0)
            _exit(5);
    }
}

/* Rule 6.6. */
static void processes__killed_at_any_moment__leave_nothing_wrong(void **state)
{
    pid_t children[2];
    uint64_t bytes;
    int status;

    (void)state;
    cache.limit_bytes = 200000;
    for (unsigned round = 0; round < 40; round++) {
        const struct timespec pause = {.tv_nsec = 1000000 + 700000 * (long)(round % 13)};

        for (unsigned i = 0; i < 2; i++) {
            children[i] = fork();
            assert_cmp(children[i], >=, 0);
            if (children[i] == 0)
                churn(round * 11 + i * 17);
        }
        nanosleep(&pause, NULL);
        for (unsigned i = 0; i < 2; i++) {
            kill(children[i], SIGKILL);
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFSIGNALED(status));
        }
        for (uint32_t number = 0; number < 37; number++)
            assert_int_not_equal(check(number, 2000 + number * 500), 0);
    }
    /* What the dead were writing counts until it is old, so the limit holds for all of it. */
    store(1, 2500);
    measure(&bytes);
    assert_cmp(bytes, <=, cache.limit_bytes);
}

static void *churn_a_while(void *argument)
{
    uint32_t seed = *(const uint32_t *)argument;

    for (uint32_t i = 0; i < 60; i++) {
        uint32_t number = (seed + i) % 9;

        store(number, 3000);
        assert_int_not_equal(check((number + 4) % 9, 3000), 0);
    }
    return NULL;
}

static void threads__at_once__all_right(void **state)
{
    pthread_t threads[4];
    uint32_t seeds[4] = {0, 3, 5, 7};
    uint64_t bytes;

    (void)state;
    cache.limit_bytes = 5 * (3000 + HEADER_BYTES);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_a_while, &seeds[i]), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    measure(&bytes);
    assert_cmp(bytes, <=, cache.limit_bytes);
}

static void expect_default(bool secure, const char *xdg, const char *home, const char *wanted)
{
    char path[ZETA_CACHE_PATH_BYTES] = "unset";

    zeta_cache_dir_default(secure, "vgpu", xdg, home, path);
    assert_string_equal(path, wanted);
}

/* Rule 6.7. */
static void default__environment__decides(void **state)
{
    char huge[2000];

    (void)state;
    memset(huge, 'x', sizeof(huge) - 1);
    huge[0] = '/';
    huge[sizeof(huge) - 1] = '\0';
    expect_default(false, "/cache", "/home/a", "/cache/zeta/vgpu");
    expect_default(false, NULL, "/home/a", "/home/a/.cache/zeta/vgpu");
    expect_default(false, "relative", "/home/a", "/home/a/.cache/zeta/vgpu");
    expect_default(false, "", "", "");
    expect_default(false, NULL, NULL, "");
    expect_default(false, NULL, "home", "");
    expect_default(false, huge, NULL, "");
    expect_default(true, "/cache", "/home/a", "");
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

SUITE(cache_dir)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(stored__loaded__same_bytes),
        WITH_ROOT(folder__made__is_closed_to_others),
        WITH_ROOT(file__any_byte_changed__is_not_used_and_goes),
        WITH_ROOT(file__any_length__is_not_used),
        WITH_ROOT(file__under_another_name__is_not_used),
        WITH_ROOT(file__link_pipe_or_folder__is_not_followed),
        WITH_ROOT(folder__of_others_or_open__is_not_used),
        WITH_ROOT(limit__many_files__least_recently_used_go),
        WITH_ROOT(limit__zero_or_no_path__is_no_cache),
        WITH_ROOT(files__of_others_in_the_folder__are_left_alone),
        WITH_ROOT(half_written_files__of_the_dead__are_removed),
        WITH_ROOT(process__may_not_write_so_much__goes_on),
        WITH_ROOT(disk__full__goes_on_without),
        WITH_ROOT(processes__killed_at_any_moment__leave_nothing_wrong),
        WITH_ROOT(threads__at_once__all_right),
        cmocka_unit_test(default__environment__decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
