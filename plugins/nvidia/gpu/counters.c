/*
 * The counters of a device: what CUPTI calls its chip, and what of this process has them.
 */
#include <stdio.h>
#include <string.h>

#include "plugins/nvidia/gpu/nvidia.h"

const char *nvidia_device_chip(struct zeta_plugin_device *device)
{
    struct nvidia *nvidia = device->nvidia;
    struct nvidia_chip_name name = {.device = (size_t)device->ordinal};
    sigset_t before;

    (void)pthread_mutex_lock(&nvidia->lock);
    if (device->chip[0] == '\0') {
        nvidia_signals_block(&before);
        if (nvidia_cupti_chip_name(&nvidia->cupti, &name) == NVIDIA_CUPTI_SUCCESS && name.name)
            (void)snprintf(device->chip, sizeof(device->chip), "%s", name.name);
        nvidia_signals_restore(&before);
    }
    (void)pthread_mutex_unlock(&nvidia->lock);
    return device->chip;
}

struct nvidia_label nvidia_device_label(const struct zeta_plugin_device *device)
{
    struct nvidia_label label;

    (void)snprintf(label.text, sizeof(label.text), "%s (%s)", device->name, device->id);
    return label;
}

bool nvidia_perfmon_take(struct zeta_plugin_device *device, const char *user)
{
    bool is_free;

    (void)pthread_mutex_lock(&device->nvidia->lock);
    is_free = device->perfmon_user[0] == '\0';
    if (is_free)
        (void)snprintf(device->perfmon_user, sizeof(device->perfmon_user), "%s", user);
    (void)pthread_mutex_unlock(&device->nvidia->lock);
    return is_free;
}

void nvidia_perfmon_give(struct zeta_plugin_device *device)
{
    (void)pthread_mutex_lock(&device->nvidia->lock);
    device->perfmon_user[0] = '\0';
    (void)pthread_mutex_unlock(&device->nvidia->lock);
}

bool nvidia_perfmon_user(struct zeta_plugin_device *device, char *out_user, size_t capacity_bytes)
{
    (void)pthread_mutex_lock(&device->nvidia->lock);
    (void)snprintf(out_user, capacity_bytes, "%s", device->perfmon_user);
    (void)pthread_mutex_unlock(&device->nvidia->lock);
    return out_user[0] != '\0';
}
