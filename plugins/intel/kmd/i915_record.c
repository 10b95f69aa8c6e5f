#include "plugins/intel/kmd/i915_record.h"

#include <string.h>

#include "plugins/intel/kmd/i915_uapi.h"

_Static_assert(sizeof(struct drm_i915_perf_record_header) == ZETA_INTEL_I915_HEADER_BYTES,
               "size of the header");

/* A header whose record lies in what was read, with a report of the right size if it has one. */
static bool is_sound(const struct zeta_intel_i915_records *records,
                     const struct drm_i915_perf_record_header *header)
{
    if (header->size < sizeof(*header) || header->size > records->bytes)
        return false;
    return header->type != DRM_I915_PERF_RECORD_SAMPLE ||
           header->size == sizeof(*header) + records->report_bytes;
}

bool zeta_intel_i915_records_take(struct zeta_intel_i915_records *records, void *out_reports,
                                  uint64_t capacity_bytes, struct zeta_plugin_read *read)
{
    struct drm_i915_perf_record_header header;
    uint8_t *out = (uint8_t *)out_reports + read->bytes;

    while (records->bytes > 0) {
        if (records->bytes < sizeof(header)) {
            records->bytes = 0;
            return false;
        }
        memcpy(&header, records->at, sizeof(header));
        if (!is_sound(records, &header)) {
            records->bytes = 0;
            return false;
        }
        if (header.type == DRM_I915_PERF_RECORD_SAMPLE) {
            if (capacity_bytes - read->bytes < records->report_bytes)
                return true;
            if (records->reason != ZETA_PLUGIN_BREAK_NONE && read->bytes > 0)
                return true;
            if (records->reason != ZETA_PLUGIN_BREAK_NONE) {
                read->broken = 1;
                read->reason = records->reason;
                records->reason = ZETA_PLUGIN_BREAK_NONE;
            }
            memcpy(out, records->at + sizeof(header), records->report_bytes);
            out += records->report_bytes;
            read->bytes += records->report_bytes;
        } else if (header.type == DRM_I915_PERF_RECORD_OA_BUFFER_LOST) {
            records->reason = ZETA_PLUGIN_BREAK_OVERFLOW;
        } else if (header.type == DRM_I915_PERF_RECORD_OA_REPORT_LOST) {
            records->has_loss = true;
        }
        records->at += header.size;
        records->bytes -= header.size;
    }
    return true;
}
