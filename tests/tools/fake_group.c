#include "fake_group.h"

#include <string.h>

static void describe(struct zeta_metric_entry *metric, const char *name, const char *unit,
                     zet_metric_type_t type, uint32_t metric_class)
{
    (void)strcpy(metric->properties.name, name);
    (void)strcpy(metric->properties.resultUnits, unit);
    metric->properties.metricType = type;
    metric->info.metric_class = metric_class;
}

void fake_group_init(struct fake_group *fake)
{
    *fake = (struct fake_group){0};
    (void)strcpy(fake->entry.properties.name, "Fake");
    fake->entry.properties.domain = 3;
    fake->entry.properties.metricCount = FAKE_COUNT;
    fake->entry.clock.timerResolution = 25000000;
    fake->entry.clock.timestampValidBits = 32;
    fake->entry.metrics = fake->metrics;
    describe(&fake->metrics[FAKE_TIME], "GpuTime", "ns", ZET_METRIC_TYPE_DURATION,
             ZETA_METRIC_CLASS_MEASURED);
    describe(&fake->metrics[FAKE_OPS], "FpOps", "", ZET_METRIC_TYPE_EVENT, ZETA_METRIC_CLASS_EXACT);
    describe(&fake->metrics[FAKE_BUSY], "GpuBusy", "percent", ZET_METRIC_TYPE_RATIO,
             ZETA_METRIC_CLASS_MODELLED);
    describe(&fake->metrics[FAKE_END], "QueryBeginTime", "ns", ZET_METRIC_TYPE_TIMESTAMP,
             ZETA_METRIC_CLASS_MEASURED);
}

void fake_group_add(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns,
                    uint64_t time_ns, uint64_t ops, float busy)
{
    const zet_typed_value_t row[FAKE_COUNT] = {
        [FAKE_TIME] = {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = time_ns},
        [FAKE_OPS] = {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = ops},
        [FAKE_BUSY] = {.type = ZET_VALUE_TYPE_FLOAT32, .value.fp32 = busy},
        [FAKE_END] = {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = end_ns},
    };

    zeta_sampled_group_add_row(group, tile, row);
}
