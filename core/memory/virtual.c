/* zeVirtualMem..., zePhysicalMem...: reservations, memory without an address, and mappings. */
#include "core/memory/memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

struct reservation {
    uintptr_t base;
    size_t size_bytes;
    struct zeta_backend *backend;
    bool busy; /* a thread changes it */
    uint32_t count;
    uint32_t room;
    struct zeta_virtual_mapping *mappings; /* in order, not overlapping */
};

struct zeta_virtual_table {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a reservation is no longer busy */
    void *tree;             /* of struct reservation, for tsearch */
    struct zeta_physical *physicals;
};

/* A change in progress: the reservation is ours until the end. */
struct change {
    struct zeta_virtual_table *table;
    struct reservation *reservation;
    uintptr_t begin;
    uintptr_t end;
};

/* Ranges that overlap count as equal. */
static int compare_ranges(const void *left, const void *right)
{
    const struct reservation *a = left;
    const struct reservation *b = right;

    if (a->base + a->size_bytes <= b->base)
        return -1;
    if (b->base + b->size_bytes <= a->base)
        return 1;
    return 0;
}

static struct reservation *find_locked(struct zeta_virtual_table *table, uintptr_t address)
{
    const struct reservation key = {.base = address, .size_bytes = 1};
    void *node = tfind(&key, &table->tree, compare_ranges);

    return node ? *(struct reservation **)node : NULL;
}

/* Index of the first mapping that ends behind the address. */
static uint32_t first_behind(const struct reservation *r, uintptr_t address)
{
    uint32_t low = 0;
    uint32_t high = r->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (r->mappings[middle].base + r->mappings[middle].size_bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zeta_virtual_table *zeta_virtual_table_create(void)
{
    struct zeta_virtual_table *table = calloc(1, sizeof(*table));

    if (table) {
        (void)pthread_mutex_init(&table->lock, NULL);
        (void)pthread_cond_init(&table->changed, NULL);
    }
    return table;
}

/* Counts a piece of physical memory that is mapped from now on, or no more. */
static void count_piece(const struct zeta_virtual_mapping *piece, bool is_new)
{
    if (!piece->physical)
        return;
    if (is_new)
        atomic_fetch_add(&piece->physical->mappings, 1);
    else
        atomic_fetch_sub(&piece->physical->mappings, 1);
}

/* Unmaps all of it and gives the addresses back. */
static uint32_t end_reservation(struct reservation *r)
{
    struct zeta_backend *backend = r->backend;
    void *base = (void *)r->base;
    size_t size_bytes = r->size_bytes;
    bool mapped = false;

    for (uint32_t i = 0; i < r->count; i++) {
        count_piece(&r->mappings[i], false);
        mapped = mapped || r->mappings[i].physical;
    }
    free(r->mappings);
    free(r);
    if (mapped)
        (void)backend->compute.virtual_unmap(backend->self, base, size_bytes);
    return backend->compute.virtual_free(backend->self, base, size_bytes);
}

static void unlink_physical(struct zeta_virtual_table *table, struct zeta_physical *physical)
{
    (void)pthread_mutex_lock(&table->lock);
    *physical->link = physical->next;
    if (physical->next)
        physical->next->link = physical->link;
    (void)pthread_mutex_unlock(&table->lock);
}

void zeta_virtual_table_destroy(struct zeta_virtual_table *table)
{
    if (!table)
        return;
    while (table->tree) {
        struct reservation *first = *(struct reservation **)table->tree;

        (void)tdelete(first, &table->tree, compare_ranges);
        (void)end_reservation(first);
    }
    while (table->physicals) {
        struct zeta_physical *first = table->physicals;

        unlink_physical(table, first);
        zeta_object_discard(first);
    }
    (void)pthread_cond_destroy(&table->changed);
    (void)pthread_mutex_destroy(&table->lock);
    free(table);
}

bool zeta_virtual_find(struct zeta_virtual_table *table, const void *address,
                       struct zeta_virtual_mapping *out_mapping)
{
    bool found = false;

    (void)pthread_mutex_lock(&table->lock);
    const struct reservation *r = find_locked(table, (uintptr_t)address);
    if (r) {
        uint32_t index = first_behind(r, (uintptr_t)address);

        found = index < r->count && r->mappings[index].physical &&
                r->mappings[index].base <= (uintptr_t)address;
        if (found)
            *out_mapping = r->mappings[index];
    }
    (void)pthread_mutex_unlock(&table->lock);
    return found;
}

/*
 * Page size of a device (or of the context, NULL) for memory of a size. UNSUPPORTED_FEATURE when
 * its backend has no virtual memory.
 */
static ze_result_t page_size(const struct zeta_context *context, struct zeta_device *device,
                             size_t size_bytes, size_t *out_page_bytes)
{
    const struct zeta_device *limits = zeta_memory_device(context, device);
    const struct zeta_backend *backend = context->driver->compute;
    uint64_t page = 0;

    if (backend && limits)
        page = backend->compute.virtual_page_bytes(
            backend->self, limits->backend->providers[ZETA_GROUP_COMPUTE].device, size_bytes);
    if (page == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the devices of driver %s have no virtual memory", context->driver->name);
    *out_page_bytes = (size_t)page;
    return ZE_RESULT_SUCCESS;
}

/* Page alignment of an address and a size. */
static ze_result_t check_pages(const struct zeta_context *context, const void *ptr, size_t size,
                               size_t *out_page_bytes)
{
    ze_result_t result = page_size(context, NULL, size, out_page_bytes);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((uintptr_t)ptr % *out_page_bytes != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                          "address %p is not aligned to pages of %zu bytes", ptr, *out_page_bytes);
    if (size % *out_page_bytes != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                          "size %zu is not a multiple of the page size %zu", size, *out_page_bytes);
    return ZE_RESULT_SUCCESS;
}

/* Begins a change of [ptr, ptr + size), which lies inside one reservation. */
static ze_result_t begin_change(struct zeta_context *context, const void *ptr, size_t size,
                                struct change *out_change)
{
    struct zeta_virtual_table *table = context->virtual_memory;
    uintptr_t begin = (uintptr_t)ptr;
    size_t page = 0;
    ze_result_t result = check_pages(context, ptr, size, &page);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&table->lock);
    struct reservation *r = find_locked(table, begin);
    while (r && r->busy) {
        (void)pthread_cond_wait(&table->changed, &table->lock);
        r = find_locked(table, begin);
    }
    bool inside = r && size <= r->size_bytes - (begin - r->base);
    if (inside)
        r->busy = true;
    (void)pthread_mutex_unlock(&table->lock);
    if (!inside)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          r ? "%zu bytes at %p reach beyond the reservation that holds the address"
                            : "%zu bytes at %p are not reserved in this context",
                          size, ptr);
    *out_change = (struct change){table, r, begin, begin + size};
    return ZE_RESULT_SUCCESS;
}

static void end_change(const struct change *change)
{
    (void)pthread_mutex_lock(&change->table->lock);
    change->reservation->busy = false;
    (void)pthread_cond_broadcast(&change->table->changed);
    (void)pthread_mutex_unlock(&change->table->lock);
}

/* Makes room for more mappings, so that nothing fails once the backend did its part. */
static ze_result_t make_room(const struct change *change, uint32_t more)
{
    struct reservation *r = change->reservation;
    ze_result_t result = ZE_RESULT_SUCCESS;

    (void)pthread_mutex_lock(&change->table->lock);
    if (r->room - r->count < more) {
        uint32_t room = 2 * (r->count + more);
        struct zeta_virtual_mapping *grown = realloc(r->mappings, room * sizeof(*grown));

        if (grown) {
            r->mappings = grown;
            r->room = room;
        } else {
            result = zeta_error_no_memory("a mapping");
        }
    }
    (void)pthread_mutex_unlock(&change->table->lock);
    return result;
}

static void insert_locked(struct reservation *r, uint32_t index,
                          const struct zeta_virtual_mapping *mapping)
{
    memmove(&r->mappings[index + 1], &r->mappings[index],
            (r->count - index) * sizeof(*r->mappings));
    r->mappings[index] = *mapping;
    r->count++;
    count_piece(mapping, true);
}

/* Makes two of the mapping that has the address inside, if there is one; there is room. */
static void cut_locked(struct reservation *r, uintptr_t address)
{
    uint32_t index = first_behind(r, address);

    if (index == r->count || r->mappings[index].base >= address)
        return;
    struct zeta_virtual_mapping *front = &r->mappings[index];
    struct zeta_virtual_mapping back = *front;

    front->size_bytes = address - front->base;
    back.base = address;
    back.size_bytes -= front->size_bytes;
    back.offset_bytes += front->size_bytes;
    insert_locked(r, index + 1, &back);
}

/*
 * The first addresses of the change, from an address on, where memory is mapped without a gap;
 * false if there are none. Only for who has the reservation.
 */
static bool next_run(const struct change *change, uintptr_t from, uintptr_t *out_begin,
                     uintptr_t *out_end)
{
    const struct reservation *r = change->reservation;
    uint32_t i = first_behind(r, from);

    while (i < r->count && !r->mappings[i].physical)
        i++;
    if (from >= change->end || i == r->count || r->mappings[i].base >= change->end)
        return false;
    uintptr_t begin = r->mappings[i].base > from ? r->mappings[i].base : from;
    uintptr_t end = begin;
    for (; i < r->count && r->mappings[i].physical && r->mappings[i].base <= end; i++)
        end = r->mappings[i].base + r->mappings[i].size_bytes;
    *out_begin = begin;
    *out_end = end < change->end ? end : change->end;
    return true;
}

/* Removes what is noted inside the change; there is room. */
static void forget_locked(const struct change *change)
{
    struct reservation *r = change->reservation;

    cut_locked(r, change->begin);
    cut_locked(r, change->end);
    uint32_t first = first_behind(r, change->begin);
    uint32_t end = first;
    while (end < r->count && r->mappings[end].base < change->end)
        count_piece(&r->mappings[end++], false);
    if (end > first)
        memmove(&r->mappings[first], &r->mappings[end], (r->count - end) * sizeof(*r->mappings));
    r->count -= end - first;
}

ze_result_t ZE_APICALL impl_zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                                      ze_device_handle_t hDevice, size_t size,
                                                      size_t *pagesize)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    ze_result_t result = zeta_context_check_device(context, device);

    return result == ZE_RESULT_SUCCESS ? page_size(context, device, size, pagesize) : result;
}

ze_result_t ZE_APICALL impl_zeVirtualMemReserve(ze_context_handle_t hContext, const void *pStart,
                                                size_t size, void **pptr)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_virtual_table *table = context->virtual_memory;
    struct zeta_backend *backend = context->driver->compute;
    void *address = NULL;
    size_t page = 0;
    ze_result_t result = check_pages(context, NULL, size, &page);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    ZETA_CLEANUP(zeta_freep) struct reservation *r = calloc(1, sizeof(*r));
    if (!r)
        return zeta_error_no_memory("a reservation");
    /* A start that is no page is a request that cannot be granted, like others. */
    uint32_t code = backend->compute.virtual_reserve(
        backend->self, (void *)((uintptr_t)pStart / page * page), size, &address);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reserving addresses");
    r->base = (uintptr_t)address;
    r->size_bytes = size;
    r->backend = backend;
    (void)pthread_mutex_lock(&table->lock);
    struct reservation *const *node = tsearch(r, &table->tree, compare_ranges);
    (void)pthread_mutex_unlock(&table->lock);
    if (!node || *node != r) {
        (void)backend->compute.virtual_free(backend->self, address, size);
        return zeta_error_no_memory("a reservation");
    }
    (void)ZETA_TAKE(r);
    *pptr = address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr,
                                             size_t size)
{
    struct change change;
    ze_result_t result = begin_change((struct zeta_context *)hContext, ptr, size, &change);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct reservation *r = change.reservation;
    if (r->base != change.begin || r->size_bytes != size) {
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "a reservation is freed as a whole: this one has %zu bytes at %p, not "
                            "%zu at %p",
                            r->size_bytes, (void *)r->base, size, ptr);
        end_change(&change);
        return result;
    }
    struct zeta_backend *backend = r->backend;
    (void)pthread_mutex_lock(&change.table->lock);
    (void)tdelete(r, &change.table->tree, compare_ranges);
    (void)pthread_cond_broadcast(&change.table->changed);
    (void)pthread_mutex_unlock(&change.table->lock);
    return zeta_backend_result(backend, end_reservation(r), "freeing reserved addresses");
}

static ze_result_t check_owner(const struct zeta_physical *physical,
                               const struct zeta_context *context)
{
    if (physical->context == context)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "the physical memory belongs to another context");
}

ze_result_t ZE_APICALL impl_zeVirtualMemMap(ze_context_handle_t hContext, const void *ptr,
                                            size_t size, ze_physical_mem_handle_t hPhysicalMemory,
                                            size_t offset, ze_memory_access_attribute_t access)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    const struct zeta_backend *backend = context->driver->compute;
    struct zeta_physical *physical = (struct zeta_physical *)hPhysicalMemory;
    const struct zeta_virtual_mapping mapping = {.base = (uintptr_t)ptr,
                                                 .size_bytes = size,
                                                 .physical = physical,
                                                 .offset_bytes = offset,
                                                 .access = access};
    struct change change;
    uintptr_t begin, end;
    size_t page = 0;
    ze_result_t result = check_pages(context, ptr, size, &page);

    if (result == ZE_RESULT_SUCCESS)
        result = check_owner(physical, context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (offset % page != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                          "offset %zu is not aligned to pages of %zu bytes", offset, page);
    if (offset > physical->size_bytes || size > physical->size_bytes - offset)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%zu bytes from offset %zu reach beyond the %zu bytes of the physical "
                          "memory",
                          size, offset, physical->size_bytes);
    result = begin_change(context, ptr, size, &change);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (next_run(&change, change.begin, &begin, &end))
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "something is mapped in %zu bytes at %p; unmap it first", size, ptr);
    else
        result = make_room(&change, 3);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_backend_result(
            backend,
            backend->compute.virtual_map(backend->self, (void *)(uintptr_t)ptr, size,
                                         physical->plugin_physical, offset, (uint32_t)access),
            "mapping physical memory");
    if (result == ZE_RESULT_SUCCESS) {
        (void)pthread_mutex_lock(&change.table->lock);
        forget_locked(&change);
        insert_locked(change.reservation, first_behind(change.reservation, mapping.base), &mapping);
        (void)pthread_mutex_unlock(&change.table->lock);
    }
    end_change(&change);
    return result;
}

ze_result_t ZE_APICALL impl_zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr,
                                              size_t size)
{
    struct change change;
    uintptr_t begin, end;
    ze_result_t result = begin_change((struct zeta_context *)hContext, ptr, size, &change);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_backend *backend = change.reservation->backend;
    result = make_room(&change, 2);
    if (result == ZE_RESULT_SUCCESS && next_run(&change, change.begin, &begin, &end))
        result = zeta_backend_result(
            backend, backend->compute.virtual_unmap(backend->self, (void *)(uintptr_t)ptr, size),
            "unmapping physical memory");
    if (result == ZE_RESULT_SUCCESS) {
        (void)pthread_mutex_lock(&change.table->lock);
        forget_locked(&change);
        (void)pthread_mutex_unlock(&change.table->lock);
    }
    end_change(&change);
    return result;
}

/* Notes the access of all that lies inside the change, mapped or not; there is room. */
static void note_access_locked(const struct change *change, ze_memory_access_attribute_t access)
{
    struct reservation *r = change->reservation;

    cut_locked(r, change->begin);
    cut_locked(r, change->end);
    uint32_t i = first_behind(r, change->begin);
    for (uintptr_t at = change->begin; at < change->end; i++) {
        uintptr_t next =
            i < r->count && r->mappings[i].base < change->end ? r->mappings[i].base : change->end;

        if (next > at)
            insert_locked(r, i,
                          &(struct zeta_virtual_mapping){.base = at, .size_bytes = next - at});
        r->mappings[i].access = access;
        at = r->mappings[i].base + r->mappings[i].size_bytes;
    }
}

ze_result_t ZE_APICALL impl_zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext,
                                                           const void *ptr, size_t size,
                                                           ze_memory_access_attribute_t access)
{
    struct change change;
    uintptr_t begin, end;
    ze_result_t result = begin_change((struct zeta_context *)hContext, ptr, size, &change);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    const struct zeta_backend *backend = change.reservation->backend;
    /* Two cuts, and a piece for each gap between what is noted already. */
    result = make_room(&change, change.reservation->count + 3);
    end = change.begin;
    while (result == ZE_RESULT_SUCCESS && next_run(&change, end, &begin, &end))
        result = zeta_backend_result(backend,
                                     backend->compute.virtual_access(backend->self, (void *)begin,
                                                                     end - begin, (uint32_t)access),
                                     "changing the access to memory");
    if (result == ZE_RESULT_SUCCESS) {
        (void)pthread_mutex_lock(&change.table->lock);
        note_access_locked(&change, access);
        (void)pthread_mutex_unlock(&change.table->lock);
    }
    end_change(&change);
    return result;
}

/* Access at the address, and the end of the piece that has it. */
static ze_memory_access_attribute_t piece_at(const struct reservation *r, uintptr_t address,
                                             uintptr_t *out_end)
{
    uint32_t index = first_behind(r, address);
    const struct zeta_virtual_mapping *m = index < r->count ? &r->mappings[index] : NULL;

    if (m && m->base <= address) {
        *out_end = m->base + m->size_bytes;
        return m->access;
    }
    *out_end = m ? m->base : r->base + r->size_bytes;
    return ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
}

ze_result_t ZE_APICALL impl_zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext,
                                                           const void *ptr, size_t size,
                                                           ze_memory_access_attribute_t *access,
                                                           size_t *outSize)
{
    struct change change;
    uintptr_t end = 0;
    uintptr_t next = 0;
    ze_result_t result = begin_change((struct zeta_context *)hContext, ptr, size, &change);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    ze_memory_access_attribute_t first = piece_at(change.reservation, change.begin, &end);
    while (end < change.end && piece_at(change.reservation, end, &next) == first)
        end = next;
    end_change(&change);
    *access = first;
    *outSize = (end < change.end ? end : change.end) - change.begin;
    return ZE_RESULT_SUCCESS;
}

/* ---- memory without an address ---- */

static void finish_physical(void *object)
{
    struct zeta_physical *physical = object;

    zeta_memory_exports_finish(&physical->exports);
    if (physical->plugin_physical)
        physical->backend->compute.physical_destroy(physical->backend->self,
                                                    physical->plugin_physical);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_PHYSICAL_MEM, finish_physical)

/* Calls the backend; on success the memory has the size that was asked for. */
static ze_result_t make_physical(const struct zeta_context *context, const struct zeta_device *on,
                                 bool on_host, size_t size_bytes,
                                 const struct zeta_memory_request *request,
                                 struct zeta_plugin_physical **out_physical)
{
    const struct zeta_backend *backend = context->driver->compute;
    struct zeta_plugin_device *device =
        on ? on->backend->providers[ZETA_GROUP_COMPUTE].device : NULL;
    struct zeta_plugin_share share = {.struct_size = sizeof(share),
                                      .descriptor = request->import_fd};
    uint32_t code;

    if (!request->has_import) {
        code = backend->compute.physical_create(backend->self, on_host ? NULL : device,
                                                on_host ? ZETA_PLUGIN_MEMORY_HOST
                                                        : ZETA_PLUGIN_MEMORY_DEVICE,
                                                size_bytes, out_physical);
        return zeta_backend_result(backend, code, "allocating physical memory");
    }
    code = backend->compute.physical_import(backend->self, device, &share, out_physical);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "importing physical memory");
    if (share.size_bytes == size_bytes)
        return ZE_RESULT_SUCCESS;
    backend->compute.physical_destroy(backend->self, *out_physical);
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                      "descriptor %d is memory of %llu bytes, not of %zu", request->import_fd,
                      (unsigned long long)share.size_bytes, size_bytes);
}

ze_result_t ZE_APICALL impl_zePhysicalMemCreate(ze_context_handle_t hContext,
                                                ze_device_handle_t hDevice,
                                                ze_physical_mem_desc_t *desc,
                                                ze_physical_mem_handle_t *phPhysicalMemory)
{
    const uint32_t both =
        ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE | ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_backend *backend = context->driver->compute;
    struct zeta_memory_request request = {0};
    struct zeta_plugin_physical *made = NULL;
    bool on_host = (desc->flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
    void *object = NULL;
    size_t page = 0;
    ze_result_t result = page_size(context, device, desc->size, &page);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "desc->flags asks for memory of the device and of the host; it can be "
                          "one of them");
    if (!device && !on_host)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "hDevice is null; only memory with the flag ALLOCATE_ON_HOST needs no "
                          "device");
    if (desc->size % page != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                          "desc->size %zu is not a multiple of the page size %zu", desc->size,
                          page);
    if (device)
        result = zeta_context_check_device(context, device);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_request_read(desc->pNext, &request);
    if (result == ZE_RESULT_SUCCESS)
        result = make_physical(context, device, on_host, desc->size, &request, &made);
    if (zeta_memory_is_short(context, result))
        result = make_physical(context, device, on_host, desc->size, &request, &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create(ZETA_KIND_PHYSICAL_MEM, sizeof(struct zeta_physical), &object);
    if (result != ZE_RESULT_SUCCESS) {
        backend->compute.physical_destroy(backend->self, made);
        return result;
    }
    struct zeta_physical *physical = object;
    physical->context = context;
    physical->device = on_host ? NULL : device;
    physical->backend = backend;
    physical->plugin_physical = made;
    physical->id = zeta_memory_next_id();
    physical->size_bytes = desc->size;
    physical->type = on_host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
    physical->export_types = request.export_types;
    struct zeta_virtual_table *table = context->virtual_memory;
    (void)pthread_mutex_lock(&table->lock);
    physical->next = table->physicals;
    physical->link = &table->physicals;
    if (physical->next)
        physical->next->link = &physical->next;
    table->physicals = physical;
    (void)pthread_mutex_unlock(&table->lock);
    *phPhysicalMemory = (ze_physical_mem_handle_t)physical;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zePhysicalMemDestroy(ze_context_handle_t hContext,
                                                 ze_physical_mem_handle_t hPhysicalMemory)
{
    struct zeta_physical *physical = (struct zeta_physical *)hPhysicalMemory;
    ze_result_t result = check_owner(physical, (struct zeta_context *)hContext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (atomic_load(&physical->mappings) != 0)
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the physical memory is mapped in %u pieces; unmap it first",
                          atomic_load(&physical->mappings));
    if (!zeta_object_retire(physical))
        return zeta_object_explain(hPhysicalMemory, ZETA_KIND_PHYSICAL_MEM, "zePhysicalMemDestroy",
                                   "hPhysicalMemory");
    unlink_physical(physical->context->virtual_memory, physical);
    zeta_object_unpin(physical);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zePhysicalMemGetProperties(ze_context_handle_t hContext,
                                                       ze_physical_mem_handle_t hPhysicalMem,
                                                       ze_physical_mem_properties_t *pMemProperties)
{
    const struct zeta_physical *physical = (const struct zeta_physical *)hPhysicalMem;
    ze_result_t result = check_owner(physical, (struct zeta_context *)hContext);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_export_chain(pMemProperties->pNext, physical->export_types,
                                          hPhysicalMem, physical->context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pMemProperties->id = physical->id;
    pMemProperties->size = physical->size_bytes;
    return ZE_RESULT_SUCCESS;
}
