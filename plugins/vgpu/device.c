#include "device.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zeta/thread.h>

#include "plugins/vgpu/compiler/compiler.h"
#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/machine/cache.h"
#include "plugins/vgpu/queue/queue.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"
#include "plugins/vgpu/tile/tile.h"

/*
 * Texts are printed as the calls come, so that no buffer can overflow; but who reads 0 takes it
 * that nothing can be printed. OpenCL demands this much.
 */
#define PRINTF_BYTES (1u << 20)

/* The newest SPIR-V that the compiler's translator reads: 1.4. */
#define SPIRV_VERSION (1u << 16 | 4u)

/* Version 1.0 of the virtual hardware. */
#define IP_VERSION 0x10000u

/* RV64 floating point with the F and D extensions. */
#define FP_FLAGS                                                                                   \
    (FP_DENORMALS | FP_INF_NAN | FP_ROUND_NEAREST | FP_ROUND_ZERO | FP_ROUND_INF | FP_FMA |        \
     FP_ROUNDED_DIVIDE_SQRT)

/* Instructions of the device that one processor of the host gets through in a second at most. */
#define FASTEST_HZ UINT64_C(4000000000)

/* What the device library offers for all memory, in cycles of compare and exchange. */
#define FP_ATOMICS                                                                                 \
    (FP_ATOMIC_GLOBAL_LOAD_STORE | FP_ATOMIC_GLOBAL_ADD | FP_ATOMIC_GLOBAL_MIN_MAX |               \
     FP_ATOMIC_LOCAL_LOAD_STORE | FP_ATOMIC_LOCAL_ADD | FP_ATOMIC_LOCAL_MIN_MAX)

/* Numerically ze_device_fp_flags_t, and ze_device_fp_atomic_ext_flags_t. */
enum {
    FP_DENORMALS = 1u << 0,
    FP_INF_NAN = 1u << 1,
    FP_ROUND_NEAREST = 1u << 2,
    FP_ROUND_ZERO = 1u << 3,
    FP_ROUND_INF = 1u << 4,
    FP_FMA = 1u << 5,
    FP_ROUNDED_DIVIDE_SQRT = 1u << 6,
    FP_SOFT = 1u << 7,
    FP_ATOMIC_GLOBAL_LOAD_STORE = 1u << 0,
    FP_ATOMIC_GLOBAL_ADD = 1u << 1,
    FP_ATOMIC_GLOBAL_MIN_MAX = 1u << 2,
    FP_ATOMIC_LOCAL_LOAD_STORE = 1u << 16,
    FP_ATOMIC_LOCAL_ADD = 1u << 17,
    FP_ATOMIC_LOCAL_MIN_MAX = 1u << 18
};

static const uint32_t subgroup_sizes[] = {1};

static const struct zeta_plugin_queue_group queue_groups[ZETA_VGPU_QUEUES_COUNT] = {
    [ZETA_VGPU_QUEUES_COMPUTE] = {sizeof(struct zeta_plugin_queue_group),
                                  ZETA_PLUGIN_QUEUE_COMPUTE | ZETA_PLUGIN_QUEUE_COPY |
                                      ZETA_PLUGIN_QUEUE_COOPERATIVE | ZETA_PLUGIN_QUEUE_METRICS,
                                  ZETA_VGPU_COMPUTE_QUEUES, ZETA_VGPU_PATTERN_BYTES},
    [ZETA_VGPU_QUEUES_COPY] = {sizeof(struct zeta_plugin_queue_group), ZETA_PLUGIN_QUEUE_COPY,
                               ZETA_VGPU_COPY_QUEUES, ZETA_VGPU_PATTERN_BYTES},
};

/*
 * What a counter of bytes counts in a second at most: 8 in each instruction, of which there is one
 * in each clock of an EU in virtual time, or what copy engines move there, and else as many as
 * processors get through.
 */
static uint64_t work_rate(const struct zeta_plugin_device *device, uint64_t eus)
{
    const struct zeta_vgpu_description *d = &device->vgpu->description;
    const uint64_t copied = (uint64_t)ZETA_VGPU_COPY_BYTES_PER_CLOCK * device->tile_count;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (d->clock != ZETA_VGPU_CLOCK_VIRTUAL)
        return 8 * (processors > 0 ? (uint64_t)processors : 1) * FASTEST_HZ;
    return d->core_clock_mhz * UINT64_C(1000000) * (8 * eus > copied ? 8 * eus : copied);
}

/* The symbols that the set files declare as given by the provider. */
static void put_symbols(struct zeta_plugin_device *device)
{
    const struct zeta_vgpu_description *d = &device->vgpu->description;
    const uint64_t subslices = zeta_vgpu_topology_subslices(&d->topology) * device->tile_count;
    const uint64_t eus = subslices * d->topology.eus_per_subslice;
    const struct {
        const char *name;
        uint64_t value;
    } symbols[ZETA_VGPU_SYMBOLS] = {
        {"GpuTimestampFrequency", ZETA_VGPU_TIMER_HZ},
        {"GpuMaxFrequency", d->core_clock_mhz * UINT64_C(1000000)},
        {"EuCoresTotalCount", eus},
        {"EuThreadsCount", d->topology.threads_per_eu},
        {"EuSubslicesTotalCount", subslices},
        {"EuSlicesTotalCount", (uint64_t)d->topology.slices * device->tile_count},
        {"WorkRateLimit", work_rate(device, eus)},
    };

    for (uint32_t i = 0; i < ZETA_VGPU_SYMBOLS; i++) {
        struct zeta_plugin_symbol *symbol = &device->symbols[i];

        symbol->struct_size = sizeof(*symbol);
        symbol->name = (struct zeta_plugin_string){symbols[i].name, strlen(symbols[i].name)};
        symbol->u64 = symbols[i].value;
    }
}

void zeta_vgpu_devices_init(struct zeta_vgpu *vgpu)
{
    const struct zeta_vgpu_description *d = &vgpu->description;

    for (uint32_t i = 0; i < (d->tiles > 1 ? 1 + d->tiles : 1); i++) {
        struct zeta_plugin_device *device = &vgpu->devices[vgpu->device_count++];

        device->vgpu = vgpu;
        device->parent = i == 0 ? UINT32_MAX : 0;
        device->first_tile = i == 0 ? 0 : i - 1;
        device->tile_count = i == 0 ? d->tiles : 1;
        if (i == 0)
            snprintf(device->id, sizeof(device->id), "%s", d->id);
        else
            snprintf(device->id, sizeof(device->id), "%s.%u", d->id, i - 1);

        device->memory.struct_size = sizeof(device->memory);
        device->memory.name.data = "memory of the host";
        device->memory.name.size = strlen(device->memory.name.data);
        device->memory.total_bytes = d->memory_bytes;
        device->memory.max_clock_mhz = d->core_clock_mhz;
        device->memory.bus_width_bits = 8u << ZETA_VGPU_LINE_BITS;
        device->caches[0].struct_size = sizeof(device->caches[0]);
        device->caches[0].size_bytes = d->topology.l1_bytes;
        device->caches[0].line_bytes = 1u << ZETA_VGPU_LINE_BITS;
        device->caches[1].struct_size = sizeof(device->caches[1]);
        device->caches[1].size_bytes = d->topology.l3_bytes;
        device->caches[1].line_bytes = 1u << ZETA_VGPU_LINE_BITS;
        put_symbols(device);
    }
}

uint32_t zeta_vgpu_device_enumerate(struct zeta_plugin *self, uint32_t capacity,
                                    struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    struct zeta_vgpu *vgpu = self->vgpu;

    for (uint32_t i = 0; i < vgpu->device_count && i < capacity; i++)
        out_devices[i] = &vgpu->devices[i];
    *out_count = vgpu->device_count;
    return ZETA_PLUGIN_SUCCESS;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Vendor, device, revision, tile, and what tells devices of several instances apart. */
static void make_uuid(const struct zeta_plugin_device *device, uint8_t uuid[16])
{
    const struct zeta_vgpu_description *d = &device->vgpu->description;
    const uint8_t tile = device->parent == UINT32_MAX ? 0 : (uint8_t)(device->first_tile + 1);
    uint32_t hash = 2166136261u;

    if (d->has_uuid) {
        memcpy(uuid, d->uuid, 16);
        uuid[15] = (uint8_t)(uuid[15] + tile);
        return;
    }
    for (const char *c = d->instance; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    for (const char *c = d->id; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    memset(uuid, 0, 16);
    put_u32(uuid, d->vendor_id);
    put_u32(uuid + 4, d->device_id);
    uuid[8] = (uint8_t)d->revision;
    uuid[9] = tile;
    put_u32(uuid + 12, hash);
}

static void put_identity(const struct zeta_plugin_device *device,
                         struct zeta_plugin_device_properties *p)
{
    const struct zeta_vgpu_description *d = &device->vgpu->description;

    p->name = (struct zeta_plugin_string){d->name, strlen(d->name)};
    p->vendor = (struct zeta_plugin_string){d->vendor, strlen(d->vendor)};
    p->id = (struct zeta_plugin_string){device->id, strlen(device->id)};
    p->type = ZETA_PLUGIN_DEVICE_GPU;
    p->flags = ZETA_PLUGIN_DEVICE_INTEGRATED | ZETA_PLUGIN_DEVICE_READ_ONLY_ENFORCED;
    p->parent = device->parent;
    p->tile = device->parent == UINT32_MAX ? 0 : device->first_tile;
    p->vendor_id = d->vendor_id;
    p->device_id = d->device_id;
    p->revision = d->revision;
    p->has_pci = d->has_pci;
    p->pci_domain = d->pci_domain;
    p->pci_bus = d->pci_bus;
    p->pci_device = d->pci_device;
    p->pci_function = d->pci_function;
    make_uuid(device, p->uuid);
}

static void put_compute(const struct zeta_plugin_device *device,
                        struct zeta_plugin_device_properties *p)
{
    const struct zeta_vgpu_topology *t = &device->vgpu->description.topology;
    const uint32_t limit = zeta_vgpu_topology_group_limit(t);

    p->max_group_size = limit;
    for (unsigned i = 0; i < 3; i++) {
        p->max_group_size_xyz[i] = limit;
        p->max_group_count_xyz[i] = UINT32_MAX;
    }
    p->max_shared_local_bytes = t->slm_bytes;
    p->max_argument_bytes = VGPU_MAX_ARGUMENT_BYTES;
    p->printf_buffer_bytes = PRINTF_BYTES;
    p->spirv_version = zeta_vgpu_compiler_present(device->vgpu->compiler) ? SPIRV_VERSION : 0;
    p->fp16 = 1;
    p->fp64 = 1;
    p->int64_atomics = 1;
    p->subgroup_sizes = (struct zeta_plugin_array){
        subgroup_sizes, sizeof(subgroup_sizes) / sizeof(subgroup_sizes[0]), sizeof(uint32_t)};
    p->queue_groups =
        (struct zeta_plugin_array){queue_groups, ZETA_VGPU_QUEUES_COUNT, sizeof(queue_groups[0])};
    p->memories = (struct zeta_plugin_array){&device->memory, 1, sizeof(device->memory)};
    p->caches = (struct zeta_plugin_array){device->caches, 2, sizeof(device->caches[0])};
    p->ip_version = IP_VERSION;
    p->fp16_flags = FP_FLAGS | FP_SOFT;
    p->fp32_flags = FP_FLAGS;
    p->fp64_flags = FP_FLAGS;
    p->fp32_atomics = FP_ATOMICS;
    p->fp64_atomics = FP_ATOMICS;
}

uint32_t zeta_vgpu_device_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                     struct zeta_plugin_device_properties *out_properties)
{
    const struct zeta_vgpu_description *d = &self->vgpu->description;
    const uint64_t room = out_properties->struct_size;
    struct zeta_plugin_device_properties p = {
        .struct_size = room,
        .timer_hz = ZETA_VGPU_TIMER_HZ,
        .timestamp_valid_bits = ZETA_VGPU_TIMESTAMP_BITS,
        .kernel_timestamp_valid_bits = ZETA_VGPU_TIMESTAMP_BITS,
        .core_clock_mhz = d->core_clock_mhz,
        .slices = d->topology.slices * device->tile_count,
        .subslices_per_slice = d->topology.subslices_per_slice,
        .eus_per_subslice = d->topology.eus_per_subslice,
        .threads_per_eu = d->topology.threads_per_eu,
        .simd_width = 1,
        .max_allocation_bytes = d->memory_bytes,
        .max_hardware_contexts = ZETA_VGPU_SLOTS,
    };

    put_identity(device, &p);
    put_compute(device, &p);
    memcpy(out_properties, &p, room < sizeof(p) ? room : sizeof(p));
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_device_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_clock *out_clock)
{
    struct zeta_vgpu *vgpu = self->vgpu;
    const uint64_t room = out_clock->struct_size;
    struct zeta_plugin_clock clock = {.struct_size = room};
    struct zeta_vgpu_instance *instance;
    uint32_t result = zeta_vgpu_instance_get(vgpu, &instance);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    clock.host_ns = zeta_monotonic_ns();
    if (vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL) {
        clock.device_ticks = zeta_vgpu_ticks(vgpu, device->first_tile);
        clock.error_ns = UINT64_MAX; /* virtual time has no relation to the host's */
    } else {
        /* One reading serves both: the device's clock is the host's, counted in ticks. */
        clock.device_ticks =
            clock.host_ns / ZETA_VGPU_TICK_NS + zeta_vgpu_instance_offset(instance);
        clock.error_ns = ZETA_VGPU_TICK_NS;
    }
    memcpy(out_clock, &clock, room < sizeof(clock) ? room : sizeof(clock));
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_device_status(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    struct zeta_vgpu *vgpu = self->vgpu;

    if (atomic_load(&vgpu->lost))
        return ZETA_PLUGIN_DEVICE_LOST;
    for (uint32_t i = 0; i < device->tile_count; i++) {
        if (atomic_load(&vgpu->tiles[device->first_tile + i].lost_queues) != 0)
            return ZETA_PLUGIN_DEVICE_LOST;
    }
    return ZETA_PLUGIN_SUCCESS;
}
