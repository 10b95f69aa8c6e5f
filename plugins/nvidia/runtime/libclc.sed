# What is taken of libclc: names that are no functions of programs, constants in the address space that
# they have in programs, and the layout of all.
s/@_Z([0-9])/@__clc_\1/g
s/addrspace\(4\)/addrspace(2)/g
s/ = weak_odr dso_local / = linkonce_odr hidden /
