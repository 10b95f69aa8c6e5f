/*
 * Patterns: texts of set files in which {...} stands for what an index makes of it.
 *
 * "XVE_LOAD_XECORE{core}": the value of an expression over the index, in decimal. "{0} + {1}": the
 * counters that a use of a shared metric gives, as expressions write them: "B[3] + B[4]".
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/sets/catalog_priv.h"

/** True if an expression is over the index and numbers alone, all of them u64. */
static bool is_over_index(const struct zeta_expr *expr, const char *index)
{
    const unsigned arity = zeta_expr_arity(expr->op);

    if (expr->op == ZETA_EXPR_CONSTANT)
        return expr->type == ZETA_EXPR_U64;
    if (expr->op == ZETA_EXPR_NAME)
        return index && expr->u.ref.view == ZETA_VIEW_DEFAULT &&
               strcmp(expr->u.ref.name, index) == 0;
    for (unsigned i = 0; i < arity; i++) {
        if (!is_over_index(expr->u.arg[i], index))
            return false;
    }
    return arity > 0 && expr->op != ZETA_EXPR_TO_F64;
}

static bool give_index(void *index, const struct zeta_expr *name, struct zeta_number *out_number)
{
    (void)name;
    *out_number = (struct zeta_number){ZETA_EXPR_U64, {.u64 = *(uint32_t *)index}};
    return true;
}

/** Reads what is between two braces. */
static bool read_hole(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                      const char *text, size_t length, const char *index, bool counters,
                      struct zeta_pattern_piece *piece)
{
    const struct zeta_expr_source source = {reader->file, node->line, node->column};
    ze_result_t result;

    if (counters && length > 0 && strspn(text, "0123456789") >= length) {
        const unsigned long number = length < 5 ? strtoul(text, NULL, 10) : ZETA_SET_MAX_METRICS;

        if (number >= ZETA_SET_MAX_METRICS) {
            zeta_reader_error(reader, node, "{%.*s}: counters of a metric are numbered up to %u",
                              length < 60 ? (int)length : 60, text, ZETA_SET_MAX_METRICS - 1);
            return false;
        }
        piece->counter = (uint32_t)number + 1;
        return true;
    }
    result = zeta_expr_parse(text, length, &source, reader->arena, reader->sink, &piece->expr);
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
        return zeta_reader_no_memory(reader);
    if (result != ZE_RESULT_SUCCESS) {
        reader->errors++;
        return false;
    }
    if (is_over_index(piece->expr, index))
        return true;
    zeta_reader_error(reader, node, "{%.*s} is no whole number over %s%s%s",
                      length < 60 ? (int)length : 60, text, index ? "the index '" : "numbers alone",
                      index ? index : "", index ? "'" : "");
    return false;
}

bool zeta_pattern_read(struct zeta_set_reader *reader, const struct zeta_yaml_node *node,
                       const char *index, bool counters, struct zeta_pattern *out_pattern)
{
    const char *text = node->text;
    uint32_t most = 1;

    for (const char *c = text; *c; c++)
        most += *c == '{' ? 2 : 0;
    *out_pattern = (struct zeta_pattern){
        .key = node->key,
        .line = node->line,
        .column = node->column,
        .pieces = zeta_arena_array(reader->arena, most, sizeof(*out_pattern->pieces))};
    if (!out_pattern->pieces)
        return zeta_reader_no_memory(reader);
    while (*text) {
        const size_t plain = strcspn(text, "{}");
        const char *hole = text + plain + 1;
        size_t length;

        if (plain > 0) {
            struct zeta_pattern_piece *piece = &out_pattern->pieces[out_pattern->count++];

            piece->length = (uint32_t)plain;
            piece->text = zeta_arena_copy(reader->arena, text, plain);
            if (!piece->text)
                return zeta_reader_no_memory(reader);
        }
        if (text[plain] == '\0')
            break;
        length = text[plain] == '{' ? strcspn(hole, "{}") : 0;
        if (text[plain] == '}' || hole[length] != '}') {
            zeta_reader_error(reader, node, "a brace has no partner in '%.100s'", node->text);
            return false;
        }
        if (!read_hole(reader, node, hole, length, index, counters,
                       &out_pattern->pieces[out_pattern->count]))
            return false;
        if (out_pattern->pieces[out_pattern->count].counter > out_pattern->counters)
            out_pattern->counters = out_pattern->pieces[out_pattern->count].counter;
        out_pattern->count++;
        text = hole + length + 1;
    }
    return true;
}

/** A text that is being made, with room for the zero byte behind it. */
struct filled {
    char *text;
    size_t size_bytes, used;
};

static bool put(struct filled *filled, const char *text, size_t length)
{
    if (length >= filled->size_bytes - filled->used)
        return false;
    memcpy(filled->text + filled->used, text, length);
    filled->used += length;
    return true;
}

/** In decimal. With snprintf(), reading the files of a large platform takes a fifth longer. */
static bool put_number(struct filled *filled, uint64_t value)
{
    char digits[20];
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return put(filled, digits + first, sizeof(digits) - first);
}

bool zeta_pattern_fill(const struct zeta_pattern *pattern, uint32_t index,
                       const struct zeta_counter_name *counters, char *out_text, size_t size_bytes,
                       size_t *out_length)
{
    struct filled filled = {.text = out_text, .size_bytes = size_bytes};
    struct zeta_number number;
    bool fits = true;

    for (uint32_t i = 0; i < pattern->count && fits; i++) {
        const struct zeta_pattern_piece *piece = &pattern->pieces[i];
        const struct zeta_counter_name *counter =
            piece->counter > 0 ? &counters[piece->counter - 1] : NULL;

        if (counter)
            fits = put(&filled, counter->bank, strlen(counter->bank)) && put(&filled, "[", 1) &&
                   put_number(&filled, counter->number) && put(&filled, "]", 1);
        else if (piece->expr)
            fits = zeta_expr_evaluate(piece->expr, give_index, &index, &number) &&
                   put_number(&filled, number.u.u64);
        else
            fits = put(&filled, piece->text, piece->length);
    }
    out_text[filled.used] = '\0';
    *out_length = filled.used;
    return fits;
}
