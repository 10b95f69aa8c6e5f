/* The way of one submission: made, handed over, reported, released. */
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/event/activity.h"
#include "core/event/event.h"
#include "core/memory/memory.h"
#include "core/plugin/host.h"
#include "core/queue/queue.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

/*
 * What is decided about events only when commands are submitted.
 *
 * A command that waits for a counter based event waits for the newest work that was to signal it by
 * then, and one that signals it gets a value of its own each time it is submitted. Of events that
 * other processes share it is noted which process is going to signal them. What names a value
 * already is left alone. A recorded list can be submitted again and again, so each submission gets
 * commands of its own where that matters.
 */

bool zeta_track_needed(const struct zeta_event *event)
{
    return (atomic_load(&event->special) & (ZETA_EVENT_COUNTED | ZETA_EVENT_SHARED)) != 0;
}

static ze_result_t make(struct zeta_command_buffer *buffer, struct zeta_event *event,
                        uint64_t value, struct zeta_plugin_event **out_event)
{
    void *memory = NULL;
    ze_result_t result =
        zeta_command_buffer_alloc(buffer, sizeof(struct zeta_plugin_event), &memory);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_event = memory;
    **out_event = (struct zeta_plugin_event){.event = event, .value = value};
    return ZE_RESULT_SUCCESS;
}

/* Waits are for the newest work that was to signal their events. */
static ze_result_t track_list(struct zeta_command_buffer *buffer, uint64_t count,
                              struct zeta_plugin_event *const **events)
{
    const void *memory = NULL;
    ze_result_t result =
        zeta_command_buffer_copy(buffer, (const void *)*events, count * sizeof(**events), &memory);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_plugin_event **copy = (struct zeta_plugin_event **)(uintptr_t)memory;
    for (uint64_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_event *event = copy[i]->event;

        if (event->counter && copy[i]->value == ZETA_VALUE_NONE)
            result = make(buffer, event,
                          atomic_load(&event->special) & ZETA_EVENT_STORED
                              ? ZETA_VALUE_STORE
                              : zeta_counter_newest(event->counter),
                          &copy[i]);
    }
    *events = copy;
    return result;
}

static ze_result_t track_command(struct zeta_command_buffer *buffer,
                                 struct zeta_plugin_command *command)
{
    const struct zeta_times_query *times = zeta_times_query_of(command);
    bool any_counted = false;
    ze_result_t result = ZE_RESULT_SUCCESS;

    for (uint64_t i = 0; i < command->wait_count; i++)
        any_counted = any_counted || command->wait_events[i]->event->counter;
    if (any_counted)
        result = track_list(buffer, command->wait_count, &command->wait_events);
    /* A query gets a copy of itself, whose events have values. */
    if (result == ZE_RESULT_SUCCESS && times) {
        struct zeta_times_query query = *times;
        const void *copy = NULL;

        result = track_list(buffer, query.count, &query.events);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_command_buffer_copy(buffer, &query, sizeof(query), &copy);
        if (result == ZE_RESULT_SUCCESS)
            command->u.call.context = (void *)(uintptr_t)copy;
    }
    if (result != ZE_RESULT_SUCCESS || !command->signal_event ||
        command->type == ZETA_PLUGIN_COMMAND_EVENT_RESET)
        return result;
    struct zeta_event *event = command->signal_event->event;
    if (event->counter && command->signal_event->value == ZETA_VALUE_NONE) {
        /* Memory first: a value that was taken has to be reached or given up. */
        result = make(buffer, event, ZETA_VALUE_NONE, &command->signal_event);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        /* Memory of the application stays the counter only if work adds to it. */
        const bool is_stored = (atomic_load(&event->special) & ZETA_EVENT_STORED) != 0;
        const bool adds = is_stored && zeta_store_adds(atomic_load(&event->store));
        if (is_stored && !adds)
            atomic_fetch_and(&event->special, ~(uint32_t)ZETA_EVENT_STORED);
        command->signal_event->value = adds ? ZETA_VALUE_STORE : zeta_counter_take(event->counter);
    }
    zeta_event_claim(command->signal_event);
    return ZE_RESULT_SUCCESS;
}

/* Gives up the values of commands that will not run after all. */
static void abandon(const struct zeta_command_buffer *buffer)
{
    for (uint32_t i = 0; buffer->tracked && i < buffer->count; i++) {
        const struct zeta_plugin_event *signal = buffer->commands[i].signal_event;

        if (signal && signal->value != ZETA_VALUE_NONE && signal->value != ZETA_VALUE_STORE)
            zeta_event_lose(signal);
    }
}

/* Decides about all events of the submission's own commands; nothing waits for it on failure. */
static ze_result_t track(struct zeta_command_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->count; i++) {
        ze_result_t result = track_command(buffer, &buffer->commands[i]);

        if (result != ZE_RESULT_SUCCESS) {
            buffer->count = i;
            abandon(buffer);
            return result;
        }
    }
    return ZE_RESULT_SUCCESS;
}

/*
 * Submissions whose memory a queue keeps: as many small launches in a row as a backend may have on
 * their way. Their buffers are small, or their memory is freed.
 */
#define MOST_SPARE 1024u
#define MOST_SPARE_COMMANDS 64u

struct zeta_submission *zeta_submission_create(struct zeta_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    struct zeta_submission *submission = queue->spare;
    if (submission) {
        queue->spare = submission->next;
        queue->spare_count--;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return submission ? submission : calloc(1, sizeof(*submission));
}

/* Calls the backend, when it drops the last pin of a kernel. */
static void release(struct zeta_submission *submission)
{
    zeta_trace_activity_destroy(submission->activity);
    if (submission->owner)
        zeta_object_unpin(submission->owner);
    if (submission->fence)
        zeta_object_unpin(submission->fence);
}

void zeta_submission_destroy(struct zeta_submission *submission)
{
    release(submission);
    zeta_command_buffer_clear(&submission->buffer);
    free(submission);
}

/* Releases a submission but for the memory of the next one that is made of it. */
static bool is_reusable(struct zeta_submission *submission)
{
    struct zeta_command_buffer buffer = submission->buffer;

    release(submission);
    if (buffer.capacity > MOST_SPARE_COMMANDS) {
        zeta_command_buffer_clear(&buffer);
        free(submission);
        return false;
    }
    zeta_command_buffer_reuse(&buffer);
    *submission = (struct zeta_submission){.buffer = buffer};
    return true;
}

void zeta_queue_release_finished(struct zeta_queue *queue)
{
    struct zeta_submission *first, *kept = NULL;

    if (!atomic_load(&queue->finished))
        return;
    (void)pthread_mutex_lock(&queue->lock);
    first = atomic_exchange(&queue->finished, NULL);
    (void)pthread_mutex_unlock(&queue->lock);
    if (!first)
        return;
    while (first) {
        struct zeta_submission *next = first->next;

        if (is_reusable(first)) {
            first->next = kept;
            kept = first;
        }
        first = next;
    }
    (void)pthread_mutex_lock(&queue->lock);
    while (kept && queue->spare_count < MOST_SPARE) {
        struct zeta_submission *next = kept->next;

        kept->next = queue->spare;
        queue->spare = kept;
        queue->spare_count++;
        kept = next;
    }
    (void)pthread_mutex_unlock(&queue->lock);
    while (kept) {
        struct zeta_submission *next = kept->next;

        zeta_submission_destroy(kept);
        kept = next;
    }
    zeta_memory_defer(queue->context->memory, NULL);
}

/*
 * What is decided about events at submission goes into commands of the submission's own. The
 * backend gets at least one command, so that a submission of nothing keeps its place.
 */
static ze_result_t prepare(struct zeta_submission *submission)
{
    struct zeta_command_buffer *own = &submission->buffer;
    const struct zeta_command_buffer *source = submission->owner ? submission->source : own;
    struct zeta_plugin_command *barrier = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (source->tracked && source != own)
        result = zeta_command_buffer_add_all(own, source);
    if (source->tracked && result == ZE_RESULT_SUCCESS)
        result = track(own);
    if (source->count == 0 && result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_add(own, ZETA_PLUGIN_COMMAND_BARRIER, &barrier);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (own->count > 0)
        source = own;
    submission->used = source;
    submission->commands = (struct zeta_plugin_array){
        .data = source->commands, .count = source->count, .stride = sizeof(*source->commands)};
    return ZE_RESULT_SUCCESS;
}

static void dequeue_locked(struct zeta_queue *queue, struct zeta_submission *submission)
{
    struct zeta_submission **link = &queue->running;

    while (*link && *link != submission)
        link = &(*link)->next;
    if (*link) {
        *link = submission->next;
        if (!submission->next)
            queue->last = link;
    }
    zeta_use_end(submission->owner_use, atomic_load(&submission->is_over));
}

/* Sentences of this thread before the call of the backend in which it may report. */
static _Thread_local uint64_t sentences_before;

/* Hands over in the order of the queue: one thread at a time is inside the backend. */
static ze_result_t hand_over(struct zeta_queue *queue, struct zeta_submission *submission,
                             bool here)
{
    struct zeta_backend *backend = queue->backend;

    (void)pthread_mutex_lock(&queue->lock);
    while (queue->submitting)
        (void)pthread_cond_wait(&queue->free_to_submit, &queue->lock);
    if (queue->failure == ZE_RESULT_ERROR_DEVICE_LOST) {
        (void)pthread_mutex_unlock(&queue->lock);
        return zeta_device_fault(queue->device, ZE_RESULT_ERROR_DEVICE_LOST);
    }
    queue->submitting = true;
    *queue->last = submission;
    queue->last = &submission->next;
    submission->next = NULL;
    submission->queue = queue;
    submission->number = ++queue->submitted;
    if (submission->fence)
        atomic_store(&submission->fence->number, submission->number);
    zeta_use_begin(submission->owner_use);
    (void)pthread_mutex_unlock(&queue->lock);

    uint32_t code = ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    /* The submission belongs to the backend afterwards, and may be over already. */
    const struct zeta_plugin_array commands = submission->commands;
    const uint64_t number = submission->fence ? submission->number : 0;
    sentences_before = zeta_error_count();
    if (here)
        code =
            backend->compute.submit_here(backend->self, queue->plugin_queue, &commands, submission);
    if (code == ZETA_PLUGIN_UNSUPPORTED_FEATURE)
        code = backend->compute.submit(backend->self, queue->plugin_queue, &commands, submission);
    /* So the fence does not depend on what is submitted next. */
    if (number > 0 && code == ZETA_PLUGIN_SUCCESS)
        (void)backend->compute.queue_wait(backend->self, queue->plugin_queue, number, 0);

    (void)pthread_mutex_lock(&queue->lock);
    queue->submitting = false;
    if (code != ZETA_PLUGIN_SUCCESS) {
        dequeue_locked(queue, submission);
        queue->submitted--; /* the backend counts what it accepts */
        if (submission->fence)
            atomic_store(&submission->fence->number, 0);
    }
    (void)pthread_cond_signal(&queue->free_to_submit);
    (void)pthread_mutex_unlock(&queue->lock);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "submitting commands");
    return ZE_RESULT_SUCCESS;
}

bool zeta_queue_look(struct zeta_queue *queue, uint64_t number, uint64_t timeout_ns)
{
    struct zeta_backend *backend = queue->backend;

    sentences_before = zeta_error_count();
    return backend->compute.queue_wait(backend->self, queue->plugin_queue, number, timeout_ns) !=
           ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

ze_result_t zeta_queue_submitted(struct zeta_queue *queue)
{
    if (queue->desc.mode != ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
        return ZE_RESULT_SUCCESS;
    return zeta_queue_synchronize(queue, UINT64_MAX);
}

/* Long lists are waited for as a whole, or for so long that being woken costs little. */
#define MOST_NOTED 16u

/* Who waits for the events of commands can look for their end. */
static void note_signaller(const struct zeta_queue *queue, const struct zeta_plugin_array *commands)
{
    const uint64_t count = commands->count < MOST_NOTED ? commands->count : MOST_NOTED;

    for (uint64_t i = 0; i < count; i++) {
        const struct zeta_plugin_command *command = zeta_array_at(commands, i);

        if (command->signal_event && command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
            atomic_store(&command->signal_event->event->signaller, queue->owner);
    }
}

ze_result_t zeta_queue_submit(struct zeta_queue *queue, struct zeta_submission *submission,
                              bool waits)
{
    const bool synchronous = waits && queue->desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    const struct zeta_trace_queue who = {.device = queue->device,
                                         .track = &queue->track,
                                         .ordinal = queue->desc.ordinal,
                                         .index = queue->desc.index};

    zeta_queue_release_finished(queue);
    ze_result_t result = prepare(submission);
    if (result == ZE_RESULT_SUCCESS) {
        const struct zeta_command_buffer *used = submission->used;

        note_signaller(queue, &submission->commands);
        /* A trace shows when each command ran. */
        zeta_trace_activity_watch(&who, &submission->commands, &submission->activity);
        zeta_command_buffer_begin_uses(used);
        result = hand_over(queue, submission, synchronous);
        if (result != ZE_RESULT_SUCCESS) {
            zeta_command_buffer_end_uses(used, false);
            abandon(&submission->buffer);
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        zeta_submission_destroy(submission);
        return result;
    }
    return synchronous ? zeta_queue_synchronize(queue, UINT64_MAX) : ZE_RESULT_SUCCESS;
}

/* A submission failed: its events will not be signalled. */
static void note_failure(const struct zeta_submission *submission)
{
    struct zeta_queue *queue = submission->queue;
    struct zeta_backend *backend = queue->backend;

    /*
     * The plugin left its sentence on this thread, or gives it when the queue is asked. What
     * follows a lost submission is lost without one, and the first reason is the one to keep.
     */
    if (zeta_error_count() == sentences_before)
        zeta_error_clear();
    if (!*zeta_error_describe())
        (void)backend->compute.queue_status(backend->self, queue->plugin_queue);
    if (*zeta_error_describe())
        zeta_device_note_fault(queue->device, zeta_error_describe());
    zeta_error_clear();
    for (uint64_t i = 0; i < submission->commands.count; i++) {
        const struct zeta_plugin_command *command = zeta_array_at(&submission->commands, i);
        struct zeta_plugin_event *event = zeta_trace_activity_event(command->signal_event, NULL);

        if (event && command->type != ZETA_PLUGIN_COMMAND_EVENT_RESET)
            zeta_event_lose(event);
    }
}

static void submission_over(struct zeta_plugin_host *host ZETA_UNUSED, void *cookie)
{
    struct zeta_submission *submission = cookie;

    atomic_store(&submission->is_over, true);
    zeta_use_note_over(submission->owner_use);
    zeta_command_buffer_note_over(submission->used);
}

static void submission_done(struct zeta_plugin_host *host ZETA_UNUSED, void *cookie,
                            uint32_t result)
{
    struct zeta_submission *submission = cookie;
    struct zeta_queue *queue = submission->queue;
    const struct zeta_driver *driver = queue->device->driver;

    if (result != ZETA_PLUGIN_SUCCESS)
        note_failure(submission);
    if (submission->fence && result == ZETA_PLUGIN_SUCCESS)
        zeta_signal_set(&submission->fence->signal, ZETA_SIGNAL_ON);
    else if (submission->fence)
        zeta_signal_lose(&submission->fence->signal);

    zeta_command_buffer_end_uses(submission->used, atomic_load(&submission->is_over));
    (void)pthread_mutex_lock(&queue->lock);
    dequeue_locked(queue, submission);
    submission->next = atomic_load(&queue->finished);
    atomic_store(&queue->finished, submission);
    if (result != ZETA_PLUGIN_SUCCESS && queue->failure != ZE_RESULT_ERROR_DEVICE_LOST)
        queue->failure = (ze_result_t)result;
    /* Waking a waiter for each of thousands of submissions would cost more than they do. */
    if (!queue->running || queue->running->number > queue->wanted) {
        queue->wanted = UINT64_MAX;
        (void)pthread_cond_broadcast(&queue->changed);
    }
    (void)pthread_mutex_unlock(&queue->lock);

    /* The queue may be gone now; the driver is not. Others may wait for a lost event. */
    if (result != ZETA_PLUGIN_SUCCESS)
        zeta_driver_wake(driver);
}

ZETA_AT_LOAD static void provide_services(void)
{
    zeta_host_services.submission_over = submission_over;
    zeta_host_services.submission_done = submission_done;
}
