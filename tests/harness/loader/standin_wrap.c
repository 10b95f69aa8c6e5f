/* Objects of the loader around the handles of drivers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin_priv.h"

#define BUCKETS 4096u

static struct standin_object *objects[STANDIN_KIND_COUNT][BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct standin_object **bucket_of(enum standin_kind kind, const void *handle)
{
    return &objects[kind][((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static struct standin_object *find(enum standin_kind kind, struct standin_driver *driver,
                                   const void *handle)
{
    struct standin_object *object = *bucket_of(kind, handle);

    while (object && (object->handle != handle || object->driver != driver))
        object = object->next;
    return object;
}

static struct standin_object *make(enum standin_kind kind, struct standin_driver *driver,
                                   void *handle)
{
    struct standin_object **bucket = bucket_of(kind, handle);
    struct standin_object *object = malloc(sizeof(*object));

    if (!object) {
        (void)fputs("libze_standin: no memory for an object\n", stderr);
        abort();
    }
    *object = (struct standin_object){
        .prefix = {.core = &standin_wrapped_ze, .tools = &standin_wrapped_zet},
        .driver = driver,
        .handle = handle,
        .next = *bucket};
    *bucket = object;
    STANDIN_COUNT(objects_made);
    STANDIN_COUNT(objects_live);
    return object;
}

void *standin_wrap(enum standin_kind kind, struct standin_driver *driver, void *handle)
{
    struct standin_object *object;

    if (!handle || driver->ddi)
        return handle;
    (void)pthread_mutex_lock(&lock);
    object = find(kind, driver, handle);
    if (!object)
        object = make(kind, driver, handle);
    (void)pthread_mutex_unlock(&lock);
    return object;
}

void *standin_unwrap(const void *object)
{
    return object ? ((const struct standin_object *)object)->handle : NULL;
}

void standin_release(enum standin_kind kind, void *object)
{
    struct standin_object *gone = object;
    struct standin_object **link = bucket_of(kind, gone->handle);

    (void)pthread_mutex_lock(&lock);
    while (*link && *link != gone)
        link = &(*link)->next;
    if (*link)
        *link = gone->next;
    (void)pthread_mutex_unlock(&lock);
    atomic_fetch_sub_explicit(&standin_counters.objects_live, 1, memory_order_relaxed);
    free(gone);
}

void standin_array_unwrap(struct standin_array *array, const void *objects_in, uint32_t count)
{
    void *const *from = objects_in;

    array->handles = NULL;
    if (!from)
        return;
    array->handles = count <= sizeof(array->few) / sizeof(array->few[0])
                         ? array->few
                         : malloc(count * sizeof(*array->handles));
    for (uint32_t i = 0; array->handles && i < count; i++)
        array->handles[i] = standin_unwrap(from[i]);
}

void standin_array_finish(struct standin_array *array)
{
    if (array->handles != array->few)
        free(array->handles);
}
