#include "core/api/check.h"

#include <stdio.h>

#include "core/api/chain.h"
#include "core/util/error.h"

ze_result_t zeta_check_ready(const char *function)
{
    return zeta_error(ZE_RESULT_ERROR_UNINITIALIZED,
                      "%s: the library is not initialised; call zeInit or zeInitDrivers first",
                      function);
}

ze_result_t zeta_check_element(const void *handle, enum zeta_kind kind, const char *function,
                               const char *parameter, uint32_t index)
{
    char element[96];

    (void)snprintf(element, sizeof(element), "%s[%u]", parameter, (unsigned)index);
    return zeta_object_explain(handle, kind, function, element);
}

ze_result_t zeta_check_null(const char *function, const char *parameter)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                      "%s: %s is null; the address of something is required there", function,
                      parameter);
}

ze_result_t zeta_check_enum(const char *function, const char *parameter, uint32_t value,
                            uint32_t limit)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                      "%s: %s is 0x%x; nothing is defined for this value, the greatest is 0x%x",
                      function, parameter, (unsigned)value, (unsigned)limit);
}

ze_result_t zeta_check_relation(const char *function, ze_result_t result, const char *sentence)
{
    return zeta_error(result, "%s: %s", function, sentence);
}

ze_result_t zeta_check_chain(const char *function, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype = 0;

    if (!zeta_chain_next(&chain, &stype))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "%s: the parameter struct of type 0x%x is not supported here", function,
                      stype);
}

ze_result_t zeta_check_unsupported(const char *function, const char *why)
{
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "%s is not supported: %s", function,
                      why);
}
