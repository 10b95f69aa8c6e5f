# Layout and triple of the virtual GPU.
s/^target datalayout = .*/target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n64-S128"/
s/^target triple = .*/target triple = "riscv64-unknown-unknown-elf"/
