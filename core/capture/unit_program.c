#include "core/capture/unit_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"

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
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

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

void zeta_unit_program_free(struct zeta_unit_program *program)
{
    free((void *)(uintptr_t)program->array.data);
    program->array.data = NULL;
}
