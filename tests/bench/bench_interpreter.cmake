# The loops are compiled once: the object in the kernel file is also linked into the peer.
set(kernel_dir ${CMAKE_BINARY_DIR}/bench/kernels)
set(interpreter ${CMAKE_CURRENT_SOURCE_DIR}/interpreter)
zeta_add_device_binary(TARGET bench-interpreter DIRECTORY ${kernel_dir}
    SOURCES ${interpreter}/work.c ${interpreter}/kernel.c)

set(kernels_built 0)
set(peer_command "")
if(ZETA_DEVICE_COMPILE)
    set(kernels_built 1)
endif()
find_program(ZETA_QEMU_RISCV64 NAMES qemu-riscv64)
if(kernels_built AND ZETA_QEMU_RISCV64 AND ZETA_DEVICE_GCC)
    set(peer ${kernel_dir}/interpreter-peer)
    set(work ${CMAKE_CURRENT_BINARY_DIR}/bench-interpreter.device/work.c.o)
    add_custom_command(OUTPUT ${peer}
        COMMAND ${ZETA_DEVICE_GCC} -march=rv64imafd -mabi=lp64d -O2 -static
            ${interpreter}/peer.c ${work} -o ${peer}
        DEPENDS ${interpreter}/peer.c ${interpreter}/work.h ${work} VERBATIM)
    add_custom_target(bench-interpreter-peer DEPENDS ${peer})
    add_dependencies(bench-interpreter-peer bench-interpreter-kernel)
    set(peer_command "${ZETA_QEMU_RISCV64} ${peer}")
endif()

zeta_add_bench(NAME bench_interpreter SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_interpreter.c
    LIBS vgpu_engine)
if(TARGET bench_interpreter)
    target_include_directories(bench_interpreter PRIVATE ${CMAKE_CURRENT_LIST_DIR})
    target_compile_definitions(bench_interpreter PRIVATE KERNELS_BUILT=${kernels_built}
        KERNEL_DIR="${kernel_dir}" PEER_COMMAND="${peer_command}"
        MATMUL_FILE="${ZETA_KERNEL_OUTPUT_DIRECTORY}/matmul.elf")
    foreach(target IN ITEMS bench-interpreter-kernel bench-interpreter-peer matmul-kernel)
        if(TARGET ${target})
            add_dependencies(bench_interpreter ${target})
        endif()
    endforeach()
endif()
