#include "core/module/module_log.h"

#include <stdlib.h>
#include <string.h>

#include "core/object/object.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

#define LOG_BYTES_MAX ((size_t)1 << 20)

/** Text that building or linking left. */
struct zeta_module_build_log {
    struct zeta_object object;
    char *text; /* terminated */
};

void zeta_module_log_write(void *context, struct zeta_plugin_string piece)
{
    struct zeta_text *text = context;
    size_t room = LOG_BYTES_MAX > text->length ? LOG_BYTES_MAX - text->length : 0;

    zeta_text_append(text, piece.data, piece.size < room ? (size_t)piece.size : room);
}

ze_result_t zeta_module_log_create(struct zeta_text *text, ze_module_build_log_handle_t *out_log)
{
    void *object = NULL;
    ze_result_t result;

    zeta_text_append(text, "", 0);
    if (!text->data)
        return zeta_error_no_memory("a build log");
    result = zeta_object_create(ZETA_KIND_MODULE_BUILD_LOG, sizeof(struct zeta_module_build_log),
                                &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    ((struct zeta_module_build_log *)object)->text = ZETA_TAKE(text->data);
    *text = (struct zeta_text){0};
    *out_log = object;
    return ZE_RESULT_SUCCESS;
}

static void finish_log(void *object)
{
    free(((struct zeta_module_build_log *)object)->text);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_MODULE_BUILD_LOG, finish_log)

ze_result_t zeta_blob_copy(const char *what, const void *data, size_t bytes, size_t *size,
                           void *buffer)
{
    size_t room = *size;

    *size = bytes;
    if (!buffer)
        return ZE_RESULT_SUCCESS;
    if (room < bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the %s has %zu bytes and the buffer only %zu", what, bytes, room);
    memcpy(buffer, data, bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog,
                                                      size_t *pSize, char *pBuildLog)
{
    const char *text = ((const struct zeta_module_build_log *)hModuleBuildLog)->text;

    return zeta_blob_copy("build log", text, strlen(text) + 1, pSize, pBuildLog);
}

ze_result_t ZE_APICALL impl_zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    return zeta_object_destroy(hModuleBuildLog, ZETA_KIND_MODULE_BUILD_LOG,
                               "zeModuleBuildLogDestroy", "hModuleBuildLog");
}
