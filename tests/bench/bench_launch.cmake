# Launches of an empty kernel on the virtual GPU, for which there has to be a compiler of kernels.
if(ZETA_DEVICE_COMPILE)
    zeta_add_device_binary(TARGET launch_kernels SOURCES launch_kernels.c
        DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    zeta_add_bench(NAME bench_launch SOURCES bench_launch.c LIBS zeta)
    target_compile_definitions(bench_launch PRIVATE
        BENCH_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/launch_kernels.elf")
    add_dependencies(bench_launch zeta-vgpu launch_kernels-kernel)
endif()
