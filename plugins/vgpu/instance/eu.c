#include "instance_priv.h"

/* A request in one word: 0 is none. */
static uint64_t pack(const struct zeta_vgpu_eu_request *request)
{
    return request->used ? UINT64_C(1) << 63 | (uint64_t)request->eu << 16 | request->counter : 0;
}

uint64_t
zeta_vgpu_instance_request_eus(struct zeta_vgpu_instance *instance, uint32_t tile, uint32_t unit,
                               const struct zeta_vgpu_eu_request requests[ZETA_VGPU_EU_REQUESTS])
{
    struct zeta_vgpu_eu_wanted *wanted = &instance->segment->eu_wanted[tile][unit];
    uint64_t number;

    if (!zeta_vgpu_instance_lock(instance))
        return 0;
    number = atomic_fetch_add(&instance->segment->eu_numbers, 1) + 1;
    atomic_store(&wanted->number, 0);
    for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++)
        atomic_store(&wanted->requests[i], pack(&requests[i]));
    atomic_store(&wanted->number, number);
    zeta_vgpu_instance_unlock(instance);
    return number;
}

void zeta_vgpu_instance_withdraw_eus(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit)
{
    atomic_store(&instance->segment->eu_wanted[tile][unit].number, 0);
}

uint64_t zeta_vgpu_instance_eu_request_number(const struct zeta_vgpu_instance *instance,
                                              uint32_t tile, uint32_t unit)
{
    return atomic_load_explicit(&instance->segment->eu_wanted[tile][unit].number,
                                memory_order_acquire);
}

bool zeta_vgpu_instance_eu_request(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number,
                                   struct zeta_vgpu_eu_request *out_request)
{
    const struct zeta_vgpu_eu_wanted *wanted = &instance->segment->eu_wanted[tile][unit];
    const uint64_t word = atomic_load(&wanted->requests[index]);

    out_request->used = word != 0;
    out_request->eu = (uint32_t)(word >> 16) & 0xffffu;
    out_request->counter = (uint32_t)word & 0xffffu;
    return out_request->used && atomic_load(&wanted->number) == number;
}

void zeta_vgpu_instance_publish_eu(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number, uint64_t value)
{
    const uint32_t slot = atomic_load_explicit(&instance->slot, memory_order_relaxed);
    struct zeta_vgpu_eu_count *count;

    if (slot == 0)
        return;
    count = &instance->segment->slots[slot - 1].eus[tile][unit][index];
    if (atomic_load_explicit(&count->number, memory_order_relaxed) != number) {
        atomic_store(&count->number, 0);
        atomic_store(&count->value, value);
        atomic_store(&count->number, number);
        return;
    }
    atomic_store_explicit(&count->value, value, memory_order_release);
}
