/*
 * The failing ends of the generated argument checks: one function per kind of mistake, out of the
 * way of the calls that succeed. Each leaves a sentence for zeDriverGetLastErrorDescription and
 * returns the result of the entry point.
 */
#ifndef ZETA_CORE_API_CHECK_H
#define ZETA_CORE_API_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/object/object.h"

/**
 * True between initialisation and unload. Only for functions without a handle that must be given:
 * for all others an unknown handle leads to the same question (zeta_object_explain).
 * There is always at least one driver object, so its arena tells.
 */
static inline bool zeta_api_ready(void)
{
    return atomic_load_explicit(&zeta_arenas[ZETA_KIND_DRIVER].committed, memory_order_acquire) !=
           0;
}

/** UNINITIALIZED, with a sentence that names what to call first. */
ze_result_t zeta_check_ready(const char *function);

/** The result of zeta_object_explain for an element of a handle array. */
ze_result_t zeta_check_element(const void *handle, enum zeta_kind kind, const char *function,
                               const char *parameter, uint32_t index);

/** INVALID_NULL_POINTER. parameter may be a member, such as "desc->pInputModule". */
ze_result_t zeta_check_null(const char *function, const char *parameter);

/** INVALID_ENUMERATION. limit: greatest value that is accepted. */
ze_result_t zeta_check_enum(const char *function, const char *parameter, uint32_t value,
                            uint32_t limit);

/** result, with the sentence of the model about the relation of arguments that does not hold. */
ze_result_t zeta_check_relation(const char *function, ze_result_t result, const char *sentence);

/** UNSUPPORTED_FEATURE if a chain holds a struct, SUCCESS for none. */
ze_result_t zeta_check_chain(const char *function, const void *next);

/** UNSUPPORTED_FEATURE, with the reason of core/api/unsupported.yaml. Both are static strings. */
ze_result_t zeta_check_unsupported(const char *function, const char *why);

/**
 * Implements a getter: impl_<function> gives a value that follows from the object of its handle,
 * an expression of self.
 */
#define ZETA_GETTER(function, handle_type, object_type, value_type, value)                         \
    ze_result_t ZE_APICALL impl_##function(handle_type handle, value_type *out_value)              \
    {                                                                                              \
        const struct object_type *self ZETA_UNUSED = (const struct object_type *)handle;           \
                                                                                                   \
        *out_value = (value_type)(value);                                                          \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

#endif
