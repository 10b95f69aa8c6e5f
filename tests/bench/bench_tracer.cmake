# Events of the virtual GPU, for which there has to be a compiler of kernels.
if(ZETA_DEVICE_COMPILE)
    set(plugin_tests ${PROJECT_SOURCE_DIR}/tests/vgpu_plugin)
    zeta_add_bench(NAME bench_tracer
        SOURCES bench_tracer.c ${PROJECT_SOURCE_DIR}/tests/vgpu_trace/trace_bed.c
            ${plugin_tests}/host.c ${plugin_tests}/kernel_file.c
        LIBS zeta_sdk PkgConfig::CMOCKA)
    target_compile_definitions(bench_tracer PRIVATE ZETA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        TEST_KERNELS="${CMAKE_BINARY_DIR}/tests/vgpu_plugin/plugin_kernels.elf")
    add_dependencies(bench_tracer zeta-vgpu plugin_kernels-kernel)
endif()
