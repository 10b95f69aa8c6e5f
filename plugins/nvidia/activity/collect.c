#include "plugins/nvidia/activity/collect.h"

#include <pthread.h>
#include <stdlib.h>

#include "plugins/nvidia/activity/names.h"

/* CUPTI drops records while so many buffers are full and not yet read. */
enum { BUFFER_BYTES = 1 << 20, BUFFERS = 64 };

/* Contexts of which the device is known. */
enum { CONTEXTS = 64 };

/*
 * Flags of cuptiActivityFlushAll. What is complete: each buffer of which all records are; the one
 * with work that has not ended waits, with what is beside it. Forced: all of them, and what has not
 * ended is a record of nothing. (A period of CUPTI's own gives nothing but full buffers.)
 */
enum { COMPLETE = 0, FORCED = 1 };

/* Attribute: buffers of each thread, else of all threads together. From CUDA 12.3 on. */
enum { PER_THREAD_BUFFER = 9 };

static const int kinds[] = {NVIDIA_RECORD_DRIVER_CALL, NVIDIA_RECORD_COPY, NVIDIA_RECORD_FILL,
                            NVIDIA_RECORD_KERNEL, NVIDIA_RECORD_SYNCHRONIZATION};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/*
 * Callbacks of CUPTI have no argument of ours, and come on its threads at any time: what they use
 * lives as long as the process. The lock control is held over calls of CUPTI that begin and end
 * collecting; the other one guards the rest, also in callbacks, and no call of CUPTI is made under
 * it but that which walks a buffer.
 */
static struct {
    pthread_mutex_t control, lock;
    const struct nvidia_cupti *cupti; /* of who collects; callbacks came with it */
    struct nvidia_collector *first;
    struct nvidia_names names;
    struct {
        uint32_t context, device;
    } contexts[CONTEXTS];
    uint32_t context_count;
    uint8_t *free_buffers[BUFFERS];
    uint32_t free_count, used_count;
} collect = {.control = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- callbacks ------------------------------------------------------------------------------ */

static void request(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    *buffer = NULL;
    (void)pthread_mutex_lock(&collect.lock);
    if (collect.free_count > 0)
        *buffer = collect.free_buffers[--collect.free_count];
    else if (collect.used_count < BUFFERS)
        *buffer = aligned_alloc(8, BUFFER_BYTES);
    collect.used_count += *buffer != NULL;
    (void)pthread_mutex_unlock(&collect.lock);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

/* Remembers or finds the device of a context. False where it is not known. */
static bool place_locked(const struct nvidia_event_text *text, struct nvidia_event *event)
{
    uint32_t at = 0;

    while (at < collect.context_count && collect.contexts[at].context != event->context)
        at++;
    if (!text->has_device && at < collect.context_count) {
        event->device = collect.contexts[at].device;
        return true;
    }
    if (text->has_device && at < CONTEXTS) {
        collect.contexts[at].context = event->context;
        collect.contexts[at].device = event->device;
        collect.context_count += at == collect.context_count;
    }
    return text->has_device;
}

static void dispatch_locked(struct nvidia_event *event, const struct nvidia_event_text *text)
{
    const bool has_place = place_locked(text, event);

    event->name = text->name ? nvidia_names_get(&collect.names, text->name) : 0;
    for (struct nvidia_collector *at = collect.first; at; at = at->next) {
        /* Where one device is traced, an unknown context is of that one. */
        if (has_place ? event->device != at->device : at != collect.first || at->next)
            continue;
        event->device = at->device;
        at->take(at, event);
    }
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    const struct nvidia_cupti *cupti;
    struct nvidia_event_text text;
    struct nvidia_event event;
    void *record = NULL;

    (void)context;
    (void)stream;
    (void)pthread_mutex_lock(&collect.lock);
    cupti = collect.cupti;
    while (valid <= bytes &&
           cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == NVIDIA_CUPTI_SUCCESS) {
        const size_t at = (size_t)((const uint8_t *)record - buffer);

        if (nvidia_event_read(record, at < valid ? valid - at : 0, &event, &text))
            dispatch_locked(&event, &text);
    }
    collect.free_buffers[collect.free_count++] = buffer;
    collect.used_count--;
    (void)pthread_mutex_unlock(&collect.lock);
}

/* ---- beginning and ending ------------------------------------------------------------------- */

static bool has_functions(const struct nvidia_cupti *cupti)
{
    return cupti->cuptiActivityRegisterCallbacks && cupti->cuptiActivityEnable &&
           cupti->cuptiActivityDisable && cupti->cuptiActivityGetNextRecord &&
           cupti->cuptiActivityFlushAll && cupti->cuptiActivityGetNumDroppedRecords;
}

static void disable(const struct nvidia_cupti *cupti, uint32_t count)
{
    while (count > 0)
        (void)cupti->cuptiActivityDisable(kinds[--count]);
}

/*
 * Threads with buffers of their own would have their records at times that differ by seconds: a
 * buffer waits until all in it is complete, and that of a busy thread is when it is full. Once in a
 * process, before anybody registers; where it is refused, what comes too late is counted as lost.
 */
static void share_buffers(const struct nvidia_cupti *cupti)
{
    static bool was_done;
    uint8_t value = 0;
    size_t bytes = sizeof(value);

    if (!was_done && cupti->cuptiActivitySetAttribute)
        (void)cupti->cuptiActivitySetAttribute(PER_THREAD_BUFFER, &bytes, &value);
    was_done = true;
}

static int enable(const struct nvidia_cupti *cupti, const char **out_what)
{
    sigset_t before;
    uint32_t enabled = 0;
    int result;

    nvidia_signals_block(&before);
    share_buffers(cupti);
    *out_what = "register for activity records";
    result = cupti->cuptiActivityRegisterCallbacks(request, complete);
    while (result == NVIDIA_CUPTI_SUCCESS && enabled < KINDS) {
        *out_what = "enable activity records";
        result = cupti->cuptiActivityEnable(kinds[enabled]);
        enabled += result == NVIDIA_CUPTI_SUCCESS;
    }
    if (result != NVIDIA_CUPTI_SUCCESS)
        disable(cupti, enabled);
    nvidia_signals_restore(&before);
    return result;
}

/* A record that was dropped before anybody collected is nobody's. */
static uint64_t take_dropped(const struct nvidia_cupti *cupti)
{
    size_t dropped = 0;

    return cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == NVIDIA_CUPTI_SUCCESS
               ? dropped
               : 0;
}

int nvidia_collect_begin(const struct nvidia_cupti *cupti, struct nvidia_collector *collector,
                         const char **out_what)
{
    int result = NVIDIA_CUPTI_SUCCESS;
    bool is_first;

    *out_what = "find the functions for activity records";
    if (!has_functions(cupti))
        return NVIDIA_CUPTI_NOT_SUPPORTED;
    (void)pthread_mutex_lock(&collect.control);
    (void)pthread_mutex_lock(&collect.lock);
    is_first = !collect.first;
    collect.cupti = cupti;
    (void)pthread_mutex_unlock(&collect.lock);
    if (is_first) {
        (void)take_dropped(cupti);
        result = enable(cupti, out_what);
    }
    if (result == NVIDIA_CUPTI_SUCCESS) {
        (void)pthread_mutex_lock(&collect.lock);
        collector->next = collect.first;
        collect.first = collector;
        (void)pthread_mutex_unlock(&collect.lock);
    }
    (void)pthread_mutex_unlock(&collect.control);
    return result;
}

/* Counts what was dropped for everybody who collects: CUPTI does not say of which device. */
static void share_dropped(const struct nvidia_cupti *cupti)
{
    const uint64_t dropped = take_dropped(cupti);

    (void)pthread_mutex_lock(&collect.lock);
    for (struct nvidia_collector *at = dropped > 0 ? collect.first : NULL; at; at = at->next)
        at->lose(at, dropped);
    (void)pthread_mutex_unlock(&collect.lock);
}

void nvidia_collect_end(struct nvidia_collector *collector)
{
    struct nvidia_collector **at = &collect.first;
    const struct nvidia_cupti *cupti;

    (void)pthread_mutex_lock(&collect.control);
    cupti = collect.cupti;
    if (collect.first == collector && !collector->next)
        disable(cupti, KINDS);
    (void)cupti->cuptiActivityFlushAll(FORCED);
    share_dropped(cupti);
    (void)pthread_mutex_lock(&collect.lock);
    while (*at && *at != collector)
        at = &(*at)->next;
    if (*at)
        *at = collector->next;
    (void)pthread_mutex_unlock(&collect.lock);
    (void)pthread_mutex_unlock(&collect.control);
}

void nvidia_collect_flush(void)
{
    (void)pthread_mutex_lock(&collect.control);
    if (collect.first) {
        (void)collect.cupti->cuptiActivityFlushAll(COMPLETE);
        share_dropped(collect.cupti);
    }
    (void)pthread_mutex_unlock(&collect.control);
}

const char *nvidia_collect_name(uint64_t number)
{
    const char *text;

    (void)pthread_mutex_lock(&collect.lock);
    text = nvidia_names_text(&collect.names, number);
    (void)pthread_mutex_unlock(&collect.lock);
    return text;
}
