/*
 * Cheaper operations for common patterns of metrics. All of them give the same bits.
 */
#include "core/formula/compile/lower.h"

/** A product with a power of two is a shift. */
static void simplify_product(struct zeta_lowering *lowering, struct zeta_node *node)
{
    uint64_t factor = 0;
    const bool second = zeta_lower_constant(lowering, node->arg[1], &factor);
    uint32_t distance = 0;

    if (!second && !zeta_lower_constant(lowering, node->arg[0], &factor))
        return;
    if (factor == 0 || (factor & (factor - 1)) != 0)
        return;
    while (factor >> distance != 1)
        distance++;
    node->code = ZETA_OP_SHL;
    node->arg[0] = second ? node->arg[0] : node->arg[1];
    node->arg[1] = zeta_lower_u64(lowering, distance);
}

/** A shift of a difference is done where the difference is loaded. */
static void simplify_shift(const struct zeta_lowering *lowering, struct zeta_node *node)
{
    const struct zeta_node *load = &lowering->nodes[node->arg[0]];
    uint64_t distance;

    if ((load->code != ZETA_OP_DELTA32 && load->code != ZETA_OP_DELTA_SPLIT) ||
        !zeta_lower_constant(lowering, node->arg[1], &distance) || distance + load->arg[2] >= 64)
        return;
    distance += load->arg[2];
    *node = *load;
    node->arg[2] = (uint32_t)distance;
}

/** So is the conversion of a difference, as a sum with a zero. (No difference is -0.) */
static void simplify_conversion(struct zeta_lowering *lowering, struct zeta_node *node)
{
    const struct zeta_node *load = &lowering->nodes[node->arg[0]];
    const enum zeta_opcode code =
        load->code == ZETA_OP_DELTA32 ? ZETA_OP_ADD_DELTA32 : ZETA_OP_ADD_DELTA_SPLIT;

    if ((load->code != ZETA_OP_DELTA32 && load->code != ZETA_OP_DELTA_SPLIT) || load->arg[2] != 0)
        return;
    node->code = code;
    node->arg[0] = load->arg[0];
    node->arg[1] = load->arg[1];
    node->arg[2] = zeta_lower_f64(lowering, 0.0);
}

/** A sum with a converted difference replaces that zero. */
static void simplify_sum(struct zeta_lowering *lowering, struct zeta_node *node)
{
    const uint32_t zero = zeta_lower_f64(lowering, 0.0);

    for (unsigned i = 0; i < 2; i++) {
        const struct zeta_node *load = &lowering->nodes[node->arg[i]];
        const uint32_t other = node->arg[1 - i];

        if ((load->code != ZETA_OP_ADD_DELTA32 && load->code != ZETA_OP_ADD_DELTA_SPLIT) ||
            load->arg[2] != zero)
            continue;
        *node = *load;
        node->arg[2] = other;
        return;
    }
}

/** True if the product of a difference and factor is below 2^64. */
static bool product_fits(const struct zeta_lowering *lowering, uint32_t index, uint64_t factor)
{
    const struct zeta_node *node = &lowering->nodes[index];
    uint32_t bits;

    if (node->code == ZETA_OP_DELTA32)
        bits = 32 + node->arg[2];
    else if (node->code == ZETA_OP_DELTA_SPLIT)
        bits = lowering->set->layout->fields[node->arg[0]].delta_bits + node->arg[2];
    else
        return false;
    return bits < 64 && factor >> (64 - bits) == 0;
}

/** Cancels what factor and divisor have in common, in a product that cannot overflow. */
static void cancel(struct zeta_lowering *lowering, struct zeta_node *node, uint64_t *divisor)
{
    const struct zeta_node *product = &lowering->nodes[node->arg[0]];
    uint32_t args[3] = {product->arg[0], product->arg[1]};
    uint64_t factor = 0;
    uint64_t common;

    if (product->code != ZETA_OP_MUL_U64)
        return;
    if (zeta_lower_constant(lowering, args[0], &factor))
        args[0] = args[1];
    else if (!zeta_lower_constant(lowering, args[1], &factor))
        return;
    if (!product_fits(lowering, args[0], factor))
        return;
    common = zeta_greatest_common_divisor(factor, *divisor);
    args[1] = zeta_lower_u64(lowering, factor / common);
    args[2] = args[1];
    node->arg[0] = zeta_lower_op(lowering, ZETA_EXPR_MUL, args);
    *divisor /= common;
}

/** Division by a constant is multiplication, with a correction. */
static void simplify_division(struct zeta_lowering *lowering, struct zeta_node *node)
{
    uint64_t divisor;

    if (!zeta_lower_constant(lowering, node->arg[1], &divisor) || divisor == 0)
        return;
    cancel(lowering, node, &divisor);
    node->code = ZETA_OP_DIV_CONSTANT;
    node->arg[1] = zeta_lower_u64(lowering, divisor);
    node->arg[2] = zeta_lower_f64(lowering, 1.0 / (double)divisor);
}

/** The usual form of a percentage is one operation. */
static void simplify_ratio(const struct zeta_lowering *lowering, struct zeta_node *node)
{
    const struct zeta_node *quotient = &lowering->nodes[node->arg[0]];
    const struct zeta_node *dividend;
    const struct zeta_node *product;

    if (quotient->code != ZETA_OP_DIV_F64)
        return;
    dividend = &lowering->nodes[quotient->arg[0]];
    if (dividend->code != ZETA_OP_TO_F64)
        return;
    product = &lowering->nodes[dividend->arg[0]];
    if (product->code != ZETA_OP_MUL_U64)
        return;
    node->code = ZETA_OP_RATIO;
    node->arg[0] = product->arg[0];
    node->arg[1] = product->arg[1];
    node->arg[2] = quotient->arg[1];
}

void zeta_simplify(struct zeta_lowering *lowering, struct zeta_node *node)
{
    if (lowering->result != ZE_RESULT_SUCCESS)
        return;
    if (node->code == ZETA_OP_MUL_U64)
        simplify_product(lowering, node);
    if (node->code == ZETA_OP_SHL)
        simplify_shift(lowering, node);
    if (node->code == ZETA_OP_DIV_U64)
        simplify_division(lowering, node);
    if (node->code == ZETA_OP_TO_F64)
        simplify_conversion(lowering, node);
    if (node->code == ZETA_OP_ADD_F64)
        simplify_sum(lowering, node);
    if (node->code == ZETA_OP_TO_F32)
        simplify_ratio(lowering, node);
}
