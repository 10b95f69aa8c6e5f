# Queries and markers on the virtual GPU, for which there has to be a compiler of kernels.
if(ZETA_DEVICE_COMPILE)
    zeta_add_bench(NAME bench_query SOURCES bench_query.c LIBS zeta)
    target_compile_definitions(bench_query PRIVATE
        BENCH_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/launch_kernels.elf")
    add_dependencies(bench_query zeta-vgpu launch_kernels-kernel)
endif()
