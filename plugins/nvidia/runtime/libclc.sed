# What is taken of libclc: names that are no functions of programs, constants in the address space that
# they have in programs, and the layout of all. Conversions of what no integer can hold: cosh and sinh look into tables
# at the place that they give for NaN, which is 0 on the GPUs that libclc was written for, and -2^31 in PTX. And the bits
# of 2 / pi, bytes that large angles are reduced with by 16 at a time, at addresses that have to be multiples of 16.
s/@_Z([0-9])/@__clc_\1/g
s/addrspace\(4\)/addrspace(2)/g
s/ = weak_odr dso_local / = linkonce_odr hidden /
s/= fptosi double ([^ ]+) to i32$/= call i32 @llvm.fptosi.sat.i32.f64(double \1)/
$a declare i32 @llvm.fptosi.sat.i32.f64(double)
s/^(@PIBITS_TBL = .*), align 1$/\1, align 16/
