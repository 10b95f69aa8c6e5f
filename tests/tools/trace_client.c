/*
 * trace_client WAY [PROGRAM ARGS...]: makes a few calls and ends, or goes on, in some way.
 *
 *   return        ends with status 7
 *   abort, kill, exit, segv   ends as the word says, without a chance to tidy up
 *   wait          waits for an event that nobody signals, and is ended by SIGALRM there
 *   fork          children call too and end; then execs PROGRAM in one of them
 *   exec          execs PROGRAM
 *   threads       calls from several threads, and is killed in the middle of it after 2000
 *   many          100 000 calls
 *   none          no call at all
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <level_zero/zet_api.h>

static ze_device_handle_t device;

static atomic_uint calls;
static atomic_bool is_waiting;

static void *query_forever(void *event)
{
    for (;;) {
        (void)zeEventQueryStatus(event);
        (void)atomic_fetch_add(&calls, 1);
    }
    return NULL;
}

/* Whether the first thread of the process sleeps. */
static bool sleeps(void)
{
    FILE *file = fopen("/proc/self/stat", "r");
    char state = 0;

    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        exit(105);
    (void)fclose(file);
    return state == 'S';
}

/* Ends the process in its wait, however late that begins: seen asleep ten times in a row. */
static void *end_the_wait(void *unused)
{
    for (int i = 0; i < 10; i = atomic_load(&is_waiting) && sleeps() ? i + 1 : 0)
        (void)usleep(1000);
    (void)kill(getpid(), SIGALRM);
    return unused;
}

static ze_event_handle_t make_event(ze_driver_handle_t driver)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_context_handle_t context = NULL;
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;

    if (zeContextCreate(driver, &context_desc, &context) != ZE_RESULT_SUCCESS ||
        zeEventPoolCreate(context, &pool_desc, 1, &device, &pool) != ZE_RESULT_SUCCESS ||
        zeEventCreate(pool, &event_desc, &event) != ZE_RESULT_SUCCESS)
        exit(100);
    return event;
}

static ze_driver_handle_t find_device(void)
{
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    if (zeDriverGet(&count, &driver) != ZE_RESULT_SUCCESS)
        exit(101);
    count = 1;
    if (zeDeviceGet(driver, &count, &device) != ZE_RESULT_SUCCESS)
        exit(102);
    return driver;
}

/* Two children that call, each with a driver of its own; the second goes on as another program. */
static int fork_twice(char **program)
{
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();

        if (child == 0) {
            (void)find_device();
            if (i == 1) {
                (void)execv(program[0], program);
                _exit(103);
            }
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int end_as(const char *way, ze_event_handle_t event, char **program)
{
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "kill") == 0)
        (void)kill(getpid(), SIGKILL);
    if (strcmp(way, "segv") == 0)
        (void)raise(SIGSEGV);
    if (strcmp(way, "exit") == 0)
        _exit(9);
    if (strcmp(way, "wait") == 0) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, end_the_wait, NULL) != 0)
            exit(106);
        atomic_store(&is_waiting, true);
        (void)zeEventHostSynchronize(event, UINT64_MAX);
    }
    if (strcmp(way, "exec") == 0)
        (void)execv(program[0], program);
    if (strcmp(way, "fork") == 0)
        return fork_twice(program);
    if (strcmp(way, "many") == 0) {
        for (int i = 0; i < 100000; i++)
            (void)zeEventQueryStatus(event);
        return 0;
    }
    if (strcmp(way, "threads") == 0) {
        pthread_t thread;

        for (int i = 0; i < 4; i++)
            (void)pthread_create(&thread, NULL, query_forever, event);
        while (atomic_load(&calls) < 2000)
            (void)usleep(1000);
        (void)kill(getpid(), SIGKILL);
    }
    return 7;
}

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "return";

    if (strcmp(way, "none") == 0)
        return 7;
    if (zeInit(0) != ZE_RESULT_SUCCESS)
        return 104;
    /* A call that fails, with arguments that are no good. */
    (void)zeDeviceGetProperties(NULL, (void *)(uintptr_t)8);
    return end_as(way, make_event(find_device()), arguments + 2);
}
