zeta_add_bench(NAME bench_vgpu_stream
    SOURCES bench_vgpu_stream.c ${PROJECT_SOURCE_DIR}/tests/vgpu_plugin/host.c
        ${PROJECT_SOURCE_DIR}/plugins/vgpu/oa_ring.c
    LIBS zeta_sdk PkgConfig::CMOCKA)
target_compile_definitions(bench_vgpu_stream PRIVATE ZETA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(bench_vgpu_stream zeta-vgpu)
