/* Any text given to the expression parser: a tree within its bounds, or one error. */
#include <stdlib.h>

#include "core/formula/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t check_tree(const struct zeta_expr *expr, uint32_t *count)
{
    uint32_t depth = 1;

    if (++*count > ZETA_EXPR_MAX_NODES)
        abort();
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        uint32_t inner = 1 + check_tree(expr->u.arg[i], count);

        depth = inner > depth ? inner : depth;
    }
    if (depth != expr->depth || depth > ZETA_EXPR_MAX_DEPTH)
        abort();
    return depth;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct zeta_expr_source source = {"fuzz", 1, 1};
    struct zeta_diagnostics sink = {0};
    struct zeta_arena arena = {0};
    struct zeta_expr *expr = NULL;
    uint32_t count = 0;

    if (zeta_expr_parse((const char *)data, size, &source, &arena, &sink, &expr) ==
        ZE_RESULT_SUCCESS)
        (void)check_tree(expr, &count);
    else if (sink.count[ZETA_SEVERITY_ERROR] != 1)
        abort();
    zeta_arena_finish(&arena);
    return 0;
}
