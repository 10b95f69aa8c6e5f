/* What processes share: counters, units, the file; and what is left when one dies. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "host.h"
#include "kernel_file.h"
#include "plugins/vgpu/instance/instance_priv.h"
#include "tests/forked.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define REPORT 256u

enum { RETIRED = 5, FP32 = 7, GROUPS = 33, KERNELS = 34 };

static uint8_t reports[16384][REPORT];
static char directory[] = "/tmp/zeta-vgpu-test-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return !mkdtemp(directory) || setenv("XDG_RUNTIME_DIR", directory, 1) != 0;
}

/* Names in the directory; the last one is copied. */
static unsigned count_files(char *out_name, size_t bytes)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;
    unsigned count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (out_name)
            snprintf(out_name, bytes, "%s/%.200s", directory, entry->d_name);
    }
    closedir(listing);
    return count;
}

static int remove_directory(void **state)
{
    char path[300];

    (void)state;
    while (count_files(path, sizeof(path)) > 0 && unlink(path) == 0)
        ;
    return rmdir(directory);
}

/* Path of the file of this process's instance. */
static void instance_path(char *out_path, size_t bytes)
{
    snprintf(out_path, bytes, "%s/zeta-vgpu-%u-%s-%u", directory, (unsigned)geteuid(),
             getenv("ZETA_VGPU_INSTANCE"), ZETA_VGPU_LAYOUT_VERSION);
}

/* A descriptor of the memory of the instance that this process has, once more. */
static int open_memory(void)
{
    static const char wanted[] = "/memfd:zeta-vgpu-instance (deleted)";
    DIR *listing = opendir("/proc/self/fd");
    struct dirent *entry;
    int found = -1;

    assert_non_null(listing);
    while (found < 0 && (entry = readdir(listing)) != NULL) {
        char target[128];
        ssize_t length = readlinkat(dirfd(listing), entry->d_name, target, sizeof(target));

        if (length == (ssize_t)strlen(wanted) && memcmp(target, wanted, (size_t)length) == 0)
            found = openat(dirfd(listing), entry->d_name, O_RDWR | O_CLOEXEC);
    }
    closedir(listing);
    assert_cmp(found, >=, 0);
    return found;
}

static struct zeta_plugin_stream *open_stream(struct host *host, uint64_t period_ns)
{
    struct zeta_plugin_stream *stream = NULL;

    if (host_stream(host, "oa", period_ns, 1, NULL, &stream) != 0)
        fail_msg("stream_open: %s", host_error(host));
    return stream;
}

static uint64_t drain(struct host *host, struct zeta_plugin_stream *stream)
{
    return host_read(host, stream, reports, 16384, NULL);
}

/* Reads up to a report that knows everything that happened before. */
static uint64_t drain_past_now(struct host *host, struct zeta_plugin_stream *stream)
{
    return host_read_past_now(host, stream, reports, 16384);
}

static void run_spin(struct host *host, struct zeta_plugin_kernel *kernel,
                     struct zeta_plugin_queue *queue, uint32_t *out, uint32_t rounds)
{
    struct {
        void *out;
        uint32_t rounds, unused;
    } arguments = {out, rounds, 0};
    const struct zeta_plugin_command command = kernel_launch(kernel, &arguments, 4, 16);

    assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
}

/* A child that launches ten kernels each time it is told to, and then ends without a word. */
static void child_launches(const struct child *parent)
{
    struct host host;
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_queue *queue;
    uint32_t *out;

    host_open(&host, NULL);
    kernel = kernel_create(&host, kernel_file_load(&host), "spin");
    queue = host_queue(&host, 0);
    out = host_allocate(&host, 64 * sizeof(*out));
    child_say(parent->to);
    while (child_hear(parent->from)) {
        for (unsigned i = 0; i < 10; i++)
            run_spin(&host, kernel, queue, out, 100);
        child_say(parent->to);
    }
}

/* Rule 21.1. */
static void two_processes__child_runs__parent_counts_exactly(void **state)
{
    struct child children[2] = {child_start(child_launches), child_start(child_launches)};
    struct zeta_plugin_stream *stream;
    struct host host;
    uint64_t count;

    (void)state;
    host_open(&host, NULL);
    for (unsigned i = 0; i < 2; i++)
        assert_true(child_hear(children[i].from));
    stream = open_stream(&host, 1310720);
    for (unsigned round = 1; round <= 3; round++) {
        for (unsigned i = 0; i < 2; i++)
            child_say(children[i].to);
        for (unsigned i = 0; i < 2; i++)
            assert_true(child_hear(children[i].from));
    }
    /* Their end must not change anything, whoever tidies up after them. */
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(child_end(&children[i]), 0);
    host_sleep_ms(250);
    count = drain_past_now(&host, stream);
#define GREW(counter)                                                                              \
    (report_counter(reports[count - 1], counter) - report_counter(reports[0], counter))
    assert_int_equal(GREW(KERNELS), 60);
    assert_int_equal(GREW(GROUPS), 240);
    assert_cmp(GREW(RETIRED), >, 60 * 64 * 100);
    host.metric->stream_close(host.self, stream);
    host_close(&host);
}

/* Launches without end until it is killed. */
static void child_launches_on(const struct child *parent)
{
    struct host host;
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_queue *queue;
    uint32_t *out;

    host_open(&host, NULL);
    kernel = kernel_create(&host, kernel_file_load(&host), "spin");
    queue = host_queue(&host, 0);
    out = host_allocate(&host, 64 * sizeof(*out));
    child_say(parent->to);
    for (;;)
        run_spin(&host, kernel, queue, out, 50);
}

/* Rule 21.2. */
static void killed_processes__any_moment__totals_never_fall(void **state)
{
    enum { CHILDREN = 12 };
    struct child children[CHILDREN];
    struct zeta_plugin_stream *stream;
    struct host host;
    uint64_t count, last = 0;

    (void)state;
    for (unsigned i = 0; i < CHILDREN; i++) {
        children[i] = child_start(child_launches_on);
        assert_int_equal(kill(children[i].pid, 0), 0);
    }
    for (unsigned i = 0; i < CHILDREN; i++)
        assert_true(child_hear(children[i].from));
    host_open(&host, NULL);
    stream = open_stream(&host, 327680);
    for (unsigned i = 0; i < CHILDREN; i++) {
        int status;

        host_sleep_ms(i % 4);
        kill(children[i].pid, SIGKILL);
        status = child_end(&children[i]);
        assert_true(WIFSIGNALED(status));
        assert_cmp(WTERMSIG(status), ==, SIGKILL);
        count = drain(&host, stream);
        for (uint64_t r = 0; r < count; r++) {
            const uint64_t retired = report_counter(reports[r], RETIRED);

            /* A jump by a wrong sum would be far larger than what the machine can execute. */
            assert_cmp(retired, >=, last);
            assert_true(last == 0 || retired - last < UINT64_C(10000000000));
            last = retired;
        }
    }
    /* All are dead and folded: nothing moves any more. */
    host_sleep_ms(250);
    count = drain_past_now(&host, stream);
    last = report_counter(reports[count - 1], RETIRED);
    host_sleep_ms(250);
    count = drain_past_now(&host, stream);
    assert_int_equal(report_counter(reports[count - 1], RETIRED), last);
    assert_cmp(last, >, 0);
    host.metric->stream_close(host.self, stream);

    /* A stream of a later process begins with the same totals: they are in the base. */
    stream = open_stream(&host, 327680);
    (void)drain(&host, stream);
    assert_int_equal(report_counter(reports[0], RETIRED), last);
    host.metric->stream_close(host.self, stream);
    host_close(&host);
}

static void child_holds_unit(const struct child *parent)
{
    struct host host;

    host_open(&host, NULL);
    (void)open_stream(&host, 1000000);
    child_say(parent->to);
    (void)child_hear(parent->from);
}

/* Rule 21.3. */
static void unit__held_by_another__named_and_taken_over_after_its_death(void **state)
{
    struct child child = child_start(child_holds_unit);
    struct zeta_plugin_stream *stream;
    struct host host;
    uint32_t pid = 0;
    char text[32];
    int status;

    (void)state;
    host_open(&host, NULL);
    assert_true(child_hear(child.from));
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    snprintf(text, sizeof(text), "process %d ", (int)child.pid);
    assert_non_null(strstr(host_error(&host), text));
    assert_int_equal(host.metric->holder(host.self, host.device, host_string("oa"), &pid), 0);
    assert_int_equal(pid, child.pid);
    kill(child.pid, SIGKILL);
    status = child_end(&child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(host.metric->holder(host.self, host.device, host_string("oa"), &pid), 0);
    assert_int_equal(pid, 0);
    stream = open_stream(&host, 1000000);
    host.metric->stream_close(host.self, stream);
    host_close(&host);
}

static void child_waits_attached(const struct child *parent)
{
    static const struct host_setting settings[] = {{"fault.wrap_soon", "30"}, {NULL, NULL}};
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    struct host host;

    host_open(&host, settings);
    assert_int_equal(host.device_ops->clock(host.self, host.device, &clock), 0);
    child_say(parent->to);
    (void)child_hear(parent->from);
}

static uint64_t clock_of(struct host *host)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};

    assert_int_equal(host->device_ops->clock(host->self, host->device, &clock), 0);
    return clock.device_ticks - clock.host_ns / 40;
}

static int64_t monotonic_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void clock__shifted_by_the_first__same_for_the_others(void **state)
{
    const int64_t shift_ns = INT64_C(30000000000);
    const int64_t begun_ns = monotonic_ns();
    struct child child = child_start(child_waits_attached);
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    int64_t wrap_ns, attached_ns;
    struct host host;

    (void)state;
    assert_true(child_hear(child.from));
    attached_ns = monotonic_ns();
    host_open(&host, NULL);
    assert_int_equal(host.device_ops->clock(host.self, host.device, &clock), 0);
    /* Behind now, if this took long. */
    wrap_ns = (int64_t)clock.host_ns + (int64_t)((0 - clock.device_ticks) << 30) / (1 << 30) * 40;
    assert_cmp(wrap_ns, >=, begun_ns + shift_ns - 1000);
    assert_cmp(wrap_ns, <=, attached_ns + shift_ns + 1000);
    assert_cmp(clock_of(&host), !=, 0);
    host_close(&host);
    assert_int_equal(child_end(&child), 0);
    /* With nobody left the clock is the usual one again. */
    host_open(&host, NULL);
    assert_int_equal(clock_of(&host), 0);
    host_close(&host);
}

static void topology__other_one__refused_only_while_in_use(void **state)
{
    static const struct host_setting settings[] = {{"topology.slices", "3"}, {NULL, NULL}};
    struct child child = child_start(child_holds_unit);
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    struct host host;

    (void)state;
    assert_true(child_hear(child.from));
    host_open(&host, settings);
    assert_int_equal(host.device_ops->clock(host.self, host.device, &clock),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(host_error(&host), "ZETA_VGPU_INSTANCE"));
    kill(child.pid, SIGKILL);
    (void)child_end(&child);
    assert_int_equal(host.device_ops->clock(host.self, host.device, &clock), ZETA_PLUGIN_SUCCESS);
    host_close(&host);
}

/* Attaches once, with the file prepared by the caller. */
static uint32_t attach(char *out_error, size_t bytes)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    struct host host;
    uint32_t result;

    host_open(&host, NULL);
    result = host.device_ops->clock(host.self, host.device, &clock);
    snprintf(out_error, bytes, "%s", host_error(&host));
    host_close(&host);
    return result;
}

/* Rule 21.4. */
static void file__link_or_open_to_others__refused(void **state)
{
    char path[256], target[256], error[1024];
    int descriptor;

    (void)state;
    instance_path(path, sizeof(path));
    snprintf(target, sizeof(target), "%s/target", directory);
    descriptor = open(target, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_cmp(descriptor, >=, 0);
    close(descriptor);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(error, path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(target), 0);

    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_int_equal(fchmod(descriptor, 0644), 0);
    close(descriptor);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(error, "0600"));
    assert_int_equal(unlink(path), 0);

    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_int_equal(rmdir(path), 0);
}

/* Rubbish of any size in an unused file is begun anew. */
static void file__rubbish__begun_anew(void **state)
{
    static const long sizes[] = {0, 1, 4096, 1 << 20, 64 << 20};
    char path[256], error[1024];

    (void)state;
    instance_path(path, sizeof(path));
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        uint8_t rubbish[4096];

        memset(rubbish, 0xa5, sizeof(rubbish));
        for (long at = 0; at < sizes[i] && at < 1 << 20; at += (long)sizeof(rubbish))
            assert_int_equal(pwrite(descriptor, rubbish, sizeof(rubbish), at), sizeof(rubbish));
        assert_int_equal(ftruncate(descriptor, sizes[i]), 0);
        close(descriptor);
        assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(access(path, F_OK), -1); /* the last one removes it */
    }
}

/* Rubbish that another process of ours writes while we use the file costs right numbers only.
 * Rule 21.4. */
static void file__rubbish_while_in_use__no_crash(void **state)
{
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_queue *queue;
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_module *module;
    struct host host;
    uint32_t *out;
    int descriptor;
    unsigned seed = 1;

    (void)state;
    host_open(&host, NULL);
    queue = host_queue(&host, 0);
    module = kernel_file_load(&host);
    kernel = kernel_create(&host, module, "spin");
    out = host_allocate(&host, 64 * sizeof(*out));
    stream = open_stream(&host, 327680);
    descriptor = open_memory();
    for (unsigned i = 0; i < 2000; i++) {
        /* Behind the lock, which is no data: every program of this user could break it. */
        const long at =
            256 + (long)(((uint64_t)rand_r(&seed) * 8191) % (uint64_t)(1 << 20)) / 8 * 8;
        const uint64_t word = (uint64_t)rand_r(&seed) << 33 | (uint64_t)rand_r(&seed);

        assert_int_equal(pwrite(descriptor, &word, sizeof(word), at), sizeof(word));
        if (i % 200 == 0)
            run_spin(&host, kernel, queue, out, 50);
        if (i % 100 == 0)
            (void)drain(&host, stream);
    }
    close(descriptor);
    host.metric->stream_close(host.self, stream);
    host.compute->queue_destroy(host.self, queue);
    host.compute->kernel_destroy(host.self, kernel);
    host.compute->module_destroy(host.self, module);
    host_close(&host);
}

/* What a program printed went over the beginning of the file, or somebody broke only the lock. */
static void expect_unusable(const void *bytes, size_t size_bytes, long at)
{
    struct child child = child_start(child_waits_attached);
    char path[256], error[1024];
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_queue *queue;
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_module *module;
    struct host host;
    uint32_t *out;
    int descriptor;

    alarm(600); /* instead of waiting for ever */
    assert_true(child_hear(child.from));
    host_open(&host, NULL);
    queue = host_queue(&host, 0);
    module = kernel_file_load(&host);
    kernel = kernel_create(&host, module, "spin");
    out = host_allocate(&host, 64 * sizeof(*out));
    instance_path(path, sizeof(path));
    descriptor = open_memory();
    assert_int_equal(pwrite(descriptor, bytes, size_bytes, at), (ssize_t)size_bytes);
    close(descriptor);

    run_spin(&host, kernel, queue, out, 1);
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(host_error(&host), path));
    assert_non_null(strstr(host_error(&host), "ZETA_VGPU_INSTANCE"));
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(error, "overwritten"));
    host.compute->queue_destroy(host.self, queue);
    host.compute->kernel_destroy(host.self, kernel);
    host.compute->module_destroy(host.self, module);
    host_close(&host);
    assert_int_equal(child_end(&child), 0);
    /* With nobody left it is begun anew. */
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_SUCCESS);
    alarm(0);
}

static void file__overwritten_while_in_use__unusable_at_once(void **state)
{
    char text[4096];

    (void)state;
    memset(text, '7', sizeof(text));
    expect_unusable(text, sizeof(text), 0);
}

static void file__lock_of_nobody__unusable_after_a_while(void **state)
{
    /* Held by process 1, which lives and will not give it up. */
    const uint32_t owner = 1;

    (void)state;
    expect_unusable(&owner, sizeof(owner), 24);
}

/* Whatever becomes of the file with a name, who is attached goes on; nobody new finds them.
 * Rule 21.5. */
static void file__cut_or_gone_while_in_use__costs_nobody_anything(void **state)
{
    struct child child = child_start(child_waits_attached);
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_queue *queue;
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_module *module;
    char path[256], error[1024];
    struct host host;
    uint32_t *out;

    (void)state;
    assert_true(child_hear(child.from));
    host_open(&host, NULL);
    queue = host_queue(&host, 0);
    module = kernel_file_load(&host);
    kernel = kernel_create(&host, module, "spin");
    out = host_allocate(&host, 64 * sizeof(*out));
    instance_path(path, sizeof(path));
    run_spin(&host, kernel, queue, out, 1);
    for (long size = 1 << 20; size >= 0; size = size > 0 ? 0 : -1) {
        assert_int_equal(truncate(path, size), 0);
        run_spin(&host, kernel, queue, out, 10);
        stream = open_stream(&host, 1000000);
        (void)drain_past_now(&host, stream);
        host.metric->stream_close(host.self, stream);
    }
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(error, "overwritten"));
    assert_non_null(strstr(error, "more rights"));
    assert_non_null(strstr(error, "ZETA_VGPU_INSTANCE"));
    assert_int_equal(unlink(path), 0);
    run_spin(&host, kernel, queue, out, 10);
    host.compute->queue_destroy(host.self, queue);
    host.compute->kernel_destroy(host.self, kernel);
    host.compute->module_destroy(host.self, module);
    host_close(&host);
    assert_int_equal(child_end(&child), 0);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_SUCCESS);
}

/* Who began it may end: others are found as well. Rule 21.5. */
static void memory__of_an_ended_maker__is_found_at_others(void **state)
{
    struct child first = child_start(child_waits_attached);
    struct child second;
    struct host host;

    (void)state;
    assert_true(child_hear(first.from));
    second = child_start(child_waits_attached);
    assert_true(child_hear(second.from));
    assert_int_equal(child_end(&first), 0);
    host_open(&host, NULL);
    /* The clock that the first one shifted. */
    assert_cmp(llabs((int64_t)clock_of(&host)), >, 25000000);
    host_close(&host);
    assert_int_equal(child_end(&second), 0);
}

/* Mounts of its own, so that /dev/shm can be filled as somebody else would. */
static bool has_own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* In a child: somebody else has the names that are ours. */
static int attach_where_names_are_taken(void)
{
    char path[128], home[64] = "/tmp/zeta-vgpu-home-XXXXXX", error[1024] = "";

    snprintf(path, sizeof(path), "/dev/shm/zeta-vgpu-%u", (unsigned)geteuid());
    if (!has_own_mounts() || mount("none", "/dev/shm", "tmpfs", 0, "mode=1777") != 0)
        return 77;
    if (unsetenv("XDG_RUNTIME_DIR") != 0 || mkdir(path, 0700) != 0 || chown(path, 1234, 1234) != 0)
        return 1;
    (void)unsetenv("HOME");
    if (attach(error, sizeof(error)) == ZETA_PLUGIN_SUCCESS)
        return 2;
    if (!strstr(error, path) || !strstr(error, "Set XDG_RUNTIME_DIR"))
        return 3;
    if (!mkdtemp(home) || setenv("HOME", home, 1) != 0 ||
        attach(error, sizeof(error)) != ZETA_PLUGIN_SUCCESS)
        return 4;
    snprintf(path, sizeof(path), "%s/.cache/zeta", home);
    if (rmdir(path) != 0)
        return 5;
    snprintf(path, sizeof(path), "%s/.cache", home);
    return rmdir(path) == 0 && rmdir(home) == 0 ? 0 : 6;
}

/* In a child: a folder of this user alone is made where none is named. */
static int attach_without_a_name(void)
{
    char path[128], error[1024] = "";
    struct stat status;

    snprintf(path, sizeof(path), "/dev/shm/zeta-vgpu-%u", (unsigned)geteuid());
    if (!has_own_mounts() || mount("none", "/dev/shm", "tmpfs", 0, "mode=1777") != 0)
        return 77;
    if (unsetenv("XDG_RUNTIME_DIR") != 0 || attach(error, sizeof(error)) != ZETA_PLUGIN_SUCCESS)
        return 1;
    return stat(path, &status) == 0 && (status.st_mode & 07777) == 0700 ? 0 : 2;
}

/* In a child with mounts of its own: attaches in a file system without room. */
static int attach_without_room(void)
{
    char error[1024] = "", path[128];
    static const char filling[4096];
    int file;

    if (!has_own_mounts() || mount("none", directory, "tmpfs", 0, "size=4k,mode=700") != 0)
        return 77;
    snprintf(path, sizeof(path), "%s/filling", directory);
    file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0 || write(file, filling, sizeof(filling)) != (ssize_t)sizeof(filling))
        return 4;
    if (attach(error, sizeof(error)) == ZETA_PLUGIN_SUCCESS)
        return 2;
    return strstr(error, directory) && strstr(error, strerror(ENOSPC)) ? 0 : 3;
}

/* A directory of this user in which nobody can make a file. */
static void directory__without_new_files__said_with_what_to_do(void **state)
{
    char error[1024], before[64];

    (void)state;
    snprintf(before, sizeof(before), "%s", getenv("XDG_RUNTIME_DIR"));
    setenv("XDG_RUNTIME_DIR", "/proc/self", 1);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_NOT_AVAILABLE);
    assert_non_null(strstr(error, "/proc/self/zeta-vgpu-"));
    assert_non_null(strstr(error, "XDG_RUNTIME_DIR can name"));
    setenv("XDG_RUNTIME_DIR", before, 1);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_SUCCESS);
}

static void run_with_own_mounts(int (*steps)(void))
{
    const pid_t child = fork_child();
    int status = 0;

    assert_cmp(child, >=, 0);
    if (child == 0)
        _exit(steps());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("skipped: only root can mount file systems\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Rule 21.7. */
static void file_system__without_room__said_and_no_crash(void **state)
{
    (void)state;
    run_with_own_mounts(attach_without_room);
}

/* Rule 21.6. */
static void directory__none_named__is_one_of_this_user_alone(void **state)
{
    (void)state;
    run_with_own_mounts(attach_without_a_name);
}

/* Rule 21.6. */
static void directory__name_taken_by_another_user__home_or_said_what_to_do(void **state)
{
    (void)state;
    run_with_own_mounts(attach_where_names_are_taken);
}

/* Rule 21.4. */
static void files_of_dead_processes__next_attach__removed(void **state)
{
    struct child child;
    char error[1024], before[64];

    (void)state;
    snprintf(before, sizeof(before), "%s", getenv("ZETA_VGPU_INSTANCE"));
    setenv("ZETA_VGPU_INSTANCE", "other.one", 1);
    child = child_start(child_holds_unit);
    setenv("ZETA_VGPU_INSTANCE", before, 1);
    assert_true(child_hear(child.from));
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(count_files(NULL, 0), 1); /* in use: left alone */
    kill(child.pid, SIGKILL);
    (void)child_end(&child);
    assert_int_equal(count_files(NULL, 0), 1);
    assert_int_equal(attach(error, sizeof(error)), ZETA_PLUGIN_SUCCESS);
    assert_int_equal(count_files(NULL, 0), 0);
}

static unsigned count_entries(const char *path)
{
    DIR *listing = opendir(path);
    unsigned count = 0;

    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

static void init_and_finish__a_hundred_times__nothing_left(void **state)
{
    unsigned descriptors = 0, threads = 0;

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        struct host host;
        struct zeta_plugin_module *module;
        struct zeta_plugin_kernel *kernel;
        struct zeta_plugin_queue *queue;
        struct zeta_plugin_stream *stream;
        uint32_t *out;

        host_open(&host, NULL);
        module = kernel_file_load(&host);
        kernel = kernel_create(&host, module, "spin");
        queue = host_queue(&host, 0);
        out = host_allocate(&host, 64 * sizeof(*out));
        stream = open_stream(&host, 1000000);
        run_spin(&host, kernel, queue, out, 1);
        host.metric->stream_close(host.self, stream);
        host.compute->queue_destroy(host.self, queue);
        host.compute->kernel_destroy(host.self, kernel);
        host.compute->module_destroy(host.self, module);
        /* The same object again, without a new negotiation. */
        host.ops->finish(host.self);
        assert_int_equal(host.ops->init(host.self), ZETA_PLUGIN_SUCCESS);
        host_close(&host);
        if (i == 0) {
            descriptors = count_entries("/proc/self/fd");
            threads = count_entries("/proc/self/task");
        }
    }
    assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    assert_int_equal(count_entries("/proc/self/task"), threads);
    assert_int_equal(count_files(NULL, 0), 0);
}

SUITE(instance)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_processes__child_runs__parent_counts_exactly, child_teardown),
        cmocka_unit_test_teardown(killed_processes__any_moment__totals_never_fall, child_teardown),
        cmocka_unit_test_teardown(unit__held_by_another__named_and_taken_over_after_its_death,
                                  child_teardown),
        cmocka_unit_test_teardown(clock__shifted_by_the_first__same_for_the_others, child_teardown),
        cmocka_unit_test_teardown(topology__other_one__refused_only_while_in_use, child_teardown),
        cmocka_unit_test(file__link_or_open_to_others__refused),
        cmocka_unit_test(directory__without_new_files__said_with_what_to_do),
        cmocka_unit_test(file__rubbish__begun_anew),
        cmocka_unit_test(file__rubbish_while_in_use__no_crash),
        cmocka_unit_test_teardown(file__overwritten_while_in_use__unusable_at_once, child_teardown),
        cmocka_unit_test_teardown(file__lock_of_nobody__unusable_after_a_while, child_teardown),
        cmocka_unit_test_teardown(file__cut_or_gone_while_in_use__costs_nobody_anything,
                                  child_teardown),
        cmocka_unit_test_teardown(memory__of_an_ended_maker__is_found_at_others, child_teardown),
        cmocka_unit_test(directory__none_named__is_one_of_this_user_alone),
        cmocka_unit_test(directory__name_taken_by_another_user__home_or_said_what_to_do),
        cmocka_unit_test(file_system__without_room__said_and_no_crash),
        cmocka_unit_test_teardown(files_of_dead_processes__next_attach__removed, child_teardown),
        cmocka_unit_test(init_and_finish__a_hundred_times__nothing_left),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
