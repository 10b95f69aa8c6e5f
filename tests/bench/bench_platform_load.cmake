if(TARGET intel_parts)
    zeta_add_bench(NAME bench_platform_load LIBS intel_data_support PkgConfig::CMOCKA PkgConfig::YAML
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/bench_platform_load.c)
    target_compile_definitions(bench_platform_load
        PRIVATE ZETA_BENCH_SOURCE="${PROJECT_SOURCE_DIR}")
endif()
