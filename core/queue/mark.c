/*
 * How far the queues of a context have come, to ask later whether all that had been submitted then
 * is over, without waiting.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/device/device.h"
#include "core/memory/memory.h"
#include "core/queue/queue.h"
#include "core/util/error.h"

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

static uint64_t newest(struct zeta_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    uint64_t number = queue->submitted;
    (void)pthread_mutex_unlock(&queue->lock);
    return number;
}

/* Room for a mark of each queue; NULL without memory. */
static struct zeta_queue_marks *make_locked(struct zeta_context *context)
{
    struct zeta_queue_marks *marks;
    uint32_t count = 0;

    for (const struct zeta_queue *queue = context->queues; queue; queue = queue->next)
        count++;
    marks = malloc(sizeof(*marks) + count * sizeof(marks->marks[0]));
    if (marks)
        *marks = (struct zeta_queue_marks){.context = context};
    return marks;
}

ze_result_t zeta_queue_marks_create(struct zeta_context *context,
                                    struct zeta_queue_marks **out_marks)
{
    (void)pthread_mutex_lock(&context->queues_lock);
    struct zeta_queue_marks *marks = make_locked(context);
    for (struct zeta_queue *queue = context->queues; marks && queue; queue = queue->next) {
        uint64_t number = newest(queue);

        if (runs(queue, number))
            marks->marks[marks->count++] = (struct mark){queue->id, number};
    }
    (void)pthread_mutex_unlock(&context->queues_lock);
    if (!marks)
        return zeta_error_no_memory("a list of queues");
    *out_marks = marks;
    return ZE_RESULT_SUCCESS;
}

static bool waits_locked(const struct zeta_queue_marks *marks, const struct mark *mark)
{
    struct zeta_queue *queue = marks->context->queues;

    while (queue && queue->id != mark->queue_id)
        queue = queue->next;
    return queue && runs(queue, mark->number);
}

bool zeta_queue_marks_passed(const struct zeta_queue_marks *marks)
{
    bool passed = true;

    if (!marks || marks->count == 0)
        return true;
    (void)pthread_mutex_lock(&marks->context->queues_lock);
    for (uint32_t i = 0; passed && i < marks->count; i++)
        passed = !waits_locked(marks, &marks->marks[i]);
    (void)pthread_mutex_unlock(&marks->context->queues_lock);
    return passed;
}

void zeta_queue_marks_destroy(struct zeta_queue_marks *marks)
{
    free(marks);
}
