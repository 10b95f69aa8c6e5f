#include "core/metric/activation/partition.h"

#include <stdlib.h>
#include <string.h>

/** Questions that a search may ask unless the request says how many. */
#define BUDGET 100000u

struct search {
    const struct zeta_partition_request *request;
    uint32_t *members; /**< room for one class */
    uint32_t *class_of;
    uint32_t *best; /**< classes of the best solution so far */
    uint32_t best_count;
    uint32_t budget;
};

/** True if the thing fits the members of a class among the things before it. */
static bool fits(struct search *search, uint32_t thing, uint32_t wanted)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < thing; i++) {
        if (search->class_of[i] == wanted)
            search->members[count++] = i;
    }
    search->members[count++] = thing;
    if (search->budget > 0)
        search->budget--;
    return search->request->fits(search->request->context, search->members, count);
}

/**
 * Depth first through all solutions with fewer classes than the best one, without recursion: tried
 * is the class that a thing is in now, used the number of classes before it was placed.
 */
static void search_all(struct search *search, uint32_t *used)
{
    const uint32_t count = search->request->count;
    uint32_t thing = 0;
    uint32_t next = 0; /* class to try for the thing */

    used[0] = 0;
    while (search->budget > 0 && search->best_count > search->request->least &&
           search->best_count > 1) {
        /* A new class only while it leaves fewer than the best has. */
        while (next < used[thing] && !fits(search, thing, next))
            next++;
        used[thing + 1] = used[thing] + (next == used[thing]);
        if (next <= used[thing] && used[thing + 1] < search->best_count) {
            search->class_of[thing] = next;
            next = 0;
            if (++thing < count)
                continue;
            search->best_count = used[count];
            memcpy(search->best, search->class_of, count * sizeof(*search->best));
        }
        do {
            if (thing == 0)
                return;
            next = search->class_of[--thing] + 1;
        } while (next > used[thing]);
    }
}

ze_result_t zeta_partition(const struct zeta_partition_request *request, uint32_t *out_class,
                           uint32_t *out_class_count)
{
    const size_t count = request->count;
    struct search search = {.request = request, .best = out_class};
    uint32_t *room;

    *out_class_count = 0;
    if (count == 0)
        return ZE_RESULT_SUCCESS;
    room = calloc(3 * count + 1, sizeof(*room));
    if (!room)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    search.members = room;
    search.class_of = room + count;
    /* First each thing goes into the first class that it fits. */
    for (uint32_t thing = 0; thing < count; thing++) {
        uint32_t wanted = 0;

        while (wanted < search.best_count && !fits(&search, thing, wanted))
            wanted++;
        search.class_of[thing] = wanted;
        if (wanted == search.best_count)
            search.best_count++;
    }
    memcpy(search.best, search.class_of, count * sizeof(*search.best));
    search.budget = request->budget > 0 ? request->budget : BUDGET;
    search_all(&search, room + 2 * count);
    *out_class_count = search.best_count;
    free(room);
    return ZE_RESULT_SUCCESS;
}
