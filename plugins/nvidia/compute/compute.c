/* Contexts, results of the driver, and the table of operations. */
#include "compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/softqueue.h>

/* ---- results --------------------------------------------------------------------------------- */

static const struct {
    int cuda;
    const char *kind;
} faults[] = {
    {214, "an error of memory that ECC could not correct"},
    {220, "an error of NVLink that could not be corrected"},
    {226, "a GPU that was contained after an error"},
    {700, "an address that is not mapped"},
    {702, "a kernel that ran longer than the system permits"},
    {710, "an assertion in a kernel"},
    {714, "an error of the stack of the hardware"},
    {715, "an instruction that does not exist"},
    {716, "an address that is not aligned"},
    {717, "an address of another kind of memory than the instruction takes"},
    {718, "a program counter outside of the code"},
    {719, "an exception while a kernel ran"},
    {999, "an error that the driver cannot name; the GPU may be gone"},
};

const char *nvidia_fault_kind(int cuda)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (faults[i].cuda == cuda)
            return faults[i].kind;
    }
    return NULL;
}

bool nvidia_is_fault(int cuda)
{
    return nvidia_fault_kind(cuda) != NULL;
}

uint32_t nvidia_result(int cuda)
{
    switch (cuda) {
    case NVIDIA_CUDA_SUCCESS:
        return ZETA_PLUGIN_SUCCESS;
    case 1:   /* invalid value */
    case 101: /* invalid device */
    case 400: /* invalid handle */
    case 712: /* already registered */
    case 713: /* not registered */
    case 720: /* cooperative launch too large */
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    case NVIDIA_CUDA_OUT_OF_MEMORY:
    case 701: /* too many resources for a launch */
        return ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY;
    case NVIDIA_CUDA_DEVICE_UNAVAILABLE:
        return ZETA_PLUGIN_NOT_AVAILABLE;
    case 801: /* not supported */
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    default:
        return nvidia_is_fault(cuda) ? ZETA_PLUGIN_DEVICE_LOST : ZETA_PLUGIN_UNKNOWN;
    }
}

uint32_t nvidia_fail(struct zeta_plugin *self, struct zeta_plugin_device *device, int cuda,
                     const char *what)
{
    const struct nvidia_driver_text text = nvidia_driver_text(&self->nvidia->driver, cuda);
    const char *kind = nvidia_fault_kind(cuda);
    const uint32_t result = nvidia_result(cuda);
    struct nvidia_sentences mode = {""};
    char sentence[ZETA_HOST_TEXT_BYTES];

    if (cuda == NVIDIA_CUDA_DEVICE_UNAVAILABLE && device && nvidia_explain_mode(device, &mode))
        (void)snprintf(sentence, sizeof(sentence), "%s failed: %s. %.400s", what, text.text,
                       mode.text);
    else
        (void)snprintf(sentence, sizeof(sentence), "%s failed: %s%s%s%s", what, text.text,
                       kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
    if (result == ZETA_PLUGIN_DEVICE_LOST && device) {
        nvidia_device_lose(device, "%s", sentence);
        (void)nvidia_lost(device); /* leaves the first sentence */
        return result;
    }
    return zeta_host_fail(&self->host, result, "%s%s%s", device ? device->id : "",
                          device ? ": " : "", sentence);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static uint32_t make_context(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    struct nvidia_context *context = device->context;
    void *before = NULL, *primary = NULL;
    sigset_t signals;
    int cuda;

    /* Threads of the driver begin with the first context. */
    nvidia_signals_block(&signals);
    (void)driver->cuCtxGetCurrent(&before);
    cuda = driver->cuDevicePrimaryCtxRetain(&primary, device->cuda);
    if (cuda == NVIDIA_CUDA_SUCCESS)
        cuda = driver->cuCtxSetCurrent(primary);
    if (cuda == NVIDIA_CUDA_SUCCESS)
        cuda = driver->cuStreamCreateWithPriority(&context->clock, 1, 0);
    (void)driver->cuCtxSetCurrent(before);
    nvidia_signals_restore(&signals);
    if (cuda != NVIDIA_CUDA_SUCCESS) {
        if (primary)
            (void)driver->cuDevicePrimaryCtxRelease_v2(device->cuda);
        return nvidia_fail(self, device, cuda, "making the primary context");
    }
    atomic_store(&context->primary, primary);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_enter(struct zeta_plugin *self, struct zeta_plugin_device *device,
                      struct nvidia_entered *out_entered)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    struct nvidia_context *context = device->context;
    struct nvidia_entered entered = {0};
    void *primary = atomic_load(&context->primary);
    uint32_t result = nvidia_lost(device);
    int cuda;

    *out_entered = entered;
    if (result == ZETA_PLUGIN_SUCCESS && !primary) {
        (void)pthread_mutex_lock(&context->lock);
        if (!atomic_load(&context->primary))
            result = make_context(self, device);
        primary = atomic_load(&context->primary);
        (void)pthread_mutex_unlock(&context->lock);
    }
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    (void)driver->cuCtxGetCurrent(&entered.before);
    if (entered.before != primary) {
        cuda = driver->cuCtxSetCurrent(primary);
        if (cuda != NVIDIA_CUDA_SUCCESS)
            return nvidia_fail(self, device, cuda, "making the context current");
        entered.is_changed = true;
    }
    *out_entered = entered;
    return ZETA_PLUGIN_SUCCESS;
}

void nvidia_leave(struct zeta_plugin *self, const struct nvidia_entered *entered)
{
    if (entered->is_changed)
        (void)self->nvidia->driver.cuCtxSetCurrent(entered->before);
}

uint32_t nvidia_enter_any(struct zeta_plugin *self, struct nvidia_entered *out_entered)
{
    uint32_t result = ZETA_PLUGIN_NOT_AVAILABLE;

    for (uint32_t i = 0; result != ZETA_PLUGIN_SUCCESS && i < self->nvidia->device_count; i++)
        result = nvidia_enter(self, &self->nvidia->devices[i], out_entered);
    return result;
}

/* ---- a device that is lost ------------------------------------------------------------------- */

uint32_t nvidia_lost(struct zeta_plugin_device *device)
{
    return nvidia_device_ops.status(device->nvidia->self, device);
}

/* ---- the plugin ------------------------------------------------------------------------------ */

uint32_t nvidia_compute_init(struct nvidia *nvidia)
{
    const struct zeta_host *host = nvidia->host;
    struct nvidia_compute *compute =
        calloc(1, sizeof(*compute) + nvidia->device_count * sizeof(compute->contexts[0]));
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (compute)
        result = zeta_softqueue_pool_create(host->ops, host->handle, &compute->waiters);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(compute);
        return result;
    }
    (void)pthread_mutex_init(&compute->lock, NULL);
    for (uint32_t i = 0; i < nvidia->device_count; i++) {
        (void)pthread_mutex_init(&compute->contexts[i].lock, NULL);
        nvidia->devices[i].context = &compute->contexts[i];
    }
    nvidia->compute = compute;
    return ZETA_PLUGIN_SUCCESS;
}

static void finish_context(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    struct nvidia_context *context = device->context;
    struct nvidia_entered entered = {0};

    if (atomic_load(&context->primary) &&
        nvidia_enter(self, device, &entered) == ZETA_PLUGIN_SUCCESS) {
        nvidia_base_release(self, device, context->base);
        nvidia_print_finish(device);
        (void)driver->cuStreamDestroy_v2(context->clock);
        nvidia_leave(self, &entered);
        (void)driver->cuDevicePrimaryCtxRelease_v2(device->cuda);
    }
    (void)pthread_mutex_destroy(&context->lock);
    device->context = NULL;
}

void nvidia_compute_finish(struct nvidia *nvidia)
{
    struct nvidia_compute *compute = nvidia->compute;

    if (!compute)
        return;
    for (uint32_t i = 0; i < nvidia->device_count; i++)
        finish_context(nvidia->self, &nvidia->devices[i]);
    nvidia_memory_finish(compute);
    zeta_softqueue_pool_destroy(compute->waiters);
    (void)pthread_mutex_destroy(&compute->lock);
    free(compute);
    nvidia->compute = NULL;
}

static void wake(struct zeta_plugin *self)
{
    zeta_softqueue_pool_wake(self->nvidia->compute->waiters);
}

const struct zeta_plugin_compute_ops nvidia_compute_ops = {
    .struct_size = sizeof(struct zeta_plugin_compute_ops),
    .memory_allocate = nvidia_memory_allocate,
    .memory_free = nvidia_memory_free,
    .memory_adopt = nvidia_memory_adopt,
    .memory_unused = nvidia_memory_unused,
    .virtual_page_bytes = nvidia_virtual_page,
    .virtual_reserve = nvidia_virtual_reserve,
    .virtual_free = nvidia_virtual_free,
    .physical_create = nvidia_physical_create,
    .physical_destroy = nvidia_physical_destroy,
    .virtual_map = nvidia_virtual_map,
    .virtual_unmap = nvidia_virtual_unmap,
    .virtual_access = nvidia_virtual_access,
    .module_create = nvidia_module_create,
    .module_destroy = nvidia_module_destroy,
    .module_kernel_names = nvidia_module_names,
    .module_native_image = nvidia_module_image,
    .module_global = nvidia_module_global,
    .module_symbols = nvidia_module_symbols,
    .module_link = nvidia_module_link,
    .kernel_create = nvidia_kernel_create,
    .kernel_destroy = nvidia_kernel_destroy,
    .kernel_properties = nvidia_kernel_properties,
    .kernel_resident_groups = nvidia_kernel_resident,
    .queue_create = nvidia_queue_create,
    .queue_destroy = nvidia_queue_destroy,
    .submit = nvidia_queue_submit,
    .submit_here = nvidia_queue_submit_here,
    .wake = wake,
    .queue_status = nvidia_queue_status,
    .queue_wait = nvidia_queue_wait,
};
