/*
 * GPUs and instances of MIG as devices of the host.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>
#include <zeta/clock.h>
#include <zeta/compiler/compiler.h>

#include "plugins/nvidia/gpu/nvidia.h"

/* Level Zero's EU is a partition of an SM, which has four, each for warps of 32 threads. */
enum { PARTITIONS = 4, WARP = 32 };

/*
 * Streams are made as they are wanted: the number says only that there are many. Patterns are no
 * longer than what all memory is aligned to, because targets have to be aligned to their pattern.
 */
enum { QUEUES = 16, FILL_BYTES = 256, ARGUMENT_BYTES = 4096 };

/* What arithmetic does, as ze_device_fp_flags_t: all but software; half precision rounds to
 * nearest. */
enum { FP_FLAGS = 0x7f, FP16_FLAGS = 0x27 };

/* SPIR-V 1.4 is the newest that zeta-nv-cc reads. */
#define SPIRV_VERSION (1u << 16 | 4u)

/* The L2 moves sectors of 32 bytes, four to a line. */
enum { L2_LINE_BYTES = 128 };

static const uint32_t warp_sizes[] = {WARP};

/* ---- making ------------------------------------------------------------------------------- */

/* A number from a file of the GPU in sysfs, in hexadecimal; 0: there is none. */
static uint32_t read_number(const struct nvidia *nvidia, const char *address, const char *name)
{
    char path[PATH_MAX], text[32];
    uint32_t value = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/%s", nvidia->root, address, name);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fgets(text, sizeof(text), file))
        value = (uint32_t)strtoul(text, NULL, 16);
    (void)fclose(file);
    return value;
}

/* "0000:06:00.0"; instances of MIG share it, so they have their uuid behind it. */
static void write_id(struct zeta_plugin_device *device)
{
    const uint8_t *u = device->uuid;

    (void)snprintf(device->address, sizeof(device->address), "%04x:%02x:%02x.0",
                   device->pci_domain & 0xffff, device->pci_bus & 0xff, device->pci_device & 0x1f);
    if (!device->is_instance)
        (void)snprintf(device->id, sizeof(device->id), "%s", device->address);
    else
        (void)snprintf(
            device->id, sizeof(device->id),
            "%s.MIG-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
            device->address, u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
            u[11], u[12], u[13], u[14], u[15]);
}

static void describe(struct zeta_plugin_device *device)
{
    device->queue_groups[0] = (struct zeta_plugin_queue_group){
        .struct_size = sizeof(device->queue_groups[0]),
        .flags = ZETA_PLUGIN_QUEUE_COMPUTE | ZETA_PLUGIN_QUEUE_COPY | ZETA_PLUGIN_QUEUE_METRICS |
                 (device->has_cooperative ? ZETA_PLUGIN_QUEUE_COOPERATIVE : 0u),
        .queue_count = QUEUES,
        .max_fill_pattern_bytes = FILL_BYTES,
    };
    device->queue_groups[1] = (struct zeta_plugin_queue_group){
        .struct_size = sizeof(device->queue_groups[1]),
        .flags = ZETA_PLUGIN_QUEUE_COPY,
        .queue_count = device->copy_engines,
        .max_fill_pattern_bytes = FILL_BYTES,
    };
    device->queue_group_count = device->copy_engines > 0 ? 2 : 1;
    device->memory = (struct zeta_plugin_memory){
        .struct_size = sizeof(device->memory),
        .name = {"VRAM", 4},
        .total_bytes = device->memory_bytes,
        .max_clock_mhz = device->memory_khz / 1000,
        .bus_width_bits = device->bus_bits,
    };
    device->cache = (struct zeta_plugin_cache){
        .struct_size = sizeof(device->cache),
        .size_bytes = device->l2_bytes,
        .line_bytes = L2_LINE_BYTES,
    };
}

int nvidia_device_read(struct nvidia *nvidia, int ordinal, struct zeta_plugin_device *out_device)
{
    const struct nvidia_driver *driver = &nvidia->driver;
    struct zeta_plugin_device *device = out_device;
    uint32_t integrated, ecc, cooperative, pageable;
    const struct {
        int attribute;
        uint32_t *value;
    } attributes[] = {
        {NVIDIA_ATTRIBUTE_PCI_DOMAIN, &device->pci_domain},
        {NVIDIA_ATTRIBUTE_PCI_BUS, &device->pci_bus},
        {NVIDIA_ATTRIBUTE_PCI_DEVICE, &device->pci_device},
        {NVIDIA_ATTRIBUTE_CC_MAJOR, &device->cc_major},
        {NVIDIA_ATTRIBUTE_CC_MINOR, &device->cc_minor},
        {NVIDIA_ATTRIBUTE_SMS, &device->sms},
        {NVIDIA_ATTRIBUTE_SM_KHZ, &device->sm_khz},
        {NVIDIA_ATTRIBUTE_MEMORY_KHZ, &device->memory_khz},
        {NVIDIA_ATTRIBUTE_BUS_BITS, &device->bus_bits},
        {NVIDIA_ATTRIBUTE_L2_BYTES, &device->l2_bytes},
        {NVIDIA_ATTRIBUTE_THREADS_PER_SM, &device->threads_per_sm},
        {NVIDIA_ATTRIBUTE_COPY_ENGINES, &device->copy_engines},
        {NVIDIA_ATTRIBUTE_GROUP_SIZE, &device->max_group_threads},
        {NVIDIA_ATTRIBUTE_GROUP_SIZE_X, &device->max_group_size[0]},
        {NVIDIA_ATTRIBUTE_GROUP_SIZE_X + 1, &device->max_group_size[1]},
        {NVIDIA_ATTRIBUTE_GROUP_SIZE_X + 2, &device->max_group_size[2]},
        {NVIDIA_ATTRIBUTE_GROUP_COUNT_X, &device->max_group_count[0]},
        {NVIDIA_ATTRIBUTE_GROUP_COUNT_X + 1, &device->max_group_count[1]},
        {NVIDIA_ATTRIBUTE_GROUP_COUNT_X + 2, &device->max_group_count[2]},
        {NVIDIA_ATTRIBUTE_GROUP_SHARED_MOST, &device->group_shared_bytes},
        {NVIDIA_ATTRIBUTE_COMPUTE_MODE, &device->compute_mode},
        {NVIDIA_ATTRIBUTE_INTEGRATED, &integrated},
        {NVIDIA_ATTRIBUTE_ECC, &ecc},
        {NVIDIA_ATTRIBUTE_COOPERATIVE, &cooperative},
        {NVIDIA_ATTRIBUTE_PAGEABLE, &pageable},
    };
    size_t bytes = 0;
    int result;

    *device = (struct zeta_plugin_device){.nvidia = nvidia, .ordinal = ordinal};
    result = driver->cuDeviceGet(&device->cuda, ordinal);
    if (result == NVIDIA_CUDA_SUCCESS)
        result = driver->cuDeviceGetName(device->name, sizeof(device->name), device->cuda);
    if (result == NVIDIA_CUDA_SUCCESS)
        result = driver->cuDeviceTotalMem_v2(&bytes, device->cuda);
    if (result == NVIDIA_CUDA_SUCCESS)
        result = driver->cuDeviceGetUuid_v2(device->uuid, device->cuda);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        int value = 0;

        if (result == NVIDIA_CUDA_SUCCESS)
            result = driver->cuDeviceGetAttribute(&value, attributes[i].attribute, device->cuda);
        *attributes[i].value = value > 0 ? (uint32_t)value : 0;
    }
    if (result != NVIDIA_CUDA_SUCCESS)
        return result;
    device->name[sizeof(device->name) - 1] = '\0';
    device->memory_bytes = bytes;
    device->is_integrated = integrated != 0;
    device->has_ecc = ecc != 0;
    device->has_cooperative = cooperative != 0;
    device->has_pageable = pageable != 0;
    /* "NVIDIA A100-SXM4-40GB MIG 1g.5gb": the driver marks instances in the name alone. */
    device->is_instance = strstr(device->name, " MIG ") != NULL;
    write_id(device);
    device->pci_id = read_number(nvidia, device->address, "device");
    device->pci_revision = read_number(nvidia, device->address, "revision");
    describe(device);
    return NVIDIA_CUDA_SUCCESS;
}

/* ---- what the host asks ------------------------------------------------------------------- */

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    const uint32_t count = self->nvidia ? self->nvidia->device_count : 0;

    for (uint32_t i = 0; i < count && i < capacity; i++)
        out_devices[i] = &self->nvidia->devices[i];
    *out_count = count;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t get_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                               struct zeta_plugin_device_properties *out_properties)
{
    char lack[ZETA_COMPILER_LACK_BYTES];
    struct zeta_plugin_device_properties properties = {
        .struct_size = out_properties->struct_size,
        .name = {device->name, strlen(device->name)},
        .id = {device->id, strlen(device->id)},
        .type = ZETA_PLUGIN_DEVICE_GPU,
        .flags = (device->is_integrated ? ZETA_PLUGIN_DEVICE_INTEGRATED : 0u) |
                 (device->has_ecc ? ZETA_PLUGIN_DEVICE_ECC : 0u) |
                 (device->has_pageable ? ZETA_PLUGIN_DEVICE_ON_DEMAND_PAGING : 0u),
        .parent = UINT32_MAX,
        .vendor_id = NVIDIA_VENDOR,
        .vendor = {"NVIDIA Corporation", 18},
        .device_id = device->pci_id,
        .revision = device->pci_revision,
        .has_pci = 1,
        .pci_domain = device->pci_domain,
        .pci_bus = device->pci_bus,
        .pci_device = device->pci_device,
        .timer_hz = ZETA_NS_PER_S,
        .timestamp_valid_bits = 64,
        .kernel_timestamp_valid_bits = 34,
        .core_clock_mhz = device->sm_khz / 1000,
        .slices = 1,
        .subslices_per_slice = device->sms,
        .eus_per_subslice = PARTITIONS,
        .threads_per_eu = device->threads_per_sm / WARP / PARTITIONS,
        .simd_width = WARP,
        .max_allocation_bytes = device->memory_bytes,
        .max_group_size = device->max_group_threads,
        .max_shared_local_bytes = device->group_shared_bytes,
        .max_argument_bytes = ARGUMENT_BYTES,
        .printf_buffer_bytes = device->nvidia->print_bytes,
        .max_command_queue_priority = 1,
        .spirv_version = zeta_compiler_lacks(device->nvidia->compiler, lack) ? 0 : SPIRV_VERSION,
        .fp16 = 1,
        .fp64 = 1,
        .int64_atomics = 1,
        .dp4a = 1,
        .fp16_flags = FP16_FLAGS,
        .fp32_flags = FP_FLAGS,
        .fp64_flags = FP_FLAGS,
        .subgroup_sizes = {warp_sizes, 1, sizeof(warp_sizes[0])},
        .queue_groups = {device->queue_groups, device->queue_group_count,
                         sizeof(device->queue_groups[0])},
        .memories = {&device->memory, 1, sizeof(device->memory)},
        .caches = {&device->cache, device->l2_bytes > 0 ? 1 : 0, sizeof(device->cache)},
        .ip_version = device->cc_major << 16 | device->cc_minor,
    };
    const uint64_t bytes = out_properties->struct_size < sizeof(properties)
                               ? out_properties->struct_size
                               : sizeof(properties);

    (void)self;
    memcpy(properties.uuid, device->uuid, sizeof(device->uuid));
    memcpy(properties.max_group_size_xyz, device->max_group_size, sizeof(device->max_group_size));
    memcpy(properties.max_group_count_xyz, device->max_group_count,
           sizeof(device->max_group_count));
    memcpy(out_properties, &properties, (size_t)bytes);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    (void)self;
    (void)device;
    out_clock->host_ns = nvidia_clock_ns();
    out_clock->device_ticks = out_clock->host_ns;
    out_clock->error_ns = 0;
    out_clock->raw = 1;
    return ZETA_PLUGIN_SUCCESS;
}

void nvidia_device_lose(struct zeta_plugin_device *device, const char *format, ...)
{
    va_list arguments;

    (void)pthread_mutex_lock(&device->nvidia->lock);
    if (!atomic_load(&device->is_lost)) {
        va_start(arguments, format);
        (void)zeta_c_vsnprintf(device->lost, sizeof(device->lost), format, arguments);
        va_end(arguments);
        atomic_store(&device->is_lost, true);
    }
    (void)pthread_mutex_unlock(&device->nvidia->lock);
}

static uint32_t get_status(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    if (!atomic_load(&device->is_lost))
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_DEVICE_LOST,
                          "%s (%s) is lost until the program ends: %s", device->name, device->id,
                          device->lost);
}

static uint32_t explain_debug(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              struct zeta_plugin_debug_properties *out_properties)
{
    (void)out_properties;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                          "%s (%s) cannot be debugged: NVIDIA publishes no debugger interface. "
                          "cuda-gdb of the CUDA toolkit can debug programs on it",
                          device->name, device->id);
}

const struct zeta_plugin_debug_ops nvidia_debug_ops = {
    .struct_size = sizeof(struct zeta_plugin_debug_ops),
    .properties = explain_debug,
};

const struct zeta_plugin_device_ops nvidia_device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = enumerate,
    .properties = get_properties,
    .clock = read_clock,
    .status = get_status,
    .child_after_fork = nvidia_child_after_fork,
};
