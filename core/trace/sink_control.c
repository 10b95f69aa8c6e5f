/* Who turns the recorder on and off: the environment, and the program. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "core/trace/sink.h"
#include "core/trace/sink_path.h"
#include "core/util/error.h"
#include "core/util/log.h"
#include "core/util/own_struct.h"

/* Names that are tried when the file exists; a process that execs itself needs a few. */
#define NAMES_MAX 1000

/* 0, or the process that has looked at its environment. */
static _Atomic pid_t prepared;

/* The environment, which nobody may have set for a process that has more rights than its user. */
static ze_result_t start_as_asked(const char *pattern)
{
    const char *filter = secure_getenv("ZETA_TRACE_FILTER");
    const char *limit = secure_getenv("ZETA_TRACE_LIMIT");
    uint64_t limit_bytes = 0;
    char path[4096];
    ze_result_t result = ZE_RESULT_ERROR_NOT_AVAILABLE;

    if (limit && *limit && !zeta_sink_limit(limit, &limit_bytes))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "ZETA_TRACE_LIMIT is '%s'; it has to be a number of bytes such as 64M.",
                          limit);
    for (unsigned attempt = 0; attempt < NAMES_MAX; attempt++) {
        if (!zeta_sink_path(pattern, getpid(), attempt, path, sizeof(path)))
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "The name in ZETA_TRACE is too "
                                                                "long.");
        errno = 0;
        result = zeta_sink_start(path, filter, limit_bytes);
        if (result == ZE_RESULT_SUCCESS || errno != EEXIST)
            break;
    }
    if (result == ZE_RESULT_SUCCESS && strcmp(path, pattern) != 0 && !strstr(pattern, "%p"))
        zeta_log(ZETA_LOG_WARN, "trace", "%s exists; calls of process %ld are recorded in %s",
                 pattern, (long)getpid(), path);
    return result;
}

void zeta_sink_prepare(void)
{
    const char *pattern;
    ze_result_t result;

    if (atomic_load_explicit(&prepared, memory_order_relaxed) == getpid() ||
        atomic_exchange(&prepared, getpid()) == getpid())
        return;
    pattern = secure_getenv("ZETA_TRACE");
    if (!pattern || !*pattern)
        return;
    result = start_as_asked(pattern);
    if (result != ZE_RESULT_SUCCESS)
        zeta_log(ZETA_LOG_ERROR, "trace", "ZETA_TRACE: nothing is recorded. %s",
                 zeta_error_describe());
    zeta_error_clear();
}

/* ---- zeta/zeta.h --------------------------------------------------------------------------- */

ze_result_t zetaTraceStart(const struct zeta_trace_desc *desc)
{
    struct zeta_trace_desc full = {0};

    if (!desc)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "zetaTraceStart: desc is null");
    if (desc->struct_size < offsetof(struct zeta_trace_desc, filter))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "zetaTraceStart: desc->struct_size is %zu; set it to sizeof(struct "
                          "zeta_trace_desc)",
                          desc->struct_size);
    memcpy(&full, desc, desc->struct_size < sizeof(full) ? desc->struct_size : sizeof(full));
    if (!full.path)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "zetaTraceStart: desc->path is null");
    return zeta_sink_start(full.path, full.filter, full.limit_bytes);
}

ze_result_t zetaTraceStop(void)
{
    return zeta_sink_stop();
}

ze_result_t zetaTraceGetInfo(struct zeta_trace_info *info)
{
    struct zeta_trace_counts counts;

    ze_result_t result = zeta_own_struct_check("zetaTraceGetInfo", info);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_trace_file_counts(&counts);

    const struct zeta_trace_info full = {
        .path = zeta_trace_file_path(),
        .records = counts.records,
        .lost = counts.lost,
        .bytes = counts.bytes,
        .is_on = zeta_trace_file_is_open(),
    };
    zeta_own_struct_copy(info, info->struct_size, &full, sizeof(full));
    return ZE_RESULT_SUCCESS;
}
