# Prints entry stubs and records of a module's kernels; run with -n -E. All test kernels have the
# parameters (pointer, pointer, uint).
1i #include "vgpu.h"
s/^define .*spir_kernel void @(\w+)\(.*/void \1(void *, void *, unsigned);\
VGPU_KERNEL(\1, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(unsigned));/p
