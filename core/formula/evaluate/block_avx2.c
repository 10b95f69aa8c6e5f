/* The evaluator's loops for processors with AVX2. The build adds the compiler's flags. */
#define BLOCK_VARIANT zeta_block_avx2
#define BLOCK_NAME "avx2"
#include "core/formula/evaluate/block_run.inc"
