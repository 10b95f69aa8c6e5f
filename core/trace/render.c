#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/trace/describe.h"
#include "core/trace/text.h"

/* Of long arrays and strings only the start is shown. */
#define ELEMENTS_MAX 8
#define TEXT_MAX 96
#define BYTES_MAX 16

/* Values larger than that are structs of which only the start is known to the copy. */
#define VALUE_BYTES_MAX 4096

#define PAGE_BYTES 4096

/* ---- reading memory of the application that may not be there ---- */

/* The stack of this thread; end 1 when it is not known. A child of fork() keeps it. */
static _Thread_local struct {
    uintptr_t start;
    uintptr_t end;
} stack;

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;

    stack.end = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    (void)pthread_attr_getstack(&attributes, &start, &bytes);
    (void)pthread_attr_destroy(&attributes);
    stack.start = (uintptr_t)start;
    stack.end = (uintptr_t)start + bytes;
}

/*
 * Everything between a local variable and the end of the stack is in use, so it is there. A local
 * variable may be elsewhere, when the program switches stacks or a sanitizer moves variables.
 */
static bool is_on_stack(const void *from, size_t size_bytes)
{
    const uintptr_t here = (uintptr_t)&size_bytes;
    const uintptr_t at = (uintptr_t)from;

    if (stack.end == 0)
        find_stack();
    return here >= stack.start && at > here && at < stack.end && size_bytes <= stack.end - at;
}

/*
 * Copies size_bytes (at most 4096); false if any byte of it cannot be read. What lies on the stack
 * of this thread, above the caller, is simply copied; the rest costs a system call. Leaves errno.
 */
static bool peek(void *to, const void *from, size_t size_bytes)
{
    const int error = errno;
    bool is_there;

    if (is_on_stack(from, size_bytes)) {
        memcpy(to, from, size_bytes);
        return true;
    }
    is_there = zeta_chain_copy(to, from, size_bytes);
    errno = error;
    return is_there;
}

/*
 * Copies the start of a string, at most size_bytes of it, and gives how many bytes that is. False
 * if the first byte cannot be read. A string may end just in front of memory that is not there, so
 * no read crosses a page.
 */
static bool peek_string(char *to, const char *from, size_t size_bytes, size_t *out_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        const size_t page = PAGE_BYTES - (uintptr_t)(from + done) % PAGE_BYTES;
        const size_t part = page < size_bytes - done ? page : size_bytes - done;

        if (!peek(to + done, from + done, part))
            break;

        const char *end = memchr(to + done, '\0', part);
        if (end) {
            *out_bytes = (size_t)(end - to);
            return true;
        }
        done += part;
    }
    *out_bytes = done;
    return done > 0;
}

/* ---- values ---- */

static uint64_t load_unsigned(const void *value, size_t size_bytes)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    switch (size_bytes) {
    case sizeof(u8):
        memcpy(&u8, value, sizeof(u8));
        return u8;
    case sizeof(u16):
        memcpy(&u16, value, sizeof(u16));
        return u16;
    case sizeof(u32):
        memcpy(&u32, value, sizeof(u32));
        return u32;
    default:
        memcpy(&u64, value, sizeof(u64));
        return u64;
    }
}

static int64_t load_signed(const void *value, size_t size_bytes)
{
    const uint64_t bits = load_unsigned(value, size_bytes);

    if (size_bytes == sizeof(int32_t))
        return (int32_t)(uint32_t)bits;
    if (size_bytes == sizeof(int16_t))
        return (int16_t)(uint16_t)bits;
    return size_bytes == sizeof(int8_t) ? (int8_t)(uint8_t)bits : (int64_t)bits;
}

/* "A|B", with what has no name in hexadecimal at the end. */
static void add_flags(struct zeta_trace_text *text, const struct zeta_shape *shape, uint32_t value)
{
    const char *separator = "\"";
    uint32_t rest = 0;

    if (value == 0) {
        zeta_trace_text_put(text, "0");
        return;
    }
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        const char *name = value & bit ? shape->name(bit) : "unknown";

        if (strcmp(name, "unknown") == 0) {
            rest |= value & bit;
            continue;
        }
        zeta_trace_text_put(text, separator);
        zeta_trace_text_put(text, name);
        separator = "|";
    }
    if (rest != 0) {
        zeta_trace_text_put(text, separator);
        zeta_trace_text_hexadecimal(text, rest);
    }
    zeta_trace_text_put(text, "\"");
}

static void add_string_at(struct zeta_trace_text *text, const char *from)
{
    char copy[TEXT_MAX];
    size_t bytes = 0;

    if (from && peek_string(copy, from, sizeof(copy), &bytes))
        zeta_trace_text_string(text, copy, bytes);
    else
        zeta_trace_text_address(text, (uintptr_t)from);
}

static void add_struct(struct zeta_trace_text *text, const struct zeta_shape *shape,
                       const char *value);

/* One value that is in our memory. */
static void add_value(struct zeta_trace_text *text, const struct zeta_shape *shape,
                      const char *value)
{
    const char *name;
    double f64;
    float f32;

    switch (shape->show) {
    case ZETA_SHOW_UNSIGNED:
        zeta_trace_text_number(text, load_unsigned(value, shape->size_bytes));
        break;
    case ZETA_SHOW_SIGNED:
        zeta_trace_text_signed(text, load_signed(value, shape->size_bytes));
        break;
    case ZETA_SHOW_BOOL:
        zeta_trace_text_put(text, load_unsigned(value, shape->size_bytes) ? "true" : "false");
        break;
    case ZETA_SHOW_FLOAT:
        if (shape->size_bytes == sizeof(f32)) {
            memcpy(&f32, value, sizeof(f32));
            f64 = (double)f32;
        } else {
            memcpy(&f64, value, sizeof(f64));
        }
        zeta_trace_text_float(text, f64);
        break;
    case ZETA_SHOW_ENUM:
        name = shape->name((uint32_t)load_unsigned(value, shape->size_bytes));
        if (strcmp(name, "unknown") == 0) {
            zeta_trace_text_unsigned(text, (uint32_t)load_unsigned(value, shape->size_bytes));
            break;
        }
        zeta_trace_text_put(text, "\"");
        zeta_trace_text_put(text, name);
        zeta_trace_text_put(text, "\"");
        break;
    case ZETA_SHOW_FLAGS:
        add_flags(text, shape, (uint32_t)load_unsigned(value, shape->size_bytes));
        break;
    case ZETA_SHOW_TEXT:
        add_string_at(text, (const char *)(uintptr_t)load_unsigned(value, sizeof(void *)));
        break;
    case ZETA_SHOW_CHARS:
        zeta_trace_text_string(
            text, value,
            strnlen(value, shape->size_bytes < TEXT_MAX ? shape->size_bytes : TEXT_MAX));
        break;
    case ZETA_SHOW_BYTES:
        zeta_trace_text_hex(text, (const uint8_t *)value,
                            shape->size_bytes < BYTES_MAX ? shape->size_bytes : BYTES_MAX);
        break;
    case ZETA_SHOW_STRUCT:
        add_struct(text, shape, value);
        break;
    default:
        zeta_trace_text_address(text, load_unsigned(value, shape->size_bytes));
        break;
    }
}

static void add_array(struct zeta_trace_text *text, const struct zeta_shape *shape,
                      const char *values, uint64_t count)
{
    const uint64_t shown = count < ELEMENTS_MAX ? count : ELEMENTS_MAX;

    zeta_trace_text_put(text, "[");
    for (uint64_t i = 0; i < shown; i++) {
        if (i > 0)
            zeta_trace_text_put(text, ",");
        add_value(text, shape, values + i * shape->size_bytes);
    }
    zeta_trace_text_put(text, count > shown ? ",\"...\"]" : "]");
}

static void add_struct(struct zeta_trace_text *text, const struct zeta_shape *shape,
                       const char *value)
{
    zeta_trace_text_put(text, "{");
    for (uint32_t i = 0; i < shape->member_count; i++) {
        const struct zeta_member *member = &shape->members[i];
        const char *at = value + member->at_bytes;

        /* A chain is worth a word only when there is one. */
        if (strcmp(member->name, "pNext") == 0 && load_unsigned(at, sizeof(void *)) == 0)
            continue;
        zeta_trace_text_comma(text);
        zeta_trace_text_put(text, "\"");
        zeta_trace_text_put(text, member->name);
        zeta_trace_text_put(text, "\":");
        if (member->count > 1)
            add_array(text, &member->shape, at, member->count);
        else
            add_value(text, &member->shape, at);
    }
    zeta_trace_text_put(text, "}");
}

/* How many values an argument points to, as far as that can be read. */
static uint64_t count_values(const struct zeta_function_description *function,
                             const struct zeta_parameter *parameter, const void *const *arguments)
{
    const struct zeta_parameter *counter = &function->parameters[parameter->count];
    const void *at = arguments[parameter->count];
    uint64_t count = 0;

    if (!parameter->count_indirect)
        return load_unsigned(at, counter->shape.size_bytes);

    const void *pointer = NULL;
    memcpy(&pointer, at, sizeof(pointer));
    if (!pointer || !peek(&count, pointer, counter->shape.size_bytes))
        return 0;
    return load_unsigned(&count, counter->shape.size_bytes);
}

/* The size of what it points to is known and its type is not: a number if it can be one. */
static void add_bytes_at(struct zeta_trace_text *text, const char *pointer, uint64_t count)
{
    uint8_t copy[BYTES_MAX];
    const size_t shown = count < sizeof(copy) ? (size_t)count : sizeof(copy);

    if (count == 0 || !peek(copy, pointer, shown))
        zeta_trace_text_address(text, (uintptr_t)pointer);
    else if (count == 1 || count == 2 || count == 4 || count == 8)
        zeta_trace_text_bits(text, load_unsigned(copy, shown));
    else
        zeta_trace_text_hex(text, copy, shown);
}

/* What an argument points to; the address itself if that cannot be read. */
static void add_pointed(struct zeta_trace_text *text,
                        const struct zeta_function_description *function,
                        const struct zeta_parameter *parameter, const void *const *arguments,
                        const char *pointer)
{
    char copy[VALUE_BYTES_MAX];
    const struct zeta_shape *shape = &parameter->shape;
    const bool is_array = parameter->count >= 0;
    const uint64_t count = is_array ? count_values(function, parameter, arguments) : 1;
    const uint64_t shown = count < ELEMENTS_MAX ? count : ELEMENTS_MAX;

    if (shape->show == ZETA_SHOW_BYTES && is_array)
        add_bytes_at(text, pointer, count);
    else if (shown * shape->size_bytes > sizeof(copy) ||
             (count > 0 && !peek(copy, pointer, shown * shape->size_bytes)))
        zeta_trace_text_address(text, (uintptr_t)pointer);
    else if (is_array)
        add_array(text, shape, copy, count);
    else
        add_value(text, shape, copy);
}

static bool is_wanted(const struct zeta_parameter *parameter, const void *argument, bool is_after)
{
    const void *pointer = NULL;

    switch (parameter->passing) {
    case ZETA_PASS_VALUE:
    case ZETA_PASS_IN:
        return !is_after;
    case ZETA_PASS_IN_OUT:
    case ZETA_PASS_LATE:
    case ZETA_PASS_OUT:
    default:
        memcpy(&pointer, argument, sizeof(pointer));
        /* Null is written once. */
        if (is_after || !pointer)
            return is_after == (pointer != NULL);
        return parameter->passing == ZETA_PASS_IN_OUT;
    }
}

void zeta_trace_render(struct zeta_trace_text *text, enum zeta_function index,
                       const void *const *arguments, bool is_after)
{
    const struct zeta_function_description *function = &zeta_function_descriptions[index];

    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct zeta_parameter *parameter = &function->parameters[i];
        const uint32_t mark = text->used_bytes;

        if (!is_wanted(parameter, arguments[i], is_after))
            continue;
        zeta_trace_text_comma(text);
        if (is_after && parameter->passing == ZETA_PASS_IN_OUT) {
            /* "pCount after": */
            zeta_trace_text_add(text, parameter->key, parameter->key_bytes - (sizeof("\":") - 1));
            zeta_trace_text_put(text, " after\":");
        } else {
            zeta_trace_text_add(text, parameter->key, parameter->key_bytes);
        }
        const char *pointer = NULL;
        if (parameter->passing == ZETA_PASS_VALUE || parameter->passing == ZETA_PASS_LATE) {
            add_value(text, &parameter->shape, arguments[i]);
        } else {
            memcpy(&pointer, arguments[i], sizeof(pointer));
            if (!pointer || (!is_after && parameter->passing == ZETA_PASS_OUT))
                zeta_trace_text_address(text, (uintptr_t)pointer);
            else
                add_pointed(text, function, parameter, arguments, pointer);
        }
        if (text->is_cut) {
            text->used_bytes = mark;
            return;
        }
    }
}
