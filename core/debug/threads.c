#include "core/debug/threads.h"

#include <string.h>

uint32_t zeta_thread_count(const struct zeta_thread_shape *shape)
{
    const uint32_t counts[] = {shape->slices, shape->subslices, shape->eus, shape->threads};
    uint64_t count = 1;

    for (unsigned i = 0; i < 4; i++) {
        count *= counts[i];
        if (count >= UINT32_MAX)
            return 0;
    }
    return (uint32_t)count;
}

enum zeta_thread_scope zeta_thread_scope_of(const struct zeta_thread_shape *shape,
                                            ze_device_thread_t selector)
{
    const uint32_t counts[] = {shape->slices, shape->subslices, shape->eus, shape->threads};
    const uint32_t fields[] = {selector.slice, selector.subslice, selector.eu, selector.thread};
    unsigned wildcards = 0;

    for (unsigned i = 0; i < 4; i++) {
        if (fields[i] == UINT32_MAX)
            wildcards++;
        else if (fields[i] >= counts[i])
            return ZETA_THREAD_NONE;
    }
    if (wildcards == 0)
        return ZETA_THREAD_ONE;
    return wildcards == 4 ? ZETA_THREAD_ALL : ZETA_THREAD_SOME;
}

uint32_t zeta_thread_number(const struct zeta_thread_shape *shape, ze_device_thread_t thread)
{
    return ((thread.slice * shape->subslices + thread.subslice) * shape->eus + thread.eu) *
               shape->threads +
           thread.thread;
}

ze_device_thread_t zeta_thread_at(const struct zeta_thread_shape *shape, uint32_t number)
{
    const uint32_t eu = number / shape->threads;
    const uint32_t subslice = eu / shape->eus;

    return (ze_device_thread_t){.slice = subslice / shape->subslices,
                                .subslice = subslice % shape->subslices,
                                .eu = eu % shape->eus,
                                .thread = number % shape->threads};
}

void zeta_thread_select(const struct zeta_thread_shape *shape, ze_device_thread_t selector,
                        uint64_t *out_mask)
{
    const uint32_t count = zeta_thread_count(shape);

    memset(out_mask, 0, zeta_thread_words(count) * sizeof(*out_mask));
    if (zeta_thread_scope_of(shape, selector) == ZETA_THREAD_ONE) {
        const uint32_t one = zeta_thread_number(shape, selector);

        out_mask[one / 64] |= UINT64_C(1) << one % 64;
        return;
    }
    for (uint32_t number = 0; number < count; number++) {
        const ze_device_thread_t thread = zeta_thread_at(shape, number);

        if ((selector.slice == UINT32_MAX || selector.slice == thread.slice) &&
            (selector.subslice == UINT32_MAX || selector.subslice == thread.subslice) &&
            (selector.eu == UINT32_MAX || selector.eu == thread.eu) &&
            (selector.thread == UINT32_MAX || selector.thread == thread.thread))
            out_mask[number / 64] |= UINT64_C(1) << number % 64;
    }
}
