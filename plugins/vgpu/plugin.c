#include "plugins/vgpu/device/vgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "plugins/vgpu/compiler/compiler.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/machine/space.h"
#include "plugins/vgpu/memory/memory.h"
#include "plugins/vgpu/memory/pool.h"
#include "plugins/vgpu/queue/queue.h"
#include "plugins/vgpu/sampling/sampling.h"
#include "plugins/vgpu/tile/tile.h"

#define PLUGIN_VERSION "0.1.0"

/* Path of the device description below the data directory, unless the setting names another. */
#define DEFAULT_DEVICE_FILE "device.yaml"

static void on_unknown_key(void *context, const char *path, unsigned line, const char *key)
{
    const struct zeta_plugin *self = context;

    zeta_host_log(&self->host, ZETA_PLUGIN_LOG_WARN, "%s:%u: key '%s' is unknown and ignored", path,
                  line, key);
}

/* Reads the file that describes the device; the default one may be absent. */
static uint32_t load_device_file(struct zeta_plugin *self, struct zeta_vgpu_description *out)
{
    struct zeta_vgpu_message message;
    char file[512], path[1024];
    const bool chosen = zeta_host_setting(&self->host, "device", file, sizeof(file));

    if (!chosen)
        snprintf(file, sizeof(file), "%s", DEFAULT_DEVICE_FILE);
    if (file[0] == '/')
        snprintf(path, sizeof(path), "%s", file);
    else
        snprintf(path, sizeof(path), "%.500s/%s", self->host.data_dir, file);
    if (!chosen && access(path, F_OK) != 0)
        return ZETA_PLUGIN_SUCCESS;
    if (zeta_vgpu_description_load(out, path, on_unknown_key, self, &message) == ZETA_VGPU_OK)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s", message.text);
}

static uint32_t apply_settings(struct zeta_plugin *self, struct zeta_vgpu_description *out)
{
    const char *environment = secure_getenv("ZETA_VGPU_INSTANCE");
    struct zeta_vgpu_message message;
    const char *key;
    char value[512];
    bool known;

    for (uint32_t i = 0; (key = zeta_vgpu_description_key(i)) != NULL; i++) {
        if (!zeta_host_setting(&self->host, key, value, sizeof(value)))
            continue;
        if (zeta_vgpu_description_set(out, key, value, &known, &message) != ZETA_VGPU_OK)
            return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "setting of %s: %s",
                                  self->host.id, message.text);
    }
    if (environment && environment[0] &&
        zeta_vgpu_description_set(out, "instance", environment, &known, &message) != ZETA_VGPU_OK)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "ZETA_VGPU_INSTANCE: %s",
                              message.text);
    return ZETA_PLUGIN_SUCCESS;
}

/* What the engine demands of a topology beyond the range of each number. */
static uint32_t check_topology(const struct zeta_plugin *self,
                               const struct zeta_vgpu_description *d)
{
    const struct zeta_vgpu_topology *t = &d->topology;

    if (t->slices * t->subslices_per_slice > ZETA_VGPU_TILE_ROWS - 1)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: %u slices of %u subslices are more than %u subslices", d->id,
                              t->slices, t->subslices_per_slice, ZETA_VGPU_TILE_ROWS - 1);
    if (t->eus_per_subslice * t->threads_per_eu > 1024)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: %u EUs with %u threads are more than 1024 threads of a subslice",
                              d->id, t->eus_per_subslice, t->threads_per_eu);
    if ((t->l1_bytes & (t->l1_bytes - 1)) != 0 || (t->l3_bytes & (t->l3_bytes - 1)) != 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: the sizes of the caches (l1_kib, l3_kib) are powers of two",
                              d->id);
    return ZETA_PLUGIN_SUCCESS;
}

static void destroy_vgpu(struct zeta_vgpu *vgpu)
{
    if (!vgpu)
        return;
    /* What the host did not destroy would run on in memory that is freed here. */
    zeta_vgpu_queues_abandon(vgpu);
    zeta_vgpu_streams_abandon(vgpu);
    zeta_vgpu_tracers_abandon(vgpu);
    zeta_vgpu_queries_abandon(vgpu);
    for (uint32_t i = 0; i < vgpu->description.tiles; i++)
        zeta_vgpu_tile_finish(&vgpu->tiles[i]);
    zeta_softqueue_pool_destroy(vgpu->queues);
    zeta_vgpu_memory_destroy(vgpu->memory);
    zeta_vgpu_pool_destroy(vgpu->pool);
    zeta_vgpu_space_destroy(vgpu->space);
    zeta_vgpu_compiler_destroy(vgpu->compiler);
    zeta_vgpu_instance_detach(atomic_load(&vgpu->instance));
    pthread_mutex_destroy(&vgpu->instance_lock);
    pthread_mutex_destroy(&vgpu->objects_lock);
    free(vgpu->tiles);
    free(vgpu);
}

static uint32_t count_workers(const struct zeta_vgpu_description *d)
{
    const uint32_t subslices = zeta_vgpu_topology_subslices(&d->topology);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t wanted = d->workers ? d->workers : (uint32_t)(cpus > 0 ? cpus : 1);

    return wanted < subslices ? wanted : subslices;
}

static uint32_t create_vgpu(struct zeta_plugin *self, const struct zeta_vgpu_description *d,
                            const struct zeta_vgpu_compiler_config *compiler,
                            struct zeta_vgpu **out_vgpu)
{
    struct zeta_vgpu *vgpu = calloc(1, sizeof(*vgpu));

    if (!vgpu)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    vgpu->self = self;
    vgpu->description = *d;
    vgpu->workers = count_workers(d);
    pthread_mutex_init(&vgpu->instance_lock, NULL);
    pthread_mutex_init(&vgpu->objects_lock, NULL);
    vgpu->tiles = calloc(d->tiles, sizeof(*vgpu->tiles));
    if (!vgpu->tiles) {
        free(vgpu);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < d->tiles; i++)
        zeta_vgpu_tile_init(&vgpu->tiles[i], vgpu, i, zeta_vgpu_streams_advance);
    zeta_vgpu_devices_init(vgpu);

    vgpu->compiler = zeta_vgpu_compiler_create(compiler);
    vgpu->space = zeta_vgpu_space_create();
    vgpu->pool = zeta_vgpu_pool_create(d->memory_bytes);
    if (vgpu->space && vgpu->pool)
        vgpu->memory = zeta_vgpu_memory_create(vgpu->pool, vgpu->space);
    if (vgpu->memory && vgpu->compiler &&
        zeta_softqueue_pool_create(self->host.ops, self->host.handle, &vgpu->queues) ==
            ZETA_PLUGIN_SUCCESS) {
        *out_vgpu = vgpu;
        return ZETA_PLUGIN_SUCCESS;
    }
    destroy_vgpu(vgpu);
    return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

static uint32_t plugin_init(struct zeta_plugin *self)
{
    struct zeta_vgpu_compiler_config compiler;
    struct zeta_vgpu_description description;
    uint32_t result;

    if (self->vgpu)
        return ZETA_PLUGIN_SUCCESS;
    zeta_vgpu_description_default(&description);
    result = load_device_file(self, &description);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = apply_settings(self, &description);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = check_topology(self, &description);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = zeta_vgpu_compiler_configure(self, &compiler);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = create_vgpu(self, &description, &compiler, &self->vgpu);
    return result;
}

static void plugin_finish(struct zeta_plugin *self)
{
    destroy_vgpu(self->vgpu);
    self->vgpu = NULL;
}

/*
 * The threads of the parent do not exist here and its locks may be held for ever, so its state is
 * left where it is and a new one is made. Only the share in the instance is given back, because
 * the parent's death must be seen while this process goes on, and so is the file of its memory.
 */
static uint32_t plugin_child_after_fork(struct zeta_plugin *self)
{
    struct zeta_vgpu *old = self->vgpu;

    self->vgpu = NULL;
    if (!old)
        return ZETA_PLUGIN_SUCCESS;
    zeta_vgpu_tracers_forget(old);
    for (uint32_t i = 0; i < old->description.tiles; i++)
        zeta_vgpu_trace_writer_abandon(&old->tiles[i].trace);
    zeta_vgpu_instance_abandon(atomic_exchange(&old->instance, NULL));
    zeta_vgpu_pool_abandon(old->pool);
    return create_vgpu(self, &old->description, zeta_vgpu_compiler_config(old->compiler),
                       &self->vgpu);
}

static const struct zeta_plugin_device_ops device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = zeta_vgpu_device_enumerate,
    .properties = zeta_vgpu_device_properties,
    .clock = zeta_vgpu_device_clock,
    .status = zeta_vgpu_device_status,
    .child_after_fork = plugin_child_after_fork,
};

static const struct zeta_plugin_compute_ops compute_ops = {
    .struct_size = sizeof(struct zeta_plugin_compute_ops),
    .memory_allocate = zeta_vgpu_memory_allocate,
    .memory_free = zeta_vgpu_memory_free,
    .module_create = zeta_vgpu_module_create,
    .module_destroy = zeta_vgpu_module_destroy,
    .module_kernel_names = zeta_vgpu_module_kernel_names,
    .module_native_image = zeta_vgpu_module_native_image,
    .module_global = zeta_vgpu_module_global,
    .kernel_create = zeta_vgpu_kernel_create,
    .kernel_destroy = zeta_vgpu_kernel_destroy,
    .kernel_properties = zeta_vgpu_kernel_properties,
    .kernel_resident_groups = zeta_vgpu_kernel_resident_groups,
    .queue_create = zeta_vgpu_queue_create,
    .queue_destroy = zeta_vgpu_queue_destroy,
    .submit = zeta_vgpu_queue_submit,
    .submit_here = zeta_vgpu_queue_submit_here,
    .wake = zeta_vgpu_queue_wake,
    .queue_status = zeta_vgpu_queue_status,
    .module_function = zeta_vgpu_module_function,
    .module_symbols = zeta_vgpu_module_symbols,
    .module_link = zeta_vgpu_module_link,
    .memory_export = zeta_vgpu_memory_export,
    .memory_import = zeta_vgpu_memory_import,
    .virtual_page_bytes = zeta_vgpu_virtual_page_bytes,
    .virtual_reserve = zeta_vgpu_virtual_reserve,
    .virtual_free = zeta_vgpu_virtual_free,
    .physical_create = zeta_vgpu_physical_create,
    .physical_destroy = zeta_vgpu_physical_destroy,
    .virtual_map = zeta_vgpu_virtual_map,
    .virtual_unmap = zeta_vgpu_virtual_unmap,
    .virtual_access = zeta_vgpu_virtual_access,
    .physical_export = zeta_vgpu_physical_export,
    .physical_import = zeta_vgpu_physical_import,
    .memory_adopt = zeta_vgpu_memory_adopt,
    .memory_unused = zeta_vgpu_memory_unused,
    .module_code = zeta_vgpu_module_code,
    .kernel_code = zeta_vgpu_kernel_code,
    .kernel_image = zeta_vgpu_kernel_image,
};

static const struct zeta_plugin_metric_ops metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .symbols = zeta_vgpu_oa_symbols,
    .limits = zeta_vgpu_oa_limits,
    .holder = zeta_vgpu_oa_holder,
    .stream_open = zeta_vgpu_stream_open,
    .stream_read = zeta_vgpu_stream_read,
    .stream_pending = zeta_vgpu_stream_pending,
    .stream_descriptor = zeta_vgpu_stream_descriptor,
    .stream_stop = zeta_vgpu_stream_stop,
    .stream_close = zeta_vgpu_stream_close,
    .query_pool_create = zeta_vgpu_query_pool_create,
    .query_pool_destroy = zeta_vgpu_query_pool_destroy,
    .query_reset = zeta_vgpu_query_reset,
    .query_collect = zeta_vgpu_query_collect,
};

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = plugin_init,
    .finish = plugin_finish,
    .device = &device_ops,
    .compute = &compute_ops,
    .metric = &metric_ops,
    .tracer = &zeta_vgpu_tracer_ops,
};

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    return zeta_host_negotiate(offer, &plugin_ops, PLUGIN_VERSION, sizeof(struct zeta_plugin),
                               out_answer);
}
