/* The plugin and its compiler: all that a process can do wrong, in all kinds of applications. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "build.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const struct host_setting patient[] = {
    {"compiler", FAKE_COMPILER}, {"cache_dir", "off"}, {NULL, NULL}};

static const struct host_setting impatient[] = {
    {"compiler", FAKE_COMPILER}, {"cache_dir", "off"}, {"compiler_timeout_s", "1"}, {NULL, NULL}};

static int open_patient(void **state)
{
    struct host *host = calloc(1, sizeof(*host));

    host_open(host, patient);
    *state = host;
    return 0;
}

static int close_host(void **state)
{
    host_close(*state);
    free(*state);
    return 0;
}

static void expect_kernels(struct host *host, struct build *build)
{
    struct zeta_plugin_array names = {0};

    if (build->result != ZETA_PLUGIN_SUCCESS)
        fail_msg("%s: %s", host_error(host), build->log);
    assert_int_equal(host->compute->module_kernel_names(host->self, build->module, &names), 0);
    assert_cmp(names.count, >, 1);
    host->compute->module_destroy(host->self, build->module);
}

static void expect_failure(struct host *host, const char *options, const char *words)
{
    struct build build;

    build_with(host, options, &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    if (!strstr(build.log, words))
        fail_msg("no '%s' in the log of '%s': %s", words, options, build.log);
    assert_non_null(strstr(host_error(host), "SPIR-V"));
}

/* Rule 6.1. */
static void answer__whole__is_the_module_whatever_the_end(void **state)
{
    static const char *const requests[] = {"", "slow", "status"};
    struct build build;

    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        build_with(*state, requests[i], &build);
        assert_non_null(strstr(build.log, "built by "));
        expect_kernels(*state, &build);
    }
}

static void answer__program_stays__is_ended(void **state)
{
    struct build build;

    build_with(*state, "linger", &build);
    assert_cmp(build_pid(&build), >, 0);
    assert_int_equal(kill((pid_t)build_pid(&build), 0), -1);
    assert_int_equal(errno, ESRCH);
    expect_kernels(*state, &build);
}

/* Rule 6.1. */
static void answer__wrong__fails_and_says_what(void **state)
{
    expect_failure(*state, "garbage", "not one of this version");
    expect_failure(*state, "version", "not one of this version");
    expect_failure(*state, "huge", "not one of this version");
    expect_failure(*state, "digest", "digest");
    expect_failure(*state, "partial", "in the middle of its answer");
    expect_failure(*state, "silence", "without an answer");
}

static void answer__no_kernel_file__fails_and_says_what(void **state)
{
    struct build build;

    build_module(*state, "", "no kernel file", 14, &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(build.log, "not an ELF file"));
}

static void answer__failed_build__has_the_log_of_the_compiler(void **state)
{
    expect_failure(*state, "fail", "built by ");
    expect_failure(*state, "tool", "built by ");
}

/* Rule 6.1. */
static void program__crashes__log_has_signal_and_last_words(void **state)
{
    struct build build;

    build_with(*state, "crash", &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(build.log, "the backend has met something impossible"));
    assert_non_null(strstr(build.log, "signal"));
}

/* Neither gone nor dead and waiting to be collected. */
static bool is_alive(long pid)
{
    char path[64], text[256] = "";
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    status = fopen(path, "r");
    if (!status)
        return false;
    if (!fgets(text, sizeof(text), status))
        text[0] = '\0';
    fclose(status);
    return text[0] && !strstr(text, ") Z ");
}

/* Rule 6.1. */
static void program__hangs__is_ended_with_all_it_started(void **state)
{
    struct host host;
    struct build build;
    long pid = 0, child = 0;
    const char *said;

    (void)state;
    host_open(&host, impatient);
    build_with(&host, "hang", &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(build.log, "too long"));
    said = strstr(build.log, "processes ");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "processes %ld %ld", &pid, &child), 2);
    assert_int_equal(kill((pid_t)pid, 0), -1);
    /* Whoever adopted the child may take a moment to collect it. */
    for (int ms = 0; ms < 10000 && is_alive(child); ms++)
        host_sleep_ms(1);
    assert_false(is_alive(child));
    host_close(&host);
}

/* Rule 6.3. */
static void program__does_not_listen__no_sigpipe(void **state)
{
    size_t size = 2 << 20;
    void *bytes = calloc(1, size);
    struct build build;

    assert_non_null(bytes);
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    build_module(*state, "deaf", bytes, size, &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    free(bytes);
}

static void program__large_request_and_answer__pass(void **state)
{
    size_t size, large = 4 << 20;
    void *kernels = build_kernels(&size);
    char *bytes = calloc(1, large);
    struct build build;

    assert_non_null(bytes);
    memcpy(bytes, kernels, size);
    build_module(*state, "", bytes, large, &build);
    expect_kernels(*state, &build);
    free(bytes);
    free(kernels);
}

/* A handler as in applications that collect every child. */
static void collect_all(int number)
{
    const int saved = errno;

    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

/* Rule 6.3. */
static void application__collects_children__changes_nothing(void **state)
{
    const struct sigaction ours = {.sa_handler = collect_all, .sa_flags = SA_RESTART};
    struct sigaction before;
    struct build build;

    assert_int_equal(sigaction(SIGCHLD, &ours, &before), 0);
    build_with(*state, "", &build);
    expect_kernels(*state, &build);
    expect_failure(*state, "crash", "without an answer");
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
}

/* Rule 6.3. */
static void application__ignores_sigchld__changes_nothing(void **state)
{
    struct build build;

    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    build_with(*state, "", &build);
    expect_kernels(*state, &build);
    build_with(*state, "linger", &build);
    expect_kernels(*state, &build);
    expect_failure(*state, "crash", "without an answer");
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

/* A set of signals in the log; without the two of the C library, which sets them for itself. */
static unsigned long long signals_of(const struct build *build, const char *key)
{
    const char *at = strstr(build->log, key);

    assert_non_null(at);
    return strtoull(at + strlen(key), NULL, 16) & ~0x180000000ull;
}

/* Rule 6.3. */
static void application__own_state__does_not_show_in_the_program(void **state)
{
    sigset_t some, before;
    struct build build;
    int descriptors[8];

    for (size_t i = 0; i < 8; i++)
        descriptors[i] = dup(2);
    setenv("LD_PRELOAD_OF_THE_TEST", "1", 1);
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigaddset(&some, SIGUSR1);
    assert_int_equal(sigprocmask(SIG_BLOCK, &some, &before), 0);
    assert_true(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
    build_with(*state, "state", &build);
    assert_true(signal(SIGUSR2, SIG_DFL) != SIG_ERR);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    unsetenv("LD_PRELOAD_OF_THE_TEST");
    for (size_t i = 0; i < 8; i++)
        close(descriptors[i]);

    assert_null(strstr(build.log, "OF_THE_TEST"));
    assert_null(strstr(build.log, "HOME="));
    assert_non_null(strstr(build.log, "environment LC_ALL=C\n"));
    assert_int_equal(signals_of(&build, "SigBlk:\t"), 0);
    assert_int_equal(signals_of(&build, "SigIgn:\t"), 0);
    assert_non_null(strstr(build.log, "descriptors 3\n"));
    assert_non_null(strstr(build.log, "folder /\n"));
    assert_non_null(strstr(build.log, "leads its group 1\n"));
    expect_kernels(*state, &build);
}

static bool is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) >= 0;
}

/* In a child: no standard streams at all. */
static int build_without_streams(struct host *host)
{
    struct build *build = calloc(1, sizeof(*build));

    close(0);
    close(1);
    close(2);
    build_with(host, "state", build);
    if (build->result != ZETA_PLUGIN_SUCCESS)
        return 1;
    if (!strstr(build->log, "descriptors 3\n"))
        return 2;
    return is_open(0) || is_open(1) || is_open(2) ? 3 : 0;
}

/* Rule 6.3. */
static void application__standard_streams_closed__stay_closed(void **state)
{
    int status = 0;
    pid_t child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(build_without_streams(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* In a child that begins anew, as libzeta lets it. */
static int build_after_fork(struct host *host)
{
    struct build *build = calloc(1, sizeof(*build));
    uint32_t count = 0;

    if (host->device_ops->child_after_fork(host->self) != ZETA_PLUGIN_SUCCESS ||
        host->device_ops->enumerate(host->self, 1, &host->device, &count) != ZETA_PLUGIN_SUCCESS)
        return 1;
    build_with(host, "", build);
    return build->result == ZETA_PLUGIN_SUCCESS ? 0 : 2;
}

static void application__forks__child_builds_too(void **state)
{
    int status = 0;
    pid_t child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(build_after_fork(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int build_without_descriptors(struct host *host)
{
    const struct rlimit few = {8, 8};
    struct build *build = calloc(1, sizeof(*build));

    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        return 77;
    while (dup(0) >= 0)
        continue;
    build_module(host, "", "12345678", 8, build);
    return build->result == ZETA_PLUGIN_MODULE_BUILD_FAILURE &&
                   strstr(build->log, "cannot be started")
               ? 0
               : 1;
}

static void application__no_descriptors_left__says_so(void **state)
{
    int status = 0;
    pid_t child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(build_without_descriptors(*state));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void image__no_spirv__is_refused_without_a_process(void **state)
{
    const uint32_t words[6] = {0x43c0de42, 1, 2, 3, 4, 5};
    struct host *host = *state;
    struct zeta_plugin_module_desc desc = {.struct_size = sizeof(desc),
                                           .format = ZETA_PLUGIN_MODULE_IL_SPIRV,
                                           .image = (const uint8_t *)words,
                                           .image_bytes = sizeof(words)};
    struct zeta_plugin_module *module = NULL;

    assert_int_equal(host->compute->module_create(host->self, host->device, &desc, NULL, &module),
                     ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(host_error(host), "0x43c0de42"));
    desc.image_bytes = 19;
    assert_int_equal(host->compute->module_create(host->self, host->device, &desc, NULL, &module),
                     ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(host_error(host), "19 bytes"));
}

static uint32_t spirv_version(struct host *host)
{
    struct zeta_plugin_device_properties p = {.struct_size = sizeof(p)};

    assert_int_equal(host->device_ops->properties(host->self, host->device, &p), 0);
    return p.spirv_version;
}

/* Rule 6.4. */
static void program__absent__named_with_its_package(void **state)
{
    static const struct host_setting absent[] = {{"compiler", "/nonexistent/zeta-vgpu-cc"},
                                                 {NULL, NULL}};
    struct host host;
    struct build build;

    assert_cmp(spirv_version(*state), >=, (1u << 16 | 2));
    host_open(&host, absent);
    assert_int_equal(spirv_version(&host), 0);
    build_with(&host, "", &build);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(build.log, "/nonexistent/zeta-vgpu-cc"));
    assert_non_null(strstr(build.log, "package zeta-vgpu-cc"));
    assert_non_null(strstr(build.log, "llvm-spirv-15"));
    host_close(&host);
}

static void program__cannot_be_executed__says_so(void **state)
{
    char path[] = "/tmp/zeta-test-compiler-XXXXXX";
    const struct host_setting settings[] = {{"compiler", path}, {"cache_dir", "off"}, {NULL, NULL}};
    int file = mkstemp(path);
    struct host host;
    struct build build;

    (void)state;
    assert_cmp(file, >=, 0);
    assert_int_equal(write(file, "no program\n", 11), 11);
    assert_int_equal(fchmod(file, 0700), 0);
    close(file);
    host_open(&host, settings);
    build_with(&host, "", &build);
    unlink(path);
    assert_int_equal(build.result, ZETA_PLUGIN_MODULE_BUILD_FAILURE);
    assert_non_null(strstr(build.log, strerror(ENOEXEC)));
    host_close(&host);
}

static void settings__wrong__disable_the_plugin_with_a_reason(void **state)
{
    static const struct host_setting wrong[][2] = {
        {{"compiler", "zeta-vgpu-cc"}, {NULL, NULL}},
        {{"cache_dir", "relative/path"}, {NULL, NULL}},
        {{"cache_size_bytes", "much"}, {NULL, NULL}},
        {{"cache_size_bytes", "-1"}, {NULL, NULL}},
        {{"compiler_timeout_s", "0"}, {NULL, NULL}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct host host;

        assert_int_equal(host_try_open(&host, wrong[i]), ZETA_PLUGIN_INVALID_ARGUMENT);
        assert_non_null(strstr(host_error(&host), wrong[i][0].name));
        assert_non_null(strstr(host_error(&host), wrong[i][0].value));
        host_close(&host);
    }
}

#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, open_patient, close_host)

SUITE(compiler)
{
    const struct CMUnitTest tests[] = {
        WITH_HOST(answer__whole__is_the_module_whatever_the_end),
        WITH_HOST(answer__program_stays__is_ended),
        WITH_HOST(answer__wrong__fails_and_says_what),
        WITH_HOST(answer__no_kernel_file__fails_and_says_what),
        WITH_HOST(answer__failed_build__has_the_log_of_the_compiler),
        WITH_HOST(program__crashes__log_has_signal_and_last_words),
        cmocka_unit_test(program__hangs__is_ended_with_all_it_started),
        WITH_HOST(program__does_not_listen__no_sigpipe),
        WITH_HOST(program__large_request_and_answer__pass),
        WITH_HOST(application__collects_children__changes_nothing),
        WITH_HOST(application__ignores_sigchld__changes_nothing),
        WITH_HOST(application__own_state__does_not_show_in_the_program),
        WITH_HOST(application__standard_streams_closed__stay_closed),
        WITH_HOST(application__no_descriptors_left__says_so),
        WITH_HOST(application__forks__child_builds_too),
        WITH_HOST(image__no_spirv__is_refused_without_a_process),
        WITH_HOST(program__absent__named_with_its_package),
        cmocka_unit_test(program__cannot_be_executed__says_so),
        cmocka_unit_test(settings__wrong__disable_the_plugin_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
