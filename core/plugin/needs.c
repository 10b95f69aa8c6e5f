/*
 * Needs of a plugin that can be seen from outside, for the reason why it is not active.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/plugin/entry.h"
#include "core/settings/paths.h"

/* Whether one file of the pattern can be opened; otherwise reports what prevents it. */
static void explain_device(const char *pattern, struct zeta_text *text)
{
    char path[PATH_MAX + 64];
    glob_t found = {0};
    const char *denied = NULL;
    int failure = 0;

    (void)snprintf(path, sizeof(path), "%s%.4000s", zeta_paths_root(), pattern);
    if (glob(path, 0, NULL, &found) != 0 || found.gl_pathc == 0)
        zeta_text_add(text, " It needs %s, which does not exist.", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (access(found.gl_pathv[i], R_OK | W_OK) == 0) {
            denied = NULL;
            break;
        }
        failure = errno;
        denied = found.gl_pathv[i];
    }
    if (denied)
        zeta_text_add(text,
                      " It needs %s, which may not be read and written (%s); join the group that "
                      "owns it.",
                      denied, strerrordesc_np(failure));
    globfree(&found);
}

void zeta_needs_explain(struct zeta_plugin_host *entry)
{
    const struct zeta_manifest *manifest = &entry->manifest;
    struct zeta_text *reason = &entry->reason;

    if (entry->has_own_reason)
        return;
    if (reason->length > 0 && !strchr(".!?", reason->data[reason->length - 1]))
        zeta_text_add(reason, ".");
    for (size_t i = 0; i < manifest->need_devices.count; i++)
        explain_device(manifest->need_devices.items[i], reason);
    if (manifest->needs.count == 0)
        return;
    zeta_text_add(reason, " It needs one of");
    for (size_t i = 0; i < manifest->needs.count; i++)
        zeta_text_add(reason, "%s %s", i > 0 ? "," : "", manifest->needs.items[i]);
    zeta_text_add(reason, ".");
}
