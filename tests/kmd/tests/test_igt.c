/*
 * Programs that nobody here wrote, unchanged on the emulated kernel: i915-perf-recorder,
 * i915-perf-reader, i915-perf-configs and lsgpu of intel-gpu-tools.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { SKIPPED = 77, RECORD_SAMPLE = 1, SAMPLE_BYTES = 264, WORDS = 66 };

/* The recorder's command pipe has one name for all. */
static const char fifo[] = "/tmp/.i915-perf-record";
static const char render_basic_tgl[] = "0fc397c0-4833-492c-9ccd-4929d574d5b8";

struct recording {
    uint8_t *data;
    size_t bytes;
    uint32_t samples;
    uint32_t first[WORDS], last[WORDS]; /* with their heads */
};

static pid_t start_tool(const char *output, const char *const *arguments)
{
    const pid_t child = fork();

    if (child == 0) {
        /* A case that fails must not leave it behind. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        (void)dup2(fd, 1);
        (void)dup2(fd, 2);
        (void)setenv("LD_PRELOAD", KMD_PRELOAD, 1);
        (void)execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    assert_cmp(child, >, 0);
    return child;
}

static int end_of(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_file(const char *path, uint8_t **out_data, size_t *out_bytes)
{
    FILE *file = fopen(path, "rb");
    struct stat status;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    *out_bytes = (size_t)status.st_size;
    *out_data = calloc(1, *out_bytes + 1);
    assert_non_null(*out_data);
    assert_int_equal(fread(*out_data, 1, *out_bytes, file), *out_bytes);
    (void)fclose(file);
}

/* Runs a tool to its end; what it wrote, to be freed. */
static char *run_tool(const char *folder, int expected_status, const char *const *arguments)
{
    char output[PATH_MAX];
    uint8_t *text;
    size_t bytes;

    (void)snprintf(output, sizeof(output), "%s/output", folder);
    assert_int_equal(end_of(start_tool(output, arguments)), expected_status);
    read_file(output, &text, &bytes);
    return (char *)text;
}

static void assert_contains(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is not in:\n%s", wanted, text);
}

static long long size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (long long)status.st_size : -1;
}

static bool is_running(pid_t child)
{
    siginfo_t end = {.si_pid = 0};

    return waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0;
}

/* Records until the file has so many bytes, then interrupts the recorder. */
static void record(const char *folder, const char *set, const char *file, long long bytes)
{
    const char *const arguments[] = {
        "i915-perf-recorder", "-m", set, "-p", "0.001", "-o", file, NULL};
    const struct timespec pause = {.tv_nsec = 20000000};
    char output[PATH_MAX];
    pid_t child;

    (void)unlink(fifo);
    (void)snprintf(output, sizeof(output), "%s/output", folder);
    child = start_tool(output, arguments);
    while (size_of(file) < bytes && is_running(child))
        (void)nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(end_of(child), 0);
    (void)unlink(fifo);
    assert_cmp(size_of(file), >=, bytes);
}

static uint64_t a40(const uint32_t *words, uint32_t n)
{
    const uint8_t *bytes = (const uint8_t *)(words + 2);

    return words[2 + 4 + n] | (uint64_t)bytes[160 + n] << 32;
}

/* A sample of format 10 against the trajectories. */
static void check_sample(const struct kmd_machine *machine, const uint32_t *words, uint64_t ticks)
{
#define AT(bank, n) kmd_counter(machine, 0, 0, render_basic_tgl, bank, n, ticks)
    assert_int_equal(words[1], SAMPLE_BYTES << 16);
    assert_int_equal(words[2 + 3], (uint32_t)AT(KMD_BANK_CLOCK, 0));
    for (uint32_t n = 0; n < 32; n++)
        assert_int_equal(a40(words, n), AT(KMD_BANK_A, n) & ((1ull << 40) - 1));
    for (uint32_t n = 0; n < 4; n++)
        assert_int_equal(words[2 + 36 + n], (uint32_t)AT(KMD_BANK_A, 32 + n));
    for (uint32_t n = 0; n < 8; n++) {
        assert_int_equal(words[2 + 48 + n], (uint32_t)AT(KMD_BANK_B, n));
        assert_int_equal(words[2 + 56 + n], (uint32_t)AT(KMD_BANK_C, n));
    }
#undef AT
}

/* Walks the records of a file; checks each sample. */
static void check_recording(const struct kmd_machine *machine, struct recording *recording)
{
    for (size_t at = 0; at < recording->bytes;) {
        uint32_t words[WORDS];
        uint32_t head[2];

        assert_cmp(at + sizeof(head), <=, recording->bytes);
        memcpy(head, recording->data + at, sizeof(head));
        assert_true(head[0] == RECORD_SAMPLE || head[0] >= 65536);
        if (head[0] == RECORD_SAMPLE) {
            memcpy(words, recording->data + at, sizeof(words));
            /* The clock starts with the machine, so it has not wrapped. */
            check_sample(machine, words, words[3]);
            memcpy(recording->samples == 0 ? recording->first : recording->last, words,
                   sizeof(words));
            recording->samples++;
        }
        at += head[1] >> 16;
    }
}

static char *make_folder(void)
{
    char *folder = strdup("/tmp/kmd-igt-XXXXXX");

    assert_non_null(folder);
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_folder(char *folder)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/output", folder);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/file", folder);
    (void)unlink(path);
    (void)rmdir(folder);
    free(folder);
}

static struct kmd_machine *start(const char *platform)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = platform}}, .is_privileged = true};

    return bed_start_config(&config);
}

/* What the reader prints for a sum between first and last sample. */
static void assert_sum(const char *text, const char *name, uint64_t sum)
{
    char line[128];

    (void)snprintf(line, sizeof(line), "   %s: %llu\n", name, (unsigned long long)sum);
    assert_contains(text, line);
}

static void recorder_and_reader__a_second__show_the_trajectories(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2");
    char *folder = make_folder();
    struct recording recording = {.samples = 0};
    char file[PATH_MAX];
    const char *const reader[] = {"i915-perf-reader", "-c",
                                  "GpuTime,GpuCoreClocks,VsThreads,EuActive", file, NULL};
    uint64_t ticks;
    char *text;

    (void)state;
    (void)snprintf(file, sizeof(file), "%s/file", folder);
    /* 600 samples of 1.7 ms. */
    record(folder, "RenderBasic", file, 600ll * SAMPLE_BYTES);
    read_file(file, &recording.data, &recording.bytes);
    check_recording(machine, &recording);
    assert_cmp(recording.samples, >=, 590);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_REPORTS_LOST), 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_ADDED), 26);

    text = run_tool(folder, 0, reader);
    assert_contains(text, "Metric used : RenderBasic");
    ticks = recording.last[3] - recording.first[3];
    assert_sum(text, "GpuTime", ticks * 1000000000 / 19200000);
    assert_sum(text, "GpuCoreClocks", recording.last[5] - recording.first[5]);
    assert_sum(text, "VsThreads", a40(recording.last, 1) - a40(recording.first, 1));
    free(text);
    free(recording.data);
    remove_folder(folder);
    kmd_stop(machine);
}

/* Whole ticks and nanoseconds: to a millionth. */
static void assert_frequency(const char *text, double mhz)
{
    static const char name[] = "AvgGpuCoreFrequency: ";
    const char *found = strstr(text, name);
    double hz;

    assert_non_null(found);
    hz = strtod(found + sizeof(name) - 1, NULL);
    assert_cmp(hz, >, mhz * 999999);
    assert_cmp(hz, <, mhz * 1000001);
}

static void recorder__other_generations__reader_sees_their_clock(void **state)
{
    static const struct {
        const char *platform;
        double mhz;
    } cases[] = {
        {"hsw-gt2", 1200},
        {"skl-gt2", 1050},
        /* This release of the tool halves the time of DG2, whatever the kernel. */
        {"dg2-g11", 4900},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kmd_machine *machine = start(cases[i].platform);
        char *folder = make_folder();
        char file[PATH_MAX];
        const char *const reader[] = {"i915-perf-reader", "-c", "AvgGpuCoreFrequency", file, NULL};
        char *text;

        (void)snprintf(file, sizeof(file), "%s/file", folder);
        record(folder, "RenderBasic", file, 100ll * SAMPLE_BYTES);
        text = run_tool(folder, 0, reader);
        assert_frequency(text, cases[i].mhz);
        free(text);
        remove_folder(folder);
        kmd_stop(machine);
    }
}

static void recorder__no_privilege__says_the_sysctl(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_paranoid = true};
    struct kmd_machine *machine = bed_start_config(&config);
    char *folder = make_folder();
    char file[PATH_MAX];
    const char *const recorder[] = {"i915-perf-recorder", "-m", "RenderBasic", "-o", file, NULL};
    char *text;

    (void)state;
    (void)snprintf(file, sizeof(file), "%s/file", folder);
    (void)unlink(fifo);
    text = run_tool(folder, 1, recorder);
    assert_contains(text, "sysctl dev.i915.perf_stream_paranoid=0");
    free(text);
    (void)unlink(fifo);
    remove_folder(folder);
    kmd_stop(machine);
}

static void configs__list_and_purge__ids_come_and_go(void **state)
{
    struct kmd_machine *machine = start("tgl-gt2");
    const int node = bed_node();
    char *folder = make_folder();
    const char *const list[] = {"i915-perf-configs", "-l", NULL};
    const char *const purge[] = {"i915-perf-configs", "-p", NULL};
    char *text;

    (void)state;
    assert_int_equal(bed_add(node, render_basic_tgl), 2);
    text = run_tool(folder, 0, list);
    assert_contains(text, "0fc397c0-4833-492c-9ccd-4929d574d5b8 id=002 name=RenderBasic");
    free(text);
    text = run_tool(folder, 0, purge);
    free(text);
    assert_int_equal(access("/sys/class/drm/card0/metrics", F_OK), 0);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_CONFIGS_REMOVED), 1);
    assert_int_equal(bed_add(node, render_basic_tgl), 3);
    remove_folder(folder);
    (void)close(node);
    kmd_stop(machine);
}

static void lsgpu__two_devices__both_with_their_nodes(void **state)
{
    const struct kmd_config config = {.device_count = 2,
                                      .devices = {{.platform = "tgl-gt2"}, {.platform = "skl-gt2"}},
                                      .is_privileged = true};
    struct kmd_machine *machine = bed_start_config(&config);
    char *folder = make_folder();
    const char *const arguments[] = {"lsgpu", NULL};
    char *text = run_tool(folder, 0, arguments);

    (void)state;
    assert_contains(text, "Intel Tigerlake (Gen12)           drm:/dev/dri/card0");
    assert_contains(text, "drm:/dev/dri/renderD128");
    assert_contains(text, "Intel Skylake (Gen9)              drm:/dev/dri/card1");
    assert_contains(text, "drm:/dev/dri/renderD129");
    free(text);
    remove_folder(folder);
    kmd_stop(machine);
}

SUITE(igt)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorder_and_reader__a_second__show_the_trajectories),
        cmocka_unit_test(recorder__other_generations__reader_sees_their_clock),
        cmocka_unit_test(recorder__no_privilege__says_the_sysctl),
        cmocka_unit_test(configs__list_and_purge__ids_come_and_go),
        cmocka_unit_test(lsgpu__two_devices__both_with_their_nodes),
    };

    if (access("/usr/bin/i915-perf-recorder", X_OK) != 0) {
        (void)fputs("skipped: intel-gpu-tools is not installed\n", stderr);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
