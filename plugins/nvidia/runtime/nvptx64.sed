# Layout and triple of NVIDIA's GPUs.
s/^target datalayout = .*/target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"/
s/^target triple = .*/target triple = "nvptx64-nvidia-cuda"/
# Atomic operations: what atomic.cl calls ordered is for all devices, which is what LLVM means without a scope; others are
# for this one. Orders are fences.
/ cmpxchg /s/ monotonic monotonic,/ syncscope("device") monotonic monotonic,/
/ cmpxchg /s/ seq_cst seq_cst,/ monotonic monotonic,/
/ atomicrmw /s/ monotonic,/ syncscope("device") monotonic,/
/ atomicrmw |(load|store) atomic /s/ seq_cst,/ monotonic,/
