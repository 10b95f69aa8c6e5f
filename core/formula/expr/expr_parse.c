/*
 * The grammar of expressions.
 *
 *   choice   = binary [ "?" choice ":" choice ]
 *   binary   = unary { operator unary }            by precedence, all left-associative
 *   unary    = ( "-" | "!" | "~" ) unary | operand
 *   operand  = number | "$" name | "(" choice ")" | name "[" integer "]" | name
 *            | ( "u64" | "f64" ) "(" choice ")" | ( "min" | "max" ) "(" choice "," choice ")"
 *            | "muldiv" "(" choice "," choice "," choice ")"
 *            | ( "delta" | "now" | "before" ) "(" ( name | name "[" integer "]" ) ")"
 *   number   = decimal or 0x hexadecimal integer (u64), or decimal with point or exponent (f64)
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/formula/expr/expr.h"

enum token_kind {
    TOKEN_END,
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_NAME,
    TOKEN_SYMBOL,
    TOKEN_OPERATOR /**< a binary operator, or one of ( ) [ ] , ? : ! ~ */
};

struct token {
    enum token_kind kind;
    const char *start; /**< of a symbol: after the dollar sign */
    size_t length;
    const struct zeta_expr_operation *binary; /**< NULL: it is no binary operator */
    uint64_t u64;
    double f64;
};

struct parser {
    const char *text;
    const char *at; /**< behind the current token */
    const char *end;
    const struct zeta_expr_source *source;
    struct zeta_arena *arena;
    struct zeta_diagnostics *sink;
    struct token token; /**< the current one */
    unsigned nesting;
    unsigned node_count;
    ze_result_t result; /**< of the first failure */
};

static struct zeta_expr *parse_choice(struct parser *parser);

/** Reports the first failure; later ones follow from it and are not of interest. */
ZETA_PRINTF(3, 4)
static void fail_at(struct parser *parser, const char *where, const char *format, ...)
{
    va_list arguments;

    if (parser->result != ZE_RESULT_SUCCESS)
        return;
    parser->result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    va_start(arguments, format);
    zeta_diagnose_list(
        parser->sink, ZETA_SEVERITY_ERROR, parser->source->file, parser->source->line,
        parser->source->column + (uint32_t)(where - parser->text), format, arguments);
    va_end(arguments);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

static bool is_hex_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/** Reads the number of the current token. */
static void read_number(struct parser *parser, bool is_float, bool is_hex)
{
    struct token *token = &parser->token;
    char buffer[64];

    token->kind = is_float ? TOKEN_FLOAT : TOKEN_INTEGER;
    if (token->length >= sizeof(buffer)) {
        fail_at(parser, token->start, "a number of more than %zu characters", sizeof(buffer) - 1);
        return;
    }
    memcpy(buffer, token->start, token->length);
    buffer[token->length] = '\0';
    errno = 0;
    if (is_float)
        token->f64 = zeta_c_strtod(buffer, NULL);
    else
        token->u64 = strtoull(buffer, NULL, is_hex ? 16 : 10);
    if (is_float && !isfinite(token->f64))
        fail_at(parser, token->start, "the number %s is too large", buffer);
    if (!is_float && errno == ERANGE)
        fail_at(parser, token->start, "the number %s does not fit 64 bits", buffer);
}

static void scan_number(struct parser *parser)
{
    struct token *token = &parser->token;
    const char *c = parser->at;
    bool is_float = false;
    bool is_hex = c + 1 < parser->end && c[0] == '0' && (c[1] == 'x' || c[1] == 'X');

    if (is_hex) {
        for (c += 2; c < parser->end && is_hex_digit(*c); c++)
            ;
    } else {
        for (; c < parser->end && is_digit(*c); c++)
            ;
        if (c < parser->end && *c == '.') {
            is_float = true;
            for (c++; c < parser->end && is_digit(*c); c++)
                ;
        }
        if (c < parser->end && (*c == 'e' || *c == 'E')) {
            is_float = true;
            c++;
            if (c < parser->end && (*c == '+' || *c == '-'))
                c++;
            if (c == parser->end || !is_digit(*c))
                fail_at(parser, token->start, "a number with an exponent needs its digits");
            for (; c < parser->end && is_digit(*c); c++)
                ;
        }
    }
    parser->at = c;
    token->length = (size_t)(c - token->start);
    if ((is_hex && token->length == 2) || (c < parser->end && (is_name_part(*c) || *c == '.')))
        fail_at(parser, token->start, "not a number");
    else
        read_number(parser, is_float, is_hex);
}

static void scan_operator(struct parser *parser)
{
    struct token *token = &parser->token;
    char second = parser->end - parser->at > 1 ? parser->at[1] : '\0';

    token->kind = TOKEN_OPERATOR;
    token->length = 1;
    for (size_t i = 0; i < ZETA_EXPR_OP_COUNT; i++) {
        const struct zeta_expr_operation *operation = &zeta_expr_operations[i];
        const char *text = operation->name;

        if (operation->precedence > ZETA_PRECEDENCE_CHOICE &&
            operation->precedence < ZETA_PRECEDENCE_UNARY && text[0] == *parser->at &&
            (text[1] ? text[1] == second : !token->binary)) {
            token->binary = operation;
            token->length = text[1] ? 2 : 1;
        }
    }
    if (token->length == 1 && !strchr("()[],?:!~|^&<>+-*/%", *token->start))
        fail_at(parser, token->start, "unexpected character '%c'", *token->start);
    parser->at += token->length;
}

/** Makes the next token the current one. After a failure the current one is the end. */
static void next_token(struct parser *parser)
{
    struct token *token = &parser->token;

    while (parser->at < parser->end &&
           (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n'))
        parser->at++;
    *token = (struct token){.kind = TOKEN_END, .start = parser->at};
    if (parser->at < parser->end) {
        bool dollar = *parser->at == '$';

        if (is_digit(*parser->at)) {
            scan_number(parser);
        } else if (dollar || is_name_start(*parser->at)) {
            token->kind = dollar ? TOKEN_SYMBOL : TOKEN_NAME;
            token->start += dollar;
            for (parser->at += dollar; parser->at < parser->end && is_name_part(*parser->at);)
                parser->at++;
            token->length = (size_t)(parser->at - token->start);
            if (token->length == 0)
                fail_at(parser, token->start, "a name is expected after '$'");
        } else if (*parser->at > ' ' && *parser->at <= '~') {
            scan_operator(parser);
        } else {
            fail_at(parser, parser->at, "unexpected character 0x%02x",
                    (unsigned)(unsigned char)*parser->at);
        }
    }
    if (parser->result != ZE_RESULT_SUCCESS) {
        token->kind = TOKEN_END;
        token->binary = NULL;
    }
}

static bool token_is(const struct parser *parser, const char *text)
{
    const struct token *token = &parser->token;

    return (token->kind == TOKEN_OPERATOR || token->kind == TOKEN_NAME) && *token->start == *text &&
           token->length == strlen(text) && memcmp(token->start, text, token->length) == 0;
}

static bool expect(struct parser *parser, const char *text)
{
    if (token_is(parser, text)) {
        next_token(parser);
        return true;
    }
    if (parser->token.kind == TOKEN_END)
        fail_at(parser, parser->token.start, "'%s' is expected, but the expression ends", text);
    else
        fail_at(parser, parser->token.start, "'%s' is expected instead of '%.*s'", text,
                (int)parser->token.length, parser->token.start);
    return false;
}

static struct zeta_expr *new_node(struct parser *parser, enum zeta_expr_op op, const char *where)
{
    struct zeta_expr *node;

    if (++parser->node_count > ZETA_EXPR_MAX_NODES) {
        fail_at(parser, where, "more than %u operands and operators in one expression",
                ZETA_EXPR_MAX_NODES);
        return NULL;
    }
    node = zeta_arena_alloc(parser->arena, sizeof(*node));
    if (!node) {
        parser->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    node->op = op;
    node->depth = 1;
    node->line = parser->source->line;
    node->column = parser->source->column + (uint32_t)(where - parser->text);
    return node;
}

static struct zeta_expr *new_operation(struct parser *parser, enum zeta_expr_op op,
                                       const char *where, struct zeta_expr *a, struct zeta_expr *b,
                                       struct zeta_expr *c)
{
    struct zeta_expr *node;

    if (parser->result != ZE_RESULT_SUCCESS)
        return NULL;
    node = new_node(parser, op, where);
    if (!node)
        return NULL;
    node->u.arg[0] = a;
    node->u.arg[1] = b;
    node->u.arg[2] = c;
    for (unsigned i = 0; i < zeta_expr_arity(op); i++) {
        if (node->u.arg[i] && node->u.arg[i]->depth >= node->depth)
            node->depth = node->u.arg[i]->depth + 1;
    }
    if (node->depth > ZETA_EXPR_MAX_DEPTH)
        fail_at(parser, where, "a tree of more than %u levels; shorten the chain of operators",
                ZETA_EXPR_MAX_DEPTH);
    return node;
}

/** A node that refers to the current token by name. */
static struct zeta_expr *new_reference(struct parser *parser, enum zeta_expr_op op)
{
    const struct token *token = &parser->token;
    struct zeta_expr *node =
        new_node(parser, op, token->start - (token->kind == TOKEN_SYMBOL ? 1 : 0));

    if (!node)
        return NULL;
    node->u.ref.name = zeta_arena_copy(parser->arena, token->start, token->length);
    if (!node->u.ref.name) {
        parser->result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    next_token(parser);
    return node;
}

/** name or name[index], the current token being the name. */
static struct zeta_expr *parse_name(struct parser *parser)
{
    struct zeta_expr *node = new_reference(parser, ZETA_EXPR_NAME);

    if (!node || !token_is(parser, "["))
        return node;
    next_token(parser);
    node->op = ZETA_EXPR_COUNTER;
    if (parser->token.kind != TOKEN_INTEGER || parser->token.u64 > UINT32_MAX) {
        fail_at(parser, parser->token.start, "the number of a counter is expected after '['");
        return NULL;
    }
    node->u.ref.counter = (uint32_t)parser->token.u64;
    next_token(parser);
    return expect(parser, "]") ? node : NULL;
}

/** The function whose name is the current token; false if it is none. */
static bool function_op(const struct parser *parser, enum zeta_expr_op *out_op)
{
    for (unsigned op = 0; op < ZETA_EXPR_OP_COUNT; op++) {
        if (zeta_expr_operations[op].arity > 0 &&
            zeta_expr_operations[op].precedence == ZETA_PRECEDENCE_OPERAND &&
            token_is(parser, zeta_expr_operations[op].name)) {
            *out_op = (enum zeta_expr_op)op;
            return true;
        }
    }
    return false;
}

static struct zeta_expr *parse_call(struct parser *parser, enum zeta_expr_op op)
{
    const char *where = parser->token.start;
    struct zeta_expr *args[3] = {NULL, NULL, NULL};

    next_token(parser);
    if (!expect(parser, "("))
        return NULL;
    for (unsigned i = 0; i < zeta_expr_arity(op); i++) {
        if (i > 0 && !expect(parser, ","))
            return NULL;
        args[i] = parse_choice(parser);
        if (!args[i])
            return NULL;
    }
    if (!expect(parser, ")"))
        return NULL;
    return new_operation(parser, op, where, args[0], args[1], args[2]);
}

/** delta(x), now(x), before(x): a field seen in a certain way. */
static struct zeta_expr *parse_view(struct parser *parser, enum zeta_expr_view view)
{
    struct zeta_expr *node;

    next_token(parser);
    if (!expect(parser, "("))
        return NULL;
    if (parser->token.kind != TOKEN_NAME) {
        fail_at(parser, parser->token.start, "the name of a field or a counter is expected");
        return NULL;
    }
    node = parse_name(parser);
    if (!node || !expect(parser, ")"))
        return NULL;
    node->u.ref.view = view;
    return node;
}

static struct zeta_expr *parse_constant(struct parser *parser)
{
    struct zeta_expr *node = new_node(parser, ZETA_EXPR_CONSTANT, parser->token.start);

    if (!node)
        return NULL;
    if (parser->token.kind == TOKEN_FLOAT) {
        node->type = ZETA_EXPR_F64;
        node->u.f64 = parser->token.f64;
    } else {
        node->type = ZETA_EXPR_U64;
        node->u.u64 = parser->token.u64;
    }
    next_token(parser);
    return node;
}

static struct zeta_expr *parse_operand(struct parser *parser)
{
    enum zeta_expr_op op;
    struct zeta_expr *node;

    switch (parser->token.kind) {
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
        return parse_constant(parser);
    case TOKEN_SYMBOL:
        return new_reference(parser, ZETA_EXPR_SYMBOL);
    case TOKEN_NAME:
        if (function_op(parser, &op))
            return parse_call(parser, op);
        for (unsigned view = ZETA_VIEW_DELTA; view < ZETA_VIEW_COUNT; view++) {
            if (token_is(parser, zeta_view_names[view]))
                return parse_view(parser, (enum zeta_expr_view)view);
        }
        return parse_name(parser);
    case TOKEN_OPERATOR:
        if (token_is(parser, "(")) {
            next_token(parser);
            node = parse_choice(parser);
            return node && expect(parser, ")") ? node : NULL;
        }
        fail_at(parser, parser->token.start, "an operand is expected instead of '%.*s'",
                (int)parser->token.length, parser->token.start);
        return NULL;
    default:
        fail_at(parser, parser->token.start, "an operand is expected, but the expression ends");
        return NULL;
    }
}

/** Bounds the recursion; each call that returns true is paired with nesting--. */
static bool enter(struct parser *parser)
{
    if (parser->result != ZE_RESULT_SUCCESS)
        return false;
    if (parser->nesting >= ZETA_EXPR_MAX_NESTING) {
        fail_at(parser, parser->token.start, "nested deeper than %u levels", ZETA_EXPR_MAX_NESTING);
        return false;
    }
    parser->nesting++;
    return true;
}

static struct zeta_expr *parse_unary(struct parser *parser)
{
    const char *where = parser->token.start;
    struct zeta_expr *node;
    enum zeta_expr_op op = ZETA_EXPR_NEGATE;

    while (op <= ZETA_EXPR_COMPLEMENT && !token_is(parser, zeta_expr_op_name(op)))
        op++;
    if (op > ZETA_EXPR_COMPLEMENT)
        return parse_operand(parser);
    if (!enter(parser))
        return NULL;
    next_token(parser);
    node = parse_unary(parser);
    parser->nesting--;
    return node ? new_operation(parser, op, where, node, NULL, NULL) : NULL;
}

static struct zeta_expr *parse_binary(struct parser *parser, unsigned min_precedence)
{
    struct zeta_expr *left = parse_unary(parser);

    while (left) {
        const struct zeta_expr_operation *binary = parser->token.binary;
        const char *where = parser->token.start;
        struct zeta_expr *right;

        if (!binary || binary->precedence < min_precedence)
            return left;
        next_token(parser);
        right = parse_binary(parser, binary->precedence + 1);
        if (!right)
            return NULL;
        left = new_operation(parser, (enum zeta_expr_op)(binary - zeta_expr_operations), where,
                             left, right, NULL);
    }
    return NULL;
}

static struct zeta_expr *parse_choice(struct parser *parser)
{
    struct zeta_expr *node;

    if (!enter(parser))
        return NULL;
    node = parse_binary(parser, 1);
    if (node && token_is(parser, "?")) {
        const char *where = parser->token.start;
        struct zeta_expr *yes;
        struct zeta_expr *no = NULL;

        next_token(parser);
        yes = parse_choice(parser);
        if (yes && expect(parser, ":"))
            no = parse_choice(parser);
        node = no ? new_operation(parser, ZETA_EXPR_SELECT, where, node, yes, no) : NULL;
    }
    parser->nesting--;
    return node;
}

ze_result_t zeta_expr_parse(const char *text, size_t length, const struct zeta_expr_source *source,
                            struct zeta_arena *arena, struct zeta_diagnostics *sink,
                            struct zeta_expr **out_expr)
{
    struct parser parser = {
        .text = text,
        .at = text,
        .end = text + length,
        .source = source,
        .arena = arena,
        .sink = sink,
        .result = ZE_RESULT_SUCCESS,
    };
    struct zeta_expr *expr;

    next_token(&parser);
    expr = parse_choice(&parser);
    if (expr && parser.token.kind != TOKEN_END)
        fail_at(&parser, parser.token.start, "'%.*s' is not expected here",
                (int)parser.token.length, parser.token.start);
    if (parser.result != ZE_RESULT_SUCCESS)
        return parser.result;
    *out_expr = expr;
    return ZE_RESULT_SUCCESS;
}
