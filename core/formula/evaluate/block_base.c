/* The evaluator's loops for every processor. */
#define BLOCK_VARIANT zeta_block_base
#define BLOCK_NAME "base"
#include "core/formula/evaluate/block_run.inc"
