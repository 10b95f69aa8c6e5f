/*
 * What callers reach where a plugin has no function. Parameters are there for the type
 * alone; core/CMakeLists.txt turns the warning about unused ones off.
 */
#include "core/plugin/entry.h"

#define UNSUPPORTED(name, ...)                                                                     \
    static uint32_t name(__VA_ARGS__)                                                              \
    {                                                                                              \
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;                                                    \
    }

#define NOTHING(name, ...)                                                                         \
    static void name(__VA_ARGS__)                                                                  \
    {                                                                                              \
    }

static uint32_t no_enumerate(struct zeta_plugin *self, uint32_t capacity,
                             struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    *out_count = 0;
    return ZETA_PLUGIN_SUCCESS;
}

UNSUPPORTED(no_properties, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_device_properties *out_properties)
UNSUPPORTED(no_clock, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_clock *out_clock)

/* A plugin that does not know has devices that work. */
static uint32_t no_status(struct zeta_plugin *self, struct zeta_plugin_device *device)
{
    return ZETA_PLUGIN_SUCCESS;
}

UNSUPPORTED(no_child_after_fork, struct zeta_plugin *self)

const struct zeta_plugin_device_ops zeta_stub_device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = no_enumerate,
    .properties = no_properties,
    .clock = no_clock,
    .status = no_status,
    .child_after_fork = no_child_after_fork,
};

UNSUPPORTED(no_memory_allocate, struct zeta_plugin *self, struct zeta_plugin_device *device,
            const struct zeta_plugin_memory_desc *desc, void **out_address)
UNSUPPORTED(no_memory_free, struct zeta_plugin *self, void *address)
UNSUPPORTED(no_module_create, struct zeta_plugin *self, struct zeta_plugin_device *device,
            const struct zeta_plugin_module_desc *desc, const struct zeta_plugin_log_sink *log,
            struct zeta_plugin_module **out_module)
NOTHING(no_module_destroy, struct zeta_plugin *self, struct zeta_plugin_module *module)
UNSUPPORTED(no_module_array, struct zeta_plugin *self, struct zeta_plugin_module *module,
            struct zeta_plugin_array *out_array)
UNSUPPORTED(no_module_global, struct zeta_plugin *self, struct zeta_plugin_module *module,
            struct zeta_plugin_string name, void **out_address, uint64_t *out_bytes)
UNSUPPORTED(no_module_function, struct zeta_plugin *self, struct zeta_plugin_module *module,
            struct zeta_plugin_string name, void **out_address)

/* A plugin that does not know of symbols has modules without any. */
static uint32_t no_module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                  uint32_t kind, struct zeta_plugin_array *out_names)
{
    *out_names = (struct zeta_plugin_array){0};
    return ZETA_PLUGIN_SUCCESS;
}

/* And so nothing is missing in them. */
static uint32_t no_module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                               const struct zeta_plugin_log_sink *log)
{
    return ZETA_PLUGIN_SUCCESS;
}

UNSUPPORTED(no_kernel_create, struct zeta_plugin *self, struct zeta_plugin_module *module,
            struct zeta_plugin_string name, struct zeta_plugin_kernel **out_kernel)
UNSUPPORTED(no_kernel_resident_groups, struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
            const uint32_t group_size[3], const void *arguments, uint64_t *out_groups)
NOTHING(no_kernel_destroy, struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
UNSUPPORTED(no_kernel_properties, struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
            struct zeta_plugin_kernel_properties *out)
UNSUPPORTED(no_queue_create, struct zeta_plugin *self, struct zeta_plugin_device *device,
            const struct zeta_plugin_queue_desc *desc, struct zeta_plugin_queue **out_queue)
NOTHING(no_queue_destroy, struct zeta_plugin *self, struct zeta_plugin_queue *queue)
UNSUPPORTED(no_submit, struct zeta_plugin *self, struct zeta_plugin_queue *queue,
            const struct zeta_plugin_array *commands, void *cookie)
NOTHING(no_wake, struct zeta_plugin *self)
UNSUPPORTED(no_queue_status, struct zeta_plugin *self, struct zeta_plugin_queue *queue)
UNSUPPORTED(no_memory_export, struct zeta_plugin *self, void *base,
            struct zeta_plugin_share *out_share)
UNSUPPORTED(no_memory_import, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_share *share, void **out_address)

/* No page size: there is no virtual memory. */
static uint64_t no_virtual_page_bytes(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                      uint64_t size_bytes)
{
    return 0;
}

UNSUPPORTED(no_virtual_reserve, struct zeta_plugin *self, void *wanted, uint64_t size_bytes,
            void **out_address)
UNSUPPORTED(no_virtual_range, struct zeta_plugin *self, void *address, uint64_t size_bytes)
UNSUPPORTED(no_range_access, struct zeta_plugin *self, void *address, uint64_t size_bytes,
            uint32_t access)
UNSUPPORTED(no_physical_create, struct zeta_plugin *self, struct zeta_plugin_device *device,
            uint32_t kind, uint64_t size_bytes, struct zeta_plugin_physical **out_physical)
NOTHING(no_physical_destroy, struct zeta_plugin *self, struct zeta_plugin_physical *physical)
UNSUPPORTED(no_virtual_map, struct zeta_plugin *self, void *address, uint64_t size_bytes,
            struct zeta_plugin_physical *physical, uint64_t offset_bytes, uint32_t access)
UNSUPPORTED(no_physical_export, struct zeta_plugin *self, struct zeta_plugin_physical *physical,
            struct zeta_plugin_share *share)
UNSUPPORTED(no_physical_import, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_share *share, struct zeta_plugin_physical **out_physical)
UNSUPPORTED(no_memory_unused, struct zeta_plugin *self, struct zeta_plugin_device *device,
            uint64_t *out_bytes)
UNSUPPORTED(no_module_code, struct zeta_plugin *self, struct zeta_plugin_module *module,
            uint64_t *out_begin, uint64_t *out_end)
UNSUPPORTED(no_kernel_code, struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
            uint64_t *out_begin)
UNSUPPORTED(no_kernel_image, struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
            struct zeta_plugin_array *out_bytes)

const struct zeta_plugin_compute_ops zeta_stub_compute_ops = {
    .struct_size = sizeof(struct zeta_plugin_compute_ops),
    .memory_allocate = no_memory_allocate,
    .memory_free = no_memory_free,
    .module_create = no_module_create,
    .module_destroy = no_module_destroy,
    .module_kernel_names = no_module_array,
    .module_native_image = no_module_array,
    .module_global = no_module_global,
    .kernel_create = no_kernel_create,
    .kernel_destroy = no_kernel_destroy,
    .kernel_properties = no_kernel_properties,
    .queue_create = no_queue_create,
    .queue_destroy = no_queue_destroy,
    .submit = no_submit,
    .wake = no_wake,
    .queue_status = no_queue_status,
    .memory_export = no_memory_export,
    .memory_import = no_memory_import,
    .virtual_page_bytes = no_virtual_page_bytes,
    .virtual_reserve = no_virtual_reserve,
    .virtual_free = no_virtual_range,
    .physical_create = no_physical_create,
    .physical_destroy = no_physical_destroy,
    .virtual_map = no_virtual_map,
    .virtual_unmap = no_virtual_range,
    .virtual_access = no_range_access,
    .module_function = no_module_function,
    .module_symbols = no_module_symbols,
    .module_link = no_module_link,
    .physical_export = no_physical_export,
    .physical_import = no_physical_import,
    .memory_adopt = no_range_access,
    .memory_unused = no_memory_unused,
    .kernel_resident_groups = no_kernel_resident_groups,
    .submit_here = no_submit,
    .module_code = no_module_code,
    .kernel_code = no_kernel_code,
    .kernel_image = no_kernel_image,
};

/* Nothing to add to the set files of the manifest. */
static uint32_t no_get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            const struct zeta_plugin_text_sink *sink)
{
    return ZETA_PLUGIN_SUCCESS;
}

UNSUPPORTED(no_symbols, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_array *out_symbols)
UNSUPPORTED(no_limits, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
UNSUPPORTED(no_holder, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_string unit, uint32_t *out_pid)
UNSUPPORTED(no_stream_open, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_stream_desc *desc, struct zeta_plugin_stream **out_stream)
UNSUPPORTED(no_stream_read, struct zeta_plugin *self, struct zeta_plugin_stream *stream,
            void *buffer, uint64_t capacity_bytes, struct zeta_plugin_read *out_read)

static uint64_t no_stream_pending(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    return UINT64_MAX; /* unknown */
}

static int32_t no_stream_descriptor(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    return -1;
}

NOTHING(no_stream_end, struct zeta_plugin *self, struct zeta_plugin_stream *stream)
UNSUPPORTED(no_query_pool_create, struct zeta_plugin *self, struct zeta_plugin_device *device,
            const struct zeta_plugin_query_desc *desc, struct zeta_plugin_query_pool **out_pool)
NOTHING(no_query_pool_destroy, struct zeta_plugin *self, struct zeta_plugin_query_pool *pool)
UNSUPPORTED(no_query_reset, struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
            uint32_t index)
UNSUPPORTED(no_query_collect, struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
            uint32_t index, void *records)

/* A plugin that does not know of any other rule has none. */
static uint32_t no_concurrent(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_array *programs, uint32_t *out_possible)
{
    *out_possible = 1;
    return ZETA_PLUGIN_SUCCESS;
}

/* What is measured goes on for ever. */
static uint32_t no_stream_ended(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    return 0;
}

const struct zeta_plugin_metric_ops zeta_stub_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .get_sets = no_get_sets,
    .symbols = no_symbols,
    .limits = no_limits,
    .holder = no_holder,
    .stream_open = no_stream_open,
    .stream_read = no_stream_read,
    .stream_pending = no_stream_pending,
    .stream_descriptor = no_stream_descriptor,
    .stream_stop = no_stream_end,
    .stream_close = no_stream_end,
    .query_pool_create = no_query_pool_create,
    .query_pool_destroy = no_query_pool_destroy,
    .query_reset = no_query_reset,
    .query_collect = no_query_collect,
    .concurrent = no_concurrent,
    .stream_ended = no_stream_ended,
};

UNSUPPORTED(no_tracer_open, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_tracer_desc *desc, struct zeta_plugin_tracer **out_tracer)
UNSUPPORTED(no_tracer_change, struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
            uint32_t synchronous)

static uint32_t no_tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    return ZETA_PLUGIN_TRACER_OFF;
}

UNSUPPORTED(no_tracer_read, struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
            void *buffer, uint64_t capacity_bytes, struct zeta_plugin_read *out_read)

static uint64_t no_tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    return 0;
}

static int32_t no_tracer_descriptor(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    return -1;
}

NOTHING(no_tracer_close, struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)

static uint32_t no_tracer_ended(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    return 0;
}

const struct zeta_plugin_tracer_ops zeta_stub_tracer_ops = {
    .struct_size = sizeof(struct zeta_plugin_tracer_ops),
    .open = no_tracer_open,
    .enable = no_tracer_change,
    .disable = no_tracer_change,
    .state = no_tracer_state,
    .read = no_tracer_read,
    .pending = no_tracer_pending,
    .descriptor = no_tracer_descriptor,
    .close = no_tracer_close,
    .ended = no_tracer_ended,
};

UNSUPPORTED(no_debug_properties, struct zeta_plugin *self, struct zeta_plugin_device *device,
            struct zeta_plugin_debug_properties *out_properties)
UNSUPPORTED(no_debug_register_sets, struct zeta_plugin *self,
            struct zeta_plugin_debug_session *session, uint32_t thread,
            struct zeta_plugin_array *out_sets)

static uint32_t no_debug_enable(struct zeta_plugin *self)
{
    return ZETA_PLUGIN_SUCCESS;
}

/* A session is attached to only where properties() succeeds, so the others are there or unused. */
const struct zeta_plugin_debug_ops zeta_stub_debug_ops = {
    .struct_size = sizeof(struct zeta_plugin_debug_ops),
    .properties = no_debug_properties,
    .enable = no_debug_enable,
    .register_sets = no_debug_register_sets,
};
