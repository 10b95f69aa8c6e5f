#include "cache.h"

#include <stdlib.h>
#include <string.h>

static void log_add(struct zeta_vgpu_miss_log *log, uint64_t line, uint32_t eu, bool write)
{
    if (log->count == log->room) {
        uint32_t room = log->room ? log->room * 2 : 1024;
        uint64_t *entries =
            room > log->room ? realloc(log->entries, room * sizeof(*entries)) : NULL;

        if (!entries) {
            log->failed = true;
            return;
        }
        log->entries = entries;
        log->room = room;
    }
    log->entries[log->count++] = line << 8 | (uint64_t)eu << 1 | write;
}

bool zeta_vgpu_l1_init(struct zeta_vgpu_l1 *l1, uint32_t size_bytes)
{
    uint32_t sets = (size_bytes >> ZETA_VGPU_LINE_BITS) / ZETA_VGPU_L1_WAYS;

    memset(l1, 0, sizeof(*l1));
    l1->set_mask = sets - 1;
    l1->tags = calloc((size_t)sets * ZETA_VGPU_L1_WAYS, sizeof(*l1->tags));
    return l1->tags != NULL;
}

void zeta_vgpu_l1_finish(struct zeta_vgpu_l1 *l1)
{
    free(l1->tags);
    free(l1->log.entries);
    memset(l1, 0, sizeof(*l1));
}

void zeta_vgpu_l1_flush(struct zeta_vgpu_l1 *l1)
{
    size_t count = ((size_t)l1->set_mask + 1) * ZETA_VGPU_L1_WAYS;

    for (size_t i = 0; i < count; i++) {
        if (l1->tags[i] & 1)
            log_add(&l1->log, l1->tags[i] >> 1, l1->eu, true);
        l1->tags[i] = 0;
    }
    memset(l1->tlb, 0, sizeof(l1->tlb));
}

/*
 * Searches a line in a set of @ways tags, puts it first and returns true; otherwise makes room
 * for it at the front and gives the tag that fell out. Least recently used goes first.
 */
static bool set_lookup(uint64_t *tags, unsigned ways, uint64_t line, bool write,
                       uint64_t *out_evicted)
{
    uint64_t tag = line << 1 | write;
    unsigned way = 0;
    bool hit;

    while (way < ways - 1 && tags[way] >> 1 != line)
        way++;
    hit = tags[way] >> 1 == line;
    if (hit)
        tag |= tags[way] & 1;
    *out_evicted = hit ? 0 : tags[way];
    memmove(tags + 1, tags, way * sizeof(*tags));
    tags[0] = tag;
    return hit;
}

void zeta_vgpu_l1_access_slow(struct zeta_vgpu_l1 *l1, uint64_t line, bool write)
{
    uint64_t *set = &l1->tags[(line & l1->set_mask) * ZETA_VGPU_L1_WAYS];
    uint64_t page = line >> (12 - ZETA_VGPU_LINE_BITS);
    uint64_t evicted;

    if (set_lookup(set, ZETA_VGPU_L1_WAYS, line, write, &evicted))
        return;
    l1->misses++;
    if (l1->tlb[page % ZETA_VGPU_TLB_SLOTS] != page) {
        l1->tlb[page % ZETA_VGPU_TLB_SLOTS] = page;
        l1->tlb_misses++;
    }
    if (evicted & 1)
        log_add(&l1->log, evicted >> 1, l1->eu, true);
    log_add(&l1->log, line, l1->eu, false);
}

bool zeta_vgpu_icache_grow(struct zeta_vgpu_icache *icache, uint32_t count)
{
    uint8_t *present;

    if (count <= icache->count)
        return true;
    present = realloc(icache->present, count);
    if (!present)
        return false;
    memset(present + icache->count, 0, count - icache->count);
    icache->present = present;
    icache->count = count;
    return true;
}

bool zeta_vgpu_icache_reset(struct zeta_vgpu_icache *icache, uint32_t count)
{
    if (!zeta_vgpu_icache_grow(icache, count))
        return false;
    memset(icache->present, 0, icache->count);
    memset(icache->lines, 0, sizeof(icache->lines));
    return true;
}

void zeta_vgpu_icache_finish(struct zeta_vgpu_icache *icache)
{
    free(icache->present);
    memset(icache, 0, sizeof(*icache));
}

uint32_t zeta_vgpu_icache_fill(struct zeta_vgpu_icache *icache, uint32_t first, uint32_t length)
{
    uint64_t last = ((uint64_t)first + length - 1) / ZETA_VGPU_ICACHE_LINE_INSNS;
    uint32_t misses = 0;
    bool evicted = false;

    for (uint64_t line = first / ZETA_VGPU_ICACHE_LINE_INSNS; line <= last; line++) {
        uint64_t *slot = &icache->lines[line % ZETA_VGPU_ICACHE_LINES];

        if (*slot == line + 1)
            continue;
        evicted |= *slot != 0;
        *slot = line + 1;
        misses++;
    }
    /* Which blocks lost a line is not worth tracking: ask again for all of them. */
    if (evicted)
        memset(icache->present, 0, icache->count);
    icache->present[first] = 1;
    return misses;
}

bool zeta_vgpu_l3_init(struct zeta_vgpu_l3 *l3, uint32_t size_bytes)
{
    uint64_t sets = (size_bytes >> ZETA_VGPU_LINE_BITS) / ZETA_VGPU_L3_WAYS;

    l3->set_mask = sets - 1;
    l3->tags = calloc(sets * ZETA_VGPU_L3_WAYS, sizeof(*l3->tags));
    return l3->tags != NULL;
}

void zeta_vgpu_l3_finish(struct zeta_vgpu_l3 *l3)
{
    free(l3->tags);
    memset(l3, 0, sizeof(*l3));
}

struct zeta_vgpu_l3_result zeta_vgpu_l3_access(struct zeta_vgpu_l3 *l3, uint64_t line, bool write)
{
    uint64_t *set = &l3->tags[(line & l3->set_mask) * ZETA_VGPU_L3_WAYS];
    struct zeta_vgpu_l3_result result;
    uint64_t evicted;

    result.hit = set_lookup(set, ZETA_VGPU_L3_WAYS, line, write, &evicted);
    result.fill = !result.hit && !write;
    result.eviction = (evicted & 1) != 0;
    return result;
}
