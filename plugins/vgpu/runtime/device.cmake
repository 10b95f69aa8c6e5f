# Kernels for the virtual GPU are compiled at build time with clang-15 and lld-15, or with the
# RISC-V cross compiler. Without either, targets that need kernels are left out with the reason.
find_program(ZETA_DEVICE_CLANG NAMES clang-15)
find_program(ZETA_DEVICE_LLD NAMES ld.lld-15)
find_program(ZETA_DEVICE_GCC NAMES riscv64-linux-gnu-gcc)
find_program(ZETA_DEVICE_LD NAMES riscv64-linux-gnu-ld)

# Samples name instructions by their address divided by 8, so functions begin at multiples of it.
set(flags -march=rv64imafd -mabi=lp64d -mcmodel=medany -mno-relax -ffreestanding -fno-pic
    -fno-math-errno -ffp-contract=off -fno-asynchronous-unwind-tables -falign-functions=8 -O2 -g
    -Wall -Wextra)
if(ZETA_DEVICE_CLANG AND ZETA_DEVICE_LLD)
    # Unrolling by the whole trip count fills all registers and spills.
    set(compile ${ZETA_DEVICE_CLANG} --target=riscv64-unknown-elf ${flags} -fno-unroll-loops)
    set(link ${ZETA_DEVICE_LLD})
    message(STATUS "Device kernels: ${ZETA_DEVICE_CLANG}, ${ZETA_DEVICE_LLD}")
elseif(ZETA_DEVICE_GCC AND ZETA_DEVICE_LD)
    # Loops must stay loops: there is no C library whose memcpy could replace them.
    set(compile ${ZETA_DEVICE_GCC} ${flags} -fno-tree-loop-distribute-patterns)
    set(link ${ZETA_DEVICE_LD})
    message(STATUS "Device kernels: ${ZETA_DEVICE_GCC}, ${ZETA_DEVICE_LD}")
else()
    message(STATUS "Device kernels: skipped, neither clang-15 with lld-15 nor "
        "riscv64-linux-gnu-gcc found (packages clang-15 lld-15, or gcc-riscv64-linux-gnu)")
endif()

set(ZETA_DEVICE_COMPILE "${compile}" CACHE INTERNAL "Command that compiles a kernel")
set(ZETA_DEVICE_LINK "${link}" CACHE INTERNAL "Command that links a kernel")
set(ZETA_DEVICE_RUNTIME ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Folder of the device runtime")
unset(compile)
unset(link)
unset(flags)

# Where kernels for users end up.
set(ZETA_KERNEL_OUTPUT_DIRECTORY ${ZETA_DATA_OUTPUT_DIRECTORY}/kernels
    CACHE INTERNAL "Kernels of the examples in the build tree")

# Rule that makes one object file: zeta_device_object(source object flags...)
function(zeta_device_object source object)
    add_custom_command(OUTPUT ${object}
        COMMAND ${ZETA_DEVICE_COMPILE} ${ARGN} -I${ZETA_DEVICE_RUNTIME} -I${PROJECT_SOURCE_DIR} -MD -MF ${object}.d -c ${source}
            -o ${object}
        DEPENDS ${source}
        DEPFILE ${object}.d
        COMMENT "Compiling device code ${object}"
        VERBATIM)
endfunction()

# zeta_add_device_binary(TARGET name SOURCES k.c ... [DIRECTORY dir] [FLAGS flag...])
# Builds <dir>/<name>.elf, by default in share/zeta/kernels, which is also installed. A target
# <name>-kernel stands for the file; it does not exist when there is no compiler.
function(zeta_add_device_binary)
    cmake_parse_arguments(D "" "TARGET;DIRECTORY" "SOURCES;FLAGS" ${ARGN})
    if(NOT ZETA_DEVICE_COMPILE)
        return()
    endif()
    set(directory ${ZETA_KERNEL_OUTPUT_DIRECTORY})
    if(D_DIRECTORY)
        set(directory ${D_DIRECTORY})
    endif()
    set(work ${CMAKE_CURRENT_BINARY_DIR}/${D_TARGET}.device)
    file(MAKE_DIRECTORY ${work} ${directory})
    set(objects)
    foreach(source IN ITEMS ${D_SOURCES} ${ZETA_DEVICE_RUNTIME}/runtime.c)
        get_filename_component(name ${source} NAME)
        get_filename_component(path ${source} ABSOLUTE)
        zeta_device_object(${path} ${work}/${name}.o ${D_FLAGS})
        list(APPEND objects ${work}/${name}.o)
    endforeach()
    set(script ${ZETA_DEVICE_RUNTIME}/vgpu.ld)
    set(file ${directory}/${D_TARGET}.elf)
    add_custom_command(OUTPUT ${file}
        COMMAND ${ZETA_DEVICE_LINK} -pie --no-dynamic-linker --no-relax -e 0 -T ${script}
            ${objects} -o ${file}
        DEPENDS ${objects} ${script}
        COMMENT "Linking device binary ${D_TARGET}.elf"
        VERBATIM)
    add_custom_target(${D_TARGET}-kernel ALL DEPENDS ${file})
    if(NOT D_DIRECTORY)
        install(FILES ${file} DESTINATION ${ZETA_DATA_INSTALL_DIR}/kernels)
    endif()
endfunction()
