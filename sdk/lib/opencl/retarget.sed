# Turns the text of LLVM modules for spir64, and for a device, into modules that can be inlined into each
# other: the C calling convention, and no attribute that compares. Another script has layout and triple.
s/spir_func //g
s/ (signext|zeroext)//g
s/ ?"(target-cpu|target-features|tune-cpu)"="[^"]*"//g
s/ ?"no-builtins"//g
s/, !srcloc ![0-9]+//g
/^!(opencl|llvm)\./d
