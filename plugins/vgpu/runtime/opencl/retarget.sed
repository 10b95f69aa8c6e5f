# Turns the text of LLVM modules for spir64, and for riscv64, into modules for riscv64 that can be
# inlined into each other: one layout, the C calling convention, and no attribute that compares.
s/^target datalayout = .*/target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n64-S128"/
s/^target triple = .*/target triple = "riscv64-unknown-unknown-elf"/
s/spir_func //g
s/ (signext|zeroext)//g
s/ ?"(target-cpu|target-features|tune-cpu)"="[^"]*"//g
s/ ?"no-builtins"//g
s/, !srcloc ![0-9]+//g
/^!(opencl|llvm)\./d
