/* Single commands, as calls of the driver on a stream. */
#include "compute.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <zeta/c_locale.h>

/* Bytes that go at once between memory of the application and the device. */
#define CHUNK_BYTES ((size_t)1 << 20)

/* Where a command goes. */
struct where {
    struct zeta_plugin_device *device;
    const struct nvidia_driver *driver;
    void *stream;
    struct nvidia_failure *failure;
};

/* False, always. */
__attribute__((format(printf, 3, 4))) static bool fail(const struct where *where, uint32_t result,
                                                       const char *format, ...)
{
    struct nvidia_failure *failure = where->failure;
    va_list values;

    failure->result = result;
    va_start(values, format);
    (void)zeta_c_vsnprintf(failure->sentence, sizeof(failure->sentence), format, values);
    va_end(values);
    return false;
}

/* True for success; else the failure, with what did not work in front. */
__attribute__((format(printf, 3, 4))) static bool done(const struct where *where, int cuda,
                                                       const char *format, ...)
{
    char what[200];
    va_list values;

    if (cuda == NVIDIA_CUDA_SUCCESS)
        return true;
    va_start(values, format);
    (void)zeta_c_vsnprintf(what, sizeof(what), format, values);
    va_end(values);
    where->failure->cuda = cuda;
    return fail(where, nvidia_result(cuda), "%s failed: %s", what,
                nvidia_driver_text(where->driver, cuda).text);
}

/* ---- copies -----------------------------------------------------------------------------------
 */

/* Memory that the driver knows: its copies of it are asynchronous. */
static bool is_known(const struct nvidia_driver *driver, const void *address)
{
    enum { MEMORY_TYPE = 2 };
    int type = 0;

    return driver->cuPointerGetAttribute(&type, MEMORY_TYPE, (uintptr_t)address) ==
           NVIDIA_CUDA_SUCCESS;
}

/*
 * Moves bytes of the application, at whatever address: through the kernel, which answers where a
 * copy by instructions would be a signal. Bytes moved, or -1.
 */
static int64_t move(void *target, const void *source, size_t bytes)
{
    const struct iovec to = {target, bytes};
    const struct iovec from = {(void *)(uintptr_t)source, bytes};
    const int64_t moved = syscall(SYS_process_vm_readv, getpid(), &to, 1UL, &from, 1UL, 0UL);

    if (moved >= 0 || errno == EFAULT)
        return moved;
    /* A sandbox forbids the call: as any program does it. */
    memcpy(target, source, bytes);
    return (int64_t)bytes;
}

static bool move_all(const struct where *where, char *target, const char *source, size_t bytes)
{
    for (size_t moved = 0; moved < bytes;) {
        const int64_t part = move(target + moved, source + moved, bytes - moved);
        char probe;

        if (part > 0) {
            moved += (size_t)part;
            continue;
        }
        if (move(&probe, source + moved, 1) != 1)
            return fail(where, ZETA_PLUGIN_DEVICE_LOST,
                        "a command reads %p, which is not there or not readable",
                        (const void *)(source + moved));
        return fail(where, ZETA_PLUGIN_DEVICE_LOST,
                    "a command writes %p, which is not there or not writable",
                    (void *)(target + moved));
    }
    return true;
}

/* Copies to or from memory that the driver does not know, chunk by chunk, and waits. */
static bool copy_through_host(const struct where *where, char *target, const char *source,
                              uint64_t bytes)
{
    const struct nvidia_driver *driver = where->driver;
    const bool from_known = is_known(driver, source), to_known = is_known(driver, target);
    char *chunk = malloc(bytes < CHUNK_BYTES ? (size_t)bytes : CHUNK_BYTES);
    bool is_good = chunk != NULL;

    if (!chunk)
        return fail(where, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "no memory for a copy");
    for (uint64_t at = 0; is_good && at < bytes;) {
        const size_t part = bytes - at < CHUNK_BYTES ? (size_t)(bytes - at) : CHUNK_BYTES;

        if (!from_known)
            is_good = move_all(where, chunk, source + at, part);
        else
            is_good = done(where,
                           driver->cuMemcpyAsync((uintptr_t)chunk, (uintptr_t)source + at, part,
                                                 where->stream),
                           "a copy of %zu bytes from %p", part, (const void *)(source + at)) &&
                      done(where, driver->cuStreamSynchronize(where->stream), "a copy");
        if (is_good && !to_known)
            is_good = move_all(where, target + at, chunk, part);
        else if (is_good)
            is_good = done(where,
                           driver->cuMemcpyAsync((uintptr_t)target + at, (uintptr_t)chunk, part,
                                                 where->stream),
                           "a copy of %zu bytes to %p", part, (void *)(target + at)) &&
                      done(where, driver->cuStreamSynchronize(where->stream), "a copy");
        at += part;
    }
    free(chunk);
    return is_good;
}

static bool copy(const struct where *where, void *target, const void *source, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    if (!is_known(where->driver, target) || !is_known(where->driver, source))
        return copy_through_host(where, target, source, bytes);
    return done(where,
                where->driver->cuMemcpyAsync((uintptr_t)target, (uintptr_t)source, (size_t)bytes,
                                             where->stream),
                "a copy of %llu bytes from %p to %p", (unsigned long long)bytes, source, target);
}

static uint64_t or_else(uint64_t value, uint64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

/* One side of a region: memory of any kind, its rows and slices. */
static struct nvidia_copy_side side(const void *base, const uint64_t origin[3], uint64_t pitch,
                                    uint64_t slice)
{
    enum { UNIFIED = 4 };

    return (struct nvidia_copy_side){.x = (size_t)origin[0],
                                     .y = (size_t)origin[1],
                                     .z = (size_t)origin[2],
                                     .type = UNIFIED,
                                     .device = (uintptr_t)base,
                                     .pitch = (size_t)pitch,
                                     .height = (size_t)(slice / pitch)};
}

static bool copy_region(const struct where *where, const struct zeta_plugin_copy_region *region)
{
    const uint64_t *size = region->size;
    const uint64_t to_pitch = or_else(region->target_pitch_bytes, size[0]);
    const uint64_t from_pitch = or_else(region->source_pitch_bytes, size[0]);
    const uint64_t to_slice = or_else(region->target_slice_bytes, to_pitch * size[1]);
    const uint64_t from_slice = or_else(region->source_slice_bytes, from_pitch * size[1]);
    const uint64_t *to = region->target_origin, *from = region->source_origin;

    if (size[0] == 0 || size[1] == 0 || size[2] == 0)
        return true;
    /* The driver counts a slice in whole rows. */
    if (to_slice % to_pitch == 0 && from_slice % from_pitch == 0 &&
        is_known(where->driver, region->target) && is_known(where->driver, region->source)) {
        const struct nvidia_copy_box box = {.source =
                                                side(region->source, from, from_pitch, from_slice),
                                            .target = side(region->target, to, to_pitch, to_slice),
                                            .width = (size_t)size[0],
                                            .height = (size_t)size[1],
                                            .depth = (size_t)size[2]};

        return done(where, where->driver->cuMemcpy3DAsync_v2(&box, where->stream),
                    "a copy of a region from %p to %p", region->source, region->target);
    }
    for (uint64_t z = 0; z < size[2]; z++) {
        for (uint64_t y = 0; y < size[1]; y++) {
            char *target =
                (char *)region->target + (to[2] + z) * to_slice + (to[1] + y) * to_pitch + to[0];
            const char *source = (const char *)region->source + (from[2] + z) * from_slice +
                                 (from[1] + y) * from_pitch + from[0];

            if (!copy(where, target, source, size[0]))
                return false;
        }
    }
    return true;
}

/* ---- fills ------------------------------------------------------------------------------------
 */

/* Bytes after which a pattern repeats itself, if the driver can repeat them: 1, 2 or 4, or 0. */
static uint64_t fill_width(const struct zeta_plugin_fill *fill)
{
    const char *pattern = fill->pattern;

    for (uint64_t width = 1; width <= 4; width *= 2) {
        if (fill->pattern_bytes % width == 0 && fill->size_bytes % width == 0 &&
            (uintptr_t)fill->target % width == 0 &&
            memcmp(pattern, pattern + width, (size_t)(fill->pattern_bytes - width)) == 0)
            return width;
    }
    return 0;
}

/* Fills memory that the driver does not know, chunk by chunk, when what comes before is done. */
static bool fill_through_host(const struct where *where, const struct zeta_plugin_fill *fill)
{
    /* Whole patterns, so that each chunk begins with one. */
    const uint64_t most = CHUNK_BYTES / fill->pattern_bytes * fill->pattern_bytes;
    const size_t room = (size_t)(most < fill->size_bytes ? most : fill->size_bytes);
    char *chunk = malloc(room);
    bool is_good;

    if (!chunk)
        return fail(where, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "no memory for a fill");
    for (size_t i = 0; i < room; i++)
        chunk[i] = ((const char *)fill->pattern)[i % fill->pattern_bytes];
    is_good = done(where, where->driver->cuStreamSynchronize(where->stream), "work before a fill");
    for (uint64_t at = 0; is_good && at < fill->size_bytes; at += room) {
        const uint64_t left = fill->size_bytes - at;

        is_good =
            move_all(where, (char *)fill->target + at, chunk, left < room ? (size_t)left : room);
    }
    free(chunk);
    return is_good;
}

static bool fill(const struct where *where, const struct zeta_plugin_fill *fill)
{
    const struct nvidia_driver *driver = where->driver;
    const uint64_t width = fill_width(fill), bytes = fill->size_bytes;
    const uint64_t target = (uintptr_t)fill->target;
    uint64_t filled = fill->pattern_bytes < bytes ? fill->pattern_bytes : bytes;
    uint32_t value = 0;
    int cuda = NVIDIA_CUDA_SUCCESS;

    if (bytes == 0)
        return true;
    if (!is_known(driver, fill->target))
        return fill_through_host(where, fill);
    if (width > 0)
        memcpy(&value, fill->pattern, (size_t)width);
    if (width == 1)
        cuda = driver->cuMemsetD8Async(target, (unsigned char)value, (size_t)bytes, where->stream);
    else if (width == 2)
        cuda = driver->cuMemsetD16Async(target, (unsigned short)value, (size_t)bytes / 2,
                                        where->stream);
    else if (width == 4)
        cuda = driver->cuMemsetD32Async(target, value, (size_t)bytes / 4, where->stream);
    else if (!copy(where, fill->target, fill->pattern, filled))
        return false;
    /* The pattern once, then what is filled is copied behind itself. */
    while (width == 0 && cuda == NVIDIA_CUDA_SUCCESS && filled < bytes) {
        const uint64_t part = filled < bytes - filled ? filled : bytes - filled;

        cuda = driver->cuMemcpyAsync(target + filled, target, (size_t)part, where->stream);
        filled += part;
    }
    return done(where, cuda, "a fill of %llu bytes at %p", (unsigned long long)bytes, fill->target);
}

/* ---- launches ---------------------------------------------------------------------------------
 */

static bool launch_cooperative(const struct where *where, const struct zeta_plugin_launch *launch,
                               const char *block, const uint32_t groups[3], uint32_t shared)
{
    const struct zeta_plugin_kernel *kernel = launch->kernel;
    const uint32_t *threads = launch->group_size;
    void **parameters = calloc(kernel->argument_count + (size_t)4, sizeof(void *));
    uint32_t count = kernel->argument_count;
    int cuda;

    if (!parameters)
        return fail(where, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "no memory for a launch");
    for (uint32_t i = 0; i < kernel->argument_count; i++)
        parameters[i] = (char *)(uintptr_t)block + kernel->arguments[i].offset_bytes;
    for (uint32_t i = 0; i < 3 && kernel->has_offset; i++)
        parameters[count++] = (char *)(uintptr_t)block + kernel->offset_at + i * sizeof(uint32_t);
    if (kernel->prints)
        parameters[count++] = (char *)(uintptr_t)block + kernel->print_at;
    cuda = where->driver->cuLaunchCooperativeKernel(kernel->function, groups[0], groups[1],
                                                    groups[2], threads[0], threads[1], threads[2],
                                                    shared, where->stream, parameters);
    free((void *)parameters);
    return done(where, cuda,
                "a cooperative launch of %s with %ux%ux%u groups (more than can be resident?)",
                kernel->name, groups[0], groups[1], groups[2]);
}

/* All that PTX of the version that zeta-nv-cc writes can have is 4352 bytes. */
#define MOST_PARAMETER_BYTES 4352

/* With the buffer of printf, NULL for kernels that do not print. */
static bool launch_groups(const struct where *where, const struct zeta_plugin_command *command,
                          const uint32_t groups[3], const struct nvidia_print *print)
{
    enum { BUFFER_POINTER = 1, BUFFER_SIZE = 2 };
    const struct zeta_plugin_launch *launch = &command->u.launch;
    const struct zeta_plugin_kernel *kernel = launch->kernel;
    const uint32_t *threads = launch->group_size;
    size_t bytes = kernel->parameter_bytes;
    const char *block = launch->arguments;
    void *extra[] = {(void *)BUFFER_POINTER, (void *)(uintptr_t)block, (void *)BUFFER_SIZE, &bytes,
                     NULL};
    const uint64_t shared = nvidia_kernel_shared(kernel, launch->arguments);
    char made[MOST_PARAMETER_BYTES];

    if (kernel->is_ours) {
        if (bytes > sizeof(made))
            return fail(where, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                        "%s has %zu bytes of parameters, more than %zu", kernel->name, bytes,
                        sizeof(made));
        nvidia_kernel_parameters(kernel, launch, print ? nvidia_print_address(print) : 0, made);
        block = made;
        extra[1] = made;
    }
    if (command->flags & ZETA_PLUGIN_COMMAND_COOPERATIVE)
        return launch_cooperative(where, launch, block, groups, (uint32_t)shared);
    return done(where,
                where->driver->cuLaunchKernel(kernel->function, groups[0], groups[1], groups[2],
                                              threads[0], threads[1], threads[2], (uint32_t)shared,
                                              where->stream, NULL,
                                              kernel->parameter_bytes > 0 ? extra : NULL),
                "a launch of %s with groups of %ux%ux%u (%d registers per thread, %d bytes of "
                "static and %llu of dynamic shared memory; at most %d threads)",
                kernel->name, threads[0], threads[1], threads[2], kernel->registers,
                kernel->shared_bytes, (unsigned long long)shared, kernel->max_threads);
}

/* Launches, waits, and writes what was printed. */
static bool launch_printing(const struct where *where, const struct zeta_plugin_command *command,
                            const uint32_t groups[3])
{
    struct nvidia_print *print = nvidia_print_begin(where->device, where->stream, where->failure);

    if (!print)
        return false;
    if (!launch_groups(where, command, groups, print)) {
        nvidia_print_drop(where->device, print);
        return false;
    }
    return nvidia_print_end(where->device, where->stream, print, command->u.launch.kernel,
                            where->failure);
}

static bool launch(const struct where *where, const struct zeta_plugin_command *command)
{
    const struct zeta_plugin_launch *launch = &command->u.launch;
    const struct zeta_plugin_kernel *kernel = launch->kernel;
    const uint32_t *most = where->device->max_group_count;
    uint32_t groups[3];

    memcpy(groups, launch->group_count, sizeof(groups));
    if ((command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) &&
        (!copy(where, groups, launch->indirect_counts, sizeof(groups)) ||
         !done(where, where->driver->cuStreamSynchronize(where->stream), "reading group counts")))
        return false;
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0)
        return true;
    for (int i = 0; i < 3; i++) {
        if (groups[i] > most[i])
            return fail(where, ZETA_PLUGIN_INVALID_ARGUMENT,
                        "a launch of %s has %ux%ux%u groups; the device takes at most %ux%ux%u",
                        kernel->name, groups[0], groups[1], groups[2], most[0], most[1], most[2]);
    }
    return kernel->prints ? launch_printing(where, command, groups)
                          : launch_groups(where, command, groups, NULL);
}

/* ---- commands ---------------------------------------------------------------------------------
 */

bool nvidia_command_is_asynchronous(struct zeta_plugin *self,
                                    const struct zeta_plugin_command *command)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;

    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_BARRIER:
        return true;
    case ZETA_PLUGIN_COMMAND_LAUNCH:
        return !(command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) &&
               !command->u.launch.kernel->prints;
    case ZETA_PLUGIN_COMMAND_COPY:
        return !(command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) &&
               is_known(driver, command->u.copy.target) && is_known(driver, command->u.copy.source);
    case ZETA_PLUGIN_COMMAND_COPY_REGION:
        return is_known(driver, command->u.region.target) &&
               is_known(driver, command->u.region.source);
    case ZETA_PLUGIN_COMMAND_FILL:
        return fill_width(&command->u.fill) > 0 && is_known(driver, command->u.fill.target);
    default:
        return false;
    }
}

bool nvidia_stream_wait(struct zeta_plugin *self, void *stream, struct nvidia_failure *out_failure)
{
    const struct where where = {
        .driver = &self->nvidia->driver, .stream = stream, .failure = out_failure};

    return done(&where, where.driver->cuStreamSynchronize(stream), "work of the device");
}

bool nvidia_command_run(struct zeta_plugin *self, struct zeta_plugin_device *device, void *stream,
                        const struct zeta_plugin_command *command,
                        struct nvidia_failure *out_failure)
{
    const struct where where = {.device = device,
                                .driver = &self->nvidia->driver,
                                .stream = stream,
                                .failure = out_failure};
    const struct zeta_plugin_copy *bytes = &command->u.copy;
    uint64_t now;

    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_BARRIER:
        return true; /* in order anyway */
    case ZETA_PLUGIN_COMMAND_LAUNCH:
        return launch(&where, command);
    case ZETA_PLUGIN_COMMAND_COPY:
        if (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT)
            bytes = bytes->indirect;
        return copy(&where, bytes->target, bytes->source, bytes->size_bytes);
    case ZETA_PLUGIN_COMMAND_COPY_REGION:
        return copy_region(&where, &command->u.region);
    case ZETA_PLUGIN_COMMAND_FILL:
        return fill(&where, &command->u.fill);
    case ZETA_PLUGIN_COMMAND_TIMESTAMP:
        now = nvidia_clock_ns();
        return copy(&where, command->u.timestamp, &now, sizeof(now));
    case ZETA_PLUGIN_COMMAND_MARKER:
        return fail(&where, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                    "counting units of NVIDIA's GPUs take no markers");
    default:
        return fail(&where, ZETA_PLUGIN_UNSUPPORTED_FEATURE, "command %u is unknown here",
                    command->type);
    }
}
