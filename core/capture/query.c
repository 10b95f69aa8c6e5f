#include "core/capture/query.h"

#include <stdlib.h>

#include "core/capture/unit_program.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/query_form.h"
#include "core/formula/sets/set.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

/** Tiles that the backend has on a root, of which this process may see fewer; at least 1. */
static uint32_t count_tiles(const struct zeta_backend_device *device)
{
    size_t count = 0;
    const struct zeta_backend_device *all = zeta_plugin_host_devices(&count);
    uint32_t tiles = 0;

    for (size_t i = 0; i < count; i++)
        tiles += all[i].parent != SIZE_MAX && &all[all[i].parent] == device;
    return tiles > 0 ? tiles : 1;
}

/** The fields of a unit's record as a query record contains them; NULL without memory. */
static struct zeta_plugin_query_field *list_fields(const struct zeta_layout *layout,
                                                   uint32_t *out_count)
{
    struct zeta_plugin_query_field *fields =
        calloc(zeta_query_form_field_count(layout) + 1, sizeof(*fields));
    uint32_t count = 0;

    for (uint32_t i = 0; fields && i < layout->field_count; i++) {
        const struct zeta_field *from = &layout->fields[i];

        if (from->part_of != ZETA_FIELD_NONE)
            continue;
        fields[count++] = (struct zeta_plugin_query_field){
            .struct_size = sizeof(*fields),
            .name = zeta_plugin_text(from->name),
            .index = from->index,
            .low_bit = from->low_bit,
            .low_width = from->low_width,
            .high_bit = from->high_bit,
            .high_width = from->high_width,
            .delta_bits = from->delta_bits,
            .is_float = from->is_float,
        };
    }
    *out_count = count;
    return fields;
}

ze_result_t zeta_query_source_open(struct zeta_query_source *source,
                                   const struct zeta_backend_device *device,
                                   const struct zeta_compiled *compiled, uint32_t count)
{
    const struct zeta_provider *provider = &device->providers[ZETA_GROUP_METRIC_QUERY];
    const struct zeta_set *set = zeta_compiled_set(compiled);
    const struct zeta_layout *layout = set->query_of->layout;
    struct zeta_unit_program program;
    uint32_t field_count = 0;
    ZETA_CLEANUP(zeta_freep)
    struct zeta_plugin_query_field *fields = list_fields(layout, &field_count);
    ze_result_t result =
        fields ? zeta_unit_program_make(compiled, &program) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t code;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    source->provider = provider;
    source->record_bytes = zeta_compiled_record_bytes(compiled);
    source->record_count = count_tiles(device);
    const struct zeta_plugin_query_desc desc = {
        .struct_size = sizeof(desc),
        .unit = zeta_plugin_text(set->unit->name),
        .set = zeta_plugin_text(set->name),
        .program = program.array,
        .digest = program.digest,
        .uuid = program.uuid,
        .count = count,
        .report_bytes = layout->record_bytes,
        .record_bytes = source->record_bytes,
        .fields = {.data = fields, .count = field_count, .stride = sizeof(*fields)},
    };
    code = provider->backend->metric.query_pool_create(provider->backend->self, provider->device,
                                                       &desc, &source->pool);
    zeta_unit_program_free(&program);
    if (code == ZETA_PLUGIN_SUCCESS)
        return ZE_RESULT_SUCCESS;
    source->pool = NULL;
    return zeta_backend_result(provider->backend, code, "creating a query pool");
}

ze_result_t zeta_query_source_reset(struct zeta_query_source *source, uint32_t index)
{
    struct zeta_backend *backend = source->provider->backend;
    uint32_t code;

    (void)pthread_mutex_lock(&source->lock);
    code = backend->metric.query_reset(backend->self, source->pool, index);
    (void)pthread_mutex_unlock(&source->lock);
    return code == ZETA_PLUGIN_SUCCESS ? ZE_RESULT_SUCCESS
                                       : zeta_backend_result(backend, code, "resetting a query");
}
