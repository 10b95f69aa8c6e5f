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

/* Gives a row to one of the functions that take one. */
static void give(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns, uint64_t time_ns,
                 void (*take)(struct zeta_sampled_group *group, const struct zeta_metric_row *row))
{
    static const uint8_t has_value[FAKE_COUNT] = {1, 1, 1, 1};
    const zet_typed_value_t values[FAKE_COUNT] = {
        [FAKE_TIME] = {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = time_ns},
        [FAKE_OPS] = {.type = ZET_VALUE_TYPE_UINT64},
        [FAKE_BUSY] = {.type = ZET_VALUE_TYPE_FLOAT32},
        [FAKE_END] = {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = end_ns},
    };
    const struct zeta_metric_row row = {.struct_size = sizeof(row),
                                        .tile = tile,
                                        .metric_count = FAKE_COUNT,
                                        .values = values,
                                        .has_value = has_value};

    take(group, &row);
}

void fake_group_add(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns,
                    uint64_t time_ns)
{
    give(group, tile, end_ns, time_ns, zeta_sampled_group_add_row);
}

void fake_group_pass(struct zeta_sampled_group *group, uint32_t tile, uint64_t end_ns,
                     uint64_t time_ns)
{
    give(group, tile, end_ns, time_ns, zeta_sampled_group_pass_row);
}

void fake_group_settle(struct zeta_sampled_group *group)
{
    struct zeta_account *ops = &group->accounts[FAKE_OPS];
    struct zeta_account *busy = &group->accounts[FAKE_BUSY];

    group->samples = 2;
    group->accounts[FAKE_TIME].value = zeta_number_u64(4000000);
    group->accounts[FAKE_END].value = zeta_number_u64(4000000);
    ops->value = zeta_number_u64(42);
    ops->min = zeta_number_u64(2);
    ops->max = zeta_number_u64(40);
    ops->last = ops->min;
    busy->value = zeta_number_f64(25.0);
    busy->min = zeta_number_f64(0.0);
    busy->max = zeta_number_f64(100.0);
    busy->last = busy->min;
    busy->line.counts[0] = 2;
    busy->line.values[0][0] = 100.0;
}
