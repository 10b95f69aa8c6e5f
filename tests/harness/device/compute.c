/* A device without arithmetic, for tests of the core. Threads are those of the software queue. */
#include "tests/harness/device/compute_control.h"
#include "tests/harness/device/metrics.h"
#include "tests/harness/device/scripted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zeta/clock.h>
#include <zeta/plugin.h>
#include <zeta/softqueue.h>

#define DEVICE_COUNT FAKE_DEVICE_COUNT
#define KERNEL_COUNT 7

struct zeta_plugin {
    const struct zeta_plugin_host_ops *ops;
    struct zeta_plugin_host *host;
    struct zeta_plugin_host_ops late_ops;
    struct zeta_softqueue_pool *pool;
    struct zeta_plugin_device devices[DEVICE_COUNT];
};

struct zeta_plugin_module {
    char *image;
    size_t image_bytes;
    struct zeta_plugin_string names[KERNEL_COUNT];
    uint64_t name_count;
    struct zeta_plugin_string imports[KERNEL_COUNT]; /* words that begin with '-' */
    uint64_t import_count;
    struct zeta_plugin_string exports[KERNEL_COUNT]; /* with '+' */
    uint64_t export_count;
};

struct zeta_plugin_kernel {
    const struct fake_kernel *kind;
};

struct zeta_plugin_queue {
    struct zeta_plugin *self;
    struct zeta_softqueue *soft;
    atomic_bool interrupted;
    atomic_bool lost;
    _Atomic uint64_t accepted; /* submissions */
    struct fake_work work;
};

/* A submission whose end is told in queue_wait(). */
struct withheld {
    struct withheld *next;
    struct zeta_plugin_queue *queue;
    void *cookie;
    uint64_t number;
    bool is_over;
    uint32_t result;
};

static atomic_uint lost_queues;
static atomic_uint live_kernels;
static atomic_uint live_modules;
static atomic_uint live_memory;
static atomic_uint late_ms;
static atomic_uint queue_count;
static _Atomic uint64_t fixed_ticks;

static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hold_changed = PTHREAD_COND_INITIALIZER;
static bool released;
static uint32_t holding;

static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t report_changed = PTHREAD_COND_INITIALIZER;
static struct withheld *reports;
static atomic_uint report_count;
static atomic_bool withholds;
static atomic_uint refused;
static atomic_uint looks;

/* ---------------------------------------------------------------- kernels */

static uint32_t run_add(struct zeta_plugin_queue *queue, const struct zeta_plugin_launch *launch)
{
    uint64_t *target;
    uint64_t value;
    uint64_t groups;

    memcpy(&target, launch->arguments, sizeof(target));
    memcpy(&value, (const char *)launch->arguments + 8, sizeof(value));
    groups = (uint64_t)launch->group_count[0] * launch->group_count[1] * launch->group_count[2];
    if (launch->indirect_counts)
        groups = (uint64_t)launch->indirect_counts[0] * launch->indirect_counts[1] *
                 launch->indirect_counts[2];
    *target += value * groups;
    queue->work.added += value * groups;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t run_size(struct zeta_plugin_queue *queue, const struct zeta_plugin_launch *launch)
{
    uint64_t *target;

    (void)queue;
    memcpy(&target, launch->arguments, sizeof(target));
    memcpy(target, (const char *)launch->arguments + 8, sizeof(*target));
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t run_hold(struct zeta_plugin_queue *queue, const struct zeta_plugin_launch *launch)
{
    (void)launch;
    pthread_mutex_lock(&hold_lock);
    holding++;
    while (!released && !atomic_load(&queue->interrupted))
        pthread_cond_wait(&hold_changed, &hold_lock);
    holding--;
    pthread_mutex_unlock(&hold_lock);
    return atomic_load(&queue->interrupted) ? ZETA_PLUGIN_DEVICE_LOST : ZETA_PLUGIN_SUCCESS;
}

static uint32_t run_fault(struct zeta_plugin_queue *queue, const struct zeta_plugin_launch *launch)
{
    (void)launch;
    if (!atomic_exchange(&queue->lost, true))
        atomic_fetch_add(&lost_queues, 1);
    queue->self->ops->fail(queue->self->host, ZETA_PLUGIN_DEVICE_LOST,
                           scripted_text(FAKE_FAULT_SENTENCE));
    return ZETA_PLUGIN_DEVICE_LOST;
}

static uint32_t run_refuse(struct zeta_plugin_queue *queue, const struct zeta_plugin_launch *launch)
{
    (void)launch;
    queue->self->ops->fail(queue->self->host, ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY,
                           scripted_text("no room for the stack of kernel refuse"));
    return ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY;
}

static const struct zeta_plugin_argument add_arguments[] = {
    {.struct_size = sizeof(add_arguments[0]), .kind = ZETA_PLUGIN_ARG_GLOBAL, .size_bytes = 8},
    {.struct_size = sizeof(add_arguments[0]),
     .kind = ZETA_PLUGIN_ARG_VALUE,
     .size_bytes = 8,
     .offset_bytes = 8},
};

static const struct zeta_plugin_argument size_arguments[] = {
    {.struct_size = sizeof(add_arguments[0]), .kind = ZETA_PLUGIN_ARG_GLOBAL, .size_bytes = 8},
    {.struct_size = sizeof(add_arguments[0]), .kind = ZETA_PLUGIN_ARG_LOCAL, .offset_bytes = 8},
};

static const struct zeta_plugin_argument any_arguments[] = {
    {.struct_size = sizeof(add_arguments[0]), .kind = ZETA_PLUGIN_ARG_UNKNOWN, .size_bytes = 8},
    {.struct_size = sizeof(add_arguments[0]),
     .kind = ZETA_PLUGIN_ARG_UNKNOWN,
     .size_bytes = 8,
     .offset_bytes = 8},
};

static const struct zeta_plugin_argument spare_arguments[] = {
    {.struct_size = sizeof(add_arguments[0]), .kind = ZETA_PLUGIN_ARG_GLOBAL, .size_bytes = 8},
    {.struct_size = sizeof(add_arguments[0]),
     .kind = ZETA_PLUGIN_ARG_LOCAL,
     .offset_bytes = 8,
     .flags = ZETA_PLUGIN_ARG_OPTIONAL},
};

static const struct fake_kernel {
    const char *name;
    uint32_t (*run)(struct zeta_plugin_queue *queue, const struct zeta_plugin_launch *launch);
    const struct zeta_plugin_argument *arguments;
    uint32_t argument_count;
    uint32_t required_x; /* required group size in x */
} kernels[KERNEL_COUNT] = {
    {"add", run_add, add_arguments, 2, 0},
    {"size", run_size, size_arguments, 2, 8},
    {"hold", run_hold, NULL, 0, 0},
    {"fault", run_fault, NULL, 0, 0},
    {"refuse", run_refuse, NULL, 0, 0},
    {"any", run_add, any_arguments, 2, 0},
    {"spare", run_size, spare_arguments, 2, 0},
};

/* ---------------------------------------------------------------- device */

static uint64_t ticks_now(void *context)
{
    uint64_t fixed = atomic_load(&fixed_ticks);

    (void)context;
    return fixed ? fixed : zeta_clock_ns(CLOCK_MONOTONIC_RAW) / 40;
}

static uint32_t enumerate(struct zeta_plugin *self, uint32_t capacity,
                          struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    for (uint32_t i = 0; i < capacity && i < DEVICE_COUNT; i++)
        out_devices[i] = &self->devices[i];
    *out_count = DEVICE_COUNT;
    return ZETA_PLUGIN_SUCCESS;
}

static const uint32_t subgroup_sizes[] = {1};
static const struct zeta_plugin_queue_group queue_groups[] = {
    {.struct_size = sizeof(queue_groups[0]),
     .flags = ZETA_PLUGIN_QUEUE_COMPUTE | ZETA_PLUGIN_QUEUE_COPY | ZETA_PLUGIN_QUEUE_COOPERATIVE |
              ZETA_PLUGIN_QUEUE_METRICS,
     .queue_count = 2,
     .max_fill_pattern_bytes = 16},
    {.struct_size = sizeof(queue_groups[0]),
     .flags = ZETA_PLUGIN_QUEUE_COPY,
     .queue_count = 1,
     .max_fill_pattern_bytes = 4},
};
static const struct zeta_plugin_memory memories[] = {
    {.struct_size = sizeof(memories[0]),
     .name = {.data = "Fake memory", .size = 11},
     .total_bytes = 1u << 30,
     .max_clock_mhz = 1600,
     .bus_width_bits = 64},
};
static const struct zeta_plugin_cache caches[] = {
    {.struct_size = sizeof(caches[0]), .size_bytes = 65536, .user_controlled = 1},
};

#define ARRAY(a)                                                                                   \
    {                                                                                              \
        .data = (a), .count = sizeof(a) / sizeof((a)[0]), .stride = sizeof((a)[0])                 \
    }

static uint32_t properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_device_properties *out)
{
    static const char *const ids[DEVICE_COUNT] = {"fake0", "fake0.0", "fake0.1"};
    const struct zeta_plugin_device_properties filled = {
        .struct_size = out->struct_size,
        .name = scripted_text("Fake GPU"),
        .id = scripted_text(ids[device->index]),
        .type = ZETA_PLUGIN_DEVICE_GPU,
        .flags = ZETA_PLUGIN_DEVICE_INTEGRATED,
        .parent = device->index == 0 ? UINT32_MAX : 0,
        .tile = device->index == 0 ? 0 : device->index - 1,
        .vendor_id = 0x1fa4e,
        .device_id = 1,
        .has_pci = 1,
        .pci_bus = 3,
        .uuid = {'f', 'a', 'k', 'e', (uint8_t)device->index},
        .timer_hz = FAKE_TIMER_HZ,
        .timestamp_valid_bits = 32,
        .kernel_timestamp_valid_bits = 32,
        .core_clock_mhz = 1000,
        .slices = 2,
        .subslices_per_slice = 2,
        .eus_per_subslice = 4,
        .threads_per_eu = 8,
        .simd_width = 1,
        .max_allocation_bytes = 1u << 28,
        .max_hardware_contexts = 16,
        .max_group_size = 256,
        .max_group_size_xyz = {256, 256, 64},
        .max_group_count_xyz = {65535, 65535, 65535},
        .max_shared_local_bytes = 4096,
        .max_argument_bytes = 1024,
        .fp64 = 1,
        .subgroup_sizes = ARRAY(subgroup_sizes),
        .queue_groups = ARRAY(queue_groups),
        .memories = ARRAY(memories),
        .caches = ARRAY(caches),
    };

    (void)self;
    memcpy(out, &filled,
           out->struct_size < sizeof(filled) ? (size_t)out->struct_size : sizeof(filled));
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t read_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    uint64_t now_ns = zeta_clock_ns(CLOCK_MONOTONIC_RAW);
    uint64_t fixed = atomic_load(&fixed_ticks);

    (void)self, (void)device;
    out_clock->host_ns = now_ns;
    out_clock->device_ticks = fixed ? fixed : now_ns / 40;
    out_clock->error_ns = 40;
    out_clock->raw = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t status(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    (void)self, (void)device;
    return atomic_load(&lost_queues) ? ZETA_PLUGIN_DEVICE_LOST : ZETA_PLUGIN_SUCCESS;
}

/* ---------------------------------------------------------------- memory and modules */

static uint32_t memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_memory_desc *desc, void **out_address)
{
    size_t align = desc->align_bytes < 64 ? 64 : (size_t)desc->align_bytes;

    (void)self, (void)device;
    if (posix_memalign(out_address, align, (size_t)desc->size_bytes) != 0)
        return ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY;
    atomic_fetch_add(&live_memory, 1);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t memory_free(struct zeta_plugin *self, void *address)
{
    (void)self;
    free(address);
    atomic_fetch_sub(&live_memory, 1);
    return ZETA_PLUGIN_SUCCESS;
}

static const struct fake_kernel *find_kernel(struct zeta_plugin_string name)
{
    for (size_t i = 0; i < KERNEL_COUNT; i++) {
        if (scripted_is(name, kernels[i].name))
            return &kernels[i];
    }
    return NULL;
}

static void split_names(struct zeta_plugin_module *module)
{
    const char *at = module->image + 4;
    const char *end = module->image + module->image_bytes;

    while (at < end && module->name_count < KERNEL_COUNT && module->import_count < KERNEL_COUNT &&
           module->export_count < KERNEL_COUNT) {
        size_t length = 0;

        while (at < end && *at == ' ')
            at++;
        while (at + length < end && at[length] != ' ' && at[length] != '\0')
            length++;
        if (length == 0)
            return;
        const struct zeta_plugin_string word = {.data = at, .size = length};
        const struct zeta_plugin_string name = {.data = at + 1, .size = length - 1};
        if (*at == '-')
            module->imports[module->import_count++] = name;
        else if (*at == '+')
            module->exports[module->export_count++] = name;
        else
            module->names[module->name_count++] = word;
        at += length;
    }
}

static uint32_t module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module)
{
    struct zeta_plugin_module *module;

    (void)device;
    if (desc->image_bytes < 4 || memcmp(desc->image, "FAKE", 4) != 0) {
        log->write(log->context, scripted_text("the image "));
        log->write(log->context, scripted_text("does not start with FAKE"));
        self->ops->fail(self->host, ZETA_PLUGIN_INVALID_NATIVE_BINARY,
                        scripted_text("not a FAKE image"));
        return ZETA_PLUGIN_INVALID_NATIVE_BINARY;
    }
    module = calloc(1, sizeof(*module));
    module->image = malloc((size_t)desc->image_bytes);
    module->image_bytes = (size_t)desc->image_bytes;
    memcpy(module->image, desc->image, module->image_bytes);
    split_names(module);
    atomic_fetch_add(&live_modules, 1);
    *out_module = module;
    return ZETA_PLUGIN_SUCCESS;
}

static void module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    (void)self;
    free(module->image);
    free(module);
    atomic_fetch_sub(&live_modules, 1);
}

static uint32_t module_kernel_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                    struct zeta_plugin_array *out_names)
{
    (void)self;
    *out_names = (struct zeta_plugin_array){
        .data = module->names, .count = module->name_count, .stride = sizeof(module->names[0])};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t module_native_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                    struct zeta_plugin_array *out_bytes)
{
    (void)self;
    *out_bytes = (struct zeta_plugin_array){
        .data = module->image, .count = module->image_bytes, .stride = 1};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name, void **out_address,
                              uint64_t *out_bytes)
{
    (void)self;
    if (!scripted_is(name, "image"))
        return ZETA_PLUGIN_INVALID_GLOBAL_NAME;
    *out_address = module->image;
    *out_bytes = module->image_bytes;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint32_t kind, struct zeta_plugin_array *out_names)
{
    const bool imports = kind == ZETA_PLUGIN_SYMBOL_IMPORT;

    (void)self;
    *out_names =
        (struct zeta_plugin_array){.data = imports ? module->imports : module->exports,
                                   .count = imports ? module->import_count : module->export_count,
                                   .stride = sizeof(module->imports[0])};
    return ZETA_PLUGIN_SUCCESS;
}

static bool is_exported(const struct zeta_plugin_array *modules, struct zeta_plugin_string name)
{
    for (uint64_t i = 0; i < modules->count; i++) {
        const struct zeta_plugin_module *module =
            ((struct zeta_plugin_module *const *)modules->data)[i];

        for (uint64_t k = 0; k < module->export_count; k++) {
            if (module->exports[k].size == name.size &&
                memcmp(module->exports[k].data, name.data, (size_t)name.size) == 0)
                return true;
        }
    }
    return false;
}

static uint32_t module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                            const struct zeta_plugin_log_sink *log)
{
    (void)self;
    for (uint64_t i = 0; i < modules->count; i++) {
        const struct zeta_plugin_module *module =
            ((struct zeta_plugin_module *const *)modules->data)[i];

        for (uint64_t k = 0; k < module->import_count; k++) {
            if (is_exported(modules, module->imports[k]))
                continue;
            log->write(log->context, scripted_text("nobody has "));
            log->write(log->context, module->imports[k]);
            return ZETA_PLUGIN_MODULE_LINK_FAILURE;
        }
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name,
                              struct zeta_plugin_kernel **out_kernel)
{
    const struct fake_kernel *kind = find_kernel(name);
    bool listed = false;

    (void)self;
    for (uint64_t i = 0; i < module->name_count; i++)
        listed |= module->names[i].size == name.size &&
                  memcmp(module->names[i].data, name.data, (size_t)name.size) == 0;
    if (!kind || !listed)
        return ZETA_PLUGIN_INVALID_KERNEL_NAME;
    *out_kernel = calloc(1, sizeof(**out_kernel));
    (*out_kernel)->kind = kind;
    atomic_fetch_add(&live_kernels, 1);
    return ZETA_PLUGIN_SUCCESS;
}

static void kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    (void)self;
    free(kernel);
    atomic_fetch_sub(&live_kernels, 1);
}

static uint32_t kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                  struct zeta_plugin_kernel_properties *out)
{
    const struct fake_kernel *kind = kernel->kind;

    (void)self;
    out->name = scripted_text(kind->name);
    out->attributes = scripted_text("fake(1) steered");
    out->arguments = (struct zeta_plugin_array){
        .data = kind->arguments, .count = kind->argument_count, .stride = sizeof(*kind->arguments)};
    out->block_bytes = 16;
    out->required_group_size[0] = kind->required_x;
    out->max_group_size = 128;
    out->max_subgroup_size = 1;
    out->max_subgroups = 128;
    out->private_bytes = 64;
    out->flags = getenv("ZETA_TEST_NO_GLOBAL_OFFSET") ? ZETA_PLUGIN_KERNEL_NO_GLOBAL_OFFSET : 0u;
    return ZETA_PLUGIN_SUCCESS;
}

/* ---------------------------------------------------------------- queues */

static void copy_bytes(const struct zeta_plugin_copy *copy)
{
    if (copy->size_bytes > 0)
        memmove(copy->target, copy->source, (size_t)copy->size_bytes);
}

static void copy_region(const struct zeta_plugin_copy_region *r)
{
    for (uint64_t z = 0; z < r->size[2]; z++) {
        for (uint64_t y = 0; y < r->size[1]; y++)
            memcpy((char *)r->target + (r->target_origin[2] + z) * r->target_slice_bytes +
                       (r->target_origin[1] + y) * r->target_pitch_bytes + r->target_origin[0],
                   (const char *)r->source + (r->source_origin[2] + z) * r->source_slice_bytes +
                       (r->source_origin[1] + y) * r->source_pitch_bytes + r->source_origin[0],
                   (size_t)r->size[0]);
    }
}

static uint32_t execute_metric(struct zeta_plugin_queue *queue,
                               const struct zeta_plugin_command *command)
{
    uint32_t result = fake_metrics_execute(&queue->work, command, ticks_now(NULL));

    if (result == ZETA_PLUGIN_INVALID_ARGUMENT)
        queue->self->ops->fail(queue->self->host, result, scripted_text(FAKE_END_SENTENCE));
    return result;
}

static uint32_t execute_copy(struct zeta_plugin_queue *queue, const struct zeta_plugin_copy *copy)
{
    copy_bytes(copy);
    queue->work.copies++;
    queue->work.bytes += copy->size_bytes;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t execute(void *context, const struct zeta_plugin_command *command)
{
    struct zeta_plugin_queue *queue = context;

    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_LAUNCH:
        queue->work.launches++;
        return command->u.launch.kernel->kind->run(queue, &command->u.launch);
    case ZETA_PLUGIN_COMMAND_COPY:
        return execute_copy(queue, command->flags & ZETA_PLUGIN_COMMAND_INDIRECT
                                       ? command->u.copy.indirect
                                       : &command->u.copy);
    case ZETA_PLUGIN_COMMAND_COPY_REGION:
        copy_region(&command->u.region);
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_PLUGIN_COMMAND_FILL:
        for (uint64_t i = 0; i < command->u.fill.size_bytes; i += command->u.fill.pattern_bytes)
            memcpy((char *)command->u.fill.target + i, command->u.fill.pattern,
                   (size_t)command->u.fill.pattern_bytes);
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_PLUGIN_COMMAND_TIMESTAMP:
        *command->u.timestamp = ticks_now(NULL);
        return ZETA_PLUGIN_SUCCESS;
    default:
        return execute_metric(queue, command);
    }
}

static void interrupt(void *context)
{
    struct zeta_plugin_queue *queue = context;

    pthread_mutex_lock(&hold_lock);
    atomic_store(&queue->interrupted, true);
    pthread_cond_broadcast(&hold_changed);
    pthread_mutex_unlock(&hold_lock);
}

static uint32_t queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue)
{
    struct zeta_plugin_queue *queue = calloc(1, sizeof(*queue));
    const struct zeta_softqueue_backend backend = {
        .context = queue, .ticks = ticks_now, .execute = execute, .interrupt = interrupt};
    uint32_t result;

    (void)desc;
    queue->self = self;
    queue->work.device = device->index;
    queue->work.context = atomic_fetch_add(&queue_count, 1) + 1;
    result = zeta_softqueue_create(self->pool, &backend, "fake-queue", &queue->soft);
    if (result != ZETA_PLUGIN_SUCCESS)
        free(queue);
    else
        *out_queue = queue;
    return result;
}

/** For tests of a device without a way back after a fault. */
static bool is_lost_for_good(const struct zeta_plugin *self)
{
    if (!atomic_load(&lost_queues) || !getenv("ZETA_TEST_LOST_FOR_GOOD"))
        return false;
    self->ops->fail(self->host, ZETA_PLUGIN_DEVICE_LOST, scripted_text(FAKE_FAULT_SENTENCE));
    return true;
}

/* Otherwise report_lock is not taken: a child of fork() may find it locked for ever. */
static bool may_withhold(void)
{
    return atomic_load(&withholds) || atomic_load(&report_count) > 0;
}

/* Takes out the oldest one of a queue up to a number. */
static struct withheld *take_report_locked(const struct zeta_plugin_queue *queue, uint64_t number,
                                           bool is_over)
{
    struct withheld **at = &reports;

    while (*at && ((*at)->queue != queue || (*at)->number > number || (*at)->is_over != is_over))
        at = &(*at)->next;
    struct withheld *report = *at;
    if (report) {
        *at = report->next;
        atomic_fetch_sub(&report_count, 1);
    }
    return report;
}

/* Reports what is over of the first so many submissions. */
static void report_locked(const struct zeta_plugin_queue *queue, uint64_t number)
{
    struct withheld *report;

    while ((report = take_report_locked(queue, number, true)) != NULL) {
        pthread_mutex_unlock(&report_lock);
        queue->self->ops->submission_done(queue->self->host, report->cookie, report->result);
        free(report);
        pthread_mutex_lock(&report_lock);
    }
}

static void queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    zeta_softqueue_destroy(queue->soft);
    if (may_withhold()) {
        pthread_mutex_lock(&report_lock);
        report_locked(queue, UINT64_MAX);
        pthread_mutex_unlock(&report_lock);
    }
    if (atomic_load(&queue->lost) && !getenv("ZETA_TEST_LOST_FOR_GOOD"))
        atomic_fetch_sub(&lost_queues, 1);
    free(queue);
}

static uint32_t submit_in(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                          const struct zeta_plugin_array *commands, void *cookie,
                          uint32_t (*way)(struct zeta_softqueue *, const struct zeta_plugin_array *,
                                          void *))
{
    const bool is_withheld = atomic_load(&withholds);
    struct withheld *report;
    uint64_t number;
    uint32_t result = atomic_load(&refused);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (is_lost_for_good(self))
        return ZETA_PLUGIN_DEVICE_LOST;
    number = atomic_fetch_add(&queue->accepted, 1) + 1;
    if (is_withheld) {
        struct withheld **last = &reports;

        pthread_mutex_lock(&report_lock);
        while (*last)
            last = &(*last)->next;
        *last = calloc(1, sizeof(**last));
        **last = (struct withheld){.queue = queue, .cookie = cookie, .number = number};
        atomic_fetch_add(&report_count, 1);
        pthread_mutex_unlock(&report_lock);
    }
    result = way(queue->soft, commands, cookie);
    if (result != ZETA_PLUGIN_SUCCESS)
        atomic_fetch_sub(&queue->accepted, 1);
    if (result != ZETA_PLUGIN_SUCCESS && is_withheld) {
        pthread_mutex_lock(&report_lock);
        report = take_report_locked(queue, number, false);
        pthread_mutex_unlock(&report_lock);
        free(report);
    }
    return result;
}

static uint32_t submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                       const struct zeta_plugin_array *commands, void *cookie)
{
    return submit_in(self, queue, commands, cookie, zeta_softqueue_submit);
}

static uint32_t submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                            const struct zeta_plugin_array *commands, void *cookie)
{
    return submit_in(self, queue, commands, cookie, zeta_softqueue_submit_here);
}

static bool is_withheld_locked(const struct zeta_plugin_queue *queue, uint64_t number)
{
    const struct withheld *report = reports;

    while (report && (report->queue != queue || report->number > number))
        report = report->next;
    return report != NULL;
}

static uint32_t queue_wait(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                           uint64_t count, uint64_t timeout_ns)
{
    const uint64_t now_ns = zeta_clock_ns(CLOCK_REALTIME);
    const struct timespec until = zeta_clock_timespec(
        timeout_ns < ZETA_NS_PER_S * 1000 ? now_ns + timeout_ns : now_ns + ZETA_NS_PER_S * 1000);
    int error = 0;

    (void)self;
    atomic_fetch_add(&looks, 1);
    if (!may_withhold())
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    pthread_mutex_lock(&report_lock);
    report_locked(queue, count);
    while (error == 0 && timeout_ns > 0 && is_withheld_locked(queue, count)) {
        error = pthread_cond_timedwait(&report_changed, &report_lock, &until);
        report_locked(queue, count);
    }
    const uint32_t result =
        is_withheld_locked(queue, count) || count > atomic_load(&queue->accepted)
            ? ZETA_PLUGIN_NOT_READY
            : ZETA_PLUGIN_SUCCESS;
    pthread_mutex_unlock(&report_lock);
    return result;
}

static void wake(struct zeta_plugin *self)
{
    zeta_softqueue_pool_wake(self->pool);
}

static uint32_t queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    return is_lost_for_good(self) ? ZETA_PLUGIN_DEVICE_LOST : zeta_softqueue_status(queue->soft);
}

/* ---------------------------------------------------------------- plugin */

static struct zeta_plugin plugin;

static void report_late(struct zeta_plugin_host *host, void *cookie, uint32_t result)
{
    uint32_t ms = atomic_load(&late_ms);
    struct withheld *report = NULL;

    if (may_withhold()) {
        pthread_mutex_lock(&report_lock);
        report = reports;
        while (report && report->cookie != cookie)
            report = report->next;
        if (report) {
            report->is_over = true;
            report->result = result;
            pthread_cond_broadcast(&report_changed);
        }
        pthread_mutex_unlock(&report_lock);
    }
    if (report)
        return;
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    if (ms > 0)
        nanosleep(&pause, NULL);
    plugin.ops->submission_done(host, cookie, result);
}

static uint32_t init(struct zeta_plugin *self)
{
    self->late_ops = *self->ops;
    self->late_ops.submission_done = report_late;
    return zeta_softqueue_pool_create(&self->late_ops, self->host, &self->pool);
}

static void finish(struct zeta_plugin *self)
{
    zeta_softqueue_pool_destroy(self->pool);
    self->pool = NULL;
}

static uint32_t child_after_fork(struct zeta_plugin *self)
{
    /* Threads of the parent are gone; the old pool belongs to them and is left alone. */
    atomic_store(&lost_queues, 0);
    atomic_store(&live_kernels, 0);
    atomic_store(&live_modules, 0);
    atomic_store(&live_memory, 0);
    hold_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    hold_changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    holding = 0;
    return init(self);
}

static const struct zeta_plugin_device_ops device_ops = {.struct_size = sizeof(device_ops),
                                                         .enumerate = enumerate,
                                                         .properties = properties,
                                                         .clock = read_clock,
                                                         .status = status,
                                                         .child_after_fork = child_after_fork};
static const struct zeta_plugin_compute_ops compute_ops = {
    .struct_size = sizeof(compute_ops),
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .module_create = module_create,
    .module_destroy = module_destroy,
    .module_kernel_names = module_kernel_names,
    .module_native_image = module_native_image,
    .module_global = module_global,
    .module_symbols = module_symbols,
    .module_link = module_link,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .kernel_properties = kernel_properties,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .submit = submit,
    .submit_here = submit_here,
    .wake = wake,
    .queue_status = queue_status,
    .queue_wait = queue_wait,
};
static const struct zeta_plugin_ops plugin_ops = {.struct_size = sizeof(plugin_ops),
                                                  .init = init,
                                                  .finish = finish,
                                                  .device = &device_ops,
                                                  .compute = &compute_ops,
                                                  .metric = &fake_metric_ops};

void scripted_compute(const struct zeta_plugin_offer *offer, struct zeta_plugin_answer *out_answer)
{
    plugin.ops = offer->ops;
    plugin.host = offer->host;
    for (uint32_t i = 0; i < DEVICE_COUNT; i++)
        plugin.devices[i].index = i;
    out_answer->self = &plugin;
    out_answer->ops = &plugin_ops;
}

static void set_released(bool value)
{
    pthread_mutex_lock(&hold_lock);
    released = value;
    pthread_cond_broadcast(&hold_changed);
    pthread_mutex_unlock(&hold_lock);
}

static void control_release(void)
{
    set_released(true);
}

static void control_hold(void)
{
    set_released(false);
}

static uint32_t control_holding(void)
{
    uint32_t now;

    pthread_mutex_lock(&hold_lock);
    now = holding;
    pthread_mutex_unlock(&hold_lock);
    return now;
}

static uint32_t control_live_kernels(void)
{
    return atomic_load(&live_kernels);
}

static uint32_t control_live_modules(void)
{
    return atomic_load(&live_modules);
}

static uint32_t control_live_memory(void)
{
    return atomic_load(&live_memory);
}

static void control_set_ticks(uint64_t ticks)
{
    atomic_store(&fixed_ticks, ticks);
}

static void control_set_late(uint32_t ms)
{
    atomic_store(&late_ms, ms);
}

static void control_withhold(bool value)
{
    atomic_store(&withholds, value);
}

static uint32_t control_looks(void)
{
    return atomic_load(&looks);
}

static void control_refuse_submissions(uint32_t result)
{
    atomic_store(&refused, result);
}

const struct compute_control compute_control = {
    .release = control_release,
    .hold = control_hold,
    .holding = control_holding,
    .live_kernels = control_live_kernels,
    .live_modules = control_live_modules,
    .live_memory = control_live_memory,
    .set_ticks = control_set_ticks,
    .set_late = control_set_late,
    .withhold = control_withhold,
    .looks = control_looks,
    .refuse_submissions = control_refuse_submissions,
    .live_pools = fake_metrics_live_pools,
    .refuse_pools = fake_metrics_refuse_pools,
    .refuse_queries = fake_metrics_refuse_queries,
};
