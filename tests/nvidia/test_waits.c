/* Who waits for launches, and who does not. Each case has a machine and a process. */

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/nvidia/bed.h"
#include "tests/nvidia/computing.h"

enum { ROUNDS = 20 };

static const ze_group_count_t one = {1, 1, 1};

/* A kernel that runs until the gate is opened, and one that adds 1 to a sum. */
struct gate {
    struct computing c;
    ze_kernel_handle_t wait, add;
    uint64_t *gate, *sum;
};

static struct gate open_gate(void)
{
    struct gate g = {.c = computing_open("api.ptx")};
    uint64_t *numbers = computing_memory(&g.c, ZE_MEMORY_TYPE_SHARED, 64, 0);
    uint64_t *seen = &numbers[2];
    const uint64_t value = 1;

    memset(numbers, 0, 64);
    g.gate = &numbers[0];
    g.sum = &numbers[1];
    g.wait = computing_kernel(&g.c, "wait_for");
    g.add = computing_kernel(&g.c, "add");
    EXPECT_OK(zeKernelSetArgumentValue(g.wait, 0, sizeof(g.gate), &g.gate));
    EXPECT_OK(zeKernelSetArgumentValue(g.wait, 1, sizeof(seen), &seen));
    EXPECT_OK(zeKernelSetArgumentValue(g.add, 0, sizeof(g.sum), &g.sum));
    EXPECT_OK(zeKernelSetArgumentValue(g.add, 1, sizeof(value), &value));
    return g;
}

static void set_gate(const struct gate *g, uint64_t value)
{
    __atomic_store_n(g->gate, value, __ATOMIC_SEQ_CST);
}

static void close_gate(const struct gate *g)
{
    EXPECT_OK(zeKernelDestroy(g->wait));
    EXPECT_OK(zeKernelDestroy(g->add));
    computing_close(&g->c);
}

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel)
{
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
}

/* ---- fences ---- */

static ze_command_list_handle_t recorded(const struct gate *g, ze_kernel_handle_t kernel)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(zeCommandListCreate(g->c.context, g->c.device, &desc, &list));
    launch(list, kernel);
    EXPECT_OK(zeCommandListClose(list));
    return list;
}

static void check_fences(void)
{
    const struct gate g = open_gate();
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_list_handle_t add = recorded(&g, g.add), wait = recorded(&g, g.wait);
    ze_command_queue_handle_t queue = NULL;
    ze_fence_handle_t first = NULL, second = NULL;

    EXPECT_OK(zeCommandQueueCreate(g.c.context, g.c.device, &desc, &queue));
    EXPECT_OK(zeFenceCreate(queue, &fence_desc, &first));
    EXPECT_OK(zeFenceCreate(queue, &fence_desc, &second));
    for (int round = 0; round < ROUNDS; round++) {
        set_gate(&g, 0);
        EXPECT_OK(zeFenceReset(first));
        EXPECT_OK(zeFenceReset(second));
        EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &add, NULL));
        EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &add, first));
        EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &wait, second));
        if (round % 2 == 0) {
            EXPECT_OK(zeFenceHostSynchronize(first, UINT64_MAX));
        } else {
            while (zeFenceQueryStatus(first) == ZE_RESULT_NOT_READY)
                ;
            EXPECT_OK(zeFenceQueryStatus(first));
        }
        assert_int_equal(zeFenceQueryStatus(second), ZE_RESULT_NOT_READY);
        assert_int_equal(zeFenceHostSynchronize(second, 100000), ZE_RESULT_NOT_READY);
        set_gate(&g, 1);
        EXPECT_OK(zeFenceHostSynchronize(second, UINT64_MAX));
    }
    assert_int_equal(*g.sum, 2 * ROUNDS);
    EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT_OK(zeFenceDestroy(first));
    EXPECT_OK(zeFenceDestroy(second));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    EXPECT_OK(zeCommandListDestroy(add));
    EXPECT_OK(zeCommandListDestroy(wait));
    close_gate(&g);
}

static void fence__of_a_launch__does_not_wait_for_later_ones(void **state)
{
    (void)state;
    bed_run("gh100", check_fences);
}

/* ---- a wait that ends before the work, and one behind an event ---- */

static void check_timeout(void)
{
    const struct gate g = open_gate();
    ze_command_list_handle_t list = computing_list(&g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    for (int round = 0; round < ROUNDS; round++) {
        set_gate(&g, 0);
        launch(list, g.add);
        launch(list, g.wait);
        assert_int_equal(zeCommandListHostSynchronize(list, 0), ZE_RESULT_NOT_READY);
        assert_int_equal(zeCommandListHostSynchronize(list, 200000), ZE_RESULT_NOT_READY);
        set_gate(&g, 1);
        if (round % 2 == 0) {
            while (zeCommandListHostSynchronize(list, 0) == ZE_RESULT_NOT_READY)
                ;
        } else {
            while (zeCommandListHostSynchronize(list, 1000000) == ZE_RESULT_NOT_READY)
                ;
        }
        assert_int_equal(*g.sum, round + 1);
        EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    }
    EXPECT_OK(zeCommandListDestroy(list));
    close_gate(&g);
}

static void wait__with_a_timeout__ends_before_the_work(void **state)
{
    (void)state;
    bed_run("gh100", check_timeout);
}

static void *signal_later(void *event)
{
    const struct timespec moment = {.tv_nsec = 2000000};

    (void)nanosleep(&moment, NULL); /* so that others are inside their waits, as a rule */
    EXPECT_OK(zeEventHostSignal(event));
    return NULL;
}

/* The launches wait for an event in line: behind it nobody looks, and the reports come anyway. */
static void check_in_line(void)
{
    const struct gate g = open_gate();
    ze_command_list_handle_t list = computing_list(&g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    struct test_event event = make_event(g.c.context);
    pthread_t thread;

    for (int round = 0; round < ROUNDS; round++) {
        EXPECT_OK(zeEventHostReset(event.event));
        launch(list, g.add);
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, g.add, &one, NULL, 1, &event.event));
        launch(list, g.add);
        assert_int_equal(zeCommandListHostSynchronize(list, 0), ZE_RESULT_NOT_READY);
        assert_int_equal(pthread_create(&thread, NULL, signal_later, event.event), 0);
        EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
        assert_int_equal(*g.sum, 3 * (round + 1));
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    EXPECT_OK(zeCommandListDestroy(list));
    destroy_event(&event);
    close_gate(&g);
}

static void wait__for_launches_behind_an_event__ends_with_them(void **state)
{
    (void)state;
    bed_run("gh100", check_in_line);
}

/* ---- nobody waits ---- */

/* What a launch holds is given back though the program never asks how far it has come. */
static void check_unasked(void)
{
    const struct gate g = open_gate();
    ze_command_list_handle_t list = computing_list(&g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    const struct computing other = computing_open_on(g.c.device, "api.ptx");
    ze_kernel_handle_t kernel = computing_kernel(&other, "add");
    const uint64_t before = cuda_calls(bed_machine, "cuModuleUnload"), value = 1;
    struct test_event event = make_event(g.c.context);

    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(g.sum), &g.sum));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(value), &value));
    launch(list, kernel);
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&other);
    assert_int_equal(cuda_calls(bed_machine, "cuModuleUnload"), before);
    while (cuda_calls(bed_machine, "cuModuleUnload") == before)
        EXPECT_OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    /* Events come without a question, too. */
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, g.add, &one, event.event, 0, NULL));
    while (zeEventQueryStatus(event.event) == ZE_RESULT_NOT_READY)
        ;
    assert_int_equal(*g.sum, 2);
    EXPECT_OK(zeCommandListDestroy(list));
    destroy_event(&event);
    close_gate(&g);
}

static void launch__that_nobody_waits_for__is_released(void **state)
{
    (void)state;
    bed_run("gh100", check_unasked);
}

/* ---- threads ---- */

/* A list that one thread appends to, and others wait for in all ways. */
struct shared {
    struct gate g;
    ze_command_list_handle_t list;
    struct test_event event;
    atomic_bool is_over;
};

static void *waits(void *argument)
{
    struct shared *s = argument;

    while (!atomic_load(&s->is_over))
        EXPECT_OK(zeCommandListHostSynchronize(s->list, UINT64_MAX));
    return NULL;
}

static void *looks(void *argument)
{
    struct shared *s = argument;

    while (!atomic_load(&s->is_over)) {
        (void)zeCommandListHostSynchronize(s->list, 0);
        (void)zeCommandListHostSynchronize(s->list, 50000);
        (void)zeEventQueryStatus(s->event.event);
    }
    return NULL;
}

static void check_threads(void)
{
    enum { LAUNCHES = 3000 };
    static struct shared s;
    pthread_t threads[4];

    s.g = open_gate();
    s.list = computing_list(&s.g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    s.event = make_event(s.g.c.context);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i % 2 == 0 ? waits : looks, &s), 0);
    for (int i = 0; i < LAUNCHES; i++)
        EXPECT_OK(zeCommandListAppendLaunchKernel(s.list, s.g.add, &one,
                                                  i % 50 == 0 ? s.event.event : NULL, 0, NULL));
    EXPECT_OK(zeCommandListHostSynchronize(s.list, UINT64_MAX));
    assert_int_equal(*s.g.sum, LAUNCHES);
    atomic_store(&s.is_over, true);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    EXPECT_OK(zeCommandListDestroy(s.list));
    destroy_event(&s.event);
    close_gate(&s.g);
}

static void threads__that_wait_for_one_list__all_come_back(void **state)
{
    (void)state;
    bed_run("gh100", check_threads);
}

/* ---- faults ---- */

/* Reported by a thread of the program, whose last sentence was another one. */
static void check_sentence(void)
{
    const struct gate g = open_gate();
    ze_command_list_handle_t list = computing_list(&g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wild = computing_kernel(&g.c, "wild"), none = NULL;
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = "nowhere"};

    launch(list, g.wait);
    launch(list, wild);
    EXPECT_RESULT(zeKernelCreate(g.c.module, &desc, &none), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    set_gate(&g, 1);
    EXPECT_RESULT(zeCommandListHostSynchronize(list, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("wild");
    expect_sentence("an address that is not mapped");
    assert_null(strstr(zetaGetLastError(), "nowhere"));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(wild));
    close_gate(&g);
}

static void fault__found_by_who_waits__names_the_kernel(void **state)
{
    (void)state;
    bed_run("gh100", check_sentence);
}

/* Of a list without events all kernels that ran are suspects, not the last one alone. */
static void check_suspects(void)
{
    const struct gate g = open_gate();
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t immediate = computing_list(&g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t wild = computing_kernel(&g.c, "wild");
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(zeCommandListCreate(g.c.context, g.c.device, &desc, &list));
    launch(list, g.wait);
    launch(list, wild);
    launch(list, g.add);
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_OK(zeCommandListImmediateAppendCommandListsExp(immediate, 1, &list, NULL, 0, NULL));
    set_gate(&g, 1);
    EXPECT_RESULT(zeCommandListHostSynchronize(immediate, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("one of the kernels wait_for, wild, add: ");
    EXPECT_OK(zeCommandListDestroy(immediate));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(wild));
    close_gate(&g);
}

static void fault__in_a_list_without_events__names_all_its_kernels(void **state)
{
    (void)state;
    bed_run("gh100", check_suspects);
}

/* ---- long lists ---- */

/* A list longer than the driver takes is fed as there is room, so no call of the driver blocks. */
static void check_long_list(void)
{
    enum { LAUNCHES = 3000, MOST = 1021 };
    const struct gate g = open_gate();
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const uint64_t before = cuda_calls(bed_machine, "cuLaunchKernel");
    ze_command_list_handle_t immediate = computing_list(&g.c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = NULL;

    EXPECT_OK(zeCommandListCreate(g.c.context, g.c.device, &desc, &list));
    launch(list, g.wait);
    for (int i = 0; i < LAUNCHES; i++)
        launch(list, g.add);
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_OK(zeCommandListImmediateAppendCommandListsExp(immediate, 1, &list, NULL, 0, NULL));
    assert_int_equal(zeCommandListHostSynchronize(immediate, 50000000), ZE_RESULT_NOT_READY);
    assert_true(cuda_calls(bed_machine, "cuLaunchKernel") - before <= MOST);
    set_gate(&g, 1);
    EXPECT_OK(zeCommandListHostSynchronize(immediate, UINT64_MAX));
    assert_int_equal(*g.sum, LAUNCHES);
    EXPECT_OK(zeCommandListDestroy(immediate));
    EXPECT_OK(zeCommandListDestroy(list));
    close_gate(&g);
}

static void list__longer_than_a_stream__goes_as_there_is_room(void **state)
{
    (void)state;
    bed_run("gh100", check_long_list);
}

SUITE(waits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fence__of_a_launch__does_not_wait_for_later_ones),
        cmocka_unit_test(wait__with_a_timeout__ends_before_the_work),
        cmocka_unit_test(wait__for_launches_behind_an_event__ends_with_them),
        cmocka_unit_test(launch__that_nobody_waits_for__is_released),
        cmocka_unit_test(threads__that_wait_for_one_list__all_come_back),
        cmocka_unit_test(fault__found_by_who_waits__names_the_kernel),
        cmocka_unit_test(fault__in_a_list_without_events__names_all_its_kernels),
        cmocka_unit_test(list__longer_than_a_stream__goes_as_there_is_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
