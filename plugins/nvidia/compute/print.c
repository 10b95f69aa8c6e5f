/*
 * printf of kernels that zeta-nv-cc made: a launch has a buffer of its own in memory of the device,
 * into which it stores records (zeta/kernel_print.h). Once it has ended they are formatted here, so
 * what a launch printed is written before anybody learns that it ended, in the order of the queue.
 */
#include "compute.h"

#include <stdio.h>
#include <stdlib.h>

#include <zeta/kernel_print.h>

struct nvidia_print {
    struct nvidia_print *next;
    uint64_t address;
};

/* True for success. */
static bool check(const struct zeta_plugin_device *device, int cuda, const char *what,
                  struct nvidia_failure *failure)
{
    if (cuda == NVIDIA_CUDA_SUCCESS)
        return true;
    failure->result = nvidia_result(cuda);
    failure->cuda = cuda;
    (void)snprintf(failure->sentence, sizeof(failure->sentence), "%s failed: %s", what,
                   nvidia_driver_text(&device->nvidia->driver, cuda).text);
    return false;
}

static bool no_memory(struct nvidia_failure *failure)
{
    failure->result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    (void)snprintf(failure->sentence, sizeof(failure->sentence), "no memory for printf");
    return false;
}

/* One that no launch uses, or a new one; NULL with the failure. */
static struct nvidia_print *take(struct zeta_plugin_device *device, struct nvidia_failure *failure)
{
    const struct nvidia *nvidia = device->nvidia;
    struct nvidia_print *print;
    int cuda;

    (void)pthread_mutex_lock(&device->context->lock);
    print = device->context->prints;
    if (print)
        device->context->prints = print->next;
    (void)pthread_mutex_unlock(&device->context->lock);
    if (print)
        return print;
    print = calloc(1, sizeof(*print));
    if (!print) {
        (void)no_memory(failure);
        return NULL;
    }
    cuda = nvidia->driver.cuMemAlloc_v2(&print->address,
                                        sizeof(struct zeta_print_buffer) + nvidia->print_bytes);
    if (!check(device, cuda, "an allocation for printf (setting printf_buffer_mib)", failure)) {
        free(print);
        return NULL;
    }
    return print;
}

void nvidia_print_drop(struct zeta_plugin_device *device, struct nvidia_print *print)
{
    (void)pthread_mutex_lock(&device->context->lock);
    print->next = device->context->prints;
    device->context->prints = print;
    (void)pthread_mutex_unlock(&device->context->lock);
}

uint64_t nvidia_print_address(const struct nvidia_print *print)
{
    return print->address;
}

struct nvidia_print *nvidia_print_begin(struct zeta_plugin_device *device, void *stream,
                                        struct nvidia_failure *out_failure)
{
    const struct nvidia_driver *driver = &device->nvidia->driver;
    const struct zeta_print_buffer empty = {.room_bytes = device->nvidia->print_bytes};
    struct nvidia_print *print = take(device, out_failure);
    int cuda;

    if (!print)
        return NULL;
    cuda = driver->cuMemcpyAsync(print->address, (uintptr_t)&empty, sizeof(empty), stream);
    if (cuda == NVIDIA_CUDA_SUCCESS)
        cuda = driver->cuStreamSynchronize(stream);
    if (check(device, cuda, "clearing the buffer of printf", out_failure))
        return print;
    nvidia_print_drop(device, print);
    return NULL;
}

/* Copies to the host, and waits for all before. */
static bool read_device(const struct zeta_plugin_device *device, void *stream, void *target,
                        uint64_t source, size_t bytes, struct nvidia_failure *failure)
{
    const struct nvidia_driver *driver = &device->nvidia->driver;
    int cuda = driver->cuMemcpyAsync((uintptr_t)target, source, bytes, stream);

    if (cuda == NVIDIA_CUDA_SUCCESS)
        cuda = driver->cuStreamSynchronize(stream);
    return check(device, cuda, "reading what a kernel printed", failure);
}

static void write_text(void *user, const char *text, size_t size_bytes)
{
    const struct zeta_host *host = user;

    host->ops->kernel_output(host->handle, (struct zeta_plugin_string){text, size_bytes});
}

/* Formats the records that are in use. */
static bool write_records(const struct zeta_plugin_device *device, void *stream,
                          const struct nvidia_print *print, size_t used,
                          const struct zeta_plugin_kernel *kernel, struct nvidia_failure *failure)
{
    const struct zeta_host *host = device->nvidia->host;
    void *records = malloc(used);
    size_t bad_byte = 0;
    bool is_good;

    if (!records)
        return no_memory(failure);
    is_good = read_device(device, stream, records,
                          print->address + sizeof(struct zeta_print_buffer), used, failure);
    if (is_good &&
        !zeta_print_records(records, used, write_text, (void *)(uintptr_t)host, &bad_byte))
        zeta_host_log(host, ZETA_PLUGIN_LOG_WARN,
                      "%s: what kernel %s printed is damaged from byte %zu of its buffer on, and "
                      "left out: a kernel stored there",
                      device->id, kernel->name, bad_byte);
    free(records);
    return is_good;
}

bool nvidia_print_end(struct zeta_plugin_device *device, void *stream, struct nvidia_print *print,
                      const struct zeta_plugin_kernel *kernel, struct nvidia_failure *out_failure)
{
    const uint64_t room = device->nvidia->print_bytes;
    struct zeta_print_buffer head;
    bool is_good = read_device(device, stream, &head, print->address, sizeof(head), out_failure);

    if (is_good && head.used_bytes > 0)
        is_good = write_records(device, stream, print,
                                (size_t)(head.used_bytes < room ? head.used_bytes : room), kernel,
                                out_failure);
    if (is_good && head.lost_count > 0)
        zeta_host_log(device->nvidia->host, ZETA_PLUGIN_LOG_WARN,
                      "%s: %llu calls of printf in kernel %s are lost: they did not fit into %llu "
                      "MiB; set plugins.nvidia.printf_buffer_mib higher "
                      "(ZETA_PLUGIN_NVIDIA_PRINTF_BUFFER_MIB)",
                      device->id, (unsigned long long)head.lost_count, kernel->name,
                      (unsigned long long)(room >> 20));
    nvidia_print_drop(device, print);
    return is_good;
}

void nvidia_print_finish(struct zeta_plugin_device *device)
{
    struct nvidia_context *context = device->context;

    while (context->prints) {
        struct nvidia_print *print = context->prints;

        context->prints = print->next;
        (void)device->nvidia->driver.cuMemFree_v2(print->address);
        free(print);
    }
}
