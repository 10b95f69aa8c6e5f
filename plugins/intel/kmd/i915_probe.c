/*
 * What i915 reports of a GPU: topology, engines, memory, frequencies, and what it can count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/intel/kmd/i915.h"
#include "plugins/intel/kmd/kernel.h"

/* Of GPUs whose kernel does not report it; for the device's clock alone. */
#define OLDEST_TIMESTAMP_HZ 12500000u

enum {
    MAX_ANSWER_BYTES = 1 << 20,
    MEDIA_GT = 1 /* the second GT, where there is one */
};

/* ---- questions ---------------------------------------------------------------------------- */

/* A parameter; 0 or the negative errno. */
static int get_param(const struct zeta_intel_gpu *gpu, int id, uint64_t *out_value)
{
    int value = 0;
    struct drm_i915_getparam question = {.param = id, .value = &value};
    const int error = zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_GETPARAM, &question);

    if (error < 0)
        return error;
    *out_value = (uint32_t)value;
    return 0;
}

static int ask(const struct zeta_intel_gpu *gpu, struct drm_i915_query_item *item)
{
    struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)item};
    const int error = zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_QUERY, &query);

    if (error < 0)
        return error;
    return item->length < 0 ? item->length : 0;
}

/* The answer to a query in memory of its own, freed by the caller; NULL: the kernel has none. */
static void *query(const struct zeta_intel_gpu *gpu, uint64_t id, size_t *out_bytes)
{
    struct drm_i915_query_item item = {.query_id = id};
    void *answer;

    if (ask(gpu, &item) < 0 || item.length <= 0 || item.length > MAX_ANSWER_BYTES)
        return NULL;
    answer = calloc(1, (size_t)item.length);
    if (!answer)
        return NULL;
    *out_bytes = (size_t)item.length;
    item.data_ptr = (uintptr_t)answer;
    if (ask(gpu, &item) == 0 && item.length > 0 && (size_t)item.length <= *out_bytes)
        return answer;
    free(answer);
    return NULL;
}

/* ---- what the GPU is made of -------------------------------------------------------------- */

static void read_topology(const struct zeta_intel_gpu *gpu, struct zeta_intel_topology *topology)
{
    uint64_t slices = 0, subslices = 0, eus = 0;
    size_t bytes = 0;
    void *block = query(gpu, DRM_I915_QUERY_TOPOLOGY_INFO, &bytes);

    if (!block || !zeta_intel_topology_read(block, bytes, topology)) {
        /* Kernels before 4.17 report sums and the mask of the first slice only. */
        (void)get_param(gpu, I915_PARAM_SLICE_MASK, &slices);
        (void)get_param(gpu, I915_PARAM_SUBSLICE_MASK, &subslices);
        (void)get_param(gpu, I915_PARAM_EU_TOTAL, &eus);
        for (uint32_t i = 0; i < 32; i++) {
            if (slices >> i & 1) {
                topology->subslice_mask[i] = (uint32_t)subslices;
                topology->max_slices = i + 1;
            }
            if (subslices >> i & 1)
                topology->max_subslices = i + 1;
        }
        topology->eus = (uint32_t)eus;
        zeta_intel_topology_count(topology);
        if (topology->subslices > 0)
            topology->max_eus = (topology->eus + topology->subslices - 1) / topology->subslices;
    }
    free(block);
    zeta_intel_topology_split(topology, gpu->platform->subslices_per_slice);
}

/*
 * Counts engines by class. *out_video: class and instance of an engine whose unit is that of media,
 * as a unit's kernel_id; 0 without one.
 */
static void read_engines(const struct zeta_intel_gpu *gpu, struct zeta_intel_topology *topology,
                         uint32_t *out_video)
{
    size_t bytes = 0;
    struct drm_i915_query_engine_info *info = query(gpu, DRM_I915_QUERY_ENGINE_INFO, &bytes);
    uint32_t count = 0;

    *out_video = 0;
    if (info && bytes >= sizeof(*info))
        count = (uint32_t)((bytes - sizeof(*info)) / sizeof(info->engines[0]));
    for (uint32_t i = 0; i < count && i < info->num_engines; i++) {
        const uint16_t class = info->engines[i].engine.engine_class;
        const uint16_t instance = info->engines[i].engine.engine_instance;

        if (class < ZETA_INTEL_ENGINE_CLASSES)
            topology->engines[class]++;
        if (*out_video == 0 && class == I915_ENGINE_CLASS_VIDEO)
            *out_video = (uint32_t) class << 16 | instance;
    }
    free(info);
}

static uint64_t read_memory(const struct zeta_intel_gpu *gpu)
{
    size_t bytes = 0;
    struct drm_i915_query_memory_regions *info = query(gpu, DRM_I915_QUERY_MEMORY_REGIONS, &bytes);
    uint32_t count = 0;
    uint64_t sum = 0;

    if (info && bytes >= sizeof(*info))
        count = (uint32_t)((bytes - sizeof(*info)) / sizeof(info->regions[0]));
    for (uint32_t i = 0; i < count && i < info->num_regions; i++) {
        if (info->regions[i].region.memory_class == I915_MEMORY_CLASS_DEVICE)
            sum += info->regions[i].probed_size;
    }
    free(info);
    return sum;
}

/* MHz of a file of a GT as newer kernels name it; of the first one else as all do. */
static uint64_t read_frequency(const struct zeta_intel_gpu *gpu, uint32_t gt, const char *what)
{
    uint64_t mhz = 0;
    char path[160];

    (void)snprintf(path, sizeof(path), "%s/gt/gt%u/rps_%s_freq_mhz", gpu->card, gt, what);
    if (!zeta_intel_file_read_u64(path, &mhz) && gt == 0) {
        (void)snprintf(path, sizeof(path), "%s/gt_%s_freq_mhz", gpu->card, what);
        (void)zeta_intel_file_read_u64(path, &mhz);
    }
    return mhz * 1000000u;
}

/* The limit can be set, also above what the hardware says. */
static uint64_t read_fastest(const struct zeta_intel_gpu *gpu, uint32_t gt)
{
    const uint64_t of_hardware = read_frequency(gpu, gt, "RP0");
    const uint64_t limit = read_frequency(gpu, gt, "max");

    return limit > of_hardware ? limit : of_hardware;
}

/* ---- what it can count -------------------------------------------------------------------- */

uint32_t zeta_intel_i915_perf_revision(const struct zeta_intel_gpu *gpu)
{
    uint64_t value;

    if (get_param(gpu, I915_PARAM_PERF_REVISION, &value) == 0)
        return (uint32_t)value;
    /* Kernels from before the revision was counted have the sysctl. */
    return zeta_intel_sysctl_read(zeta_intel_i915.sysctl, &value) ? 1 : 0;
}

/*
 * Finds out whether the OA unit works, without touching it: the kernel checks that before it
 * looks up the number of the configuration to remove, and there is none with this number.
 */
static bool has_oa(struct zeta_intel_gpu *gpu)
{
    uint64_t nothing = UINT64_MAX;
    const int error = zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &nothing);
    char path[128];
    struct stat status;

    (void)snprintf(path, sizeof(path), "%s/metrics", gpu->card);
    if (error == -EACCES)
        zeta_intel_note_permission(gpu);
    if (error == -EINVAL || error == -ENOTTY)
        zeta_intel_no_metrics(gpu, "This kernel takes no configurations of counters from programs; "
                                   "that came with Linux 4.14.");
    else if (error < 0 && error != -ENOENT && error != -EACCES)
        zeta_intel_no_metrics(gpu,
                              "The kernel reports no OA unit for this GPU: %s. So it is in guests "
                              "that have a part of a GPU; sample on the host.",
                              zeta_intel_errno(-error).text);
    else if (gpu->card[0] == '\0' || stat(path, &status) != 0)
        zeta_intel_no_metrics(gpu,
                              "The kernel shows no directory %.64s, so it takes no configurations "
                              "of counters; was sysfs mounted, and did i915 start without errors "
                              "(dmesg)?",
                              gpu->card[0] != '\0' ? path : "metrics of the card in sysfs");
    return gpu->no_metrics[0] == '\0';
}

static void find_units(struct zeta_intel_gpu *gpu, uint32_t video, uint64_t oa_hz)
{
    const struct zeta_intel_format *formats = gpu->platform->formats;
    const uint32_t revision = zeta_intel_i915_perf_revision(gpu);

    if (revision == 0)
        zeta_intel_no_metrics(gpu,
                              "The kernel has no i915 perf: the sysctl %s is missing. It came with "
                              "Linux 4.13.",
                              zeta_intel_i915.sysctl);
    else if (oa_hz == 0)
        zeta_intel_no_metrics(gpu, "The kernel does not report the frequency of the GPU's clock, "
                                   "without which reports have no time; that came with Linux "
                                   "4.16.");
    else if (formats[ZETA_INTEL_OAG].i915 == 0)
        zeta_intel_no_metrics(
            gpu, "The report format of %s on i915 is unknown: its platform file names none.",
            gpu->platform->name);
    else if (has_oa(gpu)) {
        gpu->units[gpu->unit_count++] =
            (struct zeta_intel_unit){.name = "oa",
                                     .kind = ZETA_INTEL_OAG,
                                     .kernel_id = I915_ENGINE_CLASS_RENDER << 16,
                                     .timestamp_hz = oa_hz};
        if (formats[ZETA_INTEL_OAM].i915 != 0 && revision >= ZETA_INTEL_I915_MEDIA_ENGINES &&
            video != 0)
            gpu->units[gpu->unit_count++] = (struct zeta_intel_unit){
                .name = "oam0", .kind = ZETA_INTEL_OAM, .kernel_id = video, .timestamp_hz = oa_hz};
    }
}

uint32_t zeta_intel_i915_probe(struct zeta_intel_gpu *gpu)
{
    struct zeta_intel_tile *tile = &gpu->tiles[0];
    uint64_t value = 0, oa_hz = 0;
    uint32_t video = 0;
    int error = get_param(gpu, I915_PARAM_CHIPSET_ID, &value);

    gpu->tile_count = 1;
    tile->cs_timestamp_hz = OLDEST_TIMESTAMP_HZ;
    tile->cs_timestamp_bits = ZETA_I915_TIMESTAMP_BITS;
    if (error < 0) {
        /* One that was removed meanwhile must not take the others along. */
        zeta_intel_no_metrics(gpu, "i915 does not report which GPU this is: %s.",
                              zeta_intel_errno(-error).text);
        return ZETA_PLUGIN_SUCCESS;
    }
    if (get_param(gpu, I915_PARAM_REVISION, &value) == 0)
        gpu->revision = (uint32_t)value;
    read_topology(gpu, &tile->topology);
    read_engines(gpu, &tile->topology, &video);
    tile->memory_bytes = read_memory(gpu);
    tile->min_hz = read_frequency(gpu, 0, "min");
    tile->max_hz = read_frequency(gpu, 0, "max");
    tile->fastest_hz = read_fastest(gpu, 0);
    tile->fastest_media_hz = read_fastest(gpu, MEDIA_GT);
    if (get_param(gpu, I915_PARAM_CS_TIMESTAMP_FREQUENCY, &value) == 0 && value != 0)
        tile->cs_timestamp_hz = oa_hz = value;
    if (get_param(gpu, ZETA_I915_PARAM_OA_TIMESTAMP_FREQUENCY, &value) == 0 && value != 0)
        oa_hz = value;
    find_units(gpu, video, oa_hz);
    return ZETA_PLUGIN_SUCCESS;
}
