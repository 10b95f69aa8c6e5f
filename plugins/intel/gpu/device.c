/*
 * GPUs and their tiles as devices of the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/intel/gpu/intel.h"
#include "plugins/intel/kmd/kernel.h"
#include <zeta/intel_gpu.h>

uint64_t zeta_intel_timer_hz(const struct zeta_plugin_device *device)
{
    const struct zeta_intel_gpu *gpu = device->gpu;

    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        if (gpu->units[i].kind == ZETA_INTEL_OAG && gpu->units[i].tile == device->tile)
            return gpu->units[i].timestamp_hz;
    }
    return zeta_intel_device_tile(device)->cs_timestamp_hz;
}

/* ---- making ------------------------------------------------------------------------------- */

/*
 * The order of bytes that compute drivers of these GPUs use too, so that everybody knows a device
 * by the same uuid: vendor, device, revision, address of 5 bytes, 4 zeros, number of the tile.
 */
static void make_uuid(struct zeta_plugin_device *device)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    const uint16_t words[4] = {ZETA_INTEL_VENDOR, (uint16_t)gpu->device_id, (uint16_t)gpu->revision,
                               (uint16_t)gpu->pci_domain};

    for (uint32_t i = 0; i < 4; i++) {
        device->uuid[2 * i] = (uint8_t)words[i];
        device->uuid[2 * i + 1] = (uint8_t)(words[i] >> 8);
    }
    device->uuid[8] = (uint8_t)gpu->pci_bus;
    device->uuid[9] = (uint8_t)gpu->pci_device;
    device->uuid[10] = (uint8_t)gpu->pci_function;
    device->uuid[15] = device->is_tile ? (uint8_t)(device->tile + 1) : 0;
}

/* parent: index of the root of a tile; UINT32_MAX: it is a root. */
static uint32_t make_device(struct zeta_plugin_device *device, struct zeta_intel_gpu *gpu,
                            uint32_t parent, uint32_t tile_index)
{
    const struct zeta_intel_tile *tile = &gpu->tiles[tile_index];
    const bool is_tile = parent != UINT32_MAX;
    struct zeta_intel_facts facts = {
        .platform = gpu->platform,
        .topology = &tile->topology,
        .min_hz = tile->min_hz,
        .max_hz = tile->max_hz,
        .fastest_hz = tile->fastest_hz,
        .fastest_media_hz = tile->fastest_media_hz,
        .revision = gpu->revision,
    };

    *device = (struct zeta_plugin_device){
        .gpu = gpu,
        .tile = tile_index,
        .is_tile = is_tile,
        .parent = parent,
        .queue_group = {.struct_size = sizeof(device->queue_group),
                        .flags = ZETA_PLUGIN_QUEUE_METRICS,
                        .queue_count = 1},
        .memory = {.struct_size = sizeof(device->memory), .name = {"VRAM", 4}},
    };
    (void)snprintf(device->id, sizeof(device->id), is_tile ? "%s.%u" : "%s", gpu->id, tile_index);
    (void)snprintf(device->name, sizeof(device->name), is_tile ? "%s, tile %u" : "%s", gpu->name,
                   tile_index);
    make_uuid(device);
    for (uint32_t i = 0; i < gpu->tile_count; i++)
        device->memory.total_bytes += !is_tile || i == tile_index ? gpu->tiles[i].memory_bytes : 0;
    facts.timestamp_hz = zeta_intel_timer_hz(device);
    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        facts.media_units +=
            gpu->units[i].tile == tile_index && gpu->units[i].kind == ZETA_INTEL_OAM;
        facts.stall_units +=
            gpu->units[i].tile == tile_index && gpu->units[i].kind == ZETA_INTEL_EU_STALL;
    }
    return zeta_intel_symbols_list(&facts, &device->symbols, &device->symbol_count)
               ? ZETA_PLUGIN_SUCCESS
               : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

uint32_t zeta_intel_devices_make(struct zeta_intel *intel)
{
    uint32_t result = ZETA_PLUGIN_SUCCESS;

    intel->devices =
        calloc(intel->gpu_count * (1u + ZETA_INTEL_TILES) + 1, sizeof(*intel->devices));
    if (!intel->devices)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < intel->gpu_count; i++) {
        struct zeta_intel_gpu *gpu = &intel->gpus[i];
        const uint32_t root = intel->device_count;
        const uint32_t tiles = gpu->tile_count > 1 ? gpu->tile_count : 0;

        result = make_device(&intel->devices[intel->device_count++], gpu, UINT32_MAX, 0);
        for (uint32_t t = 0; t < tiles && result == ZETA_PLUGIN_SUCCESS; t++)
            result = make_device(&intel->devices[intel->device_count++], gpu, root, t);
        if (result != ZETA_PLUGIN_SUCCESS)
            return result;
    }
    return result;
}

/* ---- what the host asks ------------------------------------------------------------------- */

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    const uint32_t count = self->intel ? self->intel->device_count : 0;

    for (uint32_t i = 0; i < count && i < capacity; i++)
        out_devices[i] = &self->intel->devices[i];
    *out_count = count;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t divide_up(uint32_t value, uint32_t by)
{
    return by == 0 ? 0 : (value + by - 1) / by;
}

static uint32_t get_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                               struct zeta_plugin_device_properties *out_properties)
{
    const struct zeta_intel_gpu *gpu = device->gpu;
    const struct zeta_intel_platform *platform = gpu->platform;
    const struct zeta_intel_topology *topology = &zeta_intel_device_tile(device)->topology;
    struct zeta_plugin_device_properties properties = {
        .struct_size = out_properties->struct_size,
        .name = {device->name, strlen(device->name)},
        .id = {device->id, strlen(device->id)},
        .type = ZETA_PLUGIN_DEVICE_GPU,
        .flags = gpu->platform->integrated ? ZETA_PLUGIN_DEVICE_INTEGRATED : 0,
        .parent = device->parent,
        .tile = device->tile,
        .vendor_id = ZETA_INTEL_VENDOR,
        .vendor = {"Intel(R) Corporation", 20},
        .device_id = gpu->device_id,
        .revision = gpu->revision,
        .has_pci = 1,
        .pci_domain = gpu->pci_domain,
        .pci_bus = gpu->pci_bus,
        .pci_device = gpu->pci_device,
        .pci_function = gpu->pci_function,
        .timer_hz = zeta_intel_timer_hz(device),
        .timestamp_valid_bits = platform->formats[ZETA_INTEL_OAG].is_wide ? 56 : 32,
        .kernel_timestamp_valid_bits = 32,
        .core_clock_mhz = (uint32_t)(zeta_intel_device_tile(device)->max_hz / 1000000u),
        .slices = topology->slices * (device->is_tile ? 1 : gpu->tile_count),
        .subslices_per_slice = divide_up(topology->subslices, topology->slices),
        .eus_per_subslice = divide_up(topology->eus, topology->subslices),
        .threads_per_eu = platform->threads_per_eu,
        .simd_width = platform->simd_width > 0 ? platform->simd_width : 8,
        .queue_groups = {&device->queue_group, 1, sizeof(device->queue_group)},
        .memories = {&device->memory, device->memory.total_bytes > 0 ? 1 : 0,
                     sizeof(device->memory)},
        .ip_version = platform->graphics / 100 << 22 | platform->graphics % 100 << 14 |
                      (gpu->revision & 0x3f),
    };
    const uint64_t bytes = out_properties->struct_size < sizeof(properties)
                               ? out_properties->struct_size
                               : sizeof(properties);

    (void)self;
    memcpy(properties.uuid, device->uuid, sizeof(device->uuid));
    memcpy(out_properties, &properties, (size_t)bytes);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- clock -------------------------------------------------------------------------------- */

/*
 * The value that does not wrap: of all that the clock's bits can stand for, the one nearest to
 * where the clock should be by the host's time since the last reading.
 */
static uint64_t unwrap(struct zeta_intel_unwrap *state, const struct zeta_intel_tile *tile,
                       const struct zeta_plugin_clock *clock)
{
    const uint32_t bits = tile->cs_timestamp_bits;
    /* The host's time is the middle of a reading, which may be earlier than that of a longer one.
     */
    const uint64_t passed_ns =
        clock->host_ns > state->host_ns ? clock->host_ns - state->host_ns : 0;
    uint64_t expected, away;

    if (!state->is_started || bits == 0 || bits >= 64) {
        state->ticks = clock->device_ticks;
    } else {
        expected = state->ticks + zeta_intel_scale(passed_ns, tile->cs_timestamp_hz, 1000000000u);
        away = (clock->device_ticks - expected) & ((UINT64_C(1) << bits) - 1);
        state->ticks = expected + away;
        if (away >= UINT64_C(1) << (bits - 1) && state->ticks >= UINT64_C(1) << bits)
            state->ticks -= UINT64_C(1) << bits;
    }
    state->is_started = true;
    state->host_ns = clock->host_ns;
    return state->ticks;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    const struct zeta_intel_tile *tile = zeta_intel_device_tile(device);
    struct zeta_intel_gpu *gpu = device->gpu;
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    const uint64_t hz = zeta_intel_timer_hz(device);
    uint64_t ticks;
    uint32_t result;

    /* Under the lock, so that two readers come to unwrap() in the order in which they looked. */
    (void)pthread_mutex_lock(&self->intel->lock);
    result = gpu->kmd->clock(gpu, device->tile, &clock);
    ticks = result == ZETA_PLUGIN_SUCCESS ? unwrap(&gpu->unwraps[device->tile], tile, &clock) : 0;
    (void)pthread_mutex_unlock(&self->intel->lock);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    out_clock->device_ticks = zeta_intel_scale(ticks, hz, tile->cs_timestamp_hz);
    out_clock->host_ns = clock.host_ns;
    out_clock->error_ns = clock.error_ns;
    out_clock->raw = clock.raw;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_intel_unit_clock(struct zeta_plugin_device *device,
                               const struct zeta_intel_unit *unit,
                               struct zeta_intel_reading *out_reading)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    const uint32_t result = read_clock(device->gpu->intel->self, device, &clock);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    out_reading->ticks =
        zeta_intel_scale(clock.device_ticks, unit->timestamp_hz, zeta_intel_timer_hz(device));
    out_reading->host_ns = clock.host_ns;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t get_status(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    struct zeta_intel_gpu *gpu = device->gpu;

    (void)self;
    if (!zeta_intel_is_gone(gpu))
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_DEVICE_LOST,
                          "%s (%s) is gone: the kernel answers ENODEV; it was removed, or its "
                          "driver was",
                          gpu->name, gpu->id);
}

const struct zeta_plugin_device_ops zeta_intel_device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = enumerate,
    .properties = get_properties,
    .clock = read_clock,
    .status = get_status,
    .child_after_fork = zeta_intel_child_after_fork,
};
