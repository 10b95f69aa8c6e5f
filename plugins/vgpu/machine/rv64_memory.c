#include "rv64_memory.h"

#include <string.h>

enum {
    /* Spans leave this much out at the end, so that one compare covers every access size. */
    WIDEST_ACCESS = 8
};

static uint64_t span_of(uint64_t size_bytes)
{
    return size_bytes < WIDEST_ACCESS ? 0 : size_bytes - (WIDEST_ACCESS - 1);
}

void zeta_rv64_window_set(struct zeta_rv64_window *window, uint64_t begin, uint64_t size_bytes,
                          void *host)
{
    window->begin = begin;
    window->size_bytes = size_bytes;
    window->span = span_of(size_bytes);
    window->host_delta = host ? (uintptr_t)host - begin : 0;
}

uint32_t zeta_rv64_watched(const struct zeta_rv64_watch watches[ZETA_RV64_WATCHES],
                           uint64_t address, uint64_t size_bytes)
{
    uint32_t kinds = 0;

    for (uint32_t i = 0; i < ZETA_RV64_WATCHES; i++) {
        const struct zeta_rv64_watch *watch = &watches[i];

        if (watch->begin < watch->end && address < watch->end &&
            (address >= watch->begin || watch->begin - address < size_bytes))
            kinds |= watch->kinds;
    }
    return kinds;
}

void zeta_rv64_window_watch(struct zeta_rv64_window *window,
                            const struct zeta_rv64_watch watches[ZETA_RV64_WATCHES])
{
    if (zeta_rv64_watched(watches, window->begin, window->size_bytes) != 0)
        window->span = 0;
}

void zeta_rv64_memory_flush(struct zeta_rv64_memory *memory)
{
    memset(memory->read_pages, 0, sizeof(memory->read_pages));
    memset(memory->write_pages, 0, sizeof(memory->write_pages));
}

static bool window_holds(const struct zeta_rv64_window *window, uint64_t address, uint64_t size)
{
    uint64_t offset = address - window->begin;

    return offset < window->size_bytes && size <= window->size_bytes - offset;
}

/* True if an access that begins in the page of @address may touch a watch. */
static bool is_page_watched(const struct zeta_rv64_watch *watches, uint64_t address)
{
    const uint64_t page_size = UINT64_C(1) << ZETA_RV64_PAGE_BITS;

    return zeta_rv64_watched(watches, address & ~(page_size - 1), page_size + WIDEST_ACCESS - 1) !=
           0;
}

/* Keeps what is known about the page of @address for the next access. */
static void remember(struct zeta_rv64_page *pages, const struct zeta_vgpu_range *range,
                     uint64_t address)
{
    const uint64_t page_size = UINT64_C(1) << ZETA_RV64_PAGE_BITS;
    struct zeta_rv64_page *page = &pages[(address >> ZETA_RV64_PAGE_BITS) % ZETA_RV64_PAGE_SLOTS];
    uint64_t begin = address & ~(page_size - 1);
    uint64_t page_end = begin + page_size;
    uint64_t span;

    if (begin < range->begin)
        begin = range->begin;
    span = span_of(range->end - begin);
    if (span > page_end - begin)
        span = page_end - begin;
    page->begin = begin;
    page->span = span;
    page->model_delta = range->model_begin - range->begin;
}

void *zeta_rv64_memory_slow(struct zeta_rv64_memory *memory, uint64_t address, unsigned size_bits,
                            bool write)
{
    uint64_t size = UINT64_C(1) << size_bits;
    struct zeta_vgpu_range range;

    if (memory->watches && !memory->passes_watches &&
        zeta_rv64_watched(memory->watches, address, size) != 0) {
        memory->watch_hit = true;
        return NULL;
    }
    if (window_holds(&memory->slm, address, size)) {
        memory->accesses[write ? ZETA_RV64_SLM_WRITE : ZETA_RV64_SLM_READ][size_bits]++;
        return (void *)(uintptr_t)(address + memory->slm.host_delta);
    }
    if (window_holds(&memory->stack, address, size)) {
        memory->accesses[ZETA_RV64_PRIVATE][size_bits]++;
        return (void *)(uintptr_t)address;
    }
    if (!zeta_vgpu_space_find(memory->space, address, &range) || (write && !range.writable))
        return NULL;
    /* The rest of an access over the end of a range may lie in a range that touches it. */
    if (size > range.end - address &&
        !zeta_vgpu_space_covers(memory->space, address, size,
                                write ? ZETA_VGPU_ACCESS_WRITE : ZETA_VGPU_ACCESS_READ))
        return NULL;
    if (!memory->watches || !is_page_watched(memory->watches, address))
        remember(write ? memory->write_pages : memory->read_pages, &range, address);
    memory->accesses[write ? ZETA_RV64_GLOBAL_WRITE : ZETA_RV64_GLOBAL_READ][size_bits]++;
    zeta_vgpu_l1_access(memory->l1, address + range.model_begin - range.begin, write);
    return (void *)(uintptr_t)address;
}

const void *zeta_rv64_memory_peek(const struct zeta_rv64_memory *memory, uint64_t address,
                                  uint64_t size_bytes)
{
    if (window_holds(&memory->slm, address, size_bytes))
        return (const void *)(uintptr_t)(address + memory->slm.host_delta);
    if (window_holds(&memory->stack, address, size_bytes) ||
        zeta_vgpu_space_covers(memory->space, address, size_bytes, ZETA_VGPU_ACCESS_READ))
        return (const void *)(uintptr_t)address;
    return NULL;
}
