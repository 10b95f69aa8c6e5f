#include "core/command/mark.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/command/list.h"
#include "core/command/queue.h"
#include "core/device/device.h"
#include "core/object/object.h"
#include "core/util/error.h"

/* A queue and its newest submission. The owner may be gone, and its slot of another queue. */
struct mark {
    void *owner;
    enum zeta_kind kind;
    const struct zeta_queue *queue;
    uint64_t number;
};

struct zeta_queue_marks {
    const struct zeta_context *context;
    uint32_t count;
    uint32_t room;
    bool out_of_memory;
    struct mark *marks;
};

static struct zeta_queue *queue_of(void *owner, enum zeta_kind kind)
{
    if (kind == ZETA_KIND_COMMAND_LIST)
        return atomic_load(&((struct zeta_command_list *)owner)->queue);
    return atomic_load(&((struct zeta_command_queue *)owner)->queue);
}

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

static void add(struct zeta_queue_marks *marks, void *owner, enum zeta_kind kind,
                struct zeta_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    uint64_t number = queue->submitted;
    (void)pthread_mutex_unlock(&queue->lock);
    if (!runs(queue, number))
        return;
    if (marks->count == marks->room) {
        uint32_t room = marks->room ? 2 * marks->room : 8;
        struct mark *grown = realloc(marks->marks, room * sizeof(*grown));

        marks->out_of_memory = marks->out_of_memory || !grown;
        if (!grown)
            return;
        marks->marks = grown;
        marks->room = room;
    }
    marks->marks[marks->count++] = (struct mark){owner, kind, queue, number};
}

static void look_at(struct zeta_queue_marks *marks, void *owner, enum zeta_kind kind)
{
    if (!zeta_object_pin(owner, kind))
        return;
    struct zeta_queue *queue = queue_of(owner, kind);
    if (queue && queue->context == marks->context)
        add(marks, owner, kind, queue);
    zeta_object_unpin(owner);
}

static void look_at_queue(void *object, void *marks)
{
    look_at(marks, object, ZETA_KIND_COMMAND_QUEUE);
}

static void look_at_list(void *object, void *marks)
{
    look_at(marks, object, ZETA_KIND_COMMAND_LIST);
}

ze_result_t zeta_queue_marks_create(const struct zeta_context *context,
                                    struct zeta_queue_marks **out_marks)
{
    if (atomic_load(&context->submissions) == 0) {
        *out_marks = NULL;
        return ZE_RESULT_SUCCESS;
    }
    struct zeta_queue_marks *marks = calloc(1, sizeof(*marks));
    if (marks) {
        marks->context = context;
        zeta_object_each(ZETA_KIND_COMMAND_QUEUE, look_at_queue, marks);
        zeta_object_each(ZETA_KIND_COMMAND_LIST, look_at_list, marks);
    }
    if (!marks || marks->out_of_memory) {
        zeta_queue_marks_destroy(marks);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for a list of queues");
    }
    *out_marks = marks;
    return ZE_RESULT_SUCCESS;
}

bool zeta_queue_marks_passed(const struct zeta_queue_marks *marks)
{
    for (uint32_t i = 0; marks && i < marks->count; i++) {
        const struct mark *mark = &marks->marks[i];

        if (!zeta_object_pin(mark->owner, mark->kind))
            continue;
        struct zeta_queue *queue = queue_of(mark->owner, mark->kind);
        bool waits = queue == mark->queue && runs(queue, mark->number);
        zeta_object_unpin(mark->owner);
        if (waits)
            return false;
    }
    return true;
}

void zeta_queue_marks_destroy(struct zeta_queue_marks *marks)
{
    if (!marks)
        return;
    free(marks->marks);
    free(marks);
}
