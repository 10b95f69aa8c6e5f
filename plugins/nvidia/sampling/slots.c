#include "plugins/nvidia/sampling/slots.h"

#include <stdlib.h>
#include <string.h>

static size_t head_bytes(const struct nvidia_slots *slots)
{
    return slots->bytes - slots->count * slots->slot_bytes;
}

static uint8_t *slot(const struct nvidia_slots *slots, size_t index)
{
    return slots->image + head_bytes(slots) + index * slots->slot_bytes;
}

/* Whether the slots from one on are alike. */
static bool are_alike(const struct nvidia_slots *slots, size_t first)
{
    size_t i = first + 1;

    while (i < slots->count && memcmp(slot(slots, i), slot(slots, first), slots->slot_bytes) == 0)
        i++;
    return i >= slots->count;
}

void nvidia_slots_remember(struct nvidia_slots *slots)
{
    if (!slots->fresh && !slots->is_otherwise)
        slots->fresh = malloc(head_bytes(slots) + slots->slot_bytes);
    if (slots->fresh)
        memcpy(slots->fresh, slots->image, head_bytes(slots));
}

bool nvidia_slots_return(struct nvidia_slots *slots, size_t used)
{
    uint8_t *const fresh = slots->fresh ? slots->fresh + head_bytes(slots) : NULL;

    if (!fresh || used >= slots->count)
        return false;
    if (!slots->has_slot && are_alike(slots, used)) {
        memcpy(fresh, slot(slots, used), slots->slot_bytes);
        slots->has_slot = true;
    }
    if (!slots->has_slot || memcmp(slot(slots, used), fresh, slots->slot_bytes) != 0) {
        nvidia_slots_distrust(slots);
        return false;
    }
    memcpy(slots->image, slots->fresh, head_bytes(slots));
    for (size_t i = 0; i < used; i++)
        memcpy(slot(slots, i), fresh, slots->slot_bytes);
    return true;
}

void nvidia_slots_distrust(struct nvidia_slots *slots)
{
    nvidia_slots_forget(slots);
    slots->is_otherwise = true;
}

void nvidia_slots_forget(struct nvidia_slots *slots)
{
    free(slots->fresh);
    slots->fresh = NULL;
    slots->has_slot = false;
}
