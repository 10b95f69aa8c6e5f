#include "levels.h"

#include <zeta/compat/zet_tracer_proposal.h>

ze_result_t level_proposal_enable(zet_metric_tracer_exp_handle_t tracer)
{
    return zetMetricTracerEnableExp(tracer);
}
