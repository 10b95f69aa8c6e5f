/*
 * A plugin that uses the API of its own host while it is being opened.
 */
#include <level_zero/ze_api.h>

#include "zeta/plugin.h"

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    (void)offer;
    (void)out_answer;
    return (uint32_t)zeInit(0);
}
