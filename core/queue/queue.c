#include "core/queue/queue.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/thread.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/memory/memory.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

#define POLL_PERIOD_NS UINT64_C(50000000) /* between polls for events that were lost */

bool zeta_queue_group(const struct zeta_device *device, uint32_t ordinal,
                      struct zeta_plugin_queue_group *out_group)
{
    const struct zeta_plugin_array *groups = &device->backend->properties.queue_groups;

    if (ordinal >= groups->count)
        return false;
    zeta_array_read(groups, ordinal, out_group, sizeof(*out_group));
    return true;
}

static void free_queue(struct zeta_queue *queue)
{
    (void)pthread_mutex_lock(&queue->context->queues_lock);
    *queue->link = queue->next;
    if (queue->next)
        queue->next->link = queue->link;
    (void)pthread_mutex_unlock(&queue->context->queues_lock);
    while (queue->spare) {
        struct zeta_submission *next = queue->spare->next;

        zeta_submission_destroy(queue->spare);
        queue->spare = next;
    }
    (void)pthread_cond_destroy(&queue->changed);
    (void)pthread_cond_destroy(&queue->free_to_submit);
    (void)pthread_mutex_destroy(&queue->lock);
    zeta_object_unpin(queue->context);
    free(queue);
}

ze_result_t zeta_queue_create(struct zeta_context *context, struct zeta_device *device,
                              const ze_command_queue_desc_t *desc, struct zeta_queue **out_queue)
{
    const struct zeta_provider *who = zeta_device_queue_provider(device);
    struct zeta_plugin_queue_desc wanted = {.struct_size = sizeof(wanted),
                                            .ordinal = desc->ordinal,
                                            .index = desc->index,
                                            .priority = (uint32_t)desc->priority};
    struct zeta_plugin_queue_group group;
    ze_result_t result = zeta_context_check_device(context, device);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_queue_group(device, desc->ordinal, &group))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "queue group ordinal %u: %s has %llu groups", desc->ordinal, device->name,
                          (unsigned long long)device->backend->properties.queue_groups.count);
    if (desc->index >= group.queue_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "queue index %u: group %u of %s has %u queues", desc->index,
                          desc->ordinal, device->name, group.queue_count);
    if (!who->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on %s or has queries there, so it has no queues",
                          device->name);
    struct zeta_queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return zeta_error_no_memory("a queue");
    if (!zeta_object_pin(context, ZETA_KIND_CONTEXT)) {
        free(queue);
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "the context was just destroyed");
    }
    queue->context = context;
    queue->device = device;
    queue->desc = *desc;
    queue->desc.pNext = NULL;
    queue->last = &queue->running;
    queue->wanted = UINT64_MAX;
    queue->backend = who->backend;
    (void)pthread_mutex_init(&queue->lock, NULL);
    zeta_condition_init(&queue->changed);
    (void)pthread_cond_init(&queue->free_to_submit, NULL);

    (void)pthread_mutex_lock(&context->queues_lock);
    queue->id = ++context->newest_queue;
    queue->next = context->queues;
    queue->link = &context->queues;
    if (queue->next)
        queue->next->link = &queue->next;
    context->queues = queue;
    (void)pthread_mutex_unlock(&context->queues_lock);

    uint32_t code = who->backend->compute.queue_create(who->backend->self, who->device, &wanted,
                                                       &queue->plugin_queue);
    if (code != ZETA_PLUGIN_SUCCESS) {
        free_queue(queue);
        return zeta_backend_result(who->backend, code, "creating a queue");
    }
    *out_queue = queue;
    return ZE_RESULT_SUCCESS;
}

void zeta_queue_destroy(struct zeta_queue *queue)
{
    if (!queue)
        return;
    /* Abandoned work is reported on this thread: an old message would appear as its reason. */
    (void)pthread_mutex_lock(&queue->lock);
    if (queue->running)
        zeta_error_clear();
    (void)pthread_mutex_unlock(&queue->lock);
    queue->backend->compute.queue_destroy(queue->backend->self, queue->plugin_queue);
    zeta_queue_release_finished(queue);
    (void)pthread_mutex_lock(&queue->lock);
    bool unreported = queue->running != NULL;
    (void)pthread_mutex_unlock(&queue->lock);
    /* A backend that breaks its promise may still report: then losing memory is the lesser harm. */
    if (!unreported)
        free_queue(queue);
}

/* True if something that runs waits for an event that will never be signalled. */
static bool is_stuck_locked(const struct zeta_queue *queue)
{
    if (!zeta_event_any_lost())
        return false;
    for (const struct zeta_submission *s = queue->running; s; s = s->next) {
        for (uint64_t i = 0; i < s->commands.count; i++) {
            const struct zeta_plugin_command *command = zeta_array_at(&s->commands, i);

            for (uint64_t w = 0; w < command->wait_count; w++) {
                if (zeta_plugin_event_is_lost(command->wait_events[w]))
                    return true;
            }
        }
    }
    return false;
}

/* Waits until nothing up to the number runs. NOT_READY at the deadline, DEVICE_LOST if stuck. */
static ze_result_t wait_locked(struct zeta_queue *queue, uint64_t number, uint64_t deadline_ns)
{
    while (queue->running && queue->running->number <= number) {
        if (is_stuck_locked(queue))
            return zeta_device_fault(queue->device, ZE_RESULT_ERROR_DEVICE_LOST);
        uint64_t now_ns = zeta_monotonic_ns();
        if (now_ns >= deadline_ns)
            return ZE_RESULT_NOT_READY;
        if (number < queue->wanted)
            queue->wanted = number;
        /* Until something ends, the deadline, or the time to poll for lost events again. */
        struct timespec until = zeta_clock_timespec(
            deadline_ns - now_ns < POLL_PERIOD_NS ? deadline_ns : now_ns + POLL_PERIOD_NS);
        (void)pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_queue_synchronize(struct zeta_queue *queue, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = zeta_clock_deadline(timeout_ns);

    (void)pthread_mutex_lock(&queue->lock);
    uint64_t number = queue->submitted;
    bool runs = queue->running != NULL;
    (void)pthread_mutex_unlock(&queue->lock);
    if (runs)
        (void)zeta_queue_look(queue, number, timeout_ns);
    (void)pthread_mutex_lock(&queue->lock);
    ze_result_t result = wait_locked(queue, number, deadline_ns);
    ze_result_t failure = queue->failure;
    if (failure != ZE_RESULT_ERROR_DEVICE_LOST && result == ZE_RESULT_SUCCESS)
        queue->failure = ZE_RESULT_SUCCESS;
    (void)pthread_mutex_unlock(&queue->lock);

    zeta_queue_release_finished(queue);
    if (failure == ZE_RESULT_ERROR_DEVICE_LOST ||
        (result == ZE_RESULT_SUCCESS && failure != ZE_RESULT_SUCCESS))
        return zeta_device_fault(queue->device, failure);
    return result;
}

ze_result_t zeta_queue_check_idle(struct zeta_queue *queue)
{
    ze_result_t result = ZE_RESULT_NOT_READY;
    unsigned polls = 0;

    (void)pthread_mutex_lock(&queue->lock);
    while (result == ZE_RESULT_NOT_READY && queue->failure != ZE_RESULT_ERROR_DEVICE_LOST) {
        const struct zeta_submission *s = queue->running;

        while (s && atomic_load(&s->is_over))
            s = s->next;
        /* Reports of work that is over are waited for as long as they take. */
        if (s && polls++ >= ZETA_USE_POLLS)
            break;
        uint64_t number = queue->submitted;
        (void)pthread_mutex_unlock(&queue->lock);
        (void)zeta_queue_look(queue, number, 0);
        (void)pthread_mutex_lock(&queue->lock);
        result = wait_locked(queue, number, zeta_clock_deadline(ZETA_USE_POLL_NS));
    }
    if (queue->failure == ZE_RESULT_ERROR_DEVICE_LOST)
        result = ZE_RESULT_SUCCESS;
    (void)pthread_mutex_unlock(&queue->lock);

    if (result != ZE_RESULT_NOT_READY || zeta_device_status(queue->device) != ZE_RESULT_SUCCESS)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                      "commands still run on this queue of %s; wait for them first",
                      queue->device->name);
}

/* Objects that own a queue, pinned. */
struct owners {
    void **objects;
    size_t count;
    bool out_of_memory;
    enum zeta_kind kind; /* of those that are collected now */
};

static void collect(void *object, void *context)
{
    struct owners *owners = context;
    void **grown = realloc(owners->objects, (owners->count + 1) * sizeof(void *));

    if (!grown) {
        owners->out_of_memory = true;
        return;
    }
    owners->objects = grown;
    if (zeta_object_pin(object, owners->kind))
        grown[owners->count++] = object;
}

ze_result_t zeta_queues_drain(const struct zeta_context *context, const struct zeta_device *device)
{
    struct owners owners = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;

    owners.kind = ZETA_KIND_COMMAND_QUEUE;
    zeta_object_each(owners.kind, collect, &owners);
    owners.kind = ZETA_KIND_COMMAND_LIST;
    zeta_object_each(owners.kind, collect, &owners);
    for (size_t i = 0; i < owners.count; i++) {
        struct zeta_queue *queue =
            atomic_load(&((struct zeta_command_queue *)owners.objects[i])->queue);

        if (queue && (!context || queue->context == context) &&
            (!device || queue->device == device || queue->device->parent == device)) {
            ze_result_t one = zeta_queue_synchronize(queue, UINT64_MAX);

            result = result == ZE_RESULT_SUCCESS ? one : result;
        }
        zeta_object_unpin(owners.objects[i]);
    }
    free(owners.objects);
    if (owners.out_of_memory && result == ZE_RESULT_SUCCESS)
        result = zeta_error_no_memory("a list of queues");
    return result;
}

/*
 * ---- How far the queues of a context have come, to ask later whether all that had been submitted
 * then is over, without waiting ----
 */

/* A queue and its newest submission. The queue may be gone. */
struct mark {
    uint64_t queue_id;
    uint64_t number;
};

struct zeta_queue_marks {
    struct zeta_context *context;
    uint32_t count;
    struct mark marks[];
};

/* True if a submission up to that number runs, and not only its report is missing. */
static bool runs(struct zeta_queue *queue, uint64_t number)
{
    (void)pthread_mutex_lock(&queue->lock);
    const struct zeta_submission *s = queue->running;
    while (s && s->number <= number && atomic_load(&s->is_over))
        s = s->next;
    bool result = s && s->number <= number;
    (void)pthread_mutex_unlock(&queue->lock);
    return result;
}

static ze_result_t mark_queues(struct zeta_context *context, struct zeta_queue_marks **out_marks)
{
    struct zeta_queue_marks *marks;
    uint32_t count = 0;

    (void)pthread_mutex_lock(&context->queues_lock);
    for (const struct zeta_queue *queue = context->queues; queue; queue = queue->next)
        count++;
    marks = malloc(sizeof(*marks) + count * sizeof(marks->marks[0]));
    if (marks)
        *marks = (struct zeta_queue_marks){.context = context};
    for (struct zeta_queue *queue = context->queues; marks && queue; queue = queue->next) {
        (void)pthread_mutex_lock(&queue->lock);
        uint64_t number = queue->submitted;
        (void)pthread_mutex_unlock(&queue->lock);

        if (runs(queue, number))
            marks->marks[marks->count++] = (struct mark){queue->id, number};
    }
    (void)pthread_mutex_unlock(&context->queues_lock);
    if (!marks)
        return zeta_error_no_memory("a list of queues");
    *out_marks = marks;
    return ZE_RESULT_SUCCESS;
}

static bool marks_passed(const struct zeta_queue_marks *marks)
{
    bool passed = true;

    if (!marks || marks->count == 0)
        return true;
    (void)pthread_mutex_lock(&marks->context->queues_lock);
    for (uint32_t i = 0; passed && i < marks->count; i++) {
        struct zeta_queue *queue = marks->context->queues;

        while (queue && queue->id != marks->marks[i].queue_id)
            queue = queue->next;
        passed = !queue || !runs(queue, marks->marks[i].number);
    }
    (void)pthread_mutex_unlock(&marks->context->queues_lock);
    return passed;
}

/* The queue of an event may be gone, and its memory another one's: then that one is looked at. */
static bool look_at_signaller(void *what)
{
    struct zeta_command_queue *owner = what;

    if (!zeta_object_pin(owner, ZETA_KIND_COMMAND_LIST) &&
        !zeta_object_pin(owner, ZETA_KIND_COMMAND_QUEUE))
        return false;
    struct zeta_queue *queue = atomic_load(&owner->queue);
    uint64_t number = 0;
    if (queue) {
        (void)pthread_mutex_lock(&queue->lock);
        number = queue->running ? queue->submitted : 0;
        (void)pthread_mutex_unlock(&queue->lock);
    }
    bool reported = number > 0 && zeta_queue_look(queue, number, 0);
    zeta_object_unpin(owner);
    return reported;
}

ZETA_AT_LOAD static void serve(void)
{
    zeta_event_look = look_at_signaller;
    zeta_memory_queues = (struct zeta_memory_queues){
        .mark = mark_queues, .passed = marks_passed, .drain = zeta_queues_drain};
}
