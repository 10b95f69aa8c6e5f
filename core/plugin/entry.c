#include "core/plugin/entry.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zeta/c_locale.h>

#include "core/settings/paths.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/log.h"

#define DEVICES_MAX 4096u /* of one plugin; more is rubbish */
#define DEVICE_ID_MAX 63u

const char *zeta_entry_name(const struct zeta_plugin_host *entry)
{
    return *entry->manifest.id ? entry->manifest.id : entry->path;
}

/* What plugins made for themselves at negotiation: theirs until the process ends. */
static struct zeta_list retired;

void zeta_entry_free(struct zeta_plugin_host *entry)
{
    if (!entry)
        return;
    if (entry->backend.self)
        (void)zeta_list_add(&retired, entry->backend.self);
    zeta_manifest_finish(&entry->manifest);
    zeta_text_finish(&entry->reason);
    zeta_text_finish(&entry->note);
    for (size_t i = 0; i < entry->set_files.count; i++)
        free(entry->set_files.items[i]);
    zeta_list_finish(&entry->set_files);
    free(entry->path);
    free(entry->directory);
    free(entry->tree);
    free(entry->data_dir);
    free(entry->library);
    free(entry->provides);
    free(entry->reported_version);
    free(entry->devices);
    free(entry->properties);
    free(entry);
}

bool zeta_entry_stop(struct zeta_plugin_host *entry, enum zeta_plugin_state state,
                     const char *format, ...)
{
    const bool trouble = state == ZETA_PLUGIN_STATE_NOT_LOADABLE ||
                         state == ZETA_PLUGIN_STATE_REFUSED || state == ZETA_PLUGIN_STATE_FAILED;
    const bool is_shown =
        entry->checked || strcmp(zeta_settings_text("log.plugins", "warn"), "info") == 0;
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    entry->state = (uint32_t)state;
    zeta_text_finish(&entry->reason);
    zeta_text_append(&entry->reason, text, strlen(text));
    zeta_log(trouble && !is_shown ? ZETA_LOG_WARN : ZETA_LOG_INFO, "plugin", "%s: %s (%s)",
             zeta_entry_name(entry), text, entry->path);
    return false;
}

ze_result_t zeta_entry_declare_settings(const struct zeta_plugin_host *entry)
{
    const char *id = entry->manifest.id;
    ze_result_t result = zeta_settings_declare(id, "enable", NULL, "auto", "default");

    for (size_t i = 0; i < entry->manifest.setting_count && result == ZE_RESULT_SUCCESS; i++) {
        const struct zeta_manifest_setting *setting = &entry->manifest.settings[i];

        result = zeta_settings_declare(id, setting->key, setting->variable, setting->value,
                                       setting->origin);
    }
    return result == ZE_RESULT_SUCCESS ? zeta_settings_declare_end(id) : result;
}

/* The sentence of the plugin, or what is known without one. */
static bool stop_for_result(struct zeta_plugin_host *entry, const char *what, uint32_t result)
{
    const char *sentence = zeta_services_failure(entry, result);

    if (sentence) {
        entry->has_own_reason = true;
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED, "%s", sentence);
    }
    return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED,
                           "%s failed with 0x%08x; the plugin gave no reason.", what, result);
}

bool zeta_entry_init(struct zeta_plugin_host *entry)
{
    uint32_t result = entry->init ? entry->init(entry->backend.self) : ZETA_PLUGIN_SUCCESS;
    const char *note;

    if (result != ZETA_PLUGIN_SUCCESS)
        return stop_for_result(entry, "Initialising the plugin", result);
    entry->initialised = true;
    note = zeta_services_failure(entry, ZETA_PLUGIN_SUCCESS);
    zeta_text_finish(&entry->note);
    if (note) {
        zeta_text_append(&entry->note, note, strlen(note));
        zeta_error_clear(); /* nothing failed */
    }
    return true;
}

void zeta_entry_finish(struct zeta_plugin_host *entry)
{
    if (entry->initialised)
        entry->finish(entry->backend.self);
    entry->initialised = false;
    entry->active = false;
}

static bool stop_for_device(struct zeta_plugin_host *entry, uint32_t index, const char *what)
{
    return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED, "Its device %u %s.", index, what);
}

static bool check_properties(struct zeta_plugin_host *entry, uint32_t index)
{
    const struct zeta_plugin_device_properties *properties = &entry->properties[index];

    if (!properties->id.data || properties->id.size == 0 || properties->id.size > DEVICE_ID_MAX)
        return stop_for_device(entry, index, "has no id of 1 to 63 bytes");
    if (memchr(properties->id.data, '\0', (size_t)properties->id.size))
        return stop_for_device(entry, index, "has an id with a zero byte");
    if (properties->name.size > 255 || (properties->name.size > 0 && !properties->name.data))
        return stop_for_device(entry, index, "has a name of more than 255 bytes");
    if (properties->vendor.size > 63 || (properties->vendor.size > 0 && !properties->vendor.data))
        return stop_for_device(entry, index, "has a vendor of more than 63 bytes");
    if (properties->timer_hz == 0)
        return stop_for_device(entry, index, "has a timer of 0 Hz");
    if (properties->parent != UINT32_MAX && properties->parent >= index)
        return stop_for_device(entry, index, "is a tile of a device that is not listed before it");
    return true;
}

static bool read_devices(struct zeta_plugin_host *entry)
{
    struct zeta_backend *backend = &entry->backend;
    uint32_t count = 0;
    uint32_t again = 0;
    uint32_t result = backend->device.enumerate(backend->self, 0, NULL, &count);

    if (result != ZETA_PLUGIN_SUCCESS)
        return stop_for_result(entry, "Listing devices", result);
    if (count > DEVICES_MAX)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED,
                               "The plugin claims to have %u devices; at most %u can be right.",
                               count, DEVICES_MAX);
    if (count == 0)
        return true;
    entry->devices = calloc(count, sizeof(void *));
    entry->properties = calloc(count, sizeof(*entry->properties));
    if (!entry->devices || !entry->properties)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_FAILED,
                               "There is no memory for its devices.");
    result = backend->device.enumerate(backend->self, count, entry->devices, &again);
    if (result != ZETA_PLUGIN_SUCCESS)
        return stop_for_result(entry, "Listing devices", result);
    entry->device_count = again < count ? again : count;
    for (uint32_t i = 0; i < entry->device_count; i++) {
        struct zeta_plugin_device_properties *properties = &entry->properties[i];

        if (!entry->devices[i])
            return stop_for_device(entry, i, "is a null pointer");
        properties->struct_size = sizeof(*properties);
        properties->parent = UINT32_MAX;
        result = backend->device.properties(backend->self, entry->devices[i], properties);
        if (result != ZETA_PLUGIN_SUCCESS)
            return stop_for_result(entry, "Reading the properties of a device", result);
        properties->struct_size = sizeof(*properties);
        if (!check_properties(entry, i))
            return false;
    }
    return true;
}

bool zeta_entry_enumerate(struct zeta_plugin_host *entry)
{
    free(entry->devices);
    free(entry->properties);
    entry->devices = NULL;
    entry->properties = NULL;
    entry->device_count = 0;
    if (!read_devices(entry)) {
        entry->device_count = 0;
        return false;
    }
    if (entry->device_count == 0 && entry->note.length > 0) {
        entry->has_hardware = true;
        entry->has_own_reason = true;
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NO_DEVICE, "%s", entry->note.data);
    }
    if (entry->device_count == 0)
        return zeta_entry_stop(entry, ZETA_PLUGIN_STATE_NO_DEVICE,
                               "The plugin works but finds no device of its own here.");
    entry->active = true;
    entry->state = ZETA_PLUGIN_STATE_ACTIVE;
    zeta_text_finish(&entry->reason);
    if (entry->note.length > 0)
        zeta_text_append(&entry->reason, entry->note.data, entry->note.length);
    return true;
}

/* ---- Needs that can be seen from outside, for the reason why a plugin is not active ---- */

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
