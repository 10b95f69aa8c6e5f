/*
 * The proposal of metric tracers: what it promises, in its names. It has no code of its own, so the
 * course is that of its table of functions. C and C++.
 */
#include "world.h"

#include <zeta/compat/zet_1_0_provisional.h>
#include <zeta/compat/zet_tracer_proposal.h>

/* The first group for tracers. */
static zet_metric_group_handle_t find_group(ze_device_handle_t device)
{
    zet_metric_group_handle_t groups[64];
    uint32_t count = 64;

    assert_success(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t p;

        memset(&p, 0xa5, sizeof(p));
        assert_success(zetMetricGroupGetProperties(groups[i], &p));
        if (p.samplingType & ZET_METRIC_SAMPLING_TYPE_EXP_FLAG_TRACER_BASED)
            return groups[i];
    }
    fail_msg("none of %u groups is for tracers", count);
    return groups[0];
}

/* Tracer groups are listed for those who ask, before the library starts. */
static int open_with_tracers(void **state)
{
    (void)setenv("ZETA_METRIC_TRACER_GROUPS", "1", 1);
    return world_open(state);
}

static void collect(struct world *w, zet_metric_tracer_exp_handle_t tracer)
{
    size_t bytes = 0;
    uint8_t *raw;

    assert_success(zetMetricTracerEnableExp(tracer));
    world_work(w, 20);
    assert_success(zetMetricTracerDisableExp(tracer));
    assert_success(zetMetricTracerReadDataExp(tracer, &bytes, NULL));
    assert_true(bytes > 0);
    raw = (uint8_t *)world_room(bytes);
    assert_success(zetMetricTracerReadDataExp(tracer, &bytes, raw));
    assert_true(bytes > 0);
    free(raw);
    assert_success(zetMetricTracerDestroyExp(tracer));
}

/* Rule 25.7. */
static void proposal__metric_tracer__collects_events(void **state)
{
    struct world *w = (struct world *)*state;
    zet_metric_tracer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_TRACER_DESC_EXP, NULL, 4096};
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_group_handle_t group = find_group(w->device);

    assert_success(zetContextActivateMetricGroups(w->context, w->device, 1, &group));
    assert_success(zetMetricTracerCreate(w->context, w->device, 1, &group, &desc, NULL, &tracer));
    collect(w, tracer);
    assert_success(zetContextActivateMetricGroups(w->context, w->device, 0, NULL));
}

static void names__of_the_proposal__are_those_of_today(void **state)
{
    zet_metric_tracer_desc_t desc;
    zet_metric_tracer_exp_desc_t *now = &desc;

    (void)state;
    assert_non_null(now);
    assert_int_equal(ZET_METRIC_SAMPLING_TYPE_EXP_FLAG_TRACER_BASED, 4);
    assert_int_equal(ZET_STRUCTURE_TYPE_METRIC_TRACER_DESC_EXP, 0x10008);
}

/* Both forms in one source; the library's answer comes through either way. */
static void enable_and_disable__one_or_two_arguments__are_the_call_of_today(void **state)
{
    ze_result_t (*enable)(zet_metric_tracer_exp_handle_t, ze_bool_t) = zetMetricTracerEnableExp;
    ze_result_t (*disable)(zet_metric_tracer_exp_handle_t, ze_bool_t) = zetMetricTracerDisableExp;

    (void)state;
    skip_in(HARNESS_VALIDATION | HARNESS_READS_HANDLES, "a null handle does not reach the library");
    assert_int_equal(zetMetricTracerEnableExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetMetricTracerEnableExp(NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(enable(NULL, 1), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetMetricTracerDisableExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(zetMetricTracerDisableExp(NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(disable(NULL, 1), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proposal__metric_tracer__collects_events),
        cmocka_unit_test(names__of_the_proposal__are_those_of_today),
        cmocka_unit_test(enable_and_disable__one_or_two_arguments__are_the_call_of_today),
    };

    return cmocka_run_group_tests_name("proposal of metric tracers", tests, open_with_tracers,
                                       world_close);
}
