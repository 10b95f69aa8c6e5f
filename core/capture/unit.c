#include "core/capture/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/sets/query_form.h"
#include "core/formula/sets/set.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/hash.h"

static uint64_t hash_u32(uint64_t hash, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};

    return zeta_hash(hash, bytes, sizeof(bytes));
}

/** With the terminator, so that neighbouring texts cannot run into each other. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return zeta_hash(hash, text ? text : "", (text ? strlen(text) : 0) + 1);
}

struct zeta_plugin_string zeta_plugin_text(const char *text)
{
    return (struct zeta_plugin_string){.data = text ? text : "", .size = text ? strlen(text) : 0};
}

ze_result_t zeta_unit_program_make(const struct zeta_compiled *compiled,
                                   struct zeta_unit_program *out_program)
{
    const ze_result_t result = zeta_compiled_check(compiled);
    const struct zeta_set *set = zeta_compiled_set(compiled);
    const struct zeta_program_entry *entries = NULL;
    uint32_t count = zeta_compiled_program(compiled, &entries);
    struct zeta_plugin_program_entry *made = calloc(count > 0 ? count : 1, sizeof(*made));
    uint64_t hash = ZETA_HASH_START;

    if (result != ZE_RESULT_SUCCESS || !made) {
        free(made);
        return result != ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    hash = hash_text(hash, set->unit->name);
    hash = hash_u32(hash, zeta_compiled_record_bytes(compiled));
    for (uint32_t i = 0; i < count; i++) {
        const char *select = entries[i].select;
        const struct zeta_address_range *range;

        made[i] = (struct zeta_plugin_program_entry){.struct_size = sizeof(made[i]),
                                                     .address = entries[i].address,
                                                     .value = entries[i].value};
        if (select) {
            made[i].select = zeta_plugin_text(select);
        } else {
            range = zeta_unit_find_range(set->unit, entries[i].address);
            made[i].register_class = zeta_plugin_text(range ? range->register_class : NULL);
        }
        hash = hash_text(hash, select);
        hash = hash_u32(hash_u32(hash, entries[i].address), entries[i].value);
    }
    out_program->array =
        (struct zeta_plugin_array){.data = made, .count = count, .stride = sizeof(*made)};
    (void)snprintf(out_program->digest_text, sizeof(out_program->digest_text), "%016" PRIx64, hash);
    out_program->digest = zeta_plugin_text(out_program->digest_text);
    out_program->uuid = zeta_plugin_text(set->query_of ? set->query_of->uuid : set->uuid);
    return ZE_RESULT_SUCCESS;
}

struct zeta_plugin_program_use zeta_unit_use(const struct zeta_compiled *compiled,
                                             const struct zeta_unit_program *program)
{
    const struct zeta_set *set = zeta_compiled_set(compiled);

    return (struct zeta_plugin_program_use){
        .struct_size = sizeof(struct zeta_plugin_program_use),
        .unit = zeta_plugin_text(set->unit->name),
        .set = zeta_plugin_text(set->name),
        .entries = program->array,
        .kind = set->query_of ? ZETA_PLUGIN_USE_QUERY : ZETA_PLUGIN_USE_STREAM,
    };
}

void zeta_unit_program_free(struct zeta_unit_program *program)
{
    free((void *)(uintptr_t)program->array.data);
    program->array.data = NULL;
}

static void keep_reason(void *context, struct zeta_plugin_string name,
                        struct zeta_plugin_string text)
{
    struct zeta_unit_passes *passes = context;

    (void)name;
    (void)snprintf(passes->reason, sizeof(passes->reason), "%.*s",
                   (int)(text.size < sizeof(passes->reason) ? text.size : sizeof(passes->reason)),
                   text.data ? text.data : "");
}

ze_result_t zeta_unit_check_program(const struct zeta_backend_device *device,
                                    const struct zeta_compiled *compiled,
                                    struct zeta_unit_passes *out_passes)
{
    const struct zeta_set *set = zeta_compiled_set(compiled);
    const struct zeta_provider *provider =
        &device->providers[set->query_of ? ZETA_GROUP_METRIC_QUERY : ZETA_GROUP_METRIC_STREAM];
    struct zeta_unit_passes passes = {.count = 1};
    const struct zeta_plugin_text_sink sink = {.context = &passes, .write = keep_reason};
    struct zeta_unit_program program;
    ze_result_t result = zeta_unit_program_make(compiled, &program);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    const struct zeta_plugin_program_use use = zeta_unit_use(compiled, &program);

    if (provider->backend &&
        provider->backend->metric.program_check(provider->backend->self, provider->device, &use,
                                                &passes.count, &sink) != ZETA_PLUGIN_SUCCESS)
        passes = (struct zeta_unit_passes){.count = 1};
    zeta_unit_program_free(&program);
    *out_passes = passes;
    return ZE_RESULT_SUCCESS;
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
    const struct zeta_backend_device *all;
    struct zeta_unit_program program;
    size_t device_count = 0;
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
    /* Tiles that the backend has on a root, of which this process may see fewer. */
    all = zeta_plugin_host_devices(&device_count);
    for (size_t i = 0; i < device_count; i++)
        source->record_count += all[i].parent != SIZE_MAX && &all[all[i].parent] == device;
    if (source->record_count == 0)
        source->record_count = 1;
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
