/*
 * From the driver to devices: what CUDA lists for this process, and why it lists none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/nvidia/gpu/nvidia.h"

/* CUDA has an order of its own, which variables change; addresses are the same for everybody. */
static int compare_devices(const void *a, const void *b)
{
    return strcmp(((const struct zeta_plugin_device *)a)->id,
                  ((const struct zeta_plugin_device *)b)->id);
}

/* CUDA could not be started: no device, which may be meant so, or a reason to fail. */
static uint32_t refuse(const struct nvidia *nvidia, int result)
{
    const bool has_none = result == NVIDIA_CUDA_NO_DEVICE || result == NVIDIA_CUDA_INVALID_DEVICE;
    struct nvidia_sentences why = {""};

    nvidia_explain_cuda(nvidia, result, &why);
    return zeta_host_fail(nvidia->host,
                          has_none ? (uint32_t)ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s", why.text);
}

/* Fills the devices; who cannot be read is left out. */
static uint32_t list_devices(struct nvidia *nvidia, int count)
{
    nvidia->devices = calloc(count > 0 ? (size_t)count : 1, sizeof(*nvidia->devices));
    if (!nvidia->devices)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    for (int i = 0; i < count; i++) {
        const int result = nvidia_device_read(nvidia, i, &nvidia->devices[nvidia->device_count]);

        if (result == NVIDIA_CUDA_SUCCESS)
            nvidia->device_count++;
        else
            zeta_host_log(nvidia->host, ZETA_PLUGIN_LOG_WARN,
                          "device %d of CUDA is left out, because the driver does not tell its "
                          "properties: it returns %s",
                          i, nvidia_driver_text(&nvidia->driver, result).text);
    }
    if (nvidia->device_count > 1)
        qsort(nvidia->devices, nvidia->device_count, sizeof(*nvidia->devices), compare_devices);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_discover(struct nvidia *nvidia)
{
    const struct nvidia_driver *driver = &nvidia->driver;
    struct nvidia_sentences notes = {""};
    sigset_t before;
    uint32_t listed;
    int result, count = 0;

    if (!nvidia_driver_open(&nvidia->driver, nvidia->host, nvidia->root)) {
        nvidia_explain_no_driver(nvidia, &notes);
        return zeta_host_fail(nvidia->host, ZETA_PLUGIN_DEPENDENCY_UNAVAILABLE, "%s", notes.text);
    }
    nvidia_signals_block(&before);
    result = driver->cuInit(0);
    nvidia_signals_restore(&before);
    if (result == NVIDIA_CUDA_SUCCESS)
        result = driver->cuDriverGetVersion(&nvidia->driver_version);
    if (result == NVIDIA_CUDA_SUCCESS)
        result = driver->cuDeviceGetCount(&count);
    if (result != NVIDIA_CUDA_SUCCESS)
        return refuse(nvidia, result);
    listed = list_devices(nvidia, count);
    if (listed != ZETA_PLUGIN_SUCCESS)
        return listed;
    nvidia_explain_devices(nvidia, &notes);
    if (notes.text[0] != '\0')
        (void)zeta_host_fail(nvidia->host, ZETA_PLUGIN_SUCCESS, "%s", notes.text);
    return ZETA_PLUGIN_SUCCESS;
}

const struct nvidia_nvml *nvidia_nvml_get(struct nvidia *nvidia, const char **out_problem)
{
    (void)pthread_mutex_lock(&nvidia->lock);
    if (!nvidia->nvml_was_tried)
        (void)nvidia_nvml_open(&nvidia->nvml, nvidia->host, nvidia->root);
    nvidia->nvml_was_tried = true;
    (void)pthread_mutex_unlock(&nvidia->lock);
    *out_problem = nvidia->nvml.lib.problem;
    return nvidia->nvml.lib.handle ? &nvidia->nvml : NULL;
}

/* CUPTI asks for the time at calibrations only. */
static bool open_cupti(struct nvidia *nvidia)
{
    struct nvidia_cupti *cupti = &nvidia->cupti;
    sigset_t before;
    int result;

    if (!nvidia_cupti_open(cupti, nvidia->host, nvidia->root))
        return false;
    nvidia_signals_block(&before);
    result = cupti->cuptiActivityRegisterTimestampCallback
                 ? cupti->cuptiActivityRegisterTimestampCallback(nvidia_clock_ns)
                 : NVIDIA_CUPTI_NOT_SUPPORTED;
    nvidia_signals_restore(&before);
    if (result == NVIDIA_CUPTI_SUCCESS)
        return true;
    (void)snprintf(cupti->lib.problem, sizeof(cupti->lib.problem),
                   "%.300s takes no clock of ours (%.100s): it is older than that of CUDA 12.6, or "
                   "another tool uses it in this process.",
                   cupti->lib.path, nvidia_cupti_name(cupti, result));
    cupti->lib.handle = NULL;
    return false;
}

const struct nvidia_cupti *nvidia_cupti_get(struct nvidia *nvidia, const char **out_problem)
{
    (void)pthread_mutex_lock(&nvidia->lock);
    if (!nvidia->cupti_was_tried)
        (void)open_cupti(nvidia);
    nvidia->cupti_was_tried = true;
    (void)pthread_mutex_unlock(&nvidia->lock);
    *out_problem = nvidia->cupti.lib.problem;
    return nvidia->cupti.lib.handle ? &nvidia->cupti : NULL;
}
