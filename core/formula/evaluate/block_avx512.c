/* The evaluator's loops for processors with AVX-512. The build adds the compiler's flags. */
#define BLOCK_VARIANT zeta_block_avx512
#define BLOCK_NAME "avx512"
#include "core/formula/evaluate/block_run.inc"
