#include <zeta/plugin_host.h>

#include <stdio.h>
#include <string.h>

uint32_t zeta_host_fail(const struct zeta_plugin_host_ops *ops, struct zeta_plugin_host *host,
                        uint32_t result, const char *format, va_list arguments)
{
    char text[ZETA_HOST_TEXT_BYTES];

    (void)vsnprintf(text, sizeof(text), format, arguments);
    ops->fail(host, result, (struct zeta_plugin_string){text, strlen(text)});
    return result;
}

void zeta_host_log(const struct zeta_plugin_host_ops *ops, struct zeta_plugin_host *host,
                   uint32_t level, const char *format, va_list arguments)
{
    char text[ZETA_HOST_TEXT_BYTES];

    (void)vsnprintf(text, sizeof(text), format, arguments);
    ops->log(host, level, (struct zeta_plugin_string){text, strlen(text)});
}

bool zeta_host_setting(const struct zeta_plugin_host_ops *ops, struct zeta_plugin_host *host,
                       const char *name, char *out_text, size_t capacity_bytes)
{
    const struct zeta_plugin_string key = {name, strlen(name)};
    struct zeta_plugin_string value = {NULL, 0};
    size_t bytes;

    if (ops->setting(host, key, &value) != ZETA_PLUGIN_SUCCESS)
        return false;
    bytes = value.size < capacity_bytes ? (size_t)value.size : capacity_bytes - 1;
    if (bytes > 0)
        memcpy(out_text, value.data, bytes);
    out_text[bytes] = '\0';
    return true;
}

bool zeta_string_is(struct zeta_plugin_string string, const char *text)
{
    const size_t bytes = strlen(text);

    return string.size == bytes && (bytes == 0 || memcmp(string.data, text, bytes) == 0);
}

int zeta_string_shown(struct zeta_plugin_string string)
{
    return string.size < 100 ? (int)string.size : 100;
}
