#include "core/metric/group/metric_info.h"

#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"

const char *zeta_metric_group_unit(const struct zeta_metric_group *group)
{
    return group->set->unit->name;
}

uint32_t zeta_metric_group_record_bytes(const struct zeta_metric_group *group)
{
    return zeta_compiled_record_bytes(group->compiled[0]);
}

uint32_t zeta_metric_entry_class(const struct zeta_metric_entry *entry)
{
    return (uint32_t)entry->metric->metric_class;
}
