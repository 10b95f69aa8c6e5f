/*
 * Events of two processes. The other process is this program again; it gets the handle and what to
 * do with it through a socket.
 */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHANNEL 3 /* descriptor of the socket in the other process */

extern char **environ;

struct other {
    pid_t pid;
    int channel;
};

static struct other start(const char *role)
{
    char program[] = "/proc/self/exe", suite[] = "event_ipc";
    char *arguments[] = {program, suite, (char *)(uintptr_t)role, NULL};
    posix_spawn_file_actions_t actions;
    struct other other = {0};
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    /* CHANNEL may be one of the two, so the way is by a number that is neither. */
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], 100), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, 100, CHANNEL), 0);
    assert_int_equal(posix_spawn_file_actions_addclose(&actions, 100), 0);
    assert_int_equal(posix_spawn(&other.pid, program, &actions, NULL, arguments, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    other.channel = ends[0];
    return other;
}

static void tell(int channel, const void *data, size_t bytes)
{
    assert_int_equal(send(channel, data, bytes, MSG_NOSIGNAL), bytes);
}

static void hear(int channel, void *data, size_t bytes)
{
    assert_int_equal(recv(channel, data, bytes, MSG_WAITALL), bytes);
}

/* Sends a descriptor. */
static void tell_descriptor(int channel, int descriptor)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    char word = 1;
    struct iovec part = {&word, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.space)};

    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(descriptor));
    assert_int_equal(sendmsg(channel, &message, MSG_NOSIGNAL), 1);
}

/* Receives one, under a number that the sender does not have. */
static int hear_descriptor(int channel)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    char word;
    struct iovec part = {&word, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int descriptor = -1;

    assert_int_equal(recvmsg(channel, &message, 0), 1);
    assert_non_null(CMSG_FIRSTHDR(&message));
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(descriptor));
    assert_int_equal(dup2(descriptor, 500), 500);
    (void)close(descriptor);
    return 500;
}

static void finish(struct other *other)
{
    int status = 0;

    (void)close(other->channel);
    assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void kill_it(struct other *other)
{
    assert_int_equal(kill(other->pid, SIGKILL), 0);
    assert_int_equal(waitpid(other->pid, NULL, 0), other->pid);
    (void)close(other->channel);
}

static ze_event_pool_handle_t shared_pool(const struct harness *h, ze_ipc_event_pool_handle_t *out)
{
    ze_event_pool_handle_t pool =
        harness_pool(h, ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 3);

    assert_success(zeEventPoolGetIpcHandle(pool, out));
    return pool;
}

/* ---------------------------------------------------------------- the other process */

static ze_event_pool_handle_t open_pool(const struct harness *h)
{
    ze_ipc_event_pool_handle_t handle;
    ze_event_pool_handle_t pool = NULL;

    hear(CHANNEL, &handle, sizeof(handle));
    assert_success(zeEventPoolOpenIpcHandle(h->context, handle, &pool));
    return pool;
}

/* A queue waits for event 0 and signals event 1 with times, as often as it is asked to. */
static void role_echo(const struct harness *h)
{
    ze_event_pool_handle_t pool = open_pool(h);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint32_t rounds = 0;

    hear(CHANNEL, &rounds, sizeof(rounds));
    for (uint32_t i = 0; i < rounds; i++) {
        assert_success(zeCommandListAppendWaitOnEvents(list, 1, &events[0]));
        assert_success(zeCommandListAppendEventReset(list, events[0]));
        assert_success(zeCommandListAppendSignalEvent(list, events[1]));
    }
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(events[0]));
    assert_success(zeEventDestroy(events[1]));
    assert_success(zeEventPoolCloseIpcHandle(pool));
}

/* Host side only: waits in a futex for event 0, then signals event 1. */
static void role_host(const struct harness *h)
{
    ze_event_pool_handle_t pool = open_pool(h);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};

    assert_success(zeEventHostSynchronize(events[0], UINT64_MAX));
    assert_success(zeEventHostSignal(events[1]));
    assert_success(zeEventDestroy(events[0]));
    assert_success(zeEventDestroy(events[1]));
    assert_success(zeEventPoolCloseIpcHandle(pool));
}

/* Submits work that would signal event 0 and counted ones, and never ends. */
static void role_dies(const struct harness *h)
{
    ze_event_pool_handle_t pool = open_pool(h);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t hold = harness_kernel(h, "hold");
    char ready = 1;

    assert_success(harness_launch(list, hold, event, 0, NULL));
    tell(CHANNEL, &ready, 1);
    hear(CHANNEL, &ready, 1);
}

/* Makes a pool that others wait for. */
static void role_owner(const struct harness *h)
{
    ze_ipc_event_pool_handle_t handle;
    char ready = 0;

    (void)shared_pool(h, &handle);
    tell(CHANNEL, &handle, sizeof(handle));
    hear(CHANNEL, &ready, 1);
}

/* Opens a counter based event and waits for it on host and device, then signals it itself. */
static void role_counted(const struct harness *h)
{
    const ze_command_queue_desc_t desc = {.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER};
    ze_ipc_event_counter_based_handle_t handle;
    ze_command_list_handle_t list = NULL;
    ze_event_handle_t event = NULL;
    char word = 1;

    hear(CHANNEL, &handle, sizeof(handle));
    assert_success(zeEventCounterBasedOpenIpcHandle(h->context, handle, &event));
    assert_success(zeCommandListCreateImmediate(h->context, h->device, &desc, &list));
    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &event));
    tell(CHANNEL, &word, 1);
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    tell(CHANNEL, &word, 1);
    hear(CHANNEL, &word, 1);
    assert_success(zeCommandListAppendSignalEvent(list, event));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    tell(CHANNEL, &word, 1);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventCounterBasedCloseIpcHandle(event));
}

/* The host's times of event 0, as this process tells them. */
static ze_synchronized_timestamp_result_ext_t host_times(const struct harness *h,
                                                         ze_event_pool_handle_t pool)
{
    ze_event_handle_t event = harness_event(pool, 0);
    ze_synchronized_timestamp_result_ext_t times;
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES,
        .pSynchronizedTimestampsBuffer = &times};
    uint32_t count = 1;

    assert_success(zeEventQueryKernelTimestampsExt(event, h->device, &count, &results));
    assert_success(zeEventDestroy(event));
    return times;
}

/* Opens a pool and an event by handles whose descriptors came along, and signals both. */
static void role_patched(const struct harness *h)
{
    ze_ipc_event_pool_handle_t of_pool;
    ze_ipc_event_counter_based_handle_t of_event;
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t counted = NULL;
    int descriptor;

    hear(CHANNEL, &of_pool, sizeof(of_pool));
    descriptor = hear_descriptor(CHANNEL);
    memcpy(of_pool.data, &descriptor, sizeof(descriptor));
    assert_success(zeEventPoolOpenIpcHandle(h->context, of_pool, &pool));
    ze_event_handle_t event = harness_event(pool, 0);
    assert_success(zeEventHostSignal(event));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolCloseIpcHandle(pool));
    hear(CHANNEL, &of_event, sizeof(of_event));
    descriptor = hear_descriptor(CHANNEL);
    memcpy(of_event.data, &descriptor, sizeof(descriptor));
    assert_success(zeEventCounterBasedOpenIpcHandle(h->context, of_event, &counted));
    assert_success(zeEventCounterBasedCloseIpcHandle(counted));
}

/* Tells the times of event 0. */
static void role_times(const struct harness *h)
{
    ze_event_pool_handle_t pool = open_pool(h);
    ze_synchronized_timestamp_result_ext_t times = host_times(h, pool);

    tell(CHANNEL, &times, sizeof(times));
    assert_success(zeEventPoolCloseIpcHandle(pool));
}

/* ---------------------------------------------------------------- cases */

/* Rule 8.9. */
static void pool__two_processes__signal_each_other(void **state)
{
    const struct harness *h = *state;
    ze_ipc_event_pool_handle_t handle;
    ze_event_pool_handle_t pool = shared_pool(h, &handle);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    struct other other = start("echo");
    ze_kernel_timestamp_result_t times = {0};
    const uint32_t rounds = 20;

    tell(other.channel, &handle, sizeof(handle));
    tell(other.channel, &rounds, sizeof(rounds));
    for (uint32_t i = 0; i < rounds; i++) {
        assert_success(zeCommandListAppendSignalEvent(list, events[0]));
        assert_success(zeCommandListAppendWaitOnEvents(list, 1, &events[1]));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
        assert_success(zeEventQueryKernelTimestamp(events[1], &times));
        assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
        assert_success(zeEventHostReset(events[1]));
    }
    finish(&other);
    assert_success(zeEventPoolPutIpcHandle(h->context, handle));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(events[0]));
    assert_success(zeEventPoolDestroy(pool));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(events[1]));
    assert_success(zeEventDestroy(events[1]));
}

/* Rules 8.8, 8.9. */
static void pool__hosts_of_two_processes__wake_each_other(void **state)
{
    const struct harness *h = *state;
    ze_ipc_event_pool_handle_t handle;
    ze_event_pool_handle_t pool = shared_pool(h, &handle);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};
    struct other other = start("host");

    tell(other.channel, &handle, sizeof(handle));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(events[1], 20000000));
    assert_success(zeEventHostSignal(events[0]));
    assert_success(zeEventHostSynchronize(events[1], UINT64_MAX));
    finish(&other);
    assert_success(zeEventDestroy(events[0]));
    assert_success(zeEventDestroy(events[1]));
    assert_success(zeEventPoolDestroy(pool));
}

/* Rule 7.7. */
static void pool__host_times__are_the_same_in_both_processes(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for mapped times");
    const struct harness *h = *state;
    ze_event_pool_handle_t pool =
        harness_pool(h, ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_synchronized_timestamp_result_ext_t theirs, ours;
    ze_ipc_event_pool_handle_t handle;

    assert_success(zeEventPoolGetIpcHandle(pool, &handle));
    assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
    for (int first = 0; first < 2; first++) {
        struct other other = start("times");

        tell(other.channel, &handle, sizeof(handle));
        hear(other.channel, &theirs, sizeof(theirs));
        finish(&other);
        ours = host_times(h, pool);
        assert_memory_equal(&ours, &theirs, sizeof(ours));
    }
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static int first_descriptor(const void *handle)
{
    int descriptor;

    memcpy(&descriptor, handle, sizeof(descriptor));
    assert_cmp(fcntl(descriptor, F_GETFD), >=, 0);
    return descriptor;
}

/* Rule 8.10. */
static void descriptor__over_a_socket__leads_to_the_events(void **state)
{
    const struct harness *h = *state;
    const ze_event_counter_based_desc_t desc = {.flags = ZE_EVENT_COUNTER_BASED_FLAG_IPC |
                                                         ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE};
    ze_ipc_event_pool_handle_t of_pool;
    ze_ipc_event_counter_based_handle_t of_event;
    ze_event_pool_handle_t pool = shared_pool(h, &of_pool);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_event_handle_t counted = NULL;
    struct other other = start("patched");

    assert_success(zeEventCounterBasedCreate(h->context, h->device, &desc, &counted));
    assert_success(zeEventCounterBasedGetIpcHandle(counted, &of_event));
    tell(other.channel, &of_pool, sizeof(of_pool));
    tell_descriptor(other.channel, first_descriptor(&of_pool));
    tell(other.channel, &of_event, sizeof(of_event));
    tell_descriptor(other.channel, first_descriptor(&of_event));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    finish(&other);
    assert_success(zeEventDestroy(counted));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

/* Rule 8.11. */
static void signaller__killed__waiters_get_device_lost(void **state)
{
    const struct harness *h = *state;
    ze_ipc_event_pool_handle_t handle;
    ze_event_pool_handle_t pool = shared_pool(h, &handle);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_event_handle_t own = harness_event(pool, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    struct other other = start("dies");
    char ready = 0;

    tell(other.channel, &handle, sizeof(handle));
    hear(other.channel, &ready, 1);
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 100000000));
    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &event));
    kill_it(&other);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
    assert_non_null(strstr(harness_sentence(h), "has ended"));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(list, UINT64_MAX));
    /* The owner's other events are its own, and this one works again after a reset. */
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(own, 120000000));
    assert_success(zeEventHostReset(event));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    assert_success(zeEventHostSignal(event));
    assert_success(zeEventQueryStatus(event));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventDestroy(own));
    assert_success(zeEventPoolDestroy(pool));
}

/* Rule 8.12. */
static void owner__killed__waiters_get_device_lost_and_the_handle_is_void(void **state)
{
    const struct harness *h = *state;
    ze_ipc_event_pool_handle_t handle;
    ze_event_pool_handle_t pool = NULL;
    ze_event_pool_handle_t none = NULL;
    struct other other = start("owner");

    hear(other.channel, &handle, sizeof(handle));
    assert_success(zeEventPoolOpenIpcHandle(h->context, handle, &pool));
    ze_event_handle_t event = harness_event(pool, 2);
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 10000000));
    kill_it(&other);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventPoolOpenIpcHandle(h->context, handle, &none));
    assert_non_null(strstr(harness_sentence(h), "cannot be reached"));
    assert_null(none);
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolCloseIpcHandle(pool));
}

/* Rule 8.9. */
static void counted__two_processes__wait_for_the_newest_work(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag");
    const struct harness *h = *state;
    const ze_command_queue_desc_t queue = {.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER};
    const ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                                .flags = ZE_EVENT_COUNTER_BASED_FLAG_IPC |
                                                         ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE};
    ze_ipc_event_counter_based_handle_t handle;
    ze_command_list_handle_t list = NULL;
    ze_event_handle_t event = NULL;
    uint64_t value = 0;
    char word = 0;

    assert_success(zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    assert_success(zeEventCounterBasedGetIpcHandle(event, &handle));
    assert_success(zeCommandListCreateImmediate(h->context, h->device, &queue, &list));
    struct other other = start("counted");
    tell(other.channel, &handle, sizeof(handle));
    hear(other.channel, &word, 1);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    assert_success(zeCommandListAppendSignalEvent(list, event));
    hear(other.channel, &word, 1);
    tell(other.channel, &word, 1);
    hear(other.channel, &word, 1);
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    finish(&other);
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeEventCounterBasedGetDeviceAddress(event, &value, &value));
    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                  zeEventCounterBasedCloseIpcHandle(event));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
}

/* All memory of such a pool is used at once. Rule 8.6. */
static void pool__more_events_than_can_be_shared__is_refused(void **state)
{
    const struct harness *h = *state;
    const uint32_t counts[] = {UINT32_MAX, UINT32_C(1) << 31, (UINT32_C(1) << 20) + 1};
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .flags = ZE_EVENT_POOL_FLAG_IPC};
    ze_event_pool_handle_t pool = NULL;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        desc.count = counts[i];
        assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                      zeEventPoolCreate(h->context, &desc, 0, NULL, &pool));
    }
    desc.flags = 0;
    assert_success(zeEventPoolCreate(h->context, &desc, 0, NULL, &pool));
    assert_success(zeEventPoolDestroy(pool));
}

/* Rule 8.9. */
static void handles__damaged_or_foreign__are_refused(void **state)
{
    const struct harness *h = *state;
    ze_ipc_event_pool_handle_t handle;
    ze_ipc_event_counter_based_handle_t counted;
    ze_event_pool_handle_t pool = shared_pool(h, &handle);
    ze_event_pool_handle_t plain = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(plain, 0);
    ze_event_pool_handle_t opened = NULL;
    ze_event_pool_handle_t twice = NULL;
    ze_event_handle_t none = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                  zeEventPoolGetIpcHandle(plain, &handle));
    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                  zeEventCounterBasedGetIpcHandle(event, &counted));
    /* Any one byte that is wrong makes it another handle. */
    for (size_t i = 0; i < sizeof(handle.data); i++) {
        ze_ipc_event_pool_handle_t wrong = handle;

        wrong.data[i] = (char)(wrong.data[i] ^ 0x41);
        assert_int_not_equal(zeEventPoolOpenIpcHandle(h->context, wrong, &opened),
                             ZE_RESULT_SUCCESS);
        assert_null(opened);
    }
    memcpy(counted.data, handle.data, sizeof(counted.data));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedOpenIpcHandle(h->context, counted, &none));
    memset(&counted, 0x5a, sizeof(counted));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedOpenIpcHandle(h->context, counted, &none));
    assert_null(none);

    /* In the same process it is one more pool with the same events. */
    assert_success(zeEventPoolOpenIpcHandle(h->context, handle, &opened));
    assert_success(zeEventPoolOpenIpcHandle(h->context, handle, &twice));
    assert_ptr_not_equal(opened, twice);
    ze_event_handle_t here = harness_event(opened, 1);
    ze_event_handle_t there = harness_event(pool, 1);
    assert_success(zeEventHostSignal(there));
    assert_success(zeEventQueryStatus(here));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolCloseIpcHandle(pool));
    assert_success(zeEventPoolPutIpcHandle(h->context, handle));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeEventPoolCloseIpcHandle(opened));
    assert_success(zeEventDestroy(there));
    assert_success(zeEventQueryStatus(here));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventPoolOpenIpcHandle(h->context, handle, &pool));
    assert_success(zeEventDestroy(here));
    assert_success(zeEventPoolCloseIpcHandle(twice));
    memset(&handle, 0, sizeof(handle));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventPoolPutIpcHandle(h->context, handle));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(plain));
}

static const char *wanted_role;

static void play(void **state)
{
    static const struct {
        const char *name;
        void (*play)(const struct harness *h);
    } roles[] = {{"echo", role_echo},      {"host", role_host},   {"dies", role_dies},
                 {"owner", role_owner},    {"times", role_times}, {"patched", role_patched},
                 {"counted", role_counted}};

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i].name, wanted_role) == 0)
            roles[i].play(*state);
    }
}

SUITE_WITH_ARGUMENTS(event_ipc, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool__two_processes__signal_each_other),
        cmocka_unit_test(pool__hosts_of_two_processes__wake_each_other),
        cmocka_unit_test(pool__host_times__are_the_same_in_both_processes),
        cmocka_unit_test(descriptor__over_a_socket__leads_to_the_events),
        cmocka_unit_test(signaller__killed__waiters_get_device_lost),
        cmocka_unit_test(owner__killed__waiters_get_device_lost_and_the_handle_is_void),
        cmocka_unit_test(counted__two_processes__wait_for_the_newest_work),
        cmocka_unit_test(pool__more_events_than_can_be_shared__is_refused),
        cmocka_unit_test(handles__damaged_or_foreign__are_refused),
    };
    const struct CMUnitTest one[] = {cmocka_unit_test(play)};

    if (argc > 1) {
        wanted_role = argv[1];
        return cmocka_run_group_tests_name("other process", one, harness_setup, harness_teardown);
    }
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
