# The library of OpenCL C functions for NVIDIA's GPUs, share/zeta/nvidia/runtime.bc: the common sources, what
# PTX has of its own, and the math functions of libclc. It needs clang-15, llvm-15 and libclc-15.
include(${PROJECT_SOURCE_DIR}/sdk/lib/opencl/opencl.cmake)
find_program(ZETA_LLVM_EXTRACT NAMES llvm-extract-15)
find_file(ZETA_LIBCLC NAMES nvptx64--nvidiacl.bc PATHS /usr/lib/clc /usr/share/clc NO_DEFAULT_PATH
    DOC "libclc for PTX")
set(ZETA_NVIDIA_LIBRARY "" CACHE INTERNAL "OpenCL C functions for kernels on NVIDIA's GPUs")
if(NOT ZETA_OPENCL_CLANG OR NOT ZETA_LLVM_LINK OR NOT ZETA_LLVM_AS OR NOT ZETA_LLVM_EXTRACT)
    message(STATUS "OpenCL C library for PTX: skipped, clang-15 or llvm-link-15, llvm-as-15, "
        "llvm-extract-15 not found (packages clang-15 llvm-15)")
    return()
elseif(NOT ZETA_LIBCLC)
    message(STATUS "OpenCL C library for PTX: skipped, nvptx64--nvidiacl.bc not found (package libclc-15)")
    return()
endif()

set(folder ${CMAKE_CURRENT_LIST_DIR})
set(work ${CMAKE_CURRENT_BINARY_DIR}/opencl)
set(output ${ZETA_DATA_OUTPUT_DIRECTORY}/nvidia)
file(MAKE_DIRECTORY ${work} ${output})

set(ptx --target=nvptx64-unknown-unknown -Xclang -target-cpu -Xclang sm_70 -Xclang
    -target-feature -Xclang +ptx70 -Xclang -fconvergent-functions)
set(spir_names -x cl -cl-std=CL2.0 -Xclang -cl-ext=+all -Xclang -ffake-address-space-map
    -Xclang -faddress-space-map-mangling=yes)
# For nvptx64, clang makes calls of atomics; as LLVM's operations they are the same for all processors. LLVM 15 knows
# them without an order only.
set(atomics --target=riscv64-unknown-elf -march=rv64imafd -mabi=lp64d ${spir_names} -DFENCES)

set(modules)
foreach(source IN ITEMS ${folder}/machine.c ${folder}/print.c ${folder}/workitem.cl ${ZETA_OPENCL_LIBRARY}/atomic.cl
        ${ZETA_OPENCL_SOURCES} ${folder}/subgroup.cl)
    get_filename_component(name ${source} NAME)
    set(flags ${ZETA_OPENCL_SPIR})
    if(name STREQUAL "machine.c")
        set(flags ${ptx})
    elseif(name STREQUAL "print.c")
        set(flags ${ptx} -I${PROJECT_SOURCE_DIR}/sdk/include)
    elseif(name STREQUAL "workitem.cl")
        set(flags ${ptx} ${spir_names})
    elseif(name STREQUAL "atomic.cl")
        set(flags ${atomics})
    endif()
    zeta_opencl_module(${work}/${name}.ll ${source} ${folder}/nvptx64.sed ${flags})
    list(APPEND modules ${work}/${name}.ll)
endforeach()

# The functions that machine.c calls, with all that they need.
set(wanted "--rglob=.*(TBL|TBL_EP|TO_JBY64_EP)$" --func=_Z5rootndi)
foreach(name IN ITEMS acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 exp10 expm1 lgamma
        log log2 log10 log1p sin sinh tan tanh)
    string(LENGTH ${name} length)
    list(APPEND wanted --func=_Z${length}${name}d)
endforeach()
foreach(name IN ITEMS atan2 fmod hypot pow remainder)
    string(LENGTH ${name} length)
    list(APPEND wanted --func=_Z${length}${name}dd)
endforeach()
set(libclc ${work}/libclc.ll)
add_custom_command(OUTPUT ${libclc}
    COMMAND ${ZETA_LLVM_EXTRACT} -opaque-pointers --recursive ${wanted} ${ZETA_LIBCLC} -S -o ${libclc}
    COMMAND sed -E -i -f ${ZETA_OPENCL_LIBRARY}/retarget.sed -f ${folder}/nvptx64.sed
        -f ${folder}/libclc.sed ${libclc}
    DEPENDS ${ZETA_LIBCLC} ${ZETA_OPENCL_LIBRARY}/retarget.sed ${folder}/nvptx64.sed ${folder}/libclc.sed
    COMMENT "Taking math functions of libclc"
    VERBATIM)

set(library ${output}/runtime.bc)
zeta_opencl_library(${library} ${work} ${modules} ${libclc})
add_custom_target(nvidia-opencl-library ALL DEPENDS ${library})
install(FILES ${library} DESTINATION ${ZETA_DATA_INSTALL_DIR}/nvidia)
set(ZETA_NVIDIA_LIBRARY ${library} CACHE INTERNAL "OpenCL C functions for kernels on NVIDIA's GPUs")
message(STATUS "OpenCL C library for PTX: ${ZETA_OPENCL_CLANG}, ${ZETA_LIBCLC}")
