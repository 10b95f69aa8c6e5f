/*
 * Streams of EU stall samples: one for a GT, opened stopped, records of fixed size without a time
 * stamp.
 */
#include <errno.h>

#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/kmd/xe.h"

/* The kernel's buffer for all subslices of the unit's GT; 0: it does not say. */
static uint64_t ask_buffer_bytes(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_intel_unit *unit)
{
    struct zeta_xe_answer answer;
    struct zeta_xe_problem problem;
    struct zeta_intel_unit told = {0};
    uint64_t bytes = 0;

    if (zeta_xe_query(gpu, ZETA_XE_QUERY_EU_STALL, &answer) < 0)
        return 0;
    if (!zeta_xe_parse_eu_stall(answer, &told, &bytes, &problem) || bytes > UINT64_MAX / 1024 / 64)
        bytes = 0;
    zeta_xe_answer_free(&answer);
    return bytes * gpu->tiles[unit->tile].topology.subslices;
}

static int observe(const struct zeta_intel_gpu *gpu,
                   const struct zeta_intel_stream_request *request, uint64_t buffer_bytes)
{
    struct zeta_xe_properties properties = {0};
    uint64_t notify = request->notify_records;

    zeta_xe_property_add(&properties, ZETA_XE_STALL_GT_ID, request->unit->kernel_id);
    zeta_xe_property_add(&properties, ZETA_XE_STALL_SAMPLE_RATE,
                         request->unit->rates[request->exponent]);
    if (notify > buffer_bytes / 2 / request->record_bytes)
        notify = buffer_bytes / 2 / request->record_bytes;
    if (notify > 1)
        zeta_xe_property_add(&properties, ZETA_XE_STALL_WAIT_NUM_REPORTS, notify);
    return zeta_xe_observe(gpu, ZETA_XE_OBSERVATION_EU_STALL, &properties);
}

static uint32_t refuse(struct zeta_intel_gpu *gpu, const struct zeta_intel_stream_request *request,
                       int error)
{
    if (error == EBUSY)
        return zeta_intel_fail_busy(gpu, request->unit);
    if (error == EINVAL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "%s: the xe driver refused to sample stalls on GT %u each %llu "
                              "cycles with EINVAL; sampling of stalls came with Linux 6.15",
                              gpu->id, request->unit->gt,
                              (unsigned long long)request->unit->rates[request->exponent]);
    return zeta_xe_fail(gpu, "to open a stream of EU stall samples", error);
}

uint32_t zeta_xe_stall_open(struct zeta_intel_gpu *gpu,
                            const struct zeta_intel_stream_request *request,
                            struct zeta_xe_stream **out_stream)
{
    const uint32_t rates = sizeof(request->unit->rates) / sizeof(request->unit->rates[0]);
    const uint64_t buffer_bytes = ask_buffer_bytes(gpu, request->unit);
    struct zeta_xe_stream *stream;
    int fd, result;

    if (request->exponent >= rates || request->unit->rates[request->exponent] == 0)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: the unit %s has no rate number %u", gpu->id, request->unit->name,
                              request->exponent);
    fd = observe(gpu, request, buffer_bytes);
    if (fd < 0)
        return refuse(gpu, request, -fd);
    stream = zeta_xe_stream_make(gpu, request, fd);
    if (!stream)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    stream->base.ring_bytes = buffer_bytes;
    result = zeta_intel_ioctl(fd, ZETA_XE_STREAM_ENABLE, NULL);
    if (result < 0) {
        zeta_xe_stream_close(&stream->base);
        return zeta_xe_fail(gpu, "to start the sampling of EU stalls", -result);
    }
    *out_stream = stream;
    return ZETA_PLUGIN_SUCCESS;
}
