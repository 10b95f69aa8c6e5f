/* Any bytes given to the manifest reader, and what it read given to matching. */
#include <stdlib.h>
#include <string.h>

#include <zeta/yaml.h>

#include "core/plugin/manifest.h"
#include "core/plugin/match.h"
#include "core/settings/paths.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A good manifest keeps the promises that the host relies on. */
static void check_good(const struct zeta_manifest *manifest)
{
    struct zeta_machine machine = {0};
    struct zeta_text reason = {0};
    bool has_hardware = false;

    if (!*manifest->id || strlen(manifest->id) > ZETA_MANIFEST_ID_MAX || !*manifest->library ||
        manifest->abi_min > manifest->abi_max || manifest->provides >= 1u << ZETA_GROUP_COUNT)
        abort();
    for (size_t i = 0; i < manifest->setting_count; i++) {
        if (!manifest->settings[i].key || !manifest->settings[i].origin)
            abort();
    }
    if (zeta_machine_matches(&machine, manifest, &reason, &has_hardware) == (reason.length > 0))
        abort();
    zeta_text_finish(&reason);
    zeta_machine_finish(&machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct zeta_yaml_limits limits = {
        .max_bytes = ZETA_MANIFEST_BYTES_MAX, .max_depth = 16, .max_nodes = 20000};
    struct zeta_yaml_document *document;
    struct zeta_yaml_error error;
    struct zeta_diagnostics sink = {0};
    struct zeta_manifest manifest;
    enum zeta_manifest_kind kind;

    zeta_paths_set_root("/nonexistent");
    document = zeta_yaml_parse((const char *)data, size, "fuzz", &limits, &error);
    if (!document)
        return 0;
    kind = zeta_manifest_read(document, &sink, &manifest);
    if (kind == ZETA_MANIFEST_GOOD)
        check_good(&manifest);
    if ((kind == ZETA_MANIFEST_BAD) != (sink.count[ZETA_SEVERITY_ERROR] > 0))
        abort();
    zeta_manifest_finish(&manifest);
    zeta_yaml_free(document);
    return 0;
}
