/* The entries without the recorder of ZETA_TRACE. */
#include "core/trace/sink.h"

void zeta_sink_prepare(void)
{
}
