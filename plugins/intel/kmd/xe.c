/*
 * The table of the xe driver, and how questions are asked of it.
 */
#include "plugins/intel/kmd/xe.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "plugins/intel/kmd/kernel.h"

/* No answer is nearly as long. */
#define ANSWER_BYTES_MAX (1u << 20)

/* ---- questions ------------------------------------------------------------------------------ */

int zeta_xe_query(const struct zeta_intel_gpu *gpu, uint32_t query,
                  struct zeta_xe_answer *out_answer)
{
    struct zeta_xe_device_query argument = {.query = query};
    void *data;
    int result = zeta_intel_ioctl(gpu->fd, ZETA_XE_DEVICE_QUERY, &argument);

    if (result < 0)
        return result;
    if (argument.size == 0 || argument.size > ANSWER_BYTES_MAX)
        return -EPROTO;
    data = calloc(1, argument.size);
    if (!data)
        return -ENOMEM;
    argument.data = (uintptr_t)data;
    result = zeta_intel_ioctl(gpu->fd, ZETA_XE_DEVICE_QUERY, &argument);
    if (result < 0) {
        free(data);
        return result;
    }
    *out_answer = (struct zeta_xe_answer){data, argument.size};
    return 0;
}

void zeta_xe_answer_free(struct zeta_xe_answer *answer)
{
    free((void *)(uintptr_t)answer->data);
    *answer = (struct zeta_xe_answer){NULL, 0};
}

bool zeta_xe_is_gone(struct zeta_intel_gpu *gpu)
{
    struct zeta_xe_device_query argument = {.query = ZETA_XE_QUERY_CONFIG};

    if (zeta_intel_ioctl(gpu->fd, ZETA_XE_DEVICE_QUERY, &argument) != -ENODEV)
        return false;
    atomic_store(&gpu->is_lost, true);
    return true;
}

uint32_t zeta_xe_fail(struct zeta_intel_gpu *gpu, const char *what, int error)
{
    const struct zeta_intel_errno_text text = zeta_intel_errno(error);
    uint32_t result = ZETA_PLUGIN_NOT_AVAILABLE;
    const char *advice = "see the kernel's log (dmesg)";

    switch (error) {
    case EACCES:
    case EPERM:
        return zeta_intel_fail_permission(gpu, what, error, ZETA_XE_SYSCTL);
    case ENODEV:
        if (zeta_xe_is_gone(gpu)) {
            result = ZETA_PLUGIN_DEVICE_LOST;
            advice = "the device was unplugged, or the driver gave it up; see dmesg";
            break;
        }
        result = ZETA_PLUGIN_UNSUPPORTED_FEATURE;
        advice = "it does not count on this device, as on virtual functions of a shared GPU";
        break;
    case ENOMEM:
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        advice = "the kernel has no memory for its buffer";
        break;
    case EMFILE:
    case ENFILE:
        advice = "close descriptors, or raise the limit (ulimit -n)";
        break;
    case ETIMEDOUT:
    case EIO:
        advice = "the GPU could not be woken; see dmesg";
        break;
    case ZETA_INTEL_ENOTSUPP:
        advice = "it has no such unit for this GPU, as in guests that have a part of one";
        break;
    default:
        break;
    }
    return zeta_host_fail(gpu->host, result, "%s (%s): the xe driver refused %s with %s: %s",
                          gpu->name, gpu->id, what, text.text, advice);
}

/* ---- clock ---------------------------------------------------------------------------------- */

int zeta_xe_cycles(const struct zeta_intel_gpu *gpu, const struct zeta_intel_tile *tile,
                   struct zeta_xe_engine_cycles *out_cycles)
{
    struct zeta_xe_engine_cycles cycles = {
        .eci = {.engine_class = (uint16_t)tile->clock_class,
                .engine_instance = (uint16_t)tile->clock_instance,
                .gt_id = (uint16_t)tile->clock_gt},
        .clockid = CLOCK_MONOTONIC_RAW,
    };
    struct zeta_xe_device_query argument = {
        .query = ZETA_XE_QUERY_ENGINE_CYCLES, .size = sizeof(cycles), .data = (uintptr_t)&cycles};
    const int result = zeta_intel_ioctl(gpu->fd, ZETA_XE_DEVICE_QUERY, &argument);

    if (result < 0)
        return result;
    *out_cycles = cycles;
    return 0;
}

/* The ticks were read at some moment of the delta: the middle is wrong by half of it at most. */
static uint32_t read_clock(struct zeta_intel_gpu *gpu, uint32_t tile,
                           struct zeta_plugin_clock *out_clock)
{
    struct zeta_xe_engine_cycles cycles;
    const int result = zeta_xe_cycles(gpu, &gpu->tiles[tile], &cycles);

    if (result < 0)
        return zeta_xe_fail(gpu, "to read the clock of an engine", -result);
    *out_clock = (struct zeta_plugin_clock){
        .struct_size = sizeof(*out_clock),
        .device_ticks = cycles.engine_cycles,
        .host_ns = cycles.cpu_timestamp + cycles.cpu_delta / 2,
        .error_ns = cycles.cpu_delta - cycles.cpu_delta / 2,
        .raw = 1,
    };
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- what the platform file and the kernel say of streams ------------------------------------ */

static bool counts_on(const struct zeta_intel_platform *platform)
{
    return platform->has_xe;
}

static bool find_format(const struct zeta_intel_format *format, uint32_t *out_number)
{
    *out_number = format->xe;
    return format->has_xe;
}

static const char *stream_name(const struct zeta_intel_unit *unit)
{
    return unit->kind == ZETA_INTEL_EU_STALL ? "xe_eu_stall" : "xe_oa";
}

const struct zeta_intel_kmd zeta_intel_xe = {
    .driver = "xe",
    .probe = zeta_xe_probe,
    .clock = read_clock,
    .config_get = zeta_xe_config_get,
    .config_remove = zeta_xe_config_remove,
    .stream_open = zeta_xe_stream_open,
    .stream_read = zeta_xe_stream_read,
    .stream_close = zeta_xe_stream_close,
    .counts_on = counts_on,
    .format = find_format,
    .stream_name = stream_name,
};
