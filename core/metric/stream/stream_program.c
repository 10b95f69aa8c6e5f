#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/stream/stream_priv.h"
#include "core/plugin/host.h"

/** FNV-1a, 64 bits: spreads well, and is the same everywhere. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_u32(uint64_t hash, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};

    return hash_bytes(hash, bytes, sizeof(bytes));
}

/** With the terminator, so that neighbouring texts cannot run into each other. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static struct zeta_plugin_string text_of(const char *text)
{
    return (struct zeta_plugin_string){.data = text ? text : "", .size = text ? strlen(text) : 0};
}

/** What the unit's list of registers says of an address. */
static const char *class_of(const struct zeta_unit *unit, uint32_t address)
{
    const struct zeta_address_range *range = zeta_unit_find_range(unit, address);

    return range ? range->register_class : NULL;
}

static struct zeta_plugin_string uuid_of(const struct zeta_set *set)
{
    return text_of(set->query_of ? set->query_of->uuid : set->uuid);
}

ze_result_t zeta_stream_program_make(const struct zeta_compiled *compiled,
                                     struct zeta_stream_program *out_program)
{
    const struct zeta_unit *unit = zeta_compiled_set(compiled)->unit;
    const struct zeta_program_entry *entries = NULL;
    uint32_t count = zeta_compiled_program(compiled, &entries);
    struct zeta_plugin_program_entry *made = calloc(count > 0 ? count : 1, sizeof(*made));
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (!made)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    hash = hash_text(hash, unit->name);
    hash = hash_u32(hash, zeta_compiled_record_bytes(compiled));
    for (uint32_t i = 0; i < count; i++) {
        const char *select = entries[i].select;

        made[i] = (struct zeta_plugin_program_entry){.struct_size = sizeof(made[i]),
                                                     .address = entries[i].address,
                                                     .value = entries[i].value};
        if (select)
            made[i].select = text_of(select);
        else
            made[i].register_class = text_of(class_of(unit, entries[i].address));
        hash = hash_text(hash, select);
        hash = hash_u32(hash_u32(hash, entries[i].address), entries[i].value);
    }
    out_program->array =
        (struct zeta_plugin_array){.data = made, .count = count, .stride = sizeof(*made)};
    (void)snprintf(out_program->digest_text, sizeof(out_program->digest_text), "%016" PRIx64, hash);
    out_program->digest.data = out_program->digest_text;
    out_program->digest.size = strlen(out_program->digest_text);
    out_program->uuid = uuid_of(zeta_compiled_set(compiled));
    return ZE_RESULT_SUCCESS;
}

void zeta_stream_program_free(struct zeta_stream_program *program)
{
    free((void *)(uintptr_t)program->array.data);
    program->array.data = NULL;
}

const struct zeta_provider *zeta_stream_provider(const struct zeta_device *device, uint32_t index)
{
    if (device->tile_count > 0)
        device = device->tiles[index];
    return &device->backend->providers[ZETA_GROUP_METRIC_STREAM];
}

const struct zeta_field *zeta_stream_clock(const struct zeta_layout *layout)
{
    const uint32_t index = zeta_layout_clock(layout);

    return index != ZETA_FIELD_NONE ? &layout->fields[index] : NULL;
}
