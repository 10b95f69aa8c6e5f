#include "core/api/names.h"

#include <string.h>

#include "core/util/error.h"

_Static_assert(sizeof(void *) == sizeof(zeta_function), "functions are handed out as void *");

static const struct zeta_name *find(const char *name)
{
    size_t low = 0;
    size_t high = zeta_names_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, zeta_names[middle].name);

        if (order == 0)
            return &zeta_names[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

ze_result_t zeta_function_address(const char *name, void **out_address)
{
    const struct zeta_name *found = find(name);

    *out_address = NULL;
    if (!found)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "zeDriverGetExtensionFunctionAddress: there is no function %s here",
                          name);
    memcpy(out_address, &found->function, sizeof(*out_address));
    return ZE_RESULT_SUCCESS;
}
