# The library of OpenCL C functions for kernels, share/zeta/vgpu/runtime.bc, and support.a with the
# functions that code generation calls. Both need clang-15 and llvm-15.
include(${PROJECT_SOURCE_DIR}/sdk/lib/opencl/opencl.cmake)
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

set(riscv --target=riscv64-unknown-elf -march=rv64imafd -mabi=lp64d)
# Atomics have instructions on riscv64 only; the names are to be those of spir64.
set(riscv_cl ${riscv} -x cl -cl-std=CL2.0 -Xclang -cl-ext=+all -Xclang -ffake-address-space-map
    -Xclang -faddress-space-map-mangling=yes)

set(modules)
foreach(source IN ITEMS ${folder}/machine.c ${ZETA_OPENCL_LIBRARY}/atomic.cl
        ${ZETA_OPENCL_LIBRARY}/half_bits.cl ${ZETA_OPENCL_SOURCES} ${folder}/subgroup.cl ${folder}/workitem.cl)
    get_filename_component(name ${source} NAME)
    set(flags ${ZETA_OPENCL_SPIR})
    if(name STREQUAL "machine.c")
        set(flags ${riscv})
    elseif(name STREQUAL "atomic.cl")
        set(flags ${riscv_cl})
    endif()
    zeta_opencl_module(${work}/${name}.ll ${source} ${folder}/riscv64.sed ${flags})
    list(APPEND modules ${work}/${name}.ll)
endforeach()
set(library ${output}/runtime.bc)
zeta_opencl_library(${library} ${work} ${modules})

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
