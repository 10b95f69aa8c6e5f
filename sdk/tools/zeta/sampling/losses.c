#include "sdk/tools/zeta/sampling/losses.h"

#include <inttypes.h>
#include <stdio.h>

#include "sdk/tools/zeta/output/json.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/number.h"

void zeta_losses_format(const struct zeta_sampled_group *group, bool has_figures,
                        char out_text[ZETA_LOSSES_BYTES])
{
    const uint64_t lost = zeta_sampled_group_lost(group);
    const char *plural = lost == 1 ? "" : "s";
    char time[ZETA_DURATION_TEXT_BYTES];

    zeta_duration_format(group->losses.lost_ns, time);
    if (lost == 0)
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "none lost");
    else if (group->losses.lost_ns > 0)
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "%" PRIu64 " report%s lost (%s%s)", lost,
                       plural, time, has_figures ? ", in no figure below" : "");
    else /* by a reset, whose time is unknown, or without times in rows */
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "%s%" PRIu64 " report%s lost",
                       group->losses.uncounted > 0 ? "at least " : "", lost, plural);
}

void zeta_losses_print(const struct zeta_sampled_group *group)
{
    char losses[ZETA_LOSSES_BYTES];

    if (zeta_sampled_group_lost(group) == 0)
        return;
    zeta_losses_format(group, false, losses);
    zeta_print_note("%s: %s", group->entry->properties.name, losses);
}

void zeta_lost_events_format(uint64_t lost, bool has_figures, char out_text[ZETA_LOSSES_BYTES])
{
    if (lost == 0)
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "no event lost");
    else
        (void)snprintf(out_text, ZETA_LOSSES_BYTES, "%" PRIu64 " event%s lost%s", lost,
                       lost == 1 ? "" : "s", has_figures ? ", in no figure below" : "");
}

void zeta_losses_put_json(struct json_object *object, const struct zeta_sampled_group *group)
{
    zeta_json_put_u64(object, "lost", zeta_sampled_group_lost(group));
    zeta_json_put_u64(object, "breaks", group->losses.breaks);
    zeta_json_put_u64(object, "lost_time_ns", group->losses.lost_ns);
}
