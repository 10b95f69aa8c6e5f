/*
 * Queues on streams of CUDA.
 *
 *   submit() --- commands that can go at once --------------> stream ----.
 *      '-- others -> waiting -> feeder: waits for events,       ^        | steps: places in the
 *                               calls of the host, indirect ----'        v stream, in order
 *                                                       finish(): times, events, reports
 *
 * The caller of submit() gives commands to the stream itself as long as nothing waits before them,
 * so small launches in a row do not wait for each other.
 *
 * Who waits for steps finishes them: the host in wait(), a caller or the feeder that needs room,
 * submit_here(). The completer is a thread for what nobody waits for. It polls for urgent steps,
 * which signal events or are waited for on a condition of the host, and looks at the others now and
 * then. Measured on an H100: to have the GPU interrupt costs 50 us of each wait and 8 us of
 * processor time for each such event; a second thread that asks for an event costs launches in a
 * row little, one that asks for the stream twice their time.
 */
#include "compute.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/softqueue.h>
#include <zeta/thread.h>

#include "plugins/nvidia/query/query.h"

/* Commands and events in a stream at the same time: fewer than fit (1021 on an H100), so that no
 * call of the driver blocks. */
#define MOST_PLACES 512u
#define HALF_OF_PLACES (MOST_PLACES / 2)

/* How long a caller waits until the stream is half empty; then the feeder does that for it. Between
 * two looks the GPU does less than the other half. */
#define ROOM_NS UINT64_C(20000000)
#define ROOM_NAP_NS UINT64_C(50000)

/* Submissions of one command without an event of which one CUDA event marks the end. */
#define MOST_UNMARKED 32u

/* How long a wait polls before it naps between two polls: for a part of the time so far, or that.
 */
#define POLL_NS UINT64_C(50000)
#define NAP_PART 16u
#define LONGEST_NAP_NS UINT64_C(1000000)

/* How often the completer looks at steps that nobody waits for. */
#define LOOK_NS UINT64_C(1000000)

enum { NOT_READY = 600, EVENT_HAS_TIMES = 0, EVENT_HAS_NO_TIMES = 2, STREAM_ALONE = 1 };

/* A place in the stream behind a command that signals, or behind the last one of a submission. */
struct step {
    struct step *next;
    uint64_t number, submission;       /* in the queue, from 1 */
    struct zeta_plugin_event *signal;  /* NULL: none */
    struct zeta_plugin_array commands; /* since the step before, until they are reported */
    void *cookie;                      /* of the submission that ends here, with is_last */
    bool is_last;
    bool is_ended;             /* end is recorded, which is a mark, too */
    bool is_marked;            /* end or mark is recorded */
    bool is_urgent;            /* the completer polls */
    unsigned waiters;          /* threads that wait for its mark inside the driver */
    unsigned places;           /* in the driver's hands, of commands since the step before */
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
    uint64_t last_end_ns; /* of the last command that was signalled; of who finishes steps */
    struct step *fresh;   /* to be used; of who gives commands to the stream */
    bool is_dry;          /* nothing was given to it since all was waited for; likewise */

    pthread_mutex_t lock;       /* for all down to the threads */
    pthread_cond_t to_feed;     /* feeder: something waits */
    pthread_cond_t to_complete; /* completer: an urgent step, or the first one for long */
    pthread_cond_t finished;    /* a thread is done with finishing steps */
    struct waiting *first_waiting, **last_waiting;
    struct step *first, *newest; /* in the stream */
    struct step *spare;          /* used, for fresh */
    uint64_t appended;           /* number of the newest step ever */
    uint64_t given;              /* submissions whose steps are all in the stream, or were */
    uint64_t wanted;             /* submissions whose reports somebody waits for, or did */
    uint64_t places;             /* of all steps */
    unsigned urgent_count, unmarked;
    bool is_finishing; /* a thread finishes the first steps */
    bool is_feeding;   /* the feeder has a submission in hand */
    bool is_idle;      /* the completer sleeps until it is woken */
    bool is_over;      /* no steps follow */
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

static const struct zeta_plugin_command *command_at(const struct zeta_plugin_array *commands,
                                                    uint64_t index)
{
    return (const void *)((const char *)commands->data + index * commands->stride);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* NULL without memory. One thread at a time gives commands to a stream. */
static struct step *take_step(struct zeta_plugin_queue *queue)
{
    struct step *step;

    if (!queue->fresh) {
        (void)pthread_mutex_lock(&queue->lock);
        queue->fresh = queue->spare;
        queue->spare = NULL;
        (void)pthread_mutex_unlock(&queue->lock);
    }
    step = queue->fresh;
    if (!step)
        return calloc(1, sizeof(*step));
    queue->fresh = step->next;
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

static void destroy_steps(struct zeta_plugin_queue *queue, struct step *first)
{
    while (first) {
        struct step *next = first->next;

        destroy_step(queue, first);
        first = next;
    }
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

/* Adds a name to a list of them, unless it is there. */
static void add_name(char *text, size_t capacity, const struct zeta_plugin_kernel *kernel)
{
    const size_t length = strlen(text);
    char name[65];

    (void)snprintf(name, sizeof(name), "%s", kernel->name);
    for (const char *at = text; *at != '\0'; at += strspn(at, ", ")) {
        const size_t count = strcspn(at, ",");

        if (count == strlen(name) && memcmp(at, name, count) == 0)
            return;
        at += count;
    }
    (void)snprintf(text + length, capacity - length, "%s%s", length > 0 ? ", " : "", name);
}

/* Kernels that may have made a fault: those in all streams of the device that are not finished. */
static void name_suspects(struct zeta_plugin_device *device, char *text, size_t capacity)
{
    text[0] = '\0';
    (void)pthread_mutex_lock(&device->context->lock);
    for (struct zeta_plugin_queue *queue = device->context->queues; queue; queue = queue->next) {
        (void)pthread_mutex_lock(&queue->lock);
        for (const struct step *step = queue->first; step; step = step->next) {
            for (uint64_t i = 0; i < step->commands.count; i++) {
                const struct zeta_plugin_command *command = command_at(&step->commands, i);

                if (command->type == ZETA_PLUGIN_COMMAND_LAUNCH)
                    add_name(text, capacity, command->u.launch.kernel);
            }
        }
        (void)pthread_mutex_unlock(&queue->lock);
    }
    (void)pthread_mutex_unlock(&device->context->lock);
}

/* A fault: for CUDA the context is lost, and with it the device for this process. */
static void note_fault(struct zeta_plugin_queue *queue, int cuda)
{
    const char *kind = nvidia_fault_kind(cuda);
    char kernels[400];

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

/* Keeps a step for the next use. */
static void put_aside_locked(struct zeta_plugin_queue *queue, struct step *step)
{
    step->next = queue->spare;
    queue->spare = step;
}

/*
 * Finishes the steps up to a number, whose places were passed, or instead of which an error of CUDA
 * came, and takes them out of the stream. Also when another thread does it: they are reported when
 * this returns. The context is current.
 */
static void finish(struct zeta_plugin_queue *queue, uint64_t number, int cuda)
{
    struct step *first, *until, *step;

    (void)pthread_mutex_lock(&queue->lock);
    while (queue->is_finishing)
        (void)pthread_cond_wait(&queue->finished, &queue->lock);
    first = queue->first;
    if (!first || first->number > number) {
        (void)pthread_mutex_unlock(&queue->lock);
        return;
    }
    queue->is_finishing = true;
    for (until = first;; until = until->next) {
        if (cuda == NVIDIA_CUDA_SUCCESS && nvidia_is_fault(until->failure.cuda))
            cuda = until->failure.cuda;
        if (!until->next || until->next->number > number)
            break;
    }
    (void)pthread_mutex_unlock(&queue->lock);

    if (cuda != NVIDIA_CUDA_SUCCESS)
        note_fault(queue, cuda);
    (void)pthread_mutex_lock(&queue->lock);
    for (step = first; step != until; step = step->next)
        step->commands.count = 0; /* they go with the report */
    until->commands.count = 0;
    (void)pthread_mutex_unlock(&queue->lock);
    for (step = first; step != until; step = step->next)
        finish_step(queue, step, cuda != NVIDIA_CUDA_SUCCESS);
    finish_step(queue, until, cuda != NVIDIA_CUDA_SUCCESS);

    (void)pthread_mutex_lock(&queue->lock);
    queue->first = until->next;
    if (!queue->first)
        queue->newest = NULL;
    until->next = NULL;
    while (first) {
        step = first;
        first = step->next;
        queue->places -= step->places;
        queue->urgent_count -= step->is_urgent;
        if (step->waiters == 0)
            put_aside_locked(queue, step);
    }
    queue->is_finishing = false;
    (void)pthread_cond_broadcast(&queue->finished);
    (void)pthread_mutex_unlock(&queue->lock);
}

/* The CUDA event behind a step; NULL: none. */
static void *mark_of(const struct step *step)
{
    if (!step->is_marked)
        return NULL;
    return step->is_ended ? step->end : step->mark;
}

/* Finishes what the stream has passed, without waiting for more. */
static void finish_passed(struct zeta_plugin_queue *queue)
{
    const struct nvidia_driver *driver = driver_of(queue);

    for (;;) {
        const struct step *step;
        uint64_t number;
        void *event;
        int cuda;

        (void)pthread_mutex_lock(&queue->lock);
        step = queue->first;
        while (step && step->next && !step->is_marked)
            step = step->next;
        number = step ? step->number : 0;
        event = step ? mark_of(step) : NULL;
        (void)pthread_mutex_unlock(&queue->lock);
        if (number == 0)
            return;
        /* Another thread may finish the step now and record the event anew. What is recorded later
         * is passed later, so what this says is true then, too. */
        cuda = event ? driver->cuEventQuery(event) : driver->cuStreamQuery(queue->stream);
        if (cuda == NOT_READY)
            return;
        finish(queue, number, cuda);
    }
}

/* Waits for all that is in the stream, and finishes it. Who gives commands to the stream does that.
 */
static void finish_all(struct zeta_plugin_queue *queue)
{
    uint64_t number;
    int cuda = NVIDIA_CUDA_SUCCESS;

    (void)pthread_mutex_lock(&queue->lock);
    number = queue->appended;
    (void)pthread_mutex_unlock(&queue->lock);
    /* The driver takes microseconds to say that there is nothing. */
    if (!queue->is_dry)
        cuda = driver_of(queue)->cuStreamSynchronize(queue->stream);
    queue->is_dry = cuda == NVIDIA_CUDA_SUCCESS;
    finish(queue, number, cuda);
}

/* Lets a part of the time pass that a wait took so far; at first only other threads. */
static void nap(uint64_t begin_ns)
{
    const uint64_t now_ns = zeta_monotonic_ns(), part_ns = (now_ns - begin_ns) / NAP_PART;

    if (now_ns - begin_ns < POLL_NS)
        (void)sched_yield();
    else
        zeta_sleep_until(now_ns + (part_ns < LONGEST_NAP_NS ? part_ns : LONGEST_NAP_NS));
}

/*
 * Makes it possible to see when the newest step is passed whatever follows it. Without memory for
 * an event the end of the whole stream has to do.
 */
static void mark_newest_locked(struct zeta_plugin_queue *queue)
{
    struct step *step = queue->newest;

    if (!step->is_marked)
        step->is_marked = record(queue, &step->mark, EVENT_HAS_NO_TIMES) == NVIDIA_CUDA_SUCCESS;
    if (step->is_marked)
        queue->unmarked = 0;
}

/* Waits for a marked step inside the driver, and finishes it. */
static void wait_for_step_locked(struct zeta_plugin_queue *queue, struct step *step)
{
    const uint64_t number = step->number;
    int cuda;

    step->waiters++; /* so its event is not recorded anew meanwhile */
    (void)pthread_mutex_unlock(&queue->lock);
    cuda = driver_of(queue)->cuEventSynchronize(mark_of(step));
    finish(queue, number, cuda);
    (void)pthread_mutex_lock(&queue->lock);
    if (--step->waiters == 0)
        put_aside_locked(queue, step);
}

static void *completer_main(void *argument)
{
    struct zeta_plugin_queue *queue = argument;
    uint64_t begin_ns = 0, waited_for = 0, seen = 0, oldest;
    struct nvidia_entered entered;
    struct timespec until;

    (void)nvidia_enter(queue->self, queue->device, &entered);
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->first || !queue->is_over) {
        if (queue->first && queue->urgent_count > 0) {
            begin_ns = queue->first->number == waited_for ? begin_ns : zeta_monotonic_ns();
            waited_for = queue->first->number;
            (void)pthread_mutex_unlock(&queue->lock);
            nap(begin_ns);
        } else if (!queue->first && seen == queue->appended) {
            queue->is_idle = true;
            (void)pthread_cond_wait(&queue->to_complete, &queue->lock);
            queue->is_idle = false;
            continue;
        } else {
            /* While there are more and more, a step does not wake this thread, and who submits
             * finishes them: nothing to look at as long as the oldest one changes. */
            seen = queue->appended;
            oldest = queue->first ? queue->first->number : 0;
            until = zeta_clock_timespec(zeta_monotonic_ns() + LOOK_NS);
            if (pthread_cond_timedwait(&queue->to_complete, &queue->lock, &until) == 0 ||
                !queue->first || queue->first->number != oldest)
                continue;
            mark_newest_locked(queue);
            (void)pthread_mutex_unlock(&queue->lock);
        }
        finish_passed(queue);
        (void)pthread_mutex_lock(&queue->lock);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- feeding ----------------------------------------------------------------------------------
 */

/*
 * Gives a step its place in the stream. is_apart: when it is passed can be seen whatever follows.
 */
static void append_step(struct zeta_plugin_queue *queue, struct step *step, bool is_apart,
                        enum role role)
{
    bool is_many;

    (void)pthread_mutex_lock(&queue->lock);
    step->next = NULL;
    step->number = ++queue->appended;
    step->submission = queue->given + 1;
    step->is_urgent =
        role != ROLE_HERE && (step->signal || step->failure.result != ZETA_PLUGIN_SUCCESS ||
                              step->submission <= queue->wanted);
    if (queue->newest)
        queue->newest->next = step;
    else
        queue->first = step;
    queue->newest = step;
    queue->places += step->places;
    queue->given += step->is_last;
    queue->urgent_count += step->is_urgent;
    is_many = ++queue->unmarked >= MOST_UNMARKED;
    if (is_apart || step->is_urgent || is_many)
        mark_newest_locked(queue);
    if (queue->is_idle || (step->is_urgent && queue->urgent_count == 1))
        (void)pthread_cond_signal(&queue->to_complete);
    (void)pthread_mutex_unlock(&queue->lock);
    /* What was used is used again while it is in the processor's caches. */
    if (is_many && role == ROLE_CALLER)
        finish_passed(queue);
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
    if (!is_good)
        queue->is_dry = false; /* whatever there is: the driver knows of faults */
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

    queue->is_dry = false;
    if (step->signal) {
        step->begin_ns = nvidia_clock_ns();
        step->base = nvidia_base_acquire(queue->self, queue->device);
        cuda = record(queue, &step->begin, EVENT_HAS_TIMES);
    }
    if (cuda == NVIDIA_CUDA_SUCCESS &&
        !nvidia_command_run(queue->self, queue->device, queue->stream, command, failure))
        return false;
    if (cuda == NVIDIA_CUDA_SUCCESS && step->signal) {
        cuda = record(queue, &step->end, EVENT_HAS_TIMES);
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

static uint64_t count_places(struct zeta_plugin_queue *queue)
{
    uint64_t places;

    (void)pthread_mutex_lock(&queue->lock);
    places = queue->places;
    (void)pthread_mutex_unlock(&queue->lock);
    return places;
}

/*
 * Waits until the stream is half empty: waiting for each place anew would cost more. Not for ever,
 * because a kernel may wait for what the caller does next. False: there is no room.
 */
static bool wait_for_room(struct zeta_plugin_queue *queue, uint64_t wanted, uint64_t timeout_ns)
{
    const uint64_t begin_ns = zeta_monotonic_ns();

    while (wanted <= HALF_OF_PLACES && !atomic_load(&queue->stopping)) {
        uint64_t now_ns;

        finish_passed(queue);
        if (count_places(queue) <= HALF_OF_PLACES)
            return true;
        now_ns = zeta_monotonic_ns();
        if (now_ns - begin_ns >= timeout_ns)
            break;
        if (now_ns - begin_ns < ROOM_NS)
            zeta_sleep_until(now_ns + ROOM_NAP_NS);
        else
            nap(begin_ns); /* behind a long kernel */
    }
    return false;
}

/* The commands of a submission, one by one, until one fails. The context is current. */
static void feed(struct zeta_plugin_queue *queue, const struct zeta_plugin_array *commands,
                 void *cookie, enum role role)
{
    struct step *step = NULL;
    unsigned places = 0;
    uint64_t begin = 0; /* of the commands of the step */
    bool is_good = true;

    for (uint64_t i = 0; is_good && i < commands->count; i++) {
        const struct zeta_plugin_command *command = command_at(commands, i);
        bool is_asynchronous;

        if (role == ROLE_FEEDER && count_places(queue) + places >= MOST_PLACES)
            (void)wait_for_room(queue, 1, UINT64_MAX);
        step = step ? step : take_step(queue);
        if (!step) {
            finish_all(queue);
            nvidia_query_abandon(queue->device, queue);
            (void)pthread_mutex_lock(&queue->lock);
            queue->given++;
            (void)pthread_mutex_unlock(&queue->lock);
            queue->self->host.ops->submission_done(queue->self->host.handle, cookie,
                                                   ZETA_PLUGIN_OUT_OF_HOST_MEMORY);
            return;
        }
        is_good = may_run(queue, command, role, &step->failure);
        is_asynchronous =
            role == ROLE_CALLER || nvidia_command_is_asynchronous(queue->self, command);
        if (is_good && !is_asynchronous)
            finish_all(queue);
        if (command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
            step->signal = command->signal_event;
        if (is_good)
            is_good = is_asynchronous ? run_on_stream(queue, command, step)
                                      : run_on_host(queue, command, step);
        step->is_last = !is_good || i + 1 == commands->count;
        places += step->signal ? 3 : 1; /* a command between two events */
        if (!is_good)
            nvidia_query_abandon(queue->device, queue);
        /* A long list has steps of its own, so that its room is seen to become free. */
        if (!step->signal && !step->is_last && places < HALF_OF_PLACES)
            continue;
        if (!is_good && step->failure.result == ZETA_PLUGIN_DEVICE_LOST &&
            step->failure.cuda == 0 && !atomic_load(&queue->is_lost)) {
            (void)snprintf(queue->lost, sizeof(queue->lost), "%s", step->failure.sentence);
            atomic_store(&queue->is_lost, true);
        }
        step->commands = *commands;
        step->commands.data = command_at(commands, begin);
        step->commands.count = i + 1 - begin;
        step->cookie = cookie;
        step->places = places;
        begin = i + 1;
        places = 0;
        append_step(queue, step, commands->count > 1, role);
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
        queue->is_feeding = true;
        queue->first_waiting = waiting->next;
        if (!queue->first_waiting)
            queue->last_waiting = &queue->first_waiting;
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

static uint32_t wait_in_line(struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_array *commands, void *cookie)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    uint32_t result;

    if (!waiting)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    *waiting = (struct waiting){.commands = *commands, .cookie = cookie};
    (void)pthread_mutex_lock(&queue->lock);
    result = start_locked(queue, &queue->has_feeder, &queue->feeder, feeder_main, "nvidia-feeder");
    if (result == ZETA_PLUGIN_SUCCESS) {
        if (!queue->first_waiting)
            (void)pthread_cond_signal(&queue->to_feed);
        *queue->last_waiting = waiting;
        queue->last_waiting = &waiting->next;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    if (result != ZETA_PLUGIN_SUCCESS)
        free(waiting);
    return result;
}

/* Whether all commands can go without waiting for events, nor, if wanted, for anything. */
static bool can_go(struct zeta_plugin_queue *queue, const struct zeta_plugin_array *commands,
                   bool wants_asynchronous)
{
    const struct zeta_softqueue_pool *waiters = queue->self->nvidia->compute->waiters;

    for (uint64_t i = 0; i < commands->count; i++) {
        const struct zeta_plugin_command *command = command_at(commands, i);

        if (command->type == ZETA_PLUGIN_COMMAND_CALL ||
            (command->wait_count > 0 && !zeta_softqueue_pool_is_ready(waiters, command)) ||
            (wants_asynchronous && !nvidia_command_is_asynchronous(queue->self, command)))
            return false;
    }
    return true;
}

uint32_t nvidia_queue_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_array *commands, void *cookie)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_queue_status(self, queue);
    bool goes, is_full;

    if (result == ZETA_PLUGIN_SUCCESS)
        result = nvidia_enter(self, queue->device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    goes = can_go(queue, commands, true);
    (void)pthread_mutex_lock(&queue->lock);
    goes = goes && !queue->first_waiting && !queue->is_feeding; /* nobody else submits now */
    is_full = queue->places + commands->count > MOST_PLACES;
    result = start_locked(queue, &queue->has_completer, &queue->completer, completer_main,
                          "nvidia-done");
    (void)pthread_mutex_unlock(&queue->lock);
    /* The caller waits for room a moment: that costs less than a thread that does it instead. */
    if (result == ZETA_PLUGIN_SUCCESS && goes && is_full)
        goes = wait_for_room(queue, commands->count, ROOM_NS);
    if (result == ZETA_PLUGIN_SUCCESS && goes)
        feed(queue, commands, cookie, ROLE_CALLER);
    else if (result == ZETA_PLUGIN_SUCCESS)
        result = wait_in_line(queue, commands, cookie);
    nvidia_leave(self, &entered);
    return result;
}

uint32_t nvidia_queue_submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                  const struct zeta_plugin_array *commands, void *cookie)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_queue_status(self, queue);
    bool goes;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    goes = can_go(queue, commands, false);
    (void)pthread_mutex_lock(&queue->lock);
    goes = goes && !queue->first && !queue->first_waiting && !queue->is_feeding;
    (void)pthread_mutex_unlock(&queue->lock);
    if (!goes)
        return nvidia_queue_submit(self, queue, commands, cookie);
    result = nvidia_enter(self, queue->device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    feed(queue, commands, cookie, ROLE_HERE);
    finish_all(queue);
    nvidia_leave(self, &entered);
    return ZETA_PLUGIN_SUCCESS;
}

/* Whether steps of the first count submissions are in the stream. */
static bool runs_locked(const struct zeta_plugin_queue *queue, uint64_t count)
{
    return queue->first && queue->first->submission <= count;
}

uint32_t nvidia_queue_wait(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                           uint64_t count, uint64_t timeout_ns)
{
    const uint64_t begin_ns = zeta_monotonic_ns();
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter(self, queue->device, &entered);
    bool is_newest, runs;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&queue->lock);
    queue->wanted = count > queue->wanted ? count : queue->wanted;
    runs = runs_locked(queue, count);
    is_newest = runs && queue->newest->submission <= count;
    if (is_newest)
        mark_newest_locked(queue);
    if (is_newest && timeout_ns == UINT64_MAX && queue->newest->is_marked) {
        wait_for_step_locked(queue, queue->newest);
        runs = false;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    while (runs) {
        finish_passed(queue);
        (void)pthread_mutex_lock(&queue->lock);
        runs = runs_locked(queue, count);
        (void)pthread_mutex_unlock(&queue->lock);
        if (zeta_monotonic_ns() - begin_ns >= timeout_ns)
            break;
        if (runs)
            nap(begin_ns);
    }
    (void)pthread_mutex_lock(&queue->lock);
    result = runs || queue->given < count ? ZETA_PLUGIN_NOT_READY : ZETA_PLUGIN_SUCCESS;
    (void)pthread_mutex_unlock(&queue->lock);
    nvidia_leave(self, &entered);
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
    queue->last_waiting = &queue->first_waiting;
    queue->is_dry = true;
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
    zeta_condition_init(&queue->to_complete);
    (void)pthread_cond_init(&queue->finished, NULL);
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
    (void)pthread_mutex_unlock(&queue->lock);
    zeta_softqueue_pool_wake(self->nvidia->compute->waiters);
    if (queue->has_feeder)
        (void)pthread_join(queue->feeder, NULL);
    has_context = nvidia_enter(self, queue->device, &entered) == ZETA_PLUGIN_SUCCESS;
    finish_all(queue);
    (void)pthread_mutex_lock(&queue->lock);
    queue->is_over = true;
    (void)pthread_cond_signal(&queue->to_complete);
    (void)pthread_mutex_unlock(&queue->lock);
    if (queue->has_completer)
        (void)pthread_join(queue->completer, NULL);

    unlink_queue(queue);
    nvidia_query_abandon(queue->device, queue);
    destroy_steps(queue, queue->spare);
    destroy_steps(queue, queue->fresh);
    (void)driver_of(queue)->cuStreamDestroy_v2(queue->stream);
    if (has_context)
        nvidia_leave(self, &entered);
    (void)pthread_cond_destroy(&queue->finished);
    (void)pthread_cond_destroy(&queue->to_complete);
    (void)pthread_cond_destroy(&queue->to_feed);
    (void)pthread_mutex_destroy(&queue->lock);
    free(queue);
}
