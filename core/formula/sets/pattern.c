/*
 * Patterns: texts of set files in which {...} stands for what an index makes of it.
 *
 * "XVE_LOAD_XECORE{core}": the value of an expression over the index, in decimal. "{0} + {1}": the
 * counters that a use of a shared metric gives, as expressions write them: "B[3] + B[4]".
 */
#include <inttypes.h>
#include <stdio.h>
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

bool zeta_pattern_fill(const struct zeta_pattern *pattern, uint32_t index,
                       const struct zeta_counter_name *counters, char *out_text, size_t size_bytes,
                       size_t *out_length)
{
    struct zeta_number number;
    size_t used = 0;

    for (uint32_t i = 0; i < pattern->count && used < size_bytes; i++) {
        const struct zeta_pattern_piece *piece = &pattern->pieces[i];
        char *end = out_text + used;
        const size_t room = size_bytes - used;

        if (piece->counter > 0)
            used += (size_t)snprintf(end, room, "%s[%u]", counters[piece->counter - 1].bank,
                                     counters[piece->counter - 1].number);
        else if (piece->expr && zeta_expr_evaluate(piece->expr, give_index, &index, &number))
            used += (size_t)snprintf(end, room, "%" PRIu64, number.u.u64);
        else
            used += (size_t)snprintf(end, room, "%s", piece->text);
    }
    if (pattern->count == 0)
        out_text[0] = '\0';
    *out_length = used;
    return used < size_bytes;
}
