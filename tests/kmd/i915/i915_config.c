/* ADD_CONFIG, REMOVE_CONFIG, and the query of configurations. */

#include "tests/kmd/i915/i915.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 1, DATA_FOR_UUID = 2, DATA_FOR_ID = 3, HEADER_BYTES = 48, MAX_REGISTERS = 65536 };
enum { FLEX = 2, KERNELS_OWN = 1 };

struct oa_config {
    char uuid[36];
    uint32_t counts[3];
    uint64_t registers[3];
};
_Static_assert(sizeof(struct oa_config) == 72, "drm_i915_perf_oa_config");

/* Bits that the kernel sets itself, with the halves that allow writing them. */
static uint32_t masked(uint32_t address, uint32_t value)
{
    const uint32_t st_po_disable = 1u << 13 | 1u << 29; /* of HALF_SLICE_CHICKEN2 */
    const uint32_t wait_for_rc6_exit = 1u << 0 | 1u << 16;

    if (address == 0xe180)
        return value & ~st_po_disable;
    if (address == 0x20cc)
        return value & ~wait_for_rc6_exit;
    return value;
}

/* One list, behind those that are there: mux, boolean, flex. 0 or a negative errno. */
static int take_list(const struct kmd_gpu *gpu, const struct oa_config *wanted, uint32_t list,
                     uint32_t *registers)
{
    const uint32_t count = wanted->counts[list];

    if (count == 0)
        return 0;
    if (list == FLEX && kmd_gpu_platform(gpu)->graphics < 800)
        return -EINVAL;
    if (kmd_copy_in(registers, wanted->registers[list], (size_t)count * 8) != 0)
        return -EFAULT;
    for (uint32_t i = 0; i < count; i++) {
        if (!kmd_register_is_allowed(gpu, list, registers[(size_t)2 * i]))
            return -EINVAL;
        registers[(size_t)2 * i + 1] =
            masked(registers[(size_t)2 * i], registers[(size_t)2 * i + 1]);
    }
    return 0;
}

static bool is_empty(const struct oa_config *wanted)
{
    for (int i = 0; i < 3; i++) {
        if (wanted->registers[i] != 0 && wanted->counts[i] != 0)
            return false;
    }
    return true;
}

static long add(struct kmd_gpu *gpu, const struct oa_config *wanted, uint32_t *registers)
{
    size_t position = 0;

    for (uint32_t list = 0; list < 3; list++) {
        const int result = take_list(gpu, wanted, list, registers + position);

        if (result != 0)
            return result;
        position += (size_t)wanted->counts[list] * 2;
    }
    return (long)kmd_config_add(gpu, wanted->uuid, wanted->counts, registers, I915_FIRST_CONFIG);
}

long kmd_i915_add_config(struct kmd_call *call, uint64_t argument)
{
    struct oa_config wanted;
    uint32_t *registers;
    size_t count = 0;
    long result;

    if (kmd_copy_in(&wanted, argument, sizeof(wanted)) != 0)
        return -EFAULT;
    if (!kmd_i915_has_oa(call->gpu))
        return -I915_NOT_SUPPORTED;
    if (call->gpu->has_no_metrics_folder)
        return -EINVAL;
    if (!kmd_may_observe(call->gpu))
        return -EACCES;
    if (is_empty(&wanted) || !kmd_uuid_is_valid(wanted.uuid))
        return -EINVAL;
    for (int i = 0; i < 3; i++) {
        if (wanted.counts[i] > MAX_REGISTERS)
            return -EINVAL;
        count += wanted.counts[i];
    }
    registers = calloc(count, 8);
    if (!registers)
        return -ENOMEM;
    result = add(call->gpu, &wanted, registers);
    free(registers);
    return result;
}

long kmd_i915_remove_config(struct kmd_call *call, uint64_t argument)
{
    uint64_t id;

    if (kmd_copy_in(&id, argument, sizeof(id)) != 0)
        return -EFAULT;
    if (!kmd_i915_has_oa(call->gpu))
        return -I915_NOT_SUPPORTED;
    if (!kmd_may_observe(call->gpu))
        return -EACCES;
    return kmd_config_remove(call->gpu, id);
}

static uint32_t count_configs(const struct kmd_gpu *gpu)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < KMD_CONFIGS; i++)
        count += gpu->configs[i].id != 0;
    return count;
}

/* Ids behind the header; the first is the kernel's own. */
static int64_t query_list(const struct kmd_gpu *gpu, uint64_t data, int32_t length)
{
    const uint64_t count = count_configs(gpu);
    const int64_t needed = (int64_t)(HEADER_BYTES + 8 * count);
    uint64_t to = data + HEADER_BYTES + 8;
    const uint64_t first = KERNELS_OWN;

    if (length == 0)
        return needed;
    if (length < needed)
        return -EINVAL;
    if (kmd_copy_out(data, &count, sizeof(count)) != 0 ||
        kmd_copy_out(data + HEADER_BYTES, &first, sizeof(first)) != 0)
        return -EFAULT;
    for (uint32_t i = 0; i < KMD_CONFIGS; i++) {
        if (gpu->configs[i].id == 0)
            continue;
        if (kmd_copy_out(to, &gpu->configs[i].id, 8) != 0)
            return -EFAULT;
        to += 8;
    }
    return needed;
}

/* A list is copied when the caller asked for exactly as many as there are; 0 asks for the count. */
static int give_registers(const struct kmd_gpu *gpu, const struct kmd_oa_config *config,
                          struct oa_config *asked)
{
    uint32_t *registers = calloc((size_t)config->counts[0] + config->counts[1] + config->counts[2],
                                 2 * sizeof(uint32_t));
    size_t position = 0;
    int result = registers ? kmd_config_registers(gpu, config, registers) : -ENOMEM;

    for (int i = 0; i < 3 && result == 0; i++) {
        if (asked->counts[i] != 0 && asked->counts[i] < config->counts[i])
            result = -EINVAL;
        else if (asked->counts[i] != 0)
            result = kmd_copy_out(asked->registers[i], registers + position,
                                  (size_t)config->counts[i] * 8);
        asked->counts[i] = config->counts[i];
        position += (size_t)config->counts[i] * 2;
    }
    free(registers);
    return result;
}

static int64_t query_data(struct kmd_gpu *gpu, uint32_t flags, uint64_t data, int32_t length)
{
    const int64_t needed = HEADER_BYTES + (int64_t)sizeof(struct oa_config);
    struct {
        char uuid[40];
    } header;
    struct kmd_oa_config *config;
    struct oa_config asked;
    uint64_t id;
    int result;

    if (length == 0)
        return needed;
    if (length < needed)
        return -EINVAL;
    if (kmd_copy_in(&header, data, sizeof(header)) != 0 ||
        kmd_copy_in(&asked, data + HEADER_BYTES, sizeof(asked)) != 0)
        return -EFAULT;
    memcpy(&id, header.uuid, sizeof(id));
    config =
        flags == DATA_FOR_ID ? kmd_config_by_id(gpu, id) : kmd_config_by_uuid(gpu, header.uuid);
    if (!config)
        return -ENOENT;
    result = give_registers(gpu, config, &asked);
    if (result != 0)
        return result;
    memcpy(asked.uuid, config->uuid, sizeof(asked.uuid));
    return kmd_copy_out(data + HEADER_BYTES, &asked, sizeof(asked)) != 0 ? -EFAULT : needed;
}

int64_t kmd_i915_query_config(struct kmd_gpu *gpu, uint32_t flags, uint64_t data, int32_t length)
{
    uint32_t own_flags;

    if (!kmd_i915_has_oa(gpu))
        return -ENODEV;
    if (flags < LIST || flags > DATA_FOR_ID)
        return -EINVAL;
    if (length != 0) {
        if (kmd_copy_in(&own_flags, data + 40, sizeof(own_flags)) != 0)
            return -EFAULT;
        if (own_flags != 0)
            return -EINVAL;
    }
    return flags == LIST ? query_list(gpu, data, length) : query_data(gpu, flags, data, length);
}
