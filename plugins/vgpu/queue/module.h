#ifndef ZETA_PLUGINS_VGPU_QUEUE_MODULE_H
#define ZETA_PLUGINS_VGPU_QUEUE_MODULE_H

/*
 * Modules and kernels as the plugin interface knows them, on top of the engine's images.
 */

#include <zeta/plugin.h>

#include "plugins/vgpu/engine/engine.h"

struct zeta_plugin_kernel {
    struct zeta_plugin_module *module;
    const struct zeta_vgpu_image *image;
    const struct zeta_vgpu_kernel *kernel;  /**< of the image */
    struct zeta_plugin_argument *arguments; /**< kernel->argument_count of them */
    uint8_t uuid[16];
};

/* Operations of struct zeta_plugin_compute_ops with the same names. */
uint32_t zeta_vgpu_module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                 const struct zeta_plugin_module_desc *desc,
                                 const struct zeta_plugin_log_sink *log,
                                 struct zeta_plugin_module **out_module);
void zeta_vgpu_module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module);
uint32_t zeta_vgpu_module_kernel_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                       struct zeta_plugin_array *out_names);
uint32_t zeta_vgpu_module_native_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                       struct zeta_plugin_array *out_bytes);
uint32_t zeta_vgpu_module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                 struct zeta_plugin_string name, void **out_address,
                                 uint64_t *out_bytes);
uint32_t zeta_vgpu_module_function(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                   struct zeta_plugin_string name, void **out_address);
uint32_t zeta_vgpu_module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                  uint32_t kind, struct zeta_plugin_array *out_names);
uint32_t zeta_vgpu_module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                               const struct zeta_plugin_log_sink *log);
uint32_t zeta_vgpu_kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                 struct zeta_plugin_string name,
                                 struct zeta_plugin_kernel **out_kernel);
void zeta_vgpu_kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel);
uint32_t zeta_vgpu_kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                     struct zeta_plugin_kernel_properties *out_properties);
uint32_t zeta_vgpu_module_code(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint64_t *out_begin, uint64_t *out_end);
uint32_t zeta_vgpu_kernel_code(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                               uint64_t *out_begin);
uint32_t zeta_vgpu_kernel_image(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                struct zeta_plugin_array *out_bytes);

#endif
