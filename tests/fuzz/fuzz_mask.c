/* Values of ZE_AFFINITY_MASK: whatever they are, entries stay inside the array and are read once.
 *
 * Rule 4.3.
 */
#include <stdlib.h>
#include <string.h>

#include "core/device/init.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_mask_entry entries[ZETA_MASK_ENTRIES];
    const char *bad = NULL;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (zeta_mask_parse(text, entries, &bad) > ZETA_MASK_ENTRIES)
        abort();
    if (bad && (bad < text || bad > text + strlen(text)))
        abort();
    free(text);
    return 0;
}
