# SPIR-V of our own kernels is made at build time, with debug information, by the distribution's
# clang and translator. Without either, targets that need it are left out with the reason.
find_program(ZETA_SPIRV_CLANG NAMES clang-15)
find_program(ZETA_SPIRV_TRANSLATOR NAMES llvm-spirv-15)

# Loops stay loops, and whether they are unrolled is left to the compiler of the device: with -O1 alone
# clang would ask it not to, for each loop.
set(compile)
if(ZETA_SPIRV_CLANG AND ZETA_SPIRV_TRANSLATOR)
    set(compile ${ZETA_SPIRV_CLANG} --target=spir64-unknown-unknown -x cl -cl-std=CL2.0
        -Xclang -fdeclare-opencl-builtins -Xclang -finclude-default-header -cl-kernel-arg-info -g -O1
        -funroll-loops -mllvm -unroll-full-max-count=0)
else()
    message(STATUS "SPIR-V kernels: skipped, clang-15 or llvm-spirv-15 is missing (packages of these "
        "names)")
endif()
set(ZETA_SPIRV_COMPILE "${compile}" CACHE INTERNAL "Command that compiles OpenCL C for SPIR-V")
unset(compile)

# zeta_add_spirv(TARGET name SOURCE k.cl [DIRECTORY dir] [FLAGS flag...])
# Builds <dir>/<name>.spv, by default in share/zeta/kernels, which is also installed. A target
# <name>-spirv stands for the file; it does not exist when there is no compiler.
function(zeta_add_spirv)
    cmake_parse_arguments(S "" "TARGET;SOURCE;DIRECTORY" "FLAGS" ${ARGN})
    if(NOT ZETA_SPIRV_COMPILE)
        return()
    endif()
    set(directory ${ZETA_KERNEL_OUTPUT_DIRECTORY})
    if(S_DIRECTORY)
        set(directory ${S_DIRECTORY})
    endif()
    file(MAKE_DIRECTORY ${directory})
    get_filename_component(source ${S_SOURCE} ABSOLUTE)
    # Used by modules with atomic sums, minima and maxima of floating point, and by no others.
    set(extensions
        --spirv-ext=+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max)
    set(bitcode ${CMAKE_CURRENT_BINARY_DIR}/${S_TARGET}.bc)
    set(file ${directory}/${S_TARGET}.spv)
    add_custom_command(OUTPUT ${file}
        COMMAND ${ZETA_SPIRV_COMPILE} ${S_FLAGS} -c -emit-llvm ${source} -o ${bitcode}
        COMMAND ${ZETA_SPIRV_TRANSLATOR} ${extensions} ${bitcode} -o ${file}
        DEPENDS ${source}
        BYPRODUCTS ${bitcode}
        COMMENT "Compiling SPIR-V ${S_TARGET}.spv"
        VERBATIM)
    add_custom_target(${S_TARGET}-spirv ALL DEPENDS ${file})
    if(NOT S_DIRECTORY)
        install(FILES ${file} DESTINATION ${ZETA_DATA_INSTALL_DIR}/kernels)
    endif()
endfunction()
