#include <zeta/plugin_host.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

static char *copy_text(struct zeta_plugin_string string)
{
    return strndup(string.data ? string.data : "", (size_t)string.size);
}

uint32_t zeta_host_negotiate(const struct zeta_plugin_offer *offer,
                             const struct zeta_plugin_ops *ops, const char *version,
                             size_t self_bytes, struct zeta_plugin_answer *out_answer)
{
    struct zeta_host *host;
    char *id, *data_dir;

    if (offer->abi_min > ZETA_PLUGIN_ABI || offer->abi_max < ZETA_PLUGIN_ABI)
        return ZETA_PLUGIN_UNSUPPORTED_VERSION;
    host = calloc(1, self_bytes);
    id = copy_text(offer->id);
    data_dir = copy_text(offer->data_dir);
    if (!host || !id || !data_dir) {
        free(host);
        free(id);
        free(data_dir);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    *host = (struct zeta_host){offer->ops, offer->host, id, data_dir};
    out_answer->struct_size = sizeof(*out_answer);
    out_answer->abi = ZETA_PLUGIN_ABI;
    out_answer->self = (struct zeta_plugin *)host;
    out_answer->ops = ops;
    out_answer->id = (struct zeta_plugin_string){id, strlen(id)};
    out_answer->version = (struct zeta_plugin_string){version, strlen(version)};
    return ZETA_PLUGIN_SUCCESS;
}

#undef zeta_host_fail

uint32_t zeta_host_fail(const struct zeta_host *host, uint32_t result, const char *format, ...)
{
    char text[ZETA_HOST_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    host->ops->fail(host->handle, result, (struct zeta_plugin_string){text, strlen(text)});
    return result;
}

void zeta_host_log(const struct zeta_host *host, uint32_t level, const char *format, ...)
{
    char text[ZETA_HOST_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    host->ops->log(host->handle, level, (struct zeta_plugin_string){text, strlen(text)});
}

bool zeta_host_setting(const struct zeta_host *host, const char *name, char *out_text,
                       size_t capacity_bytes)
{
    const struct zeta_plugin_string key = {name, strlen(name)};
    struct zeta_plugin_string value = {NULL, 0};
    size_t bytes;

    if (host->ops->setting(host->handle, key, &value) != ZETA_PLUGIN_SUCCESS)
        return false;
    bytes = value.size < capacity_bytes ? (size_t)value.size : capacity_bytes - 1;
    if (bytes > 0)
        memcpy(out_text, value.data, bytes);
    out_text[bytes] = '\0';
    return true;
}

struct zeta_plugin_string zeta_string(const char *text)
{
    return (struct zeta_plugin_string){text, strlen(text)};
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
