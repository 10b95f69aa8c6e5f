# The library of OpenCL C functions for kernels, share/zeta/vgpu/runtime.bc, and support.a with the
# functions that code generation calls. Both need clang-15 and llvm-15.
find_program(ZETA_LLVM_LINK NAMES llvm-link-15)
find_program(ZETA_LLVM_AS NAMES llvm-as-15)
find_program(ZETA_LLVM_AR NAMES llvm-ar-15)
if(NOT ZETA_DEVICE_CLANG OR NOT ZETA_LLVM_LINK OR NOT ZETA_LLVM_AS OR NOT ZETA_LLVM_AR)
    message(STATUS "OpenCL C library for kernels: skipped, clang-15 or llvm-link-15, llvm-as-15, "
        "llvm-ar-15 not found (packages clang-15 llvm-15)")
    return()
endif()

set(folder ${CMAKE_CURRENT_LIST_DIR}/opencl)
set(work ${CMAKE_CURRENT_BINARY_DIR}/opencl)
set(output ${ZETA_DATA_OUTPUT_DIRECTORY}/vgpu)
file(MAKE_DIRECTORY ${work} ${output})

set(common -O2 -ffreestanding -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-vectorize
    -fno-slp-vectorize -fno-unroll-loops -Wall -Wextra -Wno-unused-parameter -Werror
    -Xclang -mframe-pointer=none)
set(riscv --target=riscv64-unknown-elf -march=rv64imafd -mabi=lp64d)
set(cl -x cl -cl-std=CL2.0)
set(spir --target=spir64-unknown-unknown ${cl} -Xclang -opaque-pointers)
# Atomics have instructions on riscv64 only; the names are to be those of spir64.
set(riscv_cl ${riscv} ${cl} -Xclang -cl-ext=+all -Xclang -ffake-address-space-map
    -Xclang -faddress-space-map-mangling=yes)

# opencl_module(source flags...): its text as LLVM assembler, appended to `modules`.
set(modules)
function(opencl_module source)
    set(text ${work}/${source}.ll)
    add_custom_command(OUTPUT ${text}
        COMMAND ${ZETA_DEVICE_CLANG} ${ARGN} ${common} -MD -MF ${text}.d -MT ${text} -S -emit-llvm
            ${folder}/${source} -o ${text}
        COMMAND sed -E -i -f ${folder}/retarget.sed ${text}
        DEPENDS ${folder}/${source} ${folder}/retarget.sed
        DEPFILE ${text}.d
        COMMENT "Compiling device library ${source}"
        VERBATIM)
    set(modules ${modules} ${text} PARENT_SCOPE)
endfunction()

opencl_module(machine.c ${riscv})
opencl_module(atomic.cl ${riscv_cl})
foreach(source IN ITEMS bits common convert convert_vector group half integer math math_vector
        memory relational shuffle subgroup workitem)
    opencl_module(${source}.cl ${spir})
endforeach()

# Functions are linkonce_odr, so that who links the library gets only what is used. llvm-link would
# drop them for the same reason, so that is said last.
set(library ${output}/runtime.bc)
add_custom_command(OUTPUT ${library}
    COMMAND ${ZETA_LLVM_LINK} -S ${modules} -o ${work}/runtime.ll
    COMMAND sed -i "s/^define dso_local /define linkonce_odr hidden /" ${work}/runtime.ll
    COMMAND ${ZETA_LLVM_AS} ${work}/runtime.ll -o ${library}
    DEPENDS ${modules}
    COMMENT "Linking device library runtime.bc"
    VERBATIM)

set(objects)
foreach(source IN ITEMS float half integer memory)
    set(object ${work}/support_${source}.o)
    zeta_device_object(${CMAKE_CURRENT_LIST_DIR}/support/${source}.c ${object})
    list(APPEND objects ${object})
endforeach()
add_custom_command(OUTPUT ${output}/support.a
    COMMAND ${CMAKE_COMMAND} -E rm -f ${output}/support.a
    COMMAND ${ZETA_LLVM_AR} rcs ${output}/support.a ${objects}
    DEPENDS ${objects}
    COMMENT "Collecting support.a"
    VERBATIM)

add_custom_target(vgpu-opencl-library ALL DEPENDS ${library} ${output}/support.a)
install(FILES ${library} ${output}/support.a DESTINATION ${ZETA_DATA_INSTALL_DIR}/vgpu)
set(ZETA_DEVICE_LIBRARY ${library} CACHE INTERNAL "OpenCL C functions for kernels")
set(ZETA_DEVICE_SUPPORT ${output}/support.a CACHE INTERNAL "Functions that code generation calls")
message(STATUS "OpenCL C library for kernels: ${ZETA_DEVICE_CLANG}, ${ZETA_LLVM_LINK}")
