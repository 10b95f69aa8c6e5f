/*
 * What callers of the API give: arrays with a count, and structs of zeta/zeta.h, which start with
 * struct_size: how many of its members the caller knows.
 */
#ifndef ZETA_CORE_UTIL_OWN_STRUCT_H
#define ZETA_CORE_UTIL_OWN_STRUCT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/util/error.h"

/**
 * The rule of arrays that are asked for with a count: returns how many elements to write, and
 * updates *count to what is there when it was 0, too large, or no array was given.
 */
static inline uint32_t zeta_count_clip(uint32_t *count, uint32_t available, const void *array)
{
    if (*count == 0 || !array) {
        *count = available;
        return 0;
    }
    if (*count > available)
        *count = available;
    return *count;
}

/** Checks a struct of the caller: it is there, and its size was set. */
static inline ze_result_t zeta_own_struct_check(const char *function, const void *given)
{
    size_t size_bytes;

    if (!given)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: a struct is null", function);
    memcpy(&size_bytes, given, sizeof(size_bytes));
    if (size_bytes < sizeof(size_bytes))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: struct_size is %zu; set it to sizeof() of the struct", function,
                          size_bytes);
    return ZE_RESULT_SUCCESS;
}

/**
 * Gives a text in the way of size queries: *size becomes what it needs with its terminator, and
 * text_out gets it unless it is null or *size was 0. INVALID_SIZE for less room.
 */
static inline ze_result_t zeta_own_text_copy(const char *function, const char *text, size_t bytes,
                                             size_t *size, char *text_out)
{
    const size_t room = text_out ? *size : 0;

    *size = bytes + 1;
    if (room == 0)
        return ZE_RESULT_SUCCESS;
    if (room <= bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "%s: the text needs %zu bytes with its terminator, and there is room for "
                          "%zu",
                          function, bytes + 1, room);
    memcpy(text_out, text, bytes);
    text_out[bytes] = '\0';
    return ZE_RESULT_SUCCESS;
}

/** INVALID_NULL_POINTER with a sentence that names the function of zeta.h and its parameter. */
static inline ze_result_t zeta_own_null_pointer(const char *function, const char *parameter)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: %s is null", function, parameter);
}

/** INVALID_NULL_HANDLE, the same for what a function of zeta.h made. */
static inline ze_result_t zeta_own_null_handle(const char *function, const char *parameter)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s: %s is null", function, parameter);
}

/** Copies what is common to two structs behind struct_size; the target's size stays. */
static inline void zeta_own_struct_copy(void *target, size_t target_bytes, const void *source,
                                        size_t source_bytes)
{
    size_t bytes = target_bytes < source_bytes ? target_bytes : source_bytes;

    if (bytes > sizeof(size_t))
        memcpy((char *)target + sizeof(size_t), (const char *)source + sizeof(size_t),
               bytes - sizeof(size_t));
}

/** Checks a descriptor of the caller, and copies as much of it as is known. */
static inline ze_result_t zeta_own_struct_read(const char *function, const void *given,
                                               void *out_known, size_t known_bytes)
{
    ze_result_t result = zeta_own_struct_check(function, given);

    if (result == ZE_RESULT_SUCCESS)
        zeta_own_struct_copy(out_known, known_bytes, given, *(const size_t *)given);
    return result;
}

#endif
