/*
 * Programs: what the host gives as entries, as the registers that a kernel takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_host.h>

#include "plugins/intel/gpu/intel.h"

/* FNV-1a of the registers from a start of one's own: two of them make a uuid. */
static uint64_t hash_registers(const struct zeta_intel_program *program, uint64_t hash)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const uint32_t words[2] = {program->registers[i].address, program->registers[i].value};

        for (uint32_t byte = 0; byte < 8; byte++)
            hash = (hash ^ (words[byte / 4] >> (8 * (byte % 4)) & 0xff)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/*
 * Equal registers have equal uuids in every process, so that they share the kernel's copy. Marked
 * as made from a hash (version 8, variant 2), which uuids of set files are not.
 */
static void make_uuid(struct zeta_intel_program *program)
{
    const uint64_t high = hash_registers(program, UINT64_C(0xcbf29ce484222325));
    const uint64_t low = hash_registers(program, UINT64_C(0x7a657461696e7465));

    (void)snprintf(program->uuid, sizeof(program->uuid), "%08x-%04x-8%03x-%04x-%012llx",
                   (uint32_t)(high >> 32), (uint32_t)(high >> 16 & 0xffff),
                   (uint32_t)(high & 0xfff), (uint32_t)(low >> 48 & 0x3fff) | 0x8000,
                   (unsigned long long)(low & 0xffffffffffffu));
}

static bool is_uuid(struct zeta_plugin_string text)
{
    if (text.size != 36)
        return false;
    for (uint32_t i = 0; i < 36; i++) {
        const char c = text.data[i];
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

/* The class of a register; REGISTER_CLASSES with a sentence if it cannot be written. */
static uint32_t check_entry(const struct zeta_intel_gpu *gpu,
                            const struct zeta_plugin_program_entry *entry,
                            struct zeta_plugin_string set)
{
    static const char *const names[ZETA_INTEL_REGISTER_CLASSES] = {"mux", "boolean", "flex"};
    uint32_t class = ZETA_INTEL_REGISTER_CLASSES;

    if (ZETA_PLUGIN_HAS(entry, register_class))
        class = 0;
    while (class < ZETA_INTEL_REGISTER_CLASSES &&
           !zeta_string_is(entry->register_class, names[class]))
        class ++;
    if (entry->select.size > 0)
        (void)zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                             "%s: the set %.*s selects \"%.*s\", and Intel GPUs are programmed "
                             "with registers only",
                             gpu->id, zeta_string_shown(set), set.data,
                             zeta_string_shown(entry->select), entry->select.data);
    else if (entry->address % 4 != 0)
        (void)zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                             "%s: the set %.*s writes to 0x%x, and addresses of registers are "
                             "multiples of 4",
                             gpu->id, zeta_string_shown(set), set.data, entry->address);
    else if (class == ZETA_INTEL_REGISTER_CLASSES)
        (void)zeta_host_fail(
            gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
            "%s: the set %.*s writes register 0x%x, and no set file of %s lists it "
            "as mux, boolean or flex of this unit (units: registers)",
            gpu->id, zeta_string_shown(set), set.data, entry->address, gpu->platform->name);
    else
        return class;
    return ZETA_INTEL_REGISTER_CLASSES;
}

uint32_t zeta_intel_program_make(const struct zeta_intel_gpu *gpu,
                                 const struct zeta_plugin_array *entries,
                                 struct zeta_plugin_string set, struct zeta_plugin_string uuid,
                                 struct zeta_intel_program *out_program)
{
    *out_program = (struct zeta_intel_program){.is_nameless = uuid.size == 0};
    if (entries->count == 0)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: the set %.*s has no registers on this device, and its unit "
                              "cannot count without",
                              gpu->id, zeta_string_shown(set), set.data);
    if (uuid.size > 0 && !is_uuid(uuid))
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s: \"%.*s\" of the set %.*s is no uuid in lower case", gpu->id,
                              zeta_string_shown(uuid), uuid.data, zeta_string_shown(set), set.data);
    out_program->registers = calloc((size_t)entries->count, sizeof(*out_program->registers));
    if (!out_program->registers)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    /*
     * The kernel's lists one after the other: i915 takes each, xe all of them. Registers of one
     * class are written in the order in which the host gives them.
     */
    for (uint32_t class = 0; class < ZETA_INTEL_REGISTER_CLASSES; class ++) {
        for (uint64_t i = 0; i < entries->count; i++) {
            const struct zeta_plugin_program_entry *entry =
                (const void *)((const char *)entries->data + i * entries->stride);
            const uint32_t found = check_entry(gpu, entry, set);

            if (found == ZETA_INTEL_REGISTER_CLASSES)
                return ZETA_PLUGIN_INVALID_ARGUMENT;
            if (found != class)
                continue;
            out_program->registers[out_program->count++] =
                (struct zeta_intel_register){entry->address, entry->value};
            out_program->counts[class]++;
        }
    }
    if (uuid.size > 0)
        (void)snprintf(out_program->uuid, sizeof(out_program->uuid), "%.36s", uuid.data);
    else
        make_uuid(out_program);
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_intel_program_finish(struct zeta_intel_program *program)
{
    free(program->registers);
    program->registers = NULL;
}
