/*
 * The table of the xe driver, its clock, configurations, and how questions are asked of it.
 */
#include "plugins/intel/kmd/xe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugins/intel/kmd/kernel.h"

/* No answer is nearly as long. */
#define ANSWER_BYTES_MAX (1u << 20)

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

int zeta_xe_cycles(const struct zeta_intel_gpu *gpu, const struct zeta_intel_tile *tile,
                   struct zeta_xe_engine_cycles *out_cycles)
{
    struct zeta_xe_device_query argument = {.query = ZETA_XE_QUERY_ENGINE_CYCLES,
                                            .size = sizeof(*out_cycles),
                                            .data = (uintptr_t)out_cycles};

    *out_cycles = (struct zeta_xe_engine_cycles){
        .eci = {.engine_class = (uint16_t)tile->clock_class,
                .engine_instance = (uint16_t)tile->clock_instance,
                .gt_id = (uint16_t)tile->clock_gt},
        .clockid = CLOCK_MONOTONIC_RAW,
    };
    return zeta_intel_ioctl(gpu->fd, ZETA_XE_DEVICE_QUERY, &argument);
}

int zeta_xe_observe(const struct zeta_intel_gpu *gpu, uint32_t type, uint32_t operation,
                    const void *param)
{
    struct zeta_xe_observation observation = {
        .type = type, .op = operation, .param = (uintptr_t)param};

    return zeta_intel_ioctl(gpu->fd, ZETA_XE_OBSERVATION, &observation);
}

/* The ticks were read at some time of the delta: the middle is wrong by half of it at most. */
static uint32_t read_clock(struct zeta_intel_gpu *gpu, uint32_t tile,
                           struct zeta_plugin_clock *out_clock)
{
    struct zeta_xe_engine_cycles cycles;
    const int result = zeta_xe_cycles(gpu, &gpu->tiles[tile], &cycles);

    if (result < 0)
        return zeta_intel_fail(gpu, "to read the clock of an engine", -result);
    *out_clock = (struct zeta_plugin_clock){
        .struct_size = sizeof(*out_clock),
        .device_ticks = cycles.engine_cycles,
        .host_ns = cycles.cpu_timestamp + cycles.cpu_delta / 2,
        .error_ns = cycles.cpu_delta - cycles.cpu_delta / 2,
        .raw = 1,
    };
    return ZETA_PLUGIN_SUCCESS;
}

static_assert(sizeof(struct zeta_intel_register) == 8, "the kernel takes pairs of 32 bits");

/* One list of all classes. */
static int64_t config_add(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program)
{
    struct zeta_xe_oa_config config = {.n_regs = program->count,
                                       .regs_ptr = (uintptr_t)program->registers};

    memcpy(config.uuid, program->uuid, sizeof(config.uuid));
    return zeta_xe_observe(gpu, ZETA_XE_OBSERVATION_OA, ZETA_XE_OP_ADD_CONFIG, &config);
}

static void config_remove(struct zeta_intel_gpu *gpu, uint64_t config)
{
    (void)zeta_xe_observe(gpu, ZETA_XE_OBSERVATION_OA, ZETA_XE_OP_REMOVE_CONFIG, &config);
}

const struct zeta_intel_kmd zeta_intel_xe = {
    .driver = "xe",
    .is_xe = true,
    .sysctl = "dev.xe.observation_paranoid",
    .stream_names = {"xe_oa", "xe_eu_stall"},
    .probe = zeta_xe_probe,
    .clock = read_clock,
    .config_add = config_add,
    .config_remove = config_remove,
    .stream_open = zeta_xe_stream_open,
    .stream_read = zeta_xe_stream_read,
    .stream_close = zeta_xe_stream_close,
};
