/*
 * Configurations of counting units, which the kernel knows by uuid in all processes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/kmd/xe.h"

/* How often a configuration may vanish and come back between a look and an upload. */
#define ATTEMPTS 4

/* Uploads a configuration: its id, or the negative errno. */
static int upload(const struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program)
{
    struct zeta_xe_oa_config config = {.n_regs = program->count,
                                       .regs_ptr = (uintptr_t)program->registers};
    struct zeta_xe_observation observation = {
        .type = ZETA_XE_OBSERVATION_OA, .op = ZETA_XE_OP_ADD_CONFIG, .param = (uintptr_t)&config};

    memcpy(config.uuid, program->uuid, sizeof(config.uuid));
    return zeta_intel_ioctl(gpu->fd, ZETA_XE_OBSERVATION, &observation);
}

static uint32_t refuse(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                       int error)
{
    char what[96];

    if (error == EINVAL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: the xe driver refused the configuration %s with EINVAL: it "
                              "does not allow one of its %u registers on this device, or the uuid "
                              "is not in lower case; a newer kernel may allow more",
                              gpu->id, program->uuid, program->count);
    (void)snprintf(what, sizeof(what), "to take the configuration %.36s", program->uuid);
    return zeta_xe_fail(gpu, what, error);
}

uint32_t zeta_xe_config_get(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                            uint64_t *out_config)
{
    static_assert(sizeof(struct zeta_intel_register) == 8, "registers are what the kernel takes");

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int result;

        if (zeta_intel_config_find(gpu, program->uuid, out_config))
            return ZETA_PLUGIN_SUCCESS;
        result = upload(gpu, program);
        if (result >= 0) {
            *out_config = (uint64_t)result;
            return ZETA_PLUGIN_SUCCESS;
        }
        if (result != -EADDRINUSE)
            return refuse(gpu, program, -result);
    }
    return zeta_host_fail(gpu->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s: the kernel says that it has the configuration %s already, but "
                          "%s/metrics/%s/id cannot be read; is /sys mounted?",
                          gpu->id, program->uuid, gpu->card, program->uuid);
}

void zeta_xe_config_remove(struct zeta_intel_gpu *gpu, uint64_t config)
{
    struct zeta_xe_observation observation = {.type = ZETA_XE_OBSERVATION_OA,
                                              .op = ZETA_XE_OP_REMOVE_CONFIG,
                                              .param = (uintptr_t)&config};

    (void)zeta_intel_ioctl(gpu->fd, ZETA_XE_OBSERVATION, &observation);
}
