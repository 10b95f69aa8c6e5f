/*
 * A plugin that was linked against something that is not there.
 */
#include "zeta/plugin.h"

extern uint32_t zeta_test_function_of_nowhere(void);

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    (void)offer;
    (void)out_answer;
    return zeta_test_function_of_nowhere();
}
