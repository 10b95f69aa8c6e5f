/* Negotiation, the description of the device, settings, clocks, forks. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host.h"
#include "tests/forked.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static struct zeta_plugin_device_properties properties_of(struct host *host,
                                                          struct zeta_plugin_device *device)
{
    struct zeta_plugin_device_properties p = {.struct_size = sizeof(p)};

    assert_int_equal(host->device_ops->properties(host->self, device, &p), 0);
    return p;
}

static bool equal(struct zeta_plugin_string text, const char *expected)
{
    return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

static void negotiate__foreign_version__refused(void **state)
{
    struct host host;
    struct zeta_plugin_offer offer = {.struct_size = sizeof(offer), .abi_min = 2, .abi_max = 9};
    struct zeta_plugin_answer answer = {.struct_size = sizeof(answer)};
    union {
        void *pointer;
        zeta_plugin_negotiate_fn function;
    } entry;

    (void)state;
    host_open(&host, NULL);
    entry.pointer = dlsym(host.library, "zeta_plugin_negotiate");
    assert_int_equal(entry.function(&offer, &answer), ZETA_PLUGIN_UNSUPPORTED_VERSION);
    host_close(&host);
}

static void properties__default_device__as_documented(void **state)
{
    struct zeta_plugin_device_properties p;
    const struct zeta_plugin_queue_group *groups;
    uint32_t count = 0;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    assert_int_equal(host.device_ops->enumerate(host.self, 0, NULL, &count), 0);
    assert_int_equal(count, 1);
    p = properties_of(&host, host.device);
    assert_true(equal(p.id, "vgpu0"));
    assert_int_equal(p.type, ZETA_PLUGIN_DEVICE_GPU);
    assert_cmp(p.vendor_id, >, 0xffff);
    assert_int_equal(p.parent, UINT32_MAX);
    assert_int_equal(p.timer_hz, 25000000);
    assert_int_equal(p.timestamp_valid_bits, 34);
    assert_int_equal(p.kernel_timestamp_valid_bits, 34);
    assert_int_equal(p.slices, 2);
    assert_int_equal(p.subslices_per_slice, 2);
    assert_int_equal(p.eus_per_subslice, 32);
    assert_int_equal(p.threads_per_eu, 16);
    assert_int_equal(p.max_group_size, 512);
    assert_int_equal(p.max_shared_local_bytes, 65536);
    assert_cmp(p.subgroup_sizes.count, >, 0);
    assert_int_equal(p.queue_groups.count, 2);
    groups = p.queue_groups.data;
    assert_int_equal(groups[0].flags & ZETA_PLUGIN_QUEUE_COMPUTE, ZETA_PLUGIN_QUEUE_COMPUTE);
    assert_int_equal(groups[1].flags, ZETA_PLUGIN_QUEUE_COPY);
    assert_int_equal(p.has_pci, 1);
    assert_int_equal(p.ip_version, 0x10000);
    assert_cmp((p.flags & ZETA_PLUGIN_DEVICE_READ_ONLY_ENFORCED), !=, 0);
    assert_int_equal(p.fp32_flags, p.fp64_flags);
    assert_cmp(p.fp64_flags, !=, 0);
    assert_int_equal(((const struct zeta_plugin_cache *)p.caches.data)->line_bytes, 64);
    host_close(&host);
}

/* A host that was built with a shorter struct gets only what it knows. */
static void properties__short_struct__nothing_behind_it(void **state)
{
    struct zeta_plugin_device_properties p;
    struct host host;

    (void)state;
    memset(&p, 0xee, sizeof(p));
    p.struct_size = offsetof(struct zeta_plugin_device_properties, device_id);
    host_open(&host, NULL);
    assert_int_equal(host.device_ops->properties(host.self, host.device, &p), 0);
    assert_true(equal(p.id, "vgpu0"));
    assert_int_equal(p.struct_size, offsetof(struct zeta_plugin_device_properties, device_id));
    assert_int_equal(p.device_id, 0xeeeeeeee);
    host_close(&host);
}

/* The installed file says nothing else than the device without a file. */
static void device_file__as_shipped__equals_built_in(void **state)
{
    char path[] = "/tmp/zeta-vgpu-XXXXXX";
    const struct host_setting settings[] = {{"device", path}, {NULL, NULL}};
    const int descriptor = mkstemp(path);
    struct zeta_plugin_device_properties with, without;
    struct host first, second;

    (void)state;
    assert_cmp(descriptor, >=, 0);
    host_open(&first, NULL);
    host_open(&second, settings);
    with = properties_of(&first, first.device);
    without = properties_of(&second, second.device);
    assert_true(equal(with.name, without.name.data));
    assert_true(equal(with.vendor, without.vendor.data));
    assert_memory_equal(with.uuid, without.uuid, 16);
    assert_int_equal(with.vendor_id, without.vendor_id);
    assert_int_equal(with.pci_domain, without.pci_domain);
    assert_int_equal(with.slices, without.slices);
    assert_int_equal(with.subslices_per_slice, without.subslices_per_slice);
    assert_int_equal(with.eus_per_subslice, without.eus_per_subslice);
    assert_int_equal(with.threads_per_eu, without.threads_per_eu);
    assert_int_equal(with.core_clock_mhz, without.core_clock_mhz);
    assert_int_equal(with.max_allocation_bytes, without.max_allocation_bytes);
    assert_int_equal(with.max_shared_local_bytes, without.max_shared_local_bytes);
    for (unsigned i = 0; i < 2; i++) {
        const struct zeta_plugin_cache *a = with.caches.data, *b = without.caches.data;

        assert_int_equal(a[i].size_bytes, b[i].size_bytes);
    }
    host_close(&second);
    host_close(&first);
    assert_int_equal(close(descriptor), 0);
    assert_int_equal(unlink(path), 0);
}

static void tiles__two__listed_behind_their_root(void **state)
{
    static const struct host_setting settings[] = {
        {"tiles", "2"}, {"id", "big"}, {"name", "GPU with tiles"}, {NULL, NULL}};
    struct zeta_plugin_device *devices[3];
    struct zeta_plugin_device_properties p[3];
    struct zeta_plugin_stream *stream, *other;
    struct host host;
    uint32_t count;

    (void)state;
    host_open(&host, settings);
    assert_int_equal(host.device_ops->enumerate(host.self, 3, devices, &count), 0);
    assert_int_equal(count, 3);
    for (unsigned i = 0; i < 3; i++)
        p[i] = properties_of(&host, devices[i]);
    assert_true(equal(p[0].id, "big"));
    assert_true(equal(p[2].id, "big.1"));
    assert_int_equal(p[0].slices, 4);
    assert_int_equal(p[1].slices, 2);
    assert_int_equal(p[1].parent, 0);
    assert_int_equal(p[2].tile, 1);
    assert_memory_not_equal(p[1].uuid, p[2].uuid, 16);
    assert_memory_not_equal(p[0].uuid, p[1].uuid, 16);

    /* Each tile has units of its own; the root needs those of both. */
    host.device = devices[2];
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream), 0);
    host.device = devices[0];
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &other),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    host.metric->stream_close(host.self, stream);
    host.device = devices[1];
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream), 0);
    host.metric->stream_close(host.self, stream);
    host.device = devices[0];
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream), 0);
    host.metric->stream_close(host.self, stream);
    host_close(&host);
}

static uint64_t symbol_of(struct host *host, const char *name)
{
    struct zeta_plugin_array symbols;
    uint64_t value = 0;

    assert_int_equal(host->metric->symbols(host->self, host->device, &symbols), 0);
    for (uint64_t i = 0; i < symbols.count; i++) {
        const struct zeta_plugin_symbol *symbol =
            (const void *)((const char *)symbols.data + i * symbols.stride);

        if (equal(symbol->name, name))
            value = symbol->u64;
    }
    return value;
}

/* Every number that the set files of the virtual GPU ask the provider for, and no other name. */
static void symbols__set_files__declare_the_same(void **state)
{
    const struct zeta_plugin_symbol *symbol;
    struct zeta_plugin_array symbols;
    struct host host;
    FILE *file = fopen(ZETA_SOURCE_DIR "/plugins/vgpu/metrics/layout.yaml", "r");
    unsigned declared = 0;
    char line[512];

    (void)state;
    assert_non_null(file);
    host_open(&host, NULL);
    assert_int_equal(host.metric->symbols(host.self, host.device, &symbols), 0);
    while (fgets(line, sizeof(line), file)) {
        bool found = false;
        char *colon = strchr(line, ':');

        if (!strstr(line, "from: provider") || !colon)
            continue;
        *colon = '\0';
        declared++;
        for (uint64_t i = 0; i < symbols.count; i++) {
            symbol = (const void *)((const char *)symbols.data + i * symbols.stride);
            found |= equal(symbol->name, line + strspn(line, " "));
        }
        if (!found)
            fail_msg("the plugin has no symbol %s", line);
    }
    fclose(file);
    assert_int_equal(declared, symbols.count);
    assert_int_equal(symbol_of(&host, "EuCoresTotalCount"), 128);
    assert_int_equal(symbol_of(&host, "GpuTimestampFrequency"), 25000000);
    host_close(&host);
}

/* Each tile of one EU has a copy engine that moves more than the EU can. */
static void symbols__few_eus__the_rate_is_that_of_copies(void **state)
{
    static const struct host_setting small[] = {{"clock", "virtual"},
                                                {"tiles", "2"},
                                                {"topology.slices", "1"},
                                                {"topology.subslices_per_slice", "1"},
                                                {"topology.eus_per_subslice", "1"},
                                                {NULL, NULL}};
    struct host host;

    (void)state;
    host_open(&host, small);
    assert_int_equal(symbol_of(&host, "EuCoresTotalCount"), 2);
    assert_cmp(symbol_of(&host, "WorkRateLimit"), ==, 128 * symbol_of(&host, "GpuMaxFrequency"));
    host_close(&host);
}

/* Rule 4.6. */
static void settings__bad_values__refused_with_name_and_range(void **state)
{
    static const char *const bad[][3] = {
        {"tiles", "5", "from 1 to 4"},
        {"tiles", "two", "from 1 to 4"},
        {"tiles", "", "from 1 to 4"},
        {"vendor_id", "0x8086", "65536"},
        {"device_id", "0x56c0", "another timer"},
        {"device_id", "0x10b6a", "another timer"},
        {"identity", "unknown-like", "zeta or intel-like"},
        {"name", "", "bytes"},
        {"id", "a/b", "letters"},
        {"instance", "../x", "letters"},
        {"clock", "sundial", "wall or virtual"},
        {"uuid", "12", "hexadecimal"},
        {"pci", "1:2", "domain:bus"},
        {"topology.slices", "64", "subslices"},
        {"topology.threads_per_eu", "64", "from 1 to 1024"},
        {"topology.l1_kib", "48", "power of two"},
        {"device", "/nonexistent/device.yaml", "cannot be opened"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct host_setting settings[] = {{bad[i][0], bad[i][1]}, {NULL, NULL}};
        struct host host;

        unsetenv("ZETA_VGPU_INSTANCE");
        assert_int_equal(host_try_open(&host, settings), ZETA_PLUGIN_INVALID_ARGUMENT);
        if (!strstr(host_error(&host), bad[i][2]))
            fail_msg("%s: %s", bad[i][0], host_error(&host));
        host_close(&host);
    }
    setenv("ZETA_VGPU_INSTANCE", "plugin.vgpu.device", 1);
}

static void device_file__bad_yaml__place_and_reason(void **state)
{
    static const char *const bad[][2] = {
        {"tiles: [1]\n", ":1:8: a list"},
        {"topology:\n  slices: 99\n", ":2:11: topology.slices"},
        {"a: {b: {c: 1}}\n", ":1:8: a mapping"},
        {"name: \"x\n", ":2:"},
        {"- tiles\n", ":1:1: a list"},
        {"tiles\n", ":1:1: a mapping of names"},
        {"format: \"2.0\"\n", ":1:9: only format 1"},
        {"tiles: *a\n", ":1:8:"},
        {"\x01\n", "device.yaml:"},
    };
    char path[] = "/tmp/zeta-vgpu-XXXXXX";
    const struct host_setting settings[] = {{"device", path}, {NULL, NULL}};
    int descriptor = mkstemp(path);

    (void)state;
    assert_cmp(descriptor, >=, 0);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const size_t length = strlen(bad[i][0]);
        const char *expected = strncmp(bad[i][1], "device", 6) == 0 ? path : bad[i][1];
        struct host host;

        assert_int_equal(ftruncate(descriptor, 0), 0);
        assert_int_equal(pwrite(descriptor, bad[i][0], length, 0), length);
        assert_int_equal(host_try_open(&host, settings), ZETA_PLUGIN_INVALID_ARGUMENT);
        if (!strstr(host_error(&host), expected))
            fail_msg("%s gives: %s", bad[i][0], host_error(&host));
        host_close(&host);
    }
    close(descriptor);
    unlink(path);
}

/* Opening it would wait for somebody who writes. */
static void device_file__pipe__refused(void **state)
{
    char folder[] = "/tmp/zeta-vgpu-XXXXXX";
    char path[64];
    const struct host_setting settings[] = {{"device", path}, {NULL, NULL}};
    struct host host;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/device.yaml", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(host_try_open(&host, settings), ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(&host), "not a regular file"));
    host_close(&host);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void clock__read_twice__one_clock_with_the_host(void **state)
{
    struct zeta_plugin_clock first = {.struct_size = sizeof(first)}, second = first;
    struct timespec now;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    assert_int_equal(host.device_ops->clock(host.self, host.device, &first), 0);
    host_sleep_ms(2);
    assert_int_equal(host.device_ops->clock(host.self, host.device, &second), 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert_cmp(second.host_ns, >=, first.host_ns + 2000000);
    assert_cmp(second.host_ns, <=, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    assert_int_equal(second.device_ticks - first.device_ticks,
                     second.host_ns / 40 - first.host_ns / 40);
    host_close(&host);
}

/* Two objects of one library: two instances side by side, nothing shared. */
static void objects__two_of_one_library__independent(void **state)
{
    static const struct host_setting one[] = {{"instance", "one"}, {NULL, NULL}};
    static const struct host_setting two[] = {{"instance", "two"}, {"tiles", "2"}, {NULL, NULL}};
    struct zeta_plugin_stream *streams[2];
    struct zeta_plugin_device_properties p[2];
    struct host hosts[2];

    (void)state;
    unsetenv("ZETA_VGPU_INSTANCE");
    host_open(&hosts[0], one);
    host_open(&hosts[1], two);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(host_stream(&hosts[i], "oa", 1000000, 1, NULL, &streams[i]), 0);
        p[i] = properties_of(&hosts[i], hosts[i].device);
    }
    assert_memory_not_equal(p[0].uuid, p[1].uuid, 16);
    for (unsigned i = 0; i < 2; i++) {
        hosts[i].metric->stream_close(hosts[i].self, streams[i]);
        host_close(&hosts[i]);
    }
    setenv("ZETA_VGPU_INSTANCE", "plugin.vgpu.device", 1);
}

static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;

    assert_non_null(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

static void finish__queues_and_streams_left__stops_them(void **state)
{
    static const struct host_setting virtual_time[] = {{"clock", "virtual"}, {NULL, NULL}};
    static struct zeta_plugin_event never; /* outlives a queue that would wait on */
    struct zeta_plugin_event *waits[1] = {&never};
    struct zeta_plugin_command waiting = host_command(ZETA_PLUGIN_COMMAND_BARRIER);
    const unsigned threads = count_threads();

    (void)state;
    waiting.wait_events = waits;
    waiting.wait_count = 1;
    alarm(600); /* instead of waiting for ever */
    for (unsigned i = 0; i < 4; i++) {
        struct zeta_plugin_stream *stream;
        struct zeta_plugin_queue *queue;
        struct host_work work;
        struct host host;

        host_open(&host, i % 2 == 0 ? NULL : virtual_time);
        queue = host_queue(&host, 0);
        assert_int_equal(host_submit(&host, queue, &waiting, 1, &work), ZETA_PLUGIN_SUCCESS);
        (void)host_queue(&host, 1);
        assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream), 0);
        host_close(&host);
        assert_int_equal(work.done, 1);
        assert_int_equal(work.result, ZETA_PLUGIN_DEVICE_LOST);
    }
    /* The kernel may show a thread for a moment after it was joined. */
    while (count_threads() > threads)
        host_sleep_ms(1);
    alarm(0);
}

/* Rule 1.6. */
static void fork__with_queue_and_stream__child_begins_anew(void **state)
{
    struct host host;
    struct zeta_plugin_queue *queue;
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_command barrier = host_command(ZETA_PLUGIN_COMMAND_BARRIER);
    pid_t child;
    int status;

    (void)state;
    if (NO_FORK_OF_BUSY_THREADS) {
        print_message("skipped: the sanitizers do not follow a fork of a process with threads\n");
        skip();
    }
    host_open(&host, NULL);
    queue = host_queue(&host, 0);
    assert_int_equal(host_run(&host, queue, &barrier, 1), 0);
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream), 0);
    child = fork_child();
    assert_cmp(child, >=, 0);
    if (child == 0) {
        struct zeta_plugin_stream *own;
        uint32_t count = 0;

        alarm(600);
        if (host.device_ops->child_after_fork(host.self) != 0 ||
            host.device_ops->enumerate(host.self, 1, &host.device, &count) != 0 || count != 1)
            _exit(1);
        queue = host_queue(&host, 0);
        if (host_run(&host, queue, &barrier, 1) != 0)
            _exit(2);
        /* The parent holds one unit, the other is free. */
        if (host_stream(&host, "oa", 1000000, 1, NULL, &own) != ZETA_PLUGIN_NOT_AVAILABLE)
            _exit(3);
        if (host_stream(&host, "dispatch", 1000000, 1, NULL, &own) != 0)
            _exit(4);
        host.metric->stream_close(host.self, own);
        host.compute->queue_destroy(host.self, queue);
        host.ops->finish(host.self);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* The parent did not notice. */
    assert_int_equal(host_run(&host, queue, &barrier, 1), 0);
    assert_true(host_pending(&host, stream, host.metric->stream_pending(host.self, stream) + 2));
    host.metric->stream_close(host.self, stream);
    host.compute->queue_destroy(host.self, queue);
    host_close(&host);
}

SUITE(device)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiate__foreign_version__refused),
        cmocka_unit_test(properties__default_device__as_documented),
        cmocka_unit_test(properties__short_struct__nothing_behind_it),
        cmocka_unit_test(device_file__as_shipped__equals_built_in),
        cmocka_unit_test(tiles__two__listed_behind_their_root),
        cmocka_unit_test(symbols__set_files__declare_the_same),
        cmocka_unit_test(symbols__few_eus__the_rate_is_that_of_copies),
        cmocka_unit_test(settings__bad_values__refused_with_name_and_range),
        cmocka_unit_test(device_file__pipe__refused),
        cmocka_unit_test(device_file__bad_yaml__place_and_reason),
        cmocka_unit_test(clock__read_twice__one_clock_with_the_host),
        cmocka_unit_test(objects__two_of_one_library__independent),
        cmocka_unit_test(finish__queues_and_streams_left__stops_them),
        cmocka_unit_test(fork__with_queue_and_stream__child_begins_anew),
    };

    setenv("ZETA_VGPU_INSTANCE", "plugin.vgpu.device", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
