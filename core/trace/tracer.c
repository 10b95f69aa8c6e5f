/*
 * API tracers: zetTracerExp...
 *
 * Callbacks belong to a period: from one enabling of a tracer to the next disabling. A period has
 * copies of the callbacks as they were when it began and stays until the last call that it saw has
 * returned, so each of its prologues meets its own epilogue, whatever happens to the tracer.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/zet_api.h>

#include "core/object/object.h"
#include "core/trace/describe.h"
#include "core/trace/trace.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Any member of ze_callbacks_t; they differ in the type that the first argument points to. */
typedef void(ZE_APICALL *callback_fn)(void *params, ze_result_t result, void *user_data,
                                      void **instance_data);

/* By the places of core/trace/describe.h; 0 stays null. */
struct callbacks {
    callback_fn prologues[1 + ZETA_TRACE_PLACES];
    callback_fn epilogues[1 + ZETA_TRACE_PLACES];
};

struct period {
    struct zeta_trace_listener listener; /* first: a listener is its period */
    struct period *next;                 /* of the tracer, older */
    void *user_data;
    struct callbacks callbacks;
};

struct tracer {
    struct zeta_object object;
    pthread_mutex_t lock; /* for all below; not held while callbacks run */
    bool enabled;
    bool destroyed;
    void *user_data;
    struct callbacks *callbacks; /* for the next period */
    struct period *periods;      /* the one that is on if enabled, then those not yet over */
};

_Static_assert(sizeof(ze_callbacks_t) == ZETA_TRACE_PLACES * sizeof(callback_fn),
               "ze_callbacks_t consists of function pointers");

static bool wants(const struct zeta_trace_listener *listener, enum zeta_function function)
{
    const struct callbacks *callbacks = &((const struct period *)listener)->callbacks;
    uint8_t place = zeta_trace_places[function];

    return callbacks->prologues[place] || callbacks->epilogues[place];
}

static void begin(struct zeta_trace_listener *listener, enum zeta_function function,
                  void *arguments, void **slot)
{
    struct period *period = (struct period *)listener;
    callback_fn prologue = period->callbacks.prologues[zeta_trace_places[function]];

    if (prologue)
        prologue(arguments, ZE_RESULT_SUCCESS, period->user_data, slot);
}

static void end(struct zeta_trace_listener *listener, enum zeta_function function, void *arguments,
                ze_result_t result, void **slot)
{
    struct period *period = (struct period *)listener;
    callback_fn epilogue = period->callbacks.epilogues[zeta_trace_places[function]];

    if (epilogue)
        epilogue(arguments, result, period->user_data, slot);
}

static ze_result_t enable_locked(struct tracer *tracer)
{
    /* Periods whose calls have all returned are over. */
    for (struct period **link = &tracer->periods; *link;) {
        struct period *old = *link;

        if (zeta_trace_is_idle(&old->listener)) {
            *link = old->next;
            free(old);
        } else {
            link = &old->next;
        }
    }
    ZETA_CLEANUP(zeta_freep) struct period *period = malloc(sizeof(*period));
    if (!period)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to enable an API tracer");
    *period = (struct period){
        .listener = {.wants = wants, .begin = begin, .end = end},
        .next = tracer->periods,
        .user_data = tracer->user_data,
        .callbacks = *tracer->callbacks,
    };
    ze_result_t result = zeta_trace_add(&period->listener);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    tracer->periods = ZETA_TAKE(period);
    tracer->enabled = true;
    return ZE_RESULT_SUCCESS;
}

static void disable_locked(struct tracer *tracer)
{
    zeta_trace_remove(&tracer->periods->listener);
    tracer->enabled = false;
}

static ze_result_t explain(const struct tracer *tracer, const char *function)
{
    return zeta_object_explain(tracer, ZETA_KIND_API_TRACER, function, "hTracer");
}

/* Keeps the tracer until leave(), with its lock held; fails if somebody destroys it meanwhile. */
static ze_result_t enter(struct tracer *tracer, const char *function)
{
    if (!zeta_object_pin(tracer, ZETA_KIND_API_TRACER))
        return explain(tracer, function);
    (void)pthread_mutex_lock(&tracer->lock);
    if (!tracer->destroyed)
        return ZE_RESULT_SUCCESS;
    (void)pthread_mutex_unlock(&tracer->lock);
    ze_result_t result = explain(tracer, function);
    zeta_object_unpin(tracer);
    return result;
}

static void leave(struct tracer *tracer)
{
    (void)pthread_mutex_unlock(&tracer->lock);
    zeta_object_unpin(tracer);
}

static ze_result_t set_callbacks(zet_tracer_exp_handle_t handle, const ze_callbacks_t *table,
                                 bool prologues, const char *function)
{
    struct tracer *tracer = (struct tracer *)handle;
    ze_result_t result = enter(tracer, function);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (tracer->enabled) {
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "%s: the tracer is enabled; disable it before its callbacks change",
                            function);
    } else {
        callback_fn *target =
            prologues ? tracer->callbacks->prologues : tracer->callbacks->epilogues;

        memcpy(&target[1], table, sizeof(*table));
    }
    leave(tracer);
    return result;
}

ze_result_t ZE_APICALL impl_zetTracerExpCreate(zet_context_handle_t hContext ZETA_UNUSED,
                                               const zet_tracer_exp_desc_t *desc,
                                               zet_tracer_exp_handle_t *phTracer)
{
    ZETA_CLEANUP(zeta_freep) struct callbacks *callbacks = calloc(1, sizeof(*callbacks));
    void *object = NULL;

    if (!callbacks)
        return zeta_error_no_memory("an API tracer");
    ze_result_t result = zeta_object_create(ZETA_KIND_API_TRACER, sizeof(struct tracer), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct tracer *tracer = object;
    (void)pthread_mutex_init(&tracer->lock, NULL);
    tracer->user_data = desc->pUserData;
    tracer->callbacks = ZETA_TAKE(callbacks);
    *phTracer = (zet_tracer_exp_handle_t)tracer;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetTracerExpDestroy(zet_tracer_exp_handle_t hTracer)
{
    struct tracer *tracer = (struct tracer *)hTracer;

    if (zeta_trace_inside())
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "zetTracerExpDestroy waits for the calls that the tracer saw, and one of "
                          "them is the call whose callback runs; destroy the tracer outside of "
                          "callbacks");
    if (!zeta_object_retire(tracer))
        return explain(tracer, "zetTracerExpDestroy");
    (void)pthread_mutex_lock(&tracer->lock);
    tracer->destroyed = true;
    if (tracer->enabled)
        disable_locked(tracer);
    (void)pthread_mutex_unlock(&tracer->lock);
    while (tracer->periods) {
        struct period *period = tracer->periods;

        zeta_trace_wait(&period->listener);
        tracer->periods = period->next;
        free(period);
    }
    free(tracer->callbacks);
    zeta_object_unpin(tracer);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetTracerExpSetPrologues(zet_tracer_exp_handle_t hTracer,
                                                     zet_core_callbacks_t *pCoreCbs)
{
    return set_callbacks(hTracer, pCoreCbs, true, "zetTracerExpSetPrologues");
}

ze_result_t ZE_APICALL impl_zetTracerExpSetEpilogues(zet_tracer_exp_handle_t hTracer,
                                                     zet_core_callbacks_t *pCoreCbs)
{
    return set_callbacks(hTracer, pCoreCbs, false, "zetTracerExpSetEpilogues");
}

ze_result_t ZE_APICALL impl_zetTracerExpSetEnabled(zet_tracer_exp_handle_t hTracer,
                                                   ze_bool_t enable)
{
    struct tracer *tracer = (struct tracer *)hTracer;
    ze_result_t result = enter(tracer, "zetTracerExpSetEnabled");

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (enable && !tracer->enabled)
        result = enable_locked(tracer);
    else if (!enable && tracer->enabled)
        disable_locked(tracer);
    leave(tracer);
    return result;
}
