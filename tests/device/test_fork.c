/* A child of fork(): handles of the parent are refused, and a fresh start works. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Runs in the child, without cmocka: the number of the first check that failed, or 0. */
static int check_child(const struct harness *h, ze_event_handle_t event,
                       ze_command_list_handle_t list)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    ze_command_list_handle_t own = NULL;
    const ze_command_queue_desc_t queue = {.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    uint32_t count = 1;

    if (zeEventQueryStatus(event) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 1;
    if (zeDeviceGetProperties(h->device, &properties) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 2;
    if (zeCommandListDestroy(list) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 3;
    if (zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS || count != 1)
        return 4;
    if (driver == h->driver)
        return 5;
    if (zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS)
        return 6;
    if (zeDeviceGetProperties(device, &properties) != ZE_RESULT_SUCCESS)
        return 7;
    if (zeContextCreate(driver, &desc, &context) != ZE_RESULT_SUCCESS)
        return 8;
    if (zeCommandListCreateImmediate(context, device, &queue, &own) != ZE_RESULT_SUCCESS)
        return 9;
    if (!NO_THREADS_AFTER_FORK &&
        zeCommandListAppendBarrier(own, NULL, 0, NULL) != ZE_RESULT_SUCCESS)
        return 10;
    /* The old handles stay refused after the fresh start. */
    if (zeEventQueryStatus(event) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 11;
    if (zeContextDestroy(h->context) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 12;
    if (zeInit(0) != ZE_RESULT_SUCCESS)
        return 13;
    if (zeCommandListDestroy(own) != ZE_RESULT_SUCCESS ||
        zeContextDestroy(context) != ZE_RESULT_SUCCESS)
        return 14;
    return 0;
}

static int run_child(const struct harness *h, ze_event_handle_t event,
                     ze_command_list_handle_t list)
{
    int status = 0;
    pid_t child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600);
        _exit(check_child(h, event, list));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Rule 1.5. */
static void fork__idle_parent__child_starts_anew(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_int_equal(run_child(h, event, list), 0);
    /* Nothing of that is seen here. */
    assert_success(zeEventHostSignal(event));
    assert_success(zeCommandListAppendBarrier(list, NULL, 1, &event));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

static atomic_bool stop;

static void *keep_busy(void *argument)
{
    const struct harness *h = argument;

    while (!atomic_load(&stop)) {
        ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
        ze_event_handle_t event = harness_event(pool, 0);
        ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

        (void)zeCommandListAppendBarrier(list, event, 0, NULL);
        (void)zeCommandListDestroy(list);
        (void)zeEventDestroy(event);
        (void)zeEventPoolDestroy(pool);
        (void)zeInit(0);
    }
    return NULL;
}

/* Rule 1.5. */
static void fork__parent_has_busy_threads__child_takes_no_old_lock(void **state)
{
    struct harness *h = *state;
    pthread_t threads[2];
    int failures = 0;

    if (HAVE_ADDRESS_SANITIZER)
        skip();
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, h), 0);
    for (int i = 0; i < 20; i++)
        failures += run_child(h, event, list) != 0;
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(failures, 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
}

SUITE(fork)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__idle_parent__child_starts_anew),
        cmocka_unit_test(fork__parent_has_busy_threads__child_takes_no_old_lock),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
