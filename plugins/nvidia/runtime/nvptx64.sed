# Layout and triple of NVIDIA's GPUs.
s/^target datalayout = .*/target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"/
s/^target triple = .*/target triple = "nvptx64-nvidia-cuda"/
