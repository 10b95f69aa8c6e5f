/* ADD_CONFIG and REMOVE_CONFIG of xe. */

#include "xe_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The longest list of any public set is far shorter; it bounds what a wrong count costs. */
enum { MAX_REGISTERS = 1 << 16 };

/* One list holds what the older driver takes in three: an address of any of them will do. */
static bool is_allowed(const struct kmd_gpu *gpu, uint32_t address)
{
    for (uint32_t list = 0; list < 3; list++)
        if (kmd_register_is_allowed(gpu, list, address))
            return true;
    return false;
}

/* Copies the list in and checks each address. */
static int read_registers(const struct kmd_gpu *gpu, const struct kmd_xe_oa_config *config,
                          uint32_t *registers)
{
    for (uint32_t i = 0; i < config->n_regs; i++) {
        uint32_t *pair = registers + 2 * (size_t)i;
        if (kmd_copy_in(pair, config->regs_ptr + (uint64_t)i * 8, 8))
            return -EFAULT;
        if (!is_allowed(gpu, pair[0]))
            return -EINVAL;
    }
    return 0;
}

long kmd_xe_config_add(struct kmd_gpu *gpu, uint64_t param)
{
    if (gpu->has_no_oa)
        return -ENODEV;
    if (!kmd_may_observe(gpu))
        return -EACCES;
    struct kmd_xe_oa_config config;
    if (kmd_copy_in(&config, param, sizeof(config)))
        return -EFAULT;
    if (config.extensions || !config.regs_ptr || !config.n_regs)
        return -EINVAL;
    if (!kmd_uuid_is_valid(config.uuid))
        return -EINVAL;
    if (config.n_regs > MAX_REGISTERS)
        return -ENOMEM;

    uint32_t *registers = calloc(config.n_regs, 2 * sizeof(*registers));
    if (!registers)
        return -ENOMEM;
    char uuid[sizeof(config.uuid) + 1] = {0};
    memcpy(uuid, config.uuid, sizeof(config.uuid));
    int64_t id = read_registers(gpu, &config, registers);
    if (id == 0)
        id = kmd_config_add(gpu, uuid, (const uint32_t[3]){config.n_regs}, registers, 1);
    free(registers);
    return id;
}

long kmd_xe_config_remove(struct kmd_gpu *gpu, uint64_t param)
{
    if (gpu->has_no_oa)
        return -ENODEV;
    if (!kmd_may_observe(gpu))
        return -EACCES;
    uint64_t id;
    if (kmd_copy_in(&id, param, sizeof(id)))
        return -EFAULT;
    return kmd_config_remove(gpu, id);
}
