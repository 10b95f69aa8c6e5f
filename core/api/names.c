/* Functions by name; not in loader.c, because the table refers to all that the library has. */
#include <stdlib.h>
#include <string.h>

#include "core/api/loader.h"
#include "core/util/error.h"

_Static_assert(sizeof(void *) == sizeof(zeta_function), "functions are handed out as void *");

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct zeta_name *)entry)->name);
}

ze_result_t zeta_function_address(const char *name, void **out_address)
{
    const struct zeta_name *found =
        bsearch(name, zeta_names, zeta_names_count, sizeof(*zeta_names), compare_name);

    *out_address = NULL;
    if (!found)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "zeDriverGetExtensionFunctionAddress: the library has no function %s",
                          name);
    memcpy(out_address, &found->function, sizeof(*out_address));
    return ZE_RESULT_SUCCESS;
}
