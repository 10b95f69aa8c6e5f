#include "core/formula/sets/programmables.h"

#include <string.h>

#include "core/formula/sets/catalog_priv.h"

static bool holds(zet_value_info_type_exp_t type, const zet_value_info_exp_t *info,
                  const zet_value_t *value)
{
    switch (type) {
    case ZET_VALUE_INFO_TYPE_EXP_UINT32:
        return value->ui32 == info->ui32;
    /* A value of the API has no member of these widths; its 32 bits are compared. */
    case ZET_VALUE_INFO_TYPE_EXP_UINT8:
        return value->ui32 == info->ui8;
    case ZET_VALUE_INFO_TYPE_EXP_UINT16:
        return value->ui32 == info->ui16;
    case ZET_VALUE_INFO_TYPE_EXP_UINT64:
        return value->ui64 == info->ui64;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT32:
        return value->fp32 == info->fp32;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64:
        return value->fp64 == info->fp64;
    case ZET_VALUE_INFO_TYPE_EXP_BOOL8:
        return !value->b8 == !info->b8;
    case ZET_VALUE_INFO_TYPE_EXP_UINT64_RANGE:
        return value->ui64 >= info->ui64Range.ui64Min && value->ui64 <= info->ui64Range.ui64Max;
    case ZET_VALUE_INFO_TYPE_EXP_FLOAT64_RANGE:
        return value->fp64 >= info->fp64Range.fp64Min && value->fp64 <= info->fp64Range.fp64Max;
    default:
        return false;
    }
}

uint32_t zeta_parameter_find(const struct zeta_parameter *parameter, const zet_value_t *value)
{
    for (uint32_t i = 0; i < parameter->value_count; i++) {
        if (holds(parameter->value_type, &parameter->values[i].info, value))
            return i;
    }
    return UINT32_MAX;
}

uint32_t zeta_unit_slot_count(const struct zeta_unit *unit)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < unit->slot_run_count; i++)
        count += unit->slots[i].count;
    return count;
}

uint32_t zeta_catalog_programmable_count(const struct zeta_catalog *catalog)
{
    return catalog->usable_programmables.count;
}

const struct zeta_programmable *zeta_catalog_programmable(const struct zeta_catalog *catalog,
                                                          uint32_t index)
{
    return catalog->usable_programmables.items[index];
}

const struct zeta_programmable *zeta_catalog_find_programmable(const struct zeta_catalog *catalog,
                                                               const char *name)
{
    for (uint32_t i = 0; i < catalog->usable_programmables.count; i++) {
        const struct zeta_programmable *programmable = catalog->usable_programmables.items[i];

        if (strcmp(programmable->name, name) == 0)
            return programmable;
    }
    return NULL;
}
