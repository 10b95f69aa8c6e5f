#include <zeta/intel_gpu.h>

#include <string.h>

/* The head of the block; all offsets behind it are relative to its end. */
struct head {
    uint16_t flags, max_slices, max_subslices, max_eus;
    uint16_t subslice_offset, subslice_stride, eu_offset, eu_stride;
};

_Static_assert(sizeof(struct head) == 16, "size of drm_i915_query_topology_info");

static bool bit_of(const uint8_t *bytes, uint32_t bit)
{
    return (bytes[bit / 8] >> (bit % 8)) & 1;
}

/* Whether all masks lie in the block, in rows that hold what they say. */
static bool is_complete(const struct head *head, size_t data_bytes)
{
    const size_t subslices_end =
        head->subslice_offset + (size_t)head->max_slices * head->subslice_stride;
    const size_t eus_end =
        head->eu_offset + (size_t)head->max_slices * head->max_subslices * head->eu_stride;

    return head->max_slices > 0 && head->max_slices <= ZETA_INTEL_SLICES &&
           head->max_subslices > 0 && head->max_subslices <= 32 && head->max_eus > 0 &&
           (size_t)head->subslice_stride * 8 >= head->max_subslices &&
           (size_t)head->eu_stride * 8 >= head->max_eus &&
           data_bytes >= (head->max_slices + 7u) / 8 && data_bytes >= subslices_end &&
           data_bytes >= eus_end;
}

bool zeta_intel_topology_read(const void *block, size_t bytes,
                              struct zeta_intel_topology *out_topology)
{
    struct head head;
    const uint8_t *data = (const uint8_t *)block + sizeof(head);

    if (bytes < sizeof(head))
        return false;
    memcpy(&head, block, sizeof(head));
    if (!is_complete(&head, bytes - sizeof(head)))
        return false;
    memset(out_topology->subslice_mask, 0, sizeof(out_topology->subslice_mask));
    out_topology->max_slices = head.max_slices;
    out_topology->max_subslices = head.max_subslices;
    out_topology->max_eus = head.max_eus;
    out_topology->eus = 0;
    for (uint32_t s = 0; s < head.max_slices; s++) {
        for (uint32_t ss = 0; ss < head.max_subslices; ss++) {
            const uint8_t *eus =
                data + head.eu_offset + ((size_t)s * head.max_subslices + ss) * head.eu_stride;

            if (!bit_of(data, s) ||
                !bit_of(data + head.subslice_offset + (size_t)s * head.subslice_stride, ss))
                continue;
            out_topology->subslice_mask[s] |= 1u << ss;
            for (uint32_t eu = 0; eu < head.max_eus; eu++)
                out_topology->eus += bit_of(eus, eu);
        }
    }
    zeta_intel_topology_count(out_topology);
    return true;
}

void zeta_intel_topology_split(struct zeta_intel_topology *topology, uint32_t per_slice)
{
    const uint32_t flat = topology->subslice_mask[0];

    if (per_slice == 0 || topology->max_slices != 1 || topology->max_subslices <= per_slice)
        return;
    topology->max_slices = (topology->max_subslices + per_slice - 1) / per_slice;
    topology->max_subslices = per_slice;
    for (uint32_t s = 0; s < topology->max_slices; s++)
        topology->subslice_mask[s] =
            (uint32_t)((uint64_t)flat >> (s * per_slice)) & ((1u << per_slice) - 1);
    zeta_intel_topology_count(topology);
}

void zeta_intel_topology_count(struct zeta_intel_topology *topology)
{
    topology->slices = 0;
    topology->subslices = 0;
    for (uint32_t s = 0; s < ZETA_INTEL_SLICES; s++) {
        topology->slices += topology->subslice_mask[s] != 0;
        topology->subslices += (uint32_t)__builtin_popcount(topology->subslice_mask[s]);
    }
}

uint64_t zeta_intel_topology_slice_mask(const struct zeta_intel_topology *topology)
{
    uint64_t mask = 0;

    for (uint32_t s = 0; s < ZETA_INTEL_SLICES; s++)
        mask |= (uint64_t)(topology->subslice_mask[s] != 0) << s;
    return mask;
}

uint64_t zeta_intel_topology_subslice_mask(const struct zeta_intel_topology *topology,
                                           uint32_t per_slice)
{
    uint64_t mask = 0;

    for (uint32_t s = 0; s < ZETA_INTEL_SLICES && s * per_slice < 64; s++)
        mask |= (uint64_t)topology->subslice_mask[s] << (s * per_slice);
    return mask;
}
