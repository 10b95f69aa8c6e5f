/* Steps: what is in the stream of a queue, seen as passed, reported and waited for. */
#include "plugins/nvidia/compute/queue.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/thread.h>

/* Submissions of one command without an event of which one CUDA event marks the end. */
#define MOST_UNMARKED 32u

/* How long a wait polls before it naps between two polls: for a part of the time so far, or that.
 */
#define POLL_NS UINT64_C(50000)
#define NAP_PART 16u
#define LONGEST_NAP_NS UINT64_C(1000000)

/* Between two looks for room the GPU does less than the other half. */
#define ROOM_NAP_NS UINT64_C(50000)

/* How often the completer looks at steps that nobody waits for. */
#define LOOK_NS UINT64_C(1000000)

enum { NOT_READY = 600, EVENT_HAS_TIMES = 0, EVENT_HAS_NO_TIMES = 2 };

/* ---- steps ------------------------------------------------------------------------------------
 */

struct nvidia_step *nvidia_step_take(struct zeta_plugin_queue *queue)
{
    struct nvidia_step *step;

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
    memset(step, 0, offsetof(struct nvidia_step, begin));
    step->failure.result = ZETA_PLUGIN_SUCCESS;
    step->failure.cuda = NVIDIA_CUDA_SUCCESS;
    step->failure.sentence[0] = '\0';
    return step;
}

static void destroy_step(struct zeta_plugin_queue *queue, struct nvidia_step *step)
{
    const struct nvidia_driver *driver = nvidia_queue_driver(queue);
    void *const events[] = {step->begin, step->end, step->mark};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i])
            (void)driver->cuEventDestroy_v2(events[i]);
    }
    free(step);
}

void nvidia_steps_destroy(struct zeta_plugin_queue *queue, struct nvidia_step *first)
{
    while (first) {
        struct nvidia_step *next = first->next;

        destroy_step(queue, first);
        first = next;
    }
}

/* Records an event of a step, made at its first use. Results of CUDA. */
static int record(const struct zeta_plugin_queue *queue, void **event, unsigned flags)
{
    const struct nvidia_driver *driver = nvidia_queue_driver(queue);
    int cuda = NVIDIA_CUDA_SUCCESS;

    if (!*event)
        cuda = driver->cuEventCreate(event, flags);
    return cuda == NVIDIA_CUDA_SUCCESS ? driver->cuEventRecord(*event, queue->stream) : cuda;
}

int nvidia_step_begin(struct zeta_plugin_queue *queue, struct nvidia_step *step)
{
    step->begin_ns = nvidia_clock_ns();
    step->base = nvidia_base_acquire(queue->self, queue->device);
    return record(queue, &step->begin, EVENT_HAS_TIMES);
}

int nvidia_step_end(struct zeta_plugin_queue *queue, struct nvidia_step *step)
{
    const int cuda = record(queue, &step->end, EVENT_HAS_TIMES);

    step->is_ended = step->is_marked = cuda == NVIDIA_CUDA_SUCCESS;
    return cuda;
}

/* The CUDA event behind a step; NULL: none. */
static void *mark_of(const struct nvidia_step *step)
{
    if (!step->is_marked)
        return NULL;
    return step->is_ended ? step->end : step->mark;
}

/*
 * Makes it possible to see when the newest step is passed whatever follows it. Without memory for
 * an event the end of the whole stream has to do.
 */
static void mark_newest_locked(struct zeta_plugin_queue *queue)
{
    struct nvidia_step *step = queue->newest;

    if (!step->is_marked)
        step->is_marked = record(queue, &step->mark, EVENT_HAS_NO_TIMES) == NVIDIA_CUDA_SUCCESS;
    if (step->is_marked)
        queue->unmarked = 0;
}

/* ---- finishing --------------------------------------------------------------------------------
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
        for (const struct nvidia_step *step = queue->first; step; step = step->next) {
            for (uint64_t i = 0; i < step->commands.count; i++) {
                const struct zeta_plugin_command *command = nvidia_command_at(&step->commands, i);

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
                       nvidia_driver_text(nvidia_queue_driver(queue), cuda).text);
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

static struct zeta_plugin_times times_of(struct zeta_plugin_queue *queue,
                                         const struct nvidia_step *step)
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
static void finish_step(struct zeta_plugin_queue *queue, struct nvidia_step *step, bool is_lost)
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
static void put_aside_locked(struct zeta_plugin_queue *queue, struct nvidia_step *step)
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
    struct nvidia_step *first, *until, *step;

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

/* Finishes what the stream has passed, without waiting for more. */
static void finish_passed(struct zeta_plugin_queue *queue)
{
    const struct nvidia_driver *driver = nvidia_queue_driver(queue);

    for (;;) {
        const struct nvidia_step *step;
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

void nvidia_steps_finish_all(struct zeta_plugin_queue *queue)
{
    uint64_t number;
    int cuda = NVIDIA_CUDA_SUCCESS;

    (void)pthread_mutex_lock(&queue->lock);
    number = queue->appended;
    (void)pthread_mutex_unlock(&queue->lock);
    /* The driver takes microseconds to say that there is nothing. */
    if (!queue->is_dry)
        cuda = nvidia_queue_driver(queue)->cuStreamSynchronize(queue->stream);
    queue->is_dry = cuda == NVIDIA_CUDA_SUCCESS;
    finish(queue, number, cuda);
}

void nvidia_step_append(struct zeta_plugin_queue *queue, struct nvidia_step *step, bool is_apart,
                        enum nvidia_role role)
{
    bool is_many;

    (void)pthread_mutex_lock(&queue->lock);
    step->next = NULL;
    step->number = ++queue->appended;
    step->submission = queue->given + 1;
    step->is_urgent =
        role != NVIDIA_ROLE_HERE && (step->signal || step->failure.result != ZETA_PLUGIN_SUCCESS ||
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
    if (is_many && role == NVIDIA_ROLE_CALLER)
        finish_passed(queue);
}

/* ---- waiting ----------------------------------------------------------------------------------
 */

/* Lets a part of the time pass that a wait took so far; at first only other threads. */
static void nap(uint64_t begin_ns)
{
    const uint64_t now_ns = zeta_monotonic_ns(), part_ns = (now_ns - begin_ns) / NAP_PART;

    if (now_ns - begin_ns < POLL_NS)
        (void)sched_yield();
    else
        zeta_sleep_until(now_ns + (part_ns < LONGEST_NAP_NS ? part_ns : LONGEST_NAP_NS));
}

uint64_t nvidia_steps_places(struct zeta_plugin_queue *queue)
{
    uint64_t places;

    (void)pthread_mutex_lock(&queue->lock);
    places = queue->places;
    (void)pthread_mutex_unlock(&queue->lock);
    return places;
}

bool nvidia_steps_wait_for_room(struct zeta_plugin_queue *queue, uint64_t wanted,
                                uint64_t timeout_ns)
{
    const uint64_t begin_ns = zeta_monotonic_ns();

    while (wanted <= NVIDIA_HALF_OF_PLACES && !atomic_load(&queue->stopping)) {
        uint64_t now_ns;

        finish_passed(queue);
        if (nvidia_steps_places(queue) <= NVIDIA_HALF_OF_PLACES)
            return true;
        now_ns = zeta_monotonic_ns();
        if (now_ns - begin_ns >= timeout_ns)
            break;
        if (now_ns - begin_ns < NVIDIA_ROOM_NS)
            zeta_sleep_until(now_ns + ROOM_NAP_NS);
        else
            nap(begin_ns); /* behind a long kernel */
    }
    return false;
}

/* Waits for a marked step inside the driver, and finishes it. */
static void wait_for_step_locked(struct zeta_plugin_queue *queue, struct nvidia_step *step)
{
    const uint64_t number = step->number;
    int cuda;

    step->waiters++; /* so its event is not recorded anew meanwhile */
    (void)pthread_mutex_unlock(&queue->lock);
    cuda = nvidia_queue_driver(queue)->cuEventSynchronize(mark_of(step));
    finish(queue, number, cuda);
    (void)pthread_mutex_lock(&queue->lock);
    if (--step->waiters == 0)
        put_aside_locked(queue, step);
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

void *nvidia_steps_complete(void *argument)
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
