/* The API functions that give the times of events. */
#include <zeta/clock.h>

#include "core/device/device.h"
#include "core/event/event.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

ze_result_t ZE_APICALL impl_zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                                        ze_kernel_timestamp_result_t *dstptr)
{
    return zeta_event_times((struct zeta_event *)hEvent, ZETA_VALUE_NONE, dstptr);
}

static ze_result_t read_times(struct zeta_event *event, ze_device_handle_t device,
                              ze_kernel_timestamp_result_t *out_times)
{
    ze_result_t result =
        zeta_context_check_device(event->context, (const struct zeta_device *)device);

    return result == ZE_RESULT_SUCCESS ? zeta_event_times(event, ZETA_VALUE_NONE, out_times)
                                       : result;
}

ze_result_t ZE_APICALL impl_zeEventQueryTimestampsExp(ze_event_handle_t hEvent,
                                                      ze_device_handle_t hDevice, uint32_t *pCount,
                                                      ze_kernel_timestamp_result_t *pTimestamps)
{
    ze_kernel_timestamp_result_t times;
    ze_result_t result = read_times((struct zeta_event *)hEvent, hDevice, &times);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_count_clip(pCount, 1, pTimestamps) == 1)
        *pTimestamps = times;
    return ZE_RESULT_SUCCESS;
}

/*
 * What turns nanoseconds of the device's clock into those of the host's raw clock at a time, by the
 * distance from now. The two clocks drift, and reading them takes a while, so the first answer
 * about the work of an event is kept with it: all processes give the same one.
 */
static ze_result_t host_shift(struct zeta_device *device, struct zeta_work_times *work,
                              uint64_t begin_ticks, double ns_per_tick, uint64_t *out_shift)
{
    uint64_t known = atomic_load(&work->host_shift);
    uint64_t ticks = 0;
    uint64_t host_ns = 0;
    ze_result_t result = known ? ZE_RESULT_SUCCESS : zeta_device_clock(device, &ticks, &host_ns);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!known) {
        int64_t age_ns = (int64_t)((double)(int64_t)(ticks - begin_ticks) * ns_per_tick);
        uint64_t shift = host_ns - (uint64_t)age_ns - (uint64_t)((double)begin_ticks * ns_per_tick);

        shift = shift ? shift : 1;
        if (atomic_compare_exchange_strong(&work->host_shift, &known, shift))
            known = shift;
    }
    *out_shift = known;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t synchronized_times(struct zeta_event *event,
                                      ze_synchronized_timestamp_result_ext_t *out)
{
    struct zeta_device *device = atomic_load(&event->device);
    double ns_per_tick = (double)ZETA_NS_PER_S / (double)device->backend->properties.timer_hz;
    struct zeta_work_times *work = NULL;
    uint64_t shift = 0;
    ze_result_t result = zeta_event_work(event, ZETA_VALUE_NONE, &work);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t begin = atomic_load(&work->begin_ticks);
    uint64_t end = atomic_load(&work->end_ticks);
    result = host_shift(device, work, begin, ns_per_tick, &shift);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t length_ns = (uint64_t)((double)(end - begin) * ns_per_tick);
    out->global.kernelStart = (uint64_t)((double)begin * ns_per_tick) + shift;
    out->global.kernelEnd = out->global.kernelStart + (length_ns > 0 ? length_ns : 1);
    out->context = out->global;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;
    ze_kernel_timestamp_result_t times;
    ze_result_t result = read_times(event, hDevice, &times);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_count_clip(pCount, 1, pResults) == 0)
        return ZE_RESULT_SUCCESS;
    if (pResults->pSynchronizedTimestampsBuffer) {
        if (!event->has_host_times)
            return zeta_error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "host times need a pool that was created with "
                "ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, or a counter based event "
                "with ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP");
        result = synchronized_times(event, pResults->pSynchronizedTimestampsBuffer);
    }
    if (result == ZE_RESULT_SUCCESS && pResults->pKernelTimestampsBuffer)
        *pResults->pKernelTimestampsBuffer = times;
    return result;
}
