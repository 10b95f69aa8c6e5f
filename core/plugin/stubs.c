/*
 * What callers reach where a plugin has no function.
 */
#include "core/plugin/entry.h"
#include "core/util/cleanup.h"

static uint32_t no_enumerate(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED uint32_t capacity,
                             ZETA_UNUSED struct zeta_plugin_device **out_devices,
                             uint32_t *out_count)
{
    *out_count = 0;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t no_properties(ZETA_UNUSED struct zeta_plugin *self,
                              ZETA_UNUSED struct zeta_plugin_device *device,
                              ZETA_UNUSED struct zeta_plugin_device_properties *out_properties)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_clock(ZETA_UNUSED struct zeta_plugin *self,
                         ZETA_UNUSED struct zeta_plugin_device *device,
                         ZETA_UNUSED struct zeta_plugin_clock *out_clock)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

/* A plugin that cannot tell has devices that work. */
static uint32_t no_status(ZETA_UNUSED struct zeta_plugin *self,
                          ZETA_UNUSED struct zeta_plugin_device *device)
{
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t no_child_after_fork(ZETA_UNUSED struct zeta_plugin *self)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

const struct zeta_plugin_device_ops zeta_stub_device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = no_enumerate,
    .properties = no_properties,
    .clock = no_clock,
    .status = no_status,
    .child_after_fork = no_child_after_fork,
};

static uint32_t no_memory_allocate(ZETA_UNUSED struct zeta_plugin *self,
                                   ZETA_UNUSED struct zeta_plugin_device *device,
                                   ZETA_UNUSED const struct zeta_plugin_memory_desc *desc,
                                   ZETA_UNUSED void **out_address)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_memory_free(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED void *address)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_module_create(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_device *device,
                                 ZETA_UNUSED const struct zeta_plugin_module_desc *desc,
                                 ZETA_UNUSED const struct zeta_plugin_log_sink *log,
                                 ZETA_UNUSED struct zeta_plugin_module **out_module)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void no_module_destroy(ZETA_UNUSED struct zeta_plugin *self,
                              ZETA_UNUSED struct zeta_plugin_module *module)
{
}

static uint32_t no_module_array(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_module *module,
                                ZETA_UNUSED struct zeta_plugin_array *out_array)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_module_global(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_module *module,
                                 ZETA_UNUSED struct zeta_plugin_string name,
                                 ZETA_UNUSED void **out_address, ZETA_UNUSED uint64_t *out_bytes)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_module_function(ZETA_UNUSED struct zeta_plugin *self,
                                   ZETA_UNUSED struct zeta_plugin_module *module,
                                   ZETA_UNUSED struct zeta_plugin_string name,
                                   ZETA_UNUSED void **out_address)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

/* A plugin that does not know of symbols has modules without any. */
static uint32_t no_module_symbols(ZETA_UNUSED struct zeta_plugin *self,
                                  ZETA_UNUSED struct zeta_plugin_module *module,
                                  ZETA_UNUSED uint32_t kind, struct zeta_plugin_array *out_names)
{
    *out_names = (struct zeta_plugin_array){0};
    return ZETA_PLUGIN_SUCCESS;
}

/* And so nothing is missing in them. */
static uint32_t no_module_link(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED const struct zeta_plugin_array *modules,
                               ZETA_UNUSED const struct zeta_plugin_log_sink *log)
{
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t no_kernel_create(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_module *module,
                                 ZETA_UNUSED struct zeta_plugin_string name,
                                 ZETA_UNUSED struct zeta_plugin_kernel **out_kernel)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_kernel_resident_groups(ZETA_UNUSED struct zeta_plugin *self,
                                          ZETA_UNUSED struct zeta_plugin_kernel *kernel,
                                          ZETA_UNUSED const uint32_t group_size[3],
                                          ZETA_UNUSED const void *arguments,
                                          ZETA_UNUSED uint64_t *out_groups)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void no_kernel_destroy(ZETA_UNUSED struct zeta_plugin *self,
                              ZETA_UNUSED struct zeta_plugin_kernel *kernel)
{
}

static uint32_t no_kernel_properties(ZETA_UNUSED struct zeta_plugin *self,
                                     ZETA_UNUSED struct zeta_plugin_kernel *kernel,
                                     ZETA_UNUSED struct zeta_plugin_kernel_properties *out)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_queue_create(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_device *device,
                                ZETA_UNUSED const struct zeta_plugin_queue_desc *desc,
                                ZETA_UNUSED struct zeta_plugin_queue **out_queue)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void no_queue_destroy(ZETA_UNUSED struct zeta_plugin *self,
                             ZETA_UNUSED struct zeta_plugin_queue *queue)
{
}

static uint32_t no_submit(ZETA_UNUSED struct zeta_plugin *self,
                          ZETA_UNUSED struct zeta_plugin_queue *queue,
                          ZETA_UNUSED const struct zeta_plugin_array *commands,
                          ZETA_UNUSED void *cookie)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void no_wake(ZETA_UNUSED struct zeta_plugin *self)
{
}

static uint32_t no_queue_status(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_queue *queue)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_memory_export(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED void *base,
                                 ZETA_UNUSED struct zeta_plugin_share *out_share)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_memory_import(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_device *device,
                                 ZETA_UNUSED struct zeta_plugin_share *share,
                                 ZETA_UNUSED void **out_address)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

/* No page size: there is no virtual memory. */
static uint64_t no_virtual_page_bytes(ZETA_UNUSED struct zeta_plugin *self,
                                      ZETA_UNUSED struct zeta_plugin_device *device,
                                      ZETA_UNUSED uint64_t size_bytes)
{
    return 0;
}

static uint32_t no_virtual_reserve(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED void *wanted,
                                   ZETA_UNUSED uint64_t size_bytes, ZETA_UNUSED void **out_address)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_virtual_range(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED void *address,
                                 ZETA_UNUSED uint64_t size_bytes)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_range_access(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED void *address,
                                ZETA_UNUSED uint64_t size_bytes, ZETA_UNUSED uint32_t access)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_physical_create(ZETA_UNUSED struct zeta_plugin *self,
                                   ZETA_UNUSED struct zeta_plugin_device *device,
                                   ZETA_UNUSED uint32_t kind, ZETA_UNUSED uint64_t size_bytes,
                                   ZETA_UNUSED struct zeta_plugin_physical **out_physical)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static void no_physical_destroy(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_physical *physical)
{
}

static uint32_t no_virtual_map(ZETA_UNUSED struct zeta_plugin *self, ZETA_UNUSED void *address,
                               ZETA_UNUSED uint64_t size_bytes,
                               ZETA_UNUSED struct zeta_plugin_physical *physical,
                               ZETA_UNUSED uint64_t offset_bytes, ZETA_UNUSED uint32_t access)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_physical_export(ZETA_UNUSED struct zeta_plugin *self,
                                   ZETA_UNUSED struct zeta_plugin_physical *physical,
                                   ZETA_UNUSED struct zeta_plugin_share *share)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_physical_import(ZETA_UNUSED struct zeta_plugin *self,
                                   ZETA_UNUSED struct zeta_plugin_device *device,
                                   ZETA_UNUSED struct zeta_plugin_share *share,
                                   ZETA_UNUSED struct zeta_plugin_physical **out_physical)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_memory_unused(ZETA_UNUSED struct zeta_plugin *self,
                                 ZETA_UNUSED struct zeta_plugin_device *device,
                                 ZETA_UNUSED uint64_t *out_bytes)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_module_code(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_module *module,
                               ZETA_UNUSED uint64_t *out_begin, ZETA_UNUSED uint64_t *out_end)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_kernel_code(ZETA_UNUSED struct zeta_plugin *self,
                               ZETA_UNUSED struct zeta_plugin_kernel *kernel,
                               ZETA_UNUSED uint64_t *out_begin)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

static uint32_t no_kernel_image(ZETA_UNUSED struct zeta_plugin *self,
                                ZETA_UNUSED struct zeta_plugin_kernel *kernel,
                                ZETA_UNUSED struct zeta_plugin_array *out_bytes)
{
    return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
}

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
