#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>
#include <zeta/compiler/protocol.h>

#define STARTS(word, prefix) (strncmp(word, prefix, sizeof(prefix) - 1) == 0)

enum { DEFAULT_LEVEL = 2, MAX_LEVEL = 3 };

/* Options of OpenCL that clang knows. */
static const char clang_flags[] =
    "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt "
    "-cl-strict-aliasing -cl-uniform-work-group-size -cl-no-signed-zeros -cl-finite-math-only "
    "-cl-kernel-arg-info -w -Werror";

/* Those that also let a multiplication and an addition become one operation. */
static const char contracting_flags[] =
    "-cl-mad-enable -cl-unsafe-math-optimizations -cl-fast-relaxed-math";

/* Known options that change nothing here. */
static const char silent_flags[] =
    "-ze-opt-greater-than-4GB-buffer-required -ze-opt-large-register-file -ze-take-global-address "
    "-library-compilation";

/* Of modules that are linked. */
static const char unit_flags[] = "--unit --loaded --import --place";

static bool is_among(const char *word, const char *words)
{
    const size_t length = strlen(word);

    for (; *words; words += strcspn(words, " "), words += strspn(words, " ")) {
        if (strcspn(words, " ") == length && strncmp(words, word, length) == 0)
            return true;
    }
    return false;
}

static bool read_level(struct zeta_cc_options *options, const char *text)
{
    if (text[0] < '0' || text[0] > '9' || text[1] != '\0')
        return false;
    options->has_level = true;
    options->level = (unsigned)(text[0] - '0');
    if (options->level > MAX_LEVEL)
        options->level = MAX_LEVEL;
    return true;
}

/* The value of TYPE:VALUE; false when it is none. */
static bool read_value(const char *text, struct zeta_cc_constant *constant)
{
    static const struct {
        const char *name;
        uint32_t size_bytes;
        char kind;
    } types[] = {
        {"i1", 1, 'b'},  {"bool", 1, 'b'}, {"i8", 1, 'i'},  {"i16", 2, 'i'},
        {"i32", 4, 'i'}, {"i64", 8, 'i'},  {"f32", 4, 'f'}, {"f64", 8, 'f'},
    };
    const char *colon = strchr(text, ':');
    char *end = NULL;

    for (size_t i = 0; colon && i < sizeof(types) / sizeof(types[0]); i++) {
        uint32_t bits = types[i].size_bytes * 8;

        if (strlen(types[i].name) != (size_t)(colon - text) ||
            strncmp(text, types[i].name, (size_t)(colon - text)) != 0)
            continue;
        constant->size_bytes = types[i].size_bytes;
        errno = 0;
        if (types[i].kind == 'f') {
            double real = zeta_c_strtod(colon + 1, &end);
            float single = (float)real;

            constant->value = 0;
            memcpy(&constant->value, bits == 64 ? (void *)&real : (void *)&single, bits / 8);
        } else if (colon[1] == '-') {
            long long number = strtoll(colon + 1, &end, 0);

            if (bits < 64 && number < -(1LL << (bits - 1)))
                return false;
            constant->value = (uint64_t)number & UINT64_MAX >> (64 - bits);
        } else {
            constant->value = strtoull(colon + 1, &end, 0);
            if (types[i].kind == 'b' ? constant->value > 1
                                     : constant->value > UINT64_MAX >> (64 - bits))
                return false;
        }
        return end && end != colon + 1 && *end == '\0' && errno == 0;
    }
    return false;
}

/* ID:TYPE:VALUE. */
static enum zeta_cc_word take_constant(struct zeta_cc_options *options, const char *text)
{
    struct zeta_cc_constant constant = {0};
    unsigned long id;
    char *end = NULL;

    errno = 0;
    id = strtoul(text, &end, 0);
    if (!isdigit((unsigned char)*text) || *end != ':' || errno != 0 || id > UINT32_MAX ||
        !read_value(end + 1, &constant))
        return ZETA_CC_WORD_BAD;
    constant.id = (uint32_t)id;
    zeta_cc_options_add_constant(options, &constant);
    return ZETA_CC_WORD_TAKEN;
}

/* sm_NN. */
static bool read_processor(struct zeta_cc_options *options, const char *text)
{
    char *end = NULL;
    unsigned long number;

    if (!STARTS(text, "sm_") || !isdigit((unsigned char)text[3]))
        return false;
    number = strtoul(text + 3, &end, 10);
    /* An ending such as the a of sm_90a: code for that GPU alone, which this never is. */
    if (number < 50 || number > 999 ||
        (end[0] != '\0' && (end[1] != '\0' || !isalpha((unsigned char)end[0]))))
        return false;
    options->processor = (unsigned)number;
    return true;
}

/* The flags of a hexadecimal number as far as they are known; 0 for what is none. */
static uint32_t read_profile(const char *text)
{
    char *end = NULL;
    unsigned long long number;

    if (!isxdigit((unsigned char)*text))
        return 0;
    number = strtoull(text, &end, 16);
    return *end ? 0
                : (uint32_t)number &
                      (ZETA_CC_PROFILE_FEWER_REGISTERS | ZETA_CC_PROFILE_FREE_REGISTERS);
}

/* NAME=NUMBER; a name may have the character, too. */
static bool is_assignment(const char *text)
{
    const char *equals = strrchr(text, '=');
    char *end = NULL;

    if (!equals || equals == text || !isdigit((unsigned char)equals[1]))
        return false;
    errno = 0;
    (void)strtoull(equals + 1, &end, 0);
    return *end == '\0' && errno == 0;
}

/* Options of modules that are linked. */
static enum zeta_cc_word take_unit(struct zeta_cc_options *options, const char *word,
                                   const char *next)
{
    struct zeta_cc_unit *unit = &options->unit;
    const bool is_import = strcmp(word, "--import") == 0;
    unsigned long number;
    char *end = NULL;

    if (strcmp(word, "--loaded") == 0) {
        unit->is_loaded = true;
        return ZETA_CC_WORD_TAKEN;
    }
    if (!next)
        return ZETA_CC_WORD_INCOMPLETE;
    if (is_import || strcmp(word, "--place") == 0) {
        if (!is_assignment(next))
            return ZETA_CC_WORD_BAD;
        zeta_cc_strings_add(is_import ? &unit->imports : &unit->places, next);
        return ZETA_CC_WORD_TAKEN_NEXT;
    }
    number = isdigit((unsigned char)*next) ? strtoul(next, &end, 10) : 0;
    if (!end || *end != '\0' || number > ZETA_COMPILE_MAX_IMAGES)
        return ZETA_CC_WORD_BAD;
    unit->is_given = true;
    unit->number = (unsigned)number;
    return ZETA_CC_WORD_TAKEN_NEXT;
}

enum zeta_cc_word zeta_cc_options_take(struct zeta_cc_options *options, const char *word,
                                       const char *next)
{
    /* -D NAME or -DNAME, and the like. */
    if (STARTS(word, "-D") || STARTS(word, "-I") || STARTS(word, "-U")) {
        if (word[2] == '\0' && !next)
            return ZETA_CC_WORD_INCOMPLETE;
        zeta_cc_strings_print(&options->front_end, "%s%s", word, word[2] == '\0' ? next : "");
        return word[2] == '\0' ? ZETA_CC_WORD_TAKEN_NEXT : ZETA_CC_WORD_TAKEN;
    }
    if (STARTS(word, "-O"))
        return read_level(options, word[2] ? word + 2 : "2") ? ZETA_CC_WORD_TAKEN
                                                             : ZETA_CC_WORD_BAD;
    if (strcmp(word, "-g") == 0) {
        options->has_debug = true;
        return ZETA_CC_WORD_TAKEN;
    }
    if (strcmp(word, "-cl-opt-disable") == 0 || strcmp(word, "-ze-opt-disable") == 0) {
        options->is_off = true;
        return ZETA_CC_WORD_TAKEN;
    }
    if (STARTS(word, "-ze-opt-level")) {
        const char *value = word + strlen("-ze-opt-level");
        const bool is_next = *value == '\0';

        if (is_next && !next)
            return ZETA_CC_WORD_INCOMPLETE;
        if (!is_next && *value != '=')
            return ZETA_CC_WORD_UNKNOWN;
        value = is_next ? next : value + 1;
        if (!read_level(options, *value == 'O' ? value + 1 : value))
            return ZETA_CC_WORD_BAD;
        return is_next ? ZETA_CC_WORD_TAKEN_NEXT : ZETA_CC_WORD_TAKEN;
    }
    if (STARTS(word, "-zet-profile-flags")) {
        const char *value = word + strlen("-zet-profile-flags");
        const bool is_next = *value == '\0' && next && *next != '-';

        options->profile_flags = read_profile(is_next ? next : *value == '=' ? value + 1 : "");
        return is_next ? ZETA_CC_WORD_TAKEN_NEXT : ZETA_CC_WORD_TAKEN;
    }
    if (strcmp(word, "--gpu") == 0) {
        if (!next)
            return ZETA_CC_WORD_INCOMPLETE;
        return read_processor(options, next) ? ZETA_CC_WORD_TAKEN_NEXT : ZETA_CC_WORD_BAD;
    }
    if (strcmp(word, "--imports") == 0) {
        options->allows_imports = true;
        return ZETA_CC_WORD_TAKEN;
    }
    if (is_among(word, unit_flags))
        return take_unit(options, word, next);
    if (strcmp(word, "--spec-constant") == 0) {
        if (!next)
            return ZETA_CC_WORD_INCOMPLETE;
        return take_constant(options, next) == ZETA_CC_WORD_TAKEN ? ZETA_CC_WORD_TAKEN_NEXT
                                                                  : ZETA_CC_WORD_BAD;
    }
    if (STARTS(word, "--spec-constant="))
        return take_constant(options, word + strlen("--spec-constant="));
    if (STARTS(word, "-cl-std=")) {
        zeta_cc_strings_add(&options->front_end, word);
        options->standard =
            options->front_end.list[options->front_end.count - 1] + strlen("-cl-std=");
        return ZETA_CC_WORD_TAKEN;
    }
    if (is_among(word, contracting_flags))
        options->contracts = true;
    if (is_among(word, contracting_flags) || is_among(word, clang_flags) ||
        STARTS(word, "-cl-ext=") ||
        (STARTS(word, "-W") && !STARTS(word, "-Wp,") && !STARTS(word, "-Wl,") &&
         !STARTS(word, "-Wa,"))) {
        zeta_cc_strings_add(&options->front_end, word);
        return ZETA_CC_WORD_TAKEN;
    }
    return is_among(word, silent_flags) ? ZETA_CC_WORD_TAKEN : ZETA_CC_WORD_UNKNOWN;
}

/* The next word of a text, to be freed by its owner; false at the end. */
static bool next_word(const char **at, const char *end, struct zeta_cc_buffer *out_word)
{
    char quote = '\0';

    out_word->size = 0;
    while (*at < end && (isspace((unsigned char)**at) || **at == '\0'))
        (*at)++;
    if (*at == end)
        return false;
    for (; *at < end && **at != '\0'; (*at)++) {
        char c = **at;

        if (quote == '\0' && isspace((unsigned char)c))
            break;
        if (c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            if (c == '\\' && quote != '\'' && *at + 1 < end && (*at)[1] != '\0')
                c = *++*at;
            zeta_cc_buffer_add(out_word, &c, 1);
        }
    }
    return true;
}

void zeta_cc_options_read(struct zeta_cc_options *options, const char *text, size_t size,
                          struct zeta_cc_buffer *log)
{
    struct zeta_cc_buffer word = {0};
    struct zeta_cc_strings words = {0};
    const char *at = text;

    while (next_word(&at, text + size, &word))
        zeta_cc_strings_add(&words, word.bytes && word.size ? word.bytes : "");
    for (size_t i = 0; i < words.count; i++) {
        enum zeta_cc_word what = zeta_cc_options_take(options, words.list[i], words.list[i + 1]);

        if (what == ZETA_CC_WORD_INCOMPLETE)
            zeta_cc_buffer_line(log, "warning: build option %s needs a value; it is ignored",
                                words.list[i]);
        else if (what == ZETA_CC_WORD_BAD)
            zeta_cc_buffer_line(log, "warning: build option %s has no usable value; it is ignored",
                                words.list[i]);
        else if (what == ZETA_CC_WORD_UNKNOWN)
            zeta_cc_buffer_line(log, "warning: unknown build option %s is ignored", words.list[i]);
        else if (what == ZETA_CC_WORD_TAKEN_NEXT)
            i++;
    }
    zeta_cc_strings_finish(&words);
    zeta_cc_buffer_finish(&word);
}

void zeta_cc_options_add_constant(struct zeta_cc_options *options,
                                  const struct zeta_cc_constant *constant)
{
    options->constants = zeta_cc_reallocate(options->constants, options->constant_count + 1,
                                            sizeof(*options->constants));
    options->constants[options->constant_count++] = *constant;
}

unsigned zeta_cc_options_level(const struct zeta_cc_options *options)
{
    if (options->is_off)
        return 0;
    if (options->has_level)
        return options->level;
    return options->has_debug ? 0 : DEFAULT_LEVEL;
}

void zeta_cc_options_merge(struct zeta_cc_options *options, const struct zeta_cc_options *more)
{
    if (more->has_level) {
        options->has_level = true;
        options->level = more->level;
    }
    options->has_debug |= more->has_debug;
    options->is_off |= more->is_off;
    options->contracts |= more->contracts;
    options->processor = more->processor ? more->processor : options->processor;
    options->profile_flags |= more->profile_flags;
    options->allows_imports |= more->allows_imports;
}

void zeta_cc_options_finish(struct zeta_cc_options *options)
{
    zeta_cc_strings_finish(&options->front_end);
    zeta_cc_strings_finish(&options->unit.imports);
    zeta_cc_strings_finish(&options->unit.places);
    free(options->constants);
    *options = (struct zeta_cc_options){0};
}
