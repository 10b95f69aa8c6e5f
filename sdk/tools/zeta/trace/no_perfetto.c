/* Stands in for trace_perfetto.c where libprotobuf-c is missing. */
#include "sdk/tools/zeta/trace/writer.h"

const struct zeta_trace_format *const zeta_trace_perfetto = NULL;
