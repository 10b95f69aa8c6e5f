/* The evaluator's loops for every processor. */
#define BLOCK_VARIANT zeta_block_base
#define BLOCK_NAME "base"
#include "core/metric/block_run.inc"
