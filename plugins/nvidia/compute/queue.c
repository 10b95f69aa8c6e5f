/*
 * Queues on streams of CUDA.
 *
 *   submit() --- commands that can go at once --------------> stream ----.
 *      '-- others -> waiting -> feeder: waits for events,       ^        | steps: places in the
 *                               calls of the host, indirect ----'        v stream, in order
 *                                                            completer: times, events, reports
 *
 * The caller of submit() gives commands to the stream itself as long as nothing waits before them,
 * so small launches in a row do not wait for each other. Whatever needs a thread has one that is
 * started with the first command that needs it. Who submits and waits anyway does both himself.
 */
#include "compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/softqueue.h>
#include <zeta/thread.h>

#include "plugins/nvidia/query/query.h"

/* Steps in a stream at the same time: fewer than fit, so that no call of the driver blocks. */
#define MOST_STEPS 512u
#define HALF_OF_STEPS (MOST_STEPS / 2)

/* How long a caller waits until the stream is half empty; then the feeder does that for it. */
#define ROOM_NS UINT64_C(20000000)

/* Submissions of one command without an event of which one CUDA event marks the end. */
#define MOST_UNMARKED 32u

/* How long the completer polls for work with nothing behind it, before it sleeps until the GPU
 * interrupts. */
#define POLL_NS UINT64_C(50000)

enum { NOT_READY = 600, EVENT_BLOCKS = 1, EVENT_HAS_NO_TIMES = 2, STREAM_ALONE = 1 };

/* A place in the stream behind a command that signals, or behind the last one of a submission. */
struct step {
    struct step *next;
    struct zeta_plugin_event *signal;        /* NULL: none */
    const struct zeta_plugin_kernel *kernel; /* launched last before, NULL: none */
    void *cookie;                            /* of the submission that ends here, with is_last */
    bool is_last;
    bool is_ended;             /* end is recorded, which is a mark, too */
    bool is_marked;            /* end or mark is recorded */
    bool is_timed;             /* by the host: begin_ns and end_ns are known */
    uint64_t begin_ns, end_ns; /* without is_timed: begin_ns is a lower bound, end_ns nothing */
    struct nvidia_base *base;
    void *begin, *end; /* CUDA events with times; they and the mark are kept for the next use */
    void *mark;
    struct nvidia_failure failure; /* with a result: of the last command */
};

/* A submission that cannot go into the stream at once. */
struct waiting {
    struct waiting *next;
    struct zeta_plugin_array commands;
    void *cookie;
};

struct zeta_plugin_queue {
    struct zeta_plugin *self;
    struct zeta_plugin_device *device;
    struct zeta_plugin_queue *next; /* of the device */
    void *stream;
    uint64_t last_end_ns; /* of the last command that was signalled */

    pthread_mutex_t lock;         /* for all down to the threads */
    pthread_cond_t to_feed;       /* feeder: something waits */
    pthread_cond_t has_room;      /* feeder or caller: the stream is half empty again */
    pthread_cond_t to_complete;   /* completer: there are steps */
    pthread_cond_t all_completed; /* feeder: there are none any more */
    struct waiting *first_waiting, **last_waiting;
    struct step *first, **last; /* in the stream */
    struct step *spare;
    unsigned count, unmarked;
    bool is_feeding; /* the feeder has a submission in hand */
    bool is_here;    /* a caller of submit_here() does it all */
    bool is_over;    /* no steps follow */
    bool has_feeder, has_completer;
    pthread_t feeder, completer;

    atomic_bool stopping;
    atomic_bool is_lost; /* by a command at a wild address; the device goes on */
    char lost[512];
};

/* Who gives commands to the stream. */
enum role { ROLE_CALLER, ROLE_FEEDER, ROLE_HERE };

static const struct nvidia_driver *driver_of(const struct zeta_plugin_queue *queue)
{
    return &queue->self->nvidia->driver;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* NULL without memory. */
static struct step *take_step(struct zeta_plugin_queue *queue)
{
    struct step *step;

    (void)pthread_mutex_lock(&queue->lock);
    step = queue->spare;
    if (step)
        queue->spare = step->next;
    (void)pthread_mutex_unlock(&queue->lock);
    if (!step)
        return calloc(1, sizeof(*step));
    /* All but the events, and of the sentence, which is long, what makes it empty. */
    memset(step, 0, offsetof(struct step, begin));
    step->failure.result = ZETA_PLUGIN_SUCCESS;
    step->failure.cuda = NVIDIA_CUDA_SUCCESS;
    step->failure.sentence[0] = '\0';
    return step;
}

static void destroy_step(struct zeta_plugin_queue *queue, struct step *step)
{
    const struct nvidia_driver *driver = driver_of(queue);
    void *const events[] = {step->begin, step->end, step->mark};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i])
            (void)driver->cuEventDestroy_v2(events[i]);
    }
    free(step);
}

/* Records an event of a step, made at its first use. Results of CUDA. */
static int record(const struct zeta_plugin_queue *queue, void **event, unsigned flags)
{
    const struct nvidia_driver *driver = driver_of(queue);
    int cuda = NVIDIA_CUDA_SUCCESS;

    if (!*event)
        cuda = driver->cuEventCreate(event, flags);
    return cuda == NVIDIA_CUDA_SUCCESS ? driver->cuEventRecord(*event, queue->stream) : cuda;
}

/* ---- completing -------------------------------------------------------------------------------
 */

/* Kernels that may have made a fault: the oldest one of each queue of the device. */
static void name_suspects(struct zeta_plugin_device *device, char *text, size_t capacity)
{
    size_t length = 0, count = 0;

    text[0] = '\0';
    (void)pthread_mutex_lock(&device->context->lock);
    for (struct zeta_plugin_queue *queue = device->context->queues; queue; queue = queue->next) {
        const struct step *step;

        (void)pthread_mutex_lock(&queue->lock);
        step = queue->first;
        while (step && !step->kernel)
            step = step->next;
        if (step && length < capacity)
            length += (size_t)snprintf(text + length, capacity - length, "%s%.64s",
                                       count++ > 0 ? ", " : "", step->kernel->name);
        (void)pthread_mutex_unlock(&queue->lock);
    }
    (void)pthread_mutex_unlock(&device->context->lock);
}

/* A fault: for CUDA the context is lost, and with it the device for this process. */
static void note_fault(struct zeta_plugin_queue *queue, int cuda)
{
    const char *kind = nvidia_fault_kind(cuda);
    char kernels[200];

    if (atomic_load(&queue->device->is_lost))
        return;
    name_suspects(queue->device, kernels, sizeof(kernels));
    nvidia_device_lose(queue->device, "%s%s: %s (%s)",
                       strchr(kernels, ',') ? "one of the kernels "
                       : kernels[0] != '\0' ? "kernel "
                                            : "no kernel ran",
                       kernels, kind ? kind : "the driver failed",
                       nvidia_driver_text(driver_of(queue), cuda).text);
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

static struct zeta_plugin_times times_of(struct zeta_plugin_queue *queue, const struct step *step)
{
    const uint64_t now = nvidia_clock_ns();
    struct zeta_plugin_times times = {.begin_ticks = step->begin_ns, .end_ticks = step->end_ns};
    uint64_t first = step->begin_ns;

    /* The base is known to some microseconds only: nothing lies outside of what the host saw. */
    if (!step->is_timed) {
        first = first > queue->last_end_ns ? first : queue->last_end_ns;
        times.begin_ticks = clamp(
            step->base ? nvidia_base_time(queue->self, step->base, step->begin) : 0, first, now);
        times.end_ticks = clamp(
            step->base ? nvidia_base_time(queue->self, step->base, step->end) : now, first, now);
    }
    /* A command of no length would appear to take a whole wrap of the timer. */
    if (times.end_ticks <= times.begin_ticks)
        times.end_ticks = times.begin_ticks + 1;
    queue->last_end_ns = times.end_ticks;
    return times;
}

/* A step whose place in the stream was passed. is_lost: the device is, and with it the work. */
static void finish_step(struct zeta_plugin_queue *queue, struct step *step, bool is_lost)
{
    struct zeta_plugin *self = queue->self;
    const struct zeta_plugin_host_ops *ops = self->host.ops;
    uint32_t result = step->failure.result;
    struct zeta_plugin_times times = {0};

    if (result == ZETA_PLUGIN_SUCCESS && !is_lost && step->signal)
        times = times_of(queue, step);
    nvidia_base_release(self, queue->device, step->base);
    step->base = NULL;
    if (is_lost) {
        result = nvidia_lost(queue->device);
    } else if (result != ZETA_PLUGIN_SUCCESS) {
        if (step->failure.sentence[0] != '\0')
            (void)zeta_host_fail(&self->host, result, "%s: %s", queue->device->id,
                                 step->failure.sentence);
    } else {
        if (step->is_last && ZETA_PLUGIN_HAS(ops, submission_over) && ops->submission_over)
            ops->submission_over(self->host.handle, step->cookie);
        if (step->signal)
            ops->event_signal(self->host.handle, step->signal, &times);
    }
    if (step->is_last)
        ops->submission_done(self->host.handle, step->cookie, result);
}

/*
 * Finishes the steps up to one whose place was passed, or instead of which an error of CUDA came,
 * and takes them out of the stream. Nobody else takes steps out meanwhile.
 */
static void finish_steps(struct zeta_plugin_queue *queue, struct step *until, int cuda)
{
    struct step *const first = queue->first;
    unsigned count = 0;

    for (const struct step *step = first;; step = step->next) {
        if (cuda == NVIDIA_CUDA_SUCCESS && nvidia_is_fault(step->failure.cuda))
            cuda = step->failure.cuda;
        if (step == until)
            break;
    }
    if (cuda != NVIDIA_CUDA_SUCCESS)
        note_fault(queue, cuda);
    (void)pthread_mutex_lock(&queue->lock);
    for (struct step *step = first;; step = step->next) {
        step->kernel = NULL; /* it may go with the report */
        if (step == until)
            break;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    for (struct step *step = first;; step = step->next) {
        count++;
        finish_step(queue, step, cuda != NVIDIA_CUDA_SUCCESS);
        if (step == until)
            break;
    }

    (void)pthread_mutex_lock(&queue->lock);
    queue->first = until->next;
    if (!queue->first)
        queue->last = &queue->first;
    until->next = queue->spare;
    queue->spare = first;
    if (queue->count > HALF_OF_STEPS && queue->count - count <= HALF_OF_STEPS)
        (void)pthread_cond_signal(&queue->has_room);
    queue->count -= count;
    if (!queue->first)
        (void)pthread_cond_broadcast(&queue->all_completed);
    (void)pthread_mutex_unlock(&queue->lock);
}

/* Polling takes the driver's locks, in which who launches more would have to wait for us. */
static int wait_for_event(const struct zeta_plugin_queue *queue, void *event, bool polls)
{
    const struct nvidia_driver *driver = driver_of(queue);
    const uint64_t deadline_ns = polls ? zeta_monotonic_ns() + POLL_NS : 0;
    int cuda;

    do
        cuda = driver->cuEventQuery(event);
    while (cuda == NOT_READY && zeta_monotonic_ns() < deadline_ns);
    return cuda == NOT_READY ? driver->cuEventSynchronize(event) : cuda;
}

/*
 * The step up to which can be waited for next: the first one with a mark, and without any the last
 * one, which gets one.
 */
static struct step *next_mark_locked(struct zeta_plugin_queue *queue, int *out_cuda)
{
    struct step *step = queue->first;

    *out_cuda = NVIDIA_CUDA_SUCCESS;
    while (step->next && !step->is_marked)
        step = step->next;
    if (!step->is_marked) {
        *out_cuda = record(queue, &step->mark, EVENT_BLOCKS | EVENT_HAS_NO_TIMES);
        step->is_marked = true;
        queue->unmarked = 0;
    }
    return step;
}

static void *completer_main(void *argument)
{
    struct zeta_plugin_queue *queue = argument;
    struct nvidia_entered entered;

    (void)nvidia_enter(queue->self, queue->device, &entered);
    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        struct step *until;
        void *event;
        bool polls;
        int cuda;

        while ((!queue->first || queue->is_here) && !queue->is_over)
            (void)pthread_cond_wait(&queue->to_complete, &queue->lock);
        if (!queue->first)
            break;
        until = next_mark_locked(queue, &cuda);
        event = until->is_ended ? until->end : until->mark;
        polls = !until->next;
        (void)pthread_mutex_unlock(&queue->lock);
        if (cuda == NVIDIA_CUDA_SUCCESS)
            cuda = wait_for_event(queue, event, polls);
        finish_steps(queue, until, cuda);
        (void)pthread_mutex_lock(&queue->lock);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* All that is in the stream, on the thread of a caller. */
static void complete_here(struct zeta_plugin_queue *queue)
{
    const int cuda = driver_of(queue)->cuStreamSynchronize(queue->stream);
    struct step *last = queue->first;

    while (last && last->next)
        last = last->next;
    if (last)
        finish_steps(queue, last, cuda);
}

/* ---- feeding ----------------------------------------------------------------------------------
 */

/* Waits until all that is in the stream was reported, and all events before are signalled. */
static void drain(struct zeta_plugin_queue *queue, enum role role)
{
    if (role == ROLE_HERE) {
        complete_here(queue);
        return;
    }
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->first)
        (void)pthread_cond_wait(&queue->all_completed, &queue->lock);
    (void)pthread_mutex_unlock(&queue->lock);
    /* Commands that signal nothing have no step. */
    (void)driver_of(queue)->cuStreamSynchronize(queue->stream);
}

/* Gives a step its place in the stream, with a mark if there is a reason not to wait for one. */
static void append_step(struct zeta_plugin_queue *queue, struct step *step, bool wants_mark,
                        enum role role)
{
    (void)pthread_mutex_lock(&queue->lock);
    wants_mark = wants_mark || !queue->first || queue->unmarked + 1 >= MOST_UNMARKED;
    if (wants_mark && !step->is_ended && role != ROLE_HERE)
        step->is_marked =
            record(queue, &step->mark, EVENT_BLOCKS | EVENT_HAS_NO_TIMES) == NVIDIA_CUDA_SUCCESS;
    queue->unmarked = step->is_marked ? 0 : queue->unmarked + 1;
    step->next = NULL;
    *queue->last = step;
    queue->last = &step->next;
    queue->count++;
    (void)pthread_cond_signal(&queue->to_complete);
    (void)pthread_mutex_unlock(&queue->lock);
}

/* Begins or ends a query; all that came before is complete. */
static bool run_query_point(const struct zeta_plugin_queue *queue,
                            const struct zeta_plugin_command *command,
                            struct nvidia_failure *out_failure)
{
    struct nvidia_query_failure failure = {""};

    out_failure->result = command->type == ZETA_PLUGIN_COMMAND_QUERY_BEGIN
                              ? nvidia_query_begin(&command->u.query, queue, &failure)
                              : nvidia_query_end(&command->u.query, &failure);
    (void)snprintf(out_failure->sentence, sizeof(out_failure->sentence), "%s", failure.text);
    return out_failure->result == ZETA_PLUGIN_SUCCESS;
}

/* A command that may block, or that the host carries out, between two readings of the clock. */
static bool run_on_host(struct zeta_plugin_queue *queue, const struct zeta_plugin_command *command,
                        struct step *step)
{
    const struct zeta_plugin_host_ops *ops = queue->self->host.ops;
    bool is_good = true;

    step->begin_ns = nvidia_clock_ns();
    if (command->type == ZETA_PLUGIN_COMMAND_CALL)
        command->u.call.function(command->u.call.context);
    else if (command->type == ZETA_PLUGIN_COMMAND_EVENT_RESET)
        ops->event_reset(queue->self->host.handle, command->signal_event);
    else if (command->type == ZETA_PLUGIN_COMMAND_QUERY_BEGIN ||
             command->type == ZETA_PLUGIN_COMMAND_QUERY_END)
        is_good = run_query_point(queue, command, &step->failure);
    else
        is_good = nvidia_command_run(queue->self, queue->device, queue->stream, command,
                                     &step->failure) &&
                  nvidia_stream_wait(queue->self, queue->stream, &step->failure);
    step->end_ns = nvidia_clock_ns();
    step->is_timed = true;
    return is_good;
}

/* A command that goes into the stream; between two events when somebody wants its times. */
static bool run_on_stream(struct zeta_plugin_queue *queue,
                          const struct zeta_plugin_command *command, struct step *step)
{
    struct nvidia_failure *failure = &step->failure;
    int cuda = NVIDIA_CUDA_SUCCESS;

    step->begin_ns = nvidia_clock_ns();
    if (step->signal) {
        step->base = nvidia_base_acquire(queue->self, queue->device);
        cuda = record(queue, &step->begin, EVENT_BLOCKS);
    }
    if (cuda == NVIDIA_CUDA_SUCCESS &&
        !nvidia_command_run(queue->self, queue->device, queue->stream, command, failure))
        return false;
    if (cuda == NVIDIA_CUDA_SUCCESS && step->signal) {
        cuda = record(queue, &step->end, EVENT_BLOCKS);
        step->is_ended = step->is_marked = cuda == NVIDIA_CUDA_SUCCESS;
    }
    if (cuda == NVIDIA_CUDA_SUCCESS)
        return true;
    failure->result = nvidia_result(cuda);
    failure->cuda = cuda;
    (void)snprintf(failure->sentence, sizeof(failure->sentence), "recording an event failed: %s",
                   nvidia_driver_text(driver_of(queue), cuda).text);
    return false;
}

static bool is_stopping(const void *context)
{
    const struct zeta_plugin_queue *queue = context;

    return atomic_load(&queue->stopping);
}

/* False: the command, and so the submission, does not run. */
static bool may_run(struct zeta_plugin_queue *queue, const struct zeta_plugin_command *command,
                    enum role role, struct nvidia_failure *failure)
{
    if (role != ROLE_FEEDER || zeta_softqueue_pool_wait(queue->self->nvidia->compute->waiters,
                                                        command, is_stopping, queue)) {
        if (!atomic_load(&queue->is_lost) && !atomic_load(&queue->device->is_lost))
            return true;
        (void)snprintf(failure->sentence, sizeof(failure->sentence), "%s",
                       atomic_load(&queue->is_lost) ? queue->lost : "");
    }
    failure->result = ZETA_PLUGIN_DEVICE_LOST;
    return false;
}

/* The commands of a submission, one by one, until one fails. The context is current. */
static void feed(struct zeta_plugin_queue *queue, const struct zeta_plugin_array *commands,
                 void *cookie, enum role role)
{
    const struct zeta_plugin_kernel *kernel = NULL;
    struct step *step = NULL;
    bool is_good = true;

    for (uint64_t i = 0; is_good && i < commands->count; i++) {
        const struct zeta_plugin_command *command =
            (const void *)((const char *)commands->data + i * commands->stride);
        bool is_asynchronous;

        step = step ? step : take_step(queue);
        if (!step) {
            drain(queue, role);
            queue->self->host.ops->submission_done(queue->self->host.handle, cookie,
                                                   ZETA_PLUGIN_OUT_OF_HOST_MEMORY);
            return;
        }
        is_good = may_run(queue, command, role, &step->failure);
        is_asynchronous = nvidia_command_is_asynchronous(queue->self, command);
        if (is_good && !is_asynchronous)
            drain(queue, role);
        if (command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
            step->signal = command->signal_event;
        if (command->type == ZETA_PLUGIN_COMMAND_LAUNCH)
            kernel = command->u.launch.kernel;
        if (is_good)
            is_good = is_asynchronous ? run_on_stream(queue, command, step)
                                      : run_on_host(queue, command, step);
        step->is_last = !is_good || i + 1 == commands->count;
        if (!is_good)
            nvidia_query_abandon(queue->device, queue);
        if (!step->signal && !step->is_last)
            continue;
        if (!is_good && step->failure.result == ZETA_PLUGIN_DEVICE_LOST &&
            step->failure.cuda == 0 && !atomic_load(&queue->is_lost)) {
            (void)snprintf(queue->lost, sizeof(queue->lost), "%s", step->failure.sentence);
            atomic_store(&queue->is_lost, true);
        }
        step->kernel = kernel;
        step->cookie = cookie;
        kernel = NULL;
        append_step(queue, step, commands->count > 1 || !is_good || !is_asynchronous, role);
        step = NULL;
    }
}

static void *feeder_main(void *argument)
{
    struct zeta_plugin_queue *queue = argument;
    struct nvidia_entered entered;

    (void)nvidia_enter(queue->self, queue->device, &entered);
    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        struct waiting *waiting;

        while (!atomic_load(&queue->stopping) && !queue->first_waiting)
            (void)pthread_cond_wait(&queue->to_feed, &queue->lock);
        waiting = queue->first_waiting;
        if (!waiting)
            break;
        /* Not for each place anew. */
        if (queue->count >= MOST_STEPS) {
            while (!atomic_load(&queue->stopping) && queue->count > HALF_OF_STEPS)
                (void)pthread_cond_wait(&queue->has_room, &queue->lock);
        }
        queue->first_waiting = waiting->next;
        if (!queue->first_waiting)
            queue->last_waiting = &queue->first_waiting;
        queue->is_feeding = true;
        (void)pthread_mutex_unlock(&queue->lock);
        feed(queue, &waiting->commands, waiting->cookie, ROLE_FEEDER);
        free(waiting);
        (void)pthread_mutex_lock(&queue->lock);
        queue->is_feeding = false;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- submissions ------------------------------------------------------------------------------
 */

/* Starts a thread of the queue if it does not run yet. */
static uint32_t start_locked(struct zeta_plugin_queue *queue, bool *has_one, pthread_t *thread,
                             void *(*run)(void *), const char *name)
{
    int error = *has_one ? 0 : zeta_thread_start(thread, run, queue, name);

    *has_one = error == 0;
    if (error == 0)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&queue->self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                          "the thread %s of a queue cannot be started: %s; raise the limit of "
                          "processes (ulimit -u) or free memory",
                          name, strerror(error));
}

static uint32_t wait_in_line_locked(struct zeta_plugin_queue *queue,
                                    const struct zeta_plugin_array *commands, void *cookie)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    uint32_t result;

    if (!waiting)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = start_locked(queue, &queue->has_feeder, &queue->feeder, feeder_main, "nvidia-feeder");
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(waiting);
        return result;
    }
    *waiting = (struct waiting){.commands = *commands, .cookie = cookie};
    if (!queue->first_waiting)
        (void)pthread_cond_signal(&queue->to_feed);
    *queue->last_waiting = waiting;
    queue->last_waiting = &waiting->next;
    return ZETA_PLUGIN_SUCCESS;
}

/* Whether all commands can go without waiting for events, nor, if wanted, for anything. */
static bool can_go(struct zeta_plugin_queue *queue, const struct zeta_plugin_array *commands,
                   bool wants_asynchronous)
{
    const struct zeta_softqueue_pool *waiters = queue->self->nvidia->compute->waiters;

    for (uint64_t i = 0; i < commands->count; i++) {
        const struct zeta_plugin_command *command =
            (const void *)((const char *)commands->data + i * commands->stride);

        if (command->type == ZETA_PLUGIN_COMMAND_CALL ||
            (command->wait_count > 0 && !zeta_softqueue_pool_is_ready(waiters, command)) ||
            (wants_asynchronous && !nvidia_command_is_asynchronous(queue->self, command)))
            return false;
    }
    return true;
}

/*
 * Whether the caller can give commands to the stream: nothing waits before them, and there is room.
 * For room it waits a moment: that costs less than a thread that does it instead. Nobody else
 * submits meanwhile.
 */
static bool has_turn_locked(struct zeta_plugin_queue *queue, uint64_t command_count)
{
    if (queue->first_waiting || queue->is_feeding)
        return false;
    if (queue->count + command_count > MOST_STEPS && command_count <= HALF_OF_STEPS) {
        const struct timespec until = zeta_clock_timespec(zeta_monotonic_ns() + ROOM_NS);
        int error = 0;

        while (error == 0 && queue->count > HALF_OF_STEPS)
            error = pthread_cond_timedwait(&queue->has_room, &queue->lock, &until);
    }
    return queue->count + command_count <= MOST_STEPS;
}

uint32_t nvidia_queue_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_array *commands, void *cookie)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_queue_status(self, queue);
    bool goes;

    if (result == ZETA_PLUGIN_SUCCESS)
        result = nvidia_enter(self, queue->device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    goes = can_go(queue, commands, true);
    (void)pthread_mutex_lock(&queue->lock);
    goes = goes && has_turn_locked(queue, commands->count);
    result = start_locked(queue, &queue->has_completer, &queue->completer, completer_main,
                          "nvidia-done");
    if (result == ZETA_PLUGIN_SUCCESS && !goes)
        result = wait_in_line_locked(queue, commands, cookie);
    (void)pthread_mutex_unlock(&queue->lock);
    if (result == ZETA_PLUGIN_SUCCESS && goes)
        feed(queue, commands, cookie, ROLE_CALLER);
    nvidia_leave(self, &entered);
    return result;
}

uint32_t nvidia_queue_submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                  const struct zeta_plugin_array *commands, void *cookie)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_queue_status(self, queue);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (!can_go(queue, commands, false))
        return nvidia_queue_submit(self, queue, commands, cookie);
    (void)pthread_mutex_lock(&queue->lock);
    queue->is_here = !queue->first && !queue->first_waiting && !queue->is_feeding;
    (void)pthread_mutex_unlock(&queue->lock);
    if (!queue->is_here)
        return nvidia_queue_submit(self, queue, commands, cookie);
    result = nvidia_enter(self, queue->device, &entered);
    if (result == ZETA_PLUGIN_SUCCESS) {
        feed(queue, commands, cookie, ROLE_HERE);
        complete_here(queue);
        nvidia_leave(self, &entered);
    }
    (void)pthread_mutex_lock(&queue->lock);
    queue->is_here = false;
    (void)pthread_mutex_unlock(&queue->lock);
    return result;
}

uint32_t nvidia_queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    if (atomic_load(&queue->device->is_lost))
        return nvidia_lost(queue->device);
    if (atomic_load(&queue->is_lost))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_DEVICE_LOST,
                              "%s: %s; destroy the queue, the device goes on", queue->device->id,
                              queue->lost);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- the queue --------------------------------------------------------------------------------
 */

/* CUDA knows none below the usual priority; a lower number is a higher one, and is clamped. */
static int priority_of(const struct zeta_plugin_queue_desc *desc)
{
    enum { PRIORITY_HIGH = 2 };

    return desc->priority == PRIORITY_HIGH ? -100 : 0;
}

uint32_t nvidia_queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue)
{
    struct zeta_plugin_queue *queue;
    struct nvidia_entered entered;
    uint32_t result;
    int cuda;

    if (desc->ordinal >= device->queue_group_count ||
        desc->index >= device->queue_groups[desc->ordinal].queue_count)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s has no queue %u in a group %u", device->id, desc->index,
                              desc->ordinal);
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    queue->self = self;
    queue->device = device;
    queue->last = &queue->first;
    queue->last_waiting = &queue->first_waiting;
    result = nvidia_enter(self, device, &entered);
    if (result == ZETA_PLUGIN_SUCCESS) {
        cuda = driver_of(queue)->cuStreamCreateWithPriority(&queue->stream, STREAM_ALONE,
                                                            priority_of(desc));
        if (cuda != NVIDIA_CUDA_SUCCESS)
            result = nvidia_fail(self, device, cuda, "making a stream");
        nvidia_leave(self, &entered);
    }
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(queue);
        return result;
    }
    (void)pthread_mutex_init(&queue->lock, NULL);
    (void)pthread_cond_init(&queue->to_feed, NULL);
    zeta_condition_init(&queue->has_room);
    (void)pthread_cond_init(&queue->to_complete, NULL);
    (void)pthread_cond_init(&queue->all_completed, NULL);
    (void)pthread_mutex_lock(&device->context->lock);
    queue->next = device->context->queues;
    device->context->queues = queue;
    (void)pthread_mutex_unlock(&device->context->lock);
    *out_queue = queue;
    return ZETA_PLUGIN_SUCCESS;
}

static void unlink_queue(const struct zeta_plugin_queue *queue)
{
    struct nvidia_context *context = queue->device->context;
    struct zeta_plugin_queue **at = &context->queues;

    (void)pthread_mutex_lock(&context->lock);
    while (*at != queue)
        at = &(*at)->next;
    *at = queue->next;
    (void)pthread_mutex_unlock(&context->lock);
}

/* A kernel cannot be interrupted: what is in the stream is waited for, the rest is given up. */
void nvidia_queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    struct nvidia_entered entered;
    bool has_context;

    (void)pthread_mutex_lock(&queue->lock);
    atomic_store(&queue->stopping, true);
    (void)pthread_cond_broadcast(&queue->to_feed);
    (void)pthread_cond_broadcast(&queue->has_room);
    (void)pthread_mutex_unlock(&queue->lock);
    zeta_softqueue_pool_wake(self->nvidia->compute->waiters);
    if (queue->has_feeder)
        (void)pthread_join(queue->feeder, NULL);
    (void)pthread_mutex_lock(&queue->lock);
    queue->is_over = true;
    (void)pthread_cond_broadcast(&queue->to_complete);
    (void)pthread_mutex_unlock(&queue->lock);
    if (queue->has_completer)
        (void)pthread_join(queue->completer, NULL);

    unlink_queue(queue);
    nvidia_query_abandon(queue->device, queue);
    has_context = nvidia_enter(self, queue->device, &entered) == ZETA_PLUGIN_SUCCESS;
    while (queue->spare) {
        struct step *next = queue->spare->next;

        destroy_step(queue, queue->spare);
        queue->spare = next;
    }
    (void)driver_of(queue)->cuStreamDestroy_v2(queue->stream);
    if (has_context)
        nvidia_leave(self, &entered);
    (void)pthread_cond_destroy(&queue->all_completed);
    (void)pthread_cond_destroy(&queue->to_complete);
    (void)pthread_cond_destroy(&queue->has_room);
    (void)pthread_cond_destroy(&queue->to_feed);
    (void)pthread_mutex_destroy(&queue->lock);
    free(queue);
}
