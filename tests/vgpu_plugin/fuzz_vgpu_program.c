/* Any lines as a program of an OA unit: refused with a reason, or rows that exist. */
#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/sampling/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_plugin_program_entry entries[32] = {0};
    struct zeta_plugin_array array = {entries, 0, sizeof(entries[0])};
    struct zeta_vgpu_topology topology;
    struct zeta_vgpu_program program;
    struct zeta_vgpu_message message = {""};

    zeta_vgpu_topology_default(&topology);
    for (size_t at = 0; at < size && array.count < 32; array.count++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - data) - at : size - at;

        entries[array.count].struct_size = sizeof(entries[0]);
        entries[array.count].select.data = (const char *)data + at;
        entries[array.count].select.size = length;
        at += length + 1;
    }
    if (!zeta_vgpu_program_parse(&array, &topology, 2, &program, &message)) {
        if (message.text[0] == '\0')
            abort();
        return 0;
    }
    for (unsigned i = 0; i < ZETA_VGPU_SELECTIONS; i++) {
        const struct zeta_vgpu_selection *s = &program.selections[i];

        if (s->counter >= ZETA_VGPU_COUNTER_COUNT || s->tile >= 2 ||
            s->first_row + s->row_count > zeta_vgpu_topology_subslices(&topology) ||
            (s->kind == ZETA_VGPU_SELECT_TICKS && s->value == 0))
            abort();
    }
    return 0;
}
