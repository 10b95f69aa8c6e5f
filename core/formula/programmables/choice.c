/* Values of parameters: which are allowed, which were chosen, how many metrics they give. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "core/formula/programmables/recipe.h"
#include "core/util/error.h"

/** Largest number of metrics that one call can make. */
#define MAX_INSTANCES 65536u

/** Writes a value as a message shows it. */
static void print_value(char *text, size_t size_bytes, zet_value_info_type_exp_t type,
                        const zet_value_t *value)
{
    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        (void)snprintf(text, size_bytes, "%" PRIu64, value->ui64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        (void)zeta_c_snprintf(text, size_bytes, "%g", (double)value->fp32);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        (void)zeta_c_snprintf(text, size_bytes, "%g", value->fp64);
        break;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        (void)snprintf(text, size_bytes, "%s", value->b8 ? "true" : "false");
        break;
    default:
        (void)snprintf(text, size_bytes, "%" PRIu32, value->ui32);
        break;
    }
}

/** Writes one allowed value or range. */
static void print_allowed(char *text, size_t size_bytes, zet_value_info_type_exp_t type,
                          const zet_value_info_exp_t *info)
{
    zet_value_t value;

    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        (void)snprintf(text, size_bytes, "%" PRIu64 " to %" PRIu64, info->ui64Range.ui64Min,
                       info->ui64Range.ui64Max);
        return;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        (void)zeta_c_snprintf(text, size_bytes, "%g to %g", info->fp64Range.fp64Min,
                              info->fp64Range.fp64Max);
        return;
    default:
        memcpy(&value, info, sizeof(value));
        if (type == ZET_VALUE_INFO_TYPE_EXP_UINT8)
            value.ui32 = info->ui8;
        if (type == ZET_VALUE_INFO_TYPE_EXP_UINT16)
            value.ui32 = info->ui16;
        print_value(text, size_bytes, type, &value);
        return;
    }
}

static ze_result_t refuse_value(const struct zeta_programmable *programmable,
                                const struct zeta_parameter *parameter, const zet_value_t *value)
{
    char given[48];
    char list[400] = "";
    size_t used = 0;

    print_value(given, sizeof(given), parameter->value_type, value);
    for (uint32_t i = 0; i < parameter->value_count; i++) {
        char one[64];
        int length;

        print_allowed(one, sizeof(one), parameter->value_type, &parameter->values[i].info);
        length = snprintf(list + used, sizeof(list) - used, "%s%s (%s)", i > 0 ? ", " : "", one,
                          parameter->values[i].description);
        if (length < 0 || (size_t)length >= sizeof(list) - used)
            break;
        used += (size_t)length;
    }
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "parameter %s of programmable %s cannot be %s; allowed: %s", parameter->name,
                      programmable->name, given, list);
}

ze_result_t zeta_choice_make(const struct zeta_programmable *programmable, uint32_t count,
                             const zet_metric_programmable_param_value_exp_t *values,
                             struct zeta_choice *out_choice)
{
    if (count > programmable->parameter_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "programmable %s has %u parameters, but %u values were given",
                          programmable->name, programmable->parameter_count, count);
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const zet_value_t *value = i < count ? &values[i].value : &parameter->fallback;

        out_choice->value[i] = *value;
        out_choice->index[i] = zeta_parameter_find(parameter, value);
        if (out_choice->index[i] == UINT32_MAX)
            return refuse_value(programmable, parameter, value);
    }
    return ZE_RESULT_SUCCESS;
}

bool zeta_expr_over_symbols(const struct zeta_catalog *catalog,
                            const struct zeta_symbol_lookup *symbols, const struct zeta_expr *expr,
                            struct zeta_number *out_value)
{
    struct zeta_number arguments[ZETA_EXPR_MAX_ARITY];

    if (expr->op == ZETA_EXPR_CONSTANT) {
        *out_value = zeta_expr_constant(expr);
        return true;
    }
    if (expr->op == ZETA_EXPR_SYMBOL)
        return zeta_symbol_number(zeta_catalog_symbol(catalog, expr->u.ref.target), symbols,
                                  out_value);
    for (unsigned i = 0; i < zeta_expr_arity(expr->op); i++) {
        if (!zeta_expr_over_symbols(catalog, symbols, expr->u.arg[i], &arguments[i]))
            return false;
    }
    *out_value = zeta_expr_apply(expr->op, arguments);
    return true;
}

ze_result_t zeta_choice_count(const struct zeta_catalog *catalog,
                              const struct zeta_programmable *programmable,
                              const struct zeta_choice *choice,
                              const struct zeta_symbol_lookup *symbols, uint32_t tile_count,
                              uint32_t *out_count)
{
    *out_count = 1;
    for (uint32_t i = 0; i < programmable->parameter_count; i++) {
        const struct zeta_parameter *parameter = programmable->parameters[i];
        const struct zeta_parameter_value *value = &parameter->values[choice->index[i]];
        struct zeta_number number = {.type = ZETA_EXPR_U64, .u.u64 = 1};

        if (value->each_tile)
            number.u.u64 = tile_count > 0 ? tile_count : 1;
        else if (value->instances &&
                 !zeta_expr_over_symbols(catalog, symbols, value->instances, &number))
            number.u.u64 = 0;
        if (number.u.u64 == 0 || number.u.u64 > MAX_INSTANCES)
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "the device has nothing to count '%s' (parameter %s of programmable "
                              "%s)",
                              value->description, parameter->name, programmable->name);
        if (number.u.u64 > 1)
            *out_count = (uint32_t)number.u.u64;
    }
    return ZE_RESULT_SUCCESS;
}
