/* Streams: a thread for each takes its operations in order. Events. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/driver/driver.h"

/* Step of the times of events. */
#define EVENT_NS 512.0

struct stream {
    struct stream *next;
    struct context *context;
    struct operation *first, **last;
    uint64_t enqueued, done; /* operations */
    uint64_t awaited;        /* the fewest done that somebody waits for; 0: nobody does */
    uint64_t end;            /* of the work so far, time of the machine */
    uint32_t id;
    bool is_default, is_over;
    pthread_cond_t enqueued_more; /* for the thread */
    pthread_t thread;
};

/* Recorded times: number counts the calls, done those that the stream has passed. */
struct event {
    uint64_t number, done;
    uint64_t time;
    unsigned users; /* the handle, and operations that name it */
    bool has_no_times;
};

/* An event was recorded, or a stream has done what somebody waits for. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t stream_ids, correlations;

static void release_event_locked(struct event *event)
{
    if (--event->users == 0)
        free(event);
}

struct operation *operation_create(enum operation_kind kind)
{
    struct operation *operation = calloc(1, sizeof(*operation));

    if (operation)
        operation->kind = kind;
    return operation;
}

static void destroy_operation(struct operation *operation)
{
    if (operation->kind == OP_LAUNCH)
        free(operation->launch);
    free(operation);
}

/* Does one, without the lock. */
static void step(struct stream *stream, struct operation *operation)
{
    struct context *context = stream->context;
    struct cuda_shared *shared = cuda_shared();
    int error = CU_OK;
    uint64_t end;

    (void)pthread_mutex_lock(&driver_lock);
    end = stream->end;
    if (operation->kind == OP_WAIT) {
        struct event *event = operation->event.event;

        while (event->done < operation->event.number && context->error == CU_OK)
            (void)pthread_cond_wait(&changed, &driver_lock);
        end = event->time > end ? event->time : end;
        release_event_locked(event);
    } else if (operation->kind == OP_RECORD) {
        struct event *event = operation->event.event;
        const uint64_t now = shared ? cuda_time(shared) : 0;

        event->time = end > now ? end : now;
        event->done = operation->event.number;
        release_event_locked(event);
    }
    error = context->error;
    (void)pthread_mutex_unlock(&driver_lock);

    if (error == CU_OK && shared && operation->kind <= OP_FILL) {
        end = work_do(context, stream->id, operation, end, &error);
    } else if (error == CU_OK && shared && operation->kind == OP_HOST) {
        cuda_wait_until(shared, end);
        operation->host.function(operation->host.data);
    }

    (void)pthread_mutex_lock(&driver_lock);
    stream->end = end;
    stream->done++;
    if (context->error == CU_OK)
        context->error = error;
    /* Who waits for an event, or for this many, looks again; nobody does for each operation. */
    if (operation->kind == OP_RECORD || error != CU_OK ||
        (stream->awaited > 0 && stream->done >= stream->awaited)) {
        stream->awaited = 0;
        (void)pthread_cond_broadcast(&changed);
    }
    (void)pthread_mutex_unlock(&driver_lock);
}

static void *run(void *argument)
{
    struct stream *stream = argument;

    (void)pthread_mutex_lock(&driver_lock);
    for (;;) {
        struct operation *operation;

        while (!stream->first && !stream->is_over)
            (void)pthread_cond_wait(&stream->enqueued_more, &driver_lock);
        operation = stream->first;
        if (!operation)
            break;
        stream->first = operation->next;
        if (!stream->first)
            stream->last = &stream->first;
        (void)pthread_mutex_unlock(&driver_lock);
        step(stream, operation);
        destroy_operation(operation);
        (void)pthread_mutex_lock(&driver_lock);
    }
    (void)pthread_mutex_unlock(&driver_lock);
    return NULL;
}

static struct stream *create_locked(struct context *context, bool is_default)
{
    struct stream *stream = calloc(1, sizeof(*stream));

    if (!stream)
        return NULL;
    stream->context = context;
    stream->last = &stream->first;
    stream->id = ++stream_ids + 6; /* the default ones of the driver come first */
    stream->is_default = is_default;
    (void)pthread_cond_init(&stream->enqueued_more, NULL);
    if (pthread_create(&stream->thread, NULL, run, stream) != 0) {
        free(stream);
        return NULL;
    }
    stream->next = context->streams;
    context->streams = stream;
    return stream;
}

/* The stream of a handle: 0, 1 and 2 are the default one. NULL if there is none. */
static struct stream *find_locked(struct context *context, void *handle)
{
    struct stream *stream = context->streams;

    if ((uintptr_t)handle <= 2) {
        if (!context->default_stream)
            context->default_stream = create_locked(context, true);
        return context->default_stream;
    }
    while (stream && stream != handle)
        stream = stream->next;
    return stream;
}

int stream_enqueue(struct context *context, void *handle, struct operation *operation)
{
    struct stream *stream;

    operation->mark = observer_mark(context, operation->kind == OP_LAUNCH);
    (void)pthread_mutex_lock(&driver_lock);
    stream = find_locked(context, handle);
    if (!stream) {
        (void)pthread_mutex_unlock(&driver_lock);
        destroy_operation(operation);
        return CU_INVALID_HANDLE;
    }
    operation->correlation = ++correlations;
    if (operation->kind == OP_RECORD) {
        operation->event.number = ++operation->event.event->number;
        operation->event.event->users++;
    } else if (operation->kind == OP_WAIT) {
        operation->event.number = operation->event.event->number;
        operation->event.event->users++;
    }
    if (operation->kind <= OP_FILL)
        observer_enqueued(stream->id);
    *stream->last = operation;
    stream->last = &operation->next;
    stream->enqueued++;
    (void)pthread_cond_signal(&stream->enqueued_more);
    (void)pthread_mutex_unlock(&driver_lock);
    return CU_OK;
}

/* Waits for the threads; *out_end: when the work of these streams ends. */
static void drain_locked(struct context *context, const struct stream *only, uint64_t *out_end)
{
    for (struct stream *stream = context->streams; stream; stream = stream->next) {
        const uint64_t enqueued = stream->enqueued;

        if (only && stream != only)
            continue;
        while (stream->done < enqueued) {
            if (stream->awaited == 0 || stream->awaited > enqueued)
                stream->awaited = enqueued;
            (void)pthread_cond_wait(&changed, &driver_lock);
        }
        if (stream->end > *out_end)
            *out_end = stream->end;
    }
}

__attribute__((visibility("default"))) void cuda_context_drain(void *context)
{
    uint64_t end = 0;

    (void)pthread_mutex_lock(&driver_lock);
    drain_locked(context, NULL, &end);
    (void)pthread_mutex_unlock(&driver_lock);
}

static int wait_for(struct context *context, const struct stream *only)
{
    struct cuda_shared *shared = cuda_shared();
    struct cuda_seen seen = {.kind = CUDA_SEEN_SYNCHRONIZE};
    uint64_t end = 0;
    int error;

    if (!shared)
        return CU_UNKNOWN;
    seen.begin = cuda_time(shared);
    (void)pthread_mutex_lock(&driver_lock);
    drain_locked(context, only, &end);
    error = context->error;
    seen.ordinal = (uint32_t)context->ordinal;
    seen.context = context->id;
    seen.stream = only ? only->id : 0;
    seen.correlation = ++correlations;
    (void)pthread_mutex_unlock(&driver_lock);
    cuda_wait_until(shared, end);
    seen.end = cuda_time(shared);
    observer_seen(&seen);
    return error;
}

int stream_wait(struct context *context, void *handle)
{
    const struct stream *stream;

    (void)pthread_mutex_lock(&driver_lock);
    stream = find_locked(context, handle);
    (void)pthread_mutex_unlock(&driver_lock);
    return stream ? wait_for(context, stream) : CU_INVALID_HANDLE;
}

int cuCtxSynchronize(void)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return wait_for(context, NULL);
}

int cuStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
    struct context *context;

    (void)priority; /* any number is brought into the range */
    ENTER_CONTEXT(&context);
    if (!out || flags > 1)
        return CU_INVALID_VALUE;
    (void)pthread_mutex_lock(&driver_lock);
    *out = create_locked(context, false);
    (void)pthread_mutex_unlock(&driver_lock);
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

int cuStreamCreate(void **out, unsigned flags)
{
    return cuStreamCreateWithPriority(out, flags, 0);
}

int cuStreamDestroy_v2(void *handle)
{
    struct context *context;
    struct stream **at, *stream;

    ENTER_CONTEXT(&context);
    (void)pthread_mutex_lock(&driver_lock);
    at = &context->streams;
    while (*at && (*at != handle || (*at)->is_default))
        at = &(*at)->next;
    stream = *at;
    if (stream) {
        *at = stream->next;
        stream->is_over = true;
        (void)pthread_cond_signal(&stream->enqueued_more);
    }
    (void)pthread_mutex_unlock(&driver_lock);
    if (!stream)
        return CU_INVALID_HANDLE;
    (void)pthread_join(stream->thread, NULL);
    (void)pthread_cond_destroy(&stream->enqueued_more);
    free(stream);
    return CU_OK;
}

int cuStreamSynchronize(void *handle)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return stream_wait(context, handle);
}

int cuStreamQuery(void *handle)
{
    struct context *context;
    const struct stream *stream;
    int result;

    ENTER_CONTEXT(&context);
    (void)pthread_mutex_lock(&driver_lock);
    stream = find_locked(context, handle);
    if (!stream)
        result = CU_INVALID_HANDLE;
    else if (stream->done < stream->enqueued || cuda_time(cuda_shared()) < stream->end)
        result = CU_NOT_READY;
    else
        result = context->error;
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

int cuLaunchHostFunc(void *handle, void (*function)(void *), void *data)
{
    struct context *context;
    struct operation *operation;

    ENTER_CONTEXT(&context);
    operation = function ? operation_create(OP_HOST) : NULL;
    if (!operation)
        return function ? CU_OUT_OF_MEMORY : CU_INVALID_VALUE;
    operation->host.function = function;
    operation->host.data = data;
    return stream_enqueue(context, handle, operation);
}

int cuEventCreate(void **out, unsigned flags)
{
    struct context *context;
    struct event *event;

    ENTER_CONTEXT(&context);
    event = out ? calloc(1, sizeof(*event)) : NULL;
    if (!event)
        return out ? CU_OUT_OF_MEMORY : CU_INVALID_VALUE;
    event->users = 1;
    event->has_no_times = (flags & 2) != 0;
    *out = event;
    return CU_OK;
}

int cuEventDestroy_v2(void *event)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    if (!event)
        return CU_INVALID_HANDLE;
    (void)pthread_mutex_lock(&driver_lock);
    release_event_locked(event);
    (void)pthread_mutex_unlock(&driver_lock);
    return CU_OK;
}

static int enqueue_event(struct context *context, void *stream, void *event,
                         enum operation_kind kind)
{
    struct operation *operation = event ? operation_create(kind) : NULL;

    if (!operation)
        return event ? CU_OUT_OF_MEMORY : CU_INVALID_HANDLE;
    operation->event.event = event;
    return stream_enqueue(context, stream, operation);
}

int cuEventRecord(void *event, void *stream)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    return enqueue_event(context, stream, event, OP_RECORD);
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    struct context *context;

    (void)flags;
    ENTER_CONTEXT(&context);
    return enqueue_event(context, stream, event, OP_WAIT);
}

int cuEventQuery(void *handle)
{
    struct context *context;
    const struct event *event = handle;
    int result;

    ENTER_CONTEXT(&context);
    if (!event)
        return CU_INVALID_HANDLE;
    (void)pthread_mutex_lock(&driver_lock);
    if (event->done < event->number || event->time > cuda_time(cuda_shared()))
        result = CU_NOT_READY;
    else
        result = CU_OK;
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

int cuEventSynchronize(void *handle)
{
    struct context *context;
    const struct event *event = handle;
    uint64_t number, time;
    int error;

    ENTER_CONTEXT(&context);
    if (!event)
        return CU_INVALID_HANDLE;
    (void)pthread_mutex_lock(&driver_lock);
    number = event->number;
    while (event->done < number)
        (void)pthread_cond_wait(&changed, &driver_lock);
    time = event->time;
    error = context->error;
    (void)pthread_mutex_unlock(&driver_lock);
    cuda_wait_until(cuda_shared(), time);
    return error;
}

/* Steps of about half a microsecond, as a float of milliseconds. */
int cuEventElapsedTime(float *out, void *start, void *end)
{
    struct context *context;
    const struct event *first = start, *second = end;
    int result = CU_OK;

    ENTER_CONTEXT(&context);
    if (!out || !first || !second)
        return CU_INVALID_HANDLE;
    (void)pthread_mutex_lock(&driver_lock);
    if (first->has_no_times || second->has_no_times || first->number == 0 || second->number == 0)
        result = CU_INVALID_HANDLE;
    else if (first->done < first->number || second->done < second->number ||
             second->time > cuda_time(cuda_shared()))
        result = CU_NOT_READY;
    else
        *out = (float)(floor((double)(int64_t)(second->time - first->time) / EVENT_NS) * EVENT_NS /
                       1e6);
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}
