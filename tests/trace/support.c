#include "support.h"

#include <ctype.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

char callback_order[32];

static void note_order(char name)
{
    size_t length = strlen(callback_order);

    if (name && length + 1 < sizeof(callback_order))
        callback_order[length] = name;
}

static void count_prologue(struct witness *witness, void **instance)
{
    if (*instance)
        atomic_fetch_add(&witness->strangers, 1);
    *instance = witness;
    atomic_fetch_add(&witness->prologues, 1);
    note_order((char)tolower(witness->name));
}

static void count_epilogue(struct witness *witness, ze_result_t result, void *const *instance)
{
    if (*instance != witness)
        atomic_fetch_add(&witness->strangers, 1);
    atomic_store(&witness->result, result);
    atomic_fetch_add(&witness->epilogues, 1);
    note_order(witness->name);
}

static void count_query_prologue(ze_event_query_status_params_t *params, ze_result_t result,
                                 void *user, void **instance)
{
    (void)params;
    (void)result;
    count_prologue(user, instance);
}

static void count_query_epilogue(ze_event_query_status_params_t *params, ze_result_t result,
                                 void *user, void **instance)
{
    (void)params;
    count_epilogue(user, result, instance);
}

static void count_wait_prologue(ze_event_host_synchronize_params_t *params, ze_result_t result,
                                void *user, void **instance)
{
    (void)params;
    (void)result;
    count_prologue(user, instance);
}

static void count_wait_epilogue(ze_event_host_synchronize_params_t *params, ze_result_t result,
                                void *user, void **instance)
{
    (void)params;
    count_epilogue(user, result, instance);
}

zet_core_callbacks_t counting_prologues = {.Event = {.pfnQueryStatusCb = count_query_prologue,
                                                     .pfnHostSynchronizeCb = count_wait_prologue}};
zet_core_callbacks_t counting_epilogues = {.Event = {.pfnQueryStatusCb = count_query_epilogue,
                                                     .pfnHostSynchronizeCb = count_wait_epilogue}};

zet_tracer_exp_handle_t make_tracer(const struct harness *h, void *user,
                                    zet_core_callbacks_t *prologues,
                                    zet_core_callbacks_t *epilogues)
{
    const zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
                                        .pUserData = user};
    zet_tracer_exp_handle_t tracer = NULL;

    assert_success(zetTracerExpCreate(h->context, &desc, &tracer));
    if (prologues)
        assert_success(zetTracerExpSetPrologues(tracer, prologues));
    if (epilogues)
        assert_success(zetTracerExpSetEpilogues(tracer, epilogues));
    return tracer;
}

zet_tracer_exp_handle_t counting_tracer(const struct harness *h, struct witness *witness)
{
    return make_tracer(h, witness, &counting_prologues, &counting_epilogues);
}

struct signal signal_create(const struct harness *h)
{
    struct signal signal = {.pool = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1)};

    signal.event = harness_event(signal.pool, 0);
    return signal;
}

void signal_destroy(const struct signal *signal)
{
    assert_success(zeEventDestroy(signal->event));
    assert_success(zeEventPoolDestroy(signal->pool));
}

static void *wait_for_event(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->id, gettid());
    waiter->result = zeEventHostSynchronize(waiter->event, UINT64_MAX);
    return NULL;
}

/* True if the kernel says that the thread sleeps. */
static bool sleeps(pid_t thread)
{
    char path[64];
    char line[256] = "";
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    (void)fclose(file);
    const char *name_end = strrchr(line, ')');
    return name_end && strncmp(name_end, ") S", 3) == 0;
}

void waiter_start(struct waiter *waiter, ze_event_handle_t event)
{
    bool asleep = false;

    waiter->event = event;
    atomic_store(&waiter->id, 0);
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_event, waiter), 0);
    for (int i = 0; i < 20000 && !asleep; i++) {
        pause_ms(1);
        asleep = atomic_load(&waiter->id) != 0 && sleeps(atomic_load(&waiter->id));
    }
    assert_true(asleep);
}

void waiter_finish(struct waiter *waiter)
{
    assert_success(zeEventHostSignal(waiter->event));
    assert_int_equal(pthread_join(waiter->thread, NULL), 0);
    assert_int_equal(waiter->result, ZE_RESULT_SUCCESS);
}

void expect_sentence(const struct harness *h, const char *words)
{
    const unsigned blind = HARNESS_LOADER | HARNESS_WRAPPED;

    if ((harness_mode() & blind) != blind)
        assert_non_null(strstr(harness_sentence(h), words));
}

void pause_ms(unsigned ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&time, NULL);
}
