/* Queues: submissions, and how their commands get into the stream. The drawing is in queue.h. */
#include "plugins/nvidia/compute/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/softqueue.h>
#include <zeta/thread.h>

#include "plugins/nvidia/query/query.h"

enum { STREAM_ALONE = 1 };

/* A submission that cannot go into the stream at once. */
struct waiting {
    struct waiting *next;
    struct zeta_plugin_array commands;
    void *cookie;
};

/* ---- feeding ----------------------------------------------------------------------------------
 */

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
                        struct nvidia_step *step)
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
                          const struct zeta_plugin_command *command, struct nvidia_step *step)
{
    struct nvidia_failure *failure = &step->failure;
    int cuda = step->signal ? nvidia_step_begin(queue, step) : NVIDIA_CUDA_SUCCESS;

    queue->is_dry = false;
    if (cuda == NVIDIA_CUDA_SUCCESS &&
        !nvidia_command_run(queue->self, queue->device, queue->stream, command, failure))
        return false;
    if (cuda == NVIDIA_CUDA_SUCCESS && step->signal)
        cuda = nvidia_step_end(queue, step);
    if (cuda == NVIDIA_CUDA_SUCCESS)
        return true;
    failure->result = nvidia_result(cuda);
    failure->cuda = cuda;
    (void)snprintf(failure->sentence, sizeof(failure->sentence), "recording an event failed: %s",
                   nvidia_driver_text(nvidia_queue_driver(queue), cuda).text);
    return false;
}

static bool is_stopping(const void *context)
{
    const struct zeta_plugin_queue *queue = context;

    return atomic_load(&queue->stopping);
}

/* False: the command, and so the submission, does not run. */
static bool may_run(struct zeta_plugin_queue *queue, const struct zeta_plugin_command *command,
                    enum nvidia_role role, struct nvidia_failure *failure)
{
    if (role != NVIDIA_ROLE_FEEDER ||
        zeta_softqueue_pool_wait(queue->self->nvidia->compute->waiters, command, is_stopping,
                                 queue)) {
        if (!atomic_load(&queue->is_lost) && !atomic_load(&queue->device->is_lost))
            return true;
        (void)snprintf(failure->sentence, sizeof(failure->sentence), "%s",
                       atomic_load(&queue->is_lost) ? queue->lost : "");
    }
    failure->result = ZETA_PLUGIN_DEVICE_LOST;
    return false;
}

/* A command that made its queue useless, not the device: nothing follows it. */
static void note_loss(struct zeta_plugin_queue *queue, const struct nvidia_failure *failure)
{
    if (failure->result != ZETA_PLUGIN_DEVICE_LOST || failure->cuda != NVIDIA_CUDA_SUCCESS ||
        atomic_load(&queue->is_lost))
        return;
    (void)snprintf(queue->lost, sizeof(queue->lost), "%s", failure->sentence);
    atomic_store(&queue->is_lost, true);
}

/* The last command of a step so far. False with its failure. */
static bool carry_out(struct zeta_plugin_queue *queue, const struct zeta_plugin_command *command,
                      enum nvidia_role role, struct nvidia_step *step)
{
    bool is_good = may_run(queue, command, role, &step->failure);

    if (command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
        step->signal = command->signal_event;
    if (is_good &&
        (role == NVIDIA_ROLE_CALLER || nvidia_command_is_asynchronous(queue->self, command))) {
        is_good = run_on_stream(queue, command, step);
    } else if (is_good) {
        nvidia_steps_finish_all(queue);
        is_good = run_on_host(queue, command, step);
    }
    if (!is_good) {
        nvidia_query_abandon(queue->device, queue);
        note_loss(queue, &step->failure);
    }
    return is_good;
}

/* Ends a submission for which there is no memory. */
static void give_up(struct zeta_plugin_queue *queue, void *cookie)
{
    nvidia_steps_finish_all(queue);
    nvidia_query_abandon(queue->device, queue);
    (void)pthread_mutex_lock(&queue->lock);
    queue->given++;
    (void)pthread_mutex_unlock(&queue->lock);
    queue->self->host.ops->submission_done(queue->self->host.handle, cookie,
                                           ZETA_PLUGIN_OUT_OF_HOST_MEMORY);
}

/* The commands of a submission, one by one, until one fails. The context is current. */
static void feed(struct zeta_plugin_queue *queue, const struct zeta_plugin_array *commands,
                 void *cookie, enum nvidia_role role)
{
    struct nvidia_step *step = NULL;
    unsigned places = 0;
    uint64_t begin = 0; /* of the commands of the step */
    bool is_good = true;

    for (uint64_t i = 0; is_good && i < commands->count; i++) {
        if (role == NVIDIA_ROLE_FEEDER && nvidia_steps_places(queue) + places >= NVIDIA_MOST_PLACES)
            (void)nvidia_steps_wait_for_room(queue, 1, UINT64_MAX);
        step = step ? step : nvidia_step_take(queue);
        if (!step) {
            give_up(queue, cookie);
            return;
        }
        is_good = carry_out(queue, nvidia_command_at(commands, i), role, step);
        step->is_last = !is_good || i + 1 == commands->count;
        places += step->signal ? 3 : 1; /* a command between two events */
        /* A long list has steps of its own, so that its room is seen to become free. */
        if (!step->signal && !step->is_last && places < NVIDIA_HALF_OF_PLACES)
            continue;
        step->commands = *commands;
        step->commands.data = nvidia_command_at(commands, begin);
        step->commands.count = i + 1 - begin;
        step->cookie = cookie;
        step->places = places;
        begin = i + 1;
        places = 0;
        nvidia_step_append(queue, step, commands->count > 1, role);
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
        feed(queue, &waiting->commands, waiting->cookie, NVIDIA_ROLE_FEEDER);
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
        const struct zeta_plugin_command *command = nvidia_command_at(commands, i);

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
    is_full = queue->places + commands->count > NVIDIA_MOST_PLACES;
    result = start_locked(queue, &queue->has_completer, &queue->completer, nvidia_steps_complete,
                          "nvidia-done");
    (void)pthread_mutex_unlock(&queue->lock);
    /* The caller waits for room a moment: that costs less than a thread that does it instead. */
    if (result == ZETA_PLUGIN_SUCCESS && goes && is_full)
        goes = nvidia_steps_wait_for_room(queue, commands->count, NVIDIA_ROOM_NS);
    if (result == ZETA_PLUGIN_SUCCESS && goes)
        feed(queue, commands, cookie, NVIDIA_ROLE_CALLER);
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
    feed(queue, commands, cookie, NVIDIA_ROLE_HERE);
    nvidia_steps_finish_all(queue);
    nvidia_leave(self, &entered);
    return ZETA_PLUGIN_SUCCESS;
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
        cuda = nvidia_queue_driver(queue)->cuStreamCreateWithPriority(&queue->stream, STREAM_ALONE,
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
    nvidia_steps_finish_all(queue);
    (void)pthread_mutex_lock(&queue->lock);
    queue->is_over = true;
    (void)pthread_cond_signal(&queue->to_complete);
    (void)pthread_mutex_unlock(&queue->lock);
    if (queue->has_completer)
        (void)pthread_join(queue->completer, NULL);

    unlink_queue(queue);
    nvidia_query_abandon(queue->device, queue);
    nvidia_steps_destroy(queue, queue->spare);
    nvidia_steps_destroy(queue, queue->fresh);
    (void)nvidia_queue_driver(queue)->cuStreamDestroy_v2(queue->stream);
    if (has_context)
        nvidia_leave(self, &entered);
    (void)pthread_cond_destroy(&queue->finished);
    (void)pthread_cond_destroy(&queue->to_complete);
    (void)pthread_cond_destroy(&queue->to_feed);
    (void)pthread_mutex_destroy(&queue->lock);
    free(queue);
}
