/*
 * The last failure of each thread.
 *
 * zeta_error() packs the arguments of the format into a record of the thread and returns; nothing
 * is formatted. zeta_error_describe() walks the format again and makes the sentence. Formats with a
 * conversion that the packer does not know are printed at once, so every format works.
 *
 * The record is plain thread-local storage without a destructor: the library may be gone from the
 * point of view of its users when a thread ends, and then nothing of ours may run.
 */
#include "core/util/error.h"
#undef zeta_error

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#define WORDS_MAX 16    /* arguments of one format */
#define TEXT_BYTES 1024 /* copies of string arguments, or a text that was made at once */
#define SENTENCE_BYTES 2048
#define CUT_MARK "..."

enum word_kind { WORD_SIGNED, WORD_UNSIGNED, WORD_DOUBLE, WORD_POINTER, WORD_STRING };

/* One argument; strings are an offset into text. */
struct word {
    enum word_kind kind;
    union {
        long long number;
        unsigned long long unumber;
        double real;
        const void *pointer;
        size_t offset;
    } u;
};

enum record_state { RECORD_EMPTY, RECORD_WORDS, RECORD_TEXT };

struct record {
    enum record_state state;
    const char *format; /* a literal of this library, so it outlives the record */
    size_t word_count;
    struct word words[WORDS_MAX];
    size_t text_bytes; /* used, with terminators */
    char text[TEXT_BYTES];
    bool sentence_made;
    char sentence[SENTENCE_BYTES];
};

static _Thread_local struct record last;
static _Thread_local uint64_t sentence_count;

/* One conversion of a format: "%-8.3s". width and precision are -1 when absent. */
struct conversion {
    bool left, zero, plus, space, alternate;
    bool star_width, star_precision;
    int width;
    int precision;
    int longs;   /* 0 int, 1 long, 2 long long, -1 short, -2 char */
    char length; /* 'z', 'j', 't' or 0 */
    char type;   /* "diouxXcspfgeG" ... or 0 for a broken one */
};

static const char *parse_number(const char *at, int *out_number)
{
    int number = 0;

    while (*at >= '0' && *at <= '9') {
        if (number < 100000)
            number = number * 10 + (*at - '0');
        at++;
    }
    *out_number = number;
    return at;
}

static const char *parse_flags(const char *at, struct conversion *c)
{
    for (;; at++) {
        if (*at == '-')
            c->left = true;
        else if (*at == '0')
            c->zero = true;
        else if (*at == '+')
            c->plus = true;
        else if (*at == ' ')
            c->space = true;
        else if (*at == '#')
            c->alternate = true;
        else
            return at;
    }
}

static const char *parse_length(const char *at, struct conversion *c)
{
    for (;; at++) {
        if (*at == 'l')
            c->longs++;
        else if (*at == 'h')
            c->longs--;
        else if (*at == 'z' || *at == 'j' || *at == 't')
            c->length = *at;
        else
            return at;
    }
}

/* at points behind the percent sign; gives the first character behind the conversion. */
static const char *parse_conversion(const char *at, struct conversion *c)
{
    *c = (struct conversion){.width = -1, .precision = -1};
    at = parse_flags(at, c);
    if (*at == '*') {
        c->star_width = true;
        at++;
    } else if (*at >= '1' && *at <= '9') {
        at = parse_number(at, &c->width);
    }
    if (*at == '.') {
        at++;
        if (*at == '*') {
            c->star_precision = true;
            at++;
        } else {
            at = parse_number(at, &c->precision);
        }
    }
    at = parse_length(at, c);
    c->type = *at;
    return *at ? at + 1 : at;
}

static struct word *add_word(enum word_kind kind)
{
    struct word *word;

    if (last.word_count == WORDS_MAX)
        return NULL;
    word = &last.words[last.word_count++];
    word->kind = kind;
    return word;
}

static bool pack_number(long long number)
{
    struct word *word = add_word(WORD_SIGNED);

    if (word)
        word->u.number = number;
    return word != NULL;
}

static bool pack_string(const char *string, int precision)
{
    struct word *word = add_word(WORD_STRING);
    size_t room = TEXT_BYTES - last.text_bytes;
    size_t wanted;
    size_t length;

    if (!word)
        return false;
    if (!string)
        string = "(null)";
    wanted = precision >= 0 ? strnlen(string, (size_t)precision) : strlen(string);
    if (room == 0) {
        word->u.offset = TEXT_BYTES - 1; /* the terminator of the last string: nothing fits */
        return true;
    }
    length = wanted < room ? wanted : room - 1;
    word->u.offset = last.text_bytes;
    memcpy(last.text + last.text_bytes, string, length);
    if (length < wanted && length >= strlen(CUT_MARK))
        memcpy(last.text + last.text_bytes + length - strlen(CUT_MARK), CUT_MARK, strlen(CUT_MARK));
    last.text[last.text_bytes + length] = '\0';
    last.text_bytes += length + 1;
    return true;
}

static long long take_signed(const struct conversion *c, va_list *arguments)
{
    switch (c->length) {
    case 'z':
    case 't':
        return va_arg(*arguments, ptrdiff_t);
    case 'j':
        return va_arg(*arguments, intmax_t);
    default:
        break;
    }
    if (c->longs >= 2)
        return va_arg(*arguments, long long);
    if (c->longs == 1)
        return va_arg(*arguments, long);
    if (c->longs == -1)
        return (short)va_arg(*arguments, int);
    if (c->longs == -2)
        return (signed char)va_arg(*arguments, int);
    return va_arg(*arguments, int);
}

static unsigned long long take_unsigned(const struct conversion *c, va_list *arguments)
{
    switch (c->length) {
    case 'z':
    case 't':
        return va_arg(*arguments, size_t);
    case 'j':
        return va_arg(*arguments, uintmax_t);
    default:
        break;
    }
    if (c->longs >= 2)
        return va_arg(*arguments, unsigned long long);
    if (c->longs == 1)
        return va_arg(*arguments, unsigned long);
    if (c->longs == -1)
        return (unsigned short)va_arg(*arguments, unsigned int);
    if (c->longs == -2)
        return (unsigned char)va_arg(*arguments, unsigned int);
    return va_arg(*arguments, unsigned int);
}

static bool pack_unsigned(unsigned long long number)
{
    struct word *word = add_word(WORD_UNSIGNED);

    if (word)
        word->u.unumber = number;
    return word != NULL;
}

static bool pack_double(double real)
{
    struct word *word = add_word(WORD_DOUBLE);

    if (word)
        word->u.real = real;
    return word != NULL;
}

static bool pack_pointer(const void *pointer)
{
    struct word *word = add_word(WORD_POINTER);

    if (word)
        word->u.pointer = pointer;
    return word != NULL;
}

/* False for a conversion that cannot be packed; then nothing of the record is used. */
static bool pack_conversion(struct conversion *c, va_list *arguments)
{
    if (c->star_width) {
        c->width = va_arg(*arguments, int);
        if (!pack_number(c->width))
            return false;
    }
    if (c->star_precision) {
        c->precision = va_arg(*arguments, int);
        if (!pack_number(c->precision))
            return false;
    }
    switch (c->type) {
    case 'd':
    case 'i':
        return pack_number(take_signed(c, arguments));
    case 'c':
        return c->longs == 0 && pack_number(va_arg(*arguments, int));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        return pack_unsigned(take_unsigned(c, arguments));
    case 'f':
    case 'g':
    case 'e':
        return c->longs == 0 && pack_double(va_arg(*arguments, double));
    case 'p':
        return pack_pointer(va_arg(*arguments, void *));
    case 's':
        return c->longs == 0 && pack_string(va_arg(*arguments, const char *), c->precision);
    default:
        return false;
    }
}

static bool pack(const char *format, va_list *arguments)
{
    struct conversion c;

    for (const char *at = format; *at;) {
        if (*at++ != '%')
            continue;
        if (*at == '%') {
            at++;
            continue;
        }
        at = parse_conversion(at, &c);
        if (!pack_conversion(&c, arguments))
            return false;
    }
    return true;
}

/* Copies size bytes to the record as its text; a cut is marked. */
static void keep_text(const char *text, size_t size)
{
    size_t length = size < TEXT_BYTES ? size : TEXT_BYTES - 1;

    memmove(last.text, text, length);
    if (length < size)
        memcpy(last.text + length - strlen(CUT_MARK), CUT_MARK, strlen(CUT_MARK));
    last.text[length] = '\0';
    last.state = RECORD_TEXT;
    sentence_count++;
}

ze_result_t zeta_error(ze_result_t result, const char *format, ...)
{
    va_list arguments;
    va_list again;
    int length;

    last.word_count = 0;
    last.text_bytes = 0;
    last.sentence_made = false;
    last.format = format;
    last.state = RECORD_WORDS;
    sentence_count++;
    va_start(arguments, format);
    va_copy(again, arguments);
    if (!pack(format, &arguments)) {
        length = zeta_c_vsnprintf(last.text, TEXT_BYTES, format, again);
        keep_text(last.text, length < 0 ? 0 : (size_t)length);
    }
    va_end(again);
    va_end(arguments);
    return result;
}

ze_result_t zeta_error_text(ze_result_t result, const char *text, uint64_t size_bytes)
{
    last.sentence_made = false;
    keep_text(text ? text : "", text ? (size_t)size_bytes : 0);
    return result;
}

/* The sentence while it is being made. */
struct output {
    char *at;
    size_t room; /* with the terminator */
};

static void put(struct output *output, const char *text, size_t length)
{
    if (length >= output->room)
        length = output->room - 1;
    memcpy(output->at, text, length);
    output->at += length;
    output->room -= length;
    *output->at = '\0';
}

static void put_padded(struct output *output, const struct conversion *c, const char *text,
                       size_t length)
{
    size_t width = c->width > 0 ? (size_t)c->width : 0;
    size_t padding = width > length ? width - length : 0;

    if (c->left)
        put(output, text, length);
    while (padding-- > 0 && output->room > 1)
        put(output, " ", 1);
    if (!c->left)
        put(output, text, length);
}

/* Integers: "0" of the flags becomes a precision, which printf fills with zeros. */
static void put_integer(struct output *output, const struct conversion *c, const struct word *word)
{
    char digits[128];
    const char *sign = "";
    int precision = c->precision;
    int length = 0;

    if (word->kind == WORD_SIGNED)
        sign = word->u.number < 0 ? "-" : c->plus ? "+" : c->space ? " " : "";
    else if (c->alternate && c->type != 'o' && word->u.unumber != 0)
        sign = c->type == 'X' ? "0X" : "0x";
    if (precision < 0 && c->zero && !c->left && c->width > (int)strlen(sign))
        precision = c->width - (int)strlen(sign);
    if (precision > 64)
        precision = 64;
    if (precision < 0)
        precision = 1;
    if (word->kind == WORD_SIGNED) {
        unsigned long long magnitude = (unsigned long long)word->u.number;

        if (word->u.number < 0)
            magnitude = 0 - magnitude;
        length = snprintf(digits, sizeof(digits), "%s%.*llu", sign, precision, magnitude);
    } else if (c->type == 'x') {
        length = snprintf(digits, sizeof(digits), "%s%.*llx", sign, precision, word->u.unumber);
    } else if (c->type == 'X') {
        length = snprintf(digits, sizeof(digits), "%s%.*llX", sign, precision, word->u.unumber);
    } else if (c->type == 'o') {
        length = snprintf(digits, sizeof(digits), "%.*llo", precision, word->u.unumber);
    } else {
        length = snprintf(digits, sizeof(digits), "%.*llu", precision, word->u.unumber);
    }
    put_padded(output, c, digits, (size_t)length);
}

static void put_double(struct output *output, const struct conversion *c, double real)
{
    char digits[512]; /* the longest double has 309 digits before the point */
    int precision = c->precision < 0 ? 6 : c->precision > 60 ? 60 : c->precision;
    int length;

    if (c->type == 'f')
        length = zeta_c_snprintf(digits, sizeof(digits), "%.*f", precision, real);
    else if (c->type == 'e')
        length = zeta_c_snprintf(digits, sizeof(digits), "%.*e", precision, real);
    else
        length = zeta_c_snprintf(digits, sizeof(digits), "%.*g", precision, real);
    put_padded(output, c, digits, (size_t)length);
}

static void put_word(struct output *output, const struct conversion *c, const struct word *word)
{
    char text[32];
    int length;

    switch (word->kind) {
    case WORD_SIGNED:
        if (c->type == 'c') {
            text[0] = (char)word->u.number;
            put_padded(output, c, text, 1);
            return;
        }
        put_integer(output, c, word);
        return;
    case WORD_UNSIGNED:
        put_integer(output, c, word);
        return;
    case WORD_DOUBLE:
        put_double(output, c, word->u.real);
        return;
    case WORD_POINTER:
        length = snprintf(text, sizeof(text), "%p", word->u.pointer);
        put_padded(output, c, text, (size_t)length);
        return;
    case WORD_STRING:
        put_padded(output, c, last.text + word->u.offset, strlen(last.text + word->u.offset));
        return;
    }
}

static void make_sentence(struct output *output)
{
    const struct word *word = last.words;
    struct conversion c;
    const char *start;

    for (const char *at = last.format; *at;) {
        start = at;
        while (*at && *at != '%')
            at++;
        put(output, start, (size_t)(at - start));
        if (!*at)
            return;
        at++;
        if (*at == '%') {
            put(output, "%", 1);
            at++;
            continue;
        }
        at = parse_conversion(at, &c);
        if (c.star_width)
            c.width = (int)(word++)->u.number;
        if (c.star_precision)
            c.precision = (int)(word++)->u.number;
        if (c.width < -1) {
            c.left = true; /* a negative width given as an argument */
            c.width = -c.width;
        }
        put_word(output, &c, word++);
    }
}

const char *zeta_error_describe(void)
{
    struct output output = {.at = last.sentence, .room = SENTENCE_BYTES};

    if (last.state == RECORD_EMPTY)
        return "";
    if (last.sentence_made)
        return last.sentence;
    last.sentence[0] = '\0';
    /* Also a finished text goes to the sentence: it may become an argument of the next failure,
     * whose words overwrite the text. */
    if (last.state == RECORD_TEXT)
        put(&output, last.text, strlen(last.text));
    else
        make_sentence(&output);
    last.sentence_made = true;
    return last.sentence;
}

uint64_t zeta_error_count(void)
{
    return sentence_count;
}

void zeta_error_clear(void)
{
    last.state = RECORD_EMPTY;
}
