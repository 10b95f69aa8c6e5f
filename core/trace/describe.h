/*
 * What the arguments of every function are and how a person wants to see them.
 *
 * The table is generated from the model (core/api/generator/describe.py) and has an entry for each
 * enum zeta_function. It has what can be read and when; nothing of it proves that an address is
 * good.
 */
#ifndef ZETA_CORE_TRACE_DESCRIBE_H
#define ZETA_CORE_TRACE_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/util/cleanup.h"
#include "zeta_functions.h"

/** What a value is. */
enum zeta_show {
    ZETA_SHOW_UNSIGNED,
    ZETA_SHOW_SIGNED,
    ZETA_SHOW_BOOL,
    ZETA_SHOW_FLOAT,
    ZETA_SHOW_ENUM,
    ZETA_SHOW_FLAGS,
    ZETA_SHOW_ADDRESS, /**< a handle, a pointer to something, a function */
    ZETA_SHOW_TEXT,    /**< the address of a string */
    ZETA_SHOW_CHARS,   /**< a string inside a struct; size_bytes is its array */
    ZETA_SHOW_BYTES,   /**< bytes without a meaning, such as a uuid */
    ZETA_SHOW_STRUCT
};

struct zeta_member;

/** How one value looks in memory and on paper. */
struct zeta_shape {
    uint16_t size_bytes;
    uint8_t show; /**< enum zeta_show */
    uint8_t member_count;
    const char *(*name)(uint32_t value); /**< of enumerators; of flags one bit at a time */
    const struct zeta_member *members;   /**< of a struct: those worth showing */
};

struct zeta_member {
    const char *name;
    uint16_t at_bytes; /**< offset in the struct */
    uint16_t count;    /**< 1, or the length of an array */
    struct zeta_shape shape;
};

/** What an argument holds, and when it can be read. */
enum zeta_passing {
    ZETA_PASS_VALUE,  /**< the value, before the call */
    ZETA_PASS_LATE,   /**< the value, but what it points to is there only after the call */
    ZETA_PASS_IN,     /**< the address of values, before the call */
    ZETA_PASS_OUT,    /**< the address of values, after a call that succeeded */
    ZETA_PASS_IN_OUT, /**< both */
};

struct zeta_parameter {
    const char *key;         /**< "name": in JSON */
    uint8_t key_bytes;       /**< of its text, without the terminator */
    uint8_t passing;         /**< enum zeta_passing */
    int8_t count;            /**< index of the parameter that counts the values; -1: one value */
    uint8_t count_indirect;  /**< 1: that parameter is the address of the count */
    struct zeta_shape shape; /**< of a value */
};

struct zeta_function_description {
    const char *name;
    const char *opening; /**< in JSON: category and name, up to the first argument */
    uint32_t opening_bytes;
    const struct zeta_parameter *parameters;
    uint32_t parameter_count;
};

extern const struct zeta_function_description zeta_function_descriptions[ZETA_FUNCTION_COUNT];

struct zeta_trace_text;

/**
 * Adds arguments of a call as JSON members, "hDevice":"0x7f..","count":3: what is known before the
 * call: values, and what they point to where that is an input; or after it (is_after) what a call
 * that succeeded has given.
 *
 * @arguments  addresses of the arguments, as listeners of core/trace/trace.h get them
 *
 * Addresses may be garbage: a trace sees a call before it is checked. So nothing is read through
 * them but with a copy that fails where a load would end the process. A member that does not fit is
 * left out, and so is the rest; text->is_cut is true then.
 */
void zeta_trace_render(struct zeta_trace_text *text, enum zeta_function function,
                       const void *const *arguments, bool is_after);

/* ---- where each function has its callback in ze_callbacks_t ---- */

/** Number of pointers in ze_callbacks_t, which holds nothing else. */
#define ZETA_TRACE_PLACES (sizeof(ze_callbacks_t) / sizeof(void (*)(void)))

/**
 * Place of a function's callback: 1 is the first pointer of ze_callbacks_t. 0: the table, which is
 * frozen at version 1.0, has none. Generated from core/api/model/callbacks.yaml.
 */
extern ZETA_HIDDEN const uint8_t zeta_trace_places[ZETA_FUNCTION_COUNT];

#endif
