# zeta record around an example of the virtual GPU, for which there has to be a compiler of kernels.
if(ZETA_DEVICE_COMPILE)
    zeta_add_bench(NAME bench_record SOURCES bench_record.c)
    add_dependencies(bench_record zeta-vgpu zeta_command matmul)
endif()
