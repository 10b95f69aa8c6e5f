/*
 * Host services: what plugins call. Any thread that is not a signal handler.
 */
#include <stdio.h>
#include <string.h>

#include "core/plugin/entry.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/log.h"

#define NAME_BYTES 128

/* Who left the last sentence of this thread, and for which result. */
static _Thread_local struct {
    const struct zeta_plugin_host *host;
    uint32_t result;
} failure;

static void service_log(struct zeta_plugin_host *host, uint32_t level,
                        struct zeta_plugin_string text)
{
    enum zeta_log_level known =
        level < ZETA_LOG_LEVEL_COUNT ? (enum zeta_log_level)level : ZETA_LOG_TRACE;

    if (text.data)
        zeta_log(known, host->manifest.id, "%.*s", text.size > 65536 ? 65536 : (int)text.size,
                 text.data);
}

static void service_fail(struct zeta_plugin_host *host, uint32_t result,
                         struct zeta_plugin_string text)
{
    (void)zeta_error_text((ze_result_t)result, text.data, text.size);
    failure.host = host;
    failure.result = result;
}

static uint32_t service_setting(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                                struct zeta_plugin_string *out_value)
{
    char key[NAME_BYTES];
    const char *value;

    if (!name.data || name.size >= sizeof(key))
        return ZETA_PLUGIN_NOT_AVAILABLE;
    memcpy(key, name.data, (size_t)name.size);
    key[name.size] = '\0';
    value = zeta_settings_plugin(host->manifest.id, key);
    if (!value)
        return ZETA_PLUGIN_NOT_AVAILABLE;
    out_value->data = value;
    out_value->size = strlen(value);
    return ZETA_PLUGIN_SUCCESS;
}

/* Through the application's own stream, so that its lines and the kernel's keep their order. */
static void service_kernel_output(struct zeta_plugin_host *host, struct zeta_plugin_string text)
{
    (void)host;
    if (text.data && fwrite(text.data, 1, (size_t)text.size, stdout) != text.size)
        zeta_log(ZETA_LOG_INFO, "plugin", "Output of a kernel could not be written.");
}

struct zeta_plugin_host_ops zeta_host_services = {
    .struct_size = sizeof(struct zeta_plugin_host_ops),
    .log = service_log,
    .fail = service_fail,
    .setting = service_setting,
    .kernel_output = service_kernel_output,
};

const char *zeta_services_failure(const struct zeta_plugin_host *entry, uint32_t result)
{
    bool left = failure.host == entry && failure.result == result;

    failure.host = NULL;
    return left ? zeta_error_describe() : NULL;
}

/* The backend is a member of its entry. */
static const struct zeta_plugin_host *entry_of(const struct zeta_backend *backend)
{
    const void *entry = (const char *)backend - offsetof(struct zeta_plugin_host, backend);

    return entry;
}

const char *zeta_backend_note(const struct zeta_backend *backend)
{
    return zeta_services_failure(entry_of(backend), ZETA_PLUGIN_SUCCESS);
}

ze_result_t zeta_backend_result(const struct zeta_backend *backend, uint32_t result,
                                const char *what)
{
    if (result == ZETA_PLUGIN_SUCCESS || result == ZETA_PLUGIN_NOT_READY)
        return (ze_result_t)result;
    if (!zeta_services_failure(entry_of(backend), result))
        return zeta_error((ze_result_t)result,
                          "The plugin %s failed with 0x%08x in %s and gave no reason.", backend->id,
                          result, what);
    return (ze_result_t)result;
}
