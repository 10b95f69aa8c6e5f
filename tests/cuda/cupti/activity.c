/*
 * Activity records: of this process, when the work is complete, buffer by buffer of a stream and so
 * not in the order of time. A stream stands for the thread that uses it: it has buffers of its own,
 * unless the program wants them for all threads together.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cuda/cupti/cupti.h"
#include "tests/cuda/cupti/records.h"

#define DECLARE(name, parameters) __attribute__((visibility("default"))) int name parameters;
CUPTI_ACTIVITY_API(DECLARE)
#undef DECLARE

enum { FULL = 1024 /* records that wait: delivered without a flush */, STREAMS = 256 };

enum { PER_THREAD_BUFFER = 9 /* attribute, one byte */ };

/* CUPTI before 12.9 gave none beside a PM session. */
enum { DEAF_UP_TO = 26 };

union record {
    uint32_t kind;
    struct kernel_record kernel;
    struct memcpy_record copy;
    struct memset_record fill;
    struct synchronization_record synchronization;
};

struct pending {
    struct pending *next;
    uint64_t end; /* time of the machine */
    uint32_t stream;
    size_t size;
    union record record;
};

static struct {
    pthread_mutex_t lock;
    activity_request request;
    activity_complete complete;
    bool is_enabled[RECORD_KINDS];
    int64_t offset;
    struct pending *first, **last;
    size_t count, dropped;
    uint32_t in_flight[STREAMS]; /* enqueued and not seen yet */
    bool is_shared;              /* one buffer for all streams */
} activity = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &activity.first};

/* Flushes are one at a time. Names are freed behind the callback. */
static pthread_mutex_t flush_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t size_of(uint32_t kind)
{
    switch (kind) {
    case RECORD_KERNEL:
    case RECORD_CONCURRENT_KERNEL:
        return sizeof(struct kernel_record);
    case RECORD_MEMCPY:
        return sizeof(struct memcpy_record);
    case RECORD_MEMSET:
        return sizeof(struct memset_record);
    default:
        return sizeof(struct synchronization_record);
    }
}

static void write_kernel(struct kernel_record *record, const struct cuda_seen *seen,
                         uint32_t correlation)
{
    *record = (struct kernel_record){.registers = 32,
                                     .start = seen->begin + (uint64_t)activity.offset,
                                     .end = seen->end + (uint64_t)activity.offset,
                                     .completed = seen->end + (uint64_t)activity.offset,
                                     .device = seen->ordinal,
                                     .context = seen->context,
                                     .stream = seen->stream,
                                     .dynamic_shared = (int32_t)seen->dynamic_shared,
                                     .correlation = correlation,
                                     .grid_id = (int64_t)seen->correlation,
                                     .name = strdup(seen->name)};
    for (int i = 0; i < 3; i++) {
        record->grid[i] = (int32_t)seen->grid[i];
        record->block[i] = (int32_t)seen->block[i];
    }
}

static void write_record(union record *record, const struct cuda_seen *seen, uint32_t correlation)
{
    const uint64_t start = seen->begin + (uint64_t)activity.offset;
    const uint64_t end = seen->end + (uint64_t)activity.offset;

    switch (seen->kind) {
    case CUDA_SEEN_KERNEL:
        write_kernel(&record->kernel, seen, correlation);
        record->kind = activity.is_enabled[RECORD_CONCURRENT_KERNEL] ? RECORD_CONCURRENT_KERNEL
                                                                     : RECORD_KERNEL;
        break;
    case CUDA_SEEN_COPY:
        record->copy = (struct memcpy_record){.kind = RECORD_MEMCPY,
                                              .copy_kind = seen->copy_kind,
                                              .from_kind = seen->from_kind,
                                              .to_kind = seen->to_kind,
                                              .bytes = seen->bytes,
                                              .start = start,
                                              .end = end,
                                              .device = seen->ordinal,
                                              .context = seen->context,
                                              .stream = seen->stream,
                                              .correlation = correlation};
        break;
    case CUDA_SEEN_FILL:
        record->fill = (struct memset_record){.kind = RECORD_MEMSET,
                                              .value = seen->value,
                                              .bytes = seen->bytes,
                                              .start = start,
                                              .end = end,
                                              .device = seen->ordinal,
                                              .context = seen->context,
                                              .stream = seen->stream,
                                              .correlation = correlation};
        break;
    case CUDA_SEEN_SYNCHRONIZE:
        /* 3 of a stream, 4 of a context. */
        record->synchronization = (struct synchronization_record){.kind = RECORD_SYNCHRONIZATION,
                                                                  .type = seen->stream > 0 ? 3 : 4,
                                                                  .start = start,
                                                                  .end = end,
                                                                  .correlation = correlation,
                                                                  .context = seen->context,
                                                                  .stream = seen->stream};
        break;
    }
}

static bool is_wanted(const struct cuda_seen *seen)
{
    switch (seen->kind) {
    case CUDA_SEEN_KERNEL:
        return activity.is_enabled[RECORD_KERNEL] || activity.is_enabled[RECORD_CONCURRENT_KERNEL];
    case CUDA_SEEN_COPY:
        return activity.is_enabled[RECORD_MEMCPY];
    case CUDA_SEEN_FILL:
        return activity.is_enabled[RECORD_MEMSET];
    default:
        return activity.is_enabled[RECORD_SYNCHRONIZATION];
    }
}

static bool append(const struct cuda_seen *seen)
{
    struct pending *pending;
    bool is_full;

    (void)pthread_mutex_lock(&activity.lock);
    pending = is_wanted(seen) ? calloc(1, sizeof(*pending)) : NULL;
    if (pending) {
        const bool has_numbers =
            activity.is_enabled[RECORD_DRIVER] || activity.is_enabled[RECORD_RUNTIME];

        pending->end = seen->end;
        pending->stream = seen->stream;
        write_record(&pending->record, seen, has_numbers ? seen->correlation : 0);
        pending->size = size_of(pending->record.kind);
        *activity.last = pending;
        activity.last = &pending->next;
        activity.count++;
    }
    is_full = activity.count >= FULL;
    (void)pthread_mutex_unlock(&activity.lock);
    return is_full;
}

/* Whether work has not ended that has its record in the buffer of a stream. */
static bool is_incomplete_locked(uint32_t stream, uint64_t now)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        if (activity.in_flight[i] > 0 && (activity.is_shared || i == stream % STREAMS))
            return true;
    }
    for (const struct pending *at = activity.first; at; at = at->next) {
        if (at->end > now && (activity.is_shared || at->stream == stream))
            return true;
    }
    return false;
}

/*
 * Takes the complete records of the stream that comes last; NULL: there are none. Unless the flush
 * is forced, a buffer with work that has not ended is left alone.
 */
static struct pending *take_stream(uint64_t now, bool is_forced)
{
    struct pending *taken = NULL, **end = &taken;
    uint32_t stream = 0;

    (void)pthread_mutex_lock(&activity.lock);
    for (const struct pending *at = activity.first; at; at = at->next) {
        if (at->end <= now && at->stream > stream &&
            (is_forced || !is_incomplete_locked(at->stream, now)))
            stream = at->stream;
    }
    if (!is_forced && is_incomplete_locked(stream, now)) {
        (void)pthread_mutex_unlock(&activity.lock);
        return NULL;
    }
    for (struct pending **at = &activity.first; *at;) {
        struct pending *pending = *at;

        if (pending->end > now || pending->stream != stream) {
            at = &pending->next;
            continue;
        }
        *at = pending->next;
        pending->next = NULL;
        *end = pending;
        end = &pending->next;
        activity.count--;
    }
    for (activity.last = &activity.first; *activity.last; activity.last = &(*activity.last)->next)
        ;
    (void)pthread_mutex_unlock(&activity.lock);
    return taken;
}

static void free_record(struct pending *pending)
{
    if (pending->record.kind == RECORD_KERNEL || pending->record.kind == RECORD_CONCURRENT_KERNEL)
        free((void *)(uintptr_t)pending->record.kernel.name);
    free(pending);
}

/* Fills one buffer of the program and gives it back; what did not fit stays in the list. */
static struct pending *deliver(struct pending *records)
{
    struct pending *done = records, *at = records;
    uint8_t *buffer = NULL;
    size_t bytes = 0, max = 0, valid = 0, count = 0;
    activity_request request;
    activity_complete complete;

    (void)pthread_mutex_lock(&activity.lock);
    request = activity.request;
    complete = activity.complete;
    (void)pthread_mutex_unlock(&activity.lock);
    request(&buffer, &bytes, &max);
    while (at && buffer && valid + at->size <= bytes && (max == 0 || count < max)) {
        (void)memcpy(buffer + valid, &at->record, at->size);
        valid += at->size;
        count++;
        at = at->next;
    }
    if (buffer)
        complete(NULL, 0, buffer, bytes, valid);
    /* Nothing fits: they are lost. */
    for (; count == 0 && at; at = at->next) {
        (void)pthread_mutex_lock(&activity.lock);
        activity.dropped++;
        (void)pthread_mutex_unlock(&activity.lock);
    }
    while (done != at) {
        struct pending *next = done->next;

        free_record(done);
        done = next;
    }
    return at;
}

static int flush(bool is_forced)
{
    const struct cuda_shared *shared = cuda_shared();
    bool has_callbacks;

    (void)pthread_mutex_lock(&activity.lock);
    has_callbacks = activity.request != NULL;
    (void)pthread_mutex_unlock(&activity.lock);
    if (!shared || !has_callbacks)
        return CUPTI_INVALID_OPERATION;
    (void)pthread_mutex_lock(&flush_lock);
    for (struct pending *records = take_stream(cuda_time(shared), is_forced); records;
         records = take_stream(cuda_time(shared), is_forced)) {
        while (records)
            records = deliver(records);
    }
    (void)pthread_mutex_unlock(&flush_lock);
    return CUPTI_OK;
}

void activity_enqueued(uint32_t stream)
{
    (void)pthread_mutex_lock(&activity.lock);
    activity.in_flight[stream % STREAMS]++;
    (void)pthread_mutex_unlock(&activity.lock);
}

/* Work that was enqueued before anybody watched is not counted. */
static void leave_flight(const struct cuda_seen *seen)
{
    uint32_t *in_flight = &activity.in_flight[seen->stream % STREAMS];

    if (seen->kind == CUDA_SEEN_SYNCHRONIZE)
        return;
    (void)pthread_mutex_lock(&activity.lock);
    *in_flight -= *in_flight > 0;
    (void)pthread_mutex_unlock(&activity.lock);
}

void activity_seen(const struct cuda_seen *seen)
{
    const struct cuda_shared *shared = cuda_shared();

    leave_flight(seen);
    if (!shared || (shared->description.cupti <= DEAF_UP_TO && sampling_is_open()))
        return;
    if (append(seen))
        (void)flush(true);
}

static int enter(const char *function)
{
    int forced;

    if (cuda_enter(function, &forced))
        return forced;
    return cuda_shared() ? CUPTI_OK : CUPTI_UNKNOWN;
}

#define ENTER_PLAIN()                                                                              \
    do {                                                                                           \
        const int entered = enter(__func__);                                                       \
        if (entered != CUPTI_OK)                                                                   \
            return entered;                                                                        \
    } while (0)

int cuptiActivityRegisterCallbacks(activity_request request, activity_complete complete)
{
    ENTER_PLAIN();
    if (!request || !complete)
        return CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_lock(&activity.lock);
    activity.request = request;
    activity.complete = complete;
    (void)pthread_mutex_unlock(&activity.lock);
    return CUPTI_OK;
}

/* Only before callbacks are registered. */
int cuptiActivitySetAttribute(int attribute, size_t *bytes, void *value)
{
    int result = CUPTI_OK;

    ENTER_PLAIN();
    if (attribute != PER_THREAD_BUFFER || !bytes || *bytes != 1 || !value)
        return CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_lock(&activity.lock);
    if (activity.request)
        result = CUPTI_INVALID_OPERATION;
    else
        activity.is_shared = *(const uint8_t *)value == 0;
    (void)pthread_mutex_unlock(&activity.lock);
    return result;
}

static bool is_kind(int kind)
{
    return (kind >= RECORD_MEMCPY && kind <= RECORD_RUNTIME) || kind == RECORD_CONCURRENT_KERNEL ||
           kind == RECORD_SYNCHRONIZATION;
}

int cuptiActivityEnable(int kind)
{
    ENTER_PLAIN();
    if (!is_kind(kind))
        return CUPTI_INVALID_KIND;
    (void)pthread_mutex_lock(&activity.lock);
    activity.is_enabled[kind] = true;
    activity.offset = cupti_clock_offset();
    (void)pthread_mutex_unlock(&activity.lock);
    return cupti_watch() ? CUPTI_OK : CUPTI_NOT_INITIALIZED;
}

int cuptiActivityDisable(int kind)
{
    ENTER_PLAIN();
    if (!is_kind(kind))
        return CUPTI_INVALID_KIND;
    (void)pthread_mutex_lock(&activity.lock);
    activity.is_enabled[kind] = false;
    (void)pthread_mutex_unlock(&activity.lock);
    return CUPTI_OK;
}

/* *record: NULL for the first one, else the one before; the next begins behind it. */
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
    uint8_t *next = buffer;

    ENTER_PLAIN();
    if (!buffer || !record)
        return CUPTI_INVALID_PARAMETER;
    if (*record)
        next = (uint8_t *)*record + size_of(*(uint32_t *)*record);
    if (next >= buffer + valid)
        return CUPTI_MAX_LIMIT_REACHED;
    *record = next;
    return CUPTI_OK;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    ENTER_PLAIN();
    return flush((flag & 1) != 0);
}

/* Gives buffers that are full, and those are given at once here. */
int cuptiActivityFlushPeriod(uint32_t ms)
{
    (void)ms;
    ENTER_PLAIN();
    return CUPTI_OK;
}

/* Since the last time that it was asked. */
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out)
{
    (void)context;
    (void)stream;
    ENTER_PLAIN();
    if (!out)
        return CUPTI_INVALID_PARAMETER;
    (void)pthread_mutex_lock(&activity.lock);
    *out = activity.dropped;
    activity.dropped = 0;
    (void)pthread_mutex_unlock(&activity.lock);
    return CUPTI_OK;
}
