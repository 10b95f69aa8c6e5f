/* What the plugin keeps of the compiler's work, and when it uses it. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "build.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct fixture {
    char root[64];
    char cache[96];
    char compiler[96]; /* a copy of its own */
    struct host_setting settings[4];
    struct host host;
};

static void copy_file(const char *from, const char *to)
{
    char command[1024];

    snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static int open_all(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->root, sizeof(f->root), "/tmp/zeta-test-kept-XXXXXX");
    if (!mkdtemp(f->root))
        return -1;
    snprintf(f->cache, sizeof(f->cache), "%s/cache", f->root);
    snprintf(f->compiler, sizeof(f->compiler), "%s/zeta-vgpu-cc", f->root);
    copy_file(FAKE_COMPILER, f->compiler);
    f->settings[0] = (struct host_setting){"compiler", f->compiler};
    f->settings[1] = (struct host_setting){"cache_dir", f->cache};
    host_open(&f->host, f->settings);
    *state = f;
    return 0;
}

static int close_all(void **state)
{
    struct fixture *f = *state;
    char command[128];

    host_close(&f->host);
    snprintf(command, sizeof(command), "rm -rf %s", f->root);
    free(f);
    return system(command);
}

/* Builds, and gives the process that did it: now, or when it was kept. */
static long built_by(struct host *host, const char *options)
{
    struct build build;
    long pid;

    build_with(host, options, &build);
    if (build.result != ZETA_PLUGIN_SUCCESS)
        fail_msg("%s: %s", host_error(host), build.log);
    pid = build_pid(&build);
    assert_cmp(pid, >, 0);
    host->compute->module_destroy(host->self, build.module);
    return pid;
}

static unsigned count_files(const char *path)
{
    DIR *files = opendir(path);
    const struct dirent *file;
    unsigned count = 0;

    while (files && (file = readdir(files)) != NULL)
        count += file->d_name[0] != '.';
    if (files)
        closedir(files);
    return count;
}

/* Rule 6.5. */
static void build__same_again__is_taken_from_the_cache(void **state)
{
    struct fixture *f = *state;
    long first = built_by(&f->host, "");

    assert_int_equal(built_by(&f->host, ""), first);
    assert_int_equal(count_files(f->cache), 1);
    /* Also by another plugin object, as in another process. */
    host_close(&f->host);
    host_open(&f->host, f->settings);
    assert_int_equal(built_by(&f->host, ""), first);
}

/* Rule 6.5. */
static void build__other_options_or_image__is_built(void **state)
{
    struct fixture *f = *state;
    size_t size;
    char *kernels = build_kernels(&size);
    long first = built_by(&f->host, "");
    struct build build;

    assert_int_not_equal(built_by(&f->host, "status"), first);
    kernels = realloc(kernels, size + 4);
    memset(kernels + size, 1, 4);
    build_module(&f->host, "", kernels, size + 4, &build);
    assert_int_equal(build.result, ZETA_PLUGIN_SUCCESS);
    assert_int_not_equal(build_pid(&build), first);
    f->host.compute->module_destroy(f->host.self, build.module);
    assert_int_equal(built_by(&f->host, ""), first);
    assert_int_equal(count_files(f->cache), 3);
    free(kernels);
}

static void build__failed__is_not_kept(void **state)
{
    struct fixture *f = *state;
    struct build first, second;

    build_with(&f->host, "fail", &first);
    build_with(&f->host, "fail", &second);
    assert_int_equal(second.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_int_not_equal(build_pid(&first), build_pid(&second));
    assert_int_equal(count_files(f->cache), 0);
}

/* Rule 6.5. */
static void compiler__changed__is_asked_again(void **state)
{
    struct fixture *f = *state;
    long first = built_by(&f->host, "");

    unlink(f->compiler);
    copy_file(FAKE_COMPILER, f->compiler);
    assert_int_not_equal(built_by(&f->host, ""), first);
}

static void write_text(const struct fixture *f, const char *name, const char *text)
{
    char path[160];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", f->root, name);
    unlink(path);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Libraries of the compiler, and programs that it starts. Rule 6.5. */
static void need_of_the_compiler__changed__it_is_asked_again(void **state)
{
    struct fixture *f = *state;
    char line[160];
    long first;

    snprintf(line, sizeof(line), "%s/translator the-package\nlibrary -\n", f->root);
    write_text(f, "zeta-vgpu-cc.needs", line);
    write_text(f, "translator", "1");
    write_text(f, "library", "1");
    first = built_by(&f->host, "");
    assert_int_equal(built_by(&f->host, ""), first);
    write_text(f, "translator", "2");
    assert_int_not_equal(built_by(&f->host, ""), first);
    first = built_by(&f->host, "");
    write_text(f, "library", "2");
    assert_int_not_equal(built_by(&f->host, ""), first);
}

/* Rule 6.4. */
static void need_of_the_compiler__missing__is_named_with_its_package(void **state)
{
    struct fixture *f = *state;
    struct zeta_plugin_device_properties p = {.struct_size = sizeof(p)};
    struct build build;

    write_text(f, "zeta-vgpu-cc.needs", "translator the-package\n");
    build_with(&f->host, "", &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(build.log, "/translator, and that is not there"));
    assert_non_null(strstr(build.log, "Install the package the-package"));
    assert_int_equal(build_pid(&build), 0);
    assert_int_equal(f->host.device_ops->properties(f->host.self, f->host.device, &p), 0);
    assert_int_equal(p.spirv_version, 0);
    /* Libraries may be elsewhere. */
    write_text(f, "zeta-vgpu-cc.needs", "library -\n");
    assert_cmp(built_by(&f->host, ""), >, 0);
}

static void file__damaged__is_built_again(void **state)
{
    struct fixture *f = *state;
    long first = built_by(&f->host, ""), second;
    char command[256];

    snprintf(command, sizeof(command),
             "for f in %s/*; do printf x | dd of=$f bs=1 seek=5000 conv=notrunc 2>/dev/null; done",
             f->cache);
    assert_int_equal(system(command), 0);
    second = built_by(&f->host, "");
    assert_int_not_equal(second, first);
    snprintf(command, sizeof(command), "truncate -s 5000 %s/*", f->cache);
    assert_int_equal(system(command), 0);
    first = built_by(&f->host, "");
    assert_int_not_equal(first, second);
    assert_int_equal(built_by(&f->host, ""), first);
}

static void expect_no_cache(struct fixture *f, const char *name, const char *value)
{
    struct host_setting settings[4] = {f->settings[0], f->settings[1], {name, value}};
    long first;

    if (strcmp(name, "cache_dir") == 0)
        settings[1] = settings[2];
    host_close(&f->host);
    host_open(&f->host, settings);
    first = built_by(&f->host, "");
    assert_int_not_equal(built_by(&f->host, ""), first);
    assert_int_equal(count_files(f->cache), 0);
    host_close(&f->host);
    host_open(&f->host, f->settings);
}

static void cache__switched_off__is_not_used(void **state)
{
    expect_no_cache(*state, "cache_dir", "off");
    expect_no_cache(*state, "cache_size_bytes", "0");
}

/* Rule 6.6. */
static void cache__cannot_be_made__modules_are_built_all_the_same(void **state)
{
    expect_no_cache(*state, "cache_dir", "/proc/zeta/cache");
    expect_no_cache(*state, "cache_dir", "/dev/null/cache");
}

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* Rule 6.6. */
static void cache__without_home__modules_are_built_all_the_same(void **state)
{
    struct fixture *f = *state;
    const struct host_setting settings[] = {f->settings[0], {NULL, NULL}};
    char *home = copy_of(getenv("HOME"));
    char *xdg = copy_of(getenv("XDG_CACHE_HOME"));
    char absent[300];
    long first;

    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    host_close(&f->host);
    host_open(&f->host, settings);
    first = built_by(&f->host, "");
    assert_int_not_equal(built_by(&f->host, ""), first);
    host_close(&f->host);
    (void)snprintf(absent, sizeof(absent), "%s/absent", f->root);
    setenv("HOME", absent, 1);
    host_open(&f->host, settings);
    first = built_by(&f->host, "");
    assert_int_not_equal(built_by(&f->host, ""), first);
    assert_int_not_equal(access(absent, F_OK), 0);
    unsetenv("HOME");
    host_close(&f->host);
    setenv("XDG_CACHE_HOME", f->root, 1);
    host_open(&f->host, settings);
    first = built_by(&f->host, "");
    assert_int_equal(built_by(&f->host, ""), first);
    unsetenv("XDG_CACHE_HOME");
    if (home)
        setenv("HOME", home, 1);
    if (xdg)
        setenv("XDG_CACHE_HOME", xdg, 1);
    free(home);
    free(xdg);
}

/* In a child: some modules, from nothing. */
static int build_some(struct fixture *f, unsigned first)
{
    static struct build build;
    size_t size;
    char *kernels = build_kernels(&size);

    kernels = realloc(kernels, size + 4);
    for (unsigned i = 0; i < 6; i++) {
        memset(kernels + size, (int)((first + i) % 6), 4);
        build_module(&f->host, "", kernels, size + 4, &build);
        if (build.result != ZETA_PLUGIN_SUCCESS)
            return 1;
        f->host.compute->module_destroy(f->host.self, build.module);
    }
    return 0;
}

/* Rule 6.5. */
static void processes__same_modules_at_once__all_are_right(void **state)
{
    struct fixture *f = *state;
    pid_t children[3];
    int status = 0;

    for (unsigned i = 0; i < 3; i++) {
        children[i] = fork();
        assert_cmp(children[i], >=, 0);
        if (children[i] == 0)
            _exit(build_some(f, i));
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_files(f->cache), 6);
}

struct builder {
    struct host *host;
    unsigned number;
    atomic_uint wrong;
};

static void *build_many(void *argument)
{
    struct builder *builder = argument;
    struct build *build = malloc(sizeof(*build));
    size_t size;
    char *kernels = build_kernels(&size);

    kernels = realloc(kernels, size + 4);
    for (unsigned i = 0; i < 4; i++) {
        memset(kernels + size, (int)((builder->number + i) % 5), 4);
        build_module(builder->host, "", kernels, size + 4, build);
        if (build->result != ZETA_PLUGIN_SUCCESS)
            atomic_fetch_add(&builder->wrong, 1);
        else
            builder->host->compute->module_destroy(builder->host->self, build->module);
    }
    free(kernels);
    free(build);
    return NULL;
}

static void threads__same_modules_at_once__all_are_right(void **state)
{
    struct fixture *f = *state;
    struct builder builders[8];
    pthread_t threads[8];

    for (unsigned i = 0; i < 8; i++) {
        builders[i] = (struct builder){.host = &f->host, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, build_many, &builders[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&builders[i].wrong), 0);
    }
    assert_int_equal(count_files(f->cache), 5);
}

#define WITH_ALL(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

SUITE(kept)
{
    const struct CMUnitTest tests[] = {
        WITH_ALL(build__same_again__is_taken_from_the_cache),
        WITH_ALL(build__other_options_or_image__is_built),
        WITH_ALL(build__failed__is_not_kept),
        WITH_ALL(compiler__changed__is_asked_again),
        WITH_ALL(need_of_the_compiler__changed__it_is_asked_again),
        WITH_ALL(need_of_the_compiler__missing__is_named_with_its_package),
        WITH_ALL(file__damaged__is_built_again),
        WITH_ALL(cache__switched_off__is_not_used),
        WITH_ALL(cache__cannot_be_made__modules_are_built_all_the_same),
        WITH_ALL(cache__without_home__modules_are_built_all_the_same),
        WITH_ALL(processes__same_modules_at_once__all_are_right),
        WITH_ALL(threads__same_modules_at_once__all_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
