#include "plugins/vgpu/device/vgpu.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/compiler/compiler.h>

#include "plugins/vgpu/debug/session.h"
#include "plugins/vgpu/debug/target.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/machine/cache.h"
#include "plugins/vgpu/machine/space.h"
#include "plugins/vgpu/memory/memory.h"
#include "plugins/vgpu/memory/pool.h"
#include "plugins/vgpu/queue/queue.h"
#include "plugins/vgpu/runtime/vgpu_abi.h"
#include "plugins/vgpu/sampling/sampling.h"
#include "plugins/vgpu/tile/tile.h"

#define PLUGIN_VERSION "0.1.0"

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

/* ---- devices: the root and, when there are several, its tiles ------------------------------- */

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

/* The root (index 0), which consists of all tiles, or one of them. */
static void init_device(struct zeta_vgpu *vgpu, uint32_t index)
{
    const struct zeta_vgpu_description *d = &vgpu->description;
    struct zeta_plugin_device *device = &vgpu->devices[vgpu->device_count++];
    const uint32_t tile_count = index == 0 ? d->tiles : 1;
    const uint64_t subslices = zeta_vgpu_topology_subslices(&d->topology) * tile_count;
    const uint64_t eus = subslices * d->topology.eus_per_subslice;

    device->vgpu = vgpu;
    device->parent = index == 0 ? UINT32_MAX : 0;
    device->first_tile = index == 0 ? 0 : index - 1;
    device->tile_count = tile_count;
    if (index == 0)
        snprintf(device->id, sizeof(device->id), "%s", d->id);
    else
        snprintf(device->id, sizeof(device->id), "%s.%u", d->id, index - 1);
    device->memory = (struct zeta_plugin_memory){.struct_size = sizeof(device->memory),
                                                 .name = zeta_string("memory of the host"),
                                                 .total_bytes = d->memory_bytes,
                                                 .max_clock_mhz = d->core_clock_mhz,
                                                 .bus_width_bits = 8u << ZETA_VGPU_LINE_BITS};
    device->caches[0] = (struct zeta_plugin_cache){.struct_size = sizeof(device->caches[0]),
                                                   .size_bytes = d->topology.l1_bytes,
                                                   .line_bytes = 1u << ZETA_VGPU_LINE_BITS};
    device->caches[1] = device->caches[0];
    device->caches[1].size_bytes = d->topology.l3_bytes;

    /* What the set files declare as given by the provider. */
    const struct {
        const char *name;
        uint64_t value;
    } symbols[ZETA_VGPU_SYMBOLS] = {
        {"GpuTimestampFrequency", ZETA_VGPU_TIMER_HZ},
        {"GpuMaxFrequency", d->core_clock_mhz * UINT64_C(1000000)},
        {"EuCoresTotalCount", eus},
        {"EuThreadsCount", d->topology.threads_per_eu},
        {"EuSubslicesTotalCount", subslices},
        {"EuSlicesTotalCount", (uint64_t)d->topology.slices * tile_count},
        {"WorkRateLimit", work_rate(device, eus)},
    };

    for (uint32_t i = 0; i < ZETA_VGPU_SYMBOLS; i++)
        device->symbols[i] =
            (struct zeta_plugin_symbol){.struct_size = sizeof(struct zeta_plugin_symbol),
                                        .name = zeta_string(symbols[i].name),
                                        .u64 = symbols[i].value};
}

static uint32_t device_enumerate(struct zeta_plugin *self, uint32_t capacity,
                                 struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    struct zeta_vgpu *vgpu = self->vgpu;

    for (uint32_t i = 0; i < vgpu->device_count && i < capacity; i++)
        out_devices[i] = &vgpu->devices[i];
    *out_count = vgpu->device_count;
    return ZETA_PLUGIN_SUCCESS;
}

/* Vendor, device, revision, tile, and what tells devices of several instances apart. */
static void make_uuid(const struct zeta_plugin_device *device, uint8_t uuid[16])
{
    const struct zeta_vgpu_description *d = &device->vgpu->description;
    const uint8_t tile = device->parent == UINT32_MAX ? 0 : (uint8_t)(device->first_tile + 1);
    const char *const texts[] = {d->instance, d->id};
    uint32_t words[4] = {htole32(d->vendor_id), htole32(d->device_id),
                         htole32((d->revision & 255) | (uint32_t)tile << 8)};
    uint32_t hash = 2166136261u;

    if (d->has_uuid) {
        memcpy(uuid, d->uuid, 16);
        uuid[15] = (uint8_t)(uuid[15] + tile);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        for (const char *c = texts[i]; *c; c++)
            hash = (hash ^ (uint8_t)*c) * 16777619u;
    }
    words[3] = htole32(hash);
    memcpy(uuid, words, 16);
}

static uint32_t device_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  struct zeta_plugin_device_properties *out_properties)
{
    char lack[ZETA_COMPILER_LACK_BYTES];
    const struct zeta_vgpu_description *d = &self->vgpu->description;
    const struct zeta_vgpu_topology *t = &d->topology;
    const uint32_t limit = zeta_vgpu_topology_group_limit(t);
    const uint64_t room = out_properties->struct_size;
    struct zeta_plugin_device_properties p = {
        .struct_size = room,
        .name = zeta_string(d->name),
        .vendor = zeta_string(d->vendor),
        .id = zeta_string(device->id),
        .type = ZETA_PLUGIN_DEVICE_GPU,
        .flags = ZETA_PLUGIN_DEVICE_INTEGRATED | ZETA_PLUGIN_DEVICE_READ_ONLY_ENFORCED,
        .parent = device->parent,
        .tile = device->parent == UINT32_MAX ? 0 : device->first_tile,
        .vendor_id = d->vendor_id,
        .device_id = d->device_id,
        .revision = d->revision,
        .has_pci = d->has_pci,
        .pci_domain = d->pci_domain,
        .pci_bus = d->pci_bus,
        .pci_device = d->pci_device,
        .pci_function = d->pci_function,
        .timer_hz = ZETA_VGPU_TIMER_HZ,
        .timestamp_valid_bits = ZETA_VGPU_TIMESTAMP_BITS,
        .kernel_timestamp_valid_bits = ZETA_VGPU_TIMESTAMP_BITS,
        .core_clock_mhz = d->core_clock_mhz,
        .slices = t->slices * device->tile_count,
        .subslices_per_slice = t->subslices_per_slice,
        .eus_per_subslice = t->eus_per_subslice,
        .threads_per_eu = t->threads_per_eu,
        .simd_width = 1,
        .max_allocation_bytes = d->memory_bytes,
        .max_hardware_contexts = ZETA_VGPU_SLOTS,
        .max_group_size = limit,
        .max_group_size_xyz = {limit, limit, limit},
        .max_group_count_xyz = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
        .max_shared_local_bytes = t->slm_bytes,
        .max_argument_bytes = VGPU_MAX_ARGUMENT_BYTES,
        .printf_buffer_bytes = PRINTF_BYTES,
        .spirv_version = zeta_compiler_lacks(self->vgpu->compiler, lack) ? 0 : SPIRV_VERSION,
        .fp16 = 1,
        .fp64 = 1,
        .int64_atomics = 1,
        .subgroup_sizes = {subgroup_sizes, sizeof(subgroup_sizes) / sizeof(subgroup_sizes[0]),
                           sizeof(uint32_t)},
        .queue_groups = {queue_groups, ZETA_VGPU_QUEUES_COUNT, sizeof(queue_groups[0])},
        .memories = {&device->memory, 1, sizeof(device->memory)},
        .caches = {device->caches, 2, sizeof(device->caches[0])},
        .ip_version = IP_VERSION,
        .fp16_flags = FP_FLAGS | FP_SOFT,
        .fp32_flags = FP_FLAGS,
        .fp64_flags = FP_FLAGS,
        .fp32_atomics = FP_ATOMICS,
        .fp64_atomics = FP_ATOMICS,
    };

    make_uuid(device, p.uuid);
    memcpy(out_properties, &p, room < sizeof(p) ? room : sizeof(p));
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t device_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
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

static uint32_t device_status(struct zeta_plugin *self, struct zeta_plugin_device *device)
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

/* ---- the plugin object ---------------------------------------------------------------------- */

/* Path of the device description below the data directory, unless the setting names another. */
#define DEFAULT_DEVICE_FILE "device.yaml"

static void on_unknown_key(void *context, const char *path, unsigned line, const char *key)
{
    const struct zeta_plugin *self = context;

    zeta_host_log(&self->host, ZETA_PLUGIN_LOG_WARN, "%s:%u: key '%s' is unknown and ignored", path,
                  line, key);
}

/* Reads the file that describes the device, of which the default one may be absent; settings win.
 */
static uint32_t describe(struct zeta_plugin *self, struct zeta_vgpu_description *out)
{
    const char *environment = secure_getenv("ZETA_VGPU_INSTANCE");
    struct zeta_vgpu_message message;
    char file[512] = DEFAULT_DEVICE_FILE, path[1024], value[512];
    const bool is_chosen = zeta_host_setting(&self->host, "device", file, sizeof(file));
    const char *key;
    bool known;

    zeta_vgpu_description_default(out);
    if (file[0] == '/')
        snprintf(path, sizeof(path), "%s", file);
    else
        snprintf(path, sizeof(path), "%.500s/%s", self->host.data_dir, file);
    if ((is_chosen || access(path, F_OK) == 0) &&
        zeta_vgpu_description_load(out, path, on_unknown_key, self, &message) != ZETA_VGPU_OK)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s", message.text);
    for (uint32_t i = 0; (key = zeta_vgpu_description_key(i)) != NULL; i++) {
        if (zeta_host_setting(&self->host, key, value, sizeof(value)) &&
            zeta_vgpu_description_set(out, key, value, &known, &message) != ZETA_VGPU_OK)
            return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "setting of %s: %s",
                                  self->host.id, message.text);
    }
    if (environment && environment[0] &&
        zeta_vgpu_description_set(out, "instance", environment, &known, &message) != ZETA_VGPU_OK)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "ZETA_VGPU_INSTANCE: %s",
                              message.text);

    /* Beyond the range of each number. */
    if (!zeta_vgpu_topology_check(&out->topology, &message))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s: %s", out->id,
                              message.text);
    return ZETA_PLUGIN_SUCCESS;
}

static void destroy_vgpu(struct zeta_vgpu *vgpu)
{
    if (!vgpu)
        return;
    /* What a debugger holds goes on. */
    zeta_vgpu_target_end(vgpu->target);
    /* What the host did not destroy would run on in memory that is freed here. */
    zeta_vgpu_queues_abandon(vgpu);
    zeta_vgpu_streams_abandon(vgpu);
    zeta_vgpu_tracers_abandon(vgpu);
    zeta_vgpu_queries_abandon(vgpu);
    for (uint32_t i = 0; i < vgpu->description.tiles; i++)
        zeta_vgpu_tile_finish(&vgpu->tiles[i]);
    zeta_vgpu_target_destroy(vgpu->target);
    zeta_softqueue_pool_destroy(vgpu->queues);
    zeta_vgpu_memory_destroy(vgpu->memory);
    zeta_vgpu_pool_destroy(vgpu->pool);
    zeta_vgpu_space_destroy(vgpu->space);
    zeta_compiler_destroy(vgpu->compiler);
    zeta_vgpu_instance_detach(atomic_load(&vgpu->instance));
    pthread_mutex_destroy(&vgpu->instance_lock);
    pthread_mutex_destroy(&vgpu->objects_lock);
    free(vgpu->tiles);
    free(vgpu);
}

static uint32_t create_vgpu(struct zeta_plugin *self, const struct zeta_vgpu_description *d,
                            const struct zeta_compiler_config *compiler,
                            struct zeta_vgpu **out_vgpu)
{
    const uint32_t subslices = zeta_vgpu_topology_subslices(&d->topology);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t workers = d->workers ? d->workers : (uint32_t)(cpus > 0 ? cpus : 1);
    struct zeta_vgpu *vgpu = calloc(1, sizeof(*vgpu));

    if (!vgpu)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    vgpu->self = self;
    vgpu->description = *d;
    vgpu->workers = workers < subslices ? workers : subslices;
    pthread_mutex_init(&vgpu->instance_lock, NULL);
    pthread_mutex_init(&vgpu->objects_lock, NULL);
    vgpu->tiles = calloc(d->tiles, sizeof(*vgpu->tiles));
    if (!vgpu->tiles) {
        free(vgpu);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < d->tiles; i++)
        zeta_vgpu_tile_init(&vgpu->tiles[i], vgpu, i, zeta_vgpu_streams_advance);
    for (uint32_t i = 0; i < (d->tiles > 1 ? 1 + d->tiles : 1); i++)
        init_device(vgpu, i);

    vgpu->target = zeta_vgpu_target_create(vgpu);
    vgpu->compiler = zeta_compiler_create(compiler);
    vgpu->space = zeta_vgpu_space_create();
    vgpu->pool = zeta_vgpu_pool_create(d->memory_bytes);
    if (vgpu->space && vgpu->pool)
        vgpu->memory = zeta_vgpu_memory_create(vgpu->pool, vgpu->space);
    if (vgpu->memory && vgpu->compiler && vgpu->target &&
        zeta_softqueue_pool_create(self->host.ops, self->host.handle, &vgpu->queues) ==
            ZETA_PLUGIN_SUCCESS) {
        *out_vgpu = vgpu;
        return ZETA_PLUGIN_SUCCESS;
    }
    destroy_vgpu(vgpu);
    return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

static const struct zeta_compiler_program compiler_program = {
    .name = "zeta-vgpu-cc",
    .data = "vgpu",
    .packages = "llvm-15-dev, clang-15, lld-15 and llvm-spirv-15"};

static uint32_t plugin_init(struct zeta_plugin *self)
{
    struct zeta_compiler_config compiler;
    struct zeta_vgpu_description description;
    uint32_t result;

    if (self->vgpu)
        return ZETA_PLUGIN_SUCCESS;
    result = describe(self, &description);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_compiler_configure(&self->host, &compiler_program, &compiler);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = create_vgpu(self, &description, &compiler, &self->vgpu);
    return result;
}

static void plugin_finish(struct zeta_plugin *self)
{
    destroy_vgpu(self->vgpu);
    self->vgpu = NULL;
}

/*
 * The threads of the parent do not exist here and its locks may be held for ever, so its state is
 * left where it is and a new one is made. Only the share in the instance is given back, because
 * the parent's death must be seen while this process goes on, and so is the file of its memory.
 */
static uint32_t plugin_child_after_fork(struct zeta_plugin *self)
{
    struct zeta_vgpu *old = self->vgpu;

    self->vgpu = NULL;
    if (!old)
        return ZETA_PLUGIN_SUCCESS;
    zeta_vgpu_target_abandon(old->target);
    zeta_vgpu_tracers_forget(old);
    for (uint32_t i = 0; i < old->description.tiles; i++)
        zeta_vgpu_trace_writer_abandon(&old->tiles[i].trace);
    zeta_vgpu_instance_abandon(atomic_exchange(&old->instance, NULL));
    zeta_vgpu_pool_abandon(old->pool);
    return create_vgpu(self, &old->description, zeta_compiler_config(old->compiler), &self->vgpu);
}

static const struct zeta_plugin_device_ops device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = device_enumerate,
    .properties = device_properties,
    .clock = device_clock,
    .status = device_status,
    .child_after_fork = plugin_child_after_fork,
};

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = plugin_init,
    .finish = plugin_finish,
    .device = &device_ops,
    .compute = &zeta_vgpu_compute_ops,
    .metric = &zeta_vgpu_metric_ops,
    .tracer = &zeta_vgpu_tracer_ops,
    .debug = &zeta_vgpu_debug_ops,
};

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    return zeta_host_negotiate(offer, &plugin_ops, PLUGIN_VERSION, sizeof(struct zeta_plugin),
                               out_answer);
}
