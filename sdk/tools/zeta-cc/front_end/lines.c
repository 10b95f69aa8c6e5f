/*
 * Lines for SPIR-V modules that have no debug information: those of their disassembly, as spirv-dis
 * of SPIRV-Tools prints it without options, an instruction to a line behind five lines of comment.
 *
 * Every instruction of a function gets an OpLine, and every function what the translator needs to
 * believe in lines: a source, a compilation unit and a DebugFunction of OpenCL.DebugInfo.100.
 * Source of numbers: SPIR-V 1.4, section 3, and OpenCL.DebugInfo.100, section 3 and 4.
 */
#include "front_end.h"

#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include <zeta/compiler/spirv.h>

enum {
    COMMENT_LINES = 5,
    BOUND = 3, /* word of the header */

    OP_NAME = 5,
    OP_STRING = 7,
    OP_LINE = 8,
    OP_EXTENSION = 10,
    OP_EXT_INST_IMPORT = 11,
    OP_EXT_INST = 12,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_TYPE_VOID = 19,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_VARIABLE = 59,
    OP_PHI = 245,
    OP_LOOP_MERGE = 246,
    OP_SELECTION_MERGE = 247,
    OP_LABEL = 248,
    OP_NO_LINE = 317,
    OP_EXECUTION_MODE_ID = 331,

    DEBUG_COMPILATION_UNIT = 1,
    DEBUG_TYPE_FUNCTION = 8,
    DEBUG_FUNCTION = 20,
    DEBUG_SCOPE = 23,
    DEBUG_SOURCE = 35,

    DEBUG_VERSION = 65536,
    DWARF_VERSION = 4,
    LANGUAGE_OPENCL_C = 3,
    FLAG_IS_DEFINITION = 8
};

/* A function with a body. */
struct function {
    uint32_t id;
    uint32_t line;
    uint32_t name;        /* id of its string */
    uint32_t debug;       /* id of its DebugFunction */
    const uint32_t *text; /* words of its name; null: it has none */
    uint32_t text_words;
};

/* A module in the making. */
struct lines {
    struct zeta_cc_buffer out;
    struct function *functions;
    size_t count;
    uint32_t next_id;
    uint32_t void_type;
    uint32_t import, file, source, unit, type; /* ids */
    bool has_debug;
};

static void put(struct lines *lines, const uint32_t *words, size_t count)
{
    zeta_cc_buffer_add(&lines->out, words, count * sizeof(*words));
}

static void put_text(struct lines *lines, uint32_t opcode, uint32_t id, const char *text)
{
    uint32_t words[32] = {0};
    const uint32_t count = 2 + (uint32_t)strlen(text) / 4 + 1;

    words[0] = count << 16 | opcode;
    words[1] = id;
    memcpy(words + 2, text, strlen(text));
    put(lines, words, count);
}

/* An instruction of the extended set; its result is id. */
static void put_debug(struct lines *lines, uint32_t id, uint32_t number, const uint32_t *operands,
                      uint32_t count)
{
    const uint32_t head[] = {(5 + count) << 16 | OP_EXT_INST, lines->void_type, id, lines->import,
                             number};

    put(lines, head, 5);
    put(lines, operands, count);
}

static void put_line(struct lines *lines, uint32_t line)
{
    const uint32_t words[] = {4u << 16 | OP_LINE, lines->file, line, 0};

    put(lines, words, 4);
}

static struct function *find_function(struct lines *lines, uint32_t id)
{
    for (size_t i = 0; i < lines->count; i++) {
        if (lines->functions[i].id == id)
            return &lines->functions[i];
    }
    return NULL;
}

/* Notes what is there: functions and their names, a type for nothing, debug information. */
static void survey(struct lines *lines, const uint32_t *words, size_t count)
{
    uint32_t line = COMMENT_LINES;
    bool is_open = false; /* a function, that has no body so far */

    for (size_t at = ZETA_SPIRV_HEADER_WORDS; at < count; at += words[at] >> 16) {
        const uint32_t *word = words + at;
        const uint32_t opcode = word[0] & 0xffff, length = word[0] >> 16;

        line++;
        if (opcode == OP_EXT_INST_IMPORT && length > 2 &&
            memmem(word + 2, (length - 2) * sizeof(*word), "DebugInfo", strlen("DebugInfo")))
            lines->has_debug = true;
        if (opcode == OP_TYPE_VOID && length > 1)
            lines->void_type = word[1];
        if (opcode == OP_LABEL && is_open) {
            lines->count++;
            is_open = false;
        }
        if (opcode == OP_FUNCTION && length > 4) {
            lines->functions =
                zeta_cc_reallocate(lines->functions, lines->count + 1, sizeof(*lines->functions));
            lines->functions[lines->count] = (struct function){.id = word[2], .line = line};
            is_open = true;
        }
    }
    for (size_t at = ZETA_SPIRV_HEADER_WORDS; at < count; at += words[at] >> 16) {
        const uint32_t *word = words + at;
        const uint32_t opcode = word[0] & 0xffff, length = word[0] >> 16;
        const uint32_t skipped = opcode == OP_ENTRY_POINT ? 3 : 2;
        struct function *function = NULL;

        if ((opcode == OP_NAME || opcode == OP_ENTRY_POINT) && length > skipped)
            function = find_function(lines, word[skipped - 1]);
        /* Words of the string end with the one whose last byte is zero. */
        for (uint32_t i = skipped; function && !function->text && i < length; i++) {
            if (word[i] >> 24 == 0) {
                function->text = word + skipped;
                function->text_words = i + 1 - skipped;
            }
        }
    }
}

static void put_strings(struct lines *lines, const char *file)
{
    put_text(lines, OP_STRING, lines->file, file);
    for (size_t i = 0; i < lines->count; i++) {
        const struct function *function = &lines->functions[i];
        const uint32_t head[] = {(2 + function->text_words) << 16 | OP_STRING, function->name};

        if (!function->text || function->text_words > 0xffff - 2) {
            put_text(lines, OP_STRING, function->name, "function");
            continue;
        }
        put(lines, head, 2);
        put(lines, function->text, function->text_words);
    }
}

static void put_descriptions(struct lines *lines)
{
    const uint32_t unit[] = {DEBUG_VERSION, DWARF_VERSION, lines->source, LANGUAGE_OPENCL_C};
    const uint32_t type[] = {0, lines->void_type};
    /* The translator counts on a text of the source too, of which it reads digests only. */
    const uint32_t source[] = {lines->file, lines->file};

    put_debug(lines, lines->source, DEBUG_SOURCE, source, 2);
    put_debug(lines, lines->unit, DEBUG_COMPILATION_UNIT, unit, 4);
    put_debug(lines, lines->type, DEBUG_TYPE_FUNCTION, type, 2);
    for (size_t i = 0; i < lines->count; i++) {
        const struct function *function = &lines->functions[i];
        const uint32_t operands[] = {
            function->name, lines->type,    lines->source,      function->line, 0,
            lines->unit,    function->name, FLAG_IS_DEFINITION, function->line, function->id};

        put_debug(lines, function->debug, DEBUG_FUNCTION, operands, 10);
    }
}

/* True for what stands before the strings of a module. */
static bool comes_first(uint32_t opcode)
{
    return opcode == ZETA_SPIRV_OP_CAPABILITY || opcode == OP_EXTENSION ||
           opcode == OP_EXT_INST_IMPORT || opcode == ZETA_SPIRV_OP_MEMORY_MODEL ||
           opcode == OP_ENTRY_POINT || opcode == OP_EXECUTION_MODE ||
           opcode == OP_EXECUTION_MODE_ID;
}

static bool is_merge(uint32_t word)
{
    return (word & 0xffff) == OP_LOOP_MERGE || (word & 0xffff) == OP_SELECTION_MERGE;
}

/* The merge instructions from a place on. */
static uint32_t count_merges(const uint32_t *words, size_t count, size_t at)
{
    uint32_t merges = 0;

    for (; at < count && is_merge(words[at]); at += words[at] >> 16)
        merges++;
    return merges;
}

/* Writes the module with all of that at its places. */
static void rewrite(struct lines *lines, const uint32_t *words, size_t count, const char *file)
{
    const struct function *function = NULL;
    bool has_import = false, has_strings = false, has_descriptions = false;
    bool in_block = false, wants_scope = false, after_merge = false;
    uint32_t line = COMMENT_LINES;
    uint32_t header[ZETA_SPIRV_HEADER_WORDS];

    memcpy(header, words, sizeof(header));
    header[BOUND] = lines->next_id;
    put(lines, header, ZETA_SPIRV_HEADER_WORDS);
    for (size_t at = ZETA_SPIRV_HEADER_WORDS; at < count; at += words[at] >> 16) {
        const uint32_t *word = words + at;
        const uint32_t opcode = word[0] & 0xffff, length = word[0] >> 16;

        line++;
        if (opcode == ZETA_SPIRV_OP_MEMORY_MODEL && !has_import) {
            put_text(lines, OP_EXT_INST_IMPORT, lines->import, "OpenCL.DebugInfo.100");
            has_import = true;
        }
        if (!comes_first(opcode) && !has_strings) {
            put_strings(lines, file);
            has_strings = true;
        }
        if (opcode == OP_FUNCTION && !has_descriptions) {
            put_descriptions(lines);
            has_descriptions = true;
        }
        if (opcode == OP_FUNCTION)
            function = length > 2 ? find_function(lines, word[2]) : NULL;
        if (opcode == OP_FUNCTION || opcode == OP_FUNCTION_END)
            in_block = false;
        if (in_block && wants_scope && opcode != OP_PHI && opcode != OP_VARIABLE) {
            put_debug(lines, lines->next_id++, DEBUG_SCOPE, &function->debug, 1);
            wants_scope = false;
        }
        /* Lines of a source that the module does not say enough about. */
        if (opcode == OP_LINE || opcode == OP_NO_LINE)
            continue;
        /* Nothing may stand between a merge and its branch, which has the code. */
        if (in_block && !after_merge && opcode != OP_LABEL)
            put_line(lines, line + count_merges(words, count, at));
        after_merge = is_merge(word[0]);
        put(lines, word, length);
        if (opcode == OP_LABEL && function) {
            in_block = true;
            wants_scope = true;
        }
    }
    /* The scopes have ids too. */
    memcpy(lines->out.bytes + BOUND * sizeof(uint32_t), &lines->next_id, sizeof(uint32_t));
}

bool zeta_cc_spirv_add_lines(const uint32_t *words, size_t count, const void *given,
                             struct zeta_cc_buffer *out_words)
{
    char digest[SHA256_DIGEST_STRING_LENGTH];
    struct lines lines = {.next_id = words[BOUND]};
    uint32_t *const ids[] = {&lines.import, &lines.file, &lines.source, &lines.unit, &lines.type};
    bool is_possible;

    survey(&lines, words, count);
    /* Each label takes an id at most, and each function two. */
    is_possible = !lines.has_debug && lines.void_type != 0 && lines.count > 0 &&
                  words[BOUND] < UINT32_MAX / 2 && count < UINT32_MAX / 16;
    if (is_possible) {
        (void)SHA256Data(given, count * sizeof(*words), digest);
        memcpy(digest + 16, ".spvasm", sizeof(".spvasm"));
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
            *ids[i] = lines.next_id++;
        for (size_t i = 0; i < lines.count; i++) {
            lines.functions[i].name = lines.next_id++;
            lines.functions[i].debug = lines.next_id++;
        }
        rewrite(&lines, words, count, digest);
        *out_words = lines.out;
    }
    free(lines.functions);
    return is_possible;
}
