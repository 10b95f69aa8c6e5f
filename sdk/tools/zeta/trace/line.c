#include "sdk/tools/zeta/trace/line.h"

#include <string.h>

/* Deeper than anything that libzeta writes. */
#define DEPTH_MAX 16

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Each of these gives where the value ends, NULL if there is no whole one. */

static const char *skip_escape(const char *at, const char *end)
{
    if (at >= end)
        return NULL;
    if (*at != 'u')
        return strchr("\"\\/bfnrt", *at) && *at != '\0' ? at + 1 : NULL;
    if (end - at < 5)
        return NULL;
    for (int i = 1; i < 5; i++) {
        if (!is_hex(at[i]))
            return NULL;
    }
    return at + 5;
}

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"';) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\') {
            at = skip_escape(at + 1, end);
            if (!at)
                return NULL;
        } else {
            at++;
        }
    }
    return at < end ? at + 1 : NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
    const char *start = at;

    while (at < end && is_digit(*at))
        at++;
    return at > start ? at : NULL;
}

static const char *skip_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    if (at < end && *at == '0' && end - at > 1 && is_digit(at[1]))
        return NULL;
    at = skip_digits(at, end);
    if (at && at < end && *at == '.')
        at = skip_digits(at + 1, end);
    if (at && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        at = skip_digits(at, end);
    }
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t length = strlen(words[i]);

        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0)
            return at + length;
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end, unsigned depth);

/* Objects and arrays. */
static const char *skip_container(const char *at, const char *end, unsigned depth)
{
    const char close = *at == '{' ? '}' : ']';

    if (depth == DEPTH_MAX)
        return NULL;
    at = skip_blanks(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    while (at < end) {
        if (close == '}') {
            at = *at == '"' ? skip_string(at, end) : NULL;
            if (!at)
                return NULL;
            at = skip_blanks(at, end);
            if (at == end || *at != ':')
                return NULL;
            at = skip_blanks(at + 1, end);
        }
        at = skip_value(at, end, depth + 1);
        if (!at)
            return NULL;
        at = skip_blanks(at, end);
        if (at < end && *at == close)
            return at + 1;
        if (at == end || *at != ',')
            return NULL;
        at = skip_blanks(at + 1, end);
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end, unsigned depth)
{
    if (at == end)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return skip_container(at, end, depth);
    case '"':
        return skip_string(at, end);
    case 't':
    case 'f':
    case 'n':
        return skip_word(at, end);
    default:
        return skip_number(at, end);
    }
}

/* ---- walking ------------------------------------------------------------------------------- */

struct zeta_json_walk zeta_json_walk_begin(struct zeta_slice container)
{
    return (struct zeta_json_walk){.at = container.data + 1,
                                   .end = container.data + container.size - 1,
                                   .is_object = container.data[0] == '{'};
}

static enum zeta_json_kind kind_of(char first)
{
    switch (first) {
    case '{':
        return ZETA_JSON_OBJECT;
    case '[':
        return ZETA_JSON_ARRAY;
    case '"':
        return ZETA_JSON_STRING;
    case 't':
    case 'f':
    case 'n':
        return ZETA_JSON_WORD;
    default:
        return ZETA_JSON_NUMBER;
    }
}

bool zeta_json_walk_next(struct zeta_json_walk *walk, struct zeta_slice *out_name,
                         struct zeta_json_value *out_value)
{
    const char *at = skip_blanks(walk->at, walk->end);
    const char *after;

    *out_name = (struct zeta_slice){"", 0};
    if (at < walk->end && *at == ',')
        at = skip_blanks(at + 1, walk->end);
    if (at == walk->end)
        return false;
    if (walk->is_object) {
        after = skip_string(at, walk->end);
        *out_name = (struct zeta_slice){at + 1, (size_t)(after - at) - 2};
        at = skip_blanks(after, walk->end);
        at = skip_blanks(at + 1, walk->end);
    }
    after = skip_value(at, walk->end, 0);
    out_value->kind = kind_of(*at);
    out_value->text = (struct zeta_slice){at, (size_t)(after - at)};
    if (out_value->kind == ZETA_JSON_STRING)
        out_value->text = (struct zeta_slice){at + 1, (size_t)(after - at) - 2};
    walk->at = after;
    return true;
}

bool zeta_json_find(struct zeta_slice object, const char *name, struct zeta_json_value *out_value)
{
    struct zeta_json_walk walk = zeta_json_walk_begin(object);
    struct zeta_slice found;

    while (zeta_json_walk_next(&walk, &found, out_value)) {
        if (zeta_slice_is(found, name))
            return true;
    }
    return false;
}

static unsigned hex_value(char c)
{
    return is_digit(c) ? (unsigned)(c - '0') : ((unsigned)c & 7) + 9;
}

/* UTF-8 of a character below 0x10000; gives its size. */
static size_t encode(unsigned character, char bytes[3])
{
    if (character < 0x80) {
        bytes[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        bytes[0] = (char)(0xc0 | character >> 6);
        bytes[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    bytes[0] = (char)(0xe0 | character >> 12);
    bytes[1] = (char)(0x80 | (character >> 6 & 0x3f));
    bytes[2] = (char)(0x80 | (character & 0x3f));
    return 3;
}

static size_t decode_escape(const char *at, char bytes[3], size_t *out_size)
{
    static const char names[] = "bfnrt";
    static const char values[] = "\b\f\n\r\t";
    const char *name = strchr(names, at[0]);
    unsigned character = 0;

    if (at[0] != 'u') {
        bytes[0] = name ? values[name - names] : at[0];
        *out_size = 1;
        return 1;
    }
    for (int i = 1; i < 5; i++)
        character = character << 4 | hex_value(at[i]);
    /* Zero would end the text, and half of a pair is no character. */
    if (character == 0 || (character >= 0xd800 && character < 0xe000))
        character = '?';
    *out_size = encode(character, bytes);
    return 5;
}

size_t zeta_json_unescape(struct zeta_slice text, char *out_text, size_t size_bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < text.size;) {
        char bytes[3] = {text.data[i]};
        size_t count = 1;

        if (text.data[i] == '\\')
            i += 1 + decode_escape(text.data + i + 1, bytes, &count);
        else
            i++;
        if (used + count >= size_bytes)
            break;
        memcpy(out_text + used, bytes, count);
        used += count;
    }
    out_text[used] = '\0';
    return used;
}

/* ---- lines --------------------------------------------------------------------------------- */

static uint64_t read_unsigned(struct zeta_slice text)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.size && is_digit(text.data[i]); i++) {
        if (value > UINT64_MAX / 10 - 1)
            return 0;
        value = value * 10 + (uint64_t)(text.data[i] - '0');
    }
    return value;
}

/* Microseconds with decimals. */
static uint64_t read_ns(struct zeta_slice text)
{
    const char *point = memchr(text.data, '.', text.size);
    uint64_t ns = read_unsigned(text);
    uint64_t unit = 100;

    if (ns > UINT64_MAX / 1000 - 1)
        return 0;
    ns *= 1000;
    for (const char *at = point; at && ++at < text.data + text.size && is_digit(*at) && unit > 0;
         unit /= 10)
        ns += unit * (uint64_t)(*at - '0');
    return ns;
}

static void take_member(struct zeta_trace_line *line, struct zeta_slice name,
                        const struct zeta_json_value *value)
{
    const bool is_number = value->kind == ZETA_JSON_NUMBER;
    const bool is_string = value->kind == ZETA_JSON_STRING;

    if (is_string && value->text.size == 1 && zeta_slice_is(name, "ph"))
        line->phase = value->text.data[0];
    else if (is_number && zeta_slice_is(name, "pid"))
        line->pid = read_unsigned(value->text);
    else if (is_number && zeta_slice_is(name, "tid"))
        line->tid = read_unsigned(value->text);
    else if (is_number && zeta_slice_is(name, "ts"))
        line->begin_ns = read_ns(value->text);
    else if (is_number && zeta_slice_is(name, "dur"))
        line->duration_ns = read_ns(value->text);
    else if (is_string && zeta_slice_is(name, "cat"))
        line->category = value->text;
    else if (is_string && zeta_slice_is(name, "name"))
        line->name = value->text;
    else if (value->kind == ZETA_JSON_OBJECT && zeta_slice_is(name, "args"))
        line->arguments = value->text;
}

bool zeta_trace_line_read(const char *text, size_t size, struct zeta_trace_line *out_line)
{
    const char *end = size > 0 && text[0] == '{' ? skip_value(text, text + size, 0) : NULL;
    struct zeta_json_walk walk;
    struct zeta_json_value value;
    struct zeta_slice name;

    *out_line = (struct zeta_trace_line){.category = {"", 0}, .name = {"", 0}};
    if (!end)
        return false;
    out_line->text = (struct zeta_slice){text, (size_t)(end - text)};
    walk = zeta_json_walk_begin(out_line->text);
    while (zeta_json_walk_next(&walk, &name, &value))
        take_member(out_line, name, &value);
    return true;
}
