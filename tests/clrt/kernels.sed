# What a compiler does with the text of a module besides sdk/lib/opencl/retarget.sed: kernels are
# functions, and local variables lie in the window of shared local memory.
s/spir_kernel //
s/^(@.* addrspace\(3\) global .*) undef(, align [0-9]+)/\1 zeroinitializer, section ".bss.slm"\2/
