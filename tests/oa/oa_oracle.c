#include "tests/oa/oa_oracle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sanitizer.h"

#define LIBRARY "libi915_perf.so.1.5"

/* Offsets in the library's structures, of release 1.27 on 64-bit machines. */
enum {
    DEVICE_SETS = 16, /* head of the circular list of sets */
    DEVICE_EUS = 32 + 176,
    DEVICE_THREADS = 32 + 224,
    DEVICE_SLICE_MASK = 32 + 216,
    DEVICE_CORE_STRIDE = 32 + 236, /* bytes of cores of a slice */
    DEVICE_SLICES = 32 + 244,
    DEVICE_CORES = 32 + 245,
    SET_NAME = 8,
    SET_UUID = 16,
    SET_COUNTERS = 24,
    SET_COUNTER_COUNT = 32,
    SET_BOOLEAN = 80, /* pointer to pairs, and their number behind it */
    SET_MUX = 96,
    SET_FLEX = 112,
    SET_LINK = 128,
    LINK_NEXT = 8,
    COUNTER_SET = 0,
    COUNTER_NAME = 16,
    COUNTER_STORAGE = 32,
    COUNTER_MAXIMUM = 48,
    COUNTER_READ = 56,
    COUNTER_BYTES = 80,
    STORAGE_U64 = 0
};

typedef struct oa_oracle_device *(*open_fn)(uint32_t device, uint32_t revision, uint64_t timestamp,
                                            uint64_t min, uint64_t max, const void *topology);
typedef void (*free_fn)(struct oa_oracle_device *device);
typedef void (*accumulate_fn)(struct oa_oracle_deltas *deltas,
                              const struct oa_oracle_device *device,
                              const struct oa_oracle_set *set, const void *earlier,
                              const void *later);
typedef const char *(*reason_fn)(const struct oa_oracle_device *device, const void *record);

#if HAVE_ADDRESS_SANITIZER
/* The library does not free the lists of registers of its sets. Asked by the sanitizer at the end.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libi915_perf";
}
#endif

static struct {
    open_fn open;
    free_fn free;
    accumulate_fn accumulate;
    reason_fn reason;
    void (*reload)(struct oa_oracle_device *device);
    void *handle;
} library;

static uint32_t u32_at(const void *object, size_t offset)
{
    uint32_t value;

    memcpy(&value, (const char *)object + offset, sizeof(value));
    return value;
}

static uint64_t u64_at(const void *object, size_t offset)
{
    uint64_t value;

    memcpy(&value, (const char *)object + offset, sizeof(value));
    return value;
}

static const void *pointer_at(const void *object, size_t offset)
{
    const void *value;

    memcpy(&value, (const char *)object + offset, sizeof(value));
    return value;
}

/** Calls a function for each set until it gives true; NULL if it never does. */
static const struct oa_oracle_set *
search(const struct oa_oracle_device *device,
       bool (*wanted)(const struct oa_oracle_set *set, void *context), void *context)
{
    const char *head = (const char *)device + DEVICE_SETS;
    const char *link = pointer_at(head, LINK_NEXT);

    for (; link != head; link = pointer_at(link, LINK_NEXT)) {
        const struct oa_oracle_set *set = (const void *)(link - SET_LINK);

        if (wanted(set, context))
            return set;
    }
    return NULL;
}

/** Whether the set has two counters that are as far apart as they should be. */
static bool is_laid_out(const struct oa_oracle_set *set, void *context)
{
    const char *first = pointer_at(set, SET_COUNTERS);

    (void)context;
    return u32_at(set, SET_COUNTER_COUNT) >= 2 && pointer_at(first, COUNTER_SET) == set &&
           pointer_at(first + COUNTER_BYTES, COUNTER_SET) == set;
}

static bool has_known_layout(void)
{
    const struct oa_oracle_shape shape = {0x9a49, 0, 19200000, 300000000, 1300000000,
                                          1,      6, 16,       {63}};
    struct oa_oracle_device *device = oa_oracle_open(&shape);
    const bool known = device && search(device, is_laid_out, NULL) && oa_oracle_eus(device) == 96;

    if (device)
        oa_oracle_close(device);
    return known;
}

/** Data pointers to functions, as POSIX allows it. */
static bool resolve(void *handle, const char *name, void *out_function)
{
    void *symbol = dlsym(handle, name);

    memcpy(out_function, &symbol, sizeof(symbol));
    return symbol != NULL;
}

const char *oa_oracle_load(void)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        return LIBRARY " is not installed (Debian: intel-gpu-tools)";
    if (!resolve(handle, "intel_perf_for_devinfo", &library.open) ||
        !resolve(handle, "intel_perf_free", &library.free) ||
        !resolve(handle, "intel_perf_accumulate_reports", &library.accumulate) ||
        !resolve(handle, "intel_perf_read_report_reason", &library.reason))
        return LIBRARY " lacks functions of release 1.27";
    library.handle = handle;
    return has_known_layout() ? NULL : LIBRARY " is not laid out as in release 1.27";
}

/** The kernel's topology block: a head of 16 bytes, then masks of slices, subslices and EUs. */
struct oa_oracle_device *oa_oracle_open(const struct oa_oracle_shape *shape)
{
    const uint32_t row = (shape->subslice_count + 7) / 8, eu_row = (shape->eu_count + 7) / 8;
    const uint32_t subslices_at = 1, eus_at = subslices_at + shape->slices * row;
    const uint16_t head[8] = {
        0,
        (uint16_t)shape->slices,
        (uint16_t)shape->subslice_count,
        (uint16_t)shape->eu_count,
        (uint16_t)subslices_at,
        (uint16_t)row,
        (uint16_t)eus_at,
        (uint16_t)eu_row,
    };
    const size_t size =
        sizeof(head) + eus_at + (size_t)shape->slices * shape->subslice_count * eu_row;
    unsigned char *block = calloc(1, size);
    unsigned char *data = block + sizeof(head);
    struct oa_oracle_device *device;

    if (!block)
        return NULL;
    memcpy(block, head, sizeof(head));
    for (uint32_t s = 0; s < shape->slices; s++) {
        if (shape->subslices[s] != 0)
            data[0] |= (unsigned char)(1u << s);
        for (uint32_t ss = 0; ss < shape->subslice_count; ss++) {
            const uint32_t at = eus_at + (s * shape->subslice_count + ss) * eu_row;

            if (!(shape->subslices[s] >> ss & 1))
                continue;
            data[subslices_at + s * row + ss / 8] |= (unsigned char)(1u << ss % 8);
            for (uint32_t eu = 0; eu < shape->eu_count; eu++)
                data[at + eu / 8] |= (unsigned char)(1u << eu % 8);
        }
    }
    device = library.open(shape->device_id, shape->revision, shape->timestamp_hz, shape->min_hz,
                          shape->max_hz, block);
    free(block);
    return device;
}

void oa_oracle_close(struct oa_oracle_device *device)
{
    library.free(device);
}

void oa_oracle_fill(struct oa_oracle_device *device, const char *platform, const uint8_t cores[8])
{
    char *bytes = (char *)device, *head = bytes + DEVICE_SETS;
    const void *const empty = head;
    const uint16_t stride = 1;
    uint64_t slices = 0;
    char name[64];

    for (uint32_t s = 0; s < 8; s++)
        slices |= (uint64_t)(cores[s] != 0) << s;
    memcpy(bytes + DEVICE_SLICE_MASK, &slices, sizeof(slices));
    memcpy(bytes + DEVICE_CORE_STRIDE, &stride, sizeof(stride));
    memcpy(bytes + DEVICE_SLICES, &slices, 1);
    memcpy(bytes + DEVICE_CORES, cores, 8);
    /* An empty list; the sets that were there are the library's to lose. */
    memcpy(head, &empty, sizeof(empty));
    memcpy(head + LINK_NEXT, &empty, sizeof(empty));
    (void)snprintf(name, sizeof(name), "intel_perf_load_metrics_%s", platform);
    if (!resolve(library.handle, name, &library.reload))
        abort();
    library.reload(device);
}

uint64_t oa_oracle_eus(const struct oa_oracle_device *device)
{
    return u64_at(device, DEVICE_EUS);
}

uint64_t oa_oracle_threads(const struct oa_oracle_device *device)
{
    return u64_at(device, DEVICE_THREADS);
}

static bool has_uuid(const struct oa_oracle_set *set, void *uuid)
{
    return strcmp(pointer_at(set, SET_UUID), uuid) == 0;
}

const struct oa_oracle_set *oa_oracle_find(const struct oa_oracle_device *device, const char *uuid)
{
    char text[37] = "";

    (void)strncpy(text, uuid, sizeof(text) - 1);
    return search(device, has_uuid, text);
}

const struct oa_oracle_set *oa_oracle_next(const struct oa_oracle_device *device,
                                           const struct oa_oracle_set *set)
{
    const char *head = (const char *)device + DEVICE_SETS;
    const char *link = pointer_at(set ? (const char *)set + SET_LINK : head, LINK_NEXT);

    return link == head ? NULL : (const void *)(link - SET_LINK);
}

const char *oa_oracle_set_name(const struct oa_oracle_set *set)
{
    return pointer_at(set, SET_NAME);
}

const char *oa_oracle_set_uuid(const struct oa_oracle_set *set)
{
    return pointer_at(set, SET_UUID);
}

uint32_t oa_oracle_counter_count(const struct oa_oracle_set *set)
{
    return u32_at(set, SET_COUNTER_COUNT);
}

const struct oa_oracle_counter *oa_oracle_counter(const struct oa_oracle_set *set, uint32_t index)
{
    const char *counters = pointer_at(set, SET_COUNTERS);

    return (const void *)(counters + (size_t)index * COUNTER_BYTES);
}

const char *oa_oracle_counter_name(const struct oa_oracle_counter *counter)
{
    return pointer_at(counter, COUNTER_NAME);
}

uint32_t oa_oracle_register_count(const struct oa_oracle_set *set)
{
    return u32_at(set, SET_MUX + 8) + u32_at(set, SET_BOOLEAN + 8) + u32_at(set, SET_FLEX + 8);
}

void oa_oracle_register(const struct oa_oracle_set *set, uint32_t index, uint32_t *out_address,
                        uint32_t *out_value)
{
    static const size_t lists[] = {SET_MUX, SET_BOOLEAN, SET_FLEX};
    size_t list = 0;
    const char *pairs;

    while (index >= u32_at(set, lists[list] + 8))
        index -= u32_at(set, lists[list++] + 8);
    pairs = pointer_at(set, lists[list]);
    *out_address = u32_at(pairs, (size_t)index * 8);
    *out_value = u32_at(pairs, (size_t)index * 8 + 4);
}

void oa_oracle_accumulate(const struct oa_oracle_device *device, const struct oa_oracle_set *set,
                          const unsigned char *earlier, const unsigned char *later,
                          struct oa_oracle_deltas *out_deltas)
{
    library.accumulate(out_deltas, device, set, earlier, later);
}

/** The counter's function at the offset: which type it gives, the counter says. */
static struct oa_oracle_function function_at(const struct oa_oracle_counter *counter, size_t offset)
{
    struct oa_oracle_function function = {0};
    const char *at = (const char *)counter + offset;

    if (u32_at(counter, COUNTER_STORAGE) == STORAGE_U64)
        memcpy(&function.u64, at, sizeof(function.u64));
    else
        memcpy(&function.f64, at, sizeof(function.f64));
    return function;
}

struct oa_oracle_function oa_oracle_function(const struct oa_oracle_counter *counter)
{
    return function_at(counter, COUNTER_READ);
}

static struct oa_oracle_value call(const struct oa_oracle_device *device,
                                   const struct oa_oracle_set *set,
                                   const struct oa_oracle_counter *counter, size_t offset,
                                   struct oa_oracle_deltas *deltas)
{
    const struct oa_oracle_function function = function_at(counter, offset);
    struct oa_oracle_value value = {.is_float = !function.u64};

    if (function.u64)
        value.u = function.u64(device, set, deltas->deltas);
    else
        value.f = function.f64(device, set, deltas->deltas);
    return value;
}

struct oa_oracle_value oa_oracle_read(const struct oa_oracle_device *device,
                                      const struct oa_oracle_set *set,
                                      const struct oa_oracle_counter *counter,
                                      struct oa_oracle_deltas *deltas)
{
    return call(device, set, counter, COUNTER_READ, deltas);
}

bool oa_oracle_maximum(const struct oa_oracle_device *device, const struct oa_oracle_set *set,
                       const struct oa_oracle_counter *counter, struct oa_oracle_deltas *deltas,
                       struct oa_oracle_value *out_value)
{
    if (!pointer_at(counter, COUNTER_MAXIMUM))
        return false;
    *out_value = call(device, set, counter, COUNTER_MAXIMUM, deltas);
    return true;
}

const char *oa_oracle_reason(const struct oa_oracle_device *device, const unsigned char *record)
{
    return library.reason(device, record);
}
