/* Where libraries are looked for, their functions, and NVML, which is opened when it is needed. */

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/nvidia/gpu/nvidia.h"
#include "tests/cuda/tests/bed.h"
#include "tests/nvidia/parts.h"

/* A name that no machine has. */
#define NAME "libzeta-no-such-thing.so.1"

static const struct nvidia_library_search search = {
    .setting = "thing",
    .names = {NAME},
    .folders = {"/usr/local/cuda*/lib64", "/usr/local/cuda*/extras"},
    .advice = "Look elsewhere.",
};

static char root[4096];

/*
 * Makes folders of the root, and in the last one a copy of a library under the name: links to one
 * file would all be the library that was opened first.
 */
static void add_library(const char *folder)
{
    char path[4352], command[4800];

    (void)snprintf(path, sizeof(path), "%s%s/" NAME, root, folder);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0755); /* most are there */
        *slash = '/';
    }
    (void)snprintf(command, sizeof(command), "cp '" CUDA_LIBRARIES "/libnvperf_host.so' '%s'",
                   path);
    assert_int_equal(system(command), 0);
}

/* Fails unless it is found there, "" for nowhere, opened or not. */
static void expect_found(const char *folder)
{
    struct nvidia_library library;
    char path[4352] = "";

    if (folder[0] != '\0')
        (void)snprintf(path, sizeof(path), "%s%s/" NAME, root, folder);
    assert_int_equal(nvidia_library_is_there(&parts_host, root, &search), folder[0] != '\0');
    assert_int_equal(nvidia_library_open(&library, &parts_host, root, &search), folder[0] != '\0');
    assert_string_equal(library.path, path);
    if (folder[0] != '\0')
        assert_string_equal(library.problem, "");
    else
        assert_non_null(strstr(library.problem, NAME " is not installed"));
}

static void check_places(void)
{
    char setting[4352];

    (void)snprintf(root, sizeof(root), "%.4000s/root", cuda_folder(bed_machine));
    expect_found("");
    add_library("/usr/local/cuda-9.2/extras");
    expect_found("/usr/local/cuda-9.2/extras");
    add_library("/usr/local/cuda-9.2/lib64");
    expect_found("/usr/local/cuda-9.2/lib64");
    add_library("/usr/local/cuda-13.0/lib64");
    expect_found("/usr/local/cuda-13.0/lib64");
    add_library("/chosen");
    (void)snprintf(setting, sizeof(setting), "%s/chosen", root);
    parts_set("thing", setting);
    expect_found("/chosen");
    (void)snprintf(setting, sizeof(setting), "%s/chosen/" NAME, root);
    parts_set("thing", setting);
    expect_found("/chosen");
    (void)snprintf(setting, sizeof(setting), "%s/usr", root);
    parts_set("thing", setting);
    expect_found("");
}

static void places__of_a_library__setting_then_newest_toolkit(void **state)
{
    (void)state;
    bed_run("gh100", check_places);
}

/* Only looked for: the real linker has a cache of its own. */
static bool is_in_cache(const char *bytes, size_t count)
{
    char path[4352];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/etc/ld.so.cache", root);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return nvidia_library_is_there(&parts_host, root, &search);
}

static void check_cache(void)
{
    static const char others[] = "cache\0" NAME "\0/opt/" NAME ".5\0/opt/" NAME;
    static const char there[] = "cache\0" NAME "\0/opt/" NAME "\0end";
    char path[4352];

    (void)snprintf(root, sizeof(root), "%.4000s/root", cuda_folder(bed_machine));
    (void)snprintf(path, sizeof(path), "%s/etc", root);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_false(is_in_cache(others, sizeof(others) - 1));
    assert_false(is_in_cache("", 0));
    assert_true(is_in_cache(there, sizeof(there)));
}

static void places__cache_of_the_linker__names_the_file(void **state)
{
    (void)state;
    bed_run("gh100", check_cache);
}

struct table {
    int (*nvmlInit_v2)(void);
    int (*nothing)(void);
};

static void check_functions(void)
{
    static const struct nvidia_symbol some[] = {
        {"nvmlInit_v2", offsetof(struct table, nvmlInit_v2), true},
        {"nothing", offsetof(struct table, nothing), false}};
    static const struct nvidia_symbol all[] = {
        {"nvmlInit_v2", offsetof(struct table, nvmlInit_v2), true},
        {"nothing", offsetof(struct table, nothing), true}};
    struct table table = {.nothing = (int (*)(void))check_places};
    struct nvidia_library library;

    parts_set("thing", CUDA_LIBRARIES "/libnvidia-ml.so.1");
    assert_true(nvidia_library_open(&library, &parts_host, "", &search));
    assert_true(nvidia_library_bind(&library, some, 2, "more", &table));
    assert_non_null(table.nvmlInit_v2);
    assert_null(table.nothing);
    assert_false(nvidia_library_bind(&library, all, 2, "a newer one", &table));
    assert_null(library.handle);
    assert_string_equal(library.problem, CUDA_LIBRARIES
                        "/libnvidia-ml.so.1 has no function nothing: Zeta needs a newer one.");
}

static void functions__missing__only_a_required_one_matters(void **state)
{
    (void)state;
    bed_run("gh100", check_functions);
}

/* ---- NVML -------------------------------------------------------------------------------------
 */

enum { THREADS = 4 };

static struct nvidia nvidia = {.host = &parts_host, .lock = PTHREAD_MUTEX_INITIALIZER};

static void *get_nvml(void *argument)
{
    const char *problem = NULL;

    *(const struct nvidia_nvml **)argument = nvidia_nvml_get(&nvidia, &problem);
    assert_non_null(problem);
    return NULL;
}

static void check_nvml(void)
{
    const struct nvidia_nvml *found[THREADS] = {NULL};
    pthread_t threads[THREADS];

    parts_set("libnvidia_ml", CUDA_LIBRARIES);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_nvml, &found[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_ptr_equal(found[i], &nvidia.nvml);
    assert_int_equal(cuda_calls(bed_machine, "nvmlInit_v2"), 1);
    nvidia_nvml_close(&nvidia.nvml);
    nvidia_nvml_close(&nvidia.nvml);
    assert_int_equal(cuda_calls(bed_machine, "nvmlShutdown"), 1);
}

static void check_no_nvml(void)
{
    const char *problem = NULL;

    parts_set("libnvidia_ml", cuda_folder(bed_machine));
    assert_null(nvidia_nvml_get(&nvidia, &problem));
    assert_non_null(strstr(problem, "libnvidia-ml.so.1 is not installed"));
    nvidia_nvml_close(&nvidia.nvml);
}

static void check_broken_nvml(void)
{
    const char *problem = NULL;

    parts_set("libnvidia_ml", CUDA_LIBRARIES);
    assert_true(cuda_fault(bed_machine, "nvmlInit_v2=9@1+"));
    for (int i = 0; i < 2; i++) {
        assert_null(nvidia_nvml_get(&nvidia, &problem));
        assert_non_null(strstr(problem, "nvmlInit returns 9"));
    }
    assert_int_equal(cuda_calls(bed_machine, "nvmlInit_v2"), 1);
}

static void nvml__asked_for_by_threads__is_opened_once(void **state)
{
    (void)state;
    bed_run("gh100", check_nvml);
    bed_run("gh100", check_no_nvml);
    bed_run("gh100", check_broken_nvml);
}

/* ---- a device that is lost --------------------------------------------------------------------
 */

static struct zeta_plugin_device device = {.nvidia = &nvidia, .name = "GPU", .id = "0000:06:00.0"};

static void *lose(void *argument)
{
    nvidia_device_lose(&device, "kernel %s", (const char *)argument);
    return NULL;
}

static void device__lost_by_threads__first_sentence_stays(void **state)
{
    static char names[THREADS][2] = {"a", "b", "c", "d"};
    struct zeta_plugin self = {.host = parts_host};
    pthread_t threads[THREADS];
    char first[ZETA_HOST_TEXT_BYTES];

    (void)state;
    assert_int_equal(nvidia_device_ops.status(&self, &device), ZETA_PLUGIN_SUCCESS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, lose, names[i]), 0);
    while (nvidia_device_ops.status(&self, &device) == ZETA_PLUGIN_SUCCESS)
        (void)sched_yield();
    (void)snprintf(first, sizeof(first), "%s", parts_sentence);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(nvidia_device_ops.status(&self, &device), ZETA_PLUGIN_DEVICE_LOST);
    assert_string_equal(parts_sentence, first);
    parts_expect_sentence("GPU (0000:06:00.0) is lost until the program ends: kernel ");
}

static void signals__blocked_and_restored__all_of_them(void **state)
{
    sigset_t before, now;

    (void)state;
    nvidia_signals_block(&before);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&now, signal), signal != SIGKILL && signal != SIGSTOP);
    nvidia_signals_restore(&before);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
    assert_int_equal(sigismember(&now, SIGUSR1), sigismember(&before, SIGUSR1));
}

SUITE(libraries)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__lost_by_threads__first_sentence_stays),
        cmocka_unit_test(functions__missing__only_a_required_one_matters),
        cmocka_unit_test(nvml__asked_for_by_threads__is_opened_once),
        cmocka_unit_test(places__cache_of_the_linker__names_the_file),
        cmocka_unit_test(places__of_a_library__setting_then_newest_toolkit),
        cmocka_unit_test(signals__blocked_and_restored__all_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
