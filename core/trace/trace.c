#include "core/trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/trace/hazard.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/fork_state.h"

/* Waiting for calls to end: the first pause, and the longest one. */
#define SHORT_PAUSE_NS (20L * 1000)
#define LONG_PAUSE_NS (1000L * 1000)

struct zeta_trace_list {
    struct zeta_trace_list *next; /* of the retired or spare lists; for writers */
    uint32_t count;
    struct zeta_trace_listener *listeners[];
};

/* What a thread has of its own. Its hazard pointer is valid in the process of this generation. */
struct zeta_trace_thread {
    uint32_t generation;
    bool inside;
    struct zeta_hazard *hazard;
};

/*
 * What writers have, under their lock. A list of n listeners has n - 1 spare ones, of 1 to n - 1
 * listeners, made when the listeners were added: so a removal needs no memory and cannot fail.
 */
struct writers {
    struct zeta_fork_state fork;
    struct zeta_trace_list *retired; /* replaced, perhaps in use by calls */
    struct zeta_trace_list *spare[ZETA_FUNCTION_COUNT];
};

const void *_Atomic zeta_trace_points[ZETA_FUNCTION_COUNT];

static _Atomic uint32_t generation = 1;
static _Thread_local struct zeta_trace_thread this_thread;

/* A call during which the process forked still calls its listeners at its end. */
static void forget_in_child(void)
{
    zeta_trace_close();
    zeta_hazards_forget();
    atomic_fetch_add(&generation, 1);
}

static struct zeta_fork_root all_writers = {.in_child = forget_in_child};

/* ---- calls --------------------------------------------------------------------------------- */

/*
 * A hazard pointer for a call of a thread that has none yet, or whose own is in use: by a call that
 * ran code of the application, which calls again.
 */
static struct zeta_hazard *other_hazard(struct zeta_trace_thread *thread)
{
    struct zeta_hazard *hazard = zeta_hazard_claim();
    uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);

    if (hazard && thread->generation != now) {
        thread->generation = now;
        thread->hazard = hazard;
    }
    return hazard;
}

static inline struct zeta_hazard *hazard_for(struct zeta_trace_thread *thread)
{
    if (thread->generation == atomic_load_explicit(&generation, memory_order_relaxed) &&
        !atomic_load_explicit(&thread->hazard->value, memory_order_relaxed))
        return thread->hazard;
    return other_hazard(thread);
}

static void end_read(struct zeta_trace_thread *thread, struct zeta_hazard *hazard)
{
    zeta_hazard_clear(hazard);
    if (hazard != thread->hazard)
        zeta_hazard_release(hazard);
}

static inline void **slot_of(struct zeta_trace_call *call, uint32_t index)
{
    return index < ZETA_TRACE_SLOTS ? &call->slots[index] : &call->more[index - ZETA_TRACE_SLOTS];
}

/* Apart from zeta_trace_begin(), so that the address of the thread's data is asked for once. */
ZETA_NOINLINE static bool begin_on(struct zeta_trace_thread *thread, struct zeta_trace_call *call,
                                   enum zeta_function function, void *arguments)
{
    if (thread->inside)
        return false;
    struct zeta_hazard *hazard = hazard_for(thread);
    if (!hazard)
        return false;
    const struct zeta_trace_list *list = zeta_hazard_acquire(hazard, &zeta_trace_points[function]);
    if (!list)
        goto not_traced;
    if (list->count > ZETA_TRACE_SLOTS && list->count - ZETA_TRACE_SLOTS > hazard->more_count) {
        uint32_t count = list->count - ZETA_TRACE_SLOTS;
        void **more = realloc(hazard->more, count * sizeof(*more));

        if (!more)
            goto not_traced;
        hazard->more = more;
        hazard->more_count = count;
    }
    call->list = list;
    call->thread = thread;
    call->hazard = hazard;
    call->arguments = arguments;
    call->function = function;
    call->generation = thread->generation;
    call->more = hazard->more;
    thread->inside = true;
    for (uint32_t i = 0; i < list->count; i++) {
        void **slot = slot_of(call, i);

        *slot = NULL;
        list->listeners[i]->begin(list->listeners[i], function, arguments, slot);
    }
    thread->inside = false;
    return true;

not_traced:
    end_read(thread, hazard);
    return false;
}

bool zeta_trace_begin(struct zeta_trace_call *call, enum zeta_function function, void *arguments)
{
    return begin_on(&this_thread, call, function, arguments);
}

void zeta_trace_end(struct zeta_trace_call *call, ze_result_t result)
{
    const struct zeta_trace_list *list = call->list;

    call->thread->inside = true;
    for (uint32_t i = 0; i < list->count; i++)
        list->listeners[i]->end(list->listeners[i], call->function, call->arguments, result,
                                slot_of(call, i));
    call->thread->inside = false;
    /* A child of fork() that comes back from its parent's call: the hazard pointer has no owner any
     * more. */
    if (call->generation == atomic_load_explicit(&generation, memory_order_relaxed))
        end_read(call->thread, call->hazard);
}

bool zeta_trace_inside(void)
{
    return this_thread.inside;
}

/* ---- writers ------------------------------------------------------------------------------- */

static struct zeta_trace_list *make_list(uint32_t count)
{
    struct zeta_trace_list *list = malloc(sizeof(*list) + count * sizeof(list->listeners[0]));

    if (list)
        *list = (struct zeta_trace_list){.count = count};
    return list;
}

static const struct zeta_trace_list *list_of(size_t function)
{
    return atomic_load_explicit(&zeta_trace_points[function], memory_order_relaxed);
}

static bool contains(const struct zeta_trace_list *list, const struct zeta_trace_listener *listener)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        if (list->listeners[i] == listener)
            return true;
    }
    return false;
}

static void push(struct zeta_trace_list **stack, struct zeta_trace_list *list)
{
    list->next = *stack;
    *stack = list;
}

static struct zeta_trace_list *pop(struct zeta_trace_list **stack)
{
    struct zeta_trace_list *list = *stack;

    *stack = list->next;
    return list;
}

/* Frees the retired lists that no call uses. */
static void reclaim_locked(struct writers *writers)
{
    struct zeta_trace_list **link = &writers->retired;

    while (*link) {
        if (zeta_hazard_protects(*link))
            link = &(*link)->next;
        else
            free(pop(link));
    }
}

static void publish_locked(struct writers *writers, size_t function,
                           const struct zeta_trace_list *list)
{
    const struct zeta_trace_list *old = atomic_exchange(&zeta_trace_points[function], list);

    if (old)
        push(&writers->retired, (struct zeta_trace_list *)old);
}

ze_result_t zeta_trace_add(struct zeta_trace_listener *listener)
{
    struct zeta_trace_list *lists[ZETA_FUNCTION_COUNT] = {0};
    struct zeta_trace_list *spares[ZETA_FUNCTION_COUNT] = {0};
    struct writers *writers = zeta_fork_state_get(&all_writers, sizeof(*writers));
    bool complete = true;

    if (!writers)
        return zeta_error_no_memory("the list of API tracers");
    (void)pthread_mutex_lock(&writers->fork.lock);
    for (size_t i = 0; i < ZETA_FUNCTION_COUNT && complete; i++) {
        if (!listener->wants(listener, (enum zeta_function)i))
            continue;
        /* A list with one more listener; and a spare one for when a listener leaves. */
        const struct zeta_trace_list *old = list_of(i);
        const uint32_t count = old ? old->count : 0;

        lists[i] = make_list(count + 1);
        spares[i] = count ? make_list(count) : NULL;
        complete = lists[i] && (spares[i] || count == 0);
        for (uint32_t k = 0; complete && k < count; k++)
            lists[i]->listeners[k] = old->listeners[k];
        if (complete)
            lists[i]->listeners[count] = listener;
    }
    zeta_hazard_barrier_init();
    for (size_t i = 0; i < ZETA_FUNCTION_COUNT; i++) {
        if (!complete) {
            free(lists[i]);
            free(spares[i]);
        } else if (lists[i]) {
            if (spares[i])
                push(&writers->spare[i], spares[i]);
            publish_locked(writers, i, lists[i]);
        }
    }
    zeta_hazard_barrier();
    reclaim_locked(writers);
    (void)pthread_mutex_unlock(&writers->fork.lock);
    return complete ? ZE_RESULT_SUCCESS : zeta_error_no_memory("the list of API tracers");
}

void zeta_trace_remove(struct zeta_trace_listener *listener)
{
    struct writers *writers = zeta_fork_state_peek(&all_writers);

    /* None in a child of fork() that nobody traces. */
    if (!writers)
        return;
    (void)pthread_mutex_lock(&writers->fork.lock);
    for (size_t i = 0; i < ZETA_FUNCTION_COUNT; i++) {
        const struct zeta_trace_list *old = list_of(i);
        struct zeta_trace_list *list = NULL;
        uint32_t count = 0;

        if (!contains(old, listener))
            continue;
        if (old->count > 1)
            list = pop(&writers->spare[i]);
        for (uint32_t k = 0; list && k < old->count; k++) {
            if (old->listeners[k] != listener)
                list->listeners[count++] = old->listeners[k];
        }
        publish_locked(writers, i, list);
    }
    zeta_hazard_barrier();
    reclaim_locked(writers);
    (void)pthread_mutex_unlock(&writers->fork.lock);
}

bool zeta_trace_is_idle(const struct zeta_trace_listener *listener)
{
    struct writers *writers = zeta_fork_state_peek(&all_writers);
    bool idle = true;

    if (!writers)
        return true;
    (void)pthread_mutex_lock(&writers->fork.lock);
    reclaim_locked(writers);
    for (const struct zeta_trace_list *list = writers->retired; list && idle; list = list->next)
        idle = !contains(list, listener);
    (void)pthread_mutex_unlock(&writers->fork.lock);
    return idle;
}

void zeta_trace_wait(const struct zeta_trace_listener *listener)
{
    struct timespec pause = {.tv_nsec = SHORT_PAUSE_NS};

    while (!zeta_trace_is_idle(listener)) {
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONG_PAUSE_NS)
            pause.tv_nsec *= 2;
    }
}

void zeta_trace_close(void)
{
    /* Lists that are in use for ever; named here so that no checker takes them for lost. */
    static const void *_Atomic left[ZETA_FUNCTION_COUNT];

    for (size_t i = 0; i < ZETA_FUNCTION_COUNT; i++) {
        const void *list = atomic_exchange(&zeta_trace_points[i], NULL);

        if (list)
            atomic_store(&left[i], list);
    }
}
