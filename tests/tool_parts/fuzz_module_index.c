/* Any bytes given as an index of module images. Rule 20.11. */
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_module_index index;

    if (!zeta_module_index_parse(&index, (const char *)data, size))
        abort();
    for (uint32_t i = 0; i < index.count; i++) {
        const struct zeta_module_entry *entry = &index.entries[i];
        const struct zeta_module_kernel *kernel = zeta_module_entry_kernel(entry, entry->begin);

        /* No file outside of the folder, and every address that is in a module is found. */
        if (entry->begin >= entry->end || strchr(entry->file, '/') || entry->file[0] == '.' ||
            !zeta_module_index_find(&index, entry->begin) ||
            (kernel && kernel->address > entry->begin))
            abort();
    }
    zeta_module_index_finish(&index);
    return 0;
}
